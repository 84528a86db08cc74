#!/usr/bin/env python3
"""What holds for any machine: this one, every recorded one and every tree of ../shared/fixtures (where there is one).

    roots.py PLIMSOLL [N]    with N, only every Nth machine

    recorded   a recording gives the document of the run that it records, clocks and hashed identities aside;
               recorded again it is the same file
    imported   a document that is read and written again is the same to the byte, and differs in nothing
    valid      documents hold what their JSON Schema says, and no more (needs python3-jsonschema)
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = TOP.parent / "shared" / "fixtures"

# Read from a clock, or hashed in a recording.
CLOCKS = {"captured_at", "timing"}
IDENTITIES = {"uuid", "serial_group"}


def machines():
    """Name and place: a recording, a tree, a packed tree, or None for this machine."""
    yield "this machine", None
    for recording in sorted((TOP / "tests" / "machines").glob("*.machine")):
        yield recording.stem, recording
    for folder in ("cases", "cpuinfo"):
        for case in sorted((FIXTURES / folder).glob("*")):
            packed = case / "root.tar.gz"
            if packed.exists() or (case / "root").is_dir():
                yield case.name, packed if packed.exists() else case / "root"


def options_of(place, tmp):
    """What looks at it. A packed tree is unpacked."""
    if place is None:
        return []
    if place.suffix == ".machine":
        return ["--machine", str(place)]
    if place.suffix != ".gz":
        return ["--root", str(place)]
    with tarfile.open(place) as tar:
        tar.extractall(tmp)
    return ["--root", str(tmp / "root")]


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


def wrong_by_schema(plimsoll, recording):
    for command, name in (("show", "machine"), ("devices", "devices"), ("doctor", "doctor")):
        schema = json.loads((TOP / "docs" / "schema" / f"plimsoll.{name}-1.schema.json").read_text())
        document = json.loads(run(plimsoll, command, "--machine", recording, "--json", "--explain"))
        for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
            yield f"{command}: {error.json_path}: {error.message}"


def wrong_with(plimsoll, place, tmp):
    """Everything that does not hold for a machine."""
    first, second, document = (str(tmp / name) for name in ("first.machine", "second.machine", "document.json"))
    then = run(plimsoll, *options_of(place, tmp), "capture", first, "--json", "--explain")
    again = run(plimsoll, "--machine", first, "--json", "--explain")
    aside = CLOCKS | IDENTITIES
    yield from differences(without(json.loads(then), aside), without(json.loads(again), aside))
    run(plimsoll, "--machine", first, "capture", second, "--keep-identities")
    if pathlib.Path(first).read_bytes() != pathlib.Path(second).read_bytes():
        yield "the recording of the recording differs"
    pathlib.Path(document).write_text(again)
    if run(plimsoll, "--machine", document, "--json", "--explain") != again:
        yield "read and written again it differs"
    if run(plimsoll, "diff", document, first):
        yield "its document differs from itself"
    if jsonschema:
        yield from wrong_by_schema(plimsoll, first)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    plimsoll, every = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1
    chosen, bad = list(machines())[::every], 0
    for name, place in chosen:
        with tempfile.TemporaryDirectory() as tmp:
            try:
                wrong = list(wrong_with(plimsoll, place, pathlib.Path(tmp)))
            except AssertionError as error:
                wrong = [str(error)]
        bad += bool(wrong)
        for line in wrong[:5]:
            print(f"{name}: {line}")
    if not jsonschema:
        print("python3-jsonschema is missing: documents were not held against their schemas")
    if not FIXTURES.is_dir():
        print("../shared/fixtures is not here: its trees were not looked at")
    print(f"{len(chosen) - bad} of {len(chosen)} machines")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
