#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings written to standard output, as TAP: stdout.py SONDE GEN.

A stream is whole whatever standard output is; what only a file can hold is refused before the first byte."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result  # noqa: E402

SONDE, GEN = (os.path.realpath(p) for p in sys.argv[1:3])
FORMS = {"a file": [], "a stream": ["--to", "pipe"], "a folder": ["--to", "directory"], "a compressed file": ["-z"]}


def run(*argv, stdout=subprocess.PIPE):
    p = subprocess.run([SONDE, *argv], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=60)
    return p.returncode, p.stdout, p.stderr.decode()


def samples(path):
    status, out, err = run("script", "-i", path, "-F", "comm,tid,time,event,ip")
    return status, out, err


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([GEN, "-n", "3000", "-p", "2", "-t", "2", "-o", "perf.data"], check=True, stderr=subprocess.DEVNULL)
        want = samples("perf.data")
        result(want[0] == 0 and want[1].count(b"\n") > 3000, "the recording has samples", want[2])
        for form, words in FORMS.items():
            name = form.replace(" ", "_")
            made = run("convert", *words, "-o", name, "perf.data")
            result(made[0] == 0 and samples(name)[:2] == want[:2], f"{form}: the converted recording has the same samples", made[2])
            for command in (["convert", "-o", "-"], ["convert", "--to", "pipe", "-o", "-"], ["repair", "-o", "-"]):
                what = f"{' '.join(command)} of {form}"
                status, out, err = run(*command, name)
                with open("piped", "wb") as f:
                    f.write(out)
                result((status, samples("piped")[:2], run("check", "piped")[0]) == (0, want[:2], 0),
                       f"{what} into a pipe is complete and has the same samples", f"{status} {len(out)} bytes: {err}")
                with open("stored", "wb") as f:
                    status, _, err = run(*command, name, stdout=f)
                result(status == 0 and open("stored", "rb").read() == out, f"{what} into a file has the same bytes", err)
        for to in ("file", "directory"):
            status, out, err = run("convert", "--to", to, "-o", "-", "perf.data")
            result(status == 255 and out == b"" and "--to pipe" in err and not os.path.exists("-"),
                   f"--to {to} into a pipe is refused before the first byte", f"{status} {len(out)} bytes: {err}")
        with open("seekable", "wb") as f:
            status, _, err = run("convert", "--to", "file", "-o", "-", "perf.data", stdout=f)
        result(status == 0 and samples("seekable")[:2] == want[:2] and open("seekable", "rb").read(24)[8:9] == b"\x68",
               "--to file into an empty file writes a seekable file", err)
        with open("seekable", "rb") as f, open("begun", "wb") as start:
            header = f.read(48)
            end = int.from_bytes(header[40:48], "little")  # where the data section begins
            f.seek(0)
            start.write(header[:40] + header[40:48] + bytes(8) + f.read(end)[56:])
        status, out, _ = run("check", "begun")
        result(status == 1 and b"interrupted" in out, "check reports a file that ends after its header as interrupted", out.decode())
        for mode, what in (("ab", "appended to"), ("r+b", "begun")):
            with open("begun", "wb") as f:
                f.write(b"other text\n")
            with open("begun", mode) as f:
                f.seek(0, os.SEEK_END)
                status, _, err = run("convert", "--to", "file", "-o", "-", "perf.data", stdout=f)
            result(status == 255 and open("begun", "rb").read() == b"other text\n",
                   f"--to file into a file that is {what} is refused and nothing is written", err)
        os.chdir("/")
    return tap.end()


sys.exit(main())
