Which devices, by what they are and what a program could use of them. Two cards of one maker, one of another:

  $ plimsoll devices --on 'RTX 4090,RTX 3060,MI300X'
  #  device    family  kind  arch       memory       free  of         state
  0  RTX 4090  cuda    gpu   8.9      24.0 GiB   24.0 GiB  dedicated  ready
  1  RTX 3060  cuda    gpu   8.6      12.0 GiB   12.0 GiB  dedicated  ready
  2  MI300X    rocm    gpu   gfx942  192.0 GiB  192.0 GiB  dedicated  ready
  $ plimsoll devices --on 'RTX 4090,RTX 3060,MI300X' --family cuda --min-memory 16GiB
  #  device    family  kind  arch    memory      free  of         state
  0  RTX 4090  cuda    gpu   8.9   24.0 GiB  24.0 GiB  dedicated  ready
  $ plimsoll devices --on 'RTX 4090,RTX 3060,MI300X' --best
  #  device  family  kind  arch       memory       free  of         state
  2  MI300X  rocm    gpu   gfx942  192.0 GiB  192.0 GiB  dedicated  ready
A requirement that nothing meets:

  $ plimsoll devices --on 'RTX 4090' --family npu; echo $?
  no accelerators
  1
  $ plimsoll devices --on 'RTX 4090' --min-memory 200GiB --json; echo $?
  {
    "schema": "plimsoll.devices/1",
    "version": "0.1.0",
    "devices": [],
    "links": []
  }
  1
A size that is none:

  $ plimsoll devices --on 'RTX 4090' --min-memory much
  ! plimsoll devices: --min-memory: much is no size such as 24GiB
  [2]
