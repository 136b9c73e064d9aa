#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `sonde script` with the installed `perf script` on one recording.

usage: compare_script.py [--sonde PATH] [--perf PATH] [--sets 1,2,30] FILE...

Rules: ids are wider by 2 (doc/differences.md), so a line may have up to 4 blanks more than perf's, where perf has a
blank or at the beginning; after the text of data_src it may have fewer. All other blanks are compared. perf 6.1 shows
user frames of call chains as file offsets, newer releases as addresses: such a line agrees if address - start +
offset of the mapping with the address is perf's number, and the rest of the line is equal. Prints a line for each
set; the exit status is 1 if any differs, 77 without perf.
"""
import argparse
import bisect
import itertools
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "corpus"))
import plt_names  # noqa: E402

SETS = {
    1: [],
    2: ["-F", "comm,tid,time,event,ip,sym"],
    3: ["-F", "comm,pid,tid,cpu,time,period,event"],
    4: ["-F", "ip,sym,symoff,dso"],
    5: ["-F", "+symoff"],
    6: ["-F", "-ip"],
    14: ["-F", "misc,comm,tid"],
    16: ["--ns"],
    17: ["--reltime"],
    18: ["--deltatime"],
    19: ["--time", "10%-20%"],
    26: ["--show-task-events", "--show-namespace-events"],
    27: ["--show-switch-events", "--show-lost-events", "--show-round-events"],
    28: ["--max-stack", "3"],
    30: ["--header"],
    31: ["-G"],
    36: ["--show-bpf-events", "--show-text-poke-events", "--show-cgroup-events", "-F", "+misc"],
    40: ["-F", "addr"],
    41: ["-F", "addr,sym,symoff,dso"],
    42: ["-F", "ip,addr,sym,dso"],
    43: ["-F", "addr,data_src,weight"],
    44: ["-F", "ip,iregs"],
    45: ["-F", "ip,uregs"],
}
WIDER = 4
DATA_SRC = re.compile(rb"(\|OP [^|]*\|.*?\|BLK  N/A) +")
FRAME = re.compile(rb"^\t *([0-9a-f]+)(.*)$", re.S)
MMAP = re.compile(
    rb"PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)"
)


class Mappings:
    """File offsets of an address by the mappings of a recording."""

    def __init__(self, perf, path):
        text = subprocess.run(
            [perf, "script", "--show-mmap-events", "-F", "comm,pid", "-i", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        ).stdout
        self.ranges = set()
        for pid, start, size, pgoff in MMAP.findall(text):
            begin = int(start, 16)
            self.ranges.add((begin, begin + int(size, 16), int(pgoff, 16)))
        self.ranges = sorted(self.ranges)
        self.starts = [r[0] for r in self.ranges]
        self.longest = max((r[1] - r[0] for r in self.ranges), default=0)
        self.known = {}

    def offsets(self, address):
        if address not in self.known:
            found = set()
            last = bisect.bisect_right(self.starts, address)
            for start, end, pgoff in reversed(self.ranges[:last]):
                if address - start > self.longest:
                    break
                if address < end:
                    found.add(address - start + pgoff)
            self.known[address] = found
        return self.known[address]


def plt_differs(perf, sonde, path):
    """Whether an entry of a PLT has another name in perf: reports of such a recording cannot be the same."""
    outs = [[b"\n".join(run([command, "script", *words, "-F", "ip,sym,dso"], path)[1]).decode(errors="replace")
             for command in (perf, sonde)] for words in ([], ["-G"])]
    return bool(plt_names.Names(outs).names)


def with_plt_of(sonde_line, perf_line):
    """perf's line with Sonde's names of PLT entries."""
    lines = (line.decode("utf-8", "surrogateescape") for line in (perf_line, sonde_line))
    return plt_names.with_ours(*lines).encode("utf-8", "surrogateescape")


def is_wider(perf_line, sonde_line):
    """Whether sonde's line is perf's with at most WIDER blanks more."""
    at, more = 0, 0
    for byte in sonde_line:
        if at < len(perf_line) and perf_line[at] == byte:
            at += 1
        elif byte == ord(" "):
            more += 1
        else:
            return False
    return at == len(perf_line) and more <= WIDER


def lines_agree(perf_line, sonde_line, mappings):
    perf_line = with_plt_of(sonde_line, perf_line)
    if perf_line == sonde_line:
        return True
    p, s = FRAME.match(perf_line), FRAME.match(sonde_line)
    if p is None or s is None:
        return is_wider(DATA_SRC.sub(rb"\1 ", perf_line), DATA_SRC.sub(rb"\1 ", sonde_line))
    if p.group(2) != s.group(2):
        return False
    if p.group(1) == s.group(1):
        return True
    return int(p.group(1), 16) in mappings.offsets(int(s.group(1), 16))


def run(command, path):
    done = subprocess.run(
        command + ["-i", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
    return done.returncode, done.stdout.split(b"\n"), done.stderr


def compare(args, number, path, mappings):
    """number: that of a set, or a list of options."""
    words = SETS[number] if isinstance(number, int) else number
    perf_rc, perf_lines, perf_err = run([args.perf, "script"] + words, path)
    sonde_rc, sonde_lines, sonde_err = run([args.sonde, "script"] + words, path)
    if perf_rc != 0 and sonde_rc != 0:
        print(f"{'ok' if sonde_err else 'not ok'} - set {number} {path}: both refuse")
        return bool(sonde_err)
    if (perf_rc == 0) != (sonde_rc == 0):
        print(f"not ok - set {number} {path}: exit {perf_rc} and {sonde_rc}: {sonde_err or perf_err}")
        return False
    if sonde_lines == [b""]:
        print(f"not ok - set {number} {path}: nothing is printed")
        return False
    for n, (p, s) in enumerate(itertools.zip_longest(perf_lines, sonde_lines, fillvalue=b""), 1):
        if not lines_agree(p, s, mappings):
            print(f"not ok - set {number} {path}: line {n}")
            print(f"#   perf  {p.decode(errors='replace')}")
            print(f"#   sonde {s.decode(errors='replace')}")
            return False
    print(f"ok - set {number} {path}: {len(sonde_lines)} lines")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sonde", default="sonde")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--sets", default="1,2,3,4,5,30,31,40,41,42,43,44,45")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if shutil.which(args.perf) is None:
        print("skip: there is no perf to compare with")
        return 77
    good = True
    for path in args.files:
        mappings = Mappings(args.perf, path)
        for number in args.sets.split(","):
            good = compare(args, int(number), path, mappings) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
