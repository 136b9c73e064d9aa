#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pager, colours and progress on a terminal, and files of other users, as TAP: terminal.py SONDE GEN."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SONDE, GEN = (os.path.realpath(p) for p in sys.argv[1:3])
BASE = {k: v for k, v in os.environ.items() if k not in ("PAGER", "PERF_PAGER", "SONDE_PAGER", "NO_COLOR", "LESS")}
BASE.update(LC_ALL="C", TERM="xterm", DEBUGINFOD_URLS="")
count = failures = 0


def result(good, what, *detail):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in [] if good else "\n".join(map(str, detail)).splitlines()[:20]:
        print("#   " + line)
    sys.stdout.flush()


def skip(what, why):
    global count
    count += 1
    print(f"ok {count} - {what} # SKIP {why}")


def on_terminal(*argv, keys=b"", **env):
    """Runs sonde with a pseudo terminal as standard input, output and error; returns status and output."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(SONDE, [SONDE, *argv], {**BASE, **env})
    got = b""
    if keys:
        os.write(fd, keys)
    while select.select([fd], [], [], 60)[0]:
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the other side was closed
            break
        if not piece:
            break
        got += piece
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return os.waitstatus_to_exitcode(status), got.decode(errors="replace").replace("\r\n", "\n")


def piped(*argv, **env):
    p = subprocess.run([SONDE, *argv], capture_output=True, text=True, env={**BASE, **env}, stdin=subprocess.DEVNULL)
    return p.returncode, p.stdout, p.stderr


def owner(path):
    """Files of another user are read only with -f."""
    what = "a file of another user"
    if os.geteuid() != 0:
        skip(what, "only root can give a file away")
        return
    os.chown(path, 65534, -1)
    for command in (["report", "--stdio"], ["report", "--stats"], ["report", "--header-only"], ["script"],
                    ["script", "--header-only"], ["evlist"], ["flamegraph", "-o", path + ".html"]):
        status, out, err = piped(*command, "-i", path)
        result(status == 255 and out == "" and "belongs to another user" in err and "-f" in err,
               f"{what}: refused by {' '.join(command[:2])}", f"status {status}\n{err}")
        status, out, err = piped(*command, "-f", "-i", path)
        result(status == 0 and "another user" not in err, f"{what}: -f reads it with {' '.join(command[:2])}", err)
    os.chown(path, 0, -1)


MARK = "sed 's/^/P:/'"
RED, OFF = "\x1b[31m", "\x1b[m"
REPORT = ["report", "--stdio", "--no-children", "-g", "none", "-s", "comm"]


def pager(path):
    for command in (REPORT, ["script", "-G"]):
        def shown(*options, **env):
            status, text = on_terminal(*command, "-i", path, *options, **env)
            lines = text.splitlines()
            return status == 0 and len(lines) > 5 and all(s.startswith("P:") for s in lines)

        name = command[0]
        result(shown(PAGER=MARK), f"{name}: PAGER shows the text")
        result(shown(PAGER="cat", PERF_PAGER=MARK), f"{name}: PERF_PAGER overrides PAGER")
        result(shown(PERF_PAGER="cat", SONDE_PAGER=MARK), f"{name}: SONDE_PAGER overrides PERF_PAGER")
        result(not shown(PAGER=MARK, SONDE_PAGER=""), f"{name}: an empty SONDE_PAGER means no pager")
        result(not shown("--no-pager", PAGER=MARK), f"{name}: --no-pager uses no pager")
        status, out, _ = piped(*command, "-i", path, PAGER=MARK)
        result(status == 0 and "P:" not in out, f"{name}: no pager for a pipe")
        status, text = on_terminal(*command, "-i", path, PAGER="head -1")
        result(status == 0 and len(text.splitlines()) == 1, f"{name}: a pager that ends early is no error", text)


def colour(path):
    plain = dict(PAGER="cat")
    _, text = on_terminal(*REPORT, "-i", path, **plain)
    red = [s for s in text.splitlines() if s.startswith("  " + RED)]
    result(red and all(OFF in s and float(s.split("m", 1)[1].split("%")[0]) >= 5 for s in red),
           "shares from 5 percent are red", text)
    green = [s for s in text.splitlines() if s.startswith("  \x1b[32m")]
    result(green and all(0.5 <= float(s.split("m", 1)[1].split("%")[0]) < 5.005 for s in green),
           "shares from 0.5 to 5 percent are green", text)
    result(any(s.startswith("     0.") for s in text.splitlines()), "shares below 0.5 percent have no colour", text)
    for what, env in (("NO_COLOR", {"NO_COLOR": "1"}), ("TERM=dumb", {"TERM": "dumb"})):
        _, text = on_terminal(*REPORT, "-i", path, **plain, **env)
        result("\x1b" not in text and "%" in text, f"{what}: no colours", text)
    _, text = on_terminal(*REPORT, "-i", path, "--color", "never", **plain)
    result("\x1b" not in text, "--color never: no colours")
    _, out, _ = piped(*REPORT, "-i", path)
    result("\x1b" not in out, "no colours in a pipe")
    for option in (["--color", "always"], ["--stdio-color"], ["--stdio-color=always"]):
        _, out, _ = piped(*REPORT, "-i", path, *option)
        result(RED in out, f"{' '.join(option)}: colours in a pipe")


def front_options(path):
    """Options for pagers before the command."""
    for words in (["evlist"], ["version"], ["buildid-list"], ["list", "sw"], ["report", "--stdio", "-g", "none"]):
        paged = ["-i", path] if words[0] not in ("version", "list") else []
        usual = words[0] in ("buildid-list", "list", "report")
        for front, wanted in (([], usual), (["-p"], True), (["--paginate"], True), (["--no-pager"], False), (["-p", "--no-pager"], False)):
            status, text = on_terminal(*front, *words, *paged, PERF_PAGER=MARK)
            lines = text.splitlines()
            result(status == 0 and lines and all(s.startswith("P:") == wanted for s in lines),
                   f"{' '.join(['sonde', *front, *words])}: {'in' if wanted else 'not in'} a pager", text[:300])
    _, text = on_terminal("-p", *REPORT, "-i", path, PERF_PAGER="cat -v")
    result("^[[31m" in text, "colours in the pager of --paginate", text[:300])
    status, _, err = piped("--no-pagr", "version")
    result(status == 129 and "did you mean --no-pager" in err, "an unknown option before the command: a similar one is named", err)


LEFT = re.compile(r"\rProcessing \[#* *\] (\d+)%(?:, \d+ samples/s)?(?:, \d+ (?:s|min) left)?\x1b\[K")


def interrupted(*argv):
    """Runs sonde on a terminal, and stops it often until it shows the time left."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(SONDE, [SONDE, *argv], BASE)
    got, stops = b"", 0
    while True:
        if select.select([fd], [], [], 0.02)[0]:
            try:
                got += os.read(fd, 65536)
            except OSError:
                break
        if stops < 20 and b"left" not in got:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.6)
            os.kill(pid, signal.SIGCONT)
            stops += 1
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return os.waitstatus_to_exitcode(status), got.decode(errors="replace").replace("\r\n", "\n")


def progress(tmp, path):
    """A progress bar for long work on a terminal only, which is removed at the end."""
    large, out = os.path.join(tmp, "large.data"), os.path.join(tmp, "out")
    subprocess.run([GEN, "-n", "500000", "-o", large], check=True, stdout=subprocess.DEVNULL)
    commands = [["report", "--stdio", "-g", "none", "-s", "comm", "--no-pager", "-j", "1"], ["flamegraph", "-j", "1", "-o", out + ".html"],
                ["convert", "--endian", "big", "-o", out], ["repair", "-o", out], ["check"], ["buildid-list", "--no-pager", "-H"],
                ["export", "--to", "sqlite", "--force", "-o", out + ".db"]]
    for words in commands:
        name = words[0]
        for _ in range(3):  # it may be stopped before the work or after it only
            status, text = interrupted(*words, "-i", large)
            bars = LEFT.findall(text)
            if len(bars) > 1 and "left" in text:
                break
        result(status == 0 and len(bars) > 1, f"{name}: a progress bar for long work", f"status {status}", text[-300:])
        result("left" in text, f"{name}: the bar has the time left", text[-300:])
        if name == "export":
            result(re.search(r"[1-9]\d* samples/s", text), "export: the bar has the rate", text[-300:])
        end = text.rindex("\x1b[K") if bars else 0
        result(text[:end].endswith("\r") and "Processing" not in text[end:], f"{name}: the bar is removed before the result", text[-300:])
        _, _, err = piped(*words, "-i", large)
        result("Processing" not in err, f"{name}: no progress bar in a pipe", err)
        _, text = on_terminal(*words, "-i", path)
        result("Processing" not in text, f"{name}: no progress bar for short work", text)
    command = ["script", "-j", "1", "-i"]
    status, text = on_terminal(*command, path, PAGER="cat")
    result("Processing" not in text and len(text) > 1000, "script: no progress bar between lines on the terminal", text[:300])
    _, _, err = piped(*command, large)
    result(err == "", "script: no progress bar in a pipe", err)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        BASE["HOME"] = tmp
        path = os.path.join(tmp, "perf.data")
        subprocess.run([GEN, "-n", "400", "-o", path], check=True, stdout=subprocess.DEVNULL)
        pager(path)
        front_options(path)
        colour(path)
        progress(tmp, path)
        owner(path)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
