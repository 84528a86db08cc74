#!/usr/bin/env python3
"""Files made from the command's tables: JSON Schemas, manual pages, shell completion.

    generate.py PLIMSOLL            writes them anew
    generate.py --check PLIMSOLL    fails where one is stale or left over

They are committed, because packages are built where the program cannot run.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def said(plimsoll, *args):
    return subprocess.run([plimsoll, *args], check=True, capture_output=True, text=True, env={"LC_ALL": "C"}).stdout


def names(plimsoll, what):
    return said(plimsoll, "help", "--list", what).split()


def generated(plimsoll):
    """Path and text of every file."""
    for name in names(plimsoll, "documents"):
        yield f"docs/schema/plimsoll.{name}-1.schema.json", said(plimsoll, "help", "--schema", name)
    yield "man/plimsoll.1", said(plimsoll, "help", "--man")
    for name in names(plimsoll, "commands"):
        yield f"man/plimsoll-{name}.1", said(plimsoll, "help", "--man", name)
    yield "packaging/completion/plimsoll.bash", said(plimsoll, "help", "--completion", "bash")


def main():
    args = [a for a in sys.argv[1:] if a != "--check"]
    check = "--check" in sys.argv[1:]
    if len(args) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    files = {ROOT / path: text for path, text in generated(args[0])}
    there = {*ROOT.glob("docs/schema/*.json"), *ROOT.glob("man/plimsoll*.1"), *ROOT.glob("packaging/completion/*")}
    status = 0
    for path in sorted({*files, *there}):
        old = path.read_text() if path.exists() else None
        new = files.get(path)
        if old == new:
            continue
        if check:
            status = 1
            print(f"{path.relative_to(ROOT)} is stale: tools/generate.py PLIMSOLL")
        elif new is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new)
    return status


if __name__ == "__main__":
    sys.exit(main())
