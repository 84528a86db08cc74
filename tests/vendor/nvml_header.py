#!/usr/bin/env python3
"""Hold our declarations of NVML against NVIDIA's nvml.h, which pip brings (package nvidia-nvml-dev).

    nvml_header.py COMPILER SOURCE_DIR FOLDER    FOLDER keeps the header from one run to the next

Exit status 77, with a word why, where the header cannot be had.
"""
import glob
import os
import shutil
import subprocess
import sys
import zipfile

SKIP = 77
PACKAGE = "nvidia-nvml-dev"


def pip():
    """A pip that works, as a command; None without one."""
    for command in ([sys.executable, "-m", "pip"], ["pip3"], ["python3", "-m", "pip"]):
        if shutil.which(command[0]) and subprocess.run(command + ["--version"], capture_output=True).returncode == 0:
            return command
    return None


def header(folder):
    """Folder that holds nvml.h, and why there is none."""
    pattern = os.path.join(folder, "**", "nvml.h")
    if not glob.glob(pattern, recursive=True):
        command = pip()
        if not command:
            return None, "no pip here"
        os.makedirs(folder, exist_ok=True)
        try:
            got = subprocess.run(command + ["download", "-q", "--no-deps", "--disable-pip-version-check", "-d", folder,
                                            PACKAGE], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return None, "pip takes too long"
        if got.returncode:
            return None, "pip cannot get " + PACKAGE
        for wheel in glob.glob(os.path.join(folder, "*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [n for n in archive.namelist() if n.endswith("nvml.h")])
            os.remove(wheel)
    found = glob.glob(pattern, recursive=True)
    return (os.path.dirname(found[0]), None) if found else (None, PACKAGE + " holds no nvml.h")


def main():
    compiler, source, folder = sys.argv[1:]
    place, why = header(folder)
    if not place:
        print("skipped:", why)
        return SKIP
    return subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations",
                           "-Wno-strict-prototypes", "-fsyntax-only", "-I", os.path.join(source, "src"), "-I",
                           os.path.join(source, "include"), "-isystem", place,
                           os.path.join(source, "tests", "vendor", "nvml_header.c")]).returncode


if __name__ == "__main__":
    sys.exit(main())
