#!/usr/bin/env python3
"""Damaged recordings are found, and repaired ones are whole: repair.py SONDE GEN."""
import os
import random
import struct
import subprocess
import sys
import tempfile

SONDE, GEN = sys.argv[1:3]
count = failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    if not good:
        for line in str(why).splitlines()[:8]:
            print("#  ", line[:300])


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace")


def records_of(data):
    """Offsets and sizes of the records of a seekable file."""
    start, size = struct.unpack_from("<QQ", data, 40)
    at, end = start, start + size
    while at < end:
        n = struct.unpack_from("<H", data, at + 6)[0]
        yield at, n
        at += n


def said_of_whole(path, records):
    return f"{path}: seekable file, little-endian, 2 events, {records} records\n{path}: whole\n"


def damaged(data, seed):
    """The name of a kind of damage, and the damaged bytes."""
    chance = random.Random(seed)
    out = bytearray(data)
    where = list(records_of(data))
    at, n = chance.choice(where[len(where) // 10:len(where) * 9 // 10])
    kind = seed % 6
    if kind == 0:
        struct.pack_into("<H", out, at + 6, 0)
        return "a size of 0", out
    if kind == 1:
        out[at:at + 200] = bytes(chance.randrange(256) for _ in range(200))
        return "200 random bytes", out
    if kind == 2:
        return "cut off", out[:at + 3]
    if kind == 3:
        struct.pack_into("<Q", out, 48, 0)
        return "a recorder that died", out[:at + n]
    if kind == 4:
        del out[at:at + 11]
        return "11 bytes gone", out
    struct.pack_into("<H", out, at + 6, 16)
    return "a size that is too small", out


def main():
    with tempfile.TemporaryDirectory() as folder:
        good, bad, out = (os.path.join(folder, x) for x in ("good", "bad", "out"))
        subprocess.run([GEN, "-n", "3000", "-e", "2", "-o", good], check=True)
        with open(good, "rb") as f:
            data = f.read()
        whole = sum(1 for _ in records_of(data))
        done = sonde("check", good)
        check((done.returncode, done.stdout) == (0, said_of_whole(good, whole)), "check finds no damage in a good recording", done.stdout)
        for seed in range(24):
            name, content = damaged(data, seed)
            with open(bad, "wb") as f:
                f.write(content)
            done = sonde("check", bad)
            check(done.returncode == 1, f"{seed}, {name}: check reports the damage", done.stdout + done.stderr)
            done = sonde("repair", bad, "-o", out)
            # of a recorder that died every record is there, only what it writes at its end is missing
            check(done.returncode == (seed % 6 != 3), f"{seed}, {name}: the status of repair shows whether records were left out", done.stderr)
            with open(out, "rb") as f:
                left = sum(1 for _ in records_of(f.read()))
            check(f"wrote {left} records to {out} ]" in done.stderr, f"{seed}, {name}: repair prints the number of written records", done.stderr)
            done = sonde("check", out)
            check((done.returncode, done.stdout) == (0, said_of_whole(out, left)),
                  f"{seed}, {name}: check finds no damage in the repaired recording", done.stdout)
            if seed % 6 not in (2, 3):
                check(whole - left < 12, f"{seed}, {name}: fewer than 12 records are missing", f"{left} of {whole}")
        for name, content in (("nothing", b""), ("a text", b"hello, world\n" * 100), ("its magic", b"PERFILE2")):
            with open(bad, "wb") as f:
                f.write(content)
            done = sonde("check", bad)
            check(done.returncode == 2 and "unusable" in done.stdout, f"{name}: check calls the file unusable", done.stdout)
            done = sonde("repair", bad, "-o", out)
            check(done.returncode == 255 and "Error" in done.stderr, f"{name}: repair fails with a message", done.stderr)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
