#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`stat -o -`, `stat record -o -` and `stat report -i -` beside those of perf, as TAP: streams.py SONDE.

Both tools read each stream, and print the same bytes for it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
EVENTS = "context-switches,page-faults,task-clock"
FORMS = {
    "a command": ["-e", EVENTS, "true"],
    "a command that prints": ["-e", EVENTS, "echo", "printed"],
    "intervals": ["-I", "30", "-e", EVENTS, "sleep", "0.1"],
    "the machine": ["-a", "-e", "task-clock,page-faults", "sleep", "0.05"],
    "each cpu": ["-A", "-a", "-e", "task-clock", "sleep", "0.05"],
    "one event, its name in capitals": ["-e", "task-clock/name=OWN/", "true"],
}


def run(*argv, stdin=b"", stdout=subprocess.PIPE):
    p = subprocess.run(argv, input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=60,
                       env={**os.environ, "LC_ALL": "C", "HOME": os.getcwd()})
    return p.returncode, p.stdout or b"", p.stderr.decode()


def records(stream):
    """Types of the records, without the kernel's mapping, which only perf writes, and the marks of rounds, which only
    Sonde writes."""
    out = run(SONDE, "dump", "-i", "-", stdin=stream)[1].decode()
    return [t for t in re.findall(r"^0x[0-9a-f]+ (\w+) ", out, re.M) if t not in ("MMAP", "FINISHED_ROUND")]


def recordings():
    for what, words in FORMS.items():
        seen = []
        for tool in ("perf", SONDE):
            name = os.path.basename(tool)
            status, stream, err = run(tool, "stat", "record", "-o", "-", *words)
            text = "printed\n" if "echo" in words else ""
            result((status, err, stream[:8], os.path.exists("-")) == (0, text, b"PERFILE2", False),
                   f"{what}: {name} writes a stream and nothing else", f"{status} {err} {stream[:8]}")
            result(run(SONDE, "check", "-i", "-", stdin=stream)[0] == 0, f"{what}: the stream of {name} is whole")
            seen.append(records(stream))
            if tool == SONDE:
                result(run(SONDE, "check", "-i", "-", stdin=stream[:-8])[0] == 1, f"{what}: a truncated stream is not")
            for extra in ([], ["-x,"]):
                want = run("perf", "stat", *extra, "report", "-i", "-", stdin=stream)
                got = run(SONDE, "stat", *extra, "report", "-i", "-", stdin=stream)
                result(want == got and len(got[2]) > 15,
                       f"{what}: {name}'s stream, {' '.join(extra)} report: the same bytes as perf",
                       f"{want[2]}{got[2]}")
            default = run(SONDE, "stat", "report", stdin=stream)
            result(default == run(SONDE, "stat", "report", "-i", "-", stdin=stream) and "'pipe'" in default[2]
                   or "-I" in words, f"{what}: a pipe on standard input needs no -i, and is named 'pipe'", default[2])
        shape = [sorted(set(s)) if "-I" in words else s for s in seen]
        result(shape[0] == shape[1] and "STAT_ROUND" in shape[0], f"{what}: both write the same records", f"{shape}")


def full():
    with open("/dev/full", "wb") as out:
        status, _, err = run(SONDE, "stat", "record", "-o", "-", "-e", EVENTS, "true", stdout=out)
    result((status, err) == (1, "Error: cannot write standard output: No space left on device\n"),
           "stat record -o - >/dev/full: status 1 and the reason", f"{status} {err}")


def counts():
    """-o - prints to standard error, without the line with the date, and makes no file named '-'."""
    for words in (["-o", "-"], ["--append", "-o", "-"], ["-o", "-", "-x,"]):
        texts = []
        for tool in ("perf", SONDE):
            status, out, err = run(tool, "stat", *words, "-e", "context-switches", "true")
            texts.append((status, out, re.sub(r"[\d.]+", "N", err), os.path.exists("-")))
        result(texts[0] == texts[1] and texts[1][0] == 0 and "context-switches" in texts[1][2] and not texts[1][3],
               f"{' '.join(words)}: printed on standard error, as in perf", f"{texts}")


def main():
    if shutil.which("perf") is None or not run("perf", "version")[1].startswith(b"perf version 6.1"):
        print("1..0 # SKIP perf 6.1 is not installed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        recordings()
        full()
        counts()
        os.chdir("/")
    return tap.end()


sys.exit(main())
