Does a model fit a machine? The machine is given by its memory.

  $ plimsoll fit ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf --on cuda:24GiB -c 16384 --explain
  passed     cuda0 is filled to 28 % of its budget
  model      Llama 3.1 8B Instruct, llama, Q4_K_M, 4.58 GiB
  run        llama.cpp@0.7.0, 16384 tokens, 4 slots, K f16, V f16
  cuda0      6.74 GiB of 24.0 GiB, 32 layers, 28 %
             [#########====-....................|.......|.......]
  host       331.8 MiB, 0 layers
             # weights 4.58 GiB  = KV cache and state 2.00 GiB  + compute 182.0 MiB  - driver 320.0 MiB
  context    up to 127232 tokens under the line, 101785 recommended
  at most    -np 256, -np 7 with this context each, -ngl 33, -b 16384, -ub 16384, K and V f16
  start      llama-server -m ../../examples/models/llama-3.1-8b-instruct-q4_k_m.gguf -c 16384 -ngl 33

  how it adds up
    all     KV cache                2.00 GiB  exact     16384 cells x 1 streams x (K 65536 B F16 + V 65536 B F16) over 32 layers
    cuda0   in all                  6.74 GiB  estimate  the sum of its parts; 25769803776 B may be used
              weights               4.30 GiB  exact     32 layers, output; each tensor a multiple of 128 B
                attention          737.0 MiB  exact     as the file stores it, padded
                feed-forward        3.18 GiB  exact     as the file stores it, padded
                output and norms   411.0 MiB  exact     as the file stores it, padded
              KV cache here         2.00 GiB  exact     of its layers, each tensor rounded up to 128 B
              compute buffers      132.0 MiB  exact     the engine's graph of 512 tokens, allocated as it would be
              driver and kernels   320.0 MiB  estimate  the backend's own context, and a layer's cache as f16 where it is another type
    host    in all                 331.8 MiB  exact     the sum of its parts
              weights              281.8 MiB  exact     input; each tensor a multiple of 32 B
                embeddings         281.8 MiB  exact     as the file stores it, padded
              compute buffers       48.0 MiB  exact     inputs of 512 tokens: ids, positions, embeddings, masks
              output                1.96 MiB  exact     vocabulary 128256 x 4 sequences x 4 B
    host    prompt cache            8.00 GiB  bound     grows with use up to this (--cache-ram); not counted
It fits a warning's width, then does not:

  $ plimsoll fit ../../examples/models/qwen3-30b-a3b-q4_k_m.gguf --on 'RTX 4090, cpu:64GiB' -c 16384 | head -1
  warning    cuda0 is filled to 79 % of its budget
  $ plimsoll fit ../../examples/models/qwen3-32b-q4_k_m.gguf --on 'cuda:24GiB,cpu:64GiB' -c 16384
  failed     cuda0 would be filled to 94 % of its budget; the line is at 85 % (it would still load)
  model      Qwen3 32B, qwen3, Q4_K_M, 18.4 GiB
  run        llama.cpp@0.7.0, 16384 tokens, 4 slots, K f16, V f16
  cuda0      22.5 GiB of 24.0 GiB, 64 layers, 94 %
             [##################################|##=====|===-...]
  host       475.6 MiB of 63.0 GiB, 0 layers, 1 %
             [..................................|.......|.......]
             # weights 18.4 GiB  = KV cache and state 4.00 GiB  + compute 264.3 MiB  - driver 320.0 MiB
  context    up to 7680 tokens under the line, 6144 recommended
  at most    -ngl 58, K and V q5_1
  start      llama-server -m ../../examples/models/qwen3-32b-q4_k_m.gguf -c 16384 -ngl 65

  what would help
    change                        verdict  context  what it does
    in IQ3_XXS                    passed     16384  the model in another quantization, 11.9 GiB
    -c 7680                       warning     7680  the largest context that stays under the line
    -c 14080 -ctk q8_0 -ctv q8_0  warning    14080  the largest context with an 8-bit cache
    -ctk q4_0 -ctv q4_0           warning    16384  a 4-bit cache: 28 % of its size, at some loss
    -ngl 58                       warning    16384  the other layers stay on the host, slower
  [1]
Experts on the host, in the engine's words:

  $ plimsoll fit ../../examples/models/qwen3-30b-a3b-q4_k_m.gguf --on 'cuda:12GiB,cpu:32GiB' -c 16384 -cmoe | grep -E 'cuda0|host|start'
  passed     host is filled to 53 % of its budget
  cuda0      2.81 GiB of 12.0 GiB, 48 layers, 23 %
  host       16.5 GiB of 31.0 GiB, 0 layers, 53 %
  start      llama-server -m ../../examples/models/qwen3-30b-a3b-q4_k_m.gguf -c 16384 -ngl 49 -ot '\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU'
Two cards share the layers; the command says so:

  $ plimsoll fit ../../examples/models/llama-3.3-70b-instruct-q4_k_m.gguf --on 'cuda:24GiB*2' -c 8192 -ts 1,1 -ctk q8_0 -ctv q8_0 | grep -vE '^ '
  failed     cuda0 would be filled to 88 % of its budget; the line is at 85 % (it would still load)
  model      Llama 3.3 70B Instruct, llama, Q4_K_M, 39.6 GiB
  run        llama.cpp@0.7.0, 8192 tokens, 4 slots, K q8_0, V q8_0
  cuda0      21.0 GiB of 24.0 GiB, 41 layers, 88 %
  cuda1      20.8 GiB of 24.0 GiB, 39 layers, 87 %
  host       758.0 MiB, 0 layers
  context    up to 1280 tokens under the line, 1024 recommended
  at most    -ngl 79
  start      llama-server -m ../../examples/models/llama-3.3-70b-instruct-q4_k_m.gguf -c 8192 -ngl 81 -ts 1,1 -ctk q8_0 -ctv q8_0

  what would help
Memory that nobody tells is no answer:

  $ plimsoll fit ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --on cuda -c 4096
  unknown    what is free on a memory that would be used is not known
  model      Llama 3.2 1B Instruct, llama, Q4_K_M, 762.8 MiB
  run        llama.cpp@0.7.0, 4096 tokens, 4 slots, K f16, V f16
  cuda0      1.25 GiB, 16 layers
  host       227.5 MiB, 0 layers
             # weights 968.3 MiB  = KV cache and state 128.0 MiB  + compute 90.0 MiB  - driver 320.0 MiB
  start      llama-server -m ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf -c 4096 -ngl 17
  not known  free memory of cuda0
  [3]
What cannot be meant is refused:

  $ plimsoll fit ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --on cuda:8GiB -fa off -ctv q8_0
  ! plimsoll fit: -ctv: quantised values need flash attention (-fa on)
  [2]
  $ plimsoll fit ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --on cuda:8GiB -ot 'blk\.(?!1)=CPU'
  ! plimsoll fit: -ot: blk\.(?!1)=CPU cannot be judged: look-ahead
  [2]
  $ plimsoll fit ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --on 'cuda:8GiB,RTX 9999'
  ! plimsoll fit: --on cuda:8GiB,RTX 9999: at byte 10: neither a family (cuda, rocm, metal, intel, vulkan, rpc, cpu) nor a chip of the table
  [2]
  $ plimsoll fit ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --on cuda:8GiB --line 3
  ! plimsoll fit: --line: one or two parts of the budget, such as 0.85
  [2]
The command speaks the engine's own dialect: since September 2026 --no-mmap is refused, -lm none is what it was:

  $ plimsoll fit ../../examples/models/qwen3-8b-q4_k_m.gguf --on cpu --no-mmap | grep start
  start      llama-server -m ../../examples/models/qwen3-8b-q4_k_m.gguf -c 40960 -lm none
  $ plimsoll fit ../../examples/models/qwen3-8b-q4_k_m.gguf --on cpu -lm none --engine llama.cpp@b7847 | grep start
  start      llama-server -m ../../examples/models/qwen3-8b-q4_k_m.gguf -c 40960 --no-mmap
  $ plimsoll fit ../../examples/models/qwen3-8b-q4_k_m.gguf --on cpu -lm mmap | grep start
  start      llama-server -m ../../examples/models/qwen3-8b-q4_k_m.gguf -c 40960
CUDA reads a cache of another type than f16 from a copy of one layer: 4 heads x 256 elements x 2 (keys, values) x 2 B x
262144 tokens = 1 GiB, beside the driver's own 320 MiB (1336 MiB were measured for this model):

  $ plimsoll fit qwen3.5-9b:q4_k_m --on cuda:48GiB -c 262144 -np 1 -ctk q8_0 -ctv q8_0 --explain | grep 'driver and'
              driver and kernels      1.31 GiB  estimate  the backend's own context, and a layer's cache as f16 where it is another type
  $ plimsoll fit qwen3.5-9b:q4_k_m --on cuda:48GiB -c 262144 -np 1 --explain | grep 'driver and'
              driver and kernels     320.0 MiB  estimate  the backend's own context, and a layer's cache as f16 where it is another type
