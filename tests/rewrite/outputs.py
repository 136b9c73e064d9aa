#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs of all commands that write files appear as a whole or not at all: tests/rewrite/outputs.py SONDE. TAP."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from recording import CPU, IP, PERIOD, TID, TIME, Event, Recording  # noqa: E402
from tap import end, result, skip  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
WORK = tempfile.mkdtemp(prefix="outputs-")
LIMIT = 40000  # bytes, less than any of the outputs
OLD = b"the old contents\n"
COMMANDS = {
    "inject": ("inject", "-i", "in", "-o", "out"),
    "inject -b": ("inject", "-b", "-i", "in", "-o", "out"),
    "convert": ("convert", "-o", "out", "in"),
    "convert to a stream": ("convert", "--to", "pipe", "-o", "out", "in"),
    "convert --redact": ("convert", "--redact", "-o", "out", "in"),
    "repair": ("repair", "-o", "out", "in"),
    "export": ("export", "--to", "sqlite", "--force", "-i", "in", "-o", "out"),
    "data convert": ("data", "convert", "--force", "-i", "in", "--to-json", "out"),
    "flamegraph": ("flamegraph", "-i", "in", "-o", "out"),
}


def limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def run(*argv, stdin=b"", small=False):
    done = subprocess.run([SONDE, *argv], input=stdin, capture_output=True, cwd=WORK, timeout=60,
                          preexec_fn=limit if small else None, env=dict(os.environ, LC_ALL="C"))
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def read(name):
    with open(os.path.join(WORK, name), "rb") as f:
        return f.read()


def write(name, data):
    with open(os.path.join(WORK, name), "wb") as f:
        f.write(data)


def make():
    r = Recording([Event(1, 0, sample_type=IP | TID | TIME | CPU | PERIOD)])
    r.comm(1, "program", 7)
    r.mmap2(2, 7, 0x10000, 0x4000, "/usr/bin/program", 5, inode=1)
    for i in range(3000):
        r.comm(3 + i, f"name {i}", 1000 + i)
        r.sample(10 + i, 0x10000 + i, 1000 + i)
    r.write(os.path.join(WORK, "in"))


def names():
    return sorted(os.listdir(WORK))


def clean():
    for name in names():
        path = os.path.join(WORK, name)
        if name != "in":
            (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def full(what, argv):
    """A full disk, shown by a limit of the size of files."""
    status, _, err = run(*argv, small=True)
    result(status in (1, 255) and "out" in err and names() == ["in"],
           f"{what}: a full disk ends with a message and leaves nothing", status, err, names())
    write("out", OLD)
    status, _, err = run(*argv, small=True)
    result(status in (1, 255) and read("out") == OLD and names() == ["in", "out"], f"{what}: a full disk leaves the old file as it was", status,
           err, names())
    os.chmod(os.path.join(WORK, "out"), 0o640)
    status, _, err = run(*argv)
    result(status == 0 and len(read("out")) > LIMIT and names() == ["in", "out"], f"{what}: the new file replaces the old one", status,
           err, names())
    clean()


def elsewhere(what, argv):
    argv = [a if a != "out" else "no/such/folder/out" for a in argv]
    status, _, err = run(*argv)
    result(status in (1, 255) and "no/such/folder/out" in err and "No such file" in err and names() == ["in"],
           f"{what}: an output in a folder that does not exist is refused by name", status, err)


def link(what, argv):
    """The file that a symbolic link names is replaced, not the link."""
    write("target", OLD)
    os.symlink("target", os.path.join(WORK, "out"))
    status, _, err = run(*argv)
    result(status == 0 and os.path.islink(os.path.join(WORK, "out")) and len(read("target")) > LIMIT, f"{what}: links stay", status, err)
    clean()


def itself():
    before = read("in")
    for what, argv in COMMANDS.items():
        if "force" in " ".join(argv) or what == "flamegraph":
            continue
        os.link(os.path.join(WORK, "in"), os.path.join(WORK, "out"))
        status, _, err = run(*argv)
        result(status in (1, 255) and "is the input itself" in err and read("in") == before, f"{what}: the input as output is refused", status, err)
        os.unlink(os.path.join(WORK, "out"))


def modes():
    write("out", OLD)
    os.chmod(os.path.join(WORK, "out"), 0o640)
    run(*COMMANDS["convert"])
    result(os.stat(os.path.join(WORK, "out")).st_mode & 0o777 == 0o640, "a file that replaces another keeps its permissions")
    clean()
    if os.geteuid() == 0:
        skip("a file that this user may not write is refused", "root may write all files")
    else:
        write("out", OLD)
        os.chmod(os.path.join(WORK, "out"), 0o400)
        status, _, err = run(*COMMANDS["convert"])
        result(status in (1, 255) and "out" in err and read("out") == OLD, "a file that this user may not write is refused", status, err)
    clean()


def folders():
    argv = ("convert", "--to", "directory", "-o", "out", "in")
    status, _, err = run(*argv, small=True)
    result(status in (1, 255) and names() == ["in"], "convert to a folder: a full disk leaves nothing", status, err, names())
    os.mkdir(os.path.join(WORK, "out"))
    write("out/mine", OLD)
    status, _, err = run(*argv)
    result(status in (1, 255) and read("out/mine") == OLD, "convert to a folder: an existing folder stays", status, err)
    clean()


def pipes():
    data = run("convert", "--to", "pipe", "-o", "-", "in")[1]
    status, _, err = run("inject", "-o", "out", stdin=data[:len(data) // 2])
    result(status == 1 and "Warning" in err and run("script", "-i", "out")[1].count(b"\n") > 100,
           "a stream that is cut short: its beginning is written, and the loss is reported", status, err)
    clean()
    for what, cut in (("an empty stream", 0), ("a stream without events", 16), ("half a header", 9)):
        status, _, err = run("inject", "-o", "out", stdin=data[:cut])
        result(status > 1 and err.startswith("Error: ") and names() == ["in"], f"{what}: nothing is written", status, err, names())
    with subprocess.Popen([SONDE, "inject", "-i", "in"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=WORK) as p:
        p.stdout.close()
        err = p.stderr.read().decode()
        result(p.wait() in (1, -signal.SIGPIPE), "a reader that ends early ends inject", p.returncode, err)


make()
for what_, argv_ in COMMANDS.items():
    if what_ == "export" and run(*argv_)[0] != 0:
        skip("export", "this build has no SQLite")
        continue
    clean()
    full(what_, argv_)
    elsewhere(what_, argv_)
    link(what_, argv_)
itself()
modes()
folders()
pipes()
shutil.rmtree(WORK)
sys.exit(end())
