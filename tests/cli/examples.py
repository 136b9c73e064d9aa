#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every man page of a command has examples, and each of them works, as TAP: examples.py SONDE GEN MAN.

Lines `.Dl $ COMMAND` of the section EXAMPLES are run by a shell, in the order of the page, in a folder with a program and
recordings. A command must end with status 0 after it printed something or wrote a file. Those that need a PostgreSQL
server use one of this test.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "aux"))
from pt_recording import Recording  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import server as postgresql  # noqa: E402

SONDE, GEN, MAN = (os.path.realpath(p) for p in sys.argv[1:4])
NEEDS_SERVER = re.compile(r"--to postgresql|dbname=|postgresql:")
RECORDS = re.compile(r"sonde (record|stat|test)\b")
PSB = "02820282028202820282028202820282"
CODE = bytes.fromhex("e805000000" "ffc9" "75f7" "f4" "c3")  # at 0x1000; tests/cli/cases/pt-flow.sh describes it
TRACE = bytes.fromhex(PSB + "3d00109901" "0223" "3c" "3d091001")


def program():
    """An ELF file that is the script `program` for the kernel's loader, and code at 0x1000 for pt flow."""
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x1000, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 120, 0x1000, 0x1000, len(CODE), len(CODE), 1) + CODE


def prepare(folder):
    def write(name, content, mode=0o644):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)
        os.chmod(os.path.join(folder, name), mode)

    for name in ("bin", "home"):
        os.makedirs(os.path.join(folder, name))
    os.symlink(SONDE, os.path.join(folder, "bin", "sonde"))
    write("bin/ssh", b"#!/bin/sh\nshift\nexec \"$@\"\n", 0o755)
    write("trace.pt", TRACE)
    recording = Recording()
    recording.comm(1, 1000, "program")
    recording.mmap(2, 1000, 0x1000, 0x1000, os.path.join(folder, "program"), pgoff=120)
    recording.itrace_start(3, 1000)
    recording.auxtrace(TRACE, tid=1000)
    recording.write(os.path.join(folder, "trace.data"))
    for name in ("perf.data", "out.data", "monday.data", "tuesday.data", "damaged.data"):
        subprocess.run([GEN, "-n", "2000", "-o", os.path.join(folder, name)], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "damaged.data"), "r+b") as f:
        f.truncate(100000)


def files(folder):
    return {e.path: e.stat().st_mtime_ns for e in os.scandir(folder)}


def run(command, folder, server):
    """None if the example works, else what is wrong."""
    with open(os.path.join(folder, "program"), "wb") as f:  # a program to record, or its code
        f.write(program() if " pt " in command else b"#!/bin/sh\ni=0\nwhile [ $i -lt 20000 ]; do i=$((i+1)); done\n")
    os.chmod(os.path.join(folder, "program"), 0o755)
    before = files(folder)
    if server is not None:
        command = command.replace("host=db.example user=ann", f"host={server.folder} user=tester")
    env = dict(os.environ if server is None else server.environment, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"], HOME=os.path.join(folder, "home"), SONDE_CACHE="")
    env.pop("XDG_CONFIG_HOME", None)
    env.pop("SONDE_CONFIG", None)
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, env=env,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return f"status {done.returncode}\n{done.stderr[:600]}\n{done.stdout[:300]}"
    if done.stdout + done.stderr == "" and files(folder) == before and " config " not in command:
        return f"nothing was printed or written\n{done.stderr[:600]}"
    return None


def run_page(commands, folder, recordable):
    """Runs commands of a page in a folder, with a server if one of them needs it."""
    def run_all(server):
        for page, command in commands:
            if RECORDS.search(command) and not recordable:
                tap.skip(f"{page}: {command}", "this machine allows no recording")
            elif NEEDS_SERVER.search(command) and server is None:
                tap.skip(f"{page}: {command}", postgresql.missing())
            else:
                wrong = run(command, folder, server)
                tap.result(wrong is None, f"{page}: {command}", wrong)

    if any(NEEDS_SERVER.search(c) for _, c in commands) and postgresql.missing() is None:
        with tempfile.TemporaryDirectory() as parent:
            os.chmod(parent, 0o755)
            with postgresql.Server(os.path.join(parent, "server")) as server:
                run_all(server)
    else:
        run_all(None)


def can_record(folder):
    done = subprocess.run([SONDE, "record", "-q", "-N", "-e", "cpu-clock", "-o", os.path.join(folder, "try"), "true"],
                          capture_output=True, check=False, env=dict(os.environ, HOME=folder))
    return done.returncode == 0


def main():
    records = "NO_RECORDING" not in os.environ or os.environ["NO_RECORDING"] == ""
    for page in sorted(os.listdir(MAN)):
        with open(os.path.join(MAN, page), encoding="utf-8") as f:
            section = f.read().partition(".Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
        commands = [line[len(".Dl $ "):].replace("\\e", "\\") for line in section.splitlines() if line.startswith(".Dl $ ")]
        name = page[:-2].replace("-", " ", 1)
        tap.result(commands and section.count(".Dl") == len(commands) and any(c.startswith(name) for c in commands),
                   f"{page}: the page has examples of {name}", section[:300])
        folder = tempfile.mkdtemp()
        prepare(folder)
        run_page([(page, c) for c in commands], folder, records and can_record(folder))
        shutil.rmtree(folder)
    return tap.end()


sys.exit(main())
