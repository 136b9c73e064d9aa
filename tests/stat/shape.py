"""What tests of `sonde stat` share: TAP, and the form of what perf and sonde print, with numbers masked."""
import json
import os
import re
import subprocess
import sys

SONDE = os.path.realpath(sys.argv[1])
ENV = {**os.environ, "LC_ALL": "C"}
count = failed = 0
SOFT = "task-clock,cs,migrations,page-faults"


def result(good, name, *notes):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {name}")
    for note in notes if not good else ():
        for line in note.splitlines():
            print("#  ", line)


def run(tool, words):
    done = subprocess.run([tool, "stat", *words], capture_output=True, text=True, env=ENV)
    return done.returncode, done.stderr, done.stdout


def mask(text):
    """Numbers become N with the width that they are printed in; a rate may have any unit, or be none at all."""
    text = re.sub(r"  \(100\.00%\)$", "", text, flags=re.M)  # some ns less: where a cgroup is switched to late
    text = text.replace("(null)", "")  # what perf's -j has for no unit (doc/differences.md)
    if text.startswith("{"):
        return "\n".join(str([(k, v if isinstance(v, str) and not re.match(r"[\d.]+$", v) else "N")
                             for k, v in json.loads(line).items()]).replace("K/", "/").replace("M/", "/")
                         for line in text.splitlines())
    text = re.sub(r"'[^']*'", lambda m: m.group(0).replace(" ", "_"), text)
    text = re.sub(r"( *)(\d+\.\d+|\d+)", lambda m: "N" * len(m.group(0)) if m.group(1) else "N", text)
    text = re.sub(r"[KMG]?/sec *", "/sec ", text)
    text = re.sub(r",[KMG]?/sec", ",/sec", text)
    text = re.sub(r'"[KMG]?/sec"', '"/sec"', text)
    return text


def drop(text, without):
    return "\n".join(line for line in text.split("\n") if without is None or without not in line)


def loosen(text):
    """Of repeats: how many digits there are, and which errors are 0, is chance."""
    text = re.sub(r" +\( \+-[^)]*\)$", "", text, flags=re.M)
    text = re.sub(r"^( *[\d.]+ \([+-][\d.]+\)) #+$", r"\1 #", text, flags=re.M).replace("(-", "(+")
    return re.sub(r"  +", " ", re.sub(r"\d+\.\d+", "1.0", text))


def compare(name, words, without=None):
    """Lines that hold `without` are left out. Three tries: chance may leave a thread unscheduled, or an interval out."""
    for _ in range(3):
        want, got = run("perf", words), run(SONDE, words)
        want, got = ((r[0], drop(r[1], without), r[2]) for r in (want, got))
        if "-r" in words and not {"-x,", "-j"} & set(words):
            want, got = ((r[0], loosen(r[1]), r[2]) for r in (want, got))
        if "-I" in words and "--summary" not in words:  # on a busy machine some intervals come late
            lines = min(want[1].count("\n"), got[1].count("\n"))
            want, got = ((r[0], "\n".join(r[1].splitlines()[:lines]), r[2]) for r in (want, got))
        if (want[0], mask(want[1]), want[2]) == (got[0], mask(got[1]), got[2]):
            break
    else:
        result(False, name, "perf: status %d\n%s" % want[:2], "sonde: status %d\n%s" % got[:2])
        return
    result(True, name)


def done():
    print(f"1..{count}")
    sys.exit(failed != 0)


def need_perf():
    if subprocess.run(["perf", "stat", "-a", "-n", "true"], capture_output=True).returncode != 0:
        print("1..0 # SKIP there is no perf, or it may not count")
        sys.exit(0)
