#!/usr/bin/env python3
"""Options of `sonde stat` beside those of the installed perf, as TAP: options.py SONDE."""
import os
import re
import signal
import subprocess
import tempfile
import time

from shape import ENV, SOFT, SONDE, compare, done, mask, need_perf, result, run


def repeats():
    for form in ([], ["-x,"], ["-j"]):
        compare(" ".join(["a table of runs", *form]), [*form, "--table", "-r", "3", "-e", SOFT, "sleep", "0.01"])
    compare("hooks", ["--pre", "echo before", "--post", "echo behind", "-r", "2", "-e", SOFT, "true"])
    compare("a hook behind that fails", ["--pre", "echo before", "--post", "false 2>&1", "-S", "-e", SOFT, "true"],
            without="ended with status")
    got = run(SONDE, ["--pre", "exit 3", "-e", SOFT, "echo", "ran"])
    result(got[0] == 255 and "ended with status 3" in got[1] and "ran" not in got[2], "a hook that fails ends it", got[1])
    # marks in the table: how far each time is from the mean
    with tempfile.TemporaryDirectory() as folder:
        script = 'n=$(head -1 "$0"); sed -i 1d "$0"; exec sleep $n'
        naps = os.path.join(folder, "naps")
        with open(naps, "w") as f:
            f.write("0.05\n0.1\n0.2\n")
        text = run(SONDE, ["--table", "-n", "-r", "3", "sh", "-c", script, naps])[1]
    rows = re.findall(r"^ +([\d.]+) \(([+-][\d.]+)\) (#+)$", text, re.M)
    good = len(rows) == 3
    for t, off, marks in rows:
        good &= abs(len(marks) - (int(20 * abs(float(off)) / float(t)) + 1)) <= 1
    result(good, "marks are twentieths of the time", text)


def for_ever():
    for form in ([], ["-x,"], ["-j"]):
        texts = []
        for tool in ("perf", SONDE):
            p = subprocess.Popen([tool, "stat", "-r", "0", *form, "-e", SOFT, "sleep", "0.05"], stderr=subprocess.PIPE,
                                 text=True, env=ENV)
            time.sleep(0.6)
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=20)[1].replace("sleep: Interrupt\n", "")
            runs = err.count("page-faults")
            first = err[:err.index("seconds time elapsed")] if not form else "".join(err.splitlines(True)[:4])
            texts.append((p.returncode, runs > 2, mask(first)))
        result(texts[0] == texts[1], " ".join(["for ever", *form]), str(texts[0]), str(texts[1]))


def intervals():
    compare("a screen for each interval", ["--interval-clear", "-I", "30", "-a", "-e", SOFT, "sleep", "0.1"])


def others():
    compare("one group of all", ["-g", "-e", "cs,task-clock", "true"])
    compare("what needs nothing done", ["--hybrid-merge", "--no-merge", "--metric-no-group", "--metric-no-merge",
                                        "--percore-show-thread", "--td-level", "1", "-S", "-e", SOFT, "true"])
    compare("a metric that is not known", ["-M", "nothing", "-e", SOFT, "true"], without="nothing'")
    for words in (["-T"], ["--topdown"], ["--topdown", "-a"], ["--smi-cost"], ["--iostat"], ["--iostat=list"],
                  ["--cputype", "nothing"], ["--table"], ["-r", "-1"], ["-r", "x"]):
        want, got = run("perf", [*words, "true"]), run(SONDE, [*words, "true"])
        result(want[0] != 0 and got[0] != 0 and words[0].split("=")[0].replace("-r", "--repeat") in got[1],
               "refused with the reason: " + " ".join(words), want[1], got[1])


need_perf()
repeats()
for_ever()
intervals()
others()
done()
