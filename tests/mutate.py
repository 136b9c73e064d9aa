#!/usr/bin/env python3
"""Damages recordings in repeatable ways and runs commands on them, as TAP.

  tests/mutate.py [-n MUTANTS] [-j JOBS] [--first SEED] SONDE FILE...

A command must end by itself, within the time and memory allowed, with a status from 0 to 255 that is no
signal's. Mutant K of a file is always the same: --first K -n 1 -j 1 repeats it, --keep DIR saves what failed.
"""
import argparse
import os
import random
import resource
import shlex
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMMANDS = ["report --stdio -i {f}", "report --stats -i {f}", "report --header-only -i {f}", "script -i {f}",
            "evlist -v -i {f}", "flamegraph -i {f} -o /dev/null"]
TIMEOUT = 20          # seconds
MEMORY = 2 << 30      # bytes of address space
EDGES = [0, 1, 4, 7, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 63, (1 << 64) - 1]


def records(data):
    """Offsets of records, as far as they hang together."""
    if len(data) < 104 or data[:8] not in (b"PERFILE2", b"PERFFILE"):
        return []
    at, size = struct.unpack_from("<QQ", data, 40) if data[8] != 16 else (16, len(data) - 16)
    end = min(at + size, len(data))
    found = []
    while at + 8 <= end:
        n = struct.unpack_from("<H", data, at + 6)[0]
        if n < 8:
            break
        found.append(at)
        at += n
    return found


def put_number(rng, data, at):
    """A number at the edge of some range, in 2, 4 or 8 bytes."""
    width = rng.choice([2, 4, 8])
    value = rng.choice(EDGES) & ((1 << 8 * width) - 1)
    data[at:at + width] = value.to_bytes(width, "little")


def mutate(data, seed):
    rng = random.Random(seed)
    data = bytearray(data)
    places = records(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        kind = rng.randrange(8)
        at = rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            put_number(rng, data, rng.randrange(min(len(data), 104 + 288)) & ~1)
        elif kind == 2 and places:
            put_number(rng, data, rng.choice(places) + rng.choice([0, 4, 6, 8, 16, 24, 32, 40, 48, 56, 64]))
        elif kind == 3 and places:
            put_number(rng, data, rng.choice(places) + 6)
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            del data[at:at + rng.choice([1, 8, 64, 4096])]
        elif kind == 6:
            data[at:at] = data[at:at + rng.choice([8, 64, 512])]
        else:
            put_number(rng, data, max(0, len(data) - rng.randrange(1, 2048)))
    return bytes(data)


def limits(sonde):
    """A function that limits a child; an address sanitizer reserves terabytes, and has its own limit."""
    sanitized = b"__asan_init" in Path(sonde).read_bytes()

    def limit():
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def try_command(sonde, command, path):
    """None, or what went wrong."""
    argv = [sonde] + shlex.split(command.format(f=path))
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=TIMEOUT, preexec_fn=limits(sonde))
    except subprocess.TimeoutExpired:
        return f"{command}: did not end in {TIMEOUT} s"
    if done.returncode < 0:
        return f"{command}: signal {-done.returncode}"
    if b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        return f"{command}: {done.stderr.decode(errors='replace')[:600]}"
    return None


def try_mutant(args, seed_file, data, number):
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        f.write(mutate(data, f"{seed_file.name}:{number}"))
        f.flush()
        found = [w for w in (try_command(args.sonde, c, f.name) for c in COMMANDS) if w]
        if found and args.keep:
            args.keep.mkdir(parents=True, exist_ok=True)
            (args.keep / f"{seed_file.stem}-{number}.data").write_bytes(Path(f.name).read_bytes())
    return number, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=100, help="mutants of each file")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    count = failures = 0
    for seed_file in args.files:
        data = seed_file.read_bytes()
        with ThreadPoolExecutor(args.j) as pool:
            numbers = range(args.first, args.first + args.n)
            for number, found in pool.map(lambda n: try_mutant(args, seed_file, data, n), numbers):
                count += 1
                failures += bool(found)
                print(f"{'not ' if found else ''}ok {count} - {seed_file.name} mutant {number}")
                for what in found:
                    print("#   " + what.replace("\n", "\n#   "))
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
