#!/usr/bin/env python3
"""dlopen_note.py LIBRARY LIBS_DEF: the ELF notes tell packagers which libraries may be loaded, one for each
row of libs.def (https://uapi-group.org/specifications/specs/elf_dlopen_metadata/)."""
import json
import re
import struct
import sys

NOTE_TYPE = 0x407C0C0A
SKIP = 77


def section(elf, wanted):
    """Content of a section of a 64-bit ELF file, or None."""
    order = "<" if elf[5] == 1 else ">"
    offset, = struct.unpack_from(order + "Q", elf, 40)
    size, count, names = struct.unpack_from(order + "HHH", elf, 58)
    headers = [struct.unpack_from(order + "IIQQQQ", elf, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, at, length in headers:
        end = elf.index(b"\0", strings + name)
        if elf[strings + name:end].decode() == wanted:
            return order, elf[at:at + length]
    return order, None


def notes(order, content):
    at = 0
    while at < len(content):
        owner_size, size, kind = struct.unpack_from(order + "III", content, at)
        at += 12
        owner = content[at:at + owner_size]
        at += (owner_size + 3) // 4 * 4
        text = content[at:at + size]
        at += (size + 3) // 4 * 4
        assert (owner, kind) == (b"FDO\0", NOTE_TYPE), (owner, kind)
        yield from json.loads(text.rstrip(b"\0"))


def main():
    library, table = sys.argv[1:]
    with open(library, "rb") as file:
        elf = file.read()
    if elf[:5] != b"\x7fELF\x02":
        print("skipped: no 64-bit ELF file")
        return SKIP
    with open(table, encoding="utf-8") as file:
        rows = re.findall(r'^LIB\((\w+), (\w+),\s*"([^"]*)",\s*SONAMES\(([^)]*)\)', file.read(), re.M)
    expected = [{"feature": name, "description": why, "priority": priority, "soname": re.findall(r'"([^"]+)"', sonames)}
                for name, priority, why, sonames in rows]
    order, content = section(elf, ".note.dlopen")
    assert rows and content, "no rows, or no section .note.dlopen"
    found = list(notes(order, content))
    assert found == expected, f"{found} is not {expected}"
    print(f"{len(found)} libraries are noted")
    return 0


sys.exit(main())
