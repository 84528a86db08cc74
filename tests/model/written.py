"""Headers of models in the two formats, of a size that the test chooses. Their weights are not written."""
import json
import struct

TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q4_0": (2, 32, 18), "q8_0": (8, 32, 34),
         "q4_K": (12, 256, 144)}  # number, elements, bytes


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def value(v):
    if isinstance(v, list):
        items = [value(i) for i in v]
        return struct.pack("<I", 9) + items[0][:4] + struct.pack("<Q", len(v)) + b"".join(i[4:] for i in items)
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v, bool):
        return struct.pack("<I?", 7, v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    return struct.pack("<II", 4, v)


def pad(n, to=32):
    return (n + to - 1) // to * to


def tensors_of(layers, width, vocabulary):
    yield "token_embd.weight", (width, vocabulary)
    yield "output_norm.weight", (width,)
    for i in range(layers):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{i}.{name}.weight", (width, width)
        for name, shape in (("ffn_gate", (width, 2 * width)), ("ffn_up", (width, 2 * width)),
                            ("ffn_down", (2 * width, width))):
            yield f"blk.{i}.{name}.weight", shape
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{i}.{name}.weight", (width,)


def keys_of(layers, width, vocabulary):
    return {
        "general.architecture": "llama", "general.name": "Served", "llama.block_count": layers,
        "llama.context_length": 4096, "llama.embedding_length": width, "llama.feed_forward_length": 2 * width,
        "llama.attention.head_count": width // 64, "llama.attention.head_count_kv": width // 64,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": [f"token{i:08d}" for i in range(vocabulary)],
        "tokenizer.ggml.scores": [0.5] * vocabulary,
    }


def bytes_of(shape, kind="f32"):
    n = 1
    for d in shape:
        n *= d
    _, elements, size = TYPES[kind]
    return n // elements * size


def gguf(keys, tensors):
    """(header, size of the file); a tensor is (name, shape) of f32 or (name, shape, type)."""
    out, at = b"", 0
    for name, shape, *kind in tensors:
        kind = kind[0] if kind else "f32"
        out += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", TYPES[kind][0], at)
        at = pad(at + bytes_of(shape, kind))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(text(k) + value(v) for k, v in keys.items()) + out
    head += b"\0" * (pad(len(head)) - len(head))
    return head, len(head) + at


def split(keys, tensors, count, stem):
    """{name: (header, size)} of a model in `count` files, the tensors after the first file's none."""
    files, each = {}, (len(tensors) + count - 2) // (count - 1)
    for i in range(count):
        some = {"split.no": i, "split.count": count, "split.tensors.count": len(tensors)}
        mine = tensors[(i - 1) * each:i * each] if i else []
        files[f"{stem}-{i + 1:05d}-of-{count:05d}.gguf"] = gguf({**keys, **some} if i == 0 else some, mine)
    return files


def safetensors(tensors):
    header, at = {}, 0
    for name, shape in tensors:
        n = 2
        for d in shape:
            n *= d
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + n]}
        at += n
    body = json.dumps(header).encode()
    return struct.pack("<Q", len(body)) + body, 8 + len(body) + at
