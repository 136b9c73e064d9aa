#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `report` and `script` of every recording in $SONDE_CORPUS with the installed perf, as TAP.

usage: compare_text.py [--table] [--show N] SONDE [NAME...]

NAME: only files whose name contains it. --table prints a table of files and comparisons instead of TAP.

Each file and comparison has one of these results:
  equal     the same lines
  listed    the same lines after masks, which are printed; each mask is a row of doc/differences.md. If no line is left,
            as for a trace that Sonde does not decode, Sonde must warn, and show the same names and mappings
  not read  perf shows no sample; its status and message are printed. Sonde must not end by a signal
  differs   everything else; also if perf prints lines and Sonde none

Branches of a graph with equal shares may be in any order if their order in perf depends on its environment.

Both tools run with an empty HOME, without debuginfod, and with --kallsyms=/dev/null, so that no kernel function has a
name. Without this option perf 6.1 resolves kernel addresses with the symbols of the running kernel if a recording has
no kernel build id, which is wrong for recordings of other machines. Both tools resolve user code with the ELF files of
this machine if build ids match or the recording has none.
"""
import argparse
import concurrent.futures
import csv
import difflib
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "profile"))
from compare_report import regular  # noqa: E402
from perf_text import MASKS, ROW, Output, lines_of, parse_mappings  # noqa: E402

CORPUS = os.environ.get("SONDE_CORPUS", "")
WHO = "comm,tid,time,event,"
MEMORY = "overhead,sample,local_weight,mem,sym,dso,symbol_daddr,snoop,tlb,locked,blocked,local_ins_lat,phys_daddr"
RECORDS = ["--show-" + kind + "-events" for kind in ("task", "mmap", "namespace", "switch", "lost", "cgroup", "bpf", "text-poke")]
# Name of the comparison, command, and the sample bit that it requires.
COMPARISONS = [
    ("report", ["report", "--stdio", "-n"], None),
    ("no-children", ["report", "--stdio", "-n", "--no-children"], None),
    ("no-graph", ["report", "--stdio", "-n", "-g", "none"], None),
    ("dso", ["report", "--stdio", "-n", "-s", "dso"], None),
    ("sym", ["report", "--stdio", "-n", "-s", "sym"], None),
    ("levels", ["report", "--stdio", "-n", "--hierarchy", "-s", "comm,{dso,sym}"], None),
    ("script", ["script"], None),
    ("fields", ["script", "-F", "comm,pid,tid,time,event,ip,sym,symoff,dso"], "TIME"),
    ("addr", ["script", "-F", WHO + "addr,ip,sym,dso"], "ADDR"),
    ("data_src", ["script", "-F", WHO + "data_src"], "DATA_SRC"),
    ("weight", ["script", "-F", WHO + "weight"], "WEIGHT"),
    ("mem-mode", ["report", "--stdio", "-n", "-g", "none", "--mem-mode", "-F", MEMORY], "DATA_SRC"),
    ("brstack", ["script", "-F", WHO + "brstack,dso"], "BRANCH_STACK"),
    ("brstacksym", ["script", "-F", WHO + "brstacksym"], "BRANCH_STACK"),
    ("iregs", ["script", "-F", WHO + "iregs"], "REGS_INTR"),
    ("uregs", ["script", "-F", WHO + "uregs"], "REGS_USER"),
    ("records", ["script", "-G", "-F", "comm,misc", *RECORDS], "TID"),
]
OPTIONS = ["--kallsyms=/dev/null", "-f"]


class File:
    """A recording of the corpus with its data from INDEX.tsv. Each command runs on it only once."""
    ties_free = False  # whether branches with equal shares may be in any order

    def __init__(self, row):
        self.name, self.row = row["path"], row
        path = os.path.join(CORPUS, row["path"])
        self.path = path[:-5] if path.endswith("/data") else path  # a directory recording is named by its folder
        self.pipe = row["mode"] == "pipe"
        self.bits = set(re.split(r"[|; ]", (row["sample_types"] or "").replace("WEIGHT_STRUCT", "WEIGHT")))
        self.trace = "AUXTRACE:" in (row["records"] or "")
        self.home = None
        self.outputs, self.mapped = {}, None

    def whole(self, words):
        """The words of a command; traces are compared in tests/aux, here only recorded samples."""
        untraced = self.trace and words[0] in ("script", "report") and "--no-itrace" not in words
        return [*words, "--no-itrace"] if untraced else list(words)

    def run(self, tool, words):
        words = self.whole(words)
        key = (tool, *words)
        if key not in self.outputs:
            self.outputs[key] = Output([tool, *words, *OPTIONS, "-i", self.path], self.home)
        return self.outputs[key]

    def unsteady(self, words, lines):
        """First lines of rows whose graph has another order in perf if its memory begins at another address."""
        heads = set()
        for padding in ("x" * 500, "x" * 5000) if "--stdio" in words else ():
            other = Output(["perf", *words, *OPTIONS, "-i", self.path], self.home, PADDING=padding)
            found = dict(blocks_of(lines_of(words, other.text)))
            heads |= {head for head, graph in blocks_of(lines) if found.get(head) != graph}
        return heads

    def mappings(self):
        if self.mapped is None:
            self.mapped = parse_mappings(self.run("perf", ["script", "--show-mmap-events", "-F", "comm"]).text)
        return self.mapped


def blocks_of(lines):
    """Returns [(first line of a row, lines of its graph)]."""
    blocks = [(lines[0], [])] if lines else []
    for line in lines[1:]:
        if ROW.match(line) or line.startswith("#"):
            blocks.append((line, []))
        else:
            blocks[-1][1].append(line)
    return blocks


def undrawn(line):
    return line.lstrip(" |-")


def any_order(lines, heads):
    """Lines in which the graphs of the rows `heads` are sorted, without the lines drawn before names."""
    out = []
    for head, graph in blocks_of(lines):
        graph = sorted(map(undrawn, graph)) if head in heads else graph
        out += [head, *graph]
    return out


def ties_sorted(lines):
    """Lines in which branches of the same share that begin at the same place are sorted; graphs in which each of these
    begins with "---" are sorted by lines."""
    if any(line.endswith("|") and lines[i + 1].lstrip(" |").startswith("---") for i, line in enumerate(lines[:-1])):
        return any_order(lines, {head for head, _ in blocks_of(lines)})
    return [regular("\n".join([head, *graph]), {head}) for head, graph in blocks_of(lines)]


class Result:
    def __init__(self, verdict, detail, lines=()):
        self.verdict, self.detail, self.lines = verdict, detail, lines


def texts(sonde, file, words, masks):
    """Lines of perf and of Sonde after these masks."""
    both = [o for m in masks for o in m.both]
    only_perf = [o for m in masks for o in m.perf]
    want = lines_of(words, file.run("perf", [*words, *both, *only_perf]).text)
    got = lines_of(words, file.run(sonde, [*words, *both]).text)
    for mask in masks:
        if mask.change:
            want, got = mask.change(file, want, got)
    return want, got


def difference(want, got):
    return list(difflib.unified_diff(want, got, "perf", "sonde", n=0, lineterm=""))


def same_records(sonde, file):
    """Whether both show the same names and mappings, for a recording without other samples."""
    words = ["script", "--show-task-events", "--show-mmap-events"]
    theirs = lines_of(words, file.run("perf", [*words, "--no-itrace"]).text)
    return theirs != [] and theirs == lines_of(words, file.run(sonde, words).text)


def compare(sonde, file, words, all_masks=tuple(MASKS)):
    perf, ours = file.run("perf", words), file.run(sonde, words)
    want, got = texts(sonde, file, words, [])
    if ours.status < 0:
        return Result("differs", f"sonde: signal or timeout {ours.status}: {ours.message}")
    if not want or (perf.status != 0 and RECORDS[0] in words):  # perf prints records until it stops
        return Result("not read", f"perf: status {perf.status}, {perf.message or 'no message'}")
    if want == got:
        return Result("equal", f"{len(want)} lines")

    def same(masks):
        theirs, mine = texts(sonde, file, words, masks)
        if theirs != mine and sorted(map(undrawn, theirs)) == sorted(map(undrawn, mine)) and file.ties_free:
            theirs, mine = ties_sorted(theirs), ties_sorted(mine)
        elif theirs != mine and sorted(map(undrawn, theirs)) == sorted(map(undrawn, mine)):
            options = [o for m in masks for o in m.both + m.perf]
            heads = file.unsteady([*words, *options], theirs)
            theirs, mine = (any_order(lines, heads) for lines in (theirs, mine))
        if not theirs and not mine:  # both show nothing after the masks
            return same_records(sonde, file)
        return theirs == mine

    if same([]):
        return Result("equal", f"{len(want)} lines, except the order of branches that perf leaves to chance")
    masks = [m for m in all_masks if m.command in (None, words[0]) and m.when(file) and m.warning in ours.errors]
    if masks and same(masks):
        for mask in list(masks):  # removes masks that are not needed
            fewer = [m for m in masks if m is not mask]
            masks = fewer if same(fewer) else masks
        missing = [m.row for m in masks if not m.is_listed()]
        if missing:
            return Result("differs", "not in doc/differences.md: " + "; ".join(missing))
        return Result("listed", "; ".join(m.row for m in masks))
    lines = difference(*texts(sonde, file, words, masks)) or difference(want, got)
    return Result("differs", f"status {ours.status}, perf {perf.status}: {ours.message}", lines)


def compare_file(sonde, file):
    with tempfile.TemporaryDirectory() as file.home:
        return [(label, compare(sonde, file, words)) for label, words, bit in COMPARISONS
                if bit is None or bit in file.bits]


def files(only):
    with open(os.path.join(CORPUS, "INDEX.tsv"), encoding="utf-8") as f:
        return [File(row) for row in csv.DictReader(f, delimiter="\t") if "crashers" not in row["path"] and
                (not only or any(o in row["path"] for o in only))]


def print_table(results):
    """A row for each file, a column for each comparison; then the results listed, not read and differs with reasons."""
    labels = [c[0] for c in COMPARISONS]
    print("| file | " + " | ".join(labels) + " |\n|" + "---|" * (len(labels) + 1))
    for file, of_file in results:
        verdicts = {label: r.verdict for label, r in of_file}
        print(f"| {file.name} | " + " | ".join(verdicts.get(label, "") for label in labels) + " |")
    for verdict in ("listed", "not read", "differs"):
        reasons = {}
        for file, of_file in results:
            for label, r in of_file:
                if r.verdict == verdict:
                    reasons.setdefault(r.detail, []).append(f"{file.name} ({label})")
        print(f"\n{verdict}: {sum(map(len, reasons.values()))}")
        for reason, where in sorted(reasons.items()):
            print(f"- {reason}: {', '.join(where)}")
    print(f"\nequal: {sum(r.verdict == 'equal' for _, of_file in results for _, r in of_file)}")


def print_tap(results, show):
    count = bad = 0
    for file, of_file in results:
        for label, r in of_file:
            count += 1
            bad += r.verdict == "differs"
            good, skip = "not ok" if r.verdict == "differs" else "ok", "# SKIP " if r.verdict in ("not read", "missing") else ""
            print(f"{good} {count} - {label} of {file.name}: {skip}{r.verdict} ({r.detail})")
            for line in r.lines[:show]:
                print("#   " + line[:240])
        sys.stdout.flush()
    print(f"1..{count}")
    return bad != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--show", type=int, default=12)
    parser.add_argument("sonde")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not os.path.isfile(os.path.join(CORPUS, "INDEX.tsv")):
        print("1..0 # SKIP SONDE_CORPUS does not name a folder with INDEX.tsv")
        return 0
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 0
    sonde, chosen = os.path.realpath(args.sonde), files(args.names)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = zip(chosen, pool.map(lambda file: compare_file(sonde, file), chosen))
        if args.table:
            print_table(list(results))
            return 0
        return print_tap(results, args.show)


if __name__ == "__main__":
    sys.exit(main())
