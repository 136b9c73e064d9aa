#!/usr/bin/env python3
"""Copies of the kernel in a directory stay with it, or are named when they cannot: kcore.py SONDE GEN."""
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

SONDE, GEN = sys.argv[1:3]
FILES = {"kcore_dir/kcore": os.urandom(3 << 20), "kcore_dir/kallsyms": b"ffffffff81000000 T _text\n",
         "kcore_dir/modules": b"", "kcore_dir__77/kallsyms": b"ffffffff82000000 T _text\n"}
count = failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    if not good:
        print("#  ", str(why)[:500])


def convert(*words):
    return subprocess.run([SONDE, "convert", *words], capture_output=True, text=True)


KINDS = {3: "COMM", 4: "EXIT", 7: "FORK", 9: "SAMPLE", 10: "MMAP2"}  # those that every form of a recording has


def written(path):
    """Kind -> number of records of a seekable file."""
    with open(path, "rb") as f:
        data = f.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end, kinds = at + size, collections.Counter()
    while at < end:
        kind, _, n = struct.unpack_from("<IHH", data, at)
        kinds[KINDS.get(kind)] += 1
        at += n
    del kinds[None]
    return kinds


def check_records(path, want, what):
    done = subprocess.run([SONDE, "report", "--stats", "-i", path], capture_output=True, text=True)
    got = {name: int(n) for name, n in re.findall(r"^ +(\w+) events: +(\d+)  \( *[\d.]+%\)$", done.stdout, re.M)}
    check(want and want.items() <= got.items(), f"{what}: the output has the same records", f"{want} {done.stdout} {done.stderr}")


def format_at(data):
    """Where the directory's format (feature 24) stands."""
    header = struct.unpack_from("<8sQQQQQQQQ4Q", data)
    before = sum(header[9] >> bit & 1 for bit in range(24))
    return struct.unpack_from("<Q", data, header[5] + header[6] + 16 * before)[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        made, first, second, plain = (os.path.join(folder, x) for x in ("made", "first", "second", "plain"))
        subprocess.run([GEN, "-n", "500", "-o", made], check=True)
        convert(made, "-o", first, "--to", "directory")
        for name, content in FILES.items():
            os.makedirs(os.path.join(first, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(first, name), "wb") as f:
                f.write(content)
        os.mkfifo(os.path.join(first, "kcore_dir/fifo"))
        done = convert(first, "-o", second)
        check(done.returncode == 0, "a directory with copies of the kernel is converted", done.stderr)
        check_records(second, written(made), "directory to directory")
        for name, content in FILES.items():
            path = os.path.join(second, name)
            got = None
            if os.path.exists(path):
                with open(path, "rb") as f:
                    got = f.read()
            check(got == content, f"{name} is copied unchanged")
        check(not os.path.exists(os.path.join(second, "kcore_dir/fifo")), "a FIFO among the copies is skipped")
        # with copies of the kernel perf writes one file, and says so: version 0 of the format
        single = os.path.join(folder, "single")
        third = os.path.join(folder, "third")
        os.mkdir(single)
        convert(made, "-o", os.path.join(single, "data"), "--to", "file")
        os.rename(os.path.join(first, "kcore_dir__77"), os.path.join(single, "kcore_dir__77"))
        done = convert(single, "-o", third)
        check(done.returncode == 0 and sorted(os.listdir(third)) == ["data", "data.0", "kcore_dir__77"],
              "a directory of one file without DIR_FORMAT is converted", f"{os.listdir(third)} {done.stderr}")
        with open(os.path.join(third, "data"), "rb") as f:
            data = bytearray(f.read())
        data[format_at(data)] = 0
        with open(os.path.join(third, "data"), "wb") as f:
            f.write(data)
        os.remove(os.path.join(third, "data.0"))
        fourth = os.path.join(folder, "fourth")
        done = convert(third, "-o", fourth)
        check(done.returncode == 0 and sorted(os.listdir(fourth)) == ["data", "kcore_dir__77"],
              "a directory of one file is converted to one of one file", f"{os.listdir(fourth)} {done.stderr}")
        done = convert(first, "-o", plain, "--to", "file")
        check(done.returncode == 0 and "copies of the kernel" in done.stderr, "converting to a file names the copies that are left behind", done.stderr)
        check_records(plain, written(made), "to a file")
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
