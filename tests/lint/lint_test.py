#!/usr/bin/env python3
"""Each rule of tools/lint.py against a small tree that breaks it, and one that breaks none."""
import importlib.util
import pathlib
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "lint.py"
spec = importlib.util.spec_from_file_location("lint", LINT)
lint = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lint)

GOOD = {
    "src/base/str.h": "/* Views. */\n#ifndef PLI_STR_H\n#define PLI_STR_H\n#include <stddef.h>\n#endif\n",
    "src/base/str.c": '#include "str.h"\n\n/* printf("in a comment") */\nstatic const int table[] = {1};\n',
    "src/base/CMakeLists.txt": "plim_floor(base str.c)\n",
    "src/machine/live_linux.c": "#if defined(__linux__)\n#include <unistd.h>\n#endif\n",
    "src/machine/CMakeLists.txt": "plim_floor(machine live_linux.c)\n",
    "src/probe/table.def": 'PROBE(host_os, ANY, HOST, "operating system")\n',
    "src/probe/host_os.c": '#include "../base/str.h"\n\nconst pli_probe pli_probe_host_os = {NULL, run, false};\n',
    "include/plimsoll/a.h": "/* A. */\n#ifndef PLIM_A_H\n#define PLIM_A_H\n#ifdef __cplusplus\n#endif\n"
                            "/** Does a. */\nPLIM_API int plim_a(void);\n#endif\n",
    "cli/main.c": '#include <plimsoll/a.h>\n\nint main(void)\n{\n    printf("exit(1)");\n}\n',
    "cli/CMakeLists.txt": "add_executable(plimsoll main.c)\n",
}

LONG_FUNCTION = "void f(void)\n{\n" + "    g();\n" * 81 + "}\n"
CIRCLE = '/* C. */\n#ifndef C_H\n#define C_H\n#include "d.h"\n#endif\n'

# rule, file that is added or replaced, its text, line that is reported
BAD = [
    ("floors", "src/base/up.c", '#include "../machine/machine.h"\n', 1),
    ("floors", "src/plan/see.c", '\n#include "../machine/machine.h"\n', 2),
    ("floors", "src/know/side.c", '#include "../inventory/inventory.h"\n', 1),
    ("floors", "src/shed/a.c", "int a;\n", 1),
    ("public-headers", "cli/inside.c", '#include "../src/base/str.h"\n', 1),
    ("public-headers", "include/plimsoll/b.h", '/* B. */\n#ifndef B_H\n#define B_H\n#include "a.h"\n#endif\n', 4),
    ("conditionals", "src/probe/os.c", "#ifdef _WIN32\n#endif\n", 1),
    ("conditionals", "src/plan/os.c", "# if defined(__x86_64__)\n#endif\n", 1),
    ("conditionals", "cli/os.c", "int a;\n#ifndef __linux__\nint b;\n#endif\n", 2),
    ("system-headers", "src/probe/sys.c", "#include <sys/stat.h>\n", 1),
    ("system-headers", "src/plan/json.c", "#include <windows.h>\n", 1),
    ("banned-calls", "src/base/copy.c", "\nint n = strcpy (a, b);\n", 2),
    ("banned-calls", "src/base/print.c", "int n = printf(1);\n", 1),
    ("banned-calls", "cli/run.c", "int n = system(0);\n", 1),
    ("mutable-state", "src/base/state.c", "static int counter;\n", 1),
    ("mutable-state", "src/base/cache.c", "void f(void)\n{\n    static char buf[16];\n}\n", 3),
    ("columns", "src/base/wide.c", "int " + "a" * 100 + ";\n", 1),
    ("columns", "script/wide", "echo " + "a" * 120 + "\n", 1),
    ("file-length", "src/base/long.c", "int a;\n" * 601, 602),
    ("function-length", "src/base/screen.c", LONG_FUNCTION, 2),
    ("braces", "src/base/else.c", "void f(void)\n{\n    if (a) {\n        b();\n    } else\n        c();\n}\n", 5),
    ("braces", "src/base/if.c", "void f(void)\n{\n    if (a)\n        b();\n    else {\n        c();\n    }\n}\n", 5),
    ("whitespace", "src/base/tab.c", "\tint a;\n", 1),
    ("whitespace", "src/base/blank.c", "int a; \n", 1),
    ("whitespace", "src/base/end.c", "int a;", 1),
    ("header-shape", "src/base/bare.h", "#ifndef BARE_H\n#define BARE_H\n#endif\n", 1),
    ("header-shape", "src/base/guard.h", "/* No guard. */\nint a;\n", 1),
    ("public-comments", "include/plimsoll/c.h",
     "/* C. */\n#ifndef C_H\n#define C_H\n\nPLIM_API int plim_c(void);\n#endif\n", 5),
    ("built-files", "src/base/dead.c", "int a;\n", 1),
    ("probe-files", "src/probe/table.def", "PROBE(host_os, ANY, HOST, \"\")\nPROBE(gone, ANY, HOST, \"\")\n", 1),
    ("probe-files", "src/probe/stray.c", "const pli_probe pli_probe_stray = {NULL, run, false};\n", 1),
    ("probe-files", "src/probe/host_os.c", "int a;\n", 1),
    ("machine-paths", "script/x", "cd /home/anna/plimsoll\n", 1),
    ("machine-paths", "README.md", "\nhttp://deb.debian.org/debian\n", 2),
    ("shared-data", "src/base/CMakeLists.txt", "plim_floor(base str.c) # ../shared/x\n", 1),
]


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, newline="")
        tree = lint.Tree(root)
        return {(name, source.path, number) for name, check in lint.RULES.items() for source, number, _ in check(tree)}


class Rules(unittest.TestCase):
    def test_good_tree(self):
        self.assertEqual(findings(GOOD), set())

    def test_each_rule_finds_its_bad_tree(self):
        for rule, path, text, line in BAD:
            with self.subTest(rule=rule, path=path):
                found = findings({**GOOD, path: text})
                self.assertTrue(any(f[0] == rule and f[2] == line for f in found), found)

    def test_circles(self):
        back = CIRCLE.replace("C_H", "D_H").replace("d.h", "c.h")
        found = findings({**GOOD, "src/base/c.h": CIRCLE, "src/base/d.h": back})
        self.assertIn(("include-circles", "src/base/c.h", 1), found)

    def test_every_rule_has_a_bad_tree(self):
        self.assertEqual(set(lint.RULES) - {rule for rule, *_ in BAD}, {"include-circles"})

    def test_every_rule_says_what_it_demands(self):
        for name, check in lint.RULES.items():
            self.assertTrue(check.__doc__, name)


if __name__ == "__main__":
    unittest.main()
