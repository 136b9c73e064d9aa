#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `sonde report -n` with `perf report --stdio -n`: rows with their graphs, and the order of the rows.

usage: compare_report.py [--rows] [--show N] SONDE FILE...

Rows must be equal and in the same order, with these exceptions (doc/differences.md):
 - Rows of equal share may be in any order if perf has several rows of one symbol (`report -s sym`).
 - perf searches its trees of chains with a comparison that is no total order if some addresses have no name, and can
   miss an existing branch: a function is then in the tree twice, and small parts are below the limit. Rows for which
   perf shows this (with -g graph,0) are compared without their graphs.
 - perf orders branches of equal share in different objects by the addresses of these in its memory. If their order
   changes with perf's environment, any order is accepted.
 - The level, [k] or [.], of an unmapped address is not compared.
 - If an address in the upper half of the address space has no name, as in chains that end in data, rows of equal share
   may be in any order: perf compares addresses by the sign of their difference, which is then no total order, and may
   miss an existing row in its tree.

Exit status: 1 if something differs, 77 without perf. --rows compares rows without their call graphs.
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
    28: ["--hierarchy", "-s", "comm,dso,sym"],
    29: ["--group"],
    30: ["--group", "--group-sort-idx", "1"],
    38: ["--show-total-period"],
    40: ["--max-stack", "2"],
    46: ["--stats"],
}
# With -s sym and -s pid,sym perf sometimes lists a symbol in several rows (doc/differences.md).
SYMBOL = re.compile(r"^ +[ \d.%]* (\d+)  ( *\d+:.*?|[N/A\dKMG]+ +| *\d+\.\d\d%  )?(\[[.k]\] .*?) *$")
# A line of a graph: the lines drawn before a branch, "--" with a share or "---", a name.
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
    """Parses the graph drawn after a row."""
    root = Node(-1)
    stack = [root]
    for line in lines:
        found = BRANCH.match(line)
        if found is None:
            continue
        column = found.start(2) + 10 if found.group(2) else found.start(4)  # column of its children
        if found.group(2) is None:  # continues the branch of this column
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
    """A row with its graph as text that does not depend on the drawing; branches of unsteady rows are sorted."""
    lines = text.split("\n")
    return lines[0] + graph(lines[1:]).text(lines[0] in unsteady)


def unsteady_rows(command, text):
    """Rows whose graphs have another order if perf runs with another environment."""
    outputs = [rows(text, True)] + [rows(run(command, PADDING="x" * n), True) for n in (1, 500, 5000)]
    return {row.split("\n")[0] for other in outputs[1:] for _, row in (outputs[0] - other) | (other - outputs[0])}


def without_split(missing, extra, whole):
    """Removes rows whose graph has a function twice in perf. whole: perf's rows with all branches."""
    split = {text.split("\n")[0] for _, text in whole if graph(text.split("\n")[1:]).split()}

    def left(rows_of_one):
        return collections.Counter({k: n for k, n in rows_of_one.items() if k[1].split("\n")[0] not in split})
    return left(missing), left(extra)


def symbol_row(text):
    """Samples and symbol of a row of `-s sym`; None: it is no such row. Of an address without a name only the address is
    used, as it can be listed with both levels, user and kernel."""
    row = SYMBOL.match(text.split("\n")[0])
    if row is None:
        return None
    task, name = row.group(2) or "", row.group(3)
    return int(row.group(1)), task + (name[4:] if NAMELESS.match(name) else name)


def without_level(missing, extra):
    """Removes rows that differ only in the level of an unmapped address."""
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
    """Numbers of perf's rows, of rows that only perf or only Sonde has, and of rows in another order."""

    def good(self):
        return self.total > 0 and self.missing == self.extra == self.moved == 0

    def __str__(self):
        return f"{self.total} rows, {self.missing} missing, {self.extra} extra, {self.moved} moved"


def row_list(text):
    """Rows without graphs, and headings of events, in order."""
    lines = (line.rstrip() for line in text.split("\n"))
    return [LEVEL.sub(r"[?] \1", line, count=1) for line in lines if ROW.match(line) or " of event " in line]


def ties_sorted(listed):
    """Rows, with rows of equal share sorted by text."""
    out = []
    for _, tied in itertools.groupby(listed, lambda row: ROW.match(row).group() if ROW.match(row) else row):
        out += sorted(tied)
    return out


def moved_rows(want, got):
    """Pairs (perf's row, Sonde's row) that differ at the same index, without rows that only one of them has."""
    both = collections.Counter(want) & collections.Counter(got)

    def left(rows_of_one):
        rest = both.copy()
        for row in rows_of_one:
            if rest[row] > 0:
                rest[row] -= 1
                yield row
    return [(a, b) for a, b in zip(left(want), left(got)) if a != b]


def join_split(counted, split):
    """Sums of the samples of rows of `-s sym` whose symbol is in split, without graphs."""
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
    """Prints rows that only one of them has; if only the graphs of a row differ, the lines that differ."""
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
    """Rows that only perf has, and rows that only Sonde has, as printed."""
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
    if split or wild:  # perf's order of ties depends on its tree of rows, which has the split rows
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
