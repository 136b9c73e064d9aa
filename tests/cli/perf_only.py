#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options and commands of perf that Sonde lacks are refused by name, as TAP: perf_only.py SONDE perf_only.c.

Each option and command in the help of the installed perf must be in Sonde's help, or be refused as "of perf that Sonde
does not have yet". The tables of perf_only.c must have no others."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE, TABLES = sys.argv[1:3]
GTK = {"report": {"--gtk"}}  # only in builds of perf with GTK
COMMANDS = ["annotate", "record", "report", "script", "stat", "list", "evlist", "buildid-list", "buildid-cache", "inject", "test"]
NOT_YET = "of perf{} that Sonde does not have yet"


def run(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "", "did not end"
    return done.returncode, done.stdout, done.stderr


def listed(text):
    """Options that a help text lists: {"-x", "--long"}."""
    options = set()
    for line in text.splitlines():
        m = re.match(r" {2,6}(?:(-\w)(?:, )?)? *(?:(--[A-Za-z][\w-]*))?", line)
        options.update(name for name in (m.groups() if m else ()) if name)
    return options


def positive(name):
    return name.replace("--no-", "--", 1) if name.startswith("--no-") else name


def has(options, name):
    """Whether options has the name; --no-x and --x are the same option."""
    return positive(name) in {positive(o) for o in options}


def tables():
    """Tables of perf_only.c: {"report": {"-b", "--branch-stack", ...}, ..., "": {...}} and the set of commands."""
    text = open(TABLES).read()
    options = {}
    for name, body in re.findall(r"struct option_def (\w+)_options\[\] = \{(.*?)\n\};", text, re.S):
        rows = re.findall(r"PERF_ONLY(?:_SEE)?\(\s*(?:'(.)'|0), \"([\w-]+)\"[,)]", body)
        assert len(rows) == body.count("PERF_ONLY"), f"{name}: a row is written in another way"
        name = "" if name == "perf" else name.replace("_", "-")
        options[name] = {o for short, long in rows for o in (short and "-" + short, "--" + long) if o}
    commands = re.search(r"\} commands\[\] = \{(.*?)\n\};", text, re.S).group(1)
    return options, set(re.findall(r'^\s*\{"([\w-]+)",', commands, re.M))


def refused(command, option):
    """None if the option is refused as one of perf's, else a text with the reason."""
    status, out, err = run(SONDE, *([command] if command else []), option)
    words = NOT_YET.format(" " + command if command else "")
    if status == 129 and out == "" and option in err.splitlines()[0] and words in err.splitlines()[0]:
        return None
    return f"{option}: status {status}: {(out + err)[:200]}"


def check_options(table):
    for command in COMMANDS:
        ours = listed(run(SONDE, command, "--help")[1])
        theirs = listed("".join(run("perf", command, "-h")[1:])) - {"-h", "--help"}
        theirs |= {o for o in run("perf", command, "--list-opts")[1].split() if o.startswith("--")}
        ok = len(ours) > 1 and len(theirs) > 3
        result(ok, f"{command}: both print options in their help", f"{len(ours)} and {len(theirs)}")
        lacks = {o for o in theirs if not has(ours, o)}
        wrong = [w for w in (refused(command, o) for o in sorted(lacks)) if w]
        result(not wrong, f"{command}: the {len(lacks)} options that only perf has are refused by name", "\n".join(wrong))
        extra = table.get(command, set()) - lacks - GTK.get(command, set())
        result(not extra, f"{command}: the table holds only options that perf has and Sonde lacks", sorted(extra))


def check_commands(table):
    ours = set(re.findall(r"^  ([a-z][\w-]*) ", run(SONDE, "--help")[1], re.M))
    theirs = set(re.findall(r"^   ([a-z][\w-]*) ", run("perf", "--help")[1], re.M))
    theirs |= set(run("perf", "--list-cmds")[1].split())
    result(len(ours) > 8 and len(theirs) > 25, "both print commands in their help", f"{len(ours)} and {len(theirs)}")
    ours |= {"help", "version"}
    for command in sorted(theirs - ours):
        for argv in ([command], ["help", command]):
            status, out, err = run(SONDE, *argv)
            good = status == 129 and out == "" and f"'{command}' is a command {NOT_YET.format('')}" in err
            result(good, f"{' '.join(argv)}: refused as a command of perf", f"status {status}: {out}{err}")
    extra = table - (theirs - ours)
    result(not extra, "the table holds only commands that perf has and Sonde lacks", sorted(extra))


def check_front(table):
    """Options before the command, which perf lists only with --list-opts."""
    ours = {"--help", "--version", "-h", "-v", "-p", "--paginate", "--no-pager", "--buildid-dir"}
    theirs = set(run("perf", "--list-opts")[1].split()) - ours
    wrong = [w for w in (refused("", o) for o in sorted(theirs)) if w]
    result(len(theirs) > 5 and not wrong, "options of perf before a command are refused by name", "\n".join(wrong))
    extra = table - theirs
    result(not extra, "the table holds no other options before a command", sorted(extra))


def check_forms(table):
    """All ways to write one option: the first one of report with a short and a long name."""
    rows = re.findall(r"PERF_ONLY\('(.)', \"([\w-]+)\"\)", open(TABLES).read().split(" report_options[]")[1].split("};")[0])
    if not rows:
        print("# the table of report has no option with two names")
        return
    short, long = rows[0]
    ours = listed(run(SONDE, "report", "--help")[1])
    every = {o[2:] for o in ours | table["report"] if o.startswith("--")}
    cut = next(long[:n] for n in range(1, len(long) + 1) if sum(o.startswith(long[:n]) for o in every) == 1)
    for word in [f"--{long}=1", f"--no-{long}", f"--{cut}", f"-{short}", f"-n{short}", f"-{short}1"]:
        status, out, err = run(SONDE, "report", word)
        good = status == 129 and out == "" and NOT_YET.format(" report") in err and long in err
        result(good, f"report {word}: refused like the option's full name", f"status {status}: {err}")
    status, _, err = run(SONDE, "report", "--no-such-option")
    result(status == 129 and "unknown option --no-such-option" in err, "an option that perf does not have either is unknown",
           err)


def main():
    if shutil.which("perf") is None or not run("perf", "version")[1].startswith("perf version 6.1"):
        print("1..0 # SKIP perf 6.1 is not installed, whose help these tables follow")
        return 0
    options, commands = tables()
    check_options(options)
    check_commands(commands)
    check_front(options[""])
    check_forms(options)
    return tap.end()


sys.exit(main())
