#!/usr/bin/env python3
"""What holds for any machine: this one, every recorded one and every tree of ../shared/fixtures (where there is one).

    roots.py recorded PLIMSOLL    a recording gives the document of the run that it records, clocks and hashed
                                  identities aside; recorded again it is the same file
    roots.py imported PLIMSOLL    a document that is read and written again is the same to the byte
    roots.py valid PLIMSOLL       documents hold what their JSON Schema says, and no more

A third argument N looks at every Nth machine only. Exit 77: could not run here.
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = TOP.parent / "shared" / "fixtures"

# Read from a clock, or hashed in a recording.
CLOCKS = {"captured_at", "timing"}
IDENTITIES = {"uuid", "serial_group"}


def machines(tmp):
    """Name and the options that look at it."""
    yield "this machine", []
    for recording in sorted((TOP / "tests" / "machines").glob("*.machine")):
        yield recording.stem, ["--machine", str(recording)]
    for folder in ("cases", "cpuinfo"):
        for case in sorted((FIXTURES / folder).glob("*")):
            root = case / "root"
            if (case / "root.tar.gz").exists():
                root = tmp / case.name / "root"
                with tarfile.open(case / "root.tar.gz") as tar:
                    tar.extractall(tmp / case.name)
            if root.is_dir():
                yield case.name, ["--root", str(root)]


def run(plimsoll, *args):
    done = subprocess.run([plimsoll, *args], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"{' '.join(args)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def without(value, names):
    if isinstance(value, dict):
        return {k: without(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, list):
        return [without(v, names) for v in value]
    return value


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}):
            yield from differences(a.get(key), b.get(key), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif a != b:
        yield f"{path}: {a!r} and {b!r}"


def recorded(plimsoll, look, tmp):
    first, second = tmp / "first.machine", tmp / "second.machine"
    then = run(plimsoll, *look, "capture", str(first), "--json")
    again = run(plimsoll, "--machine", str(first), "--json")
    aside = CLOCKS | IDENTITIES
    yield from differences(without(json.loads(then), aside), without(json.loads(again), aside))
    run(plimsoll, "--machine", str(first), "capture", str(second), "--keep-identities")
    if first.read_bytes() != second.read_bytes():
        yield "the recording of the recording differs"


def imported(plimsoll, look, tmp):
    document = tmp / "document.json"
    document.write_text(run(plimsoll, *look, "--json", "--explain"))
    if run(plimsoll, "--machine", str(document), "--json", "--explain") != document.read_text():
        yield "read and written again it differs"
    if run(plimsoll, "diff", str(document), str(document)):
        yield "it differs from itself"


def valid(plimsoll, look, _):
    import jsonschema
    for command, name in (("show", "machine"), ("devices", "devices"), ("doctor", "doctor")):
        schema = json.loads((TOP / "docs" / "schema" / f"plimsoll.{name}-1.schema.json").read_text())
        document = json.loads(run(plimsoll, command, *look, "--json", "--explain"))
        for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
            yield f"{command}: {error.json_path}: {error.message}"


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    check, plimsoll = globals()[sys.argv[1]], os.path.abspath(sys.argv[2])
    if check is valid:
        try:
            import jsonschema  # noqa: F401
        except ImportError:
            print("python3-jsonschema is missing")
            return 77
    seen = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        for name, look in list(machines(tmp))[::int(sys.argv[3]) if len(sys.argv) == 4 else 1]:
            seen += 1
            try:
                wrong = list(check(plimsoll, look, tmp))
            except AssertionError as error:
                wrong = [str(error)]
            bad += bool(wrong)
            for line in wrong[:5]:
                print(f"{name}: {line}")
    if not FIXTURES.is_dir():
        print("../shared/fixtures is not here: its trees were not looked at")
    print(f"{seen - bad} of {seen} machines")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
