#!/usr/bin/env python3
"""What a newer tool wrote is read and rewritten, and nothing of it is lost: newer.py SONDE.

A recording with attrs longer than we know, record types and header features that nobody has is written as stream,
directory, compressed, and back.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

SONDE = sys.argv[1]
ATTR = 200  # bytes of an attr; 144 are known
TIME_TID_IP = 1 | 2 | 4
FEATURES = {3: struct.pack("<I", 64) + b"host".ljust(64, b"\0"), 40: b"a feature of tomorrow", 200: b"\1\2\3\4\5\6\7\10"}
count = failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    if not good:
        for line in str(why).splitlines()[:8]:
            print("#  ", line[:300])


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def make(path):
    attr = struct.pack("<IIQQQQQ", 1, ATTR, 9, 1, TIME_TID_IP, 0, 1 << 18 | 3 << 50).ljust(144, b"\0")
    attr += bytes(range(1, ATTR - 144 + 1))
    trailer = struct.pack("<IIQ", 5, 5, 77)
    records = b"".join([
        record(3, 0, struct.pack("<II8s", 5, 5, b"future") + trailer),
        record(40, 0x4321, b"a kernel record of tomorrow!    " + trailer),
        record(9, 2, struct.pack("<QIIQ", 0x1234, 5, 5, 78)),
        record(120, 0x7, b"a tool record of tomorrow".ljust(32)),
        record(9, 2, struct.pack("<QIIQ", 0x1238, 5, 5, 79) + b"fields behind those we know".ljust(32)),
        record(60000, 0, b"eightby!"),
    ])
    entry = ATTR + 16
    data = 104 + 8 + entry
    bits = [0, 0, 0, 0]
    for bit in FEATURES:
        bits[bit // 64] |= 1 << bit % 64
    at = data + len(records) + 16 * len(FEATURES)
    table = b""
    for bit in sorted(FEATURES):
        table += struct.pack("<QQ", at, len(FEATURES[bit]))
        at += len(FEATURES[bit])
    header = struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, entry, 112, entry, data, len(records), 0, 0, *bits)
    with open(path, "wb") as f:
        f.write(header + struct.pack("<Q", 42) + attr + struct.pack("<QQ", 104, 8) + records + table)
        f.write(b"".join(FEATURES[bit] for bit in sorted(FEATURES)))
    return attr


def records(path):
    done = subprocess.run([SONDE, "dump", "--json", "--raw", path], capture_output=True, text=True)
    document = json.loads(done.stdout)
    return sorted(r["raw"] for r in document["records"] if r["type"] not in (64, 80, 81)), done.stderr


def features(path):
    """Of a seekable file: feature -> payload; and the bytes of its attr."""
    with open(path, "rb") as f:
        d = f.read()
    h = struct.unpack_from("<8sQQQQQQQQ4Q", d)
    out = {}
    at = h[5] + h[6]
    for bit in range(256):
        if h[9 + bit // 64] >> bit % 64 & 1:
            offset, size = struct.unpack_from("<QQ", d, at)
            out[bit] = d[offset:offset + size]
            at += 16
    return out, d[h[3]:h[3] + h[2] - 16]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "newer")
        attr = make(path)
        want, why = records(path)
        check(len(want) == 6, "all records of a newer recording are read", why)
        done = subprocess.run([SONDE, "report", "--stdio", "-i", path], capture_output=True, text=True)
        check(done.returncode == 0 and "future" in done.stdout, "a newer recording is reported", done.stderr)
        for name, words in (("pipe", ["--to", "pipe"]), ("compressed", ["-z"]), ("directory", ["--to", "directory"])):
            made, back = (os.path.join(folder, name + x) for x in ("", "-back"))
            for source, target, how in ((path, made, words), (made, back, ["--to", "file", "--plain"])):
                done = subprocess.run([SONDE, "convert", source, "-o", target, *how], capture_output=True, text=True)
                check(done.returncode == 0, f"a newer recording is converted to {name} and back", done.stderr)
                got, why = records(target)
                check(got == want, f"a newer recording converted to {name} has the same records", f"{got}\n{want}\n{why}")
            got, got_attr = features(back)
            padded = {bit: p[:len(FEATURES.get(bit, p))] for bit, p in got.items()}
            check(padded == FEATURES, f"a newer recording converted to {name} and back has the same features", got)
            check(got_attr == attr, f"a newer recording converted to {name} and back has the same attr", got_attr.hex())
        for order in ("big", "little"):
            target = os.path.join(folder, order)
            source = path if order == "big" else os.path.join(folder, "big")
            subprocess.run([SONDE, "convert", source, "-o", target, "--endian", order], capture_output=True)
        got, why = records(os.path.join(folder, "little"))
        check(got == want, "a newer recording converted to big-endian and back has the same records", f"{got}\n{want}\n{why}")
        check(features(os.path.join(folder, "little"))[1] == attr, "a newer recording converted to big-endian and back has the same attr")
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
