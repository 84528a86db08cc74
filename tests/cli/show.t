A machine at a glance.

  $ plimsoll --machine workstation.json
  machine    ACME Workhorse 9000
  system     Debian GNU/Linux 13 (trixie), linux 6.12.0-amd64, x86_64
  runs in    kvm
  processor  13th Gen Intel(R) Core(TM) i7-1370P
             1 socket, 14 cores, 20 threads, 16 usable
             12 P, 8 E
             L1d 544.0 KiB, L2 11.5 MiB, L3 24.0 MiB
             avx2 avx_vnni fma
  memory     31.0 GiB usable of 62.5 GiB (cgroup /user.slice)
             [####################....................]
             limit 32.0 GiB by cgroup /user.slice, 8.00 GiB free of 8.00 GiB swap
  numa       1 node
  storage    nvme0n1 nvme 931.5 GiB for /srv/models; sda hdd 3.64 TiB
  engine     llama.cpp: one CUDA device and system RAM

  #  device                   family              memory      free  driver            address       state
  0  NVIDIA GeForce RTX 4090  cuda              24.0 GiB  23.6 GiB  nvidia 560.35.03  0000:01:00.0  ready
  1  Radeon RX 7900 XTX       rocm    24.0 GiB (nominal)         -  -                 0000:08:00.0  no kernel driver is bound

  link   kind  width   bandwidth
  0 - 1  pcie     16  29.3 GiB/s

  warning: /dev/dri/renderD129: permission denied
    -> add yourself to group render: usermod -aG render $USER

Each figure and who said it. An imported document names the sources of devices.

  $ plimsoll --machine workstation.json --explain
  field                                                source  value
  schema                                                       plimsoll.machine/1
  version                                                      0.1.0
  captured_at                                                  2026-03-01T12:00:00Z
  os.name                                                      linux
  os.kernel                                                    6.12.0-amd64
  os.distribution                                              Debian GNU/Linux 13 (trixie)
  os.arch                                                      x86_64
  os.page_size_bytes                                           4.00 KiB
  cpu.vendor                                                   GenuineIntel
  cpu.brand                                                    13th Gen Intel(R) Core(TM) i7-1370P
  cpu.sockets                                                  1
  cpu.physical_cores                                           14
  cpu.logical_cpus                                             20
  cpu.usable_cpus                                              16
  cpu.online_cpus                                              0-19
  cpu.core_kinds[P].kind                                       P
  cpu.core_kinds[P].cpus                                       0-11
  cpu.core_kinds[P].count                                      12
  cpu.core_kinds[E].kind                                       E
  cpu.core_kinds[E].cpus                                       12-19
  cpu.core_kinds[E].count                                      8
  cpu.isa                                                      avx2 avx_vnni fma
  cpu.caches.l1d.instances                                     14
  cpu.caches.l1d.total_bytes                                   544.0 KiB
  cpu.caches.l2.instances                                      8
  cpu.caches.l2.total_bytes                                    11.5 MiB
  cpu.caches.l3.instances                                      1
  cpu.caches.l3.total_bytes                                    24.0 MiB
  memory.total_bytes                                           62.5 GiB
  memory.available_bytes                                       46.9 GiB
  memory.free_bytes                                            37.3 GiB
  memory.swap_total_bytes                                      8.00 GiB
  memory.swap_free_bytes                                       8.00 GiB
  memory.limit_bytes                                           32.0 GiB
  memory.limit_source                                          cgroup /user.slice
  memory.usable_bytes                                          31.0 GiB
  memory.usable_source                                         cgroup /user.slice
  numa.node_count                                              1
  numa.nodes[0].id                                             0
  numa.nodes[0].cpus                                           0-19
  numa.nodes[0].mem_total_bytes                                62.5 GiB
  numa.nodes[0].distances                                      10
  storage[nvme0n1].name                                        nvme0n1
  storage[nvme0n1].kind                                        nvme
  storage[nvme0n1].size_bytes                                  931.5 GiB
  storage[nvme0n1].rotational                                  no
  storage[nvme0n1].models_path                                 /srv/models
  storage[sda].name                                            sda
  storage[sda].kind                                            hdd
  storage[sda].size_bytes                                      3.64 TiB
  storage[sda].rotational                                      yes
  environment.virtualization                                   kvm
  environment.dmi.sys_vendor                                   ACME
  environment.dmi.product_name                                 Workhorse 9000
  devices[0000:01:00.0].index                                  0
  devices[0000:01:00.0].kind                                   gpu
  devices[0000:01:00.0].family                                 cuda
  devices[0000:01:00.0].vendor                                 NVIDIA
  devices[0000:01:00.0].name                           nvml    NVIDIA GeForce RTX 4090
  devices[0000:01:00.0].available                              yes
  devices[0000:01:00.0].pci.address                            0000:01:00.0
  devices[0000:01:00.0].pci.vendor_id                          10de
  devices[0000:01:00.0].pci.device_id                          2684
  devices[0000:01:00.0].driver                                 nvidia
  devices[0000:01:00.0].driver_version                         560.35.03
  devices[0000:01:00.0].compute_capability                     8.9
  devices[0000:01:00.0].memory.total_bytes             nvml    24.0 GiB
  devices[0000:01:00.0].memory.used_bytes                      381.5 MiB
  devices[0000:01:00.0].memory.free_bytes              nvml    23.6 GiB
  devices[0000:01:00.0].memory.kind                            dedicated
  devices[0000:01:00.0].pcie.max_gen                           4
  devices[0000:01:00.0].pcie.max_width                         16
  devices[0000:01:00.0].numa_node                              0
  devices[0000:01:00.0].telemetry.temperature_c                41 C
  devices[0000:01:00.0].telemetry.power_w                      22.5 W
  devices[0000:01:00.0].telemetry.utilization_percent          3 %
  devices[0000:08:00.0].index                                  1
  devices[0000:08:00.0].kind                                   gpu
  devices[0000:08:00.0].family                                 rocm
  devices[0000:08:00.0].vendor                                 AMD
  devices[0000:08:00.0].name                           table   Radeon RX 7900 XTX
  devices[0000:08:00.0].available                              no
  devices[0000:08:00.0].why_unavailable                        no kernel driver is bound
  devices[0000:08:00.0].pci.address                            0000:08:00.0
  devices[0000:08:00.0].pci.vendor_id                          1002
  devices[0000:08:00.0].pci.device_id                          744c
  devices[0000:08:00.0].memory.total_bytes             table   24.0 GiB
  devices[0000:08:00.0].memory.kind                            dedicated
  links[0-1].a                                                 0
  links[0-1].b                                                 1
  links[0-1].kind                                              pcie
  links[0-1].width                                             16
  links[0-1].bandwidth_bytes_per_s                             29.3 GiB/s
  recommended_engine.name                                      llama.cpp
  recommended_engine.reason                                    one CUDA device and system RAM
  notes[amd_drm /dev/dri/renderD129].severity                  warning
  notes[amd_drm /dev/dri/renderD129].probe                     amd_drm
  notes[amd_drm /dev/dri/renderD129].subject                   /dev/dri/renderD129
  notes[amd_drm /dev/dri/renderD129].text                      permission denied
  notes[amd_drm /dev/dri/renderD129].hint                      add yourself to group render: usermod -aG render $USER
  timing.total_us                                              1234 us
  timing.probes                                                host_os=12 us

A machine of which nothing is known.

  $ echo '{"schema": "plimsoll.machine/1"}' | plimsoll --machine -
  no accelerators

Columns are cut and words wrapped where the terminal is narrow.

  $ COLUMNS=60 plimsoll --machine workstation.json
  machine    ACME Workhorse 9000
  system     Debian GNU/Linux 13 (trixie), linux 6.12.0-amd64,
             x86_64
  runs in    kvm
  processor  13th Gen Intel(R) Core(TM) i7-1370P
             1 socket, 14 cores, 20 threads, 16 usable
             12 P, 8 E
             L1d 544.0 KiB, L2 11.5 MiB, L3 24.0 MiB
             avx2 avx_vnni fma
  memory     31.0 GiB usable of 62.5 GiB (cgroup /user.slice)
             [####################....................]
             limit 32.0 GiB by cgroup /user.slice, 8.00 GiB
             free of 8.00 GiB swap
  numa       1 node
  storage    nvme0n1 nvme 931.5 GiB for /srv/models; sda hdd
             3.64 TiB
  engine     llama.cpp: one CUDA device and system RAM

  #  device    family              memory      free  state
  0  NVIDIA .  cuda              24.0 GiB  23.6 GiB  ready
  1  Radeon .  rocm    24.0 GiB (nominal)         -  no kerne.

  link   kind  width   bandwidth
  0 - 1  pcie     16  29.3 GiB/s

  warning: /dev/dri/renderD129: permission denied
    -> add yourself to group render: usermod -aG render $USER

Figures from a table are marked; colours only where they are asked for.

  $ plimsoll devices --machine workstation.json
  #  device                   family  kind  arch              memory      free  of         driver            address       pcie     node  load  temp   power  state
  0  NVIDIA GeForce RTX 4090  cuda    gpu   8.9             24.0 GiB  23.6 GiB  dedicated  nvidia 560.35.03  0000:01:00.0  4.0 x16     0   3 %  41 C  22.5 W  ready
  1  Radeon RX 7900 XTX       rocm    gpu   -     24.0 GiB (nominal)         -  dedicated  -                 0000:08:00.0  -           -     -     -       -  no kernel driver is bound

  link   kind  width   bandwidth
  0 - 1  pcie     16  29.3 GiB/s
  $ plimsoll devices --machine workstation.json --color always | head -1 | cat -v
  ^[[2m#  device                   family  kind  arch              memory      free  of         driver            address       pcie     node  load  temp   power  state^[[0m
  $ plimsoll devices --machine workstation.json --json | head -8
  {
    "schema": "plimsoll.devices/1",
    "version": "0.1.0",
    "devices": [
      {
        "index": 0,
        "kind": "gpu",
        "family": "cuda",

A machine one does not have.

  $ plimsoll --on 'cuda:24GiB*2,cpu:64GiB'
  memory     64.0 GiB usable of 64.0 GiB (spec)
             [........................................]

  #  family    memory      free  state
  0  cuda    24.0 GiB  24.0 GiB  ready
  1  cuda    24.0 GiB  24.0 GiB  ready
  $ plimsoll devices --on cpu
  no accelerators
