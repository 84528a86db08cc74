#!/usr/bin/env python3
"""Hold `plimsoll check` against real load logs (../shared/truth/llamacpp_logs.jsonl).

    logs.py PLIMSOLL [-v] [LOGS.jsonl]

A record holds what an engine printed, in parts. They are set as the engine's own lines again (the keys of the model,
the settings of the context, the buffers) and read by `plimsoll check`, which must compute keys and values (and
recurrent state) as they were printed. Records that do not print enough of the model for that are counted and named
with -v. Exit status 77 where the file is absent.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = ("n_seq_max", "n_ctx", "n_ctx_seq", "n_ctx_per_seq", "n_batch", "n_ubatch", "flash_attn", "kv_unified",
            "mla_attn")
LOGS = HERE.parent.parent / ".." / "shared" / "truth" / "llamacpp_logs.jsonl"


def dumped(metadata):
    """The loader's dump of the keys."""
    for i, (key, value) in enumerate(metadata.items()):
        if isinstance(value, bool):
            kind, text = "bool", str(value).lower()
        elif isinstance(value, int):
            kind, text = "u32", value
        elif isinstance(value, float):
            kind, text = "f32", value
        elif isinstance(value, str) and value.startswith("["):
            kind, text = "arr[i32,0]", value
        elif isinstance(value, list):
            kind, text = f"arr[i32,{len(value)}]", "[" + ", ".join(map(str, value)) + "]"
        else:
            kind, text = "str", value
        yield f"llama_model_loader: - kv {i:3d}: {key:>40s} {kind:<8s} = {text}"


def amounts(buffers):
    for device, values in (buffers or {}).items():
        for value in values if isinstance(values, list) else [values]:
            yield device, value


def lines(record):
    """The record as the lines that its engine printed."""
    settings, truth, ik = record["settings"], record["truth"], record["engine"].startswith("ik_")
    yield f"llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors from {record['id']} (version 3)"
    yield from dumped(record.get("gguf_metadata") or {})
    for key, value in record["model"].items():
        if isinstance(value, (int, str, list)) and not isinstance(value, bool):
            yield f"llm_load_print_meta: {key:<16s} = {value}"
    for device in record.get("devices") or []:
        if "free_mib_before" in device:
            yield f"llama_model_load: using device {device['name']} (GPU) - {device['free_mib_before']} MiB free"
    if "offloaded_layers" in settings:
        yield f"load_tensors: offloaded {settings['offloaded_layers']}/{settings['total_layers']} layers to GPU"
    for key in SETTINGS:
        if key in settings:
            yield f"llama_new_context_with_model: {key:<10s} = {str(settings[key]).lower()}"
    if settings.get("swa_full"):
        yield "llama_kv_cache_unified_iswa: using full-size SWA cache"
    if ik:
        yield "llama_new_context_with_model: fused_moe  = 1"
    if "fused_up_gate" in settings:
        yield "llama_new_context_with_model: fused_up_gate = 1"
    for device, value in amounts(truth.get("kv_buffers_mib")):
        yield f"llama_kv_cache_init: {device:>10s} KV buffer size = {value:8.2f} MiB"
    for device, value in amounts(truth.get("rs_buffers_mib")):
        yield f"llama_memory_recurrent: {device:>10s} RS buffer size = {value:8.2f} MiB"
    if "kv_self_mib" in truth:
        detail = truth.get("kv_self_detail") or ""
        yield f"llama_new_context_with_model: KV self size  = {truth['kv_self_mib']:7.2f} MiB, {detail}"
    for cache in truth.get("kv_caches", []):
        if "mib" not in cache or cache.get("role"):
            continue
        kind = cache.get("kind", "llama_kv_cache")
        name = {"recurrent": "llama_memory_recurrent", "kv": "llama_kv_cache"}.get(kind, kind)
        of = f"{cache.get('cells', 0)} cells, {cache.get('layers', 0)} layers, {cache.get('seqs', 1)} seqs"
        types = f"K ({settings.get('type_k', 'f16')}): 0.00 MiB, V ({settings.get('type_v', 'f16')}): 0.00 MiB"
        yield f"{name}: size = {cache['mib']:7.2f} MiB ({of}), {cache.get('parts') or types}"


def judge(plimsoll, record):
    """(verdict, remark) of a record: True, False, or None where it does not print enough."""
    with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
        log.write("\n".join(lines(record)) + "\n")
        log.flush()
        done = subprocess.run([plimsoll, "check", log.name, "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        return None, done.stderr.strip()[:150]
    terms = [t for t in json.loads(done.stdout)["terms"]
             if t["term"] in ("kv_cache", "recurrent_state") and "device" not in t]
    if not terms:
        return None, "no cache is printed"
    remarks = [f"{t['term']} {t.get('predicted_bytes', 0) / 2**20:.2f} for {t['logged_bytes'] / 2**20:.2f} MiB"
               for t in terms]
    if any(t.get("kind") != "exact" for t in terms) and any(t["result"] != "same" for t in terms):
        return None, "an estimate: " + "; ".join(remarks)
    return all(t["result"] == "same" for t in terms), "; ".join(remarks)


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    path = pathlib.Path(args[1]) if len(args) > 1 else LOGS
    if not path.exists():
        print("skipped: ../shared/truth is not there")
        return 77
    right = wrong = silent = 0
    for line in path.read_text().splitlines():
        record = json.loads(line)
        verdict, remark = judge(args[0], record)
        right, wrong, silent = right + (verdict is True), wrong + (verdict is False), silent + (verdict is None)
        if verdict is False or ("-v" in sys.argv and verdict is None):
            what = "WRONG " if verdict is False else ""
            print(f"{record['id']} {record['engine'][:20]} {record['model'].get('arch')}: {what}{remark}")
    print(f"{right + wrong + silent} logs: {right} as printed, {wrong} wrong, {silent} that do not say enough")
    return wrong > 0 or right == 0


if __name__ == "__main__":
    sys.exit(main())
