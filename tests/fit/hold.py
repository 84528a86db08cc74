#!/usr/bin/env python3
"""Hold `plimsoll fit --json` against rows of what llama.cpp itself allocates (tests/oracle/rows.py), to the byte.

usage: hold.py PLIMSOLL ROWS.jsonl MODELS_DIR [--engine NAME] [--models A,B,...] [--only WORDS] [--strict] [-v]

MODELS_DIR holds MODEL.gguf for the rows' models; a row whose model is absent is skipped. Without NAME a row is held
against the engine that it names. Prints for each model how many rows agree in weights, context and compute, of the
devices and of the host. Exit 0 if weights and context agree everywhere and so does every compute figure that plimsoll
calls exact (with --strict: every one).
"""
import collections
import json
import os
import subprocess
import sys

RENAME = {"-kvu": "--kv-unified", "-swa-full": "--swa-full", "-nkvo": "--no-kv-offload", "-noopoff": "--no-op-offload"}
NOTHING = {"model": 0, "context": 0, "compute": 0}


def question(args):
    """plimsoll's arguments for a row's; None where it has no word for them."""
    flags, gpus, sizes, split, words = [], 1, [], [], args.split()
    while words:
        word = words.pop(0)
        if word == "-gpus":
            gpus = int(words.pop(0))
        elif word == "-mem":
            sizes.append(int(words.pop(0)))
        elif word == "-ts":
            split.append(words.pop(0))
        elif word == "-ot-cpu":
            flags += ["-ot", words.pop(0) + "=CPU"]
        elif word in ("-noasync", "-blocking", "-outputs"):
            return None
        else:
            flags.append(RENAME.get(word, word))
    if split:
        flags += ["-ts", ",".join(split)]
    sizes += (sizes[-1:] or [65536]) * gpus
    return flags + ["--on", ",".join(f"cuda:{mib}MiB" for mib in sizes[:gpus]) or "cpu"]


def truth(row):
    out = {}
    for name, sizes in row["truth"]["buffers"].items():
        into = out.setdefault("host" if name in ("HOST", "CPU") else "cuda" + name[3:], dict(NOTHING))
        for kind, size in sizes.items():
            into[kind] += size
    return out


def answer(exe, gguf, engine, flags):
    done = subprocess.run([exe, "fit", gguf, "--json", "--engine", "llama.cpp@" + engine] + flags, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(done.stderr.decode(errors="replace").strip()[:200])
    out = {}
    for at in json.loads(done.stdout)["placement"]:
        context = at.get("kv_cache_bytes", 0) + at.get("recurrent_state_bytes", 0)
        out[at["device"]] = {"model": at.get("weights_bytes", 0), "context": context,
                             "compute": at.get("compute_bytes", 0), "kind": at.get("compute_kind")}
    return out


class Tally:
    def __init__(self):
        self.right, self.all, self.wrong_exact = collections.Counter(), collections.Counter(), 0

    def add(self, name, same):
        self.right[name] += same
        self.all[name] += 1

    def line(self):
        return ", ".join(f"{name} {self.right[name]}/{self.all[name]}" for name in self.all)


def hold(row, have, tally, strict, verbose):
    """Adds a row's figures; false if one that must agree does not."""
    good = True
    for device, want in truth(row).items():
        got = have.get(device, {**NOTHING, "kind": "exact"})
        for kind in NOTHING:
            same = got[kind] == want[kind]
            name = kind if kind != "compute" else "compute of host" if device == "host" else "compute of devices"
            tally.add(name, same)
            must = strict or kind != "compute" or got["kind"] == "exact"
            good &= same or not must
            if verbose and not same:
                print(f"  {row['model']} {row['args']}: {device} {kind}: {want[kind]} wanted, {got[kind]} said"
                      f" ({got[kind] - want[kind]:+d}{', which must agree' if must else ''})")
    return good


def main():
    words = [w for w in sys.argv[1:] if w not in ("-v", "--strict")]
    strict, verbose = "--strict" in sys.argv, "-v" in sys.argv
    options = {}
    while len(words) > 3:
        value = words.pop()
        options[words.pop()] = value
    if len(words) != 3:
        sys.exit(__doc__)
    exe, rows, models = words
    chosen = options.get("--models", "").split(",")
    tallies, good = collections.defaultdict(Tally), True
    for line in open(rows, encoding="utf-8"):
        row = json.loads(line)
        gguf = os.path.join(models, row["model"] + ".gguf")
        flags = question(row["args"])
        if "fail" in row["truth"] or flags is None or not os.path.exists(gguf) or options.get("--only", "") not in line:
            continue
        if chosen != [""] and row["model"] not in chosen:
            continue
        try:
            have = answer(exe, gguf, options.get("--engine", row["engine"]), flags)
        except ValueError as error:
            print(f"  {row['model']} {row['args']}: refused: {error}")
            good = False
            continue
        good &= hold(row, have, tallies[row["model"]], strict, verbose)
    for model, tally in tallies.items():
        print(f"{model}: {tally.line()}")
    return 0 if good and tallies else 1


if __name__ == "__main__":
    sys.exit(main())
