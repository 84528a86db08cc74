Mistakes on the command line exit with 2 and say what was probably meant.

  $ plimsoll shwo
  ! plimsoll: unknown command 'shwo'; did you mean 'show'?
  [2]
  $ plimsoll qqqqqqqq
  ! plimsoll: unknown command 'qqqqqqqq', 'plimsoll help' lists them
  [2]
  $ plimsoll --jsn
  ! plimsoll show: unknown option '--jsn'; did you mean --json?
  [2]
  $ plimsoll --mchine=x
  ! plimsoll show: unknown option '--mchine'; did you mean --machine?
  [2]
  $ plimsoll show --json=yes
  ! plimsoll show: --json takes no value
  [2]
  $ plimsoll show --machine
  ! plimsoll show: --machine needs a value (FILE)
  [2]
  $ plimsoll show --machine --json
  ! plimsoll show: --machine needs a value (FILE)
  [2]
  $ plimsoll show --timeout soon
  ! plimsoll show: --timeout: 'soon' is not a number
  [2]
  $ plimsoll show --timeout 99999
  ! plimsoll show: --timeout: 99999 is not between 0 and 3600
  [2]
  $ plimsoll show --color sometimes
  ! plimsoll show: --color: 'sometimes' is none of auto, always, never
  [2]
  $ plimsoll show --only host_oss
  ! plimsoll show: --only: no probe 'host_oss'; did you mean host_os
  [2]
  $ plimsoll show --only host_os,,
  ! plimsoll show: --only: an empty piece in 'host_os,,'
  [2]
  $ plimsoll show extra
  ! plimsoll show: does not know what to do with 'extra'
  [2]
  $ plimsoll --json version
  {
    "schema": "plimsoll.version/1",
    "version": "0.1.0"
  }
  $ plimsoll show --root / --machine x
  ! plimsoll show: --machine, --root and --on exclude each other
  [2]
  $ plimsoll --on nothing
  ! plimsoll show: --on nothing: at byte 0: neither a family (cuda, rocm, metal, intel, vulkan, rpc, cpu) nor a chip of the table
  [2]
  $ plimsoll capture --on cuda:24GiB
  ! plimsoll capture: a machine one does not have cannot be recorded
  [2]
  $ plimsoll capture --json
  ! plimsoll capture: --json prints the document; name a file for the recording
  [2]
  $ plimsoll capture --machine workstation.json
  ! plimsoll capture: workstation.json: a document cannot be recorded, only what probes read
  [2]
  $ plimsoll help nothing
  ! plimsoll help: no command 'nothing'
  [2]
  $ plimsoll help --schema nothing
  ! plimsoll help: --schema: no document 'nothing'
  [2]
  $ plimsoll diff a b c
  ! plimsoll diff: does not know what to do with 'c'
  [2]
  $ plimsoll fit
  ! plimsoll fit: needs MODEL
  [2]
  $ plimsoll fit -c many x.gguf
  ! plimsoll fit: -c: 'many' is not a whole number
  [2]
  $ plimsoll fit -- -c
  ! plimsoll fit: -c: No such file or directory
  [3]

Options may stand before the command, and after '--' there are none.

  $ plimsoll --machine workstation.json devices --json | head -2
  {
    "schema": "plimsoll.devices/1",
  $ plimsoll --keep-identities --root / capture --json
  ! plimsoll capture: --json prints the document; name a file for the recording
  [2]
  $ plimsoll --machine show version
  ! plimsoll show: 'version' comes first: plimsoll version [OPTION...]
  [2]
  $ plimsoll show -- --json
  ! plimsoll show: does not know what to do with '--json'
  [2]
