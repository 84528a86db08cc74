Inputs that cannot be read exit with 3 and name the file, and the place in it where there is one.

  $ plimsoll --machine no-such-file
  ! plimsoll show: no-such-file: No such file or directory
  [3]
  $ plimsoll --machine .
  ! plimsoll show: .: Is a directory
  [3]
  $ plimsoll --machine run.py
  ! plimsoll show: run.py: at byte 0: not a recorded machine: no entry in it
  [3]
  $ plimsoll --machine /dev/null
  ! plimsoll show: /dev/null: at byte 0: not a recorded machine: no entry in it
  [3]
  $ plimsoll --root no-such-directory
  ! plimsoll show: no-such-directory: No such file or directory
  [3]
  $ plimsoll --root show.t
  ! plimsoll show: show.t: Not a directory
  [3]
  $ printf '{"schema": "plimsoll.machine/1", "cpu": {"sockets": "two"}}' | plimsoll --machine -
  ! plimsoll show: standard input: cpu.sockets is no whole number of 64 bits without a sign
  [3]
  $ printf '{"schema": "plimsoll.machine/2"}' | plimsoll --machine -
  ! plimsoll show: standard input: its schema is "plimsoll.machine/2", not "plimsoll.machine/1"
  [3]
  $ printf '{"schema": "plimsoll.machine/1"' | plimsoll --machine -
  ! plimsoll show: standard input: at byte 31: not JSON: unexpected end of data
  [3]
  $ printf '{}' | plimsoll --machine -
  ! plimsoll show: standard input: it names no schema
  [3]
  $ printf '{"schema": "plimsoll.machine/1", "devices": [{}, {"memory": {"total_bytes": -1}}]}' | plimsoll --machine -
  ! plimsoll show: standard input: devices[1].memory.total_bytes is no whole number of 64 bits without a sign
  [3]
  $ mkdir $TMP/empty && plimsoll --root $TMP/empty --json | head -2
  {
    "schema": "plimsoll.machine/1",

A recording is written whole or not at all; what cannot be written is status 4.

  $ plimsoll version >/dev/full
  ! plimsoll: the output could not be written: No space left on device
  [4]
  $ plimsoll capture --root $TMP/empty /no/such/directory/x.machine
  ! plimsoll capture: /no/such/directory/x.machine: No such file or directory
  [4]
  $ plimsoll capture --root $TMP/empty $TMP/x.machine --json >/dev/full
  ! plimsoll: the output could not be written: No space left on device
  [4]
  $ ls $TMP
  empty
  x.machine
