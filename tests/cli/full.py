#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command reports an error if it cannot write its standard output, as TAP: full.py SONDE GEN.

/dev/full: status 1 and "cannot write standard output: No space left on device", and no other cause in the message.
A closed standard output: the same with EBADF, and the output is not written to a file that got descriptor 1.
A pipe without a reader: ends without a message, by SIGPIPE, or with status 0 if SIGPIPE is ignored. A truncated
recording, however, is an error."""
import os
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE, GEN = (os.path.realpath(p) for p in sys.argv[1:3])
SMALL = "small.data"
TRACE = "trace.pt"  # PSB, PSBEND, TIP.PGE, TNT: a branch at an address without code
COMMANDS = [
    ["--help"], ["--version"], ["help"], ["help", "report"], ["record", "--help"], ["pt", "--help"],
    ["report", "-i", SMALL], ["report", "-i", SMALL, "--stats"], ["report", "-i", SMALL, "--stats", "--json"],
    ["report", "-i", SMALL, "--header"], ["report", "-i", SMALL, "--header-only"], ["report", "-i", SMALL, "-s", "sym"],
    ["report", "-i", SMALL, "--header-only", "--json"], ["report", "-i", SMALL, "--json"],
    ["script", "-i", SMALL], ["script", "-i", SMALL, "--header"], ["script", "-i", SMALL, "--header-only"],
    ["script", "-i", SMALL, "-D"],
    ["evlist", "-i", SMALL], ["evlist", "-i", SMALL, "-v"], ["evlist", "-i", SMALL, "--json"],
    ["buildid-list", "-i", SMALL], ["buildid-list", "-i", SMALL, "-H"], ["buildid-list", "-i", SONDE],
    ["list", "sw"], ["list", "--json", "hw"], ["doctor"], ["doctor", "--json"],
    ["dump", SMALL], ["dump", "--json", SMALL], ["dump", "--raw", SMALL],
    ["check", SMALL], ["check", "--json", SMALL],
    ["flamegraph", "-i", SMALL, "-o", "-"],
    ["convert", "-o", "-", SMALL], ["convert", "--to", "pipe", "-z", "-o", "-", SMALL], ["repair", "-o", "-", SMALL],
    ["test", "list"],
    ["pt", "dump", TRACE], ["pt", "flow", TRACE], ["pt", "flow", "--count", TRACE],
]
MEASURES = [["stat", "--log-fd", "1", "-e", "task-clock", "true"],
            ["stat", "--log-fd", "1", "-x,", "-I", "20", "-e", "task-clock", "sleep", "0.1"]]
FULL = "cannot write standard output: No space left on device"
BROKEN = "cannot write standard output: Broken pipe"
CLOSED = "cannot write standard output: Bad file descriptor"


def run(argv, before=None, stdout=None, **more):
    p = subprocess.run([SONDE, *argv], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                       timeout=60, preexec_fn=before, env={**os.environ, "HOME": os.getcwd(), "PAGER": "cat"}, **more)
    return p.returncode, p.stderr


def says(err, words):
    """Whether the messages have these words once, and name no other cause."""
    return err.count(words) == 1 and not any(w in err for w in ("memory", "no samples", "not be all", "is not all"))


def full(argv):
    with open("/dev/full", "w") as out:
        status, err = run(argv, stdout=out)
    result(status == 1 and says(err, FULL), f"{' '.join(argv)} >/dev/full: status 1 and the reason", f"{status}: {err}")


def closed(argv):
    before = {name: os.stat(name).st_size for name in os.listdir()}
    status, err = run(argv, before=lambda: os.close(1))
    result(status == 1 and says(err, CLOSED), f"{' '.join(argv)} >&-: status 1 and the reason", f"{status}: {err}")
    after = {name: os.stat(name).st_size for name in os.listdir()}
    result(before == after, f"{' '.join(argv)} >&-: no file changes", f"{before} {after}")


def gone(argv):
    for ignored in (False, True):
        r, w = os.pipe()
        os.close(r)
        what = signal.SIG_IGN if ignored else signal.SIG_DFL
        status, err = run(argv, before=lambda: signal.signal(signal.SIGPIPE, what), stdout=w, restore_signals=False)
        os.close(w)
        if ignored and argv[0] in ("convert", "repair"):  # a truncated recording is an error
            result(status == 1 and says(err, BROKEN), f"{' '.join(argv)} into a closed pipe, SIGPIPE ignored: status 1",
                   f"{status}: {err}")
            continue
        want = (0,) if ignored else (-signal.SIGPIPE,)
        if ignored and argv[:2] == ["pt", "flow"]:
            want = (0, 1)  # 1: the trace's own error
        result(status in want and "cannot write" not in err and "memory" not in err,
               f"{' '.join(argv)} into a closed pipe{', SIGPIPE ignored' if ignored else ''}: ends without a message",
               f"{status}: {err}")


def output_files():
    """Text for a closed standard output must not go to an output file, which may have got descriptor 1."""
    for argv, name in ((["convert", "-o", "copy.data", SMALL], "copy.data"),
                       (["flamegraph", "-i", SMALL, "-o", "page.html"], "page.html")):
        results = []
        for before in (None, lambda: os.close(1)):
            status, err = run(argv, before=before, stdout=None if before else subprocess.DEVNULL)
            results.append((status, err, open(name, "rb").read()))
            os.unlink(name)
        result(results[0] == results[1] and len(results[0][2]) > 100,
               f"{' '.join(argv)} >&-: the same file and messages as without",
               f"{[r[:2] for r in results]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([GEN, "-n", "2000", "-p", "2", "-t", "2", "-o", SMALL], check=True, stderr=subprocess.DEVNULL)
        with open(TRACE, "wb") as f:
            f.write(bytes([0x02, 0x82] * 8 + [0x02, 0x23, 0x71]) + struct.pack("<Q", 0x401000)[:6] + bytes([0x06]))
        for argv in COMMANDS:
            with open("out.txt", "wb") as out:
                status, err = run(argv, stdout=out)
            size = os.path.getsize("out.txt")
            result(size > 0, f"{' '.join(argv)}: prints something", f"{status}: {err}")
            full(argv)
            closed(argv)
            gone(argv)
        for argv in MEASURES:
            full(argv)
        output_files()
        os.chdir("/")
    return tap.end()


sys.exit(main())
