#!/usr/bin/env python3
"""examples.py PLIMSOLL SOURCE: the example models are what tools/make_models.py writes, and `plimsoll model` finds in
them what their publishers say."""
import json
import os
import subprocess
import sys

import jsonschema


def main():
    plimsoll, source = sys.argv[1:]
    sys.path.insert(0, os.path.join(source, "tools"))
    sys.dont_write_bytecode = True
    import make_models
    folder = os.path.join(source, "examples", "models")
    bad = 0
    for m in make_models.MODELS:
        path = os.path.join(folder, make_models.slug(m))
        answer = subprocess.run([plimsoll, "model", path, "--json"], capture_output=True, text=True)
        doc = json.loads(answer.stdout) if answer.returncode == 0 else {}
        schema = json.load(open(os.path.join(source, "docs", "schema", "plimsoll.model-1.schema.json")))
        full = subprocess.run([plimsoll, "model", path, "--json", "--tensors", "--metadata"], capture_output=True)
        jsonschema.validate(json.loads(full.stdout), schema)
        _, parameters, weights = make_models.build(m)
        table = m["head"] // 2 if m.get("rope_freqs") else 0  # llama.cpp counts rope_freqs as well
        want = {"parameters": parameters + table, "layers": m["layers"], "context_trained": m["context"],
                "vocabulary": m["vocab"], "quantization": m["mix"], "data_present": False}
        have = {k: doc.get(k) for k in want}
        if have != want or not 0 <= weights - doc.get("tensor_bytes", 0) < 32 * doc.get("tensors", 0):
            print(f"{path}: {have}, not {want}; {answer.stderr.strip()}")
            bad = 1
    names = {make_models.slug(m) for m in make_models.MODELS}
    for name in set(os.listdir(folder)) - names:
        print(f"{name}: tools/make_models.py does not write it")
        bad = 1
    check = [sys.executable, os.path.join(source, "tools", "make_models.py"), "--check"]
    return bad or subprocess.run(check).returncode


if __name__ == "__main__":
    sys.exit(main())
