#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the command does on a terminal and with files of other users, as TAP: terminal.py SONDE GEN."""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile

SONDE, GEN = (os.path.realpath(p) for p in sys.argv[1:3])
BASE = {k: v for k, v in os.environ.items() if k not in ("PAGER", "PERF_PAGER", "SONDE_PAGER", "NO_COLOR", "LESS")}
BASE.update(LC_ALL="C", TERM="xterm", DEBUGINFOD_URLS="")
count = failures = 0


def result(good, what, detail=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in [] if good else str(detail).splitlines()[:20]:
        print("#   " + line)
    sys.stdout.flush()


def skip(what, why):
    global count
    count += 1
    print(f"ok {count} - {what} # SKIP {why}")


def on_terminal(*argv, keys=b"", **env):
    """Standard input, output and error are one pseudo terminal: status and everything that came."""
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
    """Files of another user are read when that is asked for."""
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


def main():
    with tempfile.TemporaryDirectory() as tmp:
        BASE["HOME"] = tmp
        path = os.path.join(tmp, "perf.data")
        subprocess.run([GEN, "-n", "400", "-o", path], check=True, stdout=subprocess.DEVNULL)
        owner(path)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
