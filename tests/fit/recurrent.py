#!/usr/bin/env python3
"""Models that keep a state, invented or cut short, held against what llama.cpp itself plans for them.

usage: recurrent.py PLIMSOLL                       hold recurrent.jsonl (ctest's fit.recurrent)
       recurrent.py --write DIR                    the models alone, as sparse files of their true size
       recurrent.py --draw ENGINE SEED COUNT DIR   new rows of tests/oracle/rows.py, settings by lot, to stdout

The figures of a model are those of a published one, with fewer layers; "odd" ones are nobody's.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q8_0": (8, 32, 34), "q4_K": (12, 256, 144)}  # number, block, its bytes
ALIGNMENT = 32


class Model:
    """Metadata and tensors, which name what is in every layer of a list with a '*'."""

    def __init__(self, arch, layers, width, vocabulary, **keys):
        self.arch, self.layers, self.width, self.tensors = arch, layers, width, []
        self.keys = {"general.architecture": arch, "tokenizer.ggml.model": "none"}
        self.key(block_count=layers, context_length=65536, embedding_length=width, vocab_size=vocabulary, **keys)
        self.key(attention__layer_norm_rms_epsilon=1e-5)
        self.matrix("token_embd.weight", width, vocabulary)
        self.vector("output_norm.weight", width)

    def key(self, **keys):
        self.keys.update({f"{self.arch}.{name.replace('__', '.')}": value for name, value in keys.items()})

    def add(self, name, shape, kind, layers):
        for il in (range(self.layers) if layers is None else layers) if "*" in name else [0]:
            self.tensors.append((name.replace("*", f"blk.{il}"), shape, kind))

    def matrix(self, name, *shape, layers=None, kind=None):
        kind = kind or ("q4_K" if shape[0] % 256 == 0 else "q8_0" if shape[0] % 32 == 0 else "f16")
        self.add(name, shape, kind, layers)

    def vector(self, name, *shape, layers=None):
        self.add(name, shape, "f32", layers)

    def norms(self, *names):
        for name in names:
            self.vector("*." + name, self.width)

    # ---- what layers are made of

    def mamba(self, inner, state, rank, layers=None, normed=False):
        self.key(ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state, ssm__time_step_rank=rank)
        self.matrix("*.ssm_in.weight", self.width, 2 * inner, layers=layers)
        self.vector("*.ssm_conv1d.weight", 4, inner, layers=layers)
        self.vector("*.ssm_conv1d.bias", inner, layers=layers)
        self.matrix("*.ssm_x.weight", inner, rank + 2 * state, layers=layers)
        self.vector("*.ssm_dt.weight", rank, inner, layers=layers)
        self.vector("*.ssm_dt.bias", inner, layers=layers)
        self.vector("*.ssm_a", state, inner, layers=layers)
        self.vector("*.ssm_d", inner, layers=layers)
        self.matrix("*.ssm_out.weight", inner, self.width, layers=layers)
        for name, of in (("dt", rank), ("b", state), ("c", state)) if normed else ():
            self.vector(f"*.ssm_{name}_norm.weight", of, layers=layers)

    def mamba2(self, inner, state, heads, groups, layers=None, normed=True):
        mixed = inner + 2 * groups * state
        self.key(ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state, ssm__time_step_rank=heads,
                 ssm__group_count=groups)
        self.matrix("*.ssm_in.weight", self.width, inner + mixed + heads, layers=layers)
        self.vector("*.ssm_conv1d.weight", 4, mixed, layers=layers)
        self.vector("*.ssm_conv1d.bias", mixed, layers=layers)
        self.vector("*.ssm_dt.bias", heads, layers=layers)
        self.vector("*.ssm_a", 1, heads, layers=layers)
        self.vector("*.ssm_d", 1, heads, layers=layers)
        self.matrix("*.ssm_out.weight", inner, self.width, layers=layers)
        if normed:
            self.vector("*.ssm_norm.weight", inner // groups, groups, layers=layers)

    def attention(self, heads, heads_kv, head, layers=None, biased=False):
        everywhere = range(self.layers) if layers is None else layers
        self.key(attention__head_count=heads,
                 attention__head_count_kv=[heads_kv if il in everywhere else 0 for il in range(self.layers)])
        for name, of in (("q", heads), ("k", heads_kv), ("v", heads_kv)):
            self.matrix(f"*.attn_{name}.weight", self.width, of * head, layers=layers)
            if biased:
                self.vector(f"*.attn_{name}.bias", of * head, layers=layers)
        self.matrix("*.attn_output.weight", heads * head, self.width, layers=layers)

    def feed(self, inside, layers=None, gated=True):
        for name in ("up", "gate") if gated else ("up",):
            self.matrix(f"*.ffn_{name}.weight", self.width, inside, layers=layers)
        self.matrix("*.ffn_down.weight", inside, self.width, layers=layers)

    def experts(self, count, used, inside, shared=0, latent=0, layers=None, gated=True):
        outside = latent or self.width
        self.key(expert_count=count, expert_used_count=used, expert_feed_forward_length=inside)
        self.vector("*.ffn_gate_inp.weight", self.width, count, layers=layers)
        for name in ("up", "gate") if gated else ("up",):
            self.matrix(f"*.ffn_{name}_exps.weight", outside, inside, count, layers=layers)
            if shared:
                self.matrix(f"*.ffn_{name}_shexp.weight", self.width, shared, layers=layers)
        self.matrix("*.ffn_down_exps.weight", inside, outside, count, layers=layers)
        if shared:
            self.key(expert_shared_feed_forward_length=shared)
            self.matrix("*.ffn_down_shexp.weight", shared, self.width, layers=layers)
        if latent:
            self.key(moe_latent_size=latent)
            self.matrix("*.ffn_latent_down.weight", self.width, latent, layers=layers)
            self.matrix("*.ffn_latent_up.weight", latent, self.width, layers=layers)


# ---- the models ----------------------------------------------------------------------------------------------------


def mamba(layers, width, vocabulary, inner, rank, **keys):
    model = Model("mamba", layers, width, vocabulary, feed_forward_length=0, attention__head_count=0, **keys)
    model.norms("attn_norm.weight")
    model.mamba(inner, 16, rank)
    return model


def mamba2_odd():
    model = Model("mamba2", 20, 1536, 50288, feed_forward_length=0, attention__head_count=0)
    model.norms("attn_norm.weight")
    model.mamba2(3072, 64, 48, 4)
    return model


def falcon_h1(layers, width, vocabulary, inside, heads, heads_kv, head, scan):
    model = Model("falcon-h1", layers, width, vocabulary, feed_forward_length=inside, attention__key_length=head,
                  attention__value_length=head)
    model.norms("attn_norm.weight", "ffn_norm")
    model.mamba2(*scan, normed=scan[-1] > 1)
    model.attention(heads, heads_kv, head)
    model.feed(inside)
    return model


def granite(layers, width, attends, inner, heads, heads_kv, head, rotates=False, experts=None, inside=0):
    model = Model("granitehybrid", layers, width, 100352, feed_forward_length=inside, rope__dimension_count=head,
                  rope__scaling__finetuned=rotates, residual_scale=0.22, logit_scale=8.0, embedding_scale=12.0,
                  attention__scale=0.015625)
    model.norms("attn_norm.weight", "ffn_norm.weight")
    model.mamba2(inner, 128, inner // 64, 1, layers=[il for il in range(layers) if il not in attends])
    model.attention(heads, heads_kv, head, layers=attends, biased=experts is not None)
    if experts:
        model.experts(*experts)
    else:
        model.feed(inside)
    return model


def jamba(layers, width, attends, inside, heads, heads_kv, rank, experts=None):
    model = Model("jamba", layers, width, 65536, feed_forward_length=inside)
    model.norms("attn_norm.weight", "ffn_norm.weight")
    model.mamba(2 * width, 16, rank, layers=[il for il in range(layers) if il not in attends], normed=True)
    model.attention(heads, heads_kv, width // heads, layers=attends)
    if experts:
        model.experts(*experts, layers=range(1, layers, 2))
    model.feed(inside, layers=range(0, layers, 2) if experts else None)
    return model


def nemotron(pattern, width, inside, heads, heads_kv, inner, experts=None):
    """M scans, * attends, - and E feed forward."""
    fed = [il for il, kind in enumerate(pattern) if kind in "-E"]
    model = Model("nemotron_h_moe" if experts else "nemotron_h", len(pattern), width, 131072,
                  attention__layer_norm_epsilon=1e-5, attention__key_length=128, attention__value_length=128,
                  feed_forward_length=[inside if il in fed else 0 for il in range(len(pattern))])
    model.norms("attn_norm.weight")
    model.mamba2(inner, 128, inner // 64, 8, layers=[il for il, kind in enumerate(pattern) if kind == "M"])
    model.attention(heads, heads_kv, 128, layers=[il for il, kind in enumerate(pattern) if kind == "*"])
    if experts:
        model.key(expert_weights_norm=True, expert_weights_scale=2.5)
        model.experts(*experts, layers=fed, gated=False)
        model.vector("*.exp_probs_b.bias", experts[0], layers=fed)
    else:
        model.feed(inside, layers=fed, gated=False)
    model.matrix("output.weight", width, 131072)
    return model


def plamo2(layers, width, inside, heads, heads_kv, inner, scan_heads):
    rank, state, head = max(64, width // 16), 64, 128
    scans, attends = range(0, layers, 2), range(1, layers, 2)
    model = Model("plamo2", layers, width, 100000, feed_forward_length=inside, attention__key_length=head,
                  attention__value_length=head, attention__head_count=heads,
                  attention__head_count_kv=[heads_kv if il in attends else 0 for il in range(layers)],
                  ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state, ssm__time_step_rank=scan_heads,
                  ssm__group_count=0)
    model.norms("attn_norm.weight", "post_attention_norm", "ffn_norm.weight", "post_ffw_norm")
    model.matrix("*.ssm_in.weight", width, 2 * inner, layers=scans)
    model.vector("*.ssm_conv1d.weight", 4, inner, layers=scans)
    model.matrix("*.ssm_x.weight", inner, rank + 2 * state, layers=scans)
    model.vector("*.ssm_dt.weight", rank, scan_heads, layers=scans)
    model.vector("*.ssm_dt.bias", scan_heads, layers=scans)
    for name, of in (("a", scan_heads), ("d", scan_heads), ("dt_norm", rank), ("b_norm", state), ("c_norm", state)):
        model.vector(f"*.ssm_{name}", of, layers=scans)
    model.matrix("*.ssm_out.weight", inner, width, layers=scans)
    model.matrix("*.attn_qkv.weight", width, (heads + 2 * heads_kv) * head, layers=attends)
    model.vector("*.attn_q_norm.weight", head, heads, layers=attends)
    model.vector("*.attn_k_norm.weight", head, heads_kv, layers=attends)
    model.matrix("*.attn_output.weight", heads * head, width, layers=attends)
    model.matrix("*.ffn_up.weight", width, 2 * inside)
    model.matrix("*.ffn_down.weight", inside, width)
    return model


def minimax(layers, width, heads, heads_kv, experts):
    head, attends = 128, range(7, layers, 8)
    scans = [il for il in range(layers) if il not in attends]
    model = Model("minimax-01", layers, width, 200064, feed_forward_length=experts[2], attention__key_length=head,
                  attention__value_length=head, rope__dimension_count=64, residual_scale=3.5565588200778455)
    model.norms("attn_norm.weight", "ffn_norm.weight")
    model.attention(heads, heads_kv, head, layers=attends)
    model.key(attention__head_count_kv=heads_kv)
    model.vector("*.attn_norm_2.weight", heads * head, layers=scans)
    model.matrix("*.attn_qkv.weight", width, 3 * heads * head, layers=scans)
    model.matrix("*.attn_gate.weight", width, heads * head, layers=scans)
    model.matrix("*.attn_output.weight", heads * head, width, layers=scans)
    model.experts(*experts)
    model.matrix("output.weight", width, 200064)
    return model


MODELS = {
    "mamba-130m": lambda: mamba(24, 768, 50280, 1536, 48),
    "falcon-mamba": lambda: mamba(12, 4096, 65024, 8192, 256, ssm__dt_b_c_rms=True),
    "mamba2-odd": mamba2_odd,
    "falcon-h1-0.5b": lambda: falcon_h1(10, 1024, 32784, 2048, 8, 2, 64, (1536, 128, 24, 1)),
    "falcon-h1-34b": lambda: falcon_h1(8, 5120, 261120, 21504, 20, 4, 128, (10240, 256, 32, 2)),
    "granite-h-dense": lambda: granite(16, 2048, [3, 9, 15], 4096, 16, 4, 128, inside=8192),
    "granite-h-small": lambda: granite(14, 4096, [5, 11], 8192, 32, 8, 128, experts=(72, 10, 768, 1536), inside=768),
    "granite-h-odd": lambda: granite(9, 1536, [0, 8], 3072, 12, 2, 128, rotates=True, experts=(16, 3, 512), inside=512),
    "jamba-odd": lambda: jamba(12, 2048, [4], 6144, 16, 8, 128, experts=(8, 2, 6144)),
    "jamba-reasoning": lambda: jamba(28, 2560, [7, 21], 8192, 20, 1, 160),
    "nemotron-h-4b": lambda: nemotron("M-M-M-M*-M-M-M*-M-M-M-M-", 3072, 12288, 32, 8, 7168),
    "nemotron-3-nano": lambda: nemotron("MEMEM*EMEMEM*EMEMEME", 2688, 1856, 32, 2, 4096, (128, 6, 1856, 3712)),
    "nemotron-3-super": lambda: nemotron("MEMEMEM*EMEMEM*EME", 4096, 2688, 32, 2, 8192, (256, 22, 2688, 5376, 1024)),
    "plamo2-1b": lambda: plamo2(16, 2048, 8192, 16, 1, 4096, 32),
    "plamo2-8b": lambda: plamo2(12, 4096, 16384, 32, 4, 8192, 64),
    "minimax-text-01": lambda: minimax(16, 6144, 64, 8, (32, 2, 9216)),
    "minimax-odd": lambda: minimax(10, 1536, 12, 4, (8, 3, 1024)),
}


# ---- as files ------------------------------------------------------------------------------------------------------


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def value(v):
    if isinstance(v, bool):
        return struct.pack("<I?", 7, v)
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    if isinstance(v, list) and isinstance(v[0], bool):
        return struct.pack(f"<IIQ{len(v)}?", 9, 7, len(v), *v)
    if isinstance(v, list):
        return struct.pack(f"<IIQ{len(v)}I", 9, 4, len(v), *v)
    return struct.pack("<II", 4, v)


def write(model, path):
    infos, at = b"", 0
    for name, shape, kind in model.tensors:
        number, block, size = TYPES[kind]
        infos += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, number, at)
        size *= shape[0] // block
        for n in shape[1:]:
            size *= n
        at += -(-size // ALIGNMENT) * ALIGNMENT
    head = b"GGUF" + struct.pack("<IQQ", 3, len(model.tensors), len(model.keys))
    head += b"".join(text(key) + value(v) for key, v in model.keys.items()) + infos
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(-(-len(head) // ALIGNMENT) * ALIGNMENT + at)


def write_all(models, folder):
    for name, make in models.items():
        write(make(), os.path.join(folder, name + ".gguf"))


# ---- settings by lot -----------------------------------------------------------------------------------------------

TAKEN = [r"blk\.[2-7]\.ssm.*", "ssm_out", "attn_", "ffn_down", r"blk\.(1|3)\..*", "exps", "ssm_(a|d)", "norm"]


def settings(lot, taken):
    gpus = lot.choice([0, 1, 1, 1, 2, 2, 3, 4])
    flash = lot.choice(["on", "on", "off"])
    words = ["-gpus", gpus, "-np", lot.choice([1, 1, 2, 3, 5, 8, 16]),
             "-c", lot.choice([2048, 4096, 7777, 20000, 65536]),
             "-ub", lot.choice([4, 16, 31, 33, 64, 100, 256, 512, 777, 1024]), "-fa", flash]
    sometimes = [(.3, ["-b", lot.choice([64, 300, 2048])]), (.2, ["-kvu"]), (.2, ["-noopoff"]),
                 (.2 * (flash == "on"), ["-ctk", "q8_0", "-ctv", "q8_0"]), (.1 * (flash == "on"), ["-ctk", "f32"])]
    if gpus:
        sometimes += [(.4, ["-ngl", lot.randint(0, 24)]), (.2, ["-nkvo"]), (.3, ["-ot-cpu", lot.choice(taken)])]
    if gpus > 1:
        sometimes += [(.4, [w for _ in range(gpus) for w in ("-ts", lot.randint(1, 4))])]
    for chance, more in sometimes:
        if lot.random() < chance:
            words += more
    return " ".join(str(w) for w in words)


def draw(models, taken, engine, seed, count, folder):
    lot = random.Random(seed)
    write_all(models, folder)
    for name in models:
        path = os.path.join(folder, name + ".txt")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(settings(lot, taken) + "\n" for _ in range(int(count)))
        subprocess.run([sys.executable, os.path.join(HERE, "..", "oracle", "rows.py"), engine,
                        os.path.join(folder, name + ".gguf"), "--settings", path], check=True)


def main(models, taken, rows, usage):
    """taken: what -ot may take of these models; rows: a file beside this one."""
    if len(sys.argv) == 3 and sys.argv[1] == "--write":
        write_all(models, sys.argv[2])
    elif len(sys.argv) == 6 and sys.argv[1] == "--draw":
        draw(models, taken, *sys.argv[2:])
    elif len(sys.argv) == 2:
        with tempfile.TemporaryDirectory() as folder:
            write_all(models, folder)
            hold = [sys.executable, os.path.join(HERE, "hold.py"), sys.argv[1], os.path.join(HERE, rows)]
            return subprocess.run(hold + [folder, "--strict", "-v"], check=False).returncode
    else:
        sys.exit(usage)
    return 0


if __name__ == "__main__":
    sys.exit(main(MODELS, TAKEN, "recurrent.jsonl", __doc__))
