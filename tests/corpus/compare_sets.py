#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `script` and `report` with the installed perf for all sets of options of sets.py, as TAP.

usage: compare_sets.py [--table] [--all] [--sets script:1-9,report:4] [--show N] SONDE [FILE or NAME...]

FILE: these recordings, read as they are. Otherwise the recordings of $SONDE_CORPUS and of tests/recordings whose names
contain NAME, which both tools read without kernel symbols (--kallsyms=/dev/null). All of them for all sets take ten
minutes; without --all, NAME or --sets each set is compared on a few recordings. --table prints a table of sets and
results, then the differences.

Results are those of compare_text.py, and:
  refused   perf refuses, as the recording has no such data, and Sonde refuses with a message
  empty     both print nothing: no sample passes the filter, or the recording has nothing to filter by
  missing   Sonde says that it does not have an option or a key yet
The output must also be the same for --jobs 1 to 4; without --all, for 1 and one more.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
import compare_text  # noqa: E402
import compare_report  # noqa: E402 isort: skip
import plt_names  # noqa: E402
import perf_text  # noqa: E402
from compare_text import Result, difference  # noqa: E402
from perf_text import MASKS, Mask, Output, bit  # noqa: E402
from sets import COMMANDS, NOT_ROWS, SETS  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
RECORDINGS = os.path.join(HERE, "..", "recordings")
NO_KERNEL = ["-f", "--kallsyms=/dev/null"]
FEW = 12  # without --all one of this many comparisons is made
ALWAYS = 3  # but at least so many of a set,
WITH = {  # and of sets for what few recordings have, these
    "script:11": ["perf61/ident.data", "perf-clock"],
    "script:12": ["registers"],
    "script:13": ["pages.data", "perf-pages", "sonde-pages"],
    "script:15": ["cgroups.data", "sonde-system"],
    "script:27": ["late"],
    "report:19": ["tracepoints"],
    "report:29": ["many"],
    "report:30": ["perf61/group.data", "groups.data", "-group"],
    "report:33": ["sampcpu", "-system"],
    "report:48": ["branches.data"],
    "report:49": ["weight.data"],
    "report:51": ["branches.data"],
    "report:53": ["branches.data", "chains.data"],
    "report:55": ["branches.data"],
    "report:56": ["branches.data"],
    "report:57": ["pipe.data"],
    "report:58": ["pipe.data"],
    "report:61": ["branches.data", "chains.data"],
    "script:36": ["pipe.data"],
}


class Recording(compare_text.File):
    """A recording with what the sets need to know about it. row: its line of INDEX.tsv."""
    ties_free = True

    def __init__(self, name, path, options, row=None):
        super().__init__(row or {"path": name, "mode": "", "sample_types": "", "records": ""})
        self.name, self.path, self.options, self.row = name, path, options, row
        self.known = None
        self.debug = ""  # a cache of build ids, from which perf 6.1 resolves code of the vdso
        self.sonde, self.plt = None, None

    def run(self, tool, words, *more):
        words = self.whole([*words, *more])
        key = (tool, *words)
        if key not in self.outputs:
            self.outputs[key] = Output([tool, *words, *self.options, "-i", self.path], self.home)
        return self.outputs[key]

    def look(self):
        """Finds out what INDEX.tsv says about other recordings."""
        if self.debug:
            os.symlink(self.debug, os.path.join(self.home, ".debug"))
        if self.row is not None:
            return
        text = Output(["perf", "evlist", "-v", "-f", "-i", self.path], self.home).text
        for bits in re.findall(r"sample_type: ([A-Z_|]+)", text):
            self.bits |= set(bits.replace("WEIGHT_STRUCT", "WEIGHT").split("|"))
        if os.path.isfile(self.path):
            with open(self.path, "rb") as f:
                head = f.read(16)
            self.pipe = head[8:16] in (b"\x10" + bytes(7), bytes(7) + b"\x10")
        self.trace = "AUXTRACE" in Output(["perf", "report", "--stats", "-f", "-i", self.path], self.home).text

    def swapped(self):
        if not os.path.isfile(self.path):
            return False
        with open(self.path, "rb") as f:
            return f.read(8) == b"2ELIFREP"

    def chosen(self):
        """Values for the words in capitals; a word without a value is missing."""
        if self.known is None:
            self.known = {}
            words = ["report", "--stdio", "--no-children", "-g", "none", "-s", "comm,pid,dso,sym", "-t", ";"]
            for line in self.run("perf", words).text.splitlines():
                cells = [cell.strip() for cell in line.split(";")]
                if line.startswith("#") or len(cells) != 5:
                    continue
                comm, task, dso, symbol = cells[1:]
                values = {"COMM": comm, "TID": task.split(":")[0], "DSO": dso.replace("[unknown]", ""),
                          "SYM": re.sub("^(0x)?[0-9a-f]{8,}$|^_init$|^.*@plt$", "", symbol[4:])}
                for name, value in values.items():
                    if value and "," not in value:
                        self.known.setdefault(name, value)
            found = re.search(r"trace_fields: (?:\w+,)?(\w+)", Output(["perf", "evlist", "--trace-fields", "-f", "-i", self.path],
                                                                      self.home).text)
            if found:
                self.known["FIELD"] = found.group(1)
        return self.known

    def words(self, name):
        """The command of this set; none if the recording has no value for a word in capitals."""
        command = name.partition(":")[0]
        words = COMMANDS[command] if name not in NOT_ROWS else [command]
        for word in SETS[name].split():
            word = self.chosen().get(word) if word.isupper() and word.isalpha() and len(word) > 2 else word
            if word is None:
                return None
            words = [*words, word]
        return words


# ---- differences that doc/differences.md lists ----


def line_by_line(want, got, change):
    """perf's lines, after change(perf's line, Sonde's line) of those that differ."""
    return [p if p == s else change(p, s) for p, s in zip(want, got)] + want[len(got):], got


def blocks(lines):
    """Rows of a report with the lines of their graphs, other lines alone."""
    return [(head, tuple(graph)) for head, graph in compare_text.blocks_of(lines)]


PLACE = re.compile(r"[\w.+-]+\.\w+(?=:\d+\b)")


def source_lines(_file, want, got):
    """Replaces source files of perf by Sonde's, if the numbers of the lines are equal; rows of equal share lose their
    order, which is that of names."""
    if not any(perf_text.ROW.match(line) for line in want):
        return line_by_line(want, got, lambda p, s: s if PLACE.sub("", p) == PLACE.sub("", s) else p)

    def rows(lines):
        return sorted(re.sub(r"  +", " ", PLACE.sub("", "|".join([head, *graph]))) for head, graph in blocks(lines)
                      if perf_text.ROW.match(head))

    return rows(want), rows(got)


def no_file(_file, want, got):
    """perf names a source file without a name; in `script` it does so in a line of its own."""
    known, plain = set(got), []
    for line in want:
        line = line if line in known else re.sub(r"(?<![\w?]):0\b", "??:0", line)
        if line != "  ??:0" or (len(plain) < len(got) and got[len(plain)] == line):
            plain.append(line)
    return tuple([re.sub(r"  +", "  ", line) for line in lines if not line.startswith("# .")] for lines in (plain, got))


def other_build(_file, want, got):
    """Removes what Sonde prints for objects that have another build id here."""
    place = re.compile(r"^  (?!\[)[^ ]+\[[0-9a-f]+\]$")
    if any(map(perf_text.ROW.match, want)):
        unknown = re.compile(r"^ +[\d.]+% +\d+  ((?!\[)[^ ]+\[[0-9a-f]+\]|(?:\?\?)?:0) *$")
        theirs, mine = (collections.Counter(line for line in lines if unknown.match(line)) for lines in (want, got))
        rows = theirs - mine, mine - theirs
        sums = [sum(samples_of("\n".join(one.elements())).values()) for one in rows]
        return tuple([line for line in lines if line not in one] for lines, one in zip((want, got), rows)) \
            if sums[0] == sums[1] else (want, got)
    return [line for line in want if not place.match(line)], [line for line in got if not place.match(line)]


def known_names(file, want, got):
    """Replaces a line of perf by Sonde's, if perf prints that line for the same sample without the option, and a call
    chain entry that perf does not know."""
    words = ["script", "--show-switch-events", "--show-lost-events"]
    lines = set(perf_text.lines_of(words, file.run("perf", words).text))
    unknown = re.compile(r"(?<=[0-9a-f]) \[unknown\] \(\[unknown\]\)$")
    return line_by_line(want, got, lambda p, s: s if s in lines or unknown.search(p) and s.startswith(unknown.sub("", p)) else p)


def names_of_records(_file, want, got):
    """Replaces the name of a thread without name by Sonde's, in records without a time."""
    unnamed = re.compile(r"^\s*:\d+ (?=\d+ (?:\[\d+\] +)?0\.0+: PERF_RECORD_)")
    named = re.compile(r"^\s*\S.*? (?=\d+ (?:\[\d+\] +)?0\.0+: PERF_RECORD_)")
    return line_by_line(want, got, lambda p, s: s if unnamed.match(p) and unnamed.sub("", p) == named.sub("", s) else p)


def event_names(_file, want, got):
    if not any("unknown-software" in line for line in want):
        return want, got
    return tuple([re.sub(" +", " ", line.replace("unknown-software", "bpf-output")) for line in lines] for lines in (want, got))


def names_in_pipe(_file, want, got):
    """Replaces the name of an event by Sonde's, if only letters after the colon differ."""
    letters = re.compile(r"(?<=[\w-]):[a-zA-Z]+\b")
    return line_by_line(want, got, lambda p, s: s if letters.sub("", p) == letters.sub("", s) else p)


def without_chains(_file, want, got):
    """Removes the call chains of perf, and the blanks in front of names, which perf pads only without chains."""
    want, got = [line for line in want if line and not line.startswith("\t")], [line.lstrip() for line in got if line]
    return (want, got) if want or got else (["no field of a sample"], ["no field of a sample"])


def without_lines(_file, want, got):
    """Removes the lines of places in the source."""
    return tuple([line for line in lines if not line.startswith("  ")] for lines in (want, got))


def only_addresses(_file, want, got):
    return [re.sub(r"^(\t *[0-9a-f]+) .*", r"\1", line) for line in want], got


def nameless_threads(_file, want, got):
    """Removes threads without name that only one of both shows, with their mappings."""
    both = set(want) & set(got)
    nameless = re.compile(r" \|\s*:\d+$")

    def known(lines):
        return [line for task in tasks(lines) if task[0] in both or not nameless.search(task[0]) for line in task]

    return known(want), known(got)


def tasks(lines):
    """Lines of report --mmaps: each thread with its mappings."""
    found = []
    for line in lines:
        if found and re.match(r" +[0-9a-f]+-[0-9a-f]+ [r-]", line):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def unmapped_threads(_file, want, got):
    """Removes mappings of threads for which perf shows none."""
    bare = {task[0] for task in tasks(want) if len(task) == 1}
    return want, [line for task in tasks(got) for line in (task[:1] if task[0] in bare else task)]


def swapped_rights(_file, want, got):
    return tuple([re.sub(r"(?<= )[r-][w-][x-][ps](?= [0-9a-f]{8} )", "rights", line) for line in lines] for lines in (want, got))


def without_remainder(_file, want, got):
    return [line.replace("[...] (inlined)", "[...]") for line in want], got


def without_sockets(_file, want, got):
    """perf knows no socket: its only row is the sum of Sonde's."""
    theirs, mine = (sum(samples_of("\n".join(lines)).values()) for lines in (want, got))
    unknown = [line for line in want if perf_text.ROW.match(line)]
    if theirs == mine and len(unknown) == 1 and unknown[0].endswith(" -001"):
        return [str(theirs)], [str(mine)]
    return want, got


def without_topology(_file, want, got):
    place = re.compile(r"# (CPU \d+: Core ID|Core ID and Socket ID)")
    return [line for line in want if not place.match(line)], [line for line in got if not place.match(line)]


def kernel_data(_file, want, got):
    return tuple([re.sub(r"  +", " ", re.sub(r"\[(unknown|kernel\.kallsyms)\]", "kernel", line)) for line in lines
                  if not line.startswith("# ..")] for lines in (want, got))


def hypervisor(_file, want, got):
    return [re.sub(r" KUH\b", " H", line) for line in want], got


def without_statistics(file, want, got):
    return tuple([line for line in lines if line not in ("", "#", "# Branch Statistics:")]
                 for lines in perf_text.without_statistics(file, want, got))


def without_hypervisor(_file, want, got):
    """Removes rows of addresses of a hypervisor."""
    places = {found.group(1) for found in (re.search(r"\[H\] (0x[0-9a-f]{16})", line) for line in want) if found}
    return tuple([line for line in lines if not any(place in line for place in places)] for lines in (want, got))


SIZE = re.compile(r"^((?: +[\d.]+%)+(?: +\d+)+ +)(-?\d+)(?=  )")


def folded(lines):
    return [re.sub("  +", "  ", line) for line in lines if not line.startswith("# ..")]


def small_sizes(_file, want, got):
    """Sonde's sizes modulo 4 GiB."""
    def small(found):
        return f"{found.group(1)}{(int(found.group(2)) + 2**31) % 2**32 - 2**31}"

    return folded(want), folded([SIZE.sub(small, line) for line in got])


def kernel_sizes(_file, want, got):
    return tuple(folded([SIZE.sub(r"\1size", line) if "[kernel.kallsyms]" in line else line for line in lines])
                 for lines in (want, got))


def object_sums(_file, want, got):
    """The samples of each object, whatever the sizes of its mappings are; without call graphs."""
    def sums(lines):
        found = collections.Counter()
        for line in lines:
            row = re.match(r"^(?: +[\d.]+%)+((?: +\d+)+) +(?:-?\d+|size) +(\S.*)$", line)
            if row:
                for event, samples in enumerate(row.group(1).split()):
                    found[event, row.group(2)] += int(samples)
        return [f"{key} {n}" for key, n in sorted(found.items())]

    return (sums(want), sums(got)) if sums(want) else (want, got)


def without_counts(_file, want, got):
    """Removes what --branch-history prints after names; rows whose places differ lose them and their graphs' order."""
    place = re.compile(r"(?<=  )(:0|\?\?:0|[^ ]+\[[0-9a-f]+\]) +(?=\[)")
    counts = re.compile(r" \([a-zA-Z0-9_: .%]+\)$")
    return tuple(sorted(place.sub("place", counts.sub("", line)).lstrip(" |-") for line in lines if not line.startswith("#"))
                 for lines in (want, got))


def place_sums(_file, want, got):
    """The samples of all places together, of branches, whose places perf prints as addresses."""
    return [str(sum(samples_of("\n".join(want)).values()))], [str(sum(samples_of("\n".join(got)).values()))]


def no_time(_file, want, got):
    return [line.replace(" 18446744073.", " 0.000000") for line in want], got


def cut_texts(_file, want, got):
    """Replaces a row that perf cut by Sonde's."""
    want, got = ([line for line in lines if not line.startswith("# ..")] for lines in (want, got))
    return line_by_line(want, got, lambda p, s: s if perf_text.ROW.match(p) and s.startswith(p) else p)


def cut_groups(_file, want, got):
    """Replaces the names of a group's events by Sonde's, if perf cut them to 511 characters."""
    cut = re.compile(r"(# Samples: \S+ +of events '.{511})'$")
    return line_by_line(want, got, lambda p, s: s if (found := cut.match(p)) and s.startswith(found.group(1)) else p)


def without_first(_file, want, got):
    """Removes the columns of the first event from Sonde's rows, if perf has fewer, and the titles from both."""
    numbers = re.compile(r"^( +0\.00%)((?: +\d+\.\d\d%)+) +0((?: +\d+)+ )")
    theirs, mine = (max((line.count("%") for line in lines if perf_text.ROW.match(line)), default=0) for lines in (want, got))
    if theirs >= mine:
        return want, got
    return tuple(sorted(re.sub(" +", " ", line) for line in lines if not line.startswith("#"))
                 for lines in (want, [numbers.sub(r"\2\3", line) for line in got]))


def stat_mappings(_file, want, got):
    """Removes the lines of mappings; their number must be equal."""
    if len(want) != len(got) or not any(line.startswith("CPU THREAD") or line.startswith("CPU   THREAD") for line in got):
        return want, got
    return tuple([line for line in lines if "PERF_RECORD_MMAP" not in line] for lines in (want, got))


def damaged_features(_file, want, got):
    """Removes the header from the first damaged feature on."""
    for i, line in enumerate(got):
        if line.endswith("are damaged"):
            end = next((j for j in range(i, len(got)) if not got[j].startswith("#")), len(got))
            theirs = next((j for j in range(i, len(want)) if not want[j].startswith("#")), len(want))
            return want[:i] + want[theirs:], got[:i] + got[end:]
    return want, got


def without_inodes(_file, want, got):
    inode = re.compile(r"(?<= )\d+(?= /|$)")
    return tuple([inode.sub("inode", line, count=1) if re.match(r" +[0-9a-f]+-[0-9a-f]+ [r-]", line) else line for line in lines]
                 for lines in (want, got))


def cut_places(_file, want, got):
    """Replaces the only row of an event by Sonde's, if perf cut its place to the width of the title."""
    if len(want) != len(got):
        return want, got
    want, rows = list(want), []
    for i, line in enumerate([*want, "# Samples: "]):
        if perf_text.ROW.match(line):
            rows.append(i)
        if not line.startswith("# Samples: "):
            continue
        if len(rows) == 1 and got[rows[0]].startswith(want[rows[0]]):
            for at in range(rows[0] - 3, rows[0] + 1):  # the title, the line below it, "#", the row
                want[at] = got[at] if got[at].startswith(want[at]) else want[at]
        rows = []
    return want, got


def ended_threads(_file, want, got):
    """Removes samples of threads that had ended, with their chains, and the width of columns, which depends on them."""
    ended = re.compile(r"(^|\s):-1\s")

    def known(lines):
        more, inside = " " if any(map(perf_text.ROW.match, lines)) else "\t", False
        for line in folded(lines):
            inside = ended.search(line) is not None or inside and line.startswith(more) and not perf_text.ROW.match(line)
            if not inside:
                yield line

    return list(known(want)), list(known(got))


def other_plt_names(file):
    """Whether a sample is in a PLT entry that has another name in perf, or none."""
    if file.plt is None:
        words = ["script", "-F", "ip,sym,dso"]
        outs = [[file.run(tool, [*words, *more]).text for tool in ("perf", file.sonde)] for more in ([], ["-G"])]
        file.plt = plt_names.Names(outs, file.mappings())
    return bool(file.plt.names)


def plt_lines(_file, want, got):
    return line_by_line(want, got, plt_names.with_ours)


def plt_rows(file, want, got):
    return file.plt.without(want, got, True)


def plt_large_rows(file, want, got):
    """Entries of one name in perf can be together above the limit, and below it alone."""
    return file.plt.without(want, got, False)


def always(_file):
    return True


def in_pipe(file):
    return file.pipe


CHAINS_IN_PIPE = "`script -F` of a pipe stream with call chains"
PLT = "PLT entries of"
# Sets, as a pattern of their names, and a mask: those before the masks of compare_text.py, and those after them.
EARLY_MASKS = [
    ("script:.*", Mask(PLT, "script", always, change=plt_lines)),
    ("report:(53|74)", Mask(PLT, "report", lambda file: other_plt_names(file) and file.plt.unnamed_leaves,
                            change=lambda file, *both: file.plt.hidden(*both))),
    ("report:(?!1[35]$|20$).*", Mask(PLT, "report", other_plt_names, change=plt_rows)),
    ("report:20", Mask(PLT, "report", other_plt_names, change=plt_large_rows)),
    ("report:1[12]", Mask("`report -s srcline`, `-s srcfile` of an event", "report", always, change=cut_places)),
    ("script:10|report:11", Mask("source lines of an object that has another build id here", None, always, change=other_build)),
    ("script:10", Mask("call chains of recorded user stacks", "script", bit("STACK_USER"), change=without_lines)),
    ("script:10|report:(11|12|25)",
     Mask("source lines of objects whose symbol table has a file without a name", None, always, change=no_file)),
    ("script:(10|35)|report:(11|12|25)",
     Mask("source lines of functions that begin in an included file", None, always, change=source_lines)),
    ("script:10", Mask(CHAINS_IN_PIPE, "script", in_pipe, change=only_addresses)),
]
LATE_MASKS = [
    ("script:27", Mask("`script --show-round-events`: names", "script", always, change=known_names)),
    ("script:(2[567]|40|43)", Mask("`script --show-task-events`, `--show-mmap-events`: names", "script", always, change=names_of_records)),
    ("report:(13|51)", Mask("`report -s symbol`, `-s symbol_size`", "report", always, change=perf_text.without_ipc)),
    ("report:13", Mask(PLT, "report", other_plt_names, change=plt_rows)),
    ("report:15", Mask(PLT, "report", other_plt_names, change=place_sums)),  # parents are chosen by their names
    ("report:1[12]", Mask("`report -s srcline`, `-s srcfile` with Children", "report", bit("CALLCHAIN"),
                          both=["--no-children", "-g", "none"])),
    ("report:1[067]", Mask("`report` with Children and the keys", "report", bit("CALLCHAIN"), both=["--no-children"])),
    ("report:14", Mask("`report -s dso_size`, mappings from 2 GiB", "report", always, change=small_sizes)),
    ("report:14", Mask("`report -s dso_size`, the kernel", "report", always, change=kernel_sizes)),
    ("report:14", Mask("`report -s dso_size`, mappings that", "report", always, change=object_sums)),
    ("report:1[12]", Mask("`report -s srcline`, `-s srcfile` with Children", "report", bit("BRANCH_STACK"), change=place_sums)),
    ("report:51", Mask("`report --branch-history --hierarchy`, or with rows", "report", bit("BRANCH_STACK"),
                       change=without_counts)),
    ("script:44|report:76", Mask("`--pid`, samples of threads", None, always, change=ended_threads)),
    ("report:16", Mask("`report -s time` of samples without times", "report", always, change=no_time)),
    ("report:.*", Mask("`report -s comm,trace`, and other keys", "report", bit("RAW"), change=cut_texts)),
    ("report:45", Mask("`report --mmaps`, inodes", "report", always, change=without_inodes)),
    ("report:(46|47|57)|script:(30|34|36)", Mask("`evlist`, `report --stats` of a pipe", None, in_pipe, change=names_in_pipe)),
    ("report:(47|57)|script:(30|36)", Mask("`report --header-only`, a feature that is damaged", None, always, change=damaged_features)),
    ("script:([378]|1[1-5]|38|48|53|54)", Mask(CHAINS_IN_PIPE, "script", in_pipe, change=without_chains)),
    ("script:(25|43)", Mask("`script --show-mmap-events` of a recording of `stat`", "script", always, change=stat_mappings)),
    ("report:4[45]", Mask("`report --tasks`: threads that only", "report", always, change=nameless_threads)),
    ("report:45", Mask("`report --mmaps`, a thread whose record", "report", always, change=unmapped_threads)),
    ("report:45", Mask("`report --mmaps` of a recording in the other", "report", Recording.swapped, change=swapped_rights)),
    ("report:.*", Mask("`report` of samples in a hypervisor", "report", always, change=without_hypervisor)),
    ("script:.*", Mask("`script -F bpf-output`, bytes", "script", always, change=perf_text.no_characters)),
    ("report:23", Mask("`report -g fractal`", "report", bit("CALLCHAIN"), change=without_remainder)),
    ("report:10", Mask("`report --header-only -I`, texts that are not", "report", always, change=without_sockets)),
    ("report:(47|57)|script:36", Mask("`report --header-only -I`, texts that are not", "report", always, change=without_topology)),
    ("report:49", Mask("`report --mem-mode`: kernel data", "report", always, change=kernel_data)),
    ("script:(25|43)", Mask("`script --show-mmap-events` of a recording in the other", "script", Recording.swapped,
                       change=perf_text.without_rights)),
    ("script:14", Mask("`script -F misc` of a sample in a hypervisor", "script", always, change=hypervisor)),
    ("report:.*", Mask("`report` of branches: Branch Statistics", "report", bit("BRANCH_STACK"),
                       change=without_statistics)),
    ("report:(29|30)", Mask("`report` of a group: the names", "report", always, change=cut_groups)),
    ("report:(29|30)", Mask("`report` of a group of events whose first event has no samples", "report", always,
                            change=without_first)),
    (".*", Mask("`evlist`, `report`: events that perf 6.1 does not know", None, always, change=event_names)),
]
# Sets that perf refuses with such a message, although Sonde has an answer.
CHAINLESS = "`report -g` of a recording without call chains"
PIPED = "`script -F` with fields that need data, `report -s parent`"
ONLY_SONDE = [
    ("script:15", "Invalid field requested", "`script -F cgroup`"),
    ("script:(19|37|41|42)", "no first/last sample time", "`script --time 10%-20%`"),
    ("report:(32|59|60)", "no first/last sample time", "`report --time 10%-20%`"),
    ("report:(2[1-6]|66|67|68|78|79)", "Selected -g or --branch-history", CHAINLESS),
    ("script:5$", "Display of offsets requested", "`script -F +symoff` of tracepoints"),
    ("report:28", "data has no samples", "`report --hierarchy` of a pipe stream"),
    ("report:(29|30)", "", "`report` of a group of events whose first event has no samples"),
    ("report:30", "--group-sort-idx <n>", "`report --group` of a pipe stream"),
    ("report:(33|75)|script:20", "Requested CPU 0 too large", "`report -C`, `script -C` of a pipe stream"),
    ("script:34", "Couldn't create the per event dump files", "`script --per-event-dump`, names of files"),
]
# Sets with symbols but without objects: perf compares addresses without symbols with each other by address, with symbols
# by object, which is no order.
WITHOUT_OBJECTS = ("report:6", "report:8", "report:13", "report:61", "report:73")
NO_SYMBOL = re.compile(r"^ +\d+\.\d\d%.* \[[.k]\] (0x)?[0-9a-f]{16}$")
# Sets that Sonde refuses with such a message.
ONLY_PERF = [
    ("report:50", "no event recorded branch stacks", "`report --total-cycles` with"),
    ("report:(48|51)", "no event recorded branch stacks", PIPED),
    ("script:11", "needs the wall clock", PIPED),
    ("report:15", "needs call chains", PIPED),
    ("report:49", "no event recorded where data came from", PIPED),
]
MISSING = re.compile(r"is an option of perf.* that Sonde does not have yet|--sort: '.*' is not a field")


def masks_of(name):
    early, late = ([mask for sets, mask in masks if re.fullmatch(sets, name)] for masks in (EARLY_MASKS, LATE_MASKS))
    return early + MASKS + late


def is_listed(row):
    return Mask(row, None, None).is_listed()


# ---- sets that are compared in another way ----

PERF_RECORD = re.compile(r"^(?:0x[0-9a-f]+|0)@.* \[0x[0-9a-f]+\]: event: (\d+)$")
PERF_BYTES = re.compile(r"^\.  [0-9a-f]{4,}:  ((?:[0-9a-f]{2} )+)")
SONDE_RECORD = re.compile(r"^\S*0x[0-9a-f]+ (\w+) size=")
SONDE_BYTES = re.compile(r"^    [0-9a-f]{4,}  ((?:[0-9a-f]{2} )+)")
PERF_SAMPLE = re.compile(r"^(?:-?\d+ )?(\d+) (?:0x[0-9a-f]+|0) \[\S+\]: PERF_RECORD_SAMPLE\(IP, \S+\): (-?\d+)/(-?\d+): (\S+) period: (\d+)")
CONTAINERS = ("51", "53")  # compressed records: perf prints what they contain


def records(text, head, data):
    """The bytes of all records of a dump, without those of a trace that follow a record."""
    found = []
    for line in text.splitlines():
        if head.match(line):
            found.append([])
        elif found and data.match(line):
            found[-1] += data.match(line).group(1).split()
    sizes = [int(record[7] + record[6], 16) if len(record) >= 8 else 0 for record in found]
    return collections.Counter(" ".join(record[:size]) for record, size in zip(found, sizes)
                               if record and record[0] not in CONTAINERS)


def perf_samples(text):
    names = ("time", "pid", "tid", "ip", "period")
    return collections.Counter(" ".join(f"{name}={int(value, 0)}" for name, value in zip(names, found.groups()))
                               for found in map(PERF_SAMPLE.match, text.splitlines()) if found)


def sonde_samples(text):
    found = collections.Counter()
    for line in text.splitlines():
        head = SONDE_RECORD.match(line)
        if head and head.group(1) == "SAMPLE":
            values = dict(re.findall(r" (time|pid|tid|ip|period)=(\w+)", line))
            found[" ".join(f"{name}={int(values[name].removesuffix('ns'), 0)}" for name in
                           ("time", "pid", "tid", "ip", "period") if name in values)] += 1
    return found


def compare_dump(sonde, recording, words):
    """Each record with its bytes, each sample with its fields; the layout is another one."""
    recorded = ["--no-itrace"] if recording.trace else []
    perf, ours = recording.run("perf", words, *recorded), recording.run(sonde, words)
    want, got = records(perf.text, PERF_RECORD, PERF_BYTES), records(ours.text, SONDE_RECORD, SONDE_BYTES)
    if recording.swapped():  # perf shows the bytes after it has swapped them
        want, got = (collections.Counter(len(record) for record in one.elements()) for one in (want, got))
    if perf.status != 0:
        return Result("not read", f"perf: status {perf.status}, {perf.message}")
    theirs, mine = perf_samples(perf.text), sonde_samples(ours.text)
    if mine and " period=" not in next(iter(mine)):  # not recorded: perf shows that of the event
        theirs = collections.Counter(re.sub(" period=.*", "", line) for line in theirs.elements())
    if "TIME" not in recording.bits:  # perf's lines of samples without times are others
        theirs = mine = collections.Counter()
    pairs = [(want, got), (theirs, mine)]
    if not want:
        return Result("not read", perf.message)
    if all(theirs == mine for theirs, mine in pairs):
        return Result("listed", "`script -D`, `report -D`")
    lines = [f"{sign}{line}" for theirs, mine in pairs for sign, one in (("-", theirs - mine), ("+", mine - theirs)) for line in one]
    return Result("differs", f"{sum(want.values())} and {sum(got.values())} records", lines)


def dumped(recording, tool, words):
    """What is printed, and the lines of the files that --per-event-dump writes, without names and printed sizes."""
    with tempfile.TemporaryDirectory() as folder:
        at = os.path.join(folder, "perf.data")
        if os.path.isdir(recording.path):
            shutil.copytree(recording.path, at)
        else:
            os.symlink(os.path.realpath(recording.path), at)
        recorded = ["--no-itrace"] if recording.trace else []
        done = Output([tool, *words, *recorded, *recording.options, "-i", at], recording.home, cwd=folder)
        found = [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names if name.endswith(".dump")]
        lines = re.findall(r"\(\d+ samples\)", done.text)
        for path in sorted(found, key=lambda path: (os.path.getsize(path), path)):
            with open(path, encoding="utf-8", errors="replace") as f:
                lines += map(perf_text.script_line, f.read().splitlines())
    return done, lines


def compare_event_dumps(sonde, recording, words):
    (perf, want), (ours, got) = dumped(recording, "perf", words), dumped(recording, sonde, words)
    if not want:
        return refine(sonde, recording, "script:34", words, Result("not read", perf.message))
    if want == got:
        return Result("equal", f"{len(want)} lines")
    names = re.findall(r"Wrote .*? (\S.*) \(\d+ samples\)", perf.text)
    row = "`script --per-event-dump`, names of files"
    if len(set(names)) < len(names) and is_listed(row) and len(got) > 1 and \
            sum(map(int, re.findall(r"\((\d+) samples", perf.text))) == sum(map(int, re.findall(r"\((\d+) samples", ours.text))):
        return Result("listed", row)
    masks = [m for m in masks_of("script:34") if m.command in (None, "script") and m.change and m.when(recording) and
             m.warning in ours.errors]
    used = []
    for mask in masks:
        theirs, mine = mask.change(recording, want, got)
        if (theirs, mine) != (want, got):
            want, got = theirs, mine
            used.append(mask)
    if perf.status != 0:
        return Result("not read", f"perf: status {perf.status}, {perf.message}")
    if want == got:
        return Result("listed", "; ".join(m.row for m in used))
    return Result("differs", f"status {ours.status}, perf {perf.status}: {ours.message}", difference(want, got))


SPECIAL = {"script:33": compare_dump, "script:34": compare_event_dumps}


# ---- sets ----


def listed_refusal(table, name, message):
    return next((row for sets, text, row in table if re.match(sets, name) and text in message), None)


def refine(sonde, recording, name, words, result):
    """What it means that perf prints no row and no line."""
    perf, ours = recording.run("perf", words), recording.run(sonde, words)
    first = COMMANDS[words[0]]
    shown = perf_text.lines_of(words, ours.text)
    if MISSING.search(ours.errors):
        return Result("missing", ours.message)
    if not perf_text.lines_of(first, recording.run("perf", first).text):
        return result
    if perf.status < 0 or "failed to process" in perf.errors:
        return Result("not read", f"perf: status {perf.status}, {perf.message}")
    row = listed_refusal(ONLY_SONDE, name, perf.errors)
    if row == CHAINLESS and is_listed(row):
        return compare_chainless(sonde, recording, name, words)
    if row is not None and not shown and ours.status == 0 and not FILTERS & set(words):
        return Result("differs", "Sonde prints nothing")
    if not shown:
        return Result("refused" if ours.status != 0 and ours.message else "empty", ours.message)
    if row is not None and is_listed(row):
        return Result("listed", row)
    return Result("differs", f"only Sonde prints; perf: status {perf.status}, {perf.message}", shown)


def compare_chainless(sonde, recording, name, words):
    """Sonde's rows must be those of perf without -g, which refuses it."""
    at = words.index("-g")
    plain = words[:at] + words[at + 2:] + (["--no-itrace"] if recording.trace else [])
    want = perf_text.lines_of(words, recording.run("perf", plain).text)
    got = perf_text.lines_of(words, recording.run(sonde, words).text)
    for mask in masks_of(name):
        if mask.change and mask.when(recording) and want != got:
            want, got = mask.change(recording, want, got)
    if not want and not got:
        return Result("not read", "no samples")
    return Result("listed", CHAINLESS) if want == got else Result("differs", "rows without chains", difference(want, got))


FILTERS = {"--time", "--cpu", "-C"}  # no sample may be left


def beginning(sonde, recording, words, masks):
    """perf was killed: whether Sonde's lines begin with what perf wrote, but for the last line."""
    recorded = ["--no-itrace"] if recording.trace else []
    want = perf_text.lines_of(words, recording.run("perf", words, *recorded).text)
    got = perf_text.lines_of(words, recording.run(sonde, words).text)
    want, got = want[:-1], got[:len(want) + len(want) // 4]
    for mask in masks:
        if mask.change and mask.when(recording):
            want, got = mask.change(recording, want, got[:2 * len(want)])
    got = got[:len(want)]
    return want == got


def compare_set(sonde, recording, name):
    words = recording.words(name)
    if words is None:
        return Result("empty", "no value for the word in capitals")
    if name in SPECIAL:
        return SPECIAL[name](sonde, recording, words)
    result = compare_text.compare(sonde, recording, words, masks_of(name))
    perf, ours = recording.run("perf", words), recording.run(sonde, words)
    if result.verdict == "not read":
        return refine(sonde, recording, name, words, result)
    if result.verdict == "differs" and MISSING.search(ours.errors):
        return Result("missing", ours.message)
    row = listed_refusal(ONLY_PERF, name, ours.errors)
    if result.verdict == "differs" and not ours.text and row is not None and is_listed(row):
        return Result("listed", row)
    if result.verdict == "differs" and perf.status != 0 and beginning(sonde, recording, words, masks_of(name)):
        if perf.status > 0 or len(perf_text.lines_of(words, perf.text)) < 2:
            return Result("not read", f"perf: status {perf.status}, {perf.message}")
        return Result("listed", "`script -F ip,srcline`, `report -s srcline`: an object that is not there")
    if result.verdict == "differs":
        result = compare_without(sonde, recording, name, words) or result
    return result


def compare_without(sonde, recording, name, words):
    """Differences that are shown by what Sonde prints without an option, or with another one."""
    perf = perf_text.lines_of(words, recording.run("perf", words).text)
    if "--inline" in words:
        fewer = [word for word in words if word != "--inline"]
        row = "`script --inline`, `report --inline`"
        if is_listed(row) and compare_text.compare(sonde, recording, fewer, masks_of(name)).verdict in ("equal", "listed") and \
                perf == perf_text.lines_of(words, recording.run("perf", fewer).text):
            return Result("listed", row)
    timeless = "`script --time 10%-20%`, `report --time 10%-20%` of samples without times"
    if "TIME" not in recording.bits and "--time" in words and "that were asked for" in recording.run(sonde, words).errors + \
            "that were asked for" * (words[0] == "script") and is_listed(timeless):
        return Result("listed", timeless)
    if "--group" in words and recording.pipe:
        fewer = [word for word in words if word != "--group"]
        row = "`report --group` of a pipe stream"
        if is_listed(row) and compare_text.compare(sonde, recording, fewer, masks_of(name)).verdict in ("equal", "listed") and \
                perf == perf_text.lines_of(words, recording.run("perf", fewer).text):
            return Result("listed", row)
    if name in WITHOUT_OBJECTS:
        row = "`report -s sym`, `-s pid,sym`"
        if is_listed(row) and same_sums(*(compare_report.rows(recording.run(tool, words).text, False) for tool in ("perf", sonde))):
            return Result("listed", row)
    row = "`report`: the order of rows with the same share"
    free = recording.name.endswith("-system") or name in WITHOUT_OBJECTS and any(map(NO_SYMBOL.search, perf))
    if name.startswith("report:") and free and is_listed(row):  # rows of equal share
        got = perf_text.lines_of(words, recording.run(sonde, words).text)
        if ties_sorted(perf) == ties_sorted(got) and \
                sorted(compare_text.ties_sorted(perf)) == sorted(compare_text.ties_sorted(got)):  # branches of equal share too
            return Result("listed", row)
    if name == "report:13" and is_listed(row):
        want, got = perf_text.without_ipc(recording, perf, perf_text.lines_of(words, recording.run(sonde, words).text))
        if want != got and ties_sorted(want) == ties_sorted(got):
            return Result("listed", row)
    if recording.trace:
        recorded = recording.run("perf", words, "--no-itrace")
        row = listed_refusal(ONLY_SONDE, name, recorded.errors)
        if row == CHAINLESS and is_listed(row) and not perf_text.lines_of(words, recorded.text):
            return compare_chainless(sonde, recording, name, words)
    if name == "report:12":  # sums of the lines of each file, where the lines differ in names of files only
        lines = compare_set(sonde, recording, "report:11")
        alone = ["--no-children", "-g", "none"]
        sums = collections.Counter()
        for place, n in samples_of(recording.run(sonde, COMMANDS["report"] + ["-s", "srcline", *alone]).text).items():
            sums[place.rpartition(":")[0] if re.search(r"[^?]:\d+$", place) else ""] += n
        files = samples_of(recording.run(sonde, COMMANDS["report"] + ["-s", "srcfile", *alone]).text)
        if lines.verdict == "listed" and {k: n for k, n in sums.items() if k} == {k: n for k, n in files.items() if k}:
            return lines
    return None


def ties_sorted(lines):
    return compare_report.ties_sorted([line for line in lines if perf_text.ROW.match(line)])


def same_sums(want, got):
    """Whether rows are the same after those of a symbol that perf lists several times are added up."""
    split = compare_report.split_symbols(want)
    want, got = compare_report.join_split(want, split), compare_report.join_split(got, split)
    missing, extra = compare_report.without_level(want - got, got - want)
    return split != set() and not missing and not extra


def samples_of(text):
    found = collections.Counter()
    for line in text.splitlines():
        row = re.match(r"^ +[\d.]+% +(\d+) +(.*?) *$", line)
        if row:
            found[row.group(2)] += int(row.group(1))
    return found


def same_for_jobs(sonde, recording, name, numbers):
    """Numbers of workers that print something else than one worker, or end with another status."""
    words = recording.words(name)
    if words is None or name in SPECIAL:
        return []
    first = recording.run(sonde, words, "-j", "1")
    outputs = {n: recording.run(sonde, words, "-j", str(n)) for n in numbers}
    return [n for n, other in outputs.items() if (other.text, other.status) != (first.text, first.status)]


def compare_recording(sonde, recording, names, everything):
    with tempfile.TemporaryDirectory() as recording.home:
        recording.look()
        recording.sonde = sonde
        results = []
        for i, name in enumerate(names):
            result = compare_set(sonde, recording, name)
            wrong = same_for_jobs(sonde, recording, name, (2, 3, 4) if everything else (2 + i % 3,))
            if wrong:
                result = Result("differs", f"--jobs {wrong[0]} prints something else than --jobs 1")
            results.append((name, result))
        recording.outputs = {}
        return results


def recordings(words):
    files = [word for word in words if os.path.exists(word)]
    if files:
        return [Recording(os.path.basename(path), path, ["-f"]) for path in files]
    found = []
    if os.path.isfile(os.path.join(compare_text.CORPUS, "INDEX.tsv")):
        found += [Recording(file.name, file.path, NO_KERNEL, file.row) for file in compare_text.files([])]
    for name in sorted(os.listdir(RECORDINGS)):
        if name.endswith(".data"):
            root = os.path.join(RECORDINGS, "root")
            found.append(Recording(name, os.path.join(RECORDINGS, name), [*NO_KERNEL, "--symfs", root]))
    return [recording for recording in found if not words or any(word in recording.name for word in words)]


def chosen_sets(text):
    """Names of sets for words such as script:1-9,report:4,report."""
    if not text:
        return list(SETS)
    names = []
    for word in text.split(","):
        command, _, numbers = word.partition(":")
        first, _, last = numbers.partition("-")
        names += [name for name in SETS if name.split(":")[0] == command and
                  (not numbers or int(first) <= int(name.split(":")[1]) <= int(last or first))]
    return names


def some(chosen, names):
    """{recording: sets}: one of FEW pairs, always the same ones, and at least ALWAYS recordings of each set."""
    out = {recording: [] for recording in chosen}
    for name in names:
        order = sorted(chosen, key=lambda recording, name=name: zlib.crc32(f"{name} {recording.name}".encode()))
        few = max(ALWAYS, len(chosen) // FEW)
        more = [recording for recording in order[few:] if any(part in recording.name for part in WITH.get(name, ()))]
        for recording in order[:few] + more:
            out[recording].append(name)
    return out


def print_table(results):
    """A row for each set: how many recordings have each result; then the reasons."""
    verdicts = ["equal", "listed", "refused", "empty", "not read", "missing", "differs"]
    counts, reasons = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for recording, of_recording in results:
        for name, result in of_recording:
            counts[name][result.verdict] += 1
            if result.verdict in ("listed", "missing", "differs"):
                reasons[result.verdict, result.detail].append(f"{recording.name} ({name})")
    print("| set | options | " + " | ".join(verdicts) + " |\n|" + "---|" * (len(verdicts) + 2))
    for name in counts:
        print(f"| {name} | `{SETS[name]}` | " + " | ".join(str(counts[name][verdict] or "") for verdict in verdicts) + " |")
    total = sum(counts.values(), collections.Counter())
    print("| all | | " + " | ".join(str(total[verdict]) for verdict in verdicts) + " |")
    for (verdict, reason), where in sorted(reasons.items()):
        print(f"\n{verdict}: {reason}: {len(where)}: {', '.join(where[:12])}")


def run(sonde, chosen, names, args):
    """Prints the results; whether something differs."""
    todo = {recording: names for recording in chosen} if args.all else some(chosen, names)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = zip(todo, pool.map(lambda one: compare_recording(sonde, *one, args.all), todo.items()))
        if args.table:
            print_table(list(results))
            return False
        labelled = ((recording, [(f"{name} {SETS[name]}", result) for name, result in of_recording])
                    for recording, of_recording in results)
        return compare_text.print_tap(labelled, args.show)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sets", default="")
    parser.add_argument("--show", type=int, default=60)
    parser.add_argument("sonde")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 0
    args.all = args.all or args.names != [] or args.sets != ""
    return run(os.path.realpath(args.sonde), recordings(args.names), chosen_sets(args.sets), args)


if __name__ == "__main__":
    sys.exit(main())
