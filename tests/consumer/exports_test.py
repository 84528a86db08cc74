#!/usr/bin/env python3
"""What the installed library shows and needs: exports_test.py SOURCE STAGE (made by run.sh install)."""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE, PREFIX = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "opt" / "plimsoll"
LIBRARY = PREFIX / "lib" / "libplimsoll.so"
# The C library's parts, yyjson, and nothing of a vendor: those are opened at run time where their device is.
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|ld-linux[-\w]*|ld64|ld)\.so\.\d+|libyyjson\.so\.\d+")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(path)))


def exported(path):
    for line in output("readelf", "--dyn-syms", "-W", str(path)).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK") and fields[6] != "UND" and fields[6] != "ABS":
            yield fields[7].split("@")[0]


def declared():
    """What the public headers promise: functions, and one table per record of the fields_*.def."""
    for path in (SOURCE / "include" / "plimsoll").iterdir():
        text = path.read_text()
        if path.suffix == ".def":
            yield from ("plim_record_" + name for name in re.findall(r"^RECORD\((\w+)\)", text, re.M))
        else:
            yield from re.findall(r"^PLIM_API\b[^;(]*?\b(plim_\w+)\(", text, re.M)


class Library(unittest.TestCase):
    def test_exports_what_the_headers_declare_and_nothing_else(self):
        self.maxDiff = None
        self.assertEqual(sorted(exported(LIBRARY)), sorted(declared()))

    def test_needs_only_the_c_library_and_yyjson(self):
        for path in (LIBRARY, PREFIX / "bin" / "plimsoll"):
            names = needed(path)
            self.assertIn("libyyjson.so.0", names)
            self.assertEqual([n for n in names if not ALLOWED.fullmatch(n)], [])

    def test_soname(self):
        self.assertIn("[libplimsoll.so.0]", output("readelf", "-dW", str(LIBRARY)))

    def test_static_library_defines_only_prefixed_names(self):
        lines = output("nm", "-g", "--defined-only", str(PREFIX / "lib" / "libplimsoll.a")).splitlines()
        names = [line.split()[-1] for line in lines if len(line.split()) == 3]
        self.assertGreater(len(names), 50)
        self.assertEqual([n for n in names if not re.match(r"pl(im|i)_", n)], [])

    def test_stack_is_not_executable_and_no_text_relocations(self):
        self.assertNotIn("TEXTREL", output("readelf", "-dW", str(LIBRARY)))
        stack = next(line for line in output("readelf", "-lW", str(LIBRARY)).splitlines() if "GNU_STACK" in line)
        self.assertNotIn("RWE", stack)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
