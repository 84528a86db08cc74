#!/usr/bin/env python3
"""Recorded machines and the documents they give.

    replay.py PLIMSOLL [NAME...]             fails where NAME.machine no longer gives NAME.json
    replay.py --update PLIMSOLL [NAME...]    writes NAME.json anew; read it before you commit it

Clocks and the program's own version are left out. Without NAME: every recording of this folder.
"""
import difflib
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def document(plimsoll, recording):
    out = subprocess.run([plimsoll, "--machine", str(recording), "--json"], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{recording.name}: exit {out.returncode}: {out.stderr.strip()}")
    found = json.loads(out.stdout)
    for key in ("version", "captured_at", "timing"):
        found.pop(key, None)
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def main():
    args = sys.argv[1:]
    update = "--update" in args
    args = [a for a in args if a != "--update"]
    if not args:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    plimsoll, names = args[0], args[1:] or sorted(p.stem for p in FOLDER.glob("*.machine"))
    status = 0
    for name in names:
        expected, found = FOLDER / f"{name}.json", document(plimsoll, FOLDER / f"{name}.machine")
        if update:
            expected.write_text(found)
            continue
        if not expected.exists():
            print(f"{name}: {expected} is missing (--update writes it)")
            status = 1
        elif found != expected.read_text():
            sys.stdout.writelines(difflib.unified_diff(expected.read_text().splitlines(True), found.splitlines(True),
                                                       f"{name}.json", "today"))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
