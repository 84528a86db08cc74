#!/usr/bin/env python3
"""Hold the catalogue against llama.cpp itself: every model loads, every mixture is llama-quantize's.

usage: catalogue.py PLIMSOLL SHARED [MODEL,...]

Needs llama-fit-params and llama-quantize in PATH and SHARED/tools/make_gguf.py; without them it skips (exit status 77).
Each model is written as a sparse BF16 file. llama.cpp refuses one whose tensors are not those of its architecture;
llama-quantize --dry-run prints the size of each mixture (those made with an importance matrix get one of one entry).
"""
import importlib.util
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
MIXED = "llama-3.2-1b llama-3.3-70b mixtral-8x7b qwen3-30b-a3b gpt-oss-20b qwen3.5-35b-a3b nemotron-nano-9b-v2".split()
REAL = re.compile(r"freq_base|epsilon|softcapping|scale|xielu")


def load(path):
    spec = importlib.util.spec_from_file_location("make_gguf", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(table, pattern):
    return re.findall(pattern, (TOP / "src" / "model" / table).read_text(), re.M)


def document(plimsoll, name):
    words = [plimsoll, "model", name, "--json", "--tensors", "--metadata"]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def write(maker, plimsoll, name, path):
    doc = document(plimsoll, name + ":bf16")
    keys = {k: float(v) if REAL.search(k) and not isinstance(v, list) else v for k, v in doc["metadata"].items()}
    tensors = [{"name": t["name"], "shape": t["shape"], "type": t["type"].lower()} for t in doc["tensors"]]
    maker.write({"metadata": {**keys, "tokenizer.ggml.model": "none"}, "tensors": tensors}, path)


def loads(path):
    done = subprocess.run(["llama-fit-params", "-m", path, "-fit", "off", "-fitp", "on", "-c", "512"],
                          capture_output=True, text=True, timeout=120)
    return re.search(r"^\S+ \d+ \d+ \d+", done.stdout, re.M) is not None


def quantized(path, mixture, matrix):
    words = ["llama-quantize", "--dry-run"] + (["--imatrix", matrix] if matrix else []) + [path, mixture]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    size = re.search(r"quant size\s*=\s*([\d.]+) MiB", done.stdout + done.stderr)
    return float(size.group(1)) if size else None


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    plimsoll, maker = sys.argv[1], pathlib.Path(sys.argv[2]) / "tools" / "make_gguf.py"
    if not maker.is_file() or not shutil.which("llama-fit-params") or not shutil.which("llama-quantize"):
        print("skipped: needs llama-fit-params, llama-quantize and ../shared/tools/make_gguf.py")
        return 77
    maker, wrong, tried = load(maker), [], 0
    names = sys.argv[3].split(",") if len(sys.argv) == 4 else rows("catalogue.def", r'^MODEL\("([^"]+)"')
    mixtures = rows("mixtures.def", r"^MIX\((\w+), \d+, \w+, (\w+)")
    with tempfile.TemporaryDirectory() as folder:
        matrix, path = f"{folder}/matrix.dat", f"{folder}/model.gguf"
        with open(matrix, "wb") as f:
            f.write(struct.pack("<ii3siif", 1, 3, b"foo", 1, 1, 1.0) + struct.pack("<ii1s", 1, 1, b"x"))
        for name in names:
            write(maker, plimsoll, name, path)
            tried += 1
            if not loads(path):
                wrong.append(f"{name}: llama.cpp does not load it")
            for mixture, with_matrix in mixtures if name in MIXED or len(sys.argv) == 4 else []:
                size = quantized(path, mixture, matrix if with_matrix == "true" else None)
                have = document(plimsoll, f"{name}:{mixture}")["tensor_bytes"] / 2**20
                tried += size is not None
                if size is not None and abs(size - have) > 0.006:
                    wrong.append(f"{name} in {mixture}: {have:.2f} MiB, llama-quantize {size}")
    print("\n".join(wrong + [f"{tried} tried, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
