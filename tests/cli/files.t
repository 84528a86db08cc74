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

Models: no file, no model, a file cut inside its header, a pipe.

  $ plimsoll model no-such-file
  ! plimsoll model: no-such-file: neither a file nor a model of the catalogue
  [3]
  $ plimsoll model .
  ! plimsoll model: .: no model in this directory: no *.gguf, *.safetensors or *.safetensors.index.json
  [3]
  $ plimsoll model show.t
  ! plimsoll model: show.t: at byte 0: neither a GGUF nor a safetensors file
  [3]
  $ head -c 1000 ../../examples/models/qwen3-8b-q4_k_m.gguf >$TMP/cut.gguf
  $ plimsoll model $TMP/cut.gguf
  ! plimsoll model: $TMP/cut.gguf: at byte 995: the file ends inside the tensor table: 8 bytes wanted, 5 left
  [3]
  $ plimsoll fit $TMP/cut.gguf --on cpu:64GiB
  ! plimsoll fit: $TMP/cut.gguf: at byte 995: the file ends inside the tensor table: 8 bytes wanted, 5 left
  [3]
  $ head -c 1000 ../../examples/models/qwen3-8b-q4_k_m.gguf | plimsoll model /dev/stdin
  ! plimsoll model: /dev/stdin: not a regular file
  [3]
  $ mkfifo $TMP/pipe.gguf && plimsoll model $TMP/pipe.gguf
  ! plimsoll model: $TMP/pipe.gguf: not a regular file
  [3]
  $ plimsoll model /dev/zero
  ! plimsoll model: /dev/zero: not a regular file
  [3]
  $ : >$TMP/empty.gguf && plimsoll model $TMP/empty.gguf
  ! plimsoll model: $TMP/empty.gguf: at byte 0: not a GGUF file: no magic
  [3]
  $ rm $TMP/*.gguf

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
