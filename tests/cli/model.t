What a model file says of itself, from its header alone.

  $ plimsoll model ../../examples/models/qwen3-30b-a3b-q4_k_m.gguf
  model      Qwen3 30B A3B
             qwen3moe, 48 layers, 2048 wide, feed-forward 6144
             layers: full_attention=48
  parameters 30.5 billion, of which a token uses 3.35 billion
  attention  32 heads, 4 for keys and values, keys of 128, values of 128
  experts    128, 8 for a token
  context    trained for 40960 tokens
  vocabulary 151936 tokens
  file       gguf 3, 36.5 KiB, Q4_K_M
             579 tensors, 17.3 GiB of data
  missing    tensor data: ../../examples/models/qwen3-30b-a3b-q4_k_m.gguf has 37337 of 18550753760 bytes, 17.3 GiB are absent
  $ plimsoll model qwen3-30b-a3b:q4_k_m | tail -2
  file       gguf, Q4_K_M
             579 tensors, 17.3 GiB of data
  $ plimsoll model qwen3-30b-a3
  ! plimsoll model: qwen3-30b-a3: neither a file nor a model of the catalogue; did you mean qwen3-30b-a3b, qwen3-30b-a3b-2507 or qwen3-vl-30b-a3b?
  [3]
  $ plimsoll model ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --metadata | tail -20
  missing    tensor data: ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf has 9488 of 799872416 bytes, 762.8 MiB are absent

  general.architecture = llama
  general.file_type = 15
  general.name = Llama 3.2 1B Instruct
  general.quantization_version = 2
  general.source.url = https://huggingface.co/meta-llama/Llama-3.2-1B-Instruct
  general.type = model
  llama.attention.head_count = 32
  llama.attention.head_count_kv = 8
  llama.attention.key_length = 64
  llama.attention.layer_norm_rms_epsilon = 1e-05
  llama.attention.value_length = 64
  llama.block_count = 16
  llama.context_length = 131072
  llama.embedding_length = 2048
  llama.feed_forward_length = 8192
  llama.rope.dimension_count = 64
  llama.rope.freq_base = 500000
  llama.vocab_size = 128256
  $ plimsoll model ../../examples/models/llama-3.2-1b-instruct-q4_k_m.gguf --tensors | sed -n '/^tensor/,$p' | head -14
  tensor                     type  shape            bytes
  rope_freqs.weight          F32   32               128 B
  token_embd.weight          Q6_K  2048 128256  205.5 MiB
  blk.0.attn_norm.weight     F32   2048          8.00 KiB
  blk.0.ffn_down.weight      Q6_K  8192 2048     13.1 MiB
  blk.0.ffn_gate.weight      Q4_K  2048 8192     9.00 MiB
  blk.0.ffn_up.weight        Q4_K  2048 8192     9.00 MiB
  blk.0.ffn_norm.weight      F32   2048          8.00 KiB
  blk.0.attn_k.weight        Q4_K  2048 512     576.0 KiB
  blk.0.attn_q.weight        Q4_K  2048 2048     2.25 MiB
  blk.0.attn_v.weight        Q6_K  2048 512     840.0 KiB
  blk.0.attn_output.weight   Q4_K  2048 2048     2.25 MiB
  blk.1.attn_norm.weight     F32   2048          8.00 KiB
  blk.1.ffn_down.weight      Q6_K  8192 2048     13.1 MiB
  $ COLUMNS=60 plimsoll model ../../fuzz/corpus/model/metadata.safetensors --tensors --metadata
  model      metadata
  file       safetensors, 232 B, F4
             2 tensors, 9 B of data
  missing    the number of parameters
             config.json: architecture, layers and heads are
             told there

  format = pt
  k = é

  tensor  type  shape  bytes
  a       F4    2 1      1 B
  b       I64   -        8 B

What cannot be read exits with 3 and names the file, and the place in it.

  $ plimsoll model
  ! plimsoll model: needs MODEL
  [2]
  $ plimsoll model no-such-model.gguf
  ! plimsoll model: no-such-model.gguf: No such file or directory
  [3]
  $ plimsoll model .
  ! plimsoll model: .: no model in this directory: no *.gguf, *.safetensors or *.safetensors.index.json
  [3]
  $ plimsoll model ../../examples/models
  ! plimsoll model: ../../examples/models: 9 models in this directory (llama-3.1-8b-instruct-q4_k_m.gguf, llama-3.2-1b-instruct-q4_k_m.gguf, ...): name one
  [3]
  $ plimsoll model run.py
  ! plimsoll model: run.py: at byte 0: neither a GGUF nor a safetensors file
  [3]
  $ mkfifo $TMP/pipe.gguf && plimsoll model $TMP/pipe.gguf
  ! plimsoll model: $TMP/pipe.gguf: not a regular file
  [3]
  $ head -c 1000 ../../examples/models/qwen3-8b-bf16.gguf >$TMP/cut.gguf; plimsoll model $TMP/cut.gguf
  ! plimsoll model: $TMP/cut.gguf: at byte 995: the file ends inside the tensor table: 8 bytes wanted, 5 left
  [3]
  $ printf 'GGUF\003\0\0\0\0\0\0\0\0\0\0\020' >$TMP/lie.gguf; plimsoll model $TMP/lie.gguf --json
  ! plimsoll model: $TMP/lie.gguf: at byte 8: 1152921504606846976 tensors; at most 1000000 are read
  [3]
