#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No kernel address of a recording in $SONDE_CORPUS has a name, as their kernels do not run here, as TAP:
foreign.py SONDE. A recording whose header has the release of the running kernel is skipped."""
import concurrent.futures
import csv
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
KERNEL = re.compile(r"\((\[kernel[^)]*|\[guest\.kernel[^)]*|[^()]*\.ko[^)]*|[^()]*vmlinux[^)]*)\)$")


def kernel_lines(path, home):
    """(kernel lines with a function's name, number of kernel lines); None: the release is that of the running kernel"""
    env = dict(os.environ, HOME=home, SONDE_CACHE="")
    header = subprocess.run([SONDE, "report", "--header-only", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            env=env, check=False).stdout.decode("utf-8", "replace")
    if os.uname().release in header:
        return None
    text = subprocess.run([SONDE, "script", "-i", path, "-F", "ip,sym,dso", "--no-itrace"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=env, check=False).stdout.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if KERNEL.search(line)]
    return [line for line in lines if "[unknown] (" not in line], len(lines)


def main():
    corpus = os.environ.get("SONDE_CORPUS")
    if not corpus:
        print("1..0 # SKIP SONDE_CORPUS names no folder of recordings")
        return 0
    with open(os.path.join(corpus, "INDEX.tsv"), encoding="utf-8") as f:
        names = [row["path"] for row in csv.DictReader(f, delimiter="\t")]
    paths = [name for name in names if os.path.exists(os.path.join(corpus, name))]
    with tempfile.TemporaryDirectory() as home, concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: kernel_lines(os.path.join(corpus, name), home), paths))
    files = lines = 0
    for name, result in zip(paths, found):
        if result is None:
            tap.skip(f"{name}: kernel addresses have no name", "its kernel has the release of this one")
        elif result[1] != 0:
            tap.result(not result[0], f"{name}: kernel addresses have no name", *result[0])
            files += 1
            lines += result[1]
    tap.result(files >= 20 and lines >= 1000, "many recordings have kernel addresses", files, lines)
    return tap.end()


sys.exit(main())
