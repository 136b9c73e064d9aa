#!/usr/bin/env python3
"""Counts the same work with the installed perf and with sonde, as TAP: live.py SONDE.

Counts differ from run to run, so numbers are masked. Everything else must be equal: fields, names, units, columns,
order, events that are not counted, and the exit status. Counts that do not change from run to run are compared too.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from shape import ENV, SOFT, SONDE, compare, done, need_perf, result, run

def shapes(idle, busy):
    """idle: a process that never runs; busy: one that always does."""
    work = ["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done"]
    nap = ["sleep", "0.05"]
    several = ["sleep", "0.4"]  # long enough for intervals, and for a thread to run on a busy machine
    for form in ([], ["-x,"], ["-j"]):
        compare(" ".join(["default events", *form]), [*form, *work])
        compare(" ".join(["software events", *form]), [*form, "-e", SOFT, *work])
        compare(" ".join(["repeats", *form]), [*form, "-r", "3", "-e", "cycles", *work])
        for by in ([], ["-A"], ["--per-core"], ["--per-socket"], ["--per-die"], ["--per-node"]):
            compare(" ".join(["the machine", *by, *form]), [*form, "-a", *by, "-e", SOFT, *nap])
        compare(" ".join(["one cpu", *form]), [*form, "-C", "0", "-e", SOFT, *nap])
        compare(" ".join(["a process that never runs", *form]), [*form, "-p", str(idle.pid), "-e", SOFT, *nap])
        compare(" ".join(["intervals", *form]), [*form, "-I", "20", "-a", "-e", SOFT, *several])
        compare(" ".join(["intervals by core", *form]),
                [*form, "-I", "20", "-a", "--per-core", "-e", SOFT, *several])
        compare(" ".join(["interval count", *form]),
                [*form, "-I", "20", "--interval-count", "3", "-a", "-e", SOFT, "sleep", "2"])
        compare(" ".join(["interval count and summary", *form]),
                [*form, "-I", "20", "--interval-count", "2", "--summary", "-a", "-e", SOFT, "sleep", "0.6"])
        compare(" ".join(["threads", *form]), [*form, "--per-thread", "-t", str(busy.pid), "-e", SOFT, *several])
        compare(" ".join(["detail", *form]), [*form, "-d", "-d", "-d", *work])
    compare("tracepoints and a PMU", ["-e", "sched:sched_process_exit,msr/tsc/", "-e", "raw_syscalls:sys_enter", *work])
    compare("a filter", ["-e", "raw_syscalls:sys_enter", "--filter", "id == 1", *work])
    compare("a PMU event on all cpus", ["-a", "-A", "-e", "msr/tsc/", *nap])
    compare("-n counts nothing", ["-n", *work])
    compare("default events of -a", ["-a", *nap])
    compare("user space", ["-e", "page-faults:u,cycles:u", *work])
    compare("no big numbers", ["--no-big-num", "-e", "task-clock", *work])
    compare("a group", ["-e", "{task-clock,cs}", "-e", "page-faults", *work])
    for tool in ("perf", SONDE):
        got = run(tool, ["-e", "{cycles,instructions}", "-e", "page-faults", *work])
        result(got[0] in (0, 255) and (got[0] == 0 or "not supported" in got[1]),
               "an unsupported group: " + os.path.basename(tool), got[1])
    compare("no inheritance", ["-i", "-e", SOFT, *work])
    compare("timeout", ["--timeout", "150", "-e", SOFT, "sleep", "5"])
    compare("delay", ["-D", "20", "-e", SOFT, "sleep", "0.06"])
    # a busy perf sometimes loses the status of a command that ends before perf waits for it
    compare("the status of the command", ["-e", "page-faults", "sh", "-c", "exit 7"], tries=3)
    compare("a command that is killed", ["-e", "page-faults", "sh", "-c", "kill -9 $$"], tries=3)


def cgroups():
    """In a new cgroup: one name is for all events, several names are for one event each."""
    root = next((m.split()[1] for m in open("/proc/mounts") if m.split()[2] == "cgroup2"), None)
    path = os.path.join(root or "/nowhere", f"sonde-test-{os.getpid()}")
    try:
        os.mkdir(path)
    except OSError as why:
        result(True, f"cgroups # SKIP {why}")
        return
    name = os.path.basename(path)
    for form in ([], ["-x,"], ["-j"]):
        for names in (name, f"{name},", f",{name}", f"{name},,{name}"):
            shown = names.replace(name, "G")
            compare(" ".join(["cgroups", shown, *form]),
                    [*form, "-a", "-e", "cs,task-clock,page-faults", "-G", names, "sleep", "0.01"], cgroups=True)
    os.rmdir(path)


def means():
    """Repeats that touch more pages each time: Sonde prints the mean of the counts, perf the last count."""
    code = ("n = int(open('n').read())\nopen('n', 'w').write(str(n + 1))\n"
            "b = bytearray(n << 22)\nfor i in range(0, len(b), 4096): b[i] = 1")
    pattern = {"": r"(\d+) +page-faults:u", "-x,": r"(\d+),,page-faults:u", "-j": r'"counter-value" : "([\d.]+)"'}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "n")
        for form, digits in pattern.items():
            found = []
            for tool, words in (("perf", []), ("perf", ["-r", "4"]), (SONDE, ["-r", "4"])):
                with open(path, "w", encoding="ascii") as f:
                    f.write("1")
                done = subprocess.run([tool, "stat", *words, *form.split(), "-e", "page-faults:u", sys.executable, "-S", "-c",
                                       code], capture_output=True, text=True, cwd=folder, env=ENV)
                count = re.search(digits, done.stderr)
                found.append(float(count.group(1)) if count else 0)
            more = [n - found[0] for n in found[1:]]  # faults more than in a single run
            result(abs(more[0] - 3 * 1024) < 100 and abs(more[1] - 1.5 * 1024) < 100,
                   f"repeats {form}: the mean count; perf prints the last".replace("  ", " "), str(found))


def counts():
    """Counts that do not change from run to run are equal: page faults of a program that touches its memory."""
    code = "b = bytearray(8 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1"
    for words in (["-e", "page-faults:u", sys.executable, "-S", "-c", code],
                  ["-e", "{page-faults,task-clock}", sys.executable, "-S", "-c", code]):
        faults = []
        for tool in ("perf", SONDE):
            line = run(tool, ["-j", *words])[1].splitlines()[0]
            faults.append(float(json.loads(line)["counter-value"]))
        result(abs(faults[0] - faults[1]) < 0.02 * faults[0] and faults[0] > 2000,
               f"page faults of perf and Sonde differ by less than 2%: {faults}")
    clocks = [json.loads(line) for line in run(SONDE, ["-j", "-a", "-A", "-e", "cpu-clock", "sleep", "0.2"])[1].splitlines()]
    result(all(150 < float(d["counter-value"]) < 1000 for d in clocks) and len(clocks) == os.cpu_count(),
           "cpu-clock counts on every cpu")
    lines = run(SONDE, ["-I", "50", "--interval-count", "7", "-x,", "-a", "-e", "cpu-clock", "sleep", "60"])[1].splitlines()
    stamps = [float(line.split(",")[0]) for line in lines]
    result(len(stamps) == 7 and all(0.05 * k <= t < 60 for k, t in enumerate(stamps, 1)) and stamps == sorted(set(stamps)),
           f"no interval ends early, and none is missing: {stamps}")


need_perf()
with subprocess.Popen(["sleep", "600"]) as idle, \
        subprocess.Popen(["sh", "-c", "ulimit -t 300; while :; do :; done"]) as busy:
    try:
        shapes(idle, busy)
    finally:
        idle.kill()
        busy.kill()
cgroups()
means()
counts()
done()
