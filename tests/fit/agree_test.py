#!/usr/bin/env python3
"""agree_test.py PLIMSOLL: headers whose figures do not agree with their tensors are refused, not judged as small.

Each damage is one that llama.cpp refuses too: it looks for tensors of the shapes that the figures make, and no others.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import extras_test as models  # noqa: E402

PLIMSOLL = None
MOST = 2**32 - 1


class Headers(unittest.TestCase):
    def fit(self, keys, tensors, *words):
        head, size = models.written.gguf(keys, tensors)
        with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
            file.write(head)
            file.truncate(size)
            file.flush()
            return subprocess.run([PLIMSOLL, "fit", file.name, "--on", "cuda:24GiB", *words], capture_output=True,
                                  text=True, timeout=60)

    def refused(self, says, **changed):
        keys, tensors = models.llama(4, 512, 1024, 8, 2, "q8_0")
        keys.update({"llama." + key.replace("__", "."): value for key, value in changed.items()})
        done = self.fit(keys, tensors)
        self.assertEqual(done.returncode, 3, (changed, done.stdout))
        self.assertIn(says, done.stderr)

    def test_undamaged(self):
        self.assertEqual(self.fit(*models.llama(4, 512, 1024, 8, 2, "q8_0")).returncode, 0)

    def test_heads(self):
        self.refused("make 0 rows of blk.0.attn_k.weight", attention__head_count=MOST)
        self.refused("attn_k.weight, which has 128", attention__head_count_kv=MOST)
        self.refused("attn_k.weight, which has 128", attention__head_count_kv=1)
        self.refused("attn_k.weight, which has 128", attention__key_length=MOST)
        self.refused("attn_v.weight, which has 128", attention__value_length=32)
        self.refused("attn_k.weight, which has 128", embedding_length=256)
        self.refused("attn_k.weight, which has 128", attention__key_length=MOST, attention__head_count_kv=MOST)

    def test_layers(self):
        self.refused("counts 2 layers, and blk.3.", block_count=2)
        self.refused("for further tokens", nextn_predict_layers=MOST)
        self.refused("at most", block_count=MOST)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PLIMSOLL = sys.argv.pop(1)
    unittest.main()
