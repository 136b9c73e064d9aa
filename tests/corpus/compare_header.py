#!/usr/bin/env python3
"""Compares headers and events with the installed perf, as TAP: tests/corpus/compare_header.py SONDE.

Runs COMMANDS with perf and with sonde on every file of $SONDE_CORPUS/INDEX.tsv, and compares the output line by line.
If perf cannot read a file, sonde must print output or a message too. Intended differences are in doc/differences.md,
and here either in WANTED line by line, or as a rule that names its row.
"""
import csv
import json
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

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
HONEEVENT = "/lib/modules/3.13.0-93-generic/updates/dkms/honeevent.ko"
NO_ID = 41 * " "
ARMV7 = ["# CPUDESC cannot be read: its 0 bytes at offset 200028 are damaged", "# total memory : 2049120 kB",
         "# cmdline : /usr/bin/perf record -a -- sleep 2 "]
ARMV7_PERF = ["# cpudesc : (null)", "# total memory : 0 kB", "# cmdline : ", "# pmu mappings: not available"]
PMUS = "# pmu mappings: software = 1, ARMv7 Cortex-A15 = 4, tracepoint = 2, breakpoint = 5"
COMPRESSED = "linux-perf-data/tests/fixtures/"
# (file, command): lines that only perf prints, lines that only Sonde prints, and the row of doc/differences.md. All other
# lines are equal.
WANTED = {
    ("quipper/perf.data.armv7.perf_3.14-3.8", "report --header-only"):
        (ARMV7_PERF, [*ARMV7, PMUS], "report --header-only, a feature that is damaged"),
    ("quipper/perf.data.armv7.perf_3.14-3.8", "report --header-only -I"):
        (ARMV7_PERF, [*ARMV7, "# sibling sockets : 0-1", "# sibling threads : 0", "# sibling threads : 1", PMUS],
         "report --header-only, a feature that is damaged"),
    # two threads a core, and no core 7, 15, 23 or 31; the same cores as in quipper's golden (compare_quipper.py)
    ("quipper/perf.data.weight_struct", "report --header-only -I"):
        (["# Core ID and Socket ID information is not available"],
         [f"# CPU {cpu}: Core ID {cpu % 28 + cpu % 28 // 7}, Socket ID {cpu // 28 % 2}" for cpu in range(112)],
         "report --header-only -I, texts that are not padded to 64 bytes"),
    ("simpleperf/generated_by_linux_perf.data", "buildid-list -H"):
        ([NO_ID + HONEEVENT], ["62782c6dc6e382057f967c57b25229dabd54da47 " + HONEEVENT],
         "buildid-list -H, a module that the list and the mapping name alike"),
    ("simpleperf/perf_with_callchain_record.data", "buildid-list -H"):
        ([], ["909d5a96bf99d6ed5ba86e86ca0256d95df5a665 [kernel.kallsyms]",
              "ee7627eabfc5581b7e87cb12d307b35700000000 /system/lib64/libc.so",
              "e20953bec2e35dc2dd53b4b7bced2e6900000000 /system/bin/linker64"], "simpleperf's recordings"),
    ("simpleperf/perf_lbr.data", "buildid-list"): ([], [], "simpleperf's recordings"),  # it has no build ids
}
# Pipes for which perf lists nothing: Sonde lists the objects with samples. None of these has a build id.
for name, objects in (
        (COMPRESSED + "fibo.compressed2.pipe.data",
         ["[kernel.kallsyms]", "/usr/lib/libc.so.6",
          "/home/arthur/Projects/CodSpeedHQ/codspeed-rust/target/codspeed/walltime/codspeed-divan-compat/fib_example"]),
        (COMPRESSED + "sleep.compressed.pipe.data", ["[kernel.kallsyms]"]),
        (COMPRESSED + "sleep.compressed2.pipe.data", ["[kernel.kallsyms]", "/usr/lib/ld-linux-x86-64.so.2"]),
        ("perf61/pipe-z.data", ["[kernel.kallsyms]", *("/usr/lib/x86_64-linux-gnu/" + lib for lib in (
            "ld-linux-x86-64.so.2", "libc.so.6", "libpcre2-8.so.0.11.2"))]),
        ("quipper/perf.data.piped.intel_pt-4.14", ["[kernel.kallsyms]", "/lib64/ld-2.23.so"])):
    for command in ("buildid-list", "buildid-list -H"):
        WANTED[name, command] = ([], [NO_ID + o for o in objects], "buildid-list of a compressed pipe, or of one with trace")
GROUPS_OF_PIPES = {"quipper/perf.data.piped.header_feautres_group_desc-6.8": "{cycles:u,instructions:u}\n"}
STATS_OF_PIPES = [*GROUPS_OF_PIPES, "quipper/perf.data.piped.header_features_aligned-6.12"]
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
    """Yields name, mode (file or pipe) and number of events of each recording."""
    with open(os.path.join(CORPUS, "INDEX.tsv"), encoding="utf-8") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            if row["path"] and (not ONLY or any(o in row["path"] for o in ONLY)):
                yield row["path"], row["mode"], int(row["nattrs"] or 0)


# `evlist` of a pipe (doc/differences.md): perf makes names from the attrs, so modifiers can differ, and a PMU has no name.
# After a short attr perf reads ids as fields that the attr does not have. Everything else is equal.
NAME_AND_ATTR = re.compile(r"^(.*?)(?::[a-zA-Z]+)?(: .*)?$")
EXTRA_FIELD = re.compile(r", (\{ bp_len, config2 \}|\w+): -?[\w|]+")
OFFSETS = {"{ bp_len, config2 }": 64, "branch_sample_type": 72, "sample_regs_user": 80, "sample_stack_user": 88, "clockid": 92,
           "sample_regs_intr": 96, "aux_watermark": 104, "sample_max_stack": 108, "aux_sample_size": 112, "sig_data": 120}


def behind_attr(extra, attr):
    """Whether these fields are all behind the end of the attr."""
    size = re.search(r"size: (\d+)", attr)
    return EXTRA_FIELD.sub("", extra) == "" and all(
        size and OFFSETS.get(field, 0) >= int(size.group(1)) for field in EXTRA_FIELD.findall(extra))


def same_pipe_events(theirs, ours):
    theirs, ours = theirs.splitlines(), ours.splitlines()
    if len(theirs) != len(ours) or ours == []:
        return False
    for line, other in zip(theirs, ours):
        line = re.sub(r"^unknown attr type: \d+", other.partition("//")[0] + "//", line)
        a, b = NAME_AND_ATTR.match(line).groups(""), NAME_AND_ATTR.match(other).groups("")
        if a[0] != b[0] or not a[1].startswith(b[1]) or not behind_attr(a[1][len(b[1]):], a[1]):
            return False
    return True


def same_but_for(theirs, ours, gone, new):
    """Whether lines that only one of them has are exactly these, and all others are equal and in the same order."""
    theirs, ours = theirs.splitlines(), ours.splitlines()
    return ([line for line in theirs if line not in gone] == [line for line in ours if line not in new] and
            [line for line in theirs if line in gone] == gone and [line for line in ours if line in new] == new)


def differences(theirs, ours):
    a, b = theirs.split("\n"), ours.split("\n")
    for i in range(max(len(a), len(b))):
        x, y = a[i] if i < len(a) else "(nothing)", b[i] if i < len(b) else "(nothing)"
        if x != y:
            yield f"perf:  {x}"
            yield f"sonde: {y}"


# perf lists the vdso of another system as a temporary file, which it removes at its end (doc/differences.md:
# `buildid-list -H`, a vdso of another system).
TEMPORARY_VDSO = re.compile(r"/tmp/perf-vdso\.so-\w{6}$", re.M)


# Bits and fields of `evlist -v` that are newer than perf 6.1 (doc/differences.md: bits and fields that are newer).
UNKNOWN_BITS = re.compile(r"\|0x[0-9a-f]+|, (?:defer_callchain|defer_output|aux_action|config3|config4): \w+")


def perf_says(command, path):
    for _ in range(3):  # sometimes perf accepts a file that it refuses the next time, and prints (null) or nothing
        status, text, _ = run("perf", *command, "-f", "-i", path)
        if status != 0 or (text.strip() != "" and "(null)" not in text):
            break
    # the tip names the command itself (doc/differences.md: `evlist`, tip for tracepoints)
    text = text.replace("# Tip: use 'perf evlist", "# Tip: use 'sonde evlist")
    return status, TEMPORARY_VDSO.sub("[vdso]", text)


def perf_says_of_file(command, path):
    """perf's output for a pipe converted to a file: perf cannot read the pipe if its attrs come late, or it is damaged."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "perf.data")
        run(SONDE, "convert", "-o", file, path)
        return perf_says(command, file)[1]


def compare(name, mode, events, command):
    path = os.path.join(CORPUS, name)
    if path.endswith("/data"):  # a directory recording is named by its folder
        path = path[:-5]
    what = " ".join(command) + " of " + name
    status, theirs = perf_says(command, path)
    ours_status, ours, ours_err = run(SONDE, *command, "-f", "-i", path)
    known = UNKNOWN_BITS.sub("", ours) if command == ["evlist", "-v"] else ours
    gone, new, row = WANTED.get((name, " ".join(command)), (None, None, None))
    notes = [f"status {ours_status}, perf {status}: {ours_err.strip()[:300]}", *differences(theirs, ours)]
    if row is not None:
        result(same_but_for(theirs, ours, gone, new), f"{what} (differs: {row})", notes)
        return
    if status != 0 and theirs == "" and not (command[0] == "evlist" and events == 0):
        result(ours_status in (0, 1, 255) and (ours + ours_err).strip() != "", what + " (perf cannot read it)", notes)
        return
    if theirs == ours:
        result(True, what)
        return
    if "not read by this version" in ours_err:
        skip(what, "not read by this version")
        return
    if name.startswith("quipper-crashers/") and ours_status == 255 and ours_err:
        result(ours == "", f"{what} (sonde prints an error instead)", notes)
        return
    if mode == "pipe" and theirs == "":
        theirs = perf_says_of_file(command, path)
        what += " (as a file)"
    if mode == "pipe" and command == ["evlist", "-g"] and name in GROUPS_OF_PIPES:
        result(ours == GROUPS_OF_PIPES[name], f"{what} (perf does not show groups of a pipe)", notes)
        return
    if mode == "pipe" and command[0] == "evlist" and theirs != known:
        result(same_pipe_events(theirs, known), f"{what} (except names, and ids that perf reads as fields)", notes)
        return
    result(theirs == known, what, notes)


def check_json(name, schema, command):
    """The output must be one JSON document with its schema and version."""
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


def check_stats_of_pipe(name):
    """For a pipe, perf's `report --stats` makes names from attrs; its `script` has those of the stream."""
    path = os.path.join(CORPUS, name)
    theirs, ours = (run(tool, "report", "--stats", "-f", "-i", path)[1] for tool in ("perf", SONDE))
    events = {word.rstrip(":") for word in run("perf", "script", "-F", "event", "-f", "-i", path)[1].split()}
    for event in events:
        theirs = theirs.replace(f"\n{event}H stats:", f"\n{event} stats:")
    result(events and ours == theirs and all(f"\n{event} stats:" in ours for event in events),
           f"report --stats of {name} (except names, which are those of perf script)",
           difflib.unified_diff(theirs.split("\n"), ours.split("\n"), "perf", "sonde", lineterm=""))


def main():
    if not os.path.isfile(os.path.join(CORPUS, "INDEX.tsv")):
        print("1..0 # SKIP SONDE_CORPUS does not name a folder with INDEX.tsv")
        return 0
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return 0
    for name, mode, events in files():
        for command in COMMANDS:
            compare(name, mode, events, command)
        for schema, command in JSON_COMMANDS.items():
            check_json(name, schema, command)
    for name in STATS_OF_PIPES:
        check_stats_of_pipe(name)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
