#!/usr/bin/env python3
"""`plimsoll fit --verify`, with programs that stand for llama.cpp's llama-fit-params: one that prints what the real one
(0.7.0, two devices) printed for a model, one that fails, one that says nothing, and none at all.

    verify.py PLIMSOLL SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MODEL = "examples/models/llama-3.2-1b-instruct-q4_k_m.gguf"


def run(plimsoll, path, *args):
    env = {"PATH": str(path), "LC_ALL": "C"}
    return subprocess.run([plimsoll, "fit", MODEL, "--on", "cpu", "-c", "4096", "-np", "1", "--verify", *args],
                          capture_output=True, text=True, timeout=60, env=env)


def tool(folder, text):
    file = pathlib.Path(folder) / "llama-fit-params"
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)
    return folder


# What the real one prints of this model: keys and values of 16 layers, 4096 cells, 512 elements each, f16: 128 MiB.
SAYS = """echo "$@" >{seen}
cat >&2 <<'END'
0.00.1 D llama_model_loader: loaded meta data with 2 key-value pairs and 147 tensors from x.gguf (version GGUF V3)
0.00.1 D llama_context: n_seq_max             = 1
0.00.1 D llama_context: n_ctx                 = 4096
0.00.1 D llama_context: n_ctx_seq             = 4096
0.00.1 D llama_context: n_batch               = 2048
0.00.1 D llama_context: n_ubatch              = 512
0.00.1 D llama_context: flash_attn            = enabled
0.00.1 D llama_context: kv_unified            = false
0.00.1 D llama_kv_cache:        CPU KV buffer size =     0.00 MiB
0.00.1 D llama_kv_cache: size =  {mib} MiB (  4096 cells,  16 layers,  1/1 seqs), K (f16): 64.00 MiB, V (f16): 64.00 MiB
END
"""


def main():
    plimsoll, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.chdir(source)
    with tempfile.TemporaryDirectory() as folder:
        seen = f"{folder}/seen"
        done = run(plimsoll, tool(folder, "PATH=/bin:/usr/bin\n" + SAYS.format(mib=" 128.00", seen=seen)), "--json")
        assert done.returncode == 0, done
        verify = json.loads(done.stdout)["verify"]
        terms = {t["term"]: t for t in verify["terms"] if "device" not in t}
        assert terms["kv_cache"]["predicted_bytes"] == 128 << 20 and terms["kv_cache"]["result"] == "same", terms
        assert verify["same"] == 1 and verify["differing"] == 0, verify
        words = pathlib.Path(seen).read_text().split()
        assert words[words.index("-c") + 1] == "4096" and words[words.index("-m") + 1] == MODEL, words

        done = run(plimsoll, tool(folder, "PATH=/bin:/usr/bin\n" + SAYS.format(mib=" 256.00", seen=seen)))
        assert done.returncode == 1 and "differs" in done.stdout, done

        done = run(plimsoll, tool(folder, "echo 'error: unknown model' >&2\nexit 1\n"))
        assert done.returncode == 3 and "status 1: error: unknown model" in done.stderr, done
        done = run(plimsoll, tool(folder, "exit 0\n"))
        assert done.returncode == 3 and "no line of a model being loaded" in done.stderr, done
    done = run(plimsoll, "/nonexistent")
    assert done.returncode == 3 and "not found in PATH" in done.stderr, done


if __name__ == "__main__":
    main()
