#!/usr/bin/env python3
"""machines.py PLIMSOLL SHARED: the machines of SHARED/fixtures, judged by SHARED/tools/check_machines.py.

Fails when a machine that was wholly right is not any more: WRONG names those that are known to be wrong, and
is to become empty. Skips (77) where SHARED is absent.
"""
import os
import re
import subprocess
import sys

WRONG = set()


def main():
    exe, shared = sys.argv[1:3]
    judge = os.path.join(shared, "tools", "check_machines.py")
    if not os.path.exists(judge):
        print(f"skipped: no {judge}")
        return 77
    p = subprocess.run([sys.executable, judge, exe, os.path.join(shared, "fixtures"), "-v"],
                       stdout=subprocess.PIPE, universal_newlines=True)
    print(p.stdout, end="")
    wrong = set(re.findall(r"^(\S+): \d+ of \d+ wrong", p.stdout, re.M))
    for name in sorted(WRONG - wrong):
        print(f"{name} is right now: take it out of WRONG in {__file__}")
    return 1 if wrong - WRONG or not re.search(r"^\d+ of \d+ keys right", p.stdout, re.M) else 0


if __name__ == "__main__":
    sys.exit(main())
