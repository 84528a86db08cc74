The budget of every kind of memory, on recorded machines, with the arithmetic by hand.

GB10: the driver tells 124,659,519,488 B free, which is the host's RAM; less the system's 1 GiB, 123,585,777,664 B (115.1 GiB) for
both, since they are one memory.

  $ plimsoll fit ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf --machine ../machines/nvidia-gb10.machine -c 8192 | grep -E '^(cuda|host)'
  cuda0      5.73 GiB of 115.1 GiB, NVIDIA GB10, 32 layers, 5 %
  host       323.8 MiB of 115.1 GiB, 0 layers, 5 %

Strix Halo: its device maps 117,037,858,816 B more of RAM (GTT), of which 85 % may be used: 99,482,179,980 B (92.6 GiB). RAM has
122,880,000,000 B, less 1 GiB.

  $ plimsoll fit ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf --machine ../machines/amd-strix-halo.machine -c 8192 | grep -E '^(rocm|host)'
  rocm0      5.81 GiB of 92.6 GiB, Radeon 8060S Graphics, 32 layers, 6 %
  host       323.8 MiB of 113.4 GiB, 0 layers, 5 %

A card of its own: what is free on it. H100: 85,017,493,504 B (79.2 GiB); RAM 233,941,499,904 B less 1 GiB (216.9 GiB).

  $ plimsoll fit ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf --machine ../machines/nvidia-h100.machine -c 8192 | grep -E '^(cuda|host)'
  cuda0      5.73 GiB of 79.2 GiB, NVIDIA H100 80GB HBM3, 32 layers, 7 %
  host       323.8 MiB of 216.9 GiB, 0 layers, 0 %

A part of a card (CPX): 25,767,706,624 B, less what the whole card uses, 297,648,128 B: 25,470,058,496 B (23.7 GiB).

  $ plimsoll fit ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf --machine ../machines/amd-mi300x-cpx.machine -c 8192 -sm none | grep -E '^(rocm0)'
  rocm0      5.81 GiB of 23.7 GiB, Instinct MI300X, 32 layers, 25 %
