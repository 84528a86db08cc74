What can a machine run? One model in all its quantizations, the catalogue in all.

  $ plimsoll models llama-3.1-8b --on cuda:12GiB -c 8192 | cut -c1-60
  model         quantization      size  verdict        where  
  llama-3.1-8b  BF16          15.0 GiB  failed         -      
  llama-3.1-8b  Q8_0          7.95 GiB  warning        acceler
  llama-3.1-8b  Q6_K          6.14 GiB  passed (best)  acceler
  llama-3.1-8b  Q5_K_M        5.33 GiB  passed         acceler
  llama-3.1-8b  Q4_K_M        4.58 GiB  passed         acceler
  llama-3.1-8b  IQ4_XS        4.13 GiB  passed         acceler
  llama-3.1-8b  Q3_K_M        3.74 GiB  passed         acceler
  llama-3.1-8b  IQ3_XXS       3.04 GiB  passed         acceler
  llama-3.1-8b  IQ2_M         2.74 GiB  passed         acceler
  llama-3.1-8b  IQ2_XXS       2.23 GiB  passed         acceler
  $ plimsoll models --on cuda:8GiB | grep -c accelerators
  25
  $ plimsoll models --on cpu:1MiB
  none of the catalogue's models stays under the line here
  $ plimsoll models lama-3.1-8b --on cpu:1GiB
  ! plimsoll models: lama-3.1-8b: neither a file nor a model of the catalogue; did you mean llama-3.1-8b, llama-3.2-1b or llama-3.2-3b?
  [3]
  $ plimsoll fit qwen3-8b --on cuda:10GiB -c 8192 | head -2
  passed     cuda0 is filled to 66 % of its budget
  model      Qwen3 8B, qwen3, Q5_K_M, 5.44 GiB
  ! plimsoll fit: qwen3-8b: Q5_K_M is the best quantization that stays under the line here
  $ plimsoll fit qwen3-8b:q8_0 --on cuda:10GiB -c 8192 | head -2
  failed     cuda0 would be filled to 90 % of its budget; the line is at 85 % (it would still load)
  model      Qwen3 8B, qwen3, Q8_0, 8.11 GiB
