#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of `sonde report --json` must have the values of `perf report`, as TAP: report_json.py SONDE PROGRAM.

The recording is generated: threads on cpus of two sockets, control groups, weights, two events, functions of PROGRAM,
and addresses without symbols. The fields of SORTS and SETS are compared.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from recording import CGROUP_ID, CODE_PAGE, CPU, ID, IP, KERNEL, PERIOD, TID, TIME, USER, WEIGHT, Event, Recording  # noqa: E402
from tap import result  # noqa: E402

SONDE, PROGRAM = (os.path.realpath(p) for p in sys.argv[1:3])
BASE = 0x400000
SHARES = ["overhead", "overhead_sys", "overhead_us", "overhead_guest_sys", "overhead_guest_us"]
SORTS = ["comm", "pid", "cpu", "socket", "time", "cgroup", "weight", "local_weight", "code_page_size",
         "dso", "sym",
         "comm,dso,sym", "sym,time", "cgroup,cpu,local_weight"]
SETS = [["-F", ",".join(fields), "-s", sort] for sort in SORTS
        for fields in (["overhead", "sample", "period"], [*SHARES, "sample"])]
SETS += [["-n", "--show-total-period"], ["-s", "dso", "-n", "--percent-limit", "30"], ["-c", "task0", "-s", "comm,cpu"]]


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def code():
    """Addresses of functions of PROGRAM, with its executable segment mapped at BASE; file offset and size of the segment."""
    words = [line.split() for line in run("readelf", "-lW", PROGRAM)[1].splitlines()]
    offset, start, size = next((int(w[1], 16), int(w[2], 16), int(w[4], 16)) for w in words
                               if w[:1] == ["LOAD"] and "E" in w[6:-1])
    names = [line.split() for line in run("nm", "--defined-only", PROGRAM)[1].splitlines()]
    found = [int(w[0], 16) for w in names if w[2].startswith("sonde_pt_") and start <= int(w[0], 16) < start + size]
    return [BASE + address - start for address in found[:12]], offset, size


def make(path):
    rng = random.Random(5)
    functions, offset, size = code()
    bits = IP | TID | TIME | ID | CPU | PERIOD | WEIGHT | CGROUP_ID | CODE_PAGE
    r = Recording([Event(1, 0, sample_type=bits), Event(1, 2, sample_type=bits)])
    r.sockets = [0, 0, 1, 1]
    for number, name in ((1, "/"), (700, "/first"), (701, "/second")):
        r.cgroup(1, number, name)
    threads = [(100, 100), (100, 101), (200, 200), (200, 201)]
    for i, (pid, tid) in enumerate(threads):
        r.comm(1, f"task{i % 3}", pid, tid)
        r.mmap(1, pid, BASE, size, PROGRAM, offset)
    for n in range(400):
        kernel = n % 7 == 0
        r.sample(10**9 + n * 10**6, rng.choice([0xffffffff81000010] if kernel else [*functions, 0x10, 0x20]),
                 *rng.choice(threads), mode=KERNEL if kernel else USER, cpu=rng.randrange(4), event=n % 3 == 0, period=rng.randrange(1000, 2000), weight=rng.randrange(1, 9),
                 cgroup=rng.choice([1, 700, 701]), code_page=rng.choice([0, 4096, 2 << 20]))
    r.write(path)
    return len(functions)


def rows_of_perf(path, words):
    """[rows of an event], where a row is a list of cells."""
    out = run("perf", "report", "--stdio", "-i", path, "--kallsyms=/dev/null", "-t", "|", *words)[1]
    events = []
    for line in out.splitlines():
        if line.startswith("# Samples: "):
            events.append([])
        elif line.strip() and not line.startswith("#"):
            events[-1].append([cell.strip() for cell in line.split("|")])
    return events


def undocumented():
    """Fields of rows that doc/json.md does not describe."""
    page = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "doc", "json.md"), encoding="utf-8").read()
    section = page.split("## `sonde report --json`")[1].split("\n## ")[0]
    table = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.M)
    described = set(re.findall(r"`(\w+)`", " ".join(table)))
    fields = re.findall(r"^  ([a-z_]+)(?:, [a-z_]+)? {2,}", run(SONDE, "report", "--help")[1].split("\nKeys: ")[1], re.M)
    return len(fields), [field for field in fields if field not in described]


def cell(name, row):
    """The cell of perf's text that is expected for a member of a JSON row."""
    value = row[name]
    if name == "sym":
        mark = "[k] " if row["kernel"] else "[.] "
        return mark + (value if value is not None else f"0x{row['address']:016x}")
    if name == "time":
        return f"{value // 10**9}.{value % 10**9 // 1000:06}"
    if name == "code_page_size":
        return {0: "N/A", 4096: "4K", 2 << 20: "2M"}[value]
    return str(value) if isinstance(value, int) else value


def same(value, text):
    """Whether a value equals perf's cell; shares have two digits in the text."""
    return abs(value - float(text[:-1])) < 0.00501 if isinstance(value, float) else value == text


def text_of(name, text):
    if name == "tid":
        return text.split(":")[0].strip()
    return str(int(text)) if name in ("cpu", "socket", "sample", "period", "weight", "local_weight") else text


def compare(path, words):
    code, out, err = run(SONDE, "report", "--json", "-i", path, "--kallsyms=/dev/null", *words)
    ours = json.loads(out or '{"schema":null,"version":0,"events":[]}')
    theirs = rows_of_perf(path, words)
    good = (code, err) == (0, "") and (ours["schema"], ours["version"]) == ("sonde-report", 1) and len(theirs) == 2
    differ, n = [], 0
    for event, rows in zip(ours["events"], theirs):
        good = good and len(event["rows"]) == len(rows)
        for row, cells in zip(event["rows"], rows):
            left_out = {"kernel", "address"} | ({"comm"} if "-c" in words else set())  # above rows in perf
            names = [name for name in row if name not in left_out]
            mine = [cell(name, row) for name in names]
            want = [text_of(name, text) for name, text in zip(names, cells)]
            n += 1
            if not all(map(same, mine, want)):
                differ.append(f"{mine} but perf {want}")
    result(good and n > 1 and not differ, f"report --json {' '.join(words)}: {n} rows", err, *differ)


def main():
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        path = os.path.join(folder, "perf.data")
        result(make(path) > 5, "PROGRAM has functions to sample")
        for words in SETS:
            compare(path, words)
        code, out, _ = run(SONDE, "report", "--json", "-s", "event", "-i", path)
        rows = [(event["name"], [row["event"] for row in event["rows"]]) for event in json.loads(out)["events"]]
        result(len(rows) == 2 and all(names == [name] for name, names in rows),
               "report --json -s event: one row for each event", rows)
    number, missing = undocumented()
    result(number > 50 and not missing, f"doc/json.md describes the {number} fields of rows", missing)
    return tap.end()


sys.exit(main())
