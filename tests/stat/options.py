#!/usr/bin/env python3
"""Compares options of `sonde stat` with those of the installed perf, as TAP: options.py SONDE."""
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

from shape import ENV, SOFT, SONDE, compare, done, drop, mask, need_perf, result, run


def repeats():
    for form in ([], ["-x,"], ["-j"]):
        compare(" ".join(["a table of runs", *form]), [*form, "--table", "-r", "3", "-e", SOFT, "sleep", "0.01"])
    compare("hooks", ["--pre", "echo before", "--post", "echo behind", "-r", "2", "-e", SOFT, "true"])
    compare("a --post hook that fails", ["--pre", "echo before", "--post", "false 2>&1", "-S", "-e", SOFT, "true"],
            without="ended with status")
    got = run(SONDE, ["--pre", "exit 3", "-e", SOFT, "echo", "ran"])
    result(got[0] == 255 and "ended with status 3" in got[1] and "ran" not in got[2],
           "a --pre hook that fails ends sonde stat", got[1])
    # marks in the table: the distance of each time from the mean
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
    result(good, "a mark in the table is a twentieth of the time", text)


def for_ever():
    for form in ([], ["-x,"], ["-j"]):
        texts = []
        for tool in ("perf", SONDE):
            p = subprocess.Popen([tool, "stat", "-r", "0", *form, "-e", SOFT, "sleep", "0.05"], stderr=subprocess.PIPE,
                                 text=True, env=ENV)
            err = ""
            while err.count("page-faults") < 3:  # three runs
                err += p.stderr.readline()
            p.send_signal(signal.SIGINT)
            err = (err + p.communicate(timeout=300)[1]).replace("sleep: Interrupt\n", "")
            runs = err.count("page-faults")
            first = err[:err.index("seconds time elapsed")] if not form else "".join(err.splitlines(True)[:4])
            texts.append((p.returncode, runs > 2, mask(first)))
        result(texts[0] == texts[1], " ".join(["-r 0 repeats until SIGINT", *form]), str(texts[0]), str(texts[1]))


def intervals():
    compare("a screen for each interval", ["--interval-clear", "-I", "30", "-a", "-e", SOFT, "sleep", "0.1"])


def others():
    compare("-g: one group of all events", ["-g", "-e", "cs,task-clock", "true"])
    compare("-S", ["-S", "-e", SOFT, "true"])
    compare("an unknown metric", ["-M", "nothing", "-e", SOFT, "true"], without="nothing'")
    got = run(SONDE, ["--metric-only", "-e", SOFT, "true"])
    result(got[0] == 0 and "no metrics" in got[1] and "page-faults" not in got[1], "--metric-only without metrics", got[1])
    for words in (["--metric-only", "--per-thread", "-a"], ["--metric-only", "-r", "2"], ["-T"], ["--topdown"],
                  ["--topdown", "-a"], ["--smi-cost"], ["--iostat"], ["--iostat=list"],
                  ["--cputype", "nothing"], ["--table"], ["-r", "-1"], ["-r", "x"]):
        want, got = run("perf", [*words, "true"]), run(SONDE, [*words, "true"])
        result(want[0] != 0 and got[0] != 0 and words[0].split("=")[0].replace("-r", "--repeat") in got[1],
               "refused with the reason: " + " ".join(words), want[1], got[1])


def threads():
    """--per-thread -a: the first row of a thread, whichever thread it is."""
    for form in ([], ["-x,"], ["-j"]):
        rows = []
        for tool in ("perf", SONDE):
            for _ in range(5):  # perf fails if a thread ends while it opens events
                got = run(tool, ["--per-thread", "-a", "-e", "task-clock", *form, "sleep", "0.05"])
                if got[0] == 0:
                    break
            line = next((t for t in got[1].splitlines() if "sleep" not in t and "task-clock" in t), "")
            rows.append((got[0], re.sub(r"[^ ,\"]+-N+|'[^',]+-\d+'", "T-N", mask(line)).split()))
        result(rows[0] == rows[1] and rows[0][1], " ".join(["all threads", *form]), str(rows[0]), str(rows[1]))
    text = run(SONDE, ["--per-thread", "-a", "-e", "cs,cycles", "sleep", "0.05"])[1]
    result("'system wide'" in text and not re.search(r" 0 +cs| cycles|not counted", text), "all threads: no rows with count 0",
           text)
    for words in (["--per-thread", "true"], ["--per-thread", "-C", "0", "true"]):
        result(run("perf", words)[0] != 0 and run(SONDE, words)[0] != 0, "refused: " + " ".join(words))


def each_cgroup():
    root = next((m.split()[1] for m in open("/proc/mounts") if m.split()[2] == "cgroup2"), None)
    names = [f"sonde-each-{os.getpid()}{tail}" for tail in ("-a", "-b", "-a/in")]
    try:
        for name in names:
            os.mkdir(os.path.join(root or "/nowhere", name))
    except OSError as why:
        result(True, f"each cgroup # SKIP {why}")
        return
    a, b, _ = names
    common = a[:-2]
    for form in ([], ["-x,"], ["-j"]):
        for asked in (f"{a},{b}", f"{common}-.*", f"^{common}-[ab]$", f"{a}$", f"{a},,{b}", f"{a},{a}", "/", "",
                      f"{b},{common}.*", f"\\({common}\\)", f"nothing,{b}$", f",{a}$", f"{a},{b}$"):
            compare(" ".join(["each of", asked.replace(common, "G"), *form]),
                    [*form, "-a", "-e", "cs", "-e", "{page-faults,task-clock}", "--for-each-cgroup", asked, "sleep", "0.01"],
                    cgroups=True)
    compare("each, cpus", ["-a", "-A", "-e", "cs", "--for-each-cgroup", common + ".*", "true"])
    compare("each, default events", ["-C", "0", "--for-each-cgroup", a, "true"])
    for asked in (common, common + "-.", f"{a}|{b}", "[", common + "x*y*z$"):
        words = ["-a", "-e", "cs", "--for-each-cgroup", asked, "true"]
        result(run("perf", words)[0] != 0 and run(SONDE, words)[0] != 0, "refused: each of " + asked.replace(common, "G"))
    for words in (["--for-each-cgroup", a, "true"], ["-a", "--for-each-cgroup", a, "-G", a, "-e", "cs", "true"]):
        result(run("perf", words)[0] != 0 and run(SONDE, words)[0] != 0, "refused: " + " ".join(words).replace(a, "G"))
    for name in reversed(names):
        os.rmdir(os.path.join(root, name))


def tools():
    """Times measured by the tool. The command uses user and system time: a time of 0 would be printed as not counted."""
    work = [sys.executable, "-S", "-c", "import os\nfor i in range(40000): os.stat('/')\nfor i in range(400000): pass"]
    every = ["-e", "duration_time,user_time", "-e", "system_time,cs"]
    for form in ([], ["-x,"], ["-j"]):
        compare(" ".join(["tools", *form]), [*form, *every, *work])
        compare(" ".join(["tools, repeats", *form]), [*form, "-r", "2", *every, *work])
        for by in ([], ["-A"], ["--per-core"], ["--per-node"], ["-C", "1", "-A"]):
            compare(" ".join(["tools of the machine", *by, *form]), [*form, "-a", *by, *every, *work])
        compare(" ".join(["tools, intervals", *form]), [*form, "-I", "20", "-a", "-e", "duration_time", "sleep", "0.07"])
        compare(" ".join(["tools, a thread", *form]),
                [*form, "--per-thread", "-p", str(os.getpid()), "-e", "duration_time", "sleep", "0.01"])
    compare("tools with modifiers and a clock", ["-e", "task-clock,duration_time:u,user_time:k", *work])
    text = run(SONDE, ["-x,", "-e", "{cs,duration_time},user_time,system_time", *work])[1]
    ns = {line.split(",")[2]: int(line.split(",")[0]) for line in text.splitlines()}
    result(0.02 < (ns["user_time"] + ns["system_time"]) / ns["duration_time"] < 1.1 and ns["system_time"] > 0,
           "user_time and system_time add up to at most duration_time", text)


def output():
    """A failed write is reported, and the command still runs to its end."""
    for words in (["-e", "cs"], ["-I", "20", "-a", "-e", "cs"], ["-r", "2", "-x,", "-e", "cs"]):
        got = run(SONDE, ["-o", "/dev/full", *words, "sh", "-c", "sleep 0.1; echo whole"])
        result(got[0] == 255 and "No space left" in got[1] and "whole" in got[2],
               "no space left on the output: " + " ".join(words), *map(str, got))
    got = run(SONDE, ["record", "-o", "/dev/full", "-e", "cs", "sh", "-c", "sleep 0.1; echo whole"])
    result(got[0] == 255 and "No space left" in got[1] and "whole" not in got[2], "no space left on the output: record",
           *map(str, got))
    for words in (["-o", "/nowhere/at/all"], ["-o", "/"], ["--log-fd", "77"]):
        words = [*words, "-e", "cs", "echo", "ran"]
        want, got = run("perf", words), run(SONDE, words)
        result(want[0] != 0 and got[0] == 255 and "ran" not in got[2] + want[2], "refused: " + " ".join(words[:2]))


def signals():
    """A signal that comes twice: the counts are printed, then sonde ends by the signal. An ignored signal stays ignored."""
    waits = ["sh", "-c", "echo begun; read line"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": ENV}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = subprocess.Popen([SONDE, "stat", "-a", "-e", "cs", *waits], **pipes,
                             preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL))  # not ignored, as under nohup
        p.stdout.readline()
        p.send_signal(number)
        p.send_signal(number)
        p.wait(timeout=300)
        err = p.communicate()[1]
        result(p.returncode == -number and "seconds time elapsed" in err,
               f"signal {number}, twice: counts are printed, then the signal ends sonde", err)
        p = subprocess.Popen(["sh", "-c", f"trap '' {number}; exec \"$@\"", "sh", SONDE, "stat", "-e", "cs", *waits], **pipes)
        p.stdout.readline()
        p.send_signal(number)
        err = p.communicate("go on\n", timeout=300)[1]
        result(p.returncode == 0 and "Interrupt" not in err, f"signal {number}, ignored: stays ignored", err)


def surroundings():
    """The command has the limits and signals that it would have without sonde stat."""
    show = ["sh", "-c", "ulimit -Sn; grep -E 'Sig(Blk|Ign)' /proc/self/status"]
    for words in ([], ["-r", "2"]):
        plain = subprocess.run(["sh", "-c", 'ulimit -Sn 256; "$@"', "sh", *show], capture_output=True, text=True).stdout
        got = subprocess.run(["sh", "-c", 'ulimit -Sn 256; "$@"', "sh", SONDE, "stat", "-e", "cs", *words, *show],
                             capture_output=True, text=True, env=ENV).stdout
        result(got == plain * (2 if words else 1) and "256" in got, " ".join(["the command keeps limits and signals", *words]),
               plain, got)
    p = subprocess.Popen([SONDE, "stat", "--per-thread", "-a", "-e", "cs", "sleep", "5"], stderr=subprocess.PIPE, text=True,
                         env=ENV, start_new_session=True)
    time.sleep(0.01)
    os.killpg(p.pid, signal.SIGINT)
    err = p.communicate(timeout=300)[1]
    result(p.returncode == -signal.SIGINT and "went away" not in err, "Ctrl-C at the start: status of SIGINT", err)


def unprivileged():
    """As a user who may count only his own programs in user space."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try:
        paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
        runs = subprocess.run([*nobody, SONDE, "stat", "-h"], capture_output=True, cwd="/").returncode == 0
    except OSError:
        runs = False
    if not runs or paranoid != 2:
        result(True, "an unprivileged user # SKIP there is none, he cannot run it, or he may do more")
        return

    env = dict(ENV, HOME="/nonexistent")  # the caller's may be closed to him

    def both(words):
        return [subprocess.run([*nobody, tool, "stat", *words], capture_output=True, text=True, env=env, cwd="/")
                for tool in ("perf", SONDE)]

    for words in (["true"], ["-e", SOFT, "true"], ["-x,", "-e", "{cs,page-faults}", "true"], ["-j", "-e", "cs:u", "true"],
                  ["-e", "msr/tsc/,duration_time", "true"]):
        want, got = both(words)
        result((want.returncode, mask(want.stderr)) == (got.returncode, mask(got.stderr)),
               "unprivileged: " + " ".join(words), want.stderr, got.stderr)
    for words, why in ((["-e", "cs:k", "true"], "paranoid"), (["-a", "-e", "cs", "true"], "paranoid"),
                       (["-C", "0", "-e", "cs", "true"], "paranoid"), (["-p", "1", "-e", "cs", "true"], "another user"),
                       (["--all-kernel", "-e", "cs", "true"], "paranoid")):
        want, got = both(words)
        result(want.returncode == got.returncode == 255 and why in got.stderr,
               "unprivileged, refused: " + " ".join(words), got.stderr)
    want, got = both(["-e", "sched:sched_switch", "true"])
    result(want.returncode != 0 and got.returncode != 0 and "mounted" not in got.stderr or got.returncode == 0,
           "unprivileged, a tracepoint", got.stderr)
    got = both(["--per-thread", "-a", "-e", "page-faults", "sh", "-c", ":"])[1]
    result(got.returncode == 0 and re.search(r"[1-9]\d* +page-faults:u", got.stderr),
           "unprivileged, all of the user's own threads", got.stderr)


def control():
    """Commands over FIFOs: messages, answers, and that disabled events do not count."""
    with tempfile.TemporaryDirectory() as folder:
        fifos = [os.path.join(folder, n) for n in ("commands", "answers")]
        for path in fifos:
            os.mkfifo(path)
        ends = [os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in fifos]
        for commands, words in ((["enable", "disable"], ["-D", "-1", "-a"]), (["enable"], ["-D", "-1"]),
                                (["disable", "enable", "disable"], ["-a"]), (["ping", "evlist", "stop"], ["-a"]),
                                (["nothing", "ping"], ["-a"])):
            texts = []
            for tool in ("perf", SONDE):
                p = subprocess.Popen([tool, "stat", *words, "-e", "cpu-clock,cs", "--control", "fifo:" + ",".join(fifos),
                                      "sh", "-c", "echo begun; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, env=ENV)
                answers, on, since = [], 0, time.monotonic()
                counts = "-D" not in words
                p.stdout.readline()
                for command in [*commands, "the end"]:
                    time.sleep(0.2)
                    begin = time.monotonic()
                    if command == "the end":
                        err = drop(p.communicate("end\n", timeout=300)[1], "is not known")
                    else:
                        os.write(ends[0], command.encode() + b"\n")
                        there = select.select([ends[1]], [], [], 0.1 if command == "nothing" else 30)[0]
                        time.sleep(0.01)  # perf's NUL after the line
                        answers.append(os.read(ends[1], 100).strip(b"\0\n") if there else None)
                    if command in ("disable", "the end") and counts:
                        on, counts = on + time.monotonic() - since, False
                    elif command == "enable":
                        since, counts = begin, True
                clock = float(re.search(r"([\d.]+) msec", err).group(1)) if "msec" in err else 0
                texts.append((p.returncode, answers, clock <= on * 1000 * os.cpu_count() + 20, mask(err)))
            result(texts[0] == texts[1] and texts[0][2], f"control {' '.join(words)}: {' '.join(commands)}", *map(str, texts))
        for end in ends:
            os.close(end)
    compare("--control without commands", ["--control", "fd:0", "-e", SOFT, "true"])
    for where in ("fifo:/nowhere/at/all", "fd:x", "fifo:", "nothing", ""):
        words = ["--control", where, "-e", "cs", "true"]
        result(run("perf", words)[0] == run(SONDE, words)[0] == 129, "refused: --control " + where)


need_perf()
repeats()
threads()
each_cgroup()
for_ever()
output()
signals()
surroundings()
unprivileged()
control()
tools()
intervals()
others()
done()
