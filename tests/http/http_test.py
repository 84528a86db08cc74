#!/usr/bin/env python3
"""http_test.py PLIMSOLL: models of a server on 127.0.0.1 that answers in every way one may answer.

Exit 77: this build reads no URLs.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "model"))
import written as make  # noqa: E402

PLIMSOLL = None
SMALL = dict(layers=2, width=256, vocabulary=100)
LARGE = dict(layers=40, width=4096, vocabulary=150000)


def model(**shape):
    return make.gguf(make.keys_of(**shape), list(make.tensors_of(**shape)))


def run(*words, **env):
    kept = {k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_", "LLVM_PROFILE"))}
    return subprocess.run([PLIMSOLL, *words], capture_output=True, text=True, timeout=60,
                          env={**kept, "PATH": os.environ["PATH"], "LC_ALL": "C", **env})


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server.Server()
        cls.other = server.Server()
        cls.server.files = {"small.gguf": model(**SMALL), "large.gguf": model(**LARGE), "empty.gguf": (b"", 0)}
        cls.other.files = cls.server.files

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.other.end()

    def setUp(self):
        self.server.seen.clear()
        self.other.seen.clear()
        self.server.used.clear()

    def read(self, url, **env):
        """The document of the model at a URL, and what the server was asked for it."""
        done = run("model", url, "--json", **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refused(self, url, *words, seconds=None, **env):
        """Exit status 3, one line of reasons that holds the words."""
        more = ["--http-timeout", str(seconds)] if seconds else []
        done = run("model", url, *more, **env)
        self.assertEqual(done.returncode, 3, (done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def local(self, files, name):
        """The document of the same model in files."""
        with tempfile.TemporaryDirectory() as top:
            folder = pathlib.Path(top) / "good"  # as on the server: a model without a name has its folder's
            folder.mkdir()
            for file, (head, size) in files.items():
                with open(folder / file, "wb") as out:
                    out.write(head)
                    out.truncate(size)
            return self.read(str(folder / name))

    def sent(self):
        return sum(seen["sent"] for seen in self.server.seen)


class Ranges(Case):
    def test_a_short_header_takes_one_request(self):
        self.assertEqual(self.read(self.server.url("good", "small.gguf")),
                         self.local(self.server.files, "small.gguf"))
        self.assertEqual([seen["range"] for seen in self.server.seen], ["bytes=0-524287"])
        self.assertEqual(self.server.seen[0]["accept_encoding"], "identity")
        self.assertIsNone(self.server.seen[0]["authorization"])

    def test_a_long_header_takes_several_and_no_weights(self):
        head, size = self.server.files["large.gguf"]
        self.assertEqual(self.read(self.server.url("good", "large.gguf")),
                         self.local(self.server.files, "large.gguf"))
        self.assertGreater(len(self.server.seen), 2)
        self.assertLess(len(self.server.seen), 8)
        self.assertLess(self.sent(), 2 * len(head) + (1 << 20))
        self.assertLess(self.sent(), size // 100)

    def test_fit_judges_it(self):
        done = run("fit", self.server.url("good", "large.gguf") + "?download=true", "--on", "cuda:80GiB", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        fit = json.loads(done.stdout)
        self.assertEqual(fit["verdict"], "passed")
        self.assertIn("llama-server -mu http://127.0.0.1", fit["command"])
        self.assertTrue(all(seen["query"] == "download=true" for seen in self.server.seen))

    def test_whatever_part_of_a_split_is_named(self):
        keys, tensors = make.keys_of(**LARGE), list(make.tensors_of(**LARGE))
        files = make.split(keys, tensors, 5, "split")
        self.server.files = {**self.server.files, **files}
        for name in ("split-00001-of-00005.gguf", "split-00004-of-00005.gguf"):
            document = self.read(self.server.url("good", name))
            self.assertEqual(document, self.local(files, name))
            self.assertEqual(document["splits"], 5)

    def test_a_part_that_is_absent(self):
        keys, tensors = make.keys_of(**SMALL), list(make.tensors_of(**SMALL))
        files = make.split(keys, tensors, 3, "hole")
        del files["hole-00003-of-00003.gguf"]
        self.server.files = {**self.server.files, **files}
        self.refused(self.server.url("good", "hole-00001-of-00003.gguf"), "00003-of-00003.gguf", "missing")

    def test_a_safetensors_index(self):
        parts = [[("a.weight", (1024, 1024)), ("b.weight", (512, 1024))], [("c.weight", (1024,))]]
        names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
        files = {name: make.safetensors(part) for name, part in zip(names, parts)}
        index = json.dumps({"metadata": {}, "weight_map": {t: names[i] for i, part in enumerate(parts)
                                                           for t, _ in part}}).encode()
        files["model.safetensors.index.json"] = (index, len(index))
        self.server.files = {**self.server.files, **files}
        document = self.read(self.server.url("good", "model.safetensors.index.json"))
        self.assertEqual(document, self.local(files, "model.safetensors.index.json"))
        self.assertEqual(document["parameters"], 1024 * 1024 + 512 * 1024 + 1024)

    def test_a_file_that_is_no_model(self):
        self.server.files = {**self.server.files, "page.gguf": (b"<html>", 6), "cut.gguf": (b"GGUF\3\0\0\0", 8)}
        self.refused(self.server.url("good", "page.gguf"), "no magic")
        self.refused(self.server.url("good", "cut.gguf"), "the file ends inside")

    def test_a_header_that_claims_the_world(self):
        """A key as long as the file may be is not fetched: its length is refused, whatever the server offers."""
        head = b"GGUF" + make.struct.pack("<IQQ", 3, 1, 1) + make.struct.pack("<Q", 1 << 40)
        self.server.files = {**self.server.files, "world.gguf": (head, 1 << 42)}
        self.refused(self.server.url("good", "world.gguf"), "longer than")
        self.assertLess(self.sent(), 1 << 20)


class WithoutRanges(Case):
    def test_the_beginning_is_enough(self):
        for name in ("small.gguf", "large.gguf"):
            self.server.seen.clear()
            self.assertEqual(self.read(self.server.url("whole", name)), self.local(self.server.files, name))
            head, size = self.server.files[name]
            self.assertLess(self.sent(), min(size + 1, 8 * len(head) + (16 << 20)))

    def test_it_is_not(self):
        """A header beyond the bound is refused, and not by reading on."""
        keys = {**make.keys_of(**SMALL), "long": "x" * (70 << 20)}
        self.server.files = {**self.server.files, "long.gguf": make.gguf(keys, list(make.tensors_of(**SMALL)))}
        self.refused(self.server.url("whole", "long.gguf"), "gives no ranges", "64 MiB")
        self.assertEqual(self.read(self.server.url("good", "long.gguf"))["parameters"],
                         self.read(self.server.url("good", "small.gguf"))["parameters"])

    def test_nor_the_size(self):
        self.refused(self.server.url("endless", "large.gguf"), "neither ranges nor the file's size")
        self.assertEqual(self.server.seen[0]["range"], "bytes=0-524287")

    def test_now_and_then(self):
        self.refused(self.server.url("sometimes", "large.gguf"), "ranges only now and then")


class Redirects(Case):
    def place(self, url, code=302):
        return self.server.url("to", f"{code}/") + urllib.parse.quote(url, safe="")

    def test_followed_also_to_other_hosts(self):
        for code in (301, 302, 303, 307, 308):
            self.read(self.place(self.other.url("good", "small.gguf"), code))
        self.read(self.place("/good/small.gguf"))
        self.assertEqual(len(self.other.seen), 5)

    def test_a_long_header_asks_the_last_place_again(self):
        self.read(self.place(self.other.url("good", "large.gguf")))
        self.assertEqual(len(self.server.seen), 1)
        self.assertGreater(len(self.other.seen), 2)

    def test_a_place_that_expires_is_asked_for_anew(self):
        self.assertEqual(self.read(self.server.url("once", "large.gguf")),
                         self.local(self.server.files, "large.gguf"))

    def test_the_token_stays_with_its_host(self):
        env = {"HF_TOKEN": "hf_secret", "HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}/hub/"}
        self.read(self.place(self.other.url("good", "small.gguf")), **env)
        self.assertEqual(self.server.seen[0]["authorization"], "Bearer hf_secret")
        self.assertIsNone(self.other.seen[0]["authorization"])
        self.read(self.other.url("good", "small.gguf"), **env)
        self.assertIsNone(self.other.seen[1]["authorization"])
        self.read(self.server.url("good", "small.gguf"), HF_TOKEN="hf_secret")
        self.assertIsNone(self.server.seen[1]["authorization"])

    def test_the_token_is_no_header(self):
        env = {"HF_TOKEN": "a\r\nX: y", "HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}"}
        self.refused(self.server.url("good", "small.gguf"), "HF_TOKEN", **env)
        self.assertEqual(self.server.seen, [])

    def test_not_followed(self):
        self.refused(self.place("file:///etc/passwd"), "redirects to file:")
        self.refused(self.place("ftp://127.0.0.1/x"), "redirects to ftp:")
        self.refused(self.place("http://user:secret@127.0.0.1/x"), "names and passwords")
        self.refused(self.server.url("loop", "x"), "redirects")
        self.assertLess(len(self.server.seen), 20)
        self.refused(self.server.url("nowhere"), "not where to")


class Refusals(Case):
    def test_codes(self):
        for code, *words in ((401, "who asks", "HF_TOKEN"), (403, "refuses access"), (404, "no such file"),
                             (410, "no such file"), (416, "416"), (429, "too many requests"), (500, "500", "its own"),
                             (502, "502"), (503, "not available"), (418, "418"), (204, "204"), (304, "304")):
            self.refused(self.server.url("code", str(code)), *words)
        self.refused(self.server.url("code", "429/Retry-After=7"), "come back: 7 s")
        self.refused(self.server.url("failing", "large.gguf"), "500")

    def test_a_token_that_is_not_accepted(self):
        env = {"HF_TOKEN": "hf_old", "HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}"}
        message = self.refused(self.server.url("code", "401"), "does not accept HF_TOKEN", **env)
        self.assertNotIn("hf_old", message)

    def test_queries_are_not_printed(self):
        self.assertNotIn("secret", self.refused(self.server.url("code", "403") + "?signature=secret"))

    def test_wrong_ranges(self):
        for way, *words in (("shifted", "another range"), ("short", "another range"), ("unsaid", "which range"),
                            ("many", "which range"), ("starred", "none"), ("huge", "none"), ("tiny", "none"),
                            ("cut", ""), ("more", ""), ("growing", "changed"), ("replaced", "changed"),
                            ("packed", "compressed")):
            with self.subTest(way):
                self.refused(self.server.url(way, "large.gguf"), *words)

    def test_an_empty_file(self):
        self.refused(self.server.url("good", "empty.gguf"), "empty")

    def test_servers_that_do_not_answer(self):
        self.refused(self.server.url("silent"), "nothing", seconds=1)
        self.refused(self.server.url("drip", "large.gguf"), "almost nothing, for 1 s", seconds=1)
        self.refused(self.server.url("closed"))
        self.refused(self.server.url("garbage"))
        self.refused("http://127.0.0.1:1/x.gguf")
        self.refused("http://name.invalid/x.gguf", "name.invalid")

    def test_schemes(self):
        for url in ("file:///etc/passwd", "ftp://127.0.0.1/x.gguf", "gopher://x/", "http:///x", "https://[/x",
                    "http://127.0.0.1:99999/x", "http://127.0.0.1/a b"):
            self.refused(url, "no URL of http or https")
        self.refused("http://user:secret@127.0.0.1/x", "names and passwords")


class Certificates(Case):
    def test_an_untrusted_one_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pem = f"{folder}/both.pem"
            try:
                subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                                "/CN=127.0.0.1", "-keyout", pem, "-out", f"{folder}/c.pem"], check=True,
                               capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("no openssl makes a certificate")
            with open(pem, "a", encoding="ascii") as both:
                both.write(pathlib.Path(folder, "c.pem").read_text(encoding="ascii"))
            safe = server.Server(pem)
        safe.files = self.server.files
        self.refused(safe.url("good", "small.gguf"), "certificate")
        self.assertEqual(safe.seen, [])
        safe.end()


class Proxies(Case):
    def test_those_of_the_environment(self):
        proxy = f"http://127.0.0.1:{self.server.server_port}"
        self.read("http://models.invalid/good/small.gguf", http_proxy=proxy)
        self.assertTrue(self.server.seen[0]["proxied"])
        self.refused("http://models.invalid/good/small.gguf", http_proxy=proxy, no_proxy="models.invalid")


class Hubs(Case):
    def setUp(self):
        super().setUp()
        self.env = {"HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}/hub"}
        names = ["README.md", "mmproj-Q8_0.gguf", "q8/m-Q8_0-00002-of-00002.gguf", "m-IQ4_XS.gguf", "m-Q4_K_M.gguf"]
        files = [{"type": "directory", "path": "q8"}, {"type": "file", "path": "../m-Q2_K.gguf"}, 7,
                 *({"type": "file", "path": name} for name in names)]
        self.server.listings = {"ann/m": json.dumps(files).encode(), "ann/none": b"[]", "ann/odd": b"{}",
                                "ann/bad": b"[", "ann/hf": b'[{"path": "model.safetensors", "type": "file"}]'}
        small = self.server.files["small.gguf"]
        self.server.files = {**self.server.files, **{name: small for name in names},
                             "with space#.gguf": small, "model.safetensors": make.safetensors([("a", (4,))])}

    def test_files(self):
        self.assertEqual(self.read("hf:ann/m/small.gguf", **self.env)["name"], "Served")
        self.assertEqual(self.server.seen[0]["path"], "/hub/ann/m/resolve/main/small.gguf")
        self.read("hf:ann/m/with space#.gguf", **self.env)

    def test_quantisations(self):
        for name, file in (("hf:ann/m", "m-Q4_K_M.gguf"), ("hf:ann/m:q4_k_m", "m-Q4_K_M.gguf"),
                           ("hf:ann/m:IQ4_XS", "m-IQ4_XS.gguf"), ("hf:ann/hf", "model.safetensors")):
            self.read(name, **self.env)
            self.assertEqual(self.server.seen[-1]["path"].rsplit("/", 1)[1], file)

    def test_what_is_not_there(self):
        self.refused("hf:ann/m:Q2_K", "no GGUF of Q2_K", "m-IQ4_XS.gguf, m-Q4_K_M.gguf", **self.env)
        self.refused("hf:ann/m:Q8_0", "no GGUF of Q8_0", **self.env)
        self.refused("hf:ann/none", "no GGUF", **self.env)
        self.refused("hf:ann/odd", "no list", **self.env)
        self.refused("hf:ann/bad", "no list", **self.env)
        self.refused("hf:ann/absent", "401", **self.env)

    def test_names(self):
        self.refused("hf:ann/m:Q4_K_M", "HF_ENDPOINT")
        for name in ("hf:", "hf:ann", "hf:ann/", "hf:/m", "hf:ann/m:", "hf:ann/m:a/b", "hf:../m", "hf:ann/m/"):
            self.refused(name, "hf:OWNER/REPO", **self.env)
        self.refused("hf:ann/m", "HF_ENDPOINT", HF_ENDPOINT="ftp://127.0.0.1")
        self.refused("hf:ann/m", "HF_ENDPOINT", HF_ENDPOINT="http://127.0.0.1/?x")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PLIMSOLL = sys.argv.pop(1)
    if "without libcurl" in run("model", "http://127.0.0.1:1/").stderr:
        print("this plimsoll was built without libcurl")
        sys.exit(77)
    unittest.main()
