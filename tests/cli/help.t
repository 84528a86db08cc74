  $ plimsoll help
  usage: plimsoll [COMMAND] [OPTION...]

  How large an AI model may this machine carry? Without a command, shows the machine.

  Look at a machine:
    show              show what this machine has: the default command
    devices           list the accelerators, a line each
    doctor            say what was looked for, what is missing and what would help
    capture [FILE]    record what the probes read, to show it again elsewhere
    bench             measure how fast the host moves its memory
    diff A B          compare two machines, recorded or as documents

  Judge a model:
    fit MODEL         say whether a model fits a machine, and draw its load line
    model MODEL       show what a model file says of itself
    models [MODEL]    say what this machine can run, best first
    check LOG [MODEL]
                      hold plimsoll's figures against an engine's load log

  This program:
    help [COMMAND]    explain a command
    version           print the version

  'plimsoll COMMAND --help' lists the options of a command; every one takes --json.

  Exit status:
    0  done; the model fits
    1  the model does not fit, or the difference that was asked about exists
    2  the command line is wrong
    3  an input could not be read, or does not say enough for a verdict
    4  out of memory, or the output could not be written
  $ plimsoll --help | head -1
  usage: plimsoll [COMMAND] [OPTION...]
  $ plimsoll diff --help
  usage: plimsoll diff A B [OPTION...]

  compare two machines, recorded or as documents

  Options:
    --hardware                leave out readings of the moment: free memory, clocks, temperature

  Common options:
    --json                    print a JSON document instead of text
    --color WHEN              colour the text: auto, always or never
    -h, --help                explain the command and its options

  A and B are recordings (plimsoll capture) or documents (plimsoll --json). Every figure is compared
  but the clocks of the two runs. Devices are matched by their address, disks by their name. The exit
  status is 1 where something differs.
  $ COLUMNS=40 plimsoll help version
  usage: plimsoll version [OPTION...]

  print the version

  Common options:
    --json                    print a JSON
                              document
                              instead of
                              text
    --color WHEN              colour the
                              text: auto,
                              always or
                              never
    -h, --help                explain the
                              command and
                              its options
  $ plimsoll version
  plimsoll 0.1.0
  $ plimsoll --version
  plimsoll 0.1.0
  $ plimsoll version --json
  {
    "schema": "plimsoll.version/1",
    "version": "0.1.0"
  }
  $ plimsoll help --man version
  .Dd
  .Dt PLIMSOLL-VERSION 1
  .Os
  .Sh NAME
  .Nm plimsoll-version
  .Nd print the version
  .Sh SYNOPSIS
  .Nm plimsoll version
  .Op Ar OPTION ...
  .Sh DESCRIPTION
  print the version
  .Sh OPTIONS
  .Ss Common options
  .Bl -tag -width Ds
  .It Fl \-json
  print a JSON document instead of text.
  .It Fl \-color Ar WHEN
  colour the text: auto, always or never.
  .It Fl h , Fl \-help
  explain the command and its options.
  .El
  .Sh EXIT STATUS
  .Bl -tag -width Ds
  .It 0
  done; the model fits
  .It 1
  the model does not fit, or the difference that was asked about exists
  .It 2
  the command line is wrong
  .It 3
  an input could not be read, or does not say enough for a verdict
  .It 4
  out of memory, or the output could not be written
  .El
  .Sh SEE ALSO
  .Xr plimsoll 1
