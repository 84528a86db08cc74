#!/usr/bin/env python3
"""host.py PLIMSOLL: what plimsoll says of this machine against what its own tools say. Tools that are absent
are passed by; with none of them it skips (77).
"""
import json
import os
import shutil
import subprocess
import sys

bad, asked = [], []


def run(*argv):
    """Output of a tool, None where it is absent or fails."""
    if not shutil.which(argv[0]):
        print(f"passed by: no {argv[0]}")
        return None
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True,
                       env=dict(os.environ, LC_ALL="C"))
    if p.returncode != 0:
        return None
    asked.append(argv[0])
    return p.stdout


def same(what, ours, theirs, slack=0):
    if ours is None or theirs is None or abs(ours - theirs) > slack if slack else ours != theirs:
        bad.append(f"{what}: {ours!r}, the tool says {theirs!r}")


def lscpu(doc):
    """-p lists CPU,Core,Socket of each online CPU."""
    text = run("lscpu", "-p=CPU,CORE,SOCKET")
    if text is None:
        return
    rows = [line.split(",") for line in text.splitlines() if line and not line.startswith("#")]
    cpu = doc["cpu"]
    same("logical_cpus", cpu.get("logical_cpus"), len(rows))
    if all(r[1] for r in rows):
        same("physical_cores", cpu.get("physical_cores"), len({(r[1], r[2]) for r in rows}))
    if all(r[2] for r in rows):
        same("sockets", cpu.get("sockets"), len({r[2] for r in rows}))


def lscpu_json(doc):
    text = run("lscpu", "-J", "-B")
    if text is None:
        return
    rows = {}

    def take(items):
        for i in items:
            rows[i["field"].rstrip(":")] = i.get("data")
            take(i.get("children", []))
    take(json.loads(text)["lscpu"])
    if rows.get("Model name"):
        same("brand", doc["cpu"].get("brand"), rows["Model name"])
    if rows.get("Vendor ID"):
        same("vendor", doc["cpu"].get("vendor"), rows["Vendor ID"])
    for name, key in (("L1d", "l1d"), ("L1i", "l1i"), ("L2", "l2"), ("L3", "l3")):
        text = rows.get(name) or rows.get(name + " cache")
        size = text and text.split()[0]
        if size and size.isdigit():
            same(f"caches.{key}", doc["cpu"].get("caches", {}).get(key, {}).get("total_bytes"), int(size))
    flags = set((rows.get("Flags") or "").split())
    if "fpu" in flags:
        ours = {"pni" if f == "sse3" else f for f in doc["cpu"].get("isa", [])}
        same("isa beyond the flags", sorted(ours - flags), [])


def nproc(doc):
    text = run("nproc")
    if text and "OMP_NUM_THREADS" not in os.environ:
        same("usable_cpus", doc["cpu"].get("usable_cpus"), int(text))


def free(doc):
    text = run("free", "-b", "-w")
    if text is None:
        return
    lines = {line.split()[0]: [int(x) for x in line.split()[1:]] for line in text.splitlines()[1:] if line}
    memory, slack = doc["memory"], 512 << 20  # other programs work on
    same("total_bytes", memory.get("total_bytes"), lines["Mem:"][0])
    same("free_bytes", memory.get("free_bytes"), lines["Mem:"][2], slack)
    same("available_bytes", memory.get("available_bytes"), lines["Mem:"][-1], slack)
    same("swap_total_bytes", memory.get("swap_total_bytes"), lines["Swap:"][0])


def lsblk(doc):
    text = run("lsblk", "-J", "-b", "-d", "-o", "NAME,SIZE,ROTA,TYPE")
    if text is None:
        return
    ours = {d["name"]: d for d in doc.get("storage", [])}
    for d in json.loads(text)["blockdevices"]:
        if d["type"] != "disk" or d["name"].startswith(("zram", "ram", "loop", "fd", "nbd")) or int(d["size"]) == 0:
            continue
        same(f"{d['name']} size", ours.get(d["name"], {}).get("size_bytes"), int(d["size"]))
        same(f"{d['name']} rotational", ours.get(d["name"], {}).get("rotational"), d["rota"] in (True, "1", 1))


def models(doc):
    """The disk behind the models, by findmnt's source."""
    paths = {d["models_path"]: d["name"] for d in doc.get("storage", []) if "models_path" in d}
    for path, name in paths.items():
        source = run("findmnt", "-n", "-o", "SOURCE", "-T", path)
        below = source and run("lsblk", "-n", "-s", "-l", "-o", "NAME", source.split("[")[0].strip())
        if below:
            same(f"disk of {path}", name in below.split(), True)


def hwloc(doc):
    name = "lstopo-no-graphics" if shutil.which("lstopo-no-graphics") else "hwloc-ls"
    for kind, key in (("core", "physical_cores"), ("pu", "logical_cpus"), ("package", "sockets")):
        text = run(name, "--only", kind, "--of", "console")
        if text is not None:
            same(f"{key} (hwloc)", doc["cpu"].get(key), len(text.splitlines()))
    text = run(name, "--only", "numanode", "--of", "console")
    if text is not None and "numa" in doc:
        same("node_count (hwloc)", doc["numa"].get("node_count"), len(text.splitlines()))


def main():
    p = subprocess.run([sys.argv[1], "--json"], stdout=subprocess.PIPE, check=True)
    doc = json.loads(p.stdout)
    for part in (lscpu, lscpu_json, nproc, free, lsblk, models, hwloc):
        part(doc)
    print("asked:", " ".join(sorted(set(asked))))
    for line in bad:
        print(line)
    return 1 if bad else 0 if asked else 77


if __name__ == "__main__":
    sys.exit(main())
