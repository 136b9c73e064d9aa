"""Shared by tests of `sonde stat`: TAP, and the output of perf and sonde with numbers masked."""
import difflib
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
    """Replaces numbers by as many N as they are wide. The unit of a rate is masked too, as it depends on the numbers:
    bad_rates() checks it. perf prints "(null)" for a missing unit in -j (doc/differences.md: `stat -j`, a count without a
    metric)."""
    if text.startswith("{"):
        text = text.replace('"metric-unit" : "(null)"', '"metric-unit" : ""')
        return "\n".join(str([(k, RATE.sub("/sec", v) if isinstance(v, str) and not re.match(r"[\d.]+$", v) else "N")
                              for k, v in json.loads(line).items()]) for line in text.splitlines())
    text = re.sub(r"'[^']*'", lambda m: m.group(0).replace(" ", "_"), text)
    text = re.sub(r"( *)(\d+\.\d+|\d+)", lambda m: "N" * len(m.group(0)) if m.group(1) else "N", text)
    text = re.sub(r"[KMG]?/sec *", "/sec ", text)
    return re.sub(r",[KMG]?/sec", ",/sec", text)


RATE = re.compile(r"^[KMG]?/sec$")
SCALES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
NUMBER = r"[\d.]+"
TEXT_ROW = re.compile(rf"^(.*?)(?<!\S)({NUMBER})(?: msec|     ) +([^\s#\d][^\s#]*)((?: +[^\s#]+)?) +# +({NUMBER}) +"
                      "([KMG]?/sec|CPUs utilized)")
CSV_ROW = re.compile(rf"^(.*?),?({NUMBER}),(?:msec)?,([^,]*),((?:[^,]*,)*?)\d+,{NUMBER},({NUMBER}),(.*)$")


def rows(text):
    """Counts with rates: (cpu, thread or the like, event, value, rate, unit of the rate); numbers as printed."""
    for line in text.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            key = [row.get(k) for k in ("interval", "cpu", "core", "socket", "die", "node", "thread", "cgroup")]
            rate = row.get("metric-value")
            yield str(key), row.get("event"), row.get("counter-value"), f"{rate:f}" if rate else "", row.get("metric-unit")
            continue
        found = (CSV_ROW if "," in line else TEXT_ROW).match(line)
        if found:
            before, value, event, cgroup, rate, unit = found.groups()
            key = re.sub(r"[\d.]+%,", "", before + " " + cgroup)  # without the deviation of repeats
            yield " ".join(key.split()), event, value, rate, unit


def places(number):
    """Half a unit of the last printed digit."""
    return 0.5 / 10 ** len(number.partition(".")[2])


def is_rate(event, value, rate, unit, clock):
    """Whether the rate is count / clock, within the rounding of the three numbers."""
    scale = SCALES[unit[:-4]]
    low, high = (float(value) + k * places(value) for k in (-1, 1))
    early, late = (float(clock) / 1e3 + k * places(clock) / 1e3 for k in (-1, 1))
    near = places(rate) * scale
    return low / late - near <= float(rate) * scale <= high / max(early, 1e-12) + near


def bad_rates(text, units_only=False):
    """Rates that are not the printed count / clock, or have a wrong unit."""
    bad, clocks = [], {}
    for key, event, value, _, _ in rows(text):
        if (event or "").startswith(("task-clock", "cpu-clock")) and re.fullmatch(NUMBER, value or ""):
            clocks.setdefault(key, []).append(value)
    for key, event, value, rate, unit in rows(text):
        if not RATE.match(unit or "") or not rate:
            continue
        if float(rate) > 1000 or (SCALES[unit[:-4]] > 1 and float(rate) < 0.9995):
            bad.append(f"not the unit for it: {event} {rate} {unit}")
        elif not units_only and not any(is_rate(event, value, rate, unit, c) for c in clocks.get(key, [])):
            bad.append(f"{key}: {event}: {value} in {clocks.get(key)} msec is not {rate} {unit}")
    return bad


def drop(text, without):
    return "\n".join(line for line in text.split("\n") if without is None or without not in line)


def loosen(text):
    """Removes from the output of repeats what depends on how much the runs differ: the error of a count (equal counts have
    none; times always have one), the digits of times, and marks and signs in the table."""
    lines = []
    for line in text.split("\n"):
        if "msec" not in line and "seconds" not in line:
            line = re.sub(r"\( \+-[^)]*\)$", "", line).rstrip()
        row = re.match(r"^ *[\d.]+ \([+-][\d.]+\) #+$", line)
        if row or "seconds" in line or re.match(" *# ", line):
            line = re.sub(r"  +", " ", re.sub(r"\d+\.\d+", "1.0", line)).replace("(-", "(+")
        lines.append(re.sub(r"#+$", "#", line) if row else line)
    return "\n".join(lines)


def periods(text):
    """The first interval with the lines above it, then each different form of the others: their number varies, as
    intervals can be late on a busy machine."""
    blocks, before, now = [], [], None
    for line in text.splitlines():
        found = re.match(r'\s*(?:\{"interval" : )?(\d+\.\d+)', line)
        if found is None:
            before.append(line)
        elif found.group(1) == now:
            blocks[-1].append(line)
        else:
            now = found.group(1)
            blocks.append([*before, line])
            before = []
    shapes = [mask("\n".join(block)) for block in blocks]
    return "\n".join([*shapes[:1], *sorted(set(shapes[1:])), *before, f"{'several' if len(shapes) > 1 else 'too few'} intervals"])


def compare(name, words, without=None, cgroups=False, tries=1):
    """Lines with the text `without` are left out. cgroups: the percentage of time counted is left out if it is nearly 100,
    as the kernel may switch to a cgroup some ns late, and then both print (100.00%). tries: repeats a comparison that
    depends on perf being fast enough."""
    shapes, notes = [], []
    for tool in ("perf", SONDE):
        status, err, out = run(tool, words)
        err = drop(err, without)
        # for repeats perf prints the count of the last run and the rate of all (`stat -r` in doc/differences.md)
        bad = bad_rates(err, units_only=tool == "perf" and "-r" in words)
        notes.append(f"{tool}: status {status}\n{err}" + "\n".join(bad))
        if cgroups:
            err = re.sub(r"  \((?:100\.00|99\.9\d)%\)$", "", err, flags=re.M)
        if "-r" in words and not {"-x,", "-j"} & set(words):
            err = loosen(err)
        few = "-I" in words and "--summary" not in words and "--interval-count" not in words
        out = re.sub(r"(\x1b\[H\x1b\[2J\n)+", r"\1", out) if few else out  # --interval-clear: one for each interval
        shapes.append((status, periods(err) if few else mask(err), out, bad))
    same = shapes[0] == shapes[1] and shapes[1][3] == [] and (shapes[1][1] != "" or shapes[1][2] != "")
    if not same and tries > 1:
        return compare(name, words, without, cgroups, tries - 1)
    differ = difflib.unified_diff(shapes[0][1].splitlines(), shapes[1][1].splitlines(), "perf", "sonde", n=0, lineterm="")
    return result(same, name, *notes, "\n".join(map(repr, differ)), *(repr(s[2]) for s in shapes))


def done():
    print(f"1..{count}")
    sys.exit(failed != 0)


def need_perf():
    if subprocess.run(["perf", "stat", "-a", "-n", "true"], capture_output=True).returncode != 0:
        print("1..0 # SKIP there is no perf, or it may not count")
        sys.exit(0)
