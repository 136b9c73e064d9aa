#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sonde stat` beside perf: what is equal, and the differences of doc/differences.md, as TAP: known.py SONDE."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])


def run(tool, *argv):
    p = subprocess.run([tool, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=60, env={**os.environ, "LC_ALL": "C"})
    return p.returncode, p.stdout, p.stderr


def events(text):
    """Event names of the rows of `-x,` output, in order."""
    return [line.split(",")[2] for line in text.splitlines() if line.count(",") >= 5]


def order():
    """Rows of a pattern are in perf's order, which is the order of the folder's entries."""
    for pattern in ("sched:*", "t*:*", "sched:sched_s*,timer:*"):
        want, got = (run(tool, "stat", "-x,", "-e", pattern, "true") for tool in ("perf", SONDE))
        if want[0] != 0 or len(events(want[2])) < 3:
            print(f"# {pattern}: perf cannot count it here")
            continue
        result(events(want[2]) == events(got[2]), f"-e '{pattern}': {len(events(want[2]))} rows in perf's order",
               f"{events(want[2])}\n{events(got[2])}")


def statuses():
    for words, ours in ((["true"], 0), (["false"], 1), (["sh", "-c", "exit 7"], 7)):
        want, got = (run(tool, "stat", "-I", "1000", "-e", "cs", *words) for tool in ("perf", SONDE))
        result((want[0], got[0]) == (0, ours), f"-I, {' '.join(words)}: perf exits with 0, Sonde with the command's status",
               f"{want[0]} {got[0]}")


def refused():
    want, got = (run(tool, "stat", "-c", "-e", "cs", "true") for tool in ("perf", SONDE))
    result(want[0] == got[0] == 129 and "unknown" in got[2], "-c: not an option, as in perf", got[2])
    want, got = (run(tool, "stat", "--td-level", "1", "-e", "cs", "true") for tool in ("perf", SONDE))
    result((want[0], got[0]) == (0, 129) and "--topdown" in got[2] and "seconds time" in want[2],
           "--td-level without --topdown: perf ignores it, Sonde refuses it", f"{want} {got}")


def cgroups():
    before, behind = (["stat", "-a", "-x,", *words, "sleep", "0.01"]
                      for words in (["-G", "/", "-e", "cs"], ["-e", "cs", "-G", "/"]))
    good = run("perf", *behind)
    if good[0] != 0 or "not supported" in good[2]:
        print("# no cgroups of perf events here")
        return
    want, got = run("perf", *before), run(SONDE, *before)
    shape = [re.sub(r"[\d.]+", "N", run(SONDE, *w)[2]) for w in (before, behind)]
    result(want[0] == 129 and got[0] == 0 and shape[0] == shape[1] and ",/," in shape[0],
           "-G before -e: perf refuses it, Sonde counts as with -G after -e", f"{want} {got} {shape}")


def main():
    if shutil.which("perf") is None or not run("perf", "version")[1].startswith("perf version 6.1"):
        print("1..0 # SKIP perf 6.1 is not installed")
        return 0
    order()
    statuses()
    refused()
    cgroups()
    return tap.end()


sys.exit(main())
