# SPDX-License-Identifier: MIT
"""The compiled programs of this folder, and the addresses of their code."""
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-g", "-O2", "-fno-omit-frame-pointer"]
C, CXX = shutil.which("gcc") or "cc", shutil.which("g++")


def build(out, source, *flags):
    """Compiles HERE/source to `out`."""
    compiler = CXX if source.endswith(".cc") else C
    subprocess.run([compiler, *FLAGS, *flags, "-o", out, os.path.join(HERE, source)], check=True)
    return out


def strip(out, path, *flags):
    shutil.copy(path, out)
    subprocess.run(["strip", *flags, out], check=True)
    return out


def separate(folder, path):
    """A stripped copy of a program in `folder`, and its debug file beside it, found by .gnu_debuglink."""
    os.makedirs(folder)
    out, debug = os.path.join(folder, os.path.basename(path)), os.path.join(folder, "it.debug")
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    strip(out, path)
    subprocess.run(["objcopy", "--add-gnu-debuglink=" + debug, out], check=True)
    return out


def text(path):
    """(address, offset, size) of .text."""
    out = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return tuple(int(x, 16) for x in re.search(r"\] \.text\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)", out).groups())
