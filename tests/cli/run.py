#!/usr/bin/env python3
"""What the command prints, to the byte.

    run.py PLIMSOLL [FILE...]             fails where a command no longer prints what its file says
    run.py --update PLIMSOLL [FILE...]    writes the files anew; read them before you commit

A .t file is prose with indented commands, each followed by what it prints:

      $ plimsoll version --json | head -1
      {
      ! a line on standard error
      [2]                                   (an exit status that is not 0)

Commands run in the file's folder by sh, in the C locale and without a terminal; $TMP is an empty folder, and its name
is printed as $TMP.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
INDENT = "  "


def environment(plimsoll, tmp):
    kept = {k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LLVM_PROFILE"))}
    path = os.pathsep.join([str(pathlib.Path(plimsoll).resolve().parent), os.environ["PATH"]])
    return {**kept, "PATH": path, "LC_ALL": "C", "TMP": tmp, "HOME": tmp}


def run(command, folder, env):
    """What the command prints, in the notation of a .t file."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60)
    out = []
    for mark, text in (("", done.stdout), ("! ", done.stderr)):
        for line in text.decode("utf-8", "backslashreplace").replace(env["TMP"], "$TMP").split("\n"):
            out.append((INDENT + mark + line).rstrip() if not line else INDENT + mark + line)
        if out and not out[-1].strip("! "):
            out.pop()
    return out + ([f"{INDENT}[{done.returncode}]"] if done.returncode else [])


def replay(text, folder, env):
    lines, result = text.split("\n"), []
    at = 0
    while at < len(lines):
        line = lines[at]
        result.append(line)
        at += 1
        if not line.startswith(INDENT + "$ "):
            continue
        result += run(line[len(INDENT) + 2:], folder, env)
        # What was expected ends where an unindented line, a new command, or a blank before either begins.
        while at < len(lines) and not lines[at].startswith(INDENT + "$ "):
            if lines[at] and not lines[at].startswith(INDENT):
                break
            if not lines[at]:
                after = next((x for x in lines[at:] if x), "")
                if not after.startswith(INDENT) or after.startswith(INDENT + "$ "):
                    break
            at += 1
    return "\n".join(result)


def main():
    args = [a for a in sys.argv[1:] if a != "--update"]
    update = "--update" in sys.argv[1:]
    if not args:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    files = [pathlib.Path(a) for a in args[1:]] or sorted(FOLDER.glob("*.t"))
    status = 0
    for file in files:
        with tempfile.TemporaryDirectory() as tmp:
            expected = file.read_text()
            found = replay(expected, file.resolve().parent, environment(args[0], tmp))
        if update:
            file.write_text(found)
        elif found != expected:
            status = 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), found.splitlines(True),
                                                       f"{file.name} says", f"{file.name} found"))
    return status


if __name__ == "__main__":
    sys.exit(main())
