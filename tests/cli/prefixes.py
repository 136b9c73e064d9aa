#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long options may be cut as long as they are unique, as TAP: prefixes.py SONDE.

For each command, each long option of its help, and its --no- form: every beginning of the name that no other option has is
accepted, one letter less is refused by the names of those that begin so. Beginnings that the installed perf accepts for
an option of perf mean the same option in Sonde.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
WITHOUT_OPTIONS = ["cache"]
OF_PERF = ["annotate", "record", "report", "script", "stat", "list", "evlist", "buildid-list", "buildid-cache", "inject"]
END = "--no-such-option"  # so that nothing is done


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def options(text):
    """Long options of a help, with what follows their names: {"sort": " KEYS", "list": "", "graph": "[=MODE]"}."""
    found = re.findall(r"^ {2,6}(?:-\w, )?--((?:no-)?[a-z][\w:.-]*)(\[=\S+\]| [A-Z]\S*)?", text, re.MULTILINE)
    return dict(found)


def sonde(command, word):
    """What the message about a word is: "", "unknown", or the names of those that it is short for."""
    status, out, err = run(SONDE, command, word, END, END)  # the first one may be its value
    line = err.splitlines()[0] if err else ""
    if "is short for several" in line:
        return set(re.findall(r"--[\w:.-]+", line)[1:])
    if f"unknown option {word}" in line:
        return "unknown"
    return "" if status == 129 else f"status {status}: {err[:100]}{out[:100]}"


def negated(name):
    return name[3:] if name.startswith("no-") else "no-" + name


def beginnings(name, others):
    """The shortest beginning of a name that no other word has, and the next shorter one."""
    n = next((n for n in range(1, len(name)) if not any(o.startswith(name[:n]) for o in others)), len(name))
    return name[:n], name[:n - 1]


def check_own(command):
    """Names of options that only perf has count too: they are refused by name. Options that perf does not have may be
    the less likely meaning of a beginning (those with `yields`)."""
    have = options(run(SONDE, command, "--help")[1])
    names = set(have) - {"help"}
    theirs = run("perf", command, "--list-opts")[1].split() if shutil.which("perf") and command in OF_PERF else []
    every = names | {w[2:] for w in theirs if w.startswith("--") and negated(w[2:]) not in names}

    def check(name):
        bad = []
        others = {word for o in every - {name} for word in (o, negated(o))}
        short, shorter = beginnings(name, others)
        for n in range(len(short), len(name) + 1):
            got = sonde(command, "--" + name[:n])
            if got != "" and name[:n] not in others:
                bad.append(f"--{name[:n]}: {got}")
        if shorter not in others | {""} and command not in OF_PERF and sonde(command, "--" + shorter) == "":
            bad.append(f"--{shorter} is accepted, as a beginning of --{name}")
        return bad

    with ThreadPoolExecutor(2) as pool:
        wrong = [w for bad in pool.map(check, sorted(names)) for w in bad]
    result((names or command in WITHOUT_OPTIONS) and not wrong, f"{command}: unique beginnings of {len(names)} options are accepted, others are refused", *wrong)


def check_perf(command):
    """Each beginning that perf accepts for one of its options, which Sonde has."""
    have = set(options(run(SONDE, command, "--help")[1]))
    theirs = {w[2:] for w in run("perf", command, "--list-opts")[1].split() if w.startswith("--")}
    words = sorted({"--" + name[:n] for name in theirs & have for n in range(1, len(name) + 1)})

    def check(word):
        err = run("perf", command, word, END, END)[2]
        got = sonde(command, word)
        if f"unknown option `{word[2:]}'" in err:
            return ""
        if "Ambiguous option" in err:
            return f"{word}: accepted, and ambiguous for perf" if got == "" else ""
        return f"{word}: {got}" if got != "" else ""

    with ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(check, words) if w]
    result(len(words) > 5 and not wrong, f"{command}: beginnings are accepted as by perf ({len(words)} words)", *wrong)


def main():
    commands = re.findall(r"^  ([a-z][\w-]*) ", run(SONDE, "--help")[1], re.MULTILINE)
    for command in commands:
        if command != "pt":  # its commands have options of other tools
            check_own(command)
    if shutil.which("perf") is None or not run("perf", "version")[1].startswith("perf version 6.1"):
        tap.skip("beginnings that perf accepts", "perf 6.1 is not installed")
    else:
        for command in OF_PERF:
            check_perf(command)
    return tap.end()


sys.exit(main())
