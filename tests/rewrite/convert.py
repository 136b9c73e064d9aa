#!/usr/bin/env python3
"""Recordings in other forms hold the same: convert.py SONDE [GEN].

With GEN made files are taken, else all of SONDE_CORPUS that its INDEX.tsv names. Each is written as stream, file and
directory, compressed and plain, in the other byte order and back: the same records, attrs and features come out, and
the installed perf counts the same records in those of this machine's byte order.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from recording import Event, Recording  # noqa: E402

SONDE = sys.argv[1]
# What containers say of themselves.
CONTAINER = {"ATTR", "EVENT_TYPE", "TRACING_DATA", "BUILD_ID", "FEATURE", "COMPRESSED", "COMPRESSED2"}
FORMS = {
    "pipe": ["--to", "pipe", "--plain"],
    "file": ["--to", "file", "--plain"],
    "file-z": ["--to", "file", "-z"],
    "pipe-z": ["--to", "pipe", "-z3"],
    "directory": ["--to", "directory", "--plain"],
    "big": ["--endian", "big", "--to", "file", "--plain"],
    "little": ["--endian", "little", "--to", "file", "--plain"],
}
PERF_ATTR = 128  # bytes of the longest attr that perf 6.1 takes in a file
count = failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    if not good:
        for line in str(why).splitlines()[:12]:
            print("#  ", line[:300])


def skip(what, why):
    global count
    count += 1
    print(f"ok {count} - {what} # SKIP {why}")


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True)


def plain(value):
    """Without what a container or a byte order may change: unnamed tails and texts' own padding."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in ("more", "cut")}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def records(path, ordered=True):
    done = sonde("dump", "-f", "--json", "--raw", path)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, done.stderr.decode("utf-8", "replace")
    out = []
    for r in document["records"]:
        if r["type_is"] in CONTAINER or (not ordered and r["type_is"] == "FINISHED_ROUND"):
            continue
        out.append(json.dumps([r["type"], r["misc"], r["size"], r.get("payload_size", 0), plain(r["fields"])]))
    return (out if ordered else sorted(out)), done.stderr.decode("utf-8", "replace")


def header(path):
    lines = sonde("report", "-f", "--header-only", "-I", "-i", path).stdout.decode("utf-8", "replace").splitlines()
    # When the file changed, where its parts stand, and what streams do not carry.
    other = ("captured on", "header version", "data offset", "data size", "feat offset", "missing features",
             "compressed", "directory data version", "contains AUX area", "cpu pmu capabilities", "CPU cache info", "L1", "L2", "L3", "L4", "hybrid cpu", "    ")
    # a feature without bytes cannot stand in a stream, which convert says
    return [x for x in lines if not x.startswith(tuple("# " + o for o in other)) and "its 0 bytes" not in x]


def header_has(path, feature):
    missing = [x for x in sonde("report", "-f", "--header-only", "-i", path).stdout.decode().splitlines()
               if x.startswith("# missing features:")]
    return bool(missing) and feature not in missing[0].split()


def perf_counts(path):
    done = subprocess.run(["perf", "report", "-f", "--stats", "-i", path], capture_output=True, timeout=60)
    lines = [x.split() for x in done.stdout.decode("utf-8", "replace").splitlines() if "events:" in x]
    container = {"ATTR", "EVENT_TYPE", "TRACING_DATA", "BUILD_ID", "FEATURE", "COMPRESSED", "TOTAL", "FINISHED_ROUND"}
    return {x[0]: x[2] for x in lines if x[1] == "events:" and x[0] not in container}, done


def compare(name, path, with_perf, folder):
    want, why = records(path)
    if not want:
        check(False, f"{name}: is read", why)
        return
    loose = sorted(x for x in want if not x.startswith('[68,'))
    made = {}
    for form, words in FORMS.items():
        out = os.path.join(folder, form)
        done = sonde("convert", "-f", "-i", path, "-o", out, *words)
        made[form] = out
        if done.returncode not in (0, 1):
            check(False, f"{name} is written as {form}", done.stderr.decode())
            continue
        got, why = records(out, ordered=form != "directory")
        check(got == (loose if form == "directory" else want), f"{name} as {form} has the same records",
              difference(loose if form == "directory" else want, got, why))
    for form, words in (("pipe", "file"), ("file-z", "file"), ("big", "little"), ("directory", "file")):
        out = os.path.join(folder, "back")
        done = sonde("convert", "-f", "-i", made[form], "-o", out, *FORMS[words])
        got, why = records(out, ordered=form != "directory")
        expected = loose if form == "directory" else want
        check(got == expected, f"{name} converted back from {form} has the same records", difference(expected, got, why + done.stderr.decode()))
        check(header(out) == header(made["file"]) != [], f"{name} converted back from {form} has the same header",
              difference(header(made["file"]), header(out), ""))
    if with_perf:
        compare_perf(name, path, made)
    for out in list(made.values()) + [os.path.join(folder, "back")]:
        shutil.rmtree(out, ignore_errors=True)
        if os.path.exists(out):
            os.remove(out)


def compare_perf(name, path, made):
    counts, done = perf_counts(path)
    if done.returncode != 0 or not counts:
        return
    # perf 6.1 cannot read compressed streams, nor count in those with trace data or formats, its own neither
    forms = ["file", "file-z", "directory", "little"]
    if "AUXTRACE" not in counts and not header_has(path, "TRACING_DATA"):
        forms.append("pipe")
    words = "\n".join(header(path))
    if max([0] + [int(x) for x in re.findall(r", size = (\d+), ", words)]) > PERF_ATTR:
        forms = [x for x in forms if x == "pipe"]  # perf 6.1 refuses files with longer attrs, not streams
    if "not available" in words:  # perf stops at the feature that it cannot read, and misses those behind it
        forms = [x for x in forms if x not in ("file-z", "directory")]
    for form in forms:
        got, done = perf_counts(made[form])
        check(got == counts, f"perf counts the same records in {name} as {form}",
              f"{counts}\n{got}\n{done.stderr.decode('utf-8', 'replace')}")


def difference(want, got, why):
    if got is None:
        return why
    for i, (a, b) in enumerate(zip(want, got)):
        if a != b:
            return f"item {i}\n{a}\n{b}\n{why}"
    return f"{len(want)} items, {len(got)} items\n{why}"


def two_rounds_first(folder):
    """Two rounds before all other records are how a recorder's stream promises two more at its end."""
    made, out = os.path.join(folder, "rounds"), os.path.join(folder, "out")
    r = Recording([Event(1, 0)])
    r.finished_round()
    r.finished_round()
    r.comm(1000, "prog", 7)
    r.sample(2000, 0x401000, 7)
    r.write(made)
    for form in ("pipe", "pipe-z"):
        done = sonde("convert", "-i", made, "-o", out, *FORMS[form])
        again = sonde("check", out)
        check(done.returncode == again.returncode == 0 and b"interrupted" not in again.stdout,
              f"a file that begins with two rounds, as {form}, is a whole recording", again.stdout.decode())
        got, why = records(out)
        want = records(made)[0]
        check(len(want) == 4 and got[:4] == want, f"a file that begins with two rounds, as {form}, has all its records", why)
    r.records = r.records[:2]
    r.write(made)
    done = sonde("convert", "-i", made, "-o", out, *FORMS["pipe"])
    again = sonde("check", out)
    check(done.returncode == again.returncode == 0 and b"interrupted" not in again.stdout,
          "a file of nothing but two rounds, as pipe, is a whole recording", again.stdout.decode())


def main():
    with_perf = shutil.which("perf") is not None
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            for words in (["-e", "2"], ["-e", "1", "-c", "1"]):
                path = os.path.join(folder, "made")
                subprocess.run([sys.argv[2], "-n", "3000", *words, "-o", path], check=True)
                compare("made " + " ".join(words), path, with_perf, folder)
            two_rounds_first(folder)
        elif "SONDE_CORPUS" not in os.environ:
            skip("recordings of other tools", "SONDE_CORPUS does not name a folder of them")
        else:
            corpus = os.environ["SONDE_CORPUS"]
            with open(os.path.join(corpus, "INDEX.tsv")) as f:
                for line in f.read().splitlines()[1:]:
                    name = line.split("\t")[0]
                    if "crashers" not in name:
                        compare(name, os.path.join(corpus, name), with_perf, folder)
        if not with_perf:
            skip("perf reads the converted recordings", "perf is not installed")
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
