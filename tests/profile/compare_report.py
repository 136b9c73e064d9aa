#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `sonde report -n` with `perf report --stdio -n`, as multisets of (row, graph lines).

usage: compare_report.py [--rows] [--show N] SONDE FILE...

Order among equal rows is free. Exit status 1 when something differs; 77 without perf. --rows leaves
call graphs out of the comparison.
"""
import argparse
import collections
import difflib
import re
import shutil
import subprocess
import sys

SETS = {
    1: [],
    2: ["--no-children"],
    3: ["--no-children", "-g", "none"],
    4: ["-s", "comm"],
    5: ["-s", "dso"],
    6: ["-s", "sym"],
    7: ["-s", "comm,dso"],
    8: ["-s", "pid,sym"],
    9: ["-s", "cpu"],
    20: ["-s", "sym,dso", "--percent-limit", "1"],
    21: ["-g", "caller"],
    27: ["-G"],
    38: ["--show-total-period"],
    40: ["--max-stack", "2"],
    46: ["--stats"],
}
# With -s sym perf lists a symbol in several rows now and then (doc/differences.md).
SYMBOL = re.compile(r"^ +[ \d.%]* (\d+)  (\[[.k]\] .*?) *$")
NAMELESS = re.compile(r"\[[.k]\] (0x)?[0-9a-f]{16}$")
ROW = re.compile(r"^ +\d+\.\d\d%")


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.stdout.decode("utf-8", "replace")


def rows(text, with_graph):
    """The multiset of (section, row with its graph); comment lines but for the tip are rows too."""
    out = collections.Counter()
    section = ""
    block = []
    for line in text.split("\n"):
        if line.startswith("#"):
            if block:
                out[(section, "\n".join(block).rstrip())] += 1
                block = []
            if line.startswith("# (Tip"):
                continue
            if " of event " in line:
                section = line
            line = "" if line == "#" else line
            if line:
                out[(section, line)] += 1
            continue
        if ROW.match(line):
            if block:
                out[(section, "\n".join(block).rstrip())] += 1
            block = [line]
        elif not block:
            out[(section, line)] += 1
        elif with_graph:
            block.append(line)
    if block:
        out[(section, "\n".join(block).rstrip())] += 1
    return out


def symbol_row(text):
    """Samples and symbol of a row of `-s sym`; None when it is none. Of an address without a name the same
    may stand under user and kernel level: only the address counts."""
    row = SYMBOL.match(text.split("\n")[0])
    if row is None:
        return None
    name = row.group(2)
    return int(row.group(1)), name[4:] if NAMELESS.match(name) else name


def join_split(counted, split):
    """Rows of `-s sym` whose symbol is in split: without their graphs, samples added up."""
    out = collections.Counter()
    for (section, text), n in counted.items():
        row = symbol_row(text)
        if row and (section, row[1]) in split:
            out[(section, row[1])] += n * row[0]
        else:
            out[(section, text)] += n
    return out


def split_symbols(counted):
    """Symbols that have several rows."""
    seen = collections.Counter()
    for (section, text), n in counted.items():
        row = symbol_row(text)
        if row:
            seen[(section, row[1])] += n
    return {symbol for symbol, n in seen.items() if n > 1}


def show_difference(missing, extra, most):
    """Rows that only one has; of a row that both have with different graphs, the lines that differ."""
    others = {text.split("\n")[0]: text for _, text in extra}
    for _, text in list(missing)[:most]:
        other = others.pop(text.split("\n")[0], None)
        if other is None:
            print(f"#   only perf: {text}")
        else:
            print("#   graphs differ: " + text.split("\n")[0])
            for line in difflib.unified_diff(text.split("\n"), other.split("\n"), "perf", "sonde", n=2, lineterm=""):
                print(f"#   {line}")
    for text in list(others.values())[:most]:
        print(f"#   only sonde: {text}")


def compare(sonde, path, words, args):
    want = rows(run(["perf", "report", "--stdio", "-n", "-i", path] + words), not args.rows)
    got = rows(run([sonde] + args.command + ["-n", "-i", path] + words), not args.rows)
    if words == SETS[6]:
        split = split_symbols(want)
        want, got = join_split(want, split), join_split(got, split)
    missing, extra = want - got, got - want
    show_difference(missing, extra, args.show)
    return sum(want.values()), sum(missing.values()), sum(extra.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--sets", default="1,2,3,4,5,6,7")
    parser.add_argument("--bare", dest="command", action="store_const", const=[], default=["report"],
                        help="SONDE is the report command itself")
    parser.add_argument("sonde")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 77
    bad = 0
    number = 0
    for path in args.files:
        for name in map(int, args.sets.split(",")):
            number += 1
            total, missing, extra = compare(args.sonde, path, SETS[name], args)
            good = missing == 0 and extra == 0
            bad += not good
            print(f"{'' if good else 'not '}ok {number} - {path.split('/')[-1]} set {name}: "
                  f"{total} rows, {missing} missing, {extra} extra", flush=True)
    print(f"1..{number}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
