#!/usr/bin/env python3
"""The documents say what is so: docs_test.py SOURCE PLIMSOLL."""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE, PLIMSOLL = pathlib.Path(sys.argv[1]), sys.argv[2]
PLACE = r"`((?:src|cli|include|tests|tools|script|bench|examples|fuzz)/[\w./-]+)"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/README.md")


def read(path):
    return (SOURCE / path).read_text()


def commands():
    return re.findall(r"^CMD\((\w+),", read("cli/commands.def"), re.M)


class Documents(unittest.TestCase):
    def test_readme_shows_the_example_program(self):
        block = re.search(r"```c\n(.*?)```", read("README.md"), re.S)
        self.assertEqual(block[1], read("examples/devices.c"))

    def test_links_lead_to_files(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", read(page)):
                if not target.startswith("https://"):
                    self.assertTrue((SOURCE / page).parent.joinpath(target).exists(), f"{page}: {target}")

    def test_named_files_exist(self):
        made = re.compile(r"acme|NAME")  # by following the guide
        for page in PAGES:
            for name in re.findall(PLACE, read(page)):
                if not made.search(name):
                    self.assertTrue((SOURCE / name).exists(), f"{page}: {name}")

    def test_commands_in_the_readme_exist(self):
        for name in re.findall(r"`plimsoll ([a-z]+)", read("README.md")):
            self.assertIn(name, commands())

    def test_changes_start_with_what_is_unreleased(self):
        self.assertEqual(re.search(r"^## (.*)$", read("CHANGELOG.md"), re.M)[1], "Unreleased")

    def test_every_option_of_the_help_stands_in_the_manual(self):
        for name in commands():
            out = subprocess.run([PLIMSOLL, name, "--help"], check=True, capture_output=True, text=True).stdout
            page = read(f"man/plimsoll-{name}.1").replace("\\-", "-") + read("man/plimsoll.1").replace("\\-", "-")
            for option in re.findall(r"(?<!\S)(--?[a-z][\w-]*)", out.split("Options:", 1)[-1]):
                self.assertRegex(page, rf"Fl {re.escape(option[1:])}\b", f"{name}: {option}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
