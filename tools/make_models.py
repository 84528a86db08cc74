#!/usr/bin/env python3
"""Write examples/models/*.gguf: headers of well-known models, without tokenizer arrays and without weights.

Each file holds the model's true metadata and complete tensor table, so that `plimsoll model` and `plimsoll fit` answer
as for the published file; at most 64 KiB each. What is known of a model is one row of MODELS, from its published
config.json; which tensor gets which type is what llama.cpp's quantizer does (llama_tensor_get_type).

usage: make_models.py [DIR]           write them (default: examples/models)
       make_models.py --check [DIR]   exit 1 where a file is not what would be written
       make_models.py --list          names, parameters and bytes
"""
import os
import struct
import sys

ALIGNMENT = 32
MAX_FILE = 64 << 10
# ggml types: number, elements of a block, bytes of a block
TYPES = {"F32": (0, 1, 4), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144),
         "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}
FILE_TYPES = {"Q4_K_M": 15, "BF16": 32}
FALLBACK = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}  # where rows are no whole blocks of 256

# From config.json of the repository named by `source` on huggingface.co. parameters: what the publisher counts (the
# sum over its safetensors files); published: bytes of the commonly downloaded GGUF of that mix, tokenizer included.
LLAMA3 = dict(arch="llama", vocab=128256, rope_base=500000.0, eps=1e-5, context=131072, rope_freqs=True)
QWEN3 = dict(arch="qwen3", vocab=151936, rope_base=1000000.0, eps=1e-6, context=40960, head=128, qk_norm=True)
QWEN3_8B = dict(QWEN3, source="Qwen/Qwen3-8B", layers=36, width=4096, ff=12288, heads=32, kv=8, parameters=8190735360)
MODELS = [
    dict(LLAMA3, name="Llama 3.2 1B Instruct", source="meta-llama/Llama-3.2-1B-Instruct", mix="Q4_K_M", layers=16,
         width=2048, ff=8192, heads=32, kv=8, head=64, tied=True, parameters=1235814400, published=807694464),
    dict(LLAMA3, name="Llama 3.1 8B Instruct", source="meta-llama/Llama-3.1-8B-Instruct", mix="Q4_K_M", layers=32,
         width=4096, ff=14336, heads=32, kv=8, head=128, parameters=8030261248, published=4920739232),
    dict(LLAMA3, name="Llama 3.3 70B Instruct", source="meta-llama/Llama-3.3-70B-Instruct", mix="Q4_K_M", layers=80,
         width=8192, ff=28672, heads=64, kv=8, head=128, parameters=70553706496, published=42520395584),
    dict(arch="qwen2", name="Qwen2.5 7B Instruct", source="Qwen/Qwen2.5-7B-Instruct", mix="Q4_K_M", layers=28,
         width=3584, ff=18944, heads=28, kv=4, head=128, vocab=152064, rope_base=1000000.0, eps=1e-6, context=32768,
         qkv_bias=True, parameters=7615616512, published=4683074240),
    dict(QWEN3_8B, name="Qwen3 8B", mix="Q4_K_M", published=5027783488),
    dict(QWEN3_8B, name="Qwen3 8B", mix="BF16", published=16388044000),
    dict(QWEN3, name="Qwen3 32B", source="Qwen/Qwen3-32B", mix="Q4_K_M", layers=64, width=5120, ff=25600, heads=64,
         kv=8, parameters=32762123264, published=19762149024),
    dict(QWEN3, arch="qwen3moe", name="Qwen3 30B A3B", source="Qwen/Qwen3-30B-A3B", mix="Q4_K_M", layers=48,
         width=2048, ff=6144, heads=32, kv=4, experts=128, used=8, expert_ff=768, parameters=30532122624,
         published=18556686912),
    dict(arch="llama", name="Mistral Nemo Instruct 2407", source="mistralai/Mistral-Nemo-Instruct-2407", mix="Q4_K_M",
         layers=40, width=5120, ff=14336, heads=32, kv=8, head=128, vocab=131072, rope_base=1000000.0, eps=1e-5,
         context=131072, parameters=12247782400, published=7477208192),
]


def slug(m):
    """File name: llama-3.1-8b-instruct-q4_k_m.gguf."""
    return f"{m['name']}-{m['mix']}.gguf".lower().replace(" ", "-")


# ---- the tensors of an architecture: (name, shape), as llama.cpp's converter writes them ----

def layer(m, i):
    width, ff, q, kv = m["width"], m["ff"], m["heads"] * m["head"], m["kv"] * m["head"]
    b = f"blk.{i}."
    yield b + "attn_norm.weight", (width,)
    if "experts" in m:
        n, eff = m["experts"], m["expert_ff"]
        yield b + "ffn_down_exps.weight", (eff, width, n)
        yield b + "ffn_gate_exps.weight", (width, eff, n)
        yield b + "ffn_up_exps.weight", (width, eff, n)
        yield b + "ffn_gate_inp.weight", (width, n)
    else:
        yield b + "ffn_down.weight", (ff, width)
        yield b + "ffn_gate.weight", (width, ff)
        yield b + "ffn_up.weight", (width, ff)
    yield b + "ffn_norm.weight", (width,)
    for part, rows in (("k", kv), ("q", q), ("v", kv)):
        yield b + f"attn_{part}.weight", (width, rows)
        if m.get("qkv_bias"):
            yield b + f"attn_{part}.bias", (rows,)
        if m.get("qk_norm") and part != "v":
            yield b + f"attn_{part}_norm.weight", (m["head"],)
    yield b + "attn_output.weight", (q, width)


def tensors(m):
    if m.get("rope_freqs"):
        yield "rope_freqs.weight", (m["head"] // 2,)
    yield "token_embd.weight", (m["width"], m["vocab"])
    for i in range(m["layers"]):
        yield from layer(m, i)
    yield "output_norm.weight", (m["width"],)
    if not m.get("tied"):
        yield "output.weight", (m["width"], m["vocab"])


# ---- types: llama_tensor_get_type() for the mixes used here ----

def more_bits(i, n):
    return i < n // 8 or i >= 7 * n // 8 or (i - n // 8) % 3 == 2


def q4_k_m(m, name):
    """Q6_K for the output and, in some layers, for values and the way down; Q5_K at least for the values of a 70B."""
    if name == "output.weight" or (name == "token_embd.weight" and m.get("tied")):
        return "Q6_K"
    kind = name.split(".")[-2]
    if kind in ("attn_v", "ffn_down", "ffn_down_exps") and more_bits(int(name.split(".")[1]), m["layers"]):
        return "Q6_K"
    return "Q5_K" if kind == "attn_v" and m["layers"] == 80 and m["kv"] < m["heads"] else "Q4_K"


def type_of(m, name, shape):
    if len(shape) == 1 or "ffn_gate_inp" in name:
        return "F32"
    kind = q4_k_m(m, name) if m["mix"] == "Q4_K_M" else m["mix"]
    return FALLBACK[kind] if kind in FALLBACK and shape[0] % TYPES[kind][1] else kind


def size_of(kind, shape):
    number, block, size = TYPES[kind]
    count = 1
    for d in shape:
        count *= d
    return count // block * size


# ---- the file ----

def string(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def value(v):
    """str 8, float f32 6, int u32 4."""
    if isinstance(v, str):
        return struct.pack("<I", 8) + string(v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    return struct.pack("<II", 4, v)


def metadata(m):
    a = m["arch"]
    keys = {
        "general.architecture": a, "general.type": "model", "general.name": m["name"],
        "general.source.url": "https://huggingface.co/" + m["source"], "general.file_type": FILE_TYPES[m["mix"]],
        "general.quantization_version": 2,
        f"{a}.block_count": m["layers"], f"{a}.context_length": m["context"], f"{a}.embedding_length": m["width"],
        f"{a}.feed_forward_length": m["ff"], f"{a}.attention.head_count": m["heads"],
        f"{a}.attention.head_count_kv": m["kv"], f"{a}.attention.key_length": m["head"],
        f"{a}.attention.value_length": m["head"], f"{a}.attention.layer_norm_rms_epsilon": m["eps"],
        f"{a}.rope.freq_base": m["rope_base"], f"{a}.rope.dimension_count": m["head"], f"{a}.vocab_size": m["vocab"],
    }
    if "experts" in m:
        keys.update({f"{a}.expert_count": m["experts"], f"{a}.expert_used_count": m["used"],
                     f"{a}.expert_feed_forward_length": m["expert_ff"]})
    return keys


def header(m):
    """The file's bytes, its parameters and the bytes that its data would take."""
    keys, infos, offset, parameters, count = metadata(m), b"", 0, 0, 0
    for name, shape in tensors(m):
        kind = type_of(m, name, shape)
        infos += string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        infos += struct.pack("<IQ", TYPES[kind][0], offset)
        elements = size_of("F32", shape) // 4
        parameters += elements if name != "rope_freqs.weight" else 0  # a table, not trained
        offset += -(-size_of(kind, shape) // ALIGNMENT) * ALIGNMENT
        count += 1
    body = b"".join(string(k) + value(v) for k, v in keys.items())
    return b"GGUF" + struct.pack("<IQQ", 3, count, len(keys)) + body + infos, parameters, offset


def build(m):
    data, parameters, weights = header(m)
    assert parameters == m["parameters"], f"{m['name']}: {parameters} parameters, {m['parameters']} are published"
    assert len(data) <= MAX_FILE, f"{m['name']}: {len(data)} bytes"
    # the published file has a tokenizer of at most 20 MB on top
    assert 0 <= m["published"] - weights < 20e6, f"{m['name']}: {weights} bytes of weights, {m['published']} published"
    return data, parameters, weights


def main():
    words = sys.argv[1:]
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "models")
    folder = next((w for w in words if not w.startswith("-")), root)
    wrong = 0
    for m in MODELS:
        data, parameters, weights = build(m)
        path = os.path.join(folder, slug(m))
        if "--list" in words:
            print(f"{slug(m):48} {parameters:>13} {weights:>13} {m['published'] - weights:>9} {len(data):>6}")
        elif "--check" in words:
            if not os.path.isfile(path) or open(path, "rb").read() != data:
                print(f"{path}: not what tools/make_models.py writes")
                wrong = 1
        else:
            os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
