#!/usr/bin/env python3
"""What a real llama.cpp would allocate for a model on GPUs that do not exist: one JSON line per setting.

usage: rows.py ENGINE MODEL.gguf -- FLAGS          one row
       rows.py ENGINE MODEL.gguf --settings FILE   one row per line of FILE, each a line of FLAGS
       rows.py ENGINE MODEL.gguf --log -- FLAGS    llama.cpp's own output instead (-lv 5 is worth adding)

ENGINE is a folder made by setup.sh. FLAGS are llama.cpp's own (-c -b -ub -np -fa -ctk -ngl -ts -ot -nkvo ...) and
    -gpus N        how many GPUs there are (default 1; 0 is a machine without)
    -mem MIB       memory of the next GPU; the last counts for those that follow (default 65536)
    -outputs N     rows of logits kept for: N, "slots" (as llama-server, the default) or "batch" (as llama-fit-params)
    -kvu           all slots share one cache (as llama-server's --kv-unified)
    -blocking      no asynchronous copies: llama.cpp then does not pipeline over several GPUs
A row is {"model", "engine", "args", "truth": {"n_ctx", "n_ctx_seq", "n_ubatch", "buffers": {"GPU0", "HOST" (pinned),
"CPU": {"model", "context", "compute"}}}}, all in bytes; where llama.cpp refuses, "truth" is {"fail": [last lines]}.
The environment passes: GGML_SCHED_DEBUG=2 prints every graph with its nodes, sources and buffers (use --log, -lv 5).
"""
import json
import os
import re
import shutil
import subprocess
import sys

ALIASES = {"-swa-full": "--swa-full", "-noopoff": "--no-op-offload", "-nkvo": "--no-kv-offload"}
ALONE = {"-kvu": "ORACLE_UNIFIED", "--kv-unified": "ORACLE_UNIFIED", "-blocking": "FAKE_GPU_BLOCKING",
         "-noasync": "FAKE_GPU_BLOCKING"}


def parse(words):
    """llama.cpp's flags, and what the imaginary machine is made of."""
    flags, env, sizes, split, i = [], {"FAKE_GPUS": "1", "ORACLE_OUTPUTS": "slots"}, [], [], 0
    while i < len(words):
        word, value = words[i], words[i + 1] if i + 1 < len(words) else ""
        i += 1 if word in ALONE else 2
        if word == "-gpus":
            env["FAKE_GPUS"] = value
        elif word == "-mem":
            sizes.append(value)
        elif word == "-ts":
            split.append(value)
        elif word == "-ot-cpu":
            flags += ["-ot", value + "=CPU"]
        elif word == "-outputs":
            env["ORACLE_OUTPUTS"] = value
        elif word in ALONE:
            env[ALONE[word]] = "1"
        else:
            flags.append(ALIASES.get(word, word))
            i -= 1
    if split:
        flags += ["-ts", ",".join(split)]
    if sizes:
        env["FAKE_GPU_MIB"] = ",".join(sizes)
    if env["ORACLE_OUTPUTS"] == "batch":
        del env["ORACLE_OUTPUTS"]
    return flags, env


def inside(engine, model):
    """Where the engine sees the model: a Debian engine lives in a root of its own."""
    root = os.path.join(engine, "root")
    if not os.path.isdir(root):
        return [os.path.join(engine, "bin", "llama-fit-params")], os.path.abspath(engine), os.path.abspath(model)
    name = "/models/" + os.path.basename(model)
    if not os.path.exists(root + name) or os.path.getmtime(root + name) < os.path.getmtime(model):
        os.makedirs(root + "/models", exist_ok=True)
        subprocess.run(["cp", "--sparse=always", model, root + name + ".new"], check=True)
        shutil.move(root + name + ".new", root + name)
    return ["chroot", root, "llama-fit-params"], "", name


def run(engine, model, words):
    flags, env = parse(words)
    command, prefix, path = inside(engine, model)
    env["GGML_BACKEND_PATH"] = prefix + "/oracle/libggml-fake.so"
    preload = prefix + "/oracle/report.so"
    command = command[:-1] + ["env", "LD_PRELOAD=" + preload] + command[-1:]
    return subprocess.run(command + ["-m", path, "-fit", "off", "-fitp", "on", "--no-repack"] + flags,
                          env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace").stdout


def merged(buffers):
    """llama.cpp's buffer types under the names of the truth files; every plain or repacked host type is CPU."""
    out = {}
    for name, kinds in buffers.items():
        gpu = re.fullmatch(r"CUDA(\d+)", name)
        into = out.setdefault("GPU" + gpu[1] if gpu else "HOST" if name == "CUDA_Host" else "CPU",
                              {"model": 0, "context": 0, "compute": 0})
        for kind, size in kinds.items():
            into[kind] += size
    return {name: kinds for name, kinds in out.items() if any(kinds.values())}


def row(engine, model, args):
    output = run(engine, model, args.split())
    found = re.search(r"^.*oracle: (\{.*\})$", output, re.M)
    if found:
        truth = json.loads(found[1])
        truth["buffers"] = merged(truth["buffers"])
    else:
        truth = {"fail": output.strip().splitlines()[-4:]}
    name = os.path.basename(model)
    return {"model": name[:-5] if name.endswith(".gguf") else name, "engine": os.path.basename(os.path.abspath(engine)),
            "args": args, "truth": truth}


def main():
    words = sys.argv[1:]
    if len(words) < 3:
        sys.exit(__doc__)
    engine, model, how = words[:3]
    if how == "--log":
        print(run(engine, model, words[4:]), end="")
    elif how == "--settings":
        for line in open(words[3], encoding="utf-8"):
            if line.strip():
                print(json.dumps(row(engine, model, line.strip())), flush=True)
    else:
        print(json.dumps(row(engine, model, " ".join(words[3:]))))


if __name__ == "__main__":
    main()
