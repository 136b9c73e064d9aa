#!/usr/bin/env python3
"""Compares `sonde stat report` with the installed perf on the same recordings, as TAP: report.py SONDE.

Some recordings are generated (make_stat.py), as test machines may have no hardware counters; both tools record others.
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from make_stat import CORE, NONE, SOCKET, DIE, THREAD, Event, recording  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
T = 10_000_000
count = failed = 0


def result(good, name, *notes):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {name}")
    for note in notes if not good else ():
        for line in note.splitlines():
            print("#  ", line)


def run(tool, path, *options):
    done = subprocess.run([tool, "stat", "report", "-i", path, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"})
    return f"status {done.returncode}\n{done.stdout}"


def compare(name, path, *options):
    want, got = run("perf", path, *options), run(SONDE, path, *options)
    # both warn that the counts are not by cpu, with different texts
    want, got = (re.sub("^warning: processing task.*$|^the counts are those of tasks.*$", "WARNING", t, flags=re.M)
                 for t in (want, got))
    result(want == got, " ".join([name, *options]), "perf:\n" + want, "sonde:\n" + got)


def ran(*values):
    """Events from (name, value), which were counted all the time."""
    return [Event(name, [[(value, T, T)]]) for name, value in values]


def shared(*cells):
    return [Event("cycles", [[*cells]]), Event("task-clock", [[(T + i, T, T) for i in range(len(cells))]])]


USUAL = (("task-clock", T), ("context-switches", 1234567), ("cpu-migrations", 12), ("page-faults", 10**7),
         ("cycles", 38123456), ("instructions", 50123456), ("branches", 9123456), ("branch-misses", 123456))
CACHES = (("L1-dcache-loads", 1000), ("L1-dcache-load-misses", 30), ("LLC-loads", 500), ("LLC-load-misses", 200),
          ("L1-icache-loads", 1000), ("L1-icache-load-misses", 1), ("dTLB-loads", 100), ("dTLB-load-misses", 60),
          ("iTLB-loads", 100), ("iTLB-load-misses", 11), ("L1-dcache-prefetches", 10),
          ("L1-dcache-prefetch-misses", 1))
MACHINE = {"threads": ((-1, ""),)}


def made(path):
    def make(name, events, *options, **how):
        recording(path, events, **how)
        compare(name, path, *options)

    make("the usual events", ran(*USUAL), times=(12_000_000,))
    make("stalled cycles", ran(("task-clock", T), ("cycles", 38123456), ("stalled-cycles-frontend", 5000000),
                               ("stalled-cycles-backend", 7000000), ("instructions", 50123456)))
    for name, nothing in (("not counted", (0, T, 0)), ("zero", (0, T, T))):
        for value, base in (("context-switches", "task-clock"), ("cycles", "task-clock"), ("instructions", "cycles"),
                            ("stalled-cycles-frontend", "cycles"), ("stalled-cycles-backend", "cycles"),
                            ("cache-misses", "cache-references"), ("branch-misses", "branches"),
                            ("L1-dcache-load-misses", "L1-dcache-loads"), ("LLC-load-misses", "LLC-loads"),
                            ("dTLB-load-misses", "dTLB-loads")):
            make(f"{value}, {base} {name}", [Event(value, [[(600, T, T)]]), Event(base, [[nothing]])])
    make("no clock", ran(("cycles", 38123456), ("instructions", 50123456), ("stalled-cycles-frontend", 5000000),
                         ("stalled-cycles-backend", 7000000), ("branches", 1000), ("branch-misses", 900),
                         ("cache-references", 1000), ("cache-misses", 350), ("ref-cycles", 5), ("bus-cycles", 99)))
    make("the same with a clock", ran(("task-clock", T), ("ref-cycles", 5), ("bus-cycles", 99),
                                      ("cache-references", 1000), ("cache-misses", 350)))
    make("caches", ran(*CACHES))
    make("caches and a clock", ran(("task-clock", T), *CACHES))
    make("misses without their totals",
         ran(("task-clock", T), ("cache-misses", 7), ("LLC-load-misses", 8), ("branch-misses", 9),
                             ("instructions", 5)))
    make("misses before their totals", ran(("branch-misses", 9), ("branches", 90), ("instructions", 5),
                                             ("cycles", 7), ("task-clock", T)))
    make("user space", ran(("cycles:u", 10**7), ("instructions:u", 2 * 10**7), ("task-clock:u", T),
                           ("page-faults:u", 5)))
    make("long names and units", [*ran(("task-clock", T), ("a-quite-long-event-name-of-31-ch", 5),
                                       ("a-quite-long-event-name-of-more-than-that", 5)),
                                  Event("power/energy-pkg/", [[(12345678, T, T)]], "Joules", 2.3283064365386963e-10),
                                  Event("foo", [[(12345678, T, T)]], "MiB", 6.103515625e-5),
                                  Event("bar", [[(12345678, T, T)]], "%", 1.0)])
    make("shared counters", [*ran(("task-clock", T)), Event("cycles", [[(10**7, T, T // 4)]]),
                             Event("instructions", [[(10**7, T, T // 3)]]), Event("branches", [[(0, T, 0)]]),
                             Event("page-faults", [[(0, 0, 0)]]), Event("branch-misses", [None])])
    make("shared counters, not scaled", shared((10**7, T, T // 4)), scale=0)
    make("big numbers", ran(("cycles", 2**63), ("instructions", 2**60 + 3), ("task-clock", 10**15)))
    make("rounding", shared((1000003, T, T * 2 // 3)))
    uneven = ((10**6, T, T // 2), (3 * 10**6, T, T))
    for by in (None, NONE, SOCKET, DIE, CORE):
        how = {"aggr": by} if by is not None else {}
        make(f"cpus, recorded by {by}", shared(*uneven), cpus=2, **MACHINE, **how)
    for option in ("-A", "--per-core", "--per-die", "--per-socket", "--per-node"):
        make("cpus", shared(*uneven), option, cpus=2, **MACHINE)
    yes, never, late = (5, T, T), (0, 0, 0), (0, T, 0)
    for cells in itertools.product((yes, never, late), repeat=2):
        name = "cpus that do not count: " + " ".join("yes" if c == yes else "never" if c == never else "late" for c in cells)
        for by in ("--per-socket", "--per-core", "--per-node"):
            make(name, [Event("context-switches", [[(7, T, T)] * 4]), Event("page-faults", [[*cells, yes, *cells[:1]]])], by,
                 cpus=4, **MACHINE)
    threads = ((11, "abc"), (4000000, "a-long-comm-1234"))
    make("threads", shared(*uneven), aggr=THREAD, threads=threads)
    make("threads in one", shared(*uneven), threads=threads)
    rising = [Event("task-clock", [[(T * (k + 1) + k * k * 777, T * (k + 1), T * (k + 1))] for k in range(4)]),
              Event("cycles", [[(3 * T * (k + 1) + k * 5, T * (k + 1), T * (k + 1))] for k in range(4)]),
              Event("instructions", [[(2 * T * (k + 1) + k * k * 9, T * (k + 1), T * (k + 1))] for k in range(4)]),
              Event("context-switches", [[(1000 * k, T * (k + 1), T * (k + 1))] for k in range(4)])]
    make("intervals", rising, interval=10, times=[T * (k + 1) for k in range(4)])
    make("intervals of cores", [Event("task-clock", [[(T * (k + 1) + c * k, T * (k + 1), T * (k + 1))
                                                      for c in range(2)] for k in range(30)]),
                                Event("page-faults", [[(k * k, T * (k + 1), T * (k + 1))
                                                       for c in range(2)] for k in range(30)])],
         "--per-core", cpus=2, interval=10, times=[T * (k + 1) for k in range(30)], **MACHINE)


def forms(name, path, *by):
    """perf accepts the form only before the word `report`, prints "(null)" for a missing unit, and truncates the percentage
    of time counted to an integer (doc/differences.md: `stat report`; `stat -j`; `stat -x`, `-j`)."""
    for form in ("-x,", "-x\\t", "-j"):
        texts = []
        for tool, words in (("perf", [form, "report", "-i", path, *by]), (SONDE, [form, "report", "-i", path, *by]),
                            (SONDE, ["report", "-i", path, form, *by])):
            done = subprocess.run([tool, "stat", *words], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
            text = done.stderr.replace('"metric-unit" : "(null)"', '"metric-unit" : ""')
            text = re.sub(r'("pcnt-running" : |\d[,\t])(\d+)\.\d\d(?=[,\t])', r"\1\2", text)
            # 99.996 is truncated to 99, but rounded to 100.00
            text = re.sub(r'("pcnt-running" : |\d[,\t])99(?=[,\t])', r"\g<1>100", text)
            texts.append((done.returncode, done.stdout, text))
        result(texts[0] == texts[1] == texts[2] and texts[0][2] != "", f"{name}, {form}", *map(str, texts))


def metrics(path):
    """perf prints a header line only in some forms, and omits a name in it (doc/differences.md): values are compared."""
    def lines(tool, *options):
        got = subprocess.run([tool, "stat", "--metric-only", *options, "report", "-i", path, *by], capture_output=True,
                             text=True, env={**os.environ, "LC_ALL": "C"})
        return got.stderr.splitlines()

    def two(*values):
        return [Event(name, [[(v, T, T), (2 * v + 3, T, T)]]) for name, v in values]

    events = (*USUAL, *CACHES, ("stalled-cycles-frontend", 5000000), ("stalled-cycles-backend", 7000000),
              ("cache-references", 1000), ("cache-misses", 350))
    recording(path, two(*events), cpus=2, **MACHINE)
    for by in ([], ["-A"], ["--per-core"], ["--per-socket"]):
        forms(" ".join(["all metrics", *by]), path, *by)
    for by in ([], ["-A"], ["--per-core"], ["--per-socket"], ["--per-node"]):
        want, got = lines("perf", "-x,"), lines(SONDE, "-x,")
        result(want[1:] == got[1:] and len(got) > 1, " ".join(["--metric-only", *by]), "\n".join(want), "\n".join(got))
        objects = [json.loads(line) for line in lines(SONDE, "-j")]
        cells = [line.split(",")[:-1] for line in got[1:]]
        result([sum(v is not None for v in o.values()) for o in objects] == [sum(v != "" for v in c) for c in cells]
               and cells != [],
               " ".join(["--metric-only -j: as many values as -x", *by]))
        if by == ["-A"]:
            head = got[0].replace("stalled cycles per insn,", "")
            result(head == want[0], "--metric-only: names of metrics", want[0], head)
    by = []
    recording(path, [Event("task-clock", [[(T * (k + 1), T * (k + 1), T * (k + 1))] for k in range(3)]),
                     Event("cycles", [[(30 * (k + 1), T * (k + 1), T * (k + 1))] for k in range(3)]),
                     Event("instructions", [[(40 * (k + 1) + k, T * (k + 1), T * (k + 1))] for k in range(3)])],
              interval=10, times=[T * (k + 1) for k in range(3)])
    want, got = lines("perf", "-x,"), lines(SONDE, "-x,")
    result(want[1:] == got[1:] and len(got) == 4, "--metric-only: intervals", "\n".join(want), "\n".join(got))
    text = lines(SONDE)
    result(text[0].split() == ["#", "time", "GHz", "insn", "per", "cycle"] and len({len(t) for t in text}) == 1,
           "--metric-only: columns are aligned with their names", "\n".join(text))


def not_utf8(path):
    """Bytes that are not UTF-8 become U+FFFD, as in all JSON output of sonde (doc/differences.md: `stat -j`)."""
    recording(path, [Event("n\udcffame", [[(5, T, T), (6, T, T)]])], aggr=THREAD, threads=((11, "t\udcc3<"), (12, "x")))
    done = subprocess.run([SONDE, "stat", "report", "-i", path, "-j"], capture_output=True)
    try:
        lines = [json.loads(line) for line in done.stderr.decode().splitlines()]
    except ValueError as e:
        lines = [{"event": str(e), "thread": ""}]
    got = sorted((line["event"], line["thread"]) for line in lines)
    want = [("n\ufffdame", "t\ufffd<-11"), ("n\ufffdame", "x-12")]
    result(got == want, "JSON of names that are not UTF-8", str(want), str(got), str(done.stderr))


def recorded(folder):
    clocks = ["-e", "task-clock,context-switches", "-e", "page-faults"]
    for tool in ("perf", SONDE):
        for name, words in (("a command", ["true"]), ("the machine", ["-a", *clocks, "sleep", "0.01"]),
                            ("intervals", ["-I", "10", "-a", *clocks, "sleep", "0.05"]),
                            ("cores", ["-a", "--per-core", *clocks, "sleep", "0.01"]),
                            ("cpus", ["-a", "-A", *clocks, "sleep", "0.01"]),
                            ("one cpu", ["-C", "0", *clocks, "sleep", "0.01"]),
                            ("nodes", ["-a", "--per-node", *clocks, "sleep", "0.01"]),
                            ("a group", ["-e", "{task-clock,page-faults:u}", "-e", "cycles", "true"]),
                            ("threads", ["--per-thread", "-p", str(os.getpid()), *clocks, "sleep", "0.01"]),
                            ("one group", ["-g", *clocks, "true"]),
                            ("cgroups", ["--for-each-cgroup", "/,", "-a", "-e", "cs,page-faults", "sleep", "0.01"]),
                            ("tools", ["-e", "duration_time,user_time,cs", "true"]),
                            ("tools of cpus", ["-a", "-e", "duration_time,cs", "-e", "system_time", "sleep", "0.01"]),
                            ("tools of a cpu", ["-C", "0", "-e", "duration_time,cs", "sleep", "0.01"]),
                            ("tools, intervals", ["-a", "-I", "10", "-e", "duration_time,cs", "sleep", "0.03"]),
                            ("tools, a thread", ["--per-thread", "-p", str(os.getpid()), "-e", "duration_time,cs", "true"]),
                            ("late", ["-D", "10", "-a", *clocks, "sleep", "0.02"]),
                            ("never", ["-D", "-1", *clocks, "true"]),
                            ("a time", ["--timeout", "20", "-a", *clocks, "sleep", "1"])):
            path = os.path.join(folder, f"{os.path.basename(tool)}-{name}.data".replace(" ", "-"))
            subprocess.run([tool, "stat", "record", "-o", path, *words], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            compare(f"{name} of {os.path.basename(tool)}", path)
            for option in ("-A", "--per-core", "--per-socket"):
                compare(f"{name} of {os.path.basename(tool)}", path, option)
            forms(f"{name} of {os.path.basename(tool)}", path)
    # perf cannot read the file that it writes for this
    path = os.path.join(folder, "all-threads.data")
    subprocess.run([SONDE, "stat", "record", "-o", path, "--per-thread", "-a", "-e", "cs,page-faults", "sleep", "0.02"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    compare("all threads of sonde", path)


if subprocess.run(["perf", "stat", "-n", "true"], capture_output=True).returncode != 0:
    print("1..0 # SKIP there is no perf, or it may not count")
    sys.exit(0)
with tempfile.TemporaryDirectory() as scratch:
    made(os.path.join(scratch, "made.data"))
    metrics(os.path.join(scratch, "metrics.data"))
    not_utf8(os.path.join(scratch, "names.data"))
    recorded(scratch)
print(f"1..{count}")
sys.exit(failed != 0)
