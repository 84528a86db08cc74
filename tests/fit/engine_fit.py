#!/usr/bin/env python3
"""What llama.cpp's own --fit chose, beside what `plimsoll fit` says that it would (engine_fit).

    engine_fit.py PLIMSOLL SHARED [FILE]    judges engine_fit.txt; skips (77) where SHARED is absent
    engine_fit.py --pack ROWS.jsonl         prints rows of {"model", "args", "answer": {ENGINE: text}} as engine_fit.txt

engine_fit.txt was recorded from llama-fit-params on GPUs that do not exist (tests/oracle): a model of SHARED/truth, the
engines, the machine and the flags; then what it printed. "experts A-B" stands for one -ot pattern a layer that leaves
its experts on the host. "-" means that it refused. Every row must be the same: -c, -ngl, -ts and -ot.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPERTS = r"blk\.%d\.ffn_(up|down|gate_up|gate)_(ch|)exps=CPU"


def packed(overrides):
    """Runs of layers whose experts stay on the host, in short."""
    out, run = [], []

    def close():
        if run:
            out.append(f"experts {run[0]}-{run[-1]}")
            run.clear()

    for item in overrides.split(","):
        layer = re.match(r"blk\\\.(\d+)\\\.", item)
        if layer and item == EXPERTS % int(layer[1]) and (not run or int(layer[1]) == run[-1] + 1):
            run.append(int(layer[1]))
        else:
            close()
            out.append(item)
    close()
    return ",".join(out)


def choice(text):
    """-c, -ngl, -ts, -ot of what llama-fit-params prints; None where it refused."""
    found = re.match(r'-c (\d+) -ngl (-?\d+)(?: -ts (\S+))?(?: -ot "(.*)")?\s*$', text)
    return found.groups() if found else None


def pack(path):
    for line in open(path):
        row = json.loads(line)
        answers = {}
        for engine, text in row["answer"].items():
            found = choice(text)
            short = "-" if not found else re.sub(r'-ot "(.*)"', lambda m: f'-ot "{packed(m[1])}"', text.strip())
            answers.setdefault(short, []).append(engine)
        for short, engines in answers.items():
            print(f'{row["model"]} {",".join(engines)} {row["args"]}\n    {short}')


def machine(words):
    sizes, flags, count, i = [], [], 1, 0
    while i < len(words):
        if words[i] in ("-gpus", "-mem"):
            if words[i] == "-gpus":
                count = int(words[i + 1])
            else:
                sizes.append(words[i + 1])
            i += 2
        else:
            flags.append(words[i])
            i += 1
    sizes += sizes[-1:] * (count - len(sizes))
    return ",".join(f"cuda:{s}MiB" for s in sizes) + ",cpu:1TiB", flags, count


def layers(text, count):
    given = [int(float(x)) for x in text.split(",")] if text else []
    return given + [0] * (count - len(given))


def is_same(fit, want, flags, count):
    said = fit["engine_fit"]
    if want is None:
        return "gives_up" in said
    context, ngl, split, overrides = want
    set_ngl = re.search(r"-ngl (\d+)", said["change"])
    ours = set_ngl[1] if set_ngl else ngl if "-ngl" in flags else "-1"
    same_split = layers(said.get("tensor_split"), count) == layers(split, count)
    return (said["context"] == (int(context) + 255) // 256 * 256 and ours == ngl and
            (count == 1 or same_split or (ngl == "-1" and not split)) and
            packed(said.get("overrides", "")) == (overrides or ""))


def main():
    if sys.argv[1:2] == ["--pack"]:
        return pack(sys.argv[2])
    plimsoll, shared = sys.argv[1], pathlib.Path(sys.argv[2])
    maker = shared / "tools" / "make_gguf.py"
    if not maker.exists():
        print(f"skipped: no {maker}")
        return 77
    recorded = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else HERE / "engine_fit.txt"
    lines = [line for line in recorded.read_text().splitlines() if line]
    wrong = rows = 0
    with tempfile.TemporaryDirectory() as folder:
        for head, text in zip(lines[::2], lines[1::2]):
            model, engines, *words = head.split()
            file = os.path.join(folder, model + ".gguf")
            if not os.path.exists(file):
                subprocess.run([sys.executable, maker, shared / "truth" / "models.json", model, file], check=True,
                               stdout=subprocess.DEVNULL)
            on, flags, count = machine(words)
            for engine in engines.split(","):
                command = [plimsoll, "fit", file, "--json", "--engine", "llama.cpp@" + engine, "--on", on, *flags]
                said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                want = choice(text.strip())
                rows += 1
                if said.returncode > 1 or not is_same(json.loads(said.stdout), want, flags, count):
                    wrong += 1
                    print(f"{head}\n    {engine}: {text.strip()}\n    found: " +
                          (json.loads(said.stdout)["engine_fit"]["change"] if said.stdout else said.stderr))
    print(f"{rows} choices of llama.cpp's --fit, {rows - wrong} the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
