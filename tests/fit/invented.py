#!/usr/bin/env python3
"""Models that were invented, one of every architecture that llama.cpp loads, and what it plans for them.

usage: invented.py PLIMSOLL [EVERY] [-v]     judges every EVERY-th model of invented.jsonl; exit 0: all bytes agree
       invented.py --write DIR [NAME...]     writes the models: sparse GGUF files, headers without data

The first line of invented.jsonl names the engine and the settings (in the words of ../oracle/rows.py); each further
line is a model:
    metadata   its keys; "%" stands for the architecture
    tensors    "NAME TYPE SHAPE [LAYERS]": "*" in a name stands for each layer, or those of LAYERS (0-2,5)
    rows       for each setting {device: [weights, context, compute]} in bytes, or null where the engine refuses
invent.py writes it with a living engine. Weights and context are held to the byte on every device. Where plimsoll calls
compute exact and it is not, that is told, not judged: templates of graphs have tests of their own.
"""

import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRUTH = os.path.join(HERE, "invented.jsonl")
ALIGN = 32
# ggml tensor types: name -> (id, elements of a block, bytes of a block)
TYPES = {
    "f32": (0, 1, 4),
    "f16": (1, 1, 2),
    "q4_0": (2, 32, 18),
    "q5_1": (7, 32, 24),
    "q8_0": (8, 32, 34),
    "q3_K": (11, 256, 110),
    "q4_K": (12, 256, 144),
    "q5_K": (13, 256, 176),
    "q6_K": (14, 256, 210),
    "iq4_nl": (20, 32, 18),
    "iq4_xs": (23, 256, 136),
    "i32": (26, 1, 4),
    "bf16": (30, 1, 2),
}
SIGNED = ("token_ids_activate", "token_ids_substitute", "target_layers")  # arrays that the engine reads as i32
BOOL, U32, I32, F32, STRING, ARRAY = 7, 4, 5, 6, 8, 9


# ---- files


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def packed(value, integer=U32):
    """A metadata value: GGUF's type and bytes."""
    if isinstance(value, bool):
        return BOOL, struct.pack("<?", value)
    if isinstance(value, int):
        return integer, struct.pack("<I" if integer == U32 else "<i", value)
    if isinstance(value, float):
        return F32, struct.pack("<f", value)
    if isinstance(value, str):
        return STRING, text(value)
    items = [packed(item, integer) for item in value]
    return ARRAY, struct.pack("<IQ", items[0][0] if items else integer, len(items)) + b"".join(
        item[1] for item in items
    )


def tensor_bytes(kind, shape):
    _, elements, size = TYPES[kind]
    return math.prod(shape) // elements * size


def write_gguf(metadata, tensors, path):
    """tensors: {name: (shape, type)}. The file has its true size and takes a few KiB of disk."""
    infos, offset = b"", 0
    for name, (shape, kind) in tensors.items():
        infos += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, TYPES[kind][0], offset)
        offset += -(-tensor_bytes(kind, shape) // ALIGN) * ALIGN
    values = b""
    for key, value in metadata.items():
        kind, data = packed(value, I32 if key.endswith(SIGNED) else U32)
        values += text(key) + struct.pack("<I", kind) + data
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + values + infos
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(-(-len(header) // ALIGN) * ALIGN + offset)


# ---- the compact form


def layers_of(words, count):
    """ "0-2,5" as numbers; all of them where nothing is said."""
    if not words:
        return range(count)
    parts = [part.partition("-") for part in words.split(",")]
    return [layer for low, _, high in parts for layer in range(int(low), int(high or low) + 1)]


def expanded(model):
    """(metadata, tensors) of a line."""
    arch = model["arch"]
    metadata = {key.replace("%", arch, 1): value for key, value in model["metadata"].items()}
    tensors = {}
    for row in model["tensors"]:
        name, kind, shape, *layers = row.split()
        shape = [int(n) for n in shape.split("x")]
        for layer in layers_of(layers[0] if layers else "", metadata[f"{arch}.block_count"]) if "*" in name else [0]:
            tensors[name.replace("*", str(layer))] = (shape, kind)
    return metadata, tensors


def ranges(layers):
    out = []
    for layer in layers:
        if out and out[-1][1] == layer - 1:
            out[-1][1] = layer
        else:
            out.append([layer, layer])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def compact(arch, metadata, tensors):
    """The reverse of expanded()."""
    groups, count = {}, metadata[f"{arch}.block_count"]
    for name, (shape, kind) in tensors.items():
        stem = re.match(r"((?:enc\.|dec\.)?blk\.)(\d+)(\..*)", name)
        key = (stem[1] + "*" + stem[3] if stem else name, kind, "x".join(map(str, shape)))
        groups.setdefault(key, []).append(int(stem[2]) if stem else None)
    rows = []
    for key, layers in groups.items():
        whole = layers == [None] or sorted(layers) == list(range(count))
        rows.append(" ".join(key) + ("" if whole else " " + ranges(sorted(layers))))
    return {
        key.replace(arch, "%", 1) if key.startswith(arch + ".") else key: value for key, value in metadata.items()
    }, rows


def read_truth():
    with open(TRUTH, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return lines[0], lines[1:]


def name_of(model):
    return f"{model['arch']}-{model['seed']}"


# ---- the judge


def question(setting):
    """plimsoll's arguments for a setting in the words of rows.py."""
    rename = {"-kvu": "--kv-unified", "-nkvo": "--no-kv-offload"}
    words, flags, gpus, split = setting.split(), [], 1, []
    while words:
        word = words.pop(0)
        if word == "-gpus":
            gpus = int(words.pop(0))
        elif word == "-ts":
            split.append(words.pop(0))
        else:
            flags.append(rename.get(word, word))
    if "-np" not in flags:
        flags += ["-np", "1"]
    return flags + (["-ts", ",".join(split)] if split else []) + ["--on", f"cuda:65536MiB*{gpus}" if gpus else "cpu"]


def differences(plan, truth):
    """(what differs in weights or context, what is called exact in compute and is not)"""
    wrong, inexact = [], []
    devices = {}
    for device, bytes_ in truth.items():
        name = "cuda" + device[3:] if device.startswith("GPU") else "host"
        devices[name] = [a + b for a, b in zip(devices.get(name, [0, 0, 0]), bytes_)]
    for place in plan["placement"]:
        name = place["device"]
        weights, context, compute = devices.pop(name, [0, 0, 0])
        found = place["kv_cache_bytes"] + place["recurrent_state_bytes"]
        if place["weights_bytes"] != weights:
            wrong.append(f"{name} weights {place['weights_bytes']}, not {weights}")
        if found != context:
            wrong.append(f"{name} context {found}, not {context}")
        if place["compute_kind"] == "exact" and place["compute_bytes"] != compute:
            inexact.append(f"{name} compute {place['compute_bytes']}, not {compute}")
    return wrong + [f"{name} is missing" for name in devices], inexact


def ask(plimsoll, path, engine, setting):
    run = subprocess.run(
        [plimsoll, "fit", path, "--json", "--engine", engine] + question(setting),
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(run.stdout) if run.returncode in (0, 1) else None


def judge(plimsoll, every, verbose):
    head, models = read_truth()
    rows = wrong = inexact = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models[::every]:
            path = os.path.join(folder, "model.gguf")
            write_gguf(*expanded(model), path)
            for setting, truth in zip(head["settings"], model["rows"]):
                if truth is None:
                    continue
                plan = ask(plimsoll, path, head["plimsoll"], setting)
                bad, odd = differences(plan, truth) if plan else (["no answer"], [])
                rows, wrong, inexact = rows + 1, wrong + bool(bad), inexact + bool(odd)
                for line in bad + (odd if verbose else []):
                    print(f"{name_of(model)} {setting}: {line}")
    print(
        f"{len(models[::every])} models, {rows} plans of {head['engine']}: "
        f"weights and context exact in {rows - wrong}; "
        f"compute called exact and not so in {inexact}"
    )
    return 1 if wrong or not rows else 0


def main():
    words = sys.argv[1:]
    if words[:1] == ["--write"] and len(words) > 1:
        for model in read_truth()[1]:
            if len(words) == 2 or name_of(model) in words[2:]:
                write_gguf(*expanded(model), os.path.join(words[1], name_of(model) + ".gguf"))
        return 0
    verbose = "-v" in words
    words = [word for word in words if word != "-v"]
    if not words:
        sys.exit(__doc__)
    return judge(words[0], int(words[1]) if len(words) > 1 else 1, verbose)


if __name__ == "__main__":
    sys.exit(main())
