#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `sonde report -n` with `perf report --stdio -n`: rows with their graphs, and the order of the rows.

usage: compare_report.py [--rows] [--show N] SONDE FILE...

Only rows that are the same text may change places, and rows of the same share where perf has several rows of one
symbol (doc/differences.md: `report -s sym`). perf searches its trees of chains with an order that is none when
some addresses have no name, and now and then misses a branch that is there: the same function is in it twice, and
small parts fall below the limit. Rows for which perf shows that (with -g graph,0) are compared without their graphs
(doc/differences.md). Branches of the same share in different objects come in the order in which these lie in perf's
memory; where that changes with its environment, any order will do. The level, [k] or [.], of an address where nothing
is mapped is not compared either. Where an address of the upper half of all addresses has no name, as chains that end
in data have, rows of the same share may be in any order: perf compares addresses by the sign of their difference, which
is no order then, and may not find a row that is in its tree (doc/differences.md). Exit status 1 when something differs; 77 without perf. --rows leaves call graphs out
of the comparison.
"""
import argparse
import collections
import difflib
import itertools
import os
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
# With -s sym, and -s pid,sym, perf lists a symbol in several rows now and then (doc/differences.md).
SYMBOL = re.compile(r"^ +[ \d.%]* (\d+)  ( *\d+:.*?)?(\[[.k]\] .*?) *$")
# A line of a graph: what is drawn in front, "--" with a share or "---", a name.
BRANCH = re.compile(r"^([ |]*)(?:(--)(\d+\.\d\d)%--|(?=---))?-*([^ |-].*)$")
NAMELESS = re.compile(r"\[[.k]\] (0x)?[0-9a-f]{16}$")
LEVEL = re.compile(r"\[[.k]\] ((?:0x|0{16}(?= *$))[0-9a-f]{0,16})(?= *$)", re.MULTILINE)
WILD = re.compile(r"\[unknown\] +\[\?\] 0x[89a-f][0-9a-f]{15}$")
ROW = re.compile(r"^ +\d+\.\d\d%")  # the share that rows are sorted by first


def run(command, **variables):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env=dict(os.environ, **variables))
    return done.stdout.decode("utf-8", "replace").replace("[...] (inlined)", "[...]")  # doc/differences.md


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


class Node:
    """One branch of a graph: its share, the names it runs through, where these stand, what branches off."""

    def __init__(self, column, share="", name=""):
        self.column, self.share, self.names, self.children = column, share, [name], []

    def text(self, free, depth=0):
        """free: branches of the same share may be in any order."""
        lines = [f"{' ' * depth}{self.share} {name}" for name in self.names]
        texts = [(child.share, child.text(free, depth + 1)) for child in self.children]
        if free:
            texts.sort(key=lambda t: (-float(t[0] or 0), t[1]))
        return "\n".join(lines + [t[1] for t in texts])

    def split(self):
        """Whether two branches from here or below start with the same name."""
        names = [child.names[0] for child in self.children]
        return len(names) != len(set(names)) or any(child.split() for child in self.children)


def graph(lines):
    """The tree that is drawn behind a row."""
    root = Node(-1)
    stack = [root]
    for line in lines:
        found = BRANCH.match(line)
        if found is None:
            continue
        column = found.start(2) + 10 if found.group(2) else found.start(4)  # what follows stands there
        if found.group(2) is None:  # goes on with the branch that stands in this column
            while len(stack) > 1 and stack[-1].column > column:
                stack.pop()
            if stack[-1].column == column:
                stack[-1].names.append(found.group(4))
                continue
        while len(stack) > 1 and stack[-1].column >= (found.start(2) if found.group(2) else 0):
            stack.pop()
        node = Node(column, found.group(3) or "", found.group(4))
        stack[-1].children.append(node)
        stack.append(node)
    return root


def regular(text, unsteady=()):
    """A row with its graph, however that is drawn; in any order where perf is unsteady."""
    lines = text.split("\n")
    return lines[0] + graph(lines[1:]).text(lines[0] in unsteady)


def unsteady_rows(command, text):
    """Rows whose graphs perf draws in another order when only its environment is another one."""
    outputs = [rows(text, True)] + [rows(run(command, PADDING="x" * n), True) for n in (1, 500, 5000)]
    return {row.split("\n")[0] for other in outputs[1:] for _, row in (outputs[0] - other) | (other - outputs[0])}


def without_split(missing, extra, whole):
    """Leaves out rows whose graph perf splits: whole are perf's rows with all branches shown."""
    split = {text.split("\n")[0] for _, text in whole if graph(text.split("\n")[1:]).split()}

    def left(rows_of_one):
        return collections.Counter({k: n for k, n in rows_of_one.items() if k[1].split("\n")[0] not in split})
    return left(missing), left(extra)


def symbol_row(text):
    """Samples and symbol of a row of `-s sym`; None when it is none. Of an address without a name the same
    may stand under user and kernel level: only the address counts."""
    row = SYMBOL.match(text.split("\n")[0])
    if row is None:
        return None
    task, name = row.group(2) or "", row.group(3)
    return int(row.group(1)), task + (name[4:] if NAMELESS.match(name) else name)


def without_level(missing, extra):
    """Leaves out rows that differ in nothing but the level of an address where nothing is mapped."""
    def plain(key):
        return key[0], LEVEL.sub(r"[?] \1", key[1], count=1)
    left = collections.Counter()
    for key, n in missing.items():
        left[plain(key)] += n
    for key, n in extra.items():
        left[plain(key)] -= n
    return tuple(collections.Counter({k: n for k, n in one.items() if left[plain(k)] * sign > 0})
                 for one, sign in ((missing, 1), (extra, -1)))


class Result(collections.namedtuple("Result", "total missing extra moved")):
    """Rows of perf; rows that only perf has, or only Sonde; rows of both that are not where perf has them."""

    def good(self):
        return self.total > 0 and self.missing == self.extra == self.moved == 0

    def __str__(self):
        return f"{self.total} rows, {self.missing} missing, {self.extra} extra, {self.moved} moved"


def row_list(text):
    """The rows without graphs, in order, and what stands between them."""
    lines = (line.rstrip() for line in text.split("\n"))
    return [LEVEL.sub(r"[?] \1", line, count=1) for line in lines if ROW.match(line) or " of event " in line]


def ties_sorted(listed):
    """The rows, those of the same share sorted by their texts."""
    out = []
    for _, tied in itertools.groupby(listed, lambda row: ROW.match(row).group() if ROW.match(row) else row):
        out += sorted(tied)
    return out


def moved_rows(want, got):
    """Pairs of rows, perf's and ours, that differ at the same place; rows that only one has are left out."""
    both = collections.Counter(want) & collections.Counter(got)

    def left(rows_of_one):
        rest = both.copy()
        for row in rows_of_one:
            if rest[row] > 0:
                rest[row] -= 1
                yield row
    return [(a, b) for a, b in zip(left(want), left(got)) if a != b]


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


def differing(want, got, unsteady):
    """What only one has, as it is printed."""
    shown = {regular(text, unsteady): text for _, text in list(want) + list(got)}

    def all_regular(one):
        out = collections.Counter()
        for (section, text), n in one.items():
            out[(section, regular(text, unsteady))] += n
        return out
    want, got = all_regular(want), all_regular(got)
    return tuple(collections.Counter({(k[0], shown[k[1]]): n for k, n in one.items()})
                 for one in (want - got, got - want))


def compare(sonde, path, words, args):
    perf = ["perf", "report", "--stdio", "-n", "-i", path] + words
    texts = [run(perf), run([sonde] + args.command + ["-n", "-i", path] + words)]
    want, got = (rows(text, not args.rows) for text in texts)
    split = split_symbols(want) if words[-2:] in (SETS[6], ["-s", "pid,sym"]) else set()
    if split:
        want, got = join_split(want, split), join_split(got, split)
    missing, extra = differing(want, got, ())
    if missing and extra and not args.rows:
        missing, extra = differing(missing, extra, unsteady_rows(perf, texts[0]))
    if missing and extra and not args.rows:
        whole = rows(run(["perf", "report", "--stdio", "-n", "-g", "graph,0", "-i", path] + words), True)
        missing, extra = without_split(missing, extra, whole)
    missing, extra = without_level(missing, extra)
    show_difference(missing, extra, args.show)
    listed = [row_list(text) for text in texts]
    wild = any(WILD.search(row) for row in listed[0])
    if split or wild:  # the order of ties comes from perf's tree of rows, which has those that perf made twice
        listed = [ties_sorted(one) for one in listed]
    moved = moved_rows(*listed)
    for pair in moved[:args.show]:
        print("#   another order:\n#     perf  {}\n#     sonde {}".format(*pair))
    return Result(sum(want.values()), sum(missing.values()), sum(extra.values()), len(moved))


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
            result = compare(args.sonde, path, SETS[name], args)
            bad += not result.good()
            print(f"{'' if result.good() else 'not '}ok {number} - {path.split('/')[-1]} set {name}: {result}",
                  flush=True)
    print(f"1..{number}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
