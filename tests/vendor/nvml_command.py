#!/usr/bin/env python3
"""The command in front of a driver that misbehaves: it ends in time, its output is its own, the PCI devices are listed.

    nvml_command.py PLIMSOLL FAKES    FAKES/nvml/libnvidia-ml.so.1 is the library of tests/fakes

A folder with two GPUs is mounted over /sys/bus/pci/devices, in a mount namespace of its own; exit status 77, with a
word why, where that is not allowed.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77
SLACK = 5.0  # seconds that all the rest may take on a busy machine
PCI = "/sys/bus/pci/devices"
GPUS = ["0000:0e:00.0", "0000:15:00.0"]
H100 = 81559 << 20


def bus(folder):
    for address in GPUS:
        place = folder / address
        place.mkdir()
        (place / "uevent").write_text("DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SUBSYS_ID=10DE:16C1\n"
                                      f"PCI_SLOT_NAME={address}\n")


def unshare():
    """The command that makes a mount namespace here; None where there is no way."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            tried = subprocess.run(command + ["mount", "--bind", str(TREE), PCI], capture_output=True)
        except FileNotFoundError:
            return None
        if tried.returncode == 0:
            return command
    return None


def environment(machine, fault):
    return dict(os.environ, LD_LIBRARY_PATH=str(FAKES / "nvml"), FAKE_NVML=machine, FAKE_NVML_FAULT=fault)


def deadline(fault):
    """Seconds that the command gives the library: few only where it will not answer at all."""
    return 1 if "hang" in fault else 20


def run(*args, machine="h100x8", fault="", **more):
    """The command on the two GPUs. Returns what subprocess.run() does, and the seconds it took."""
    script = f'mount --bind "{TREE}" {PCI} && exec "$@"'
    start = time.monotonic()
    got = subprocess.run(UNSHARE + ["sh", "-c", script, "sh", str(PLIMSOLL), *args, "--timeout", str(deadline(fault))],
                         capture_output=True, timeout=60, env=environment(machine, fault), **more)
    return got, time.monotonic() - start


class Command(unittest.TestCase):
    def look(self, fault, **more):
        got, seconds = run("show", "--json", fault=fault, **more)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(got.stderr, b"")
        self.assertLess(seconds, deadline(fault) + SLACK)
        document = json.loads(got.stdout)
        self.assertEqual([d["pci"]["address"] for d in document["devices"]][:2], GPUS)
        return document

    def notes(self, document):
        return " ".join(f'{n.get("subject")}: {n["text"]}' for n in document["notes"])

    def healthy(self, document):
        for device in document["devices"][:2]:
            self.assertEqual(device["memory"]["total_bytes"], H100)

    def test_healthy(self):
        document = self.look("")
        self.healthy(document)
        self.assertEqual(document["notes"], [])

    def test_output_of_the_library_is_dropped(self):
        symbols = ["nvmlInit_v2", "nvmlDeviceGetName", "nvmlShutdown"]
        self.healthy(self.look(",".join("print:" + s for s in symbols)))

    def test_a_grandchild_keeps_every_descriptor(self):
        self.healthy(self.look("fork:nvmlInit_v2"))

    def test_a_grandchild_and_a_crash(self):
        self.assertIn("signal 11", self.notes(self.look("fork:nvmlInit_v2,crash:nvmlShutdown")))

    def test_hang(self):
        for symbol in ("nvmlInit_v2", "nvmlDeviceGetMemoryInfo_v2"):
            self.assertIn(symbol + ": did not answer", self.notes(self.look("hang:" + symbol)))

    def test_crash_and_exit(self):
        self.assertIn("nvmlInit_v2: crashed with signal 11", self.notes(self.look("crash:nvmlInit_v2")))
        self.assertIn("nvmlInit_v2: ended the process with status 3", self.notes(self.look("exit:nvmlInit_v2")))

    def test_text_ends_too(self):
        got, seconds = run("show", fault="hang:nvmlInit_v2")
        self.assertEqual(got.returncode, 0)
        self.assertLess(seconds, 1 + SLACK)
        self.assertIn(b"H100", got.stdout)

    def test_signals_of_the_caller(self):
        """Blocked and ignored ones are inherited; with SIGCHLD ignored a parent has no children to wait for."""
        def unfriendly():
            signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
            for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGALRM):
                signal.signal(number, signal.SIG_IGN)
        self.healthy(self.look("", preexec_fn=unfriendly))
        for fault, words in (("hang:nvmlInit_v2", "did not answer"), ("crash:nvmlInit_v2", "nvmlInit_v2")):
            self.assertIn(words, self.notes(self.look(fault, preexec_fn=unfriendly)))

    def test_closed_descriptors(self):
        """The first descriptors that are opened are then 0, 1 and 2, the pipe's among them."""
        with tempfile.TemporaryDirectory() as folder:
            for closed in ("<&-", "2>&-", "<&- 2>&-"):
                for fault in ("", "hang:nvmlInit_v2", "print:nvmlInit_v2"):
                    out = pathlib.Path(folder) / "out"
                    script = f'mount --bind "{TREE}" {PCI} && exec "$@" >"{out}" {closed}'
                    start = time.monotonic()
                    got = subprocess.run(UNSHARE + ["sh", "-c", script, "sh", str(PLIMSOLL), "show", "--json",
                                                    "--timeout", str(deadline(fault))],
                                         timeout=60, env=environment("h100x8", fault))
                    self.assertLess(time.monotonic() - start, deadline(fault) + SLACK)
                    self.assertEqual(got.returncode, 0)
                    self.assertEqual(len(json.loads(out.read_text())["devices"][:2]), 2)
            script = f'mount --bind "{TREE}" {PCI} && exec "$@" <&- >&- 2>&-'
            subprocess.run(UNSHARE + ["sh", "-c", script, "sh", str(PLIMSOLL), "show", "--json"],
                           timeout=60, env=environment("h100x8", "print:nvmlInit_v2"))

    def test_a_capture_shows_the_same_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            faults = ("", "rc18:nvmlInit_v2", "rc15:nvmlDeviceGetName:1", "hang:nvmlDeviceGetName")
            for number, fault in enumerate(faults):
                recording = pathlib.Path(folder) / f"{number}.machine"
                got, _ = run("capture", str(recording), "--json", fault=fault)
                self.assertEqual(got.returncode, 0, got.stderr)
                again = subprocess.run([str(PLIMSOLL), "show", "--machine", str(recording), "--json"],
                                       capture_output=True, check=True).stdout
                documents = [json.loads(got.stdout), json.loads(again)]
                for document in documents:
                    for key in ("timing", "captured_at"):
                        document.pop(key, None)
                    for device in document["devices"]:
                        device.pop("uuid", None)  # hashed in the file
                self.assertEqual(*documents)

    def test_no_library_without_a_device(self):
        """The real bus of this machine; the loader tells what it looks for."""
        if any((p / "vendor").read_text().strip() == "0x10de" for p in pathlib.Path(PCI).glob("*")) or \
                pathlib.Path("/proc/driver/nvidia").exists():
            self.skipTest("there is an NVIDIA device here")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([str(PLIMSOLL), "show", "--json"], capture_output=True, check=True,
                           env=dict(environment("h100", ""), LD_DEBUG="libs", LD_DEBUG_OUTPUT=folder + "/ld"))
            looked = "".join(p.read_text() for p in pathlib.Path(folder).glob("ld*"))
            self.assertIn("libc.so", looked)
            self.assertNotIn("libnvidia-ml", looked)


if __name__ == "__main__":
    PLIMSOLL, FAKES = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as tree:
        TREE = pathlib.Path(tree)
        bus(TREE)
        UNSHARE = unshare() if os.path.isdir(PCI) else None
        if not UNSHARE:
            print("skipped: no mount namespace over", PCI)
            sys.exit(SKIP)
        unittest.main(argv=sys.argv[:1])
