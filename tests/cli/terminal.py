#!/usr/bin/env python3
"""terminal.py PLIMSOLL: on a terminal lines fit its width, and UTF-8 and colour appear where it has them."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import sys
import termios

FOLDER = pathlib.Path(__file__).resolve().parent
ESCAPE = re.compile("\x1b\\[[0-9]+m")


def shown(plimsoll, columns, **environment):
    """What a terminal of this width gets."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(FOLDER)
        kept = {k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_"))}
        # The width is set before the program starts, not while it runs.
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(plimsoll, [plimsoll, "--machine", "workstation.json"], {**kept, **environment})
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    return text.decode().replace("\r\n", "\n")


def has_terminals():
    """A chroot without /dev/pts has none."""
    try:
        for end in pty.openpty():
            os.close(end)
        return True
    except OSError:
        return False


def main():
    if not has_terminals():
        print("skipped: this system has no pseudo-terminals")
        return 77
    plimsoll = os.path.abspath(sys.argv[1])
    rich = {"TERM": "xterm", "LANG": "C.UTF-8"}

    text = shown(plimsoll, 72, **rich)
    assert ESCAPE.search(text), "no colour on a terminal"
    assert "\u2013" in text, "an unknown figure is no en dash"
    wide = [line for line in ESCAPE.sub("", text).splitlines() if len(line) > 72]
    assert not wide, wide

    plain = shown(plimsoll, 72, **rich, NO_COLOR="1")
    assert plain == ESCAPE.sub("", text), "NO_COLOR changes more than the colour"
    assert not ESCAPE.search(shown(plimsoll, 72, LANG="C.UTF-8", TERM="dumb")), "colour on a dumb terminal"
    assert shown(plimsoll, 72, TERM="xterm", LANG="C").isascii(), "UTF-8 in a locale without it"
    assert shown(plimsoll, 72, TERM="xterm", LC_ALL="C", LANG="de_DE.UTF-8").isascii(), "LC_ALL comes first"
    assert "nvidia 560.35.03" in shown(plimsoll, 200, **rich), "cut where there is room"
    assert max(map(len, ESCAPE.sub("", shown(plimsoll, 200, **rich, COLUMNS="60")).splitlines())) <= 60, "COLUMNS"
    return 0


if __name__ == "__main__":
    sys.exit(main())
