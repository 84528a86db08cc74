#!/usr/bin/env python3
"""The pages of `plimsoll fit --html` and `--markdown`: well formed, self-contained, safe with names from a file that
want to be markup.

    markup.py PLIMSOLL SOURCE
"""
import html.parser
import os
import struct
import subprocess
import sys
import tempfile

VOID = {"meta", "br", "img", "link", "input", "hr"}
NAME = "<script>alert(\"1\")</script> & | `x` [a](b)"


class Page(html.parser.HTMLParser):
    """Fails on tags that do not pair; gathers what matters."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], {}, [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data):
        self.texts.append(data)


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def model(path, name):
    """A small model's header: keys alone."""
    numbers = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 4,
               "attention.head_count_kv": 4, "context_length": 4096, "vocab_size": 100}
    keys = [string("general.architecture") + struct.pack("<I", 8) + string("llama"),
            string("general.name") + struct.pack("<I", 8) + string(name)]
    keys += [string("llama." + k) + struct.pack("<II", 4, v) for k, v in numbers.items()]
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys))


def run(plimsoll, *args):
    return subprocess.run([plimsoll, "fit", *args], capture_output=True, text=True, timeout=60)


def parsed(text):
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert "script" not in page.tags and "link" not in page.tags and "img" not in page.tags, page.tags
    assert not any(k in ("src", "href") or str(v).startswith("http") for k, v in page.attributes), page.attributes
    assert "http" not in text.split("</style>")[0], "a style that fetches"
    return page


def main():
    plimsoll, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.chdir(source)
    big = "examples/models/qwen3-32b-q4_k_m.gguf"
    done = run(plimsoll, big, "--on", "RTX 4090,RTX 3060,cpu:64GiB", "-c", "16384", "--explain", "--html")
    page = parsed(done.stdout)
    assert page.tags["svg"] == 3 and page.tags["table"] == 1, page.tags
    assert " Qwen3 32B" in page.texts and "passed" in page.texts, page.texts[:20]
    full = parsed(run(plimsoll, big, "--on", "cuda:12GiB,cpu:64GiB", "--html").stdout)
    widths = [float(v) for k, v in full.attributes if k == "width" and v[0].isdigit()]
    assert all(0 <= w <= 640.1 for w in widths), widths  # more than the budget holds is drawn beyond it, not outside

    with tempfile.TemporaryDirectory() as folder:
        model(f"{folder}/m.gguf", NAME)
        page = parsed(run(plimsoll, f"{folder}/m.gguf", "--on", "cuda:24GiB", "--html").stdout)
        assert any(NAME in t for t in page.texts), page.texts[:12]
        text = run(plimsoll, f"{folder}/m.gguf", "--on", "cuda:24GiB", "--markdown").stdout
        assert "\\<script\\>" in text and "\\[a\\](b)" in text and "\\|" in text, text
    two = run(plimsoll, big, "--on", "cuda:24GiB", "--html", "--json")
    assert two.returncode == 2 and "one at a time" in two.stderr, two
    print("pages are well formed")


if __name__ == "__main__":
    main()
