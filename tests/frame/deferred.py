#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chains whose user part the kernel recorded later, as TAP: deferred.py SONDE PROGRAM.

Each recording is written twice: with deferred parts, and with whole chains. Sonde prints the same of both, and of
the second what the installed perf prints (perf 6.1 does not know deferred chains).
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from recording import CALLCHAIN, CONTEXT_USER, KERNEL, USER, USUAL, Event, Recording  # noqa: E402

SONDE, PROGRAM = (os.path.realpath(p) for p in sys.argv[1:3])
CONTEXT_KERNEL, CONTEXT_DEFERRED = 2**64 - 128, 2**64 - 640
CALLCHAIN_DEFERRED = 22
DEFER_CALLCHAIN = 1 << 38  # attr.defer_callchain
# No process can have these ids: perf looks for objects where the process of a sample sees them.
PID, OTHER = 5000007, 5000008
START = 0  # user addresses are offsets in the file, so that perf's relative ones are the same
KERNEL_START = 0xffffffff81000000
SCRIPT = ["script", "-F", "comm,tid,time,ip,sym,dso"]
COMMANDS = [
    SCRIPT,
    SCRIPT + ["--max-stack", "4"],
    ["report", "--stdio", "-n"],
    ["report", "--stdio", "-n", "--no-children", "-g", "caller"],
    ["report", "--stdio", "-n", "--no-children", "-g", "callee", "--max-stack", "4"],
]


class Pair:
    """The same samples as they are recorded with deferred chains, and with whole ones."""

    def __init__(self):
        self.both = [Recording([Event(1, 0, sample_type=USUAL | CALLCHAIN, flags=flags)]) for flags in (DEFER_CALLCHAIN, 0)]
        for r in self.both:
            r.comm(0, "prog", PID)
            r.comm(0, "other", PID, OTHER)
            r.mmap(0, -1, KERNEL_START, 0x1000000, "[kernel.kallsyms]_text", KERNEL_START, KERNEL)
            r.mmap(0, PID, 0x1000, 0xf000, PROGRAM, 0x1000)
            r.finished_round()

    def sample(self, time, tid, cookie, kernel, user):
        """user: what the record with the cookie has; (): there is none."""
        kernel = [CONTEXT_KERNEL] + [KERNEL_START + k for k in kernel]
        whole = kernel + ([CONTEXT_USER] + [START + u for u in user] if user else [])
        for r, chain in zip(self.both, (kernel + [CONTEXT_DEFERRED, cookie], whole)):
            r.sample(time, kernel[1], PID, tid, KERNEL, chain=chain)

    def user_sample(self, time, tid, user):
        """A sample in user space has its own chain."""
        for r in self.both:
            r.sample(time, START + user[0], PID, tid, USER, chain=[CONTEXT_USER] + [START + u for u in user])

    def record(self, time, tid, cookie, user, claimed=None):
        words = [CONTEXT_USER] + [START + u for u in user]
        body = struct.pack(f"<QQ{len(words)}Q", cookie, len(words) if claimed is None else claimed, *words)
        self.both[0].record(CALLCHAIN_DEFERRED, 0, body + self.both[0].trailer(time, PID, tid))

    def write(self, folder):
        paths = [os.path.join(folder, name) for name in ("deferred.data", "whole.data")]
        for r, path in zip(self.both, paths):
            r.write(path)
        return paths


def several():
    p = Pair()
    p.sample(1000, PID, 1, [0x10, 0x20], [0x1500, 0x1600, 0x1700])  # two in one system call
    p.sample(2000, PID, 1, [0x30, 0x20], [0x1500, 0x1600, 0x1700])
    p.record(3000, PID, 1, [0x1500, 0x1600, 0x1700])
    p.user_sample(4000, PID, [0x1550, 0x1600, 0x1700])
    p.sample(5000, PID, 2, [0x10], [0x1900, 0x1a00])
    p.sample(5500, OTHER, 2, [0x40], [0x1b00])  # the same cookie of another thread
    p.record(6000, PID, 2, [0x1900, 0x1a00])
    p.record(6500, OTHER, 2, [0x1b00])
    p.sample(7000, PID, 1, [0x10], [0x1c00])  # a cookie that was there before
    p.record(8000, PID, 1, [0x1c00])
    p.both[0].finished_round()
    p.both[1].finished_round()
    return p


def late():
    """The thread never returned to user space, or the recording ended before; or the record is damaged."""
    p = Pair()
    p.sample(1000, PID, 1, [0x10, 0x20], [0x1500])
    p.record(2000, PID, 1, [0x1500])
    p.sample(3000, PID, 1, [0x10, 0x50], ())
    p.sample(4000, OTHER, 3, [0x60, 0x50], ())
    return p


def cut():
    p = Pair()
    p.sample(1000, PID, 1, [0x10, 0x20], ())
    p.record(2000, PID, 1, [0x1500], claimed=1 << 61)
    p.sample(3000, OTHER, 1, [0x10, 0x20], [0x1500])
    p.record(4000, OTHER, 1, [0x1500])
    return p


def data():
    """The unwinder ran into data that looks like the mark, of an event without deferred chains: once last, once before a word."""
    p = Pair()
    for time in range(1000, 9000, 1000):
        p.user_sample(time, PID, [0x1550, 0x1600, 0x1700])
    for time, chain in (10000, [CONTEXT_USER, 0x1550, 0x20000019, CONTEXT_DEFERRED]), (11000, [CONTEXT_USER, 0x1550, CONTEXT_DEFERRED, 7]):
        p.both[1].sample(time, START + 0x1550, PID, PID, USER, chain=chain)
    return p


def text(tool, command, path):
    done = subprocess.run([tool, *command, "-i", path], capture_output=True, text=True, check=False)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines() if not line.startswith("# (Tip")]
    return done.returncode, [line for line in lines if line], done.stderr


def plain(lines):
    """Without objects, and without symbols of the kernel, which is whichever runs."""
    return [line.split()[0] if line.startswith("ffffffff") else line.split(" (")[0] for line in lines]


def main():
    pairs = {"several": several, "no record": late}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, LC_ALL="C", DEBUGINFOD_URLS="", SONDE_CACHE="")
        for name, make in pairs.items():
            deferred, whole = make().write(folder)
            for command in COMMANDS:
                what = f"{name}: {' '.join(command)} is as with whole chains"
                mine, expected = text(SONDE, command, deferred), text(SONDE, command, whole)
                tap.result(mine[:2] == expected[:2] and len(mine[1]) > 8, what, mine[2], *mine[1], "whole:", *expected[1])
                if shutil.which("perf") is None:
                    tap.skip(what.replace("with whole chains", "perf prints it"), "perf is not installed")
                elif command[0] == "script":  # reports name the file's number of samples and events the same way
                    perf = plain(text("perf", command, whole)[1])
                    tap.result(plain(mine[1]) == perf, what.replace("with whole chains", "perf prints it"), *plain(mine[1]), "perf:", *perf)
        _, path = data().write(folder)
        for command in COMMANDS:
            what = f"data that looks like the mark of a deferred chain: {' '.join(command)}: the chain is ignored, as by perf"
            if shutil.which("perf") is None:
                tap.skip(what, "perf is not installed")
            else:
                mine, perf = (text(tool, command, path) for tool in (SONDE, "perf"))
                tap.result(mine[1] == perf[1] != [], what, mine[2], *mine[1], "perf:", *perf[1])
        deferred, whole = cut().write(folder)
        status, lines, said = text(SONDE, SCRIPT, deferred)
        tap.result(lines == text(SONDE, SCRIPT, whole)[1] and "CALLCHAIN_DEFERRED record is cut short" in said,
                   "a deferred chain cut short is reported, and samples keep their own part", said, *lines)
    sys.exit(tap.end())


main()
