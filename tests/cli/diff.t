Nothing differs from itself, and clocks do not count.

  $ sed 's/12:00/13:00/; s/"total_us": 1234/"total_us": 99/' workstation.json >$TMP/later.json
  $ plimsoll diff workstation.json $TMP/later.json
  $ plimsoll diff workstation.json $TMP/later.json --json
  {
    "schema": "plimsoll.diff/1",
    "version": "0.1.0",
    "different": false,
    "changes": []
  }

What differs is named by path; devices are matched by address, wherever they stand.

  $ sed 's/"driver_version": "560.35.03", //; s/"swap_free_bytes": 8589934592/"swap_free_bytes": 8589934591/; s/avx_vnni/amx_int8/' workstation.json >$TMP/other.json
  $ plimsoll diff workstation.json $TMP/other.json
  - cpu.isa: avx2 avx_vnni fma
  + cpu.isa: avx2 amx_int8 fma
  - devices[0000:01:00.0].driver_version: 560.35.03
  - memory.swap_free_bytes: 8589934592
  + memory.swap_free_bytes: 8589934591
  [1]
  $ plimsoll diff workstation.json $TMP/other.json --json
  {
    "schema": "plimsoll.diff/1",
    "version": "0.1.0",
    "different": true,
    "changes": [
      {
        "path": "cpu.isa",
        "a": "avx2 avx_vnni fma",
        "b": "avx2 amx_int8 fma"
      },
      {
        "path": "devices[0000:01:00.0].driver_version",
        "a": "560.35.03"
      },
      {
        "path": "memory.swap_free_bytes",
        "a": "8589934592",
        "b": "8589934591"
      }
    ]
  }
  [1]

Readings of the moment can be left out.

  $ sed 's/"temperature_c": 41/"temperature_c": 77/; s/"free_bytes": 40000000000/"free_bytes": 1/' workstation.json >$TMP/hot.json
  $ plimsoll diff workstation.json $TMP/hot.json
  - devices[0000:01:00.0].telemetry.temperature_c: 41 C
  + devices[0000:01:00.0].telemetry.temperature_c: 77 C
  - memory.free_bytes: 37.3 GiB
  + memory.free_bytes: 1 B
  [1]
  $ plimsoll diff --hardware workstation.json $TMP/hot.json

  $ plimsoll diff workstation.json
  ! plimsoll diff: needs A B
  [2]
  $ plimsoll diff workstation.json no-such-file
  ! plimsoll diff: no-such-file: No such file or directory
  [3]
