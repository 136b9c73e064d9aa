# SPDX-License-Identifier: MIT
"""The compiled programs of this folder, and the addresses of their code."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from recording import CALLCHAIN, CONTEXT_USER, IP, PERIOD, REGS_USER, STACK_USER, TID, TIME, Event, Recording  # noqa: E402

BASE = 0x555500000000
BP, SP, PC = 6, 7, 8  # registers of x86
PID = 5000007  # no process can have it: perf looks for objects where the process of a sample sees them
REGS = 0xff0fff  # those that --call-graph dwarf records
NO_CHAIN_USER = 1 << 22  # flag of an event
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


def record(path, program, chains=False, stacks=False):
    """A sample at each address of the program's .text, and at two where nothing is mapped, each with another period.
    chains: the caller is another of these addresses; "own": there is none. stacks: with registers and a stack from which
    no caller follows."""
    address, offset, size = text(program)
    start = BASE if address == offset else address - offset
    page = offset & ~0xfff
    kind = IP | TID | TIME | PERIOD | (CALLCHAIN if chains or stacks else 0) | (REGS_USER | STACK_USER if stacks else 0)
    r = Recording([Event(1, 0, sample_type=kind, flags=NO_CHAIN_USER if stacks else 0, user_regs=REGS if stacks else 0,
                         user_stack=64 if stacks else 0)])
    r.comm(1, "program", PID)
    r.mmap(2, PID, start + page, (offset - page + size + 0xfff) & ~0xfff, program, page)
    code = [start + o for o in range(offset, offset + size)] + [0x1234, BASE + 0x10000000]
    for n, ip in enumerate(code):
        callers = [] if chains == "own" else [code[n * 7 % len(code)]]
        r.sample(1000 + n, ip, PID, chain=[CONTEXT_USER, ip, *callers] if chains else (), period=1000 + n,
                 regs={PC: ip, SP: 0x7fff0000, BP: 0x7fff0010} if stacks else None, stack=bytes(64))
    r.write(path)
    return path


def debug_file(path):
    """The separate debug file of an object by its build id; None: there is none."""
    out = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, text=True).stdout
    found = re.search(r"Build ID: (..)(\w+)", out)
    debug = os.path.join("/usr/lib/debug/.build-id", found[1], found[2] + ".debug") if found else ""
    return debug if os.path.exists(debug) else None
