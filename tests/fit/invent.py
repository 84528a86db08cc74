#!/usr/bin/env python3
"""Invents small odd models of every architecture by asking a living llama.cpp what it wants; keeps what it plans.

usage: invent.py ENGINE OUT.jsonl [--seeds 1,2] [ARCH...]   new models, by default of all architectures in arch.def
       invent.py ENGINE OUT.jsonl --renew                   the models of invented.jsonl, asked again

ENGINE is a folder of a Debian llama.cpp (../oracle): a root with llama-fit-params, headers and its plugins.
The engine says which keys it lacks, one after another; here stands what a key may hold (VALUES), and what an
architecture needs to make sense (special()). ../oracle/want.cpp then makes it tell all tensors in one run. Types are
drawn by name. The same seed gives the same model as long as the engine asks the same.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

import invented

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, "..", "oracle")
SETTINGS = [
    "-gpus 0 -c 4096",
    "-gpus 1 -c 9000 -np 3",
    "-gpus 1 -c 20000 -np 4 -kvu -ngl 3",
    "-gpus 2 -c 8192 -fa on -ctk q8_0 -ctv q8_0 -ub 1024 -ts 3 -ts 2",
    "-gpus 1 -c 6000 -fa off -np 2 -nkvo",
    "-gpus 1 -c 16384 --swa-full -np 2 -kvu -fa off -ub 64 -ngl 5",
]
ATTEMPTS = [(0, 0.5), (1, 0.5), (1, 0.0), (2, 0.5), (2, 0.0), (2, 1.0)]  # how plain, share of optional tensors

RECURRENT_BY_HEADS = "jamba granitehybrid lfm2 lfm2moe plamo2 kimi-linear kimi-k3 bailingmoe3 glm5-next".split()
LATENT = "deepseek2 deepseek32 glm-dsa glm5-next hy_v4 kimi-linear kimi-k3 bailingmoe3 mistral4 dots3note".split()
PREDICTS = (
    "glm4moe bailingmoe2 exaone-moe glm-dsa deepseek32 qwen3next qwen35 qwen35moe mimo2 step35 hy_v3 "
    "deepseek4 nemotron_h_moe "
    "cohere2moe dots3note bailingmoe3 glm5-next"
).split()
EXPERTS = (
    "grok qwen2moe qwen3moe qwen3vlmoe olmoe dbrx phimoe arctic granitemoe gpt-oss smallthinker "
    "minimax-m2 llada-moe grovemoe rnd1 "
    "hunyuan-moe minimax-01 qwen35moe qwen3next lfm2moe jamba step35 hy_v3 nomic-bert-moe mellum mistral4 "
    "kimi-linear deepseek2"
).split()
MAY_HAVE_EXPERTS = "llama granitehybrid gemma4 minicpm mistral3 granite_swa".split()
MAY_SLIDE = {
    "gemma3": 0.8,
    "olmo2": 0.6,
    "afmoe": 0.7,
    "laguna": 0.8,
    "mellum": 0.7,
    "plamo3": 0.7,
    "lfm2": 0.4,
    "smallthinker": 0.7,
    "phi3": 0.5,
    "llama4": 0.3,
    "modern-bert": 0.6,
    "gemma2": 0.5,
    "exaone4": 0.5,
    "dflash": 0.5,
}

# What a key may hold, by its name behind the architecture's.
VALUES = {
    "expert_shared_count": lambda m: m.pick(1, 2),
    "expert_gating_func": lambda m: 2,
    "expert_weights_scale": lambda m: 2.5,
    "expert_weights_norm": lambda m: True,
    "experts_per_group": lambda m: 2,
    "expert_latent_length": lambda m: 64 * m.number(2, 6),
    "expert_chunk_feed_forward_length": lambda m: m.expert_width,
    "expert_shared_feed_forward_length": lambda m: 64 * m.number(2, 12),
    "expert_count": lambda m: m.experts,
    "expert_used_count": lambda m: m.used,
    "leading_dense_block_count": lambda m: m.pick(0, 1, 2),
    "interleave_moe_layer_step": lambda m: m.pick(1, 2),
    "attention.sliding_window": lambda m: m.pick(128, 512, 777, 1024, 4096),
    "attention.sliding_window_pattern": lambda m: m.some(),
    "attention.kv_lora_rank": lambda m: m.pick(64, 128, 256),
    "attention.q_lora_rank": lambda m: m.pick(96, 128, 192),
    "attention.key_length_mla": lambda m: 96,
    "attention.value_length_mla": lambda m: 64,
    "attention.key_length_swa": lambda m: m.pick(64, 128),
    "attention.value_length_swa": lambda m: m.value("attention.key_length_swa", 64),
    "attention.indexer.head_count": lambda m: m.pick(2, 4),
    "attention.indexer.key_length": lambda m: m.pick(64, 128),
    "attention.indexer.top_k": lambda m: 64,
    "attention.indexer.block_size": lambda m: 16,
    "attention.indexer.local_blocks": lambda m: 2,
    "attention.indexer.kpool": lambda m: 2,
    "attention.output_group_count": lambda m: 2,
    "attention.output_lora_rank": lambda m: 64,
    "attention.compress_ratios": lambda m: [m.pick(0, 4, 4, 128) for _ in range(m.layers)],
    "attention.decay_lora_rank": lambda m: 32,
    "attention.iclr_lora_rank": lambda m: 32,
    "attention.value_residual_mix_lora_rank": lambda m: 32,
    "attention.relative_buckets_count": lambda m: 32,
    "attention.group_norm_groups": lambda m: 32,
    "attention.clamp_kqv": lambda m: 8.0,
    "ssm.conv_kernel": lambda m: m.pick(3, 4),
    "ssm.inner_size": lambda m: 2 * m.embedding,
    "ssm.state_size": lambda m: m.pick(16, 64, 128),
    "ssm.time_step_rank": lambda m: m.pick(8, 16),
    "ssm.group_count": lambda m: m.pick(1, 2),
    "wkv.head_size": lambda m: 64,
    "time_mix_extra_dim": lambda m: 32,
    "time_decay_extra_dim": lambda m: 64,
    "shortconv.l_cache": lambda m: m.pick(3, 4),
    "kda.head_dim": lambda m: 64,
    "kda.gate_lower_bound": lambda m: -5.0,
    "hyper_connection.count": lambda m: 4,
    "hyper_connection.sinkhorn_iterations": lambda m: 2,
    "hyper_connection.low_rank": lambda m: 32,
    "hash_layer_count": lambda m: 1,
    "embedding_length_per_layer_input": lambda m: 64,
    "features_length": lambda m: m.embedding,
    "swiglu_clamp_exp": lambda m: 7.0,
    "attn_res.block_size": lambda m: 2,
    "hrm.layers_per_stack": lambda m: 1,
    "hrm.h_cycles": lambda m: 2,
    "hrm.l_cycles": lambda m: 2,
    "adapters.count": lambda m: 2,
    "adapters.lora_rank": lambda m: 16,
    "adapters.token_ids_activate": lambda m: [5, 6],
    "adapters.token_ids_substitute": lambda m: [7, 8],
    "posnet.embedding_length": lambda m: 96,
    "posnet.block_count": lambda m: m.layers,
    "convnext.embedding_length": lambda m: 96,
    "convnext.block_count": lambda m: m.layers,
    "rope.dimension_sections": lambda m: [4, 4, 4, 0],
    "use_parallel_residual": lambda m: m.chance(0.5),
}
ANY = [(r"epsilon$", 1e-6), (r"scale|freq_base|softcap|magnitude|beta$", 1.0), (r"^xielu\.", 0.8)]


class Sketch:
    """The figures of a model before the engine is asked; `plain` 0: heads apart from the embedding, 2: none share."""

    def __init__(self, arch, seed, plain):
        self.arch, self.seed, self.plain, self.random = arch, seed, plain, random.Random(f"{arch}/{seed}")
        self.layers, self.head = self.number(5, 9), self.pick(64, 64, 96, 128, 128, 256, 80, 32)
        self.heads = self.pick(4, 6, 8, 12, 16)
        self.heads_kv = self.pick(*[n for n in (1, 2, 3, 4, 6, 8) if self.heads % n == 0])
        if plain == 2:
            self.heads_kv, self.head = self.heads, 64
        self.embedding = self.heads * self.head if plain else 32 * self.number(8, 40)
        self.feed_forward, self.vocabulary = 64 * self.number(5, 60), self.number(3000, 60000)
        self.experts, self.used, self.expert_width = (
            self.pick(4, 8, 10, 16),
            self.number(1, 3),
            32 * self.number(2, 20),
        )
        self.metadata = {"general.architecture": arch, "tokenizer.ggml.model": "none"}

    def number(self, low, high):
        return self.random.randint(low, high)

    def pick(self, *values):
        return self.random.choice(values)

    def chance(self, share):
        return self.random.random() < share

    def some(self):
        """A truth for each layer, neither all nor none of them."""
        layers = [self.chance(0.6) for _ in range(self.layers)]
        if len(set(layers)) == 1:
            layers[self.number(0, self.layers - 1)] ^= True
        return layers

    def set(self, **values):
        for key, value in values.items():
            self.metadata[f"{self.arch}.{key.replace('__', '.')}"] = value

    def value(self, key, otherwise=None):
        return self.metadata.get(f"{self.arch}.{key}", otherwise)

    def learn(self, key):
        """Fills a key that the engine asks for."""
        short = key[len(self.arch) + 1 :] if key.startswith(self.arch + ".") else key
        if short == "expert_feed_forward_length":
            self.set(expert_count=self.experts, expert_used_count=self.used)
            self.metadata[key] = self.expert_width
        elif short in VALUES:
            self.metadata[key] = VALUES[short](self)
        else:
            self.metadata[key] = next(value for pattern, value in ANY if re.search(pattern, short))


# ---- what makes sense


def set_kinds(m):
    """Which layers attend, recur or do neither, where the heads of each layer say so."""
    if m.arch in RECURRENT_BY_HEADS:
        heads = 1 if m.arch in LATENT else m.heads_kv
        kinds = [0 if recurs else heads for recurs in m.some()]
        kinds[-1] = heads  # a layer that predicts further tokens attends
        m.set(attention__head_count_kv=kinds)
    if m.arch.startswith("nemotron_h"):
        kinds = m.random.sample("MAF", 3) + [m.pick(*"MMAF") for _ in range(m.layers - 4)] + ["A"]
        m.set(
            attention__head_count_kv=[m.heads_kv if kind == "A" else 0 for kind in kinds],
            feed_forward_length=[m.feed_forward if kind == "F" else 0 for kind in kinds],
        )
    if m.arch == "deci":
        m.set(
            attention__head_count=[m.heads if layer != 2 else 0 for layer in range(m.layers)],
            attention__head_count_kv=[m.heads_kv if layer not in (1, 2) else 0 for layer in range(m.layers)],
            feed_forward_length=[m.feed_forward if layer != 3 else 0 for layer in range(m.layers)],
        )
    if m.arch == "openelm":
        m.set(
            attention__head_count_kv=[m.pick(1, 2) for _ in range(m.layers)],
            attention__head_count=[m.pick(4, 6, 8) for _ in range(m.layers)],
            feed_forward_length=[64 * m.number(4, 20) for _ in range(m.layers)],
        )
    if m.arch in ("mimo2", "step35"):
        slides = m.some()
        m.set(
            attention__sliding_window_pattern=slides,
            attention__head_count_kv=[m.heads_kv if s else 1 for s in slides],
        )
    if m.arch == "gemma4":
        shared = m.pick(0, 2)
        slides = [layer % 3 != 1 for layer in range(m.layers)]
        slides[m.layers - shared - 2 : m.layers - shared] = [True, False]  # what layers share stands in front of them
        m.set(
            attention__sliding_window_pattern=slides,
            attention__shared_kv_layers=shared,
            attention__head_count_kv=[m.heads_kv if s else 1 for s in slides],
        )


def set_experts(m):
    if m.arch in EXPERTS or (m.arch in MAY_HAVE_EXPERTS and m.chance(0.5)) or m.arch == "nemotron_h_moe":
        m.set(expert_count=m.experts, expert_used_count=m.used, expert_gating_func=2)
        if m.arch not in (
            "llama",
            "jamba",
            "minicpm",
            "granitehybrid",
            "nomic-bert-moe",
            "granite_swa",
            "granitemoe",
            "grok",
            "dbrx",
        ):
            m.set(expert_feed_forward_length=m.expert_width)
    if m.arch == "nomic-bert-moe":
        m.set(moe_every_n_layers=2)
    if m.arch in ("hy_v4", "dots1"):
        m.set(expert_gating_func=2)


def set_latent(m):
    rank, turns = m.pick(64, 128, 256), 0 if m.arch == "glm5-next" else 32
    m.heads_kv = 1
    m.set(
        attention__kv_lora_rank=rank,
        attention__key_length=rank + turns,
        attention__value_length=rank,
        rope__dimension_count=turns,
        attention__key_length_mla=64 + turns,
        attention__value_length_mla=64,
    )
    if m.arch == "deepseek2" and m.chance(0.3):  # as files were before April 2025
        m.heads_kv = m.heads
        m.set(attention__key_length=96, attention__value_length=64)
        del m.metadata["deepseek2.attention.key_length_mla"], m.metadata["deepseek2.attention.value_length_mla"]


def set_windows(m):
    if m.arch == "dots3note":
        slides = m.some()
        m.set(
            attention__sliding_window_pattern=slides,
            attention__kv_lora_rank_swa=64,
            attention__key_length_mla_swa=96,
            attention__value_length_mla_swa=64,
            attention__key_length_swa=96,
            attention__value_length_swa=64,
            attention__indexer__types=[not s for s in slides],
        )
    if not m.chance(MAY_SLIDE.get(m.arch, 0)):
        return
    m.set(attention__sliding_window=0 if m.arch == "llama4" else m.pick(0, 256, 512, 1000, 2048, 512))
    if m.arch == "dflash" or (m.arch not in ("lfm2", "phi3", "llama4") and m.chance(0.5)):
        m.set(attention__sliding_window_pattern=m.some() if m.arch == "dflash" or m.chance(0.5) else 3)


SPECIAL = {
    "gemma3n": lambda m: setattr(m, "layers", m.number(22, 26)),
    "hrm_text": lambda m: setattr(m, "layers", 6),
    "mamba2": lambda m: m.set(ssm__inner_size=2 * m.embedding, ssm__time_step_rank=2 * m.embedding // 64),
    "granitehybrid": lambda m: m.set(ssm__time_step_rank=8, ssm__inner_size=2 * m.embedding),
    "falcon-h1": lambda m: m.set(ssm__inner_size=512 * m.number(1, 3), ssm__time_step_rank=8),
    "nemotron_h": lambda m: m.set(ssm__inner_size=512 * m.number(1, 3), ssm__time_step_rank=8),
    "nemotron_h_moe": lambda m: m.set(
        ssm__inner_size=512, ssm__time_step_rank=8, expert_shared_feed_forward_length=m.feed_forward
    ),
    "plamo2": lambda m: m.set(
        ssm__group_count=0,
        ssm__time_step_rank=8,
        ssm__inner_size=512,
        ssm__state_size=64,
        attention__key_length=64,
        attention__value_length=64,
    ),
    "minicpm3": lambda m: (
        setattr(m, "heads_kv", m.heads),
        m.set(rope__dimension_count=32, attention__key_length=96, attention__value_length=64),
    ),
    "deepseek4": lambda m: (
        setattr(m, "heads", 8),
        setattr(m, "heads_kv", 1),
        m.set(attention__key_length=128, attention__value_length=128, rope__dimension_count=64, expert_gating_func=4),
    ),
    "minimax-m3": lambda m: (
        setattr(m, "heads", 8),
        setattr(m, "heads_kv", 4),
        m.set(attention__indexer__head_count=4, leading_dense_block_count=2),
    ),
    "cohere2moe": lambda m: m.set(attention__layer_norm_rms_epsilon=1e-6),
    "dots1": lambda m: setattr(m, "heads_kv", m.heads),
    "rwkv6qwen2": lambda m: (setattr(m, "heads_kv", m.heads), m.set(token_shift_count=1)),
    "rwkv7": lambda m: m.set(attention__gate_lora_rank=64),
    "nanbeige": lambda m: m.set(num_loops=m.pick(1, 2, 3)),
    "arwkv7": lambda m: (setattr(m, "heads_kv", m.heads), m.set(token_shift_count=1, attention__gate_lora_rank=64)),
    "hy_v4": lambda m: (
        m.set(
            attention__indexer__top_k=64,
            attention__indexer__head_count=2,
            attention__indexer__key_length=128,
            attention__indexer__types=[True] + m.some()[1:],
        )
        if m.chance(0.6)
        else None
    ),
    "glm-dsa": lambda m: m.set(attention__indexer__types=[True] + m.some()[1:]) if m.chance(0.5) else None,
    "dflash": lambda m: m.set(target_layers=[1, 2, 3]),
}
SPECIAL.update(
    {
        arch: lambda m: m.set(ssm__state_size=64, ssm__group_count=4, ssm__time_step_rank=8, ssm__inner_size=512)
        for arch in ("qwen3next", "qwen35", "qwen35moe")
    }
)


def special(m):
    """What must hold for an architecture to make sense, and what its files may say beside what they must."""
    if m.arch in RECURRENT_BY_HEADS + ["mamba", "mamba2", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7"]:
        m.embedding = m.heads * 64 if m.plain or "rwkv" in m.arch else 64 * m.number(4, 16)
    if m.arch in ("mamba", "mamba2"):
        m.set(attention__head_count=0, attention__head_count_kv=0, feed_forward_length=0)
    if m.arch in ("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3"):
        m.metadata["tokenizer.ggml.token_type_count"] = 2
    if m.arch in ("hunyuan_vl", "qwen2vl", "qwen3vl", "qwen3vlmoe", "paddleocr", "glm4", "glm4moe"):
        m.set(rope__dimension_sections=[8, 4, 4, 0])
    SPECIAL.get(m.arch, lambda m: None)(m)
    if m.arch in LATENT:
        set_latent(m)
    set_kinds(m)
    set_experts(m)
    set_windows(m)
    if m.arch in PREDICTS and m.chance(0.7):
        m.set(nextn_predict_layers=1)
        if m.value("attention.indexer.types"):
            del m.value("attention.indexer.types")[-1]


def begin(arch, seed, plain):
    m = Sketch(arch, seed, plain)
    special(m)
    given = dict(m.metadata)
    m.set(
        vocab_size=m.vocabulary,
        block_count=m.layers,
        context_length=m.pick(4096, 32768, 40000, 131072),
        embedding_length=m.embedding,
        feed_forward_length=m.feed_forward,
        attention__head_count=m.heads,
        attention__head_count_kv=m.heads_kv,
    )
    if plain == 0:
        m.set(attention__key_length=m.head, attention__value_length=m.head)
    m.metadata.update(given)
    return m


# ---- the engine


def build_want(root):
    subprocess.run(
        [
            "g++",
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-shared",
            "-I",
            root + "/usr/include",
            os.path.join(ORACLE, "want.cpp"),
            "-o",
            root + "/oracle/want.so",
        ],
        check=True,
    )


def wanted(root, path, seed, share):
    """(exit status, log) of a run that makes up all tensors."""
    env = ["LD_PRELOAD=/oracle/want.so", f"WANT_SEED={seed}", f"WANT_SHARE={share}"]
    command = [
        "chroot",
        root,
        "env",
        *env,
        "llama-fit-params",
        "-m",
        path,
        "-fit",
        "off",
        "-fitp",
        "on",
        "-lv",
        "4",
        "-nr",
        "-c",
        "512",
    ]
    for _ in range(3):  # a log that was cut short tells nothing
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
        if run.returncode == 0 or re.search(r"error loading model|ASSERT|fatal error", run.stdout):
            break
    return run.returncode, run.stdout


def probe(root, m, share):
    """The list of tensors {name: shape}, or None and why."""
    path = "/models/probe.gguf"
    names = ["token_embd.weight", "blk.0.attn_norm.weight"] + [f"room.{i}" for i in range(1500)]
    if m.value("nextn_predict_layers"):
        names.append(f"blk.{m.layers - 1}.nextn.eh_proj.weight")
    for _ in range(60):
        invented.write_gguf(m.metadata, {name: ([1], "f32") for name in names}, root + path)
        status, log = wanted(root, path, f"{m.arch}{m.seed}", share)
        missing = re.search(r"key not found in model: (\S+)", log)
        if not missing:
            break
        m.learn(missing[1])
    if status:
        return None, (re.findall(r"error loading model: .*|GGML_ASSERT.*", log) or [f"status {status}"])[0]
    return {
        name: [int(n) for n in shape.split()] for name, shape in re.findall(r"^want: (\S+)((?: \d+)+)$", log, re.M)
    }, ""


def type_of(name, shape, coin):
    odd = ("_norm", "norm.", "ssm_", "conv", "time_mix", "channel_mix", "gate_inp", ".bias")
    if "tid2eid" in name or "d2t" in name:
        return "i32"
    if len(shape) == 1 or shape[0] % 32 or name.endswith("scale") or any(part in name for part in odd):
        return "f32"
    return coin.choice(
        ["q4_K", "q6_K", "q5_K", "iq4_xs", "q8_0", "q3_K", "bf16"]
        if shape[0] % 256 == 0
        else ["q8_0", "q5_1", "iq4_nl", "f16", "q4_0"]
    )


def typed(m, shapes):
    coin, types, tensors = random.Random(f"{m.arch}/{m.seed}/types"), {}, {}
    for name, shape in shapes.items():
        while len(shape) > 1 and shape[-1] == 1:
            shape.pop()
        stem = re.sub(r"\.\d+\.", ".", name, count=1)
        kind = types.setdefault(stem, type_of(name, shape, coin))
        if shape[0] % invented.TYPES[kind][1]:
            kind = "q8_0" if shape[0] % 32 == 0 else "f32"
        tensors[name] = (shape, kind)
    return tensors


def answers(engine, path):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as settings:
        settings.write("\n".join(SETTINGS))
        settings.flush()
        run = subprocess.run(
            [sys.executable, os.path.join(ORACLE, "rows.py"), engine, path, "--settings", settings.name],
            capture_output=True,
            text=True,
            check=True,
        )
    truths = [json.loads(line)["truth"] for line in run.stdout.splitlines()]
    return [
        (
            {
                device: [kinds["model"], kinds["context"], kinds["compute"]]
                for device, kinds in truth["buffers"].items()
            }
            if "buffers" in truth
            else None
        )
        for truth in truths
    ]


def invent(engine, arch, seed):
    """A line for invented.jsonl, or None and why not."""
    root, why = os.path.join(engine, "root"), []
    for plain, share in ATTEMPTS:
        try:
            m = begin(arch, seed, plain)
            shapes, reason = probe(root, m, share)
        except StopIteration:
            return None, "asks for a key without a rule"
        if shapes:
            tensors = typed(m, shapes)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, f"invented-{arch}-{seed}.gguf")
                invented.write_gguf(m.metadata, tensors, path)
                rows = answers(engine, path)
                os.unlink(os.path.join(root, "models", os.path.basename(path)))
            if any(rows):
                metadata, lines = invented.compact(arch, m.metadata, tensors)
                return {"arch": arch, "seed": seed, "metadata": metadata, "tensors": lines, "rows": rows}, ""
            reason = "refused in every setting"
        why.append(reason)
    return None, " | ".join(dict.fromkeys(why))


def renew(engine, model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"invented-{invented.name_of(model)}.gguf")
        invented.write_gguf(*invented.expanded(model), path)
        return dict(model, rows=answers(engine, path))


def main():
    words = sys.argv[1:]
    if len(words) < 2:
        sys.exit(__doc__)
    engine, out, rest = words[0], words[1], words[2:]
    seeds = [1]
    if "--seeds" in rest:
        at = rest.index("--seeds")
        seeds = [int(n) for n in rest[at + 1].split(",")]
        del rest[at : at + 2]
    with open(os.path.join(HERE, "..", "..", "src", "model", "arch.def"), encoding="utf-8") as file:
        archs = re.findall(r'^ARCH\("([^"]+)"', file.read(), re.M)
    version = os.path.basename(os.path.abspath(engine))
    with open(out, "w", encoding="utf-8") as file:

        def put(line):
            print(json.dumps(line, separators=(",", ":")), file=file, flush=True)

        put({"engine": f"llama.cpp {version}", "plimsoll": f"llama.cpp@{version}", "settings": SETTINGS})
        if rest == ["--renew"]:
            for model in invented.read_truth()[1]:
                put(renew(engine, model))
            return
        build_want(os.path.join(engine, "root"))
        for arch in rest or archs:
            for seed in seeds:
                line, why = invent(engine, arch, seed)
                print(f"{arch} {seed}: {'ok' if line else why}", flush=True)
                if line:
                    put(line)


if __name__ == "__main__":
    main()
