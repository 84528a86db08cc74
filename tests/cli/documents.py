#!/usr/bin/env python3
"""documents.py PLIMSOLL: every document about models holds what its JSON Schema says, and no more.

Documents about machines: tests/machines/roots.py. Exit 77: python3-jsonschema is missing.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def commands():
    """Schema and words of every command that is tried."""
    machines = [["--machine", str(p)] for p in sorted((TOP / "tests" / "machines").glob("*.machine"))]
    machines += [["--on", spec] for spec in ("cuda:24GiB*2,cpu:64GiB", "cpu:8GiB", "cpu", "M4 Max 64GB")]
    for i, model in enumerate(sorted((TOP / "examples" / "models").glob("*.gguf"))):
        for more in ([], ["--tensors"], ["--metadata"]):
            yield "model", ["model", str(model), *more]
        for machine in machines[i % 3::3]:
            yield "fit", ["fit", str(model), *machine, "--explain"]
    for machine in machines[::7]:
        yield "models", ["models", *machine]
    machine = TOP / "tests" / "machines" / "nvidia-h100.machine"
    yield "diff", ["diff", str(machine), str(TOP / "tests" / "cli" / "workstation.json")]
    yield "version", ["version"]


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    validators, bad = {}, 0
    for name, words in commands():
        if name not in validators:
            schema = json.loads((TOP / "docs" / "schema" / f"plimsoll.{name}-1.schema.json").read_text())
            jsonschema.Draft202012Validator.check_schema(schema)
            validators[name] = jsonschema.Draft202012Validator(schema)
        done = subprocess.run([sys.argv[1], *words, "--json"], capture_output=True, text=True, timeout=60)
        try:
            wrong = [f"{e.json_path}: {e.message}" for e in validators[name].iter_errors(json.loads(done.stdout))]
        except json.JSONDecodeError:
            wrong = [f"exit {done.returncode}: {done.stderr.strip()}"]
        bad += bool(wrong)
        for line in wrong[:5]:
            print(f"plimsoll {' '.join(words)}: {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
