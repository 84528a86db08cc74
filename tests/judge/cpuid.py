#!/usr/bin/env python3
"""cpuid.py PLIMSOLL SHARED: raw CPUID dumps of SHARED/fixtures/cpuid (hwloc's and libcpuid's), each made into a
recording without /proc: brand, vendor and instruction sets as the peers name them. Skips (77) where SHARED is absent.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# libcpuid's names of the flags that both sides know; ours where they differ.
FLAGS = {name: name for name in """sse sse2 ssse3 sse4_1 sse4_2 sse4a popcnt avx avx2 f16c fma4 xop bmi1 bmi2
         avx512f avx512dq avx512pf avx512er avx512cd avx512bw avx512vl""".split()}
FLAGS.update({"pni": "sse3", "fma3": "fma", "avx512vnni": "avx512_vnni"})


def registers(text):
    """{(leaf, subleaf): (eax, ebx, ecx, edx)} of the first CPU in a dump."""
    found, sub_of = {}, {}
    for line in text.splitlines():
        hwloc = re.match(r"[0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ => ((?:[0-9a-f]+ ?){4})$",
                         line.strip())
        other = re.match(r"CPUID ([0-9A-F]{8}):?\s+((?:[0-9A-F]{8}-?){4})(?: \[SL ([0-9A-F]+)\])?", line)
        old = re.match(r"(basic|ext)_cpuid\[(\d+)\]=((?:[0-9a-f]{8} ?){4})$", line.strip())
        if re.match(r"## pu[1-9]|[-_]+[\[ ].*CPU #[1-9]", line):
            break
        if hwloc:
            key, words = (int(hwloc[1], 16), int(hwloc[2], 16)), hwloc[3].split()
        elif other:
            leaf = int(other[1], 16)
            sub = int(other[3], 16) if other[3] else sub_of.get(leaf, 0)
            sub_of[leaf] = sub + 1
            key, words = (leaf, sub), other[2].split("-")
        elif old:
            key, words = (int(old[2]) + (0x80000000 if old[1] == "ext" else 0), 0), old[3].split()
        else:
            continue
        found.setdefault(key, tuple(int(w, 16) for w in words))
    return found


def recording(regs):
    """The states that the CPU supports are taken to be switched on."""
    text = "".join(f"-- cpuid {leaf:x} {sub:x} --\n{' '.join(f'{r:08x}' for r in four)}\n"
                   for (leaf, sub), four in regs.items())
    states = regs.get((0xd, 0), (0, 0, 0, 0))[0]
    return text + f"-- query - host.xcr0 hex --\n{states.to_bytes(8, 'little').hex()}\n"


def check(exe, folder):
    expect = json.load(open(os.path.join(folder, "expect.json")))
    regs = registers(open(os.path.join(folder, "cpuid.txt"), errors="replace").read())
    with tempfile.NamedTemporaryFile("w", suffix=".machine") as f:
        f.write(recording(regs))
        f.flush()
        p = subprocess.run([exe, "--machine", f.name, "--json"], stdout=subprocess.PIPE, check=True)
    cpu = json.loads(p.stdout).get("cpu", {})
    bad = []
    for key in ("brand", "vendor"):
        want = expect["cpu"].get(key)
        if want and cpu.get(key) != want.split("\0")[0]:
            bad.append(f"{key}: {cpu.get(key)!r}, not {want!r}")
    peer = (expect.get("peer_expected") or {}).get("libcpuid")
    if peer:
        theirs = set(peer[0]["flags"])
        for flag, name in FLAGS.items():
            if (flag in theirs) != (name in cpu.get("isa", [])):
                bad.append(f"{name}: the peer says {flag in theirs}")
    return bad


def main():
    exe, base = sys.argv[1], os.path.join(sys.argv[2], "fixtures", "cpuid")
    if not os.path.isdir(base):
        print(f"skipped: no {base}")
        return 77
    wrong = 0
    names = sorted(os.listdir(base))
    for name in names:
        bad = check(exe, os.path.join(base, name))
        wrong += bool(bad)
        print("".join(f"{name}: {b}\n" for b in bad), end="")
    print(f"{len(names) - wrong} of {len(names)} dumps right")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
