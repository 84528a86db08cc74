What an engine printed when it loaded a model, against what plimsoll says. This is llama.cpp 0.7.0 on two graphics cards,
three quarters and one quarter of the layers; the keys of the model are the log's own. (What compute takes is told by
other tests.)

  $ plimsoll check ../logs/two-gpus.log | grep -v ^compute
  model      gemma3-4b, gemma3
  run        llama.cpp@0.7.0, 8192 tokens, 2 slots, K q8_0, V f16, 35 layers on accelerators
  agreement  2 as printed
  not known  the model's tensors, so that weights are not predicted: name its file

  term      device   plimsoll        log  kind      result
  weights   -               -   2.38 GiB  -         not predicted
  weights   cuda0           -   1.33 GiB  -         not predicted
  weights   cuda1           -  714.0 MiB  -         not predicted
  weights   host            -  360.0 MiB  -         not predicted
  kv_cache  -       388.9 MiB  388.9 MiB  exact     same
  output    -        2.00 MiB   2.00 MiB  exact     same
  output    host     2.00 MiB   2.00 MiB  exact     same
A log of 2024, whose lines had other names (its figures were published):

  $ plimsoll check ../logs/llama2-7b-2024.log | grep -v ^compute
  model      llama2-7b-2024.log, llama
  run        llama.cpp@b3000, 512 tokens, 1 slot, K f16, V f16, 33 layers on accelerators
  agreement  2 as printed
  not known  the model's tensors, so that weights are not predicted: name its file

  term      device   plimsoll        log  kind      result
  weights   -               -   3.80 GiB  -         not predicted
  weights   intel0          -   3.73 GiB  -         not predicted
  weights   host            -   70.3 MiB  -         not predicted
  kv_cache  -       256.0 MiB  256.0 MiB  exact     same
  kv_cache  intel0  256.0 MiB  256.0 MiB  exact     same
  output    -       125.0 KiB  122.9 KiB  exact     same
  output    host    125.0 KiB  122.9 KiB  exact     same
ik_llama.cpp with -mla 1, which keeps the latent row and its transpose (figures of a published log); llama.cpp, judged by
its own rules, would keep whole keys and values of every head for this file, and the exit status says that it does not
agree:

  $ plimsoll check ../logs/kimi-k2-ik.log | grep -v ^compute
  model      Kimi K2 Instruct Bf16 Safetensors, deepseek2
  run        ik_llama.cpp@2025-06, 512 tokens, 1 slot, K f16, V f16, 0 layers on accelerators
  agreement  1 as printed
  not known  the model's tensors, so that weights are not predicted: name its file

  term      device  plimsoll       log  kind      result
  kv_cache  -       64.8 MiB  64.8 MiB  exact     same
  kv_cache  host    64.8 MiB  64.8 MiB  estimate  same
  $ plimsoll check ../logs/kimi-k2-ik.log --engine llama.cpp@b7847 | grep ^kv_cache
  kv_cache  -       1.19 GiB  64.8 MiB  exact  differs
  kv_cache  host    1.19 GiB  64.8 MiB  exact  differs
  $ plimsoll check ../logs/kimi-k2-ik.log --engine llama.cpp@b7847 >/dev/null; echo $?
  1
The whole of it as a document:

  $ plimsoll check ../logs/llama2-7b-2024.log --json | grep -c '"result": "same"'
  4
What is no such log:

  $ plimsoll check ../README.md
  ! plimsoll check: ../README.md: no line of a model being loaded (llama.cpp prints them with -v or -lv 5)
  [3]
  $ grep -v 'n_layer\|block_count' ../logs/llama2-7b-2024.log | plimsoll check -
  ! plimsoll check: -: the log does not tell the model's block_count; name its file
  [3]
  $ plimsoll check no-such.log
  ! plimsoll check: no-such.log: No such file or directory
  [3]
-mla is an option of that engine:

  $ plimsoll fit ../../examples/models/qwen3-8b-q4_k_m.gguf --on cuda:24GiB -c 8192 -mla 1
  ! plimsoll fit: -mla: an option of ik_llama.cpp (--engine ik_llama.cpp)
  [2]
