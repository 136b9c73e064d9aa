# SPDX-License-Identifier: MIT
"""Shared by comparisons of whole outputs with perf: running a command, the lines to compare, and the masks of intended
differences.

Rules for `report`: all lines except the tip, in perf's order, without blanks at the end of lines. Only rows that are
equal in all columns may be exchanged (with their call graphs).
Rules for `script`: all lines in perf's order; the column of the tid is 7 wide in Sonde, as in newer releases of
perf, and 5 in perf 6.1, so blanks around it count as one.
Everything else: all lines.
"""
import itertools
import os
import re
import subprocess

DIFFERENCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "doc", "differences.md")
TIMEOUT = 120


def environment(home):
    """Environment of both tools: a separate HOME (no build-id cache, no configuration), no debuginfod."""
    return dict(os.environ, HOME=home, TMPDIR=home, LC_ALL="C", TZ="UTC", PAGER="cat", PERF_PAGER="cat",
                DEBUGINFOD_URLS="")


class Output:
    """Runs a command; has its status, its output, its messages, and the first message."""

    def __init__(self, words, home, cwd=None, **variables):
        try:
            done = subprocess.run(words, capture_output=True, env=environment(home) | variables, stdin=subprocess.DEVNULL,
                                  timeout=TIMEOUT, check=False, cwd=cwd)
            self.status, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.status, out, err = -1, b"", b"timeout"
        self.text = out.decode("utf-8", "replace")
        self.errors = err.decode("utf-8", "replace")
        lines = [line.strip() for line in self.errors.splitlines()]
        self.message = next((line for line in lines if line not in ("", "Error:", "Warning:")), "")


# ---- lines to compare ----

ROW = re.compile(r"^ +\d+\.\d\d%")
TID = re.compile(r"^(\s*\S.*?)\s+(-?\d+(?:/-?\d+)?)\s+(?=\[|\d|[KUHGg]*[MES]?p? +(?:\d|$)|\S+:|PERF_RECORD)")


def report_lines(text):
    """Lines of a report without the tip; consecutive rows with equal text are sorted by their graphs."""
    blocks = []
    for line in text.rstrip("\n").split("\n"):
        line = line.rstrip()
        if line.startswith(("# (Tip", "# (Cannot load tips")):
            continue
        if ROW.match(line) or not blocks or line.startswith("#"):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    out = []
    for head, group in itertools.groupby(blocks, key=lambda b: b[0]):
        group = list(group)
        out.extend(itertools.chain.from_iterable(sorted(group) if ROW.match(head) else group))
    while out and out[-1] in ("", "#"):
        out.pop()
    return out


def script_line(line):
    return (line if line.startswith("\t") else TID.sub(r"\1 \2 ", line, count=1)).rstrip()


def lines_of(words, text):
    """The lines of a command's output to compare; none if it has no rows or samples."""
    if text.strip() == "":
        return []
    if words[0] == "report":
        lines = report_lines(text)
        return lines if "--stdio" not in words or any(ROW.match(line) for line in lines) else []
    lines = text.rstrip("\n").split("\n")
    return [script_line(line) for line in lines] if words[0] == "script" else [line.rstrip() for line in lines]


# ---- intended differences ----


class Mask:
    """row: the first words of the row of doc/differences.md. command: report, script, ..., or None for all. when(file):
    whether the difference can occur for the file. perf: options that make perf do what Sonde does. both: options that
    remove the difference from both outputs. change(file, perf's lines, Sonde's lines) returns both lists without it.
    warning: a text that Sonde's messages must have."""

    def __init__(self, row, command, when, perf=(), both=(), change=None, warning=""):
        self.row, self.command, self.when, self.warning = row, command, when, warning
        self.perf, self.both, self.change = list(perf), list(both), change

    def is_listed(self):
        with open(DIFFERENCES, encoding="utf-8") as f:
            return any(line.startswith("| " + self.row) for line in f)


MMAP = re.compile(r"PERF_RECORD_MMAP2? -?\d+/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)[^\]]*\]:"
                  r" \S+ (.*)$", re.MULTILINE)
FRAME = re.compile(r"^\t *([0-9a-f]+)((?: .*?)?(?:\((.*)\))?)$")


def parse_mappings(text):
    """(start, size, offset, name) of each mapping in the output of `perf script --show-mmap-events`."""
    return {(int(a, 16), int(n, 16), int(off, 16), name) for a, n, off, name in MMAP.findall(text)}


def chain_addresses(file, want, got):
    """Replaces the address of a chain entry in Sonde's lines by perf's number, if that is its offset in the named file."""
    names = {name for _, _, _, name in file.mappings()}
    out = list(got)
    for i, (p, s) in enumerate(zip(want, got)):
        if p == s or not s.startswith("\t"):
            continue
        p, s = FRAME.match(p), FRAME.match(s)
        if p and s and p.group(2) == s.group(2):
            offset, address = int(p.group(1), 16), int(s.group(1), 16)
            if any(address - start + at == offset for start, size, at, name in file.mappings()
                   if start <= address < start + size and (s.group(3) == name or s.group(3) not in names)):
                out[i] = want[i]
    return want, out


def chain_runs(lines):
    """Lines as lists that alternate: lines that are no entries of call chains, and the entries of a chain."""
    runs = [[]]
    for line in lines:
        if line.startswith("\t") != (len(runs) % 2 == 0):
            runs.append([])
        runs[-1].append(line)
    return runs


def longer_chains(_file, want, got):
    """Cuts Sonde's chains to the length of perf's, without perf's entry for an address that it could not read, if perf's
    functions are the first ones of Sonde's."""
    def names(lines):
        return [FRAME.match(line).group(2) if FRAME.match(line) else line for line in lines]

    theirs, mine = chain_runs(want), chain_runs(got)
    if len(theirs) != len(mine):
        return want, got
    for i in range(1, len(theirs), 2):
        if len(theirs[i]) > 1 and theirs[i][-1].startswith("\tffffffffffffffff"):
            theirs[i].pop()
        if names(mine[i][:len(theirs[i])]) == names(theirs[i]):
            mine[i] = mine[i][:len(theirs[i])]
    return tuple([line for run in runs for line in run] for runs in (theirs, mine))


END = re.compile(r"\b0x([0-9a-f]+)(?=[/(])")


def object_addresses(file, want, got):
    """Replaces addresses of perf's branches by Sonde's, if that is the address in the object that is mapped there. Of
    the kernel perf prints the offset from its start."""
    def same(theirs, mine):
        theirs, mine = int(theirs, 16), int(mine, 16)
        return any(start <= theirs < start + size and theirs - start + at == mine or
                   start <= mine < start + size and mine - start == theirs and at == start
                   for start, size, at, name in file.mappings())

    out = []
    for p, s in zip(want, got):
        mine = iter(END.findall(s))
        out.append(END.sub(lambda end, mine=mine: "0x" + (
            lambda theirs, mine: mine if same(theirs, mine) else theirs)(end.group(1), next(mine, "0")), p))
    return out + want[len(out):], got


UNMAPPED = re.compile(r"^([ \d.%]*?) +(\d+) +(.*\[unknown\] +)\[[.k]\] ((?:0x)?[0-9a-f]{16})$")


def joined_unmapped(lines):
    """Lines without the rows of unmapped addresses; and the sums of these rows over [k] and [.]."""
    left, sums, inside = [], {}, False
    for line in lines:
        row = UNMAPPED.match(line)
        inside = row is not None or (inside and line != "" and not line.startswith("#") and not ROW.match(line))
        if row:
            shares = [round(float(word[:-1]) * 100) for word in row.group(1).split()]
            before = sums.get(row.groups()[2:], [0] * (len(shares) + 1))
            sums[row.groups()[2:]] = [a + b for a, b in zip(before, [*shares, int(row.group(2))])]
        elif not inside and line != "":
            left.append(line)
    return left + [f"{where} {numbers}" for where, numbers in sorted(sums.items())]


def without_levels(_file, want, got):
    return joined_unmapped(want), joined_unmapped(got)


def unsigned_cycles(_file, want, got):
    def unsigned(line):
        return re.sub(r"(?<=[ ,])-(?!0)\d+$", lambda n: str(65536 + int(n.group())), line) if ROW.match(line) else line

    return [unsigned(line) for line in want], got


def without_statistics(_file, want, got):
    def rows(lines):
        end = lines.index("# Branch Statistics:") if "# Branch Statistics:" in lines else len(lines)
        return lines[:end] + [line for line in lines[end:] if "%" not in line]

    return rows(want), rows(got)


def folded_data_src(_file, want, got):
    return tuple([re.sub("  +", " ", line) if "|OP " in line else line for line in lines] for lines in (want, got))


def without_ipc(_file, want, got):
    """Removes the columns IPC, which perf fills from branch stacks only."""
    out, cut = [], None
    for line in want:
        if "IPC   [IPC Coverage]" in line:
            cut = line.index("IPC   [IPC Coverage]")
        out.append(line[:cut].rstrip() if line.startswith("#") or ROW.match(line) else line)
    return out, got


def without_rights(_file, want, got):
    return tuple([re.sub(r"(?<=\]: )\S+(?= )", "rights", line) for line in lines] for lines in (want, got))


def hypervisor(_file, want, got):
    return [line.replace(" KUH ", " H   ") for line in want], got


def no_characters(_file, want, got):
    return [line.replace("\ufffd", ".") for line in want], got


def without_tool(_file, want, got):
    return [line.replace("# Tip: use 'perf evlist", "# Tip: use 'sonde evlist") for line in want], got


def bit(name):
    return lambda file: name in file.bits


def never(_file):  # for rows that only recordings of the repository need
    return False


MASKS = [
    Mask("inlined functions: a function whose symbol has another name", "script", bit("STACK_USER"), both=["--no-inline"]),
    Mask("call chains of recorded user stacks", "script", bit("STACK_USER"), change=longer_chains,
         warning="of the unwound call chains are complete"),
    Mask("addresses in the call chains of `script`", "script", bit("CALLCHAIN"), change=chain_addresses),
    Mask("`report` of a pipe stream with call chains", "report", lambda file: file.pipe and "CALLCHAIN" in file.bits,
         both=["--no-children"]),
    Mask("`report` of branches: cycles above 32767", "report", bit("BRANCH_STACK"), change=unsigned_cycles),
    Mask("`report` of branches: Branch Statistics", "report", never, change=without_statistics),
    Mask("call chains of recorded user stacks", "report", bit("STACK_USER"), both=["--no-children", "-g", "none"]),
    Mask("`report`: the level, `[k]` or `[.]`", "report", bit("CALLCHAIN"), change=without_levels),
    Mask("`script`: columns after `data_src`", "script", bit("DATA_SRC"), change=folded_data_src),
    Mask("`script -F brstackoff`", "script", never, change=object_addresses),
    Mask("`script --show-mmap-events` of a recording in the other byte order", "script", never, change=without_rights),
    Mask("`script -F misc` of a sample in a hypervisor", "script", never, change=hypervisor),
    Mask("`script -F bpf-output`, bytes above 0x9f", "script", never, change=no_characters),
    Mask("`report -s symbol`, `-s symbol_size`", "report", never, change=without_ipc),
    Mask("`evlist`, tip for tracepoints", "evlist", never, change=without_tool),
]
