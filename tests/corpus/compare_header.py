#!/usr/bin/env python3
"""Header and event texts against the installed perf, as TAP: tests/corpus/compare_header.py SONDE.

Reads every file that $SONDE_CORPUS/INDEX.tsv names, with perf and with sonde, and compares the text of the
commands in COMMANDS line by line. Where perf gives up, sonde has to say something as well. Differences that are
wanted stand in doc/differences.md and in WANTED here, each with its reason.
"""
import json
import os
import re
import shutil
import subprocess
import sys

SONDE = os.path.realpath(sys.argv[1])
CORPUS = os.environ.get("SONDE_CORPUS", "")
ONLY = sys.argv[2:]
ENV = dict(os.environ, LC_ALL="C", TZ="UTC", PERF_PAGER="cat", PAGER="cat", DEBUGINFOD_URLS="")
COMMANDS = [
    ["report", "--header-only", "-I"],
    ["report", "--header-only"],
    ["evlist"],
    ["evlist", "-v"],
    ["evlist", "-F"],
    ["evlist", "-g"],
    ["evlist", "--trace-fields"],
    ["buildid-list"],
    ["buildid-list", "-H"],
]
# (file, command, reason): the text differs, as doc/differences.md says.
WANTED = [
    ("quipper/perf.data.armv7.perf_3.14-3.8", "report", "perf stops at an empty CPUDESC, Sonde reads what is behind it"),
    ("quipper/perf.data.weight_struct", "report", "perf takes texts for longer than they are, and misses the cpus"),
    ("simpleperf/generated_by_linux_perf.data", "buildid-list", "perf forgets the build id of a module that is listed"),
    ("simpleperf/perf_with_callchain_record.data", "buildid-list", "perf gives up at simpleperf's own records"),
]
JSON_COMMANDS = {
    "sonde-header": ["report", "--header-only", "--json"],
    "sonde-evlist": ["evlist", "--json"],
    "sonde-report-stats": ["report", "--stats", "--json"],
    "sonde-buildid-list": ["buildid-list", "--json"],
}
count = failures = skipped = 0


def result(good, what, detail=()):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in [] if good else list(detail)[:16]:
        print("#   " + line[:400])
    sys.stdout.flush()


def skip(what, why):
    global count, skipped
    count += 1
    skipped += 1
    print(f"ok {count} - {what} # SKIP {why}")


def run(*argv):
    try:
        p = subprocess.run(argv, capture_output=True, env=ENV, stdin=subprocess.DEVNULL, timeout=60)
    except subprocess.TimeoutExpired:
        return -1, "", "timeout"
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def files():
    """Name and mode: file or pipe."""
    with open(os.path.join(CORPUS, "INDEX.tsv"), encoding="utf-8") as f:
        for line in list(f)[1:]:
            name, mode = line.split("\t")[:2]
            if name and (not ONLY or any(o in name for o in ONLY)):
                yield name, mode


# perf stops reading a pipe behind the attrs: it makes names from them and knows no others, prints nothing when the
# attrs come later, and takes the ids behind a short attr for its newest fields.
ATTR_OF_LINE = re.compile(r"^.*?(: (?:type|size|sample_freq|sample_period)\b.*)?$")


def same_pipe_events(theirs, ours):
    if theirs == "":
        return True
    theirs, ours = theirs.splitlines(), ours.splitlines()
    if len(theirs) != len(ours):
        return False
    for a, b in zip(theirs, ours):
        a, b = (ATTR_OF_LINE.match(line).group(1) or "" for line in (a, b))
        if not a.startswith(b):
            return False
    return True


def differences(theirs, ours):
    a, b = theirs.split("\n"), ours.split("\n")
    for i in range(max(len(a), len(b))):
        x, y = a[i] if i < len(a) else "(nothing)", b[i] if i < len(b) else "(nothing)"
        if x != y:
            yield f"perf:  {x}"
            yield f"sonde: {y}"


# A vdso that is not the running system's is a temporary file in perf, and gone when perf has ended.
TEMPORARY_VDSO = re.compile(r"/tmp/perf-vdso\.so-\w{6}$", re.M)


# What is newer than perf 6.1.
UNKNOWN_BITS = re.compile(r"\|0x[0-9a-f]+|, (?:defer_callchain|defer_output|aux_action|config3|config4): \w+")


def compare(name, mode, command):
    path = os.path.join(CORPUS, name)
    if path.endswith("/data"):  # a directory recording is named by its folder
        path = path[:-5]
    what = " ".join(command) + " of " + name
    status, theirs, theirs_err = run("perf", *command, "-f", "-i", path)
    theirs = TEMPORARY_VDSO.sub("[vdso]", theirs)
    theirs = theirs.replace("# Tip: use 'perf evlist", "# Tip: use 'sonde evlist")
    ours_status, ours, ours_err = run(SONDE, *command, "-f", "-i", path)
    if status != 0 and theirs == "":
        result(ours_status in (0, 1, 255), what + " (perf cannot read it)", [f"sonde ended with {ours_status}"])
        return
    if theirs != ours and "not read by this version" in ours_err:
        skip(what, "not read by this version")
        return
    if theirs != ours and mode == "pipe" and command[0] == "evlist" and same_pipe_events(theirs, UNKNOWN_BITS.sub("", ours)):
        result(True, f"{what} (but for names and what perf takes for fields)")
        return
    if theirs == "" and mode == "pipe" and command[0] == "buildid-list":
        result(ours_status in (0, 1), f"{what} (perf gives up without a word: compressed, trace or damaged)")
        return
    if mode == "pipe" and command == ["evlist", "-g"] and ours.startswith("{"):
        result(True, f"{what} (perf does not know the groups of a pipe)")
        return
    if theirs == UNKNOWN_BITS.sub("", ours) and command == ["evlist", "-v"]:
        result(True, f"{what} (but for bits without a name)")
        return
    if theirs != ours and name.startswith("quipper-crashers/") and ours_status == 255 and ours_err:
        result(True, f"{what} (sonde says what is wrong instead)")
        return
    reason = next((r for n, c, r in WANTED if n == name and c == command[0]), None)
    if theirs != ours and reason:
        result(ours != "", f"{what} (differs: {reason})")
        return
    result(theirs == ours, what, [f"status {ours_status}, perf {status}: {ours_err.strip()[:300]}", *differences(theirs, ours)])


def check_json(name, schema, command):
    """What is printed is one document that says what it is."""
    path = os.path.join(CORPUS, name)
    status, out, err = run(SONDE, *command, "-f", "-i", path[:-5] if path.endswith("/data") else path)
    what = " ".join(command) + " of " + name
    if status == 255 and out == "" and err:
        result(True, what + " (cannot be read)")
        return
    try:
        document = json.loads(out)
        result(document["schema"] == schema and document["version"] == 1 and status in (0, 1), what, [out[:200]])
    except ValueError as e:
        result(False, what, [f"status {status}: {e}: {err[:200]}"])


def main():
    if not os.path.isfile(os.path.join(CORPUS, "INDEX.tsv")):
        print("1..0 # SKIP SONDE_CORPUS does not name a folder with INDEX.tsv")
        return 0
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 0
    for name, mode in files():
        for command in COMMANDS:
            compare(name, mode, command)
        for schema, command in JSON_COMMANDS.items():
            check_json(name, schema, command)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
