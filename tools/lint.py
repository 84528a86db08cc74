#!/usr/bin/env python3
"""The rules of the source tree that compilers do not hold. Standard library only.

    tools/lint.py                  check the tree this file is in
    tools/lint.py --root DIR       check another tree
    tools/lint.py --list           what is checked
    tools/lint.py RULE...          only these rules

One function per rule; its docstring says what it demands. Each has a bad example in tests/lint/lint_test.py.
Prints "file:line: rule: what is wrong" and exits 1 when anything is.
"""
import argparse
import pathlib
import re
import sys

# Floors: a file includes its own folder and lower floors only. cli/ sees the public headers alone.
FLOORS = {"base": 0, "machine": 1, "vendor": 2, "know": 2, "inventory": 2, "probe": 3, "meter": 3, "model": 3,
          "plan": 4, "pool": 4, "": 5}
BLIND = {"model": {"machine"}, "plan": {"machine"}}  # planning is a pure function: it never sees the seam
# The seam: the only files that may know which system they are built for, and ask it.
SEAM = re.compile(r"src/base/(platform\.h|sync_\w+\.[ch])|include/plimsoll/base\.h|cli/term_\w+\.[ch]"
                  r"|src/machine/((live|run|files|isolate)_\w+|dl|cpuid|drm)\.[ch]")
READS_FILES = re.compile(r"src/base/(reader|dir)\.c")  # model files, named by the user, are no part of a machine
TABLE_PASS = re.compile(r"/(records_\w+|record_tables)\.h")  # used once per table: no include guard
ISO_C = set("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg "
            "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype".split())
COLUMNS = {".c": 100, ".h": 100, ".py": 120, ".sh": 120, ".txt": 120, ".cmake": 120, "": 120}
OWN = ("tools/lint.py", "tests/lint/lint_test.py")  # these name what they forbid
MAX_FILE, MAX_FUNCTION = 600, 80
UNSAFE = "strcpy strcat sprintf vsprintf strtok atoi atol atof gets system popen alloca".split()
LIBRARY_NEVER = UNSAFE + "abort exit printf vprintf fprintf vfprintf puts fputs putchar perror assert".split()

RULES = {}


def rule(function):
    RULES[function.__name__.replace("_", "-")] = function
    return function


class Source:
    """A text file: as it is, and with comments and the insides of strings blanked out (lines stay where they are)."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        self.suffix = path.suffix
        self._code = None

    @property
    def code(self):
        if self._code is None:
            self._code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                                self._blank, self.text, flags=re.S).split("\n")
        return self._code

    @staticmethod
    def _blank(match):
        quote = match[0][0] if match[0][0] in "\"'" else ""
        return quote + re.sub(r"[^\n]", " ", match[0][len(quote):len(match[0]) - len(quote)]) + quote

    @property
    def is_c(self):
        return self.suffix in (".c", ".h")

    @property
    def in_library(self):
        return self.is_c and self.path.startswith("src/")

    @property
    def folder(self):
        """The floor's name of a file of the library, "" for src/*.c itself."""
        parts = self.path.split("/")
        return parts[1] if len(parts) > 2 else ""


class Tree:
    FOLDERS = "include src cli tests fuzz bench examples script tools cmake bindings packaging .ci".split()
    TEXT = {".c", ".h", ".def", ".py", ".sh", ".cmake", ".txt", ".in", ".map", ".md", ""}

    def __init__(self, root):
        self.root = root
        paths = [p for p in root.iterdir() if p.is_file() and p.name != ".git"]
        for folder in self.FOLDERS:
            paths += (root / folder).rglob("*")
        self.files = [Source(root, p) for p in sorted(paths)
                      if p.is_file() and p.suffix in self.TEXT and "__pycache__" not in p.parts
                      and p.stat().st_size < 1 << 20]

    def c_files(self, prefix=""):
        return [f for f in self.files if f.is_c and f.path.startswith(prefix)]

    def read(self, path):
        return next((f for f in self.files if f.path == path), None)


def includes(source):
    for number, line in enumerate(source.lines, 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found[1], found[2]


def resolve(source, name):
    """The path in the tree that a quoted include names."""
    parts = source.path.split("/")[:-1]
    for part in name.split("/"):
        parts = parts[:-1] if part == ".." else parts + [part]
    return "/".join(parts)


@rule
def floors(tree):
    """A file of src/ includes only its own folder and lower floors; model and plan never include machine."""
    for source in tree.c_files("src/"):
        own = source.folder
        if own not in FLOORS:
            yield source, 1, f"src/{own} is not in the table of floors (tools/lint.py)"
            continue
        for number, quote, name in includes(source):
            target = resolve(source, name).split("/")
            if quote != '"' or target[0] != "src" or len(target) < 3 or target[1] == own:
                continue
            other = target[1]
            if FLOORS.get(other, 99) >= FLOORS[own]:
                yield source, number, f"{own or 'src'} is not above {other}"
            elif other in BLIND.get(own, ()):
                yield source, number, f"{own} never sees {other}"


@rule
def public_headers(tree):
    """cli/, examples/ and include/ include nothing of src/: the public headers are enough."""
    for prefix in ("cli/", "examples/", "include/"):
        for source in tree.c_files(prefix):
            for number, quote, name in includes(source):
                path = resolve(source, name)
                if quote == '"' and path.startswith("src/"):
                    yield source, number, f'"{name}" is internal'
                elif quote == '"' and prefix == "include/":
                    yield source, number, f'"{name}": public headers name each other as <plimsoll/...>'


@rule
def include_circles(tree):
    """No header includes itself, not even through others."""
    headers = {f.path: f for f in tree.c_files() if f.suffix == ".h"}
    edges = {}
    for path, source in headers.items():
        names = [("include/" + name if quote == "<" else resolve(source, name)) for _, quote, name in includes(source)]
        edges[path] = [n for n in names if n in headers]
    for start in headers:
        seen, todo = set(), list(edges[start])
        while todo:
            path = todo.pop()
            if path == start:
                yield headers[start], 1, "this header includes itself through others"
                break
            if path not in seen:
                seen.add(path)
                todo += edges[path]


@rule
def conditionals(tree):
    """#if stands only in the seam; elsewhere only include guards, __cplusplus, and defaults of X-macros."""
    for source in tree.c_files("src/") + tree.c_files("cli/") + tree.c_files("include/"):
        if SEAM.fullmatch(source.path):
            continue
        for number, line in enumerate(source.code, 1):
            found = re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b\s*(.*)", line)
            if not found:
                continue
            word, condition = found[1], found[2].strip()
            guard = word == "ifndef" and re.match(rf"\s*#\s*define\s+{condition}\b", (source.code + [""])[number])
            if not guard and (word, condition) != ("ifdef", "__cplusplus"):
                yield source, number, f"#{word} {condition} outside the seam: ask pli_facts at run time"


@rule
def system_headers(tree):
    """A probe never touches the system: beyond the seam only ISO C headers (and yyjson in the library) are included."""
    for source in tree.c_files("src/") + tree.c_files("include/"):
        if SEAM.fullmatch(source.path) or READS_FILES.fullmatch(source.path) or source.path.startswith("src/machine/"):
            continue
        for number, quote, name in includes(source):
            iso = name[:-2] in ISO_C or name.startswith("plimsoll/")
            if quote == "<" and not iso and not (name == "yyjson.h" and source.in_library):
                yield source, number, f"<{name}> belongs to the seam (src/machine)"


def calls(source, names):
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")
    for number, line in enumerate(source.code, 1):
        for found in pattern.finditer(line):
            yield number, found[1]


@rule
def banned_calls(tree):
    """No unbounded or unchecked C functions anywhere; the library never prints, aborts or exits."""
    for source in tree.c_files():
        if source.in_library or source.path.startswith(("cli/", "include/", "examples/")):
            for number, name in calls(source, LIBRARY_NEVER if source.in_library else UNSAFE):
                yield source, number, f"{name}() is banned here"


@rule
def mutable_state(tree):
    """The library has no global mutable state: what is static is const."""
    for source in tree.c_files("src/"):
        for number, line in enumerate(source.code, 1):
            found = re.match(r"\s*(static|_Thread_local|__thread)\b([^(=;]*)([=;]|\[)", line)
            if found and not re.search(r"\bconst\b|\binline\b|_Static_assert", found[2]):
                yield source, number, "static data that is not const"


@rule
def columns(tree):
    """Lines of C end at column 100, of everything else at 120; rows of a .def table may be as long as they need."""
    for source in tree.files:
        limit = COLUMNS.get(source.suffix)
        if limit is None or source.path.startswith("tests/") and source.suffix == ".txt" and "CMake" not in source.path:
            continue
        for number, line in enumerate(source.lines, 1):
            if len(line) > limit:
                yield source, number, f"{len(line)} columns, {limit} at most"


@rule
def file_length(tree):
    """A file has at most 600 lines."""
    for source in tree.files:
        if source.suffix in (".c", ".h", ".py") and len(source.lines) > MAX_FILE + 1:
            yield source, len(source.lines), f"{len(source.lines)} lines, {MAX_FILE} at most: split it by purpose"


@rule
def function_length(tree):
    """A function has at most 80 lines."""
    for source in tree.c_files():
        start = None
        for number, line in enumerate(source.lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start:
                if number - start - 1 > MAX_FUNCTION:
                    yield source, start, f"a function of {number - start - 1} lines, {MAX_FUNCTION} at most"
                start = None


@rule
def braces(tree):
    """If one branch of an if has braces, the other has them too."""
    for source in tree.c_files():
        for number, line in enumerate(source.code, 1):
            if re.match(r"\s*\} else\b(?!\s*(if\b|\{))", line) or re.match(r"\s*else\b.*\{\s*$", line):
                yield source, number, "braces on one side of else only"


@rule
def whitespace(tree):
    """No tabs, no blanks at line ends, no carriage returns, one newline at the end of a file."""
    for source in tree.files:
        if source.path.startswith("tests/") and source.suffix in (".txt", "") and "CMake" not in source.path:
            continue
        for number, line in enumerate(source.lines, 1):
            if line != line.rstrip() or ("\t" in line and not source.path.endswith("Makefile")):
                yield source, number, "tab, carriage return or blank at the end"
        if source.text and (not source.text.endswith("\n") or source.text.endswith("\n\n")):
            yield source, len(source.lines), "a file ends with exactly one newline"


@rule
def header_shape(tree):
    """A header opens with its purpose, then its include guard (the passes over tables, records_*.h, have none)."""
    for source in tree.c_files():
        if source.suffix != ".h":
            continue
        if not source.text.startswith("/*"):
            yield source, 1, "a header opens with a comment: purpose and contract"
        code = [line.strip() for line in source.code if line.strip()]
        if not TABLE_PASS.search(source.path) and not (len(code) > 1 and re.match(r"#ifndef \w+_H$", code[0])):
            yield source, 1, "no include guard"


@rule
def public_comments(tree):
    """Every public function has a full comment, /** ... */, right above it."""
    for source in tree.c_files("include/"):
        for number, line in enumerate(source.lines, 1):
            if re.match(r"PLIM_API\b.*\(", line) and not source.lines[number - 2].rstrip().endswith("*/"):
                yield source, number, "a public function without a comment"


@rule
def built_files(tree):
    """Every .c of src/ and cli/ is built: in its folder's CMakeLists.txt, or a row of table.def or commands.def."""
    for source in tree.c_files("src/") + tree.c_files("cli/"):
        name = source.path.rsplit("/", 1)[-1]
        if source.suffix != ".c":
            continue
        folder = source.path[:-len(name)]
        lists = tree.read(folder + "CMakeLists.txt")
        row = (folder == "src/probe/" and name[:-2] in probe_rows(tree)
               or folder == "cli/" and name[:-2] in command_files(tree))
        if not row and not (lists and re.search(r"(?<![\w/])" + re.escape(name) + r"\b", lists.text)):
            yield source, 1, f"{name} is not built by {folder}CMakeLists.txt"


def rows(tree, path, macro):
    """First columns of a table."""
    table = tree.read(path)
    return re.findall(rf"^{macro}\((\w+),", table.text, re.M) if table else []


def probe_rows(tree):
    return rows(tree, "src/probe/table.def", "PROBE")


def command_files(tree):
    return ["cmd_" + name for name in rows(tree, "cli/commands.def", "CMD")]


@rule
def probe_files(tree):
    """Every row of src/probe/table.def has its file, which defines pli_probe_<row>; and every such file has its row."""
    table, names = tree.read("src/probe/table.def"), probe_rows(tree)
    for name in names:
        source = tree.read(f"src/probe/{name}.c")
        if not source:
            yield table, 1, f"src/probe/{name}.c is missing"
        elif not re.search(rf"^const pli_probe pli_probe_{name}\b", source.text, re.M):
            yield source, 1, f"does not define pli_probe_{name}"
    for source in tree.c_files("src/probe/"):
        for name in re.findall(r"^const pli_probe pli_probe_(\w+)", source.text, re.M):
            if name not in names:
                yield source, 1, f"pli_probe_{name} has no row in table.def"


@rule
def machine_paths(tree):
    """Nothing names a place on somebody's machine, or a package registry's host."""
    place = re.compile(r"(?<![\w.$}])/(work|home/\w+|Users/\w+|root/\w+)/")
    host = re.compile(r"\b(pypi\.org|pythonhosted\.org|deb\.debian\.org|archive\.ubuntu\.com|registry\.npmjs\.org"
                      r"|proxy\.golang\.org|index\.crates\.io)\b")
    for source in tree.files:
        if source.path.startswith("tests/") and source.is_c or source.path in OWN:
            continue  # recorded machines in tests hold any path
        for number, line in enumerate(source.lines, 1):
            for found in (place.search(line), host.search(line)):
                if found:
                    yield source, number, f"{found[0]} is not everybody's"


@rule
def shared_data(tree):
    """Only tests and their scripts name ../shared, the data beside a checkout."""
    for source in tree.files:
        if source.path.startswith("tests/") or source.path in OWN + ("script/campaign",):
            continue
        for number, line in enumerate(source.lines, 1):
            if "../shared" in line:
                yield source, number, "../shared is for tests"


def main():
    parser = argparse.ArgumentParser(description="Checks the rules of the source tree.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--list", action="store_true", help="say what is checked")
    parser.add_argument("rules", nargs="*", metavar="RULE", help="only these")
    args = parser.parse_args()
    if args.list:
        for name, check in RULES.items():
            print(f"{name:18} {check.__doc__}")
        return 0
    unknown = set(args.rules) - set(RULES)
    if unknown:
        parser.error(f"no such rule: {', '.join(sorted(unknown))}")
    tree = Tree(args.root.resolve())
    found = [f"{source.path}:{number}: {name}: {what}"
             for name, check in RULES.items() if not args.rules or name in args.rules
             for source, number, what in check(tree)]
    print("\n".join(found) if found else f"{len(tree.files)} files, {len(args.rules or RULES)} rules: nothing to say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
