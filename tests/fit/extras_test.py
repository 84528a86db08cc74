#!/usr/bin/env python3
"""extras_test.py PLIMSOLL: what is loaded beside a model, against the buffers that llama-server 0.7.0 printed for these
very files (MiB, two decimals; the processor alone, -c 4096 -np 2), and against sums made by hand.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "model"))
import written  # noqa: E402

PLIMSOLL = None
VOCABULARY = 4096


def llama(layers, width, feed, heads, heads_kv, kind):
    keys = {"general.architecture": "llama", "general.type": "model", "llama.block_count": layers,
            "llama.context_length": 32768, "llama.embedding_length": width, "llama.feed_forward_length": feed,
            "llama.attention.head_count": heads, "llama.attention.head_count_kv": heads_kv,
            "llama.rope.dimension_count": width // heads, "llama.attention.layer_norm_rms_epsilon": 1e-5,
            "llama.vocab_size": VOCABULARY}
    kv = width // heads * heads_kv
    tensors = [("token_embd.weight", (width, VOCABULARY), kind), ("output_norm.weight", (width,)),
               ("output.weight", (width, VOCABULARY), kind)]
    for i in range(layers):
        for name, shape, *of in (("attn_norm", (width,)), ("attn_q", (width, width), kind),
                                 ("attn_k", (width, kv), kind), ("attn_v", (width, kv), kind),
                                 ("attn_output", (width, width), kind),
                                 ("ffn_norm", (width,)), ("ffn_gate", (width, feed), kind),
                                 ("ffn_up", (width, feed), kind), ("ffn_down", (feed, width), kind)):
            tensors.append((f"blk.{i}.{name}.weight", shape, *of))
    return keys, tensors


def heads(layers=5, width=512, feed=1024, kind="q8_0"):
    """glm4moe, whose last layer is a next-token head."""
    a, head, experts, part = "glm4moe.", 64, 8, 256
    keys = {"general.architecture": "glm4moe", a + "block_count": layers, a + "nextn_predict_layers": 1,
            a + "context_length": 32768, a + "embedding_length": width, a + "feed_forward_length": feed,
            a + "attention.head_count": 8, a + "attention.head_count_kv": 2, a + "attention.key_length": head,
            a + "attention.value_length": head, a + "rope.dimension_count": 32, a + "vocab_size": VOCABULARY,
            a + "attention.layer_norm_rms_epsilon": 1e-5, a + "expert_count": experts, a + "expert_used_count": 2,
            a + "expert_shared_count": 1, a + "expert_feed_forward_length": part, a + "leading_dense_block_count": 1,
            a + "expert_gating_func": 2}
    tensors = [("token_embd.weight", (width, VOCABULARY), kind), ("output_norm.weight", (width,)),
               ("output.weight", (width, VOCABULARY), kind)]
    for i in range(layers):
        each = [("attn_norm.weight", (width,)), ("attn_q.weight", (width, 8 * head), kind),
                ("attn_k.weight", (width, 2 * head), kind), ("attn_v.weight", (width, 2 * head), kind),
                ("attn_output.weight", (8 * head, width), kind), ("post_attention_norm.weight", (width,))]
        if i == 0:
            each += [(f"ffn_{n}.weight", s, kind) for n, s in (("gate", (width, feed)), ("up", (width, feed)),
                                                               ("down", (feed, width)))]
        else:
            each += [("ffn_gate_inp.weight", (width, experts)), ("exp_probs_b.bias", (experts,))]
            for name, shape in (("gate", (width, part)), ("up", (width, part)), ("down", (part, width))):
                each += [(f"ffn_{name}_exps.weight", (*shape, experts), kind)]
                each += [(f"ffn_{name}_shexp.weight", shape, kind)]
        if i == layers - 1:
            each += [("nextn.eh_proj.weight", (2 * width, width), kind)]
            each += [(f"nextn.{n}.weight", (width,)) for n in ("enorm", "hnorm", "shared_head_norm")]
        tensors += [(f"blk.{i}.{name}", *rest) for name, *rest in each]
    return keys, tensors


def adapter(layers=8, width=1024, feed=2816, rank=16, architecture="llama"):
    keys = {"general.architecture": architecture, "general.type": "adapter", "adapter.type": "lora",
            "adapter.lora.alpha": 16.0}
    tensors = []
    for i in range(layers):
        for name, a, b in (("attn_q", width, width), ("ffn_up", width, feed), ("ffn_down", feed, width)):
            tensors.append((f"blk.{i}.{name}.weight.lora_a", (a, rank), "f16"))
            tensors.append((f"blk.{i}.{name}.weight.lora_b", (rank, b), "f16"))
    return keys, tensors


def control(layers=8, width=1024):
    return ({"general.architecture": "controlvector", "controlvector.layer_count": layers - 1},
            [(f"direction.{i}", (width,)) for i in range(1, layers)])


def projector(kind, size, patch, width, feed, layers, count, projection, gate=False, **more):
    v = "clip.vision."
    keys = {"general.architecture": "clip", "general.type": "mmproj", "clip.has_vision_encoder": True,
            "clip.projector_type": kind, v + "image_size": size, v + "patch_size": patch, v + "embedding_length": width,
            v + "feed_forward_length": feed, v + "block_count": layers, v + "attention.head_count": count,
            v + "projection_dim": projection, v + "attention.layer_norm_epsilon": 1e-6,
            **{v + k: n for k, n in more.items()}}
    tensors = [("v.patch_embd.weight", (patch, patch, 3, width), "f16"), ("mm.0.weight", (width, projection), "f16")]
    for i in range(layers):
        tensors.append((f"v.blk.{i}.ffn_up.weight", (width, feed), "f16"))
        if gate:
            tensors.append((f"v.blk.{i}.ffn_gate.weight", (width, feed), "f16"))
    return keys, tensors


MODELS = {
    "main": llama(8, 1024, 2816, 16, 4, "q4_0"), "draft": llama(4, 512, 1024, 8, 2, "q8_0"), "mtp": heads(),
    "lora": adapter(), "cvec": control(), "other-lora": adapter(width=2048), "far-lora": adapter(architecture="qwen2"),
    "other-cvec": control(width=512), "imatrix": ({"general.type": "imatrix"}, [("a.in_sum2", (4,))]),
    "gemma3": projector("gemma3", 896, 14, 1152, 4304, 27, 16, 2560),
    "clip-l": projector("mlp", 336, 14, 1024, 4096, 23, 16, 4096),
    "qwen2vl": projector("qwen2vl_merger", 560, 14, 1280, 5120, 8, 16, 1024),
    "qwen25vl": projector("qwen2.5vl_merger", 560, 14, 1280, 3420, 8, 16, 1024, gate=True, n_wa_pattern=8),
    "qwen3vl": projector("qwen3vl_merger", 768, 16, 1152, 4304, 6, 16, 1024, spatial_merge_size=2),
    "huge-clip": projector("qwen2vl_merger", 560, 14, 64, 64, 1, 1, 64, feed_forward_length=4294967295,
                           spatial_merge_size=4294967295, projection_dim=4294967295),
}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, (keys, tensors) in MODELS.items():
            head, size = written.gguf(keys, [t for t in tensors])
            with open(cls.path(name), "wb") as out:
                out.write(head)
                out.truncate(size)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name + ".gguf")

    def run_fit(self, model, *words):
        return subprocess.run([PLIMSOLL, "fit", self.path(model), "-c", "4096", "-np", "2", "--json", *words],
                              capture_output=True, text=True, timeout=60)

    def fit(self, model, *words, on="cpu"):
        done = self.run_fit(model, "--on", on, *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def term(self, fit, name, device="host"):
        found = [t for t in fit["explain"] if t["term"] == name and t["device"] == device]
        self.assertEqual(len(found), 1, (name, device, fit["explain"]))
        return found[0]

    def printed(self, term, mib, kind="exact"):
        """The engine's own line."""
        self.assertEqual(f"{term['bytes'] / 2**20:.2f}", mib)
        self.assertEqual(term["kind"], kind)

    def refused(self, model, *words, says=()):
        done = self.run_fit(model, "--on", "cpu", *words)
        self.assertIn(done.returncode, (2, 3), done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in says:
            self.assertIn(word, done.stderr)


class Drafts(Case):
    def test_a_model_of_its_own(self):
        fit = self.fit("main", "-md", self.path("draft"))
        self.printed(self.term(fit, "weights"), "52.94")
        self.printed(self.term(fit, "KV cache here"), "32.00")
        self.printed(self.term(fit, "draft model, weights"), "13.30")
        self.printed(self.term(fit, "draft model, cache"), "8.00")
        self.printed(self.term(fit, "draft model, output"), "0.03")
        self.assertIn("--spec-type draft-simple -md " + self.path("draft"), fit["command"])

    def test_on_devices(self):
        alone = self.fit("main", on="cuda:8GiB,cpu:64GiB")
        fit = self.fit("main", "-md", self.path("draft"), on="cuda:8GiB,cpu:64GiB")
        kept = self.fit("main", "-md", self.path("draft"), "-ngld", "0", on="cuda:8GiB,cpu:64GiB")
        away = self.fit("main", "-md", self.path("draft"), "-devd", "CUDA1", on="cuda:8GiB*2,cpu:64GiB")
        device, host = fit["placement"]
        self.assertGreater(device["draft_bytes"], 8 << 20)
        self.assertEqual(device["used_bytes"] - alone["placement"][0]["used_bytes"] - device["draft_bytes"],
                         device["compute_bytes"] - alone["placement"][0]["compute_bytes"])
        self.assertLess(kept["placement"][0]["draft_bytes"], device["draft_bytes"])  # lent for large batches
        self.assertGreater(kept["placement"][1]["draft_bytes"], host["draft_bytes"])
        self.assertNotIn("draft_bytes", away["placement"][0])
        self.assertIn("draft_bytes", away["placement"][1])
        self.assertIn("-devd CUDA1", away["command"])
        main = self.fit("main", "-md", self.path("draft"), "-sm", "none", "-mg", "1", on="cuda:8GiB*2,cpu:64GiB")
        used = [place for place in main["placement"] if place["device"] == "cuda1"]
        self.assertEqual([place["draft_bytes"] for place in used], [device["draft_bytes"]])

    def test_its_cache_follows_the_context(self):
        fit = self.fit("main", "-md", self.path("draft"), "-ctkd", "q8_0", "-ctvd", "q8_0")
        self.assertEqual(self.term(fit, "draft model, cache")["bytes"], 4 * 2 * 4096 * 128 // 32 * 34)
        longer = self.fit("main", "-md", self.path("draft"), "-c", "8192")
        self.printed(self.term(longer, "draft model, cache"), "16.00")

    def test_heads_of_the_model(self):
        alone, fit = self.fit("mtp"), self.fit("mtp", "--spec-type", "draft-mtp")
        both = self.term(fit, "weights")["bytes"] + self.term(fit, "next-token heads")["bytes"]
        self.assertEqual(f"{both / 2**20:.2f}", "24.13")  # CPU_Mapped with --spec-type draft-mtp
        self.assertEqual(self.term(alone, "weights"), self.term(fit, "weights"))
        self.printed(self.term(fit, "draft model, cache"), "2.00")
        self.assertGreaterEqual(self.term(fit, "draft model, compute")["bytes"], 6.01 * 2**20)
        self.assertIn("--spec-type draft-mtp", fit["command"])

    def test_refusals(self):
        self.refused("main", "--spec-type", "draft-mtp", says=["no next-token heads"])
        self.refused("main", "-md", self.path("gemma3"), says=["-md", "--mmproj"])
        self.refused("main", "-md", self.path("draft"), "-ctkd", "q9", says=["-ctkd"])
        self.refused("main", "-md", self.path("draft"), "-devd", "CUDA7", says=["-devd", "CUDA7"])
        self.refused("main", "-md", self.path("absent"), says=["absent.gguf"])


class Projectors(Case):
    # MiB of the graph that 0.7.0 reserved for a square of so many pixels, with flash attention and without
    RESERVED = {"gemma3": (896, 14, 121.25, 1132.00), "clip-l": (336, 14, 21.55, 32.88),
                "qwen2vl": (1288, 14, 267.08, 4598.27), "qwen25vl": (1288, 14, 569.70, 4871.57),
                "qwen3vl": (1472, 16, 322.49, 4732.20)}

    def test_never_less_than_reserved(self):
        for name, (_, _, *reserved) in self.RESERVED.items():
            for flash, mib in zip(("on", "off"), reserved):
                with self.subTest(name, flash=flash):
                    term = self.term(self.fit("main", "--mmproj", self.path(name), "-fa", flash),
                                     "projector, compute")
                    self.assertGreaterEqual(term["bytes"], mib * 2**20)
                    self.assertEqual(term["kind"], "bound")

    def test_in_one_memory(self):
        keys, tensors = MODELS["gemma3"]
        weights = sum(written.bytes_of(shape, *kind) for _, shape, *kind in tensors)
        on = self.fit("main", "--mmproj", self.path("gemma3"), on="cuda:24GiB*2,cpu:64GiB")
        self.assertEqual(self.term(on, "projector, weights", "cuda0")["bytes"], weights)
        self.assertNotIn("projector_bytes", on["placement"][1])
        off = self.fit("main", "--mmproj", self.path("gemma3"), "--no-mmproj-offload", on="cuda:24GiB*2,cpu:64GiB")
        self.assertEqual(self.term(off, "projector, weights")["bytes"], weights)
        self.assertIn("--no-mmproj-offload", off["command"])

    def test_refusals(self):
        self.refused("gemma3", says=["not a model", "--mmproj"])
        self.refused("main", "--mmproj", self.path("draft"), says=["--mmproj", "is a model"])
        self.refused("main", "--mmproj", self.path("lora"), says=["--mmproj", "LoRA adapter"])
        self.refused("main", "--mmproj", self.path("huge-clip"), says=["2^64"])
        self.refused("imatrix", says=["importance matrix"])


class Adapters(Case):
    def test_beside_their_tensors(self):
        fit = self.fit("main", "--lora", self.path("lora"))
        term = self.term(fit, "adapters")
        both = 8 * 2 * 16 * (2 * 1024 + 2 * (1024 + 2816))  # 2.38 MiB, as printed
        self.assertEqual(f"{both / 2**20:.2f}", "2.38")
        self.assertEqual(term["bytes"], both + 512 * 4 * (16 + 2816))
        self.assertEqual(term["kind"], "bound")
        twice = self.fit("main", "--lora", self.path("lora"), "--lora-scaled", self.path("lora") + ":0.5")
        self.assertEqual(self.term(twice, "adapters")["bytes"], 2 * term["bytes"])
        split = self.fit("main", "--lora", self.path("lora"), "-ngl", "5", on="cuda:8GiB,cpu:64GiB")
        self.assertTrue(all("adapters_bytes" in place for place in split["placement"]))

    def test_a_row_for_each_layer_but_the_first(self):
        fit = self.fit("main", "--control-vector", self.path("cvec"))
        self.assertEqual(self.term(fit, "adapters")["bytes"], 7 * 1024 * 4)
        self.assertEqual(self.term(fit, "adapters")["kind"], "exact")
        again = self.fit("main", "--control-vector", self.path("cvec") + "," + self.path("cvec"))
        self.assertEqual(self.term(again, "adapters")["bytes"], 7 * 1024 * 4)

    def test_refusals(self):
        self.refused("main", "--lora", self.path("other-lora"), says=["--lora", "another model"])
        self.refused("draft", "--lora", self.path("lora"), says=["--lora", "another model"])
        self.refused("main", "--lora", self.path("far-lora"), says=["architecture"])
        self.refused("main", "--lora", self.path("draft"), says=["--lora", "is a model"])
        self.refused("main", "--control-vector", self.path("other-cvec"), says=["--control-vector", "another model"])
        self.refused("main", "--control-vector", self.path("lora"), says=["--lora"])
        self.refused("lora", says=["not a model", "--lora"])
        self.refused("cvec", says=["not a model", "--control-vector"])


class Prompts(Case):
    def test_named_or_counted(self):
        plain, given = self.fit("main"), self.fit("main", "-cram", "512")
        self.assertEqual(self.term(plain, "prompt cache")["bytes"], 8192 << 20)
        self.assertNotIn("prompt_cache_bytes", plain["memory"])
        self.assertEqual(given["memory"]["prompt_cache_bytes"], 512 << 20)
        self.assertEqual(given["memory"]["total_bytes"], plain["memory"]["total_bytes"] + (512 << 20))
        none = self.fit("main", "-cram", "0")
        self.assertFalse([t for t in none["explain"] if t["term"] == "prompt cache"])
        old = self.fit("main", "--engine", "llama.cpp@b5400")
        self.assertFalse([t for t in old["explain"] if t["term"] == "prompt cache"])
        self.refused("main", "-cram", "-5", says=["--cache-ram"])


class Rearranged(Case):
    """AMX buffers as 0.7.0 printed them; CPU_Mapped beside them holds the embeddings and the norms."""
    PRINTED = {"q4_0": (26.44, 2.29), "q8_0": (55.81, 4.29), "q4_K": (27.17, 2.29), "f16": (94.00, 8.04)}

    def machine(self, *isa):
        path = os.path.join(self.folder.name, "-".join(isa or ("none",)) + ".json")
        with open(path, "w", encoding="ascii") as out:
            json.dump({"schema": "plimsoll.machine/1", "cpu": {"isa": list(isa)},
                       "memory": {"total_bytes": 64 << 30, "usable_bytes": 60 << 30}}, out)
        return path

    def weights(self, kind, machine, *words, tied=False):
        keys, tensors = llama(4, 1024, 2816, 16, 4, kind)
        if tied:
            tensors = [t for t in tensors if t[0] != "output.weight"]
        head, size = written.gguf(keys, tensors)
        with open(self.path("rearranged"), "wb") as out:
            out.write(head)
            out.truncate(size)
        done = self.run_fit("rearranged", "--machine", machine, *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return self.term(json.loads(done.stdout), "weights")

    def test_as_printed(self):
        for kind, (rearranged, mapped) in self.PRINTED.items():
            with self.subTest(kind):
                term = self.weights(kind, self.machine("avx2", "amx_int8"))
                self.assertAlmostEqual(term["bytes"] / 2**20, rearranged + mapped, delta=0.02)
                self.assertIn(f"{rearranged:.1f} MiB rearranged", term["formula"])

    def test_tied(self):
        """Embeddings are looked up as they are and multiplied rearranged: twice in memory, as with a matrix of its own.
        (gemma3-4b in Q4_K on AMX: 2.44 GiB where its file holds 2.03, says 0.7.0.)"""
        amx, none = self.machine("avx2", "amx_int8"), self.machine()
        self.assertEqual(self.weights("q4_K", amx, tied=True)["bytes"], self.weights("q4_K", amx)["bytes"])
        self.assertLess(self.weights("q4_K", none, tied=True)["bytes"], self.weights("q4_K", none)["bytes"])

    def test_without(self):
        amx = self.machine("avx2", "amx_int8")
        plain = self.weights("q8_0", self.machine())
        self.assertNotIn("rearranged", plain["formula"])
        self.assertEqual(self.weights("q8_0", amx, "-nr"), plain)
        self.assertEqual(self.weights("q8_0", self.machine("avx2")), plain)  # no layout of its own there
        small = self.weights("q4_0", self.machine("avx2"))  # CPU_REPACK: the same size
        self.assertEqual(small["bytes"], self.weights("q4_0", amx, "-nr")["bytes"])
        self.assertIn("rearranged", small["formula"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PLIMSOLL = sys.argv.pop(1)
    unittest.main()
