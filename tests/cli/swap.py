#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a small recording in the given byte order: swap.py little|big FILE"""
import struct
import sys

ORDER = "<" if sys.argv[1] == "little" else ">"
COMM, SAMPLE, MMAP2 = 3, 9, 10
IP, TID, TIME, PERIOD = 1, 2, 4, 256
SAMPLE_ID_ALL = 18


def pack(layout, *values):
    return struct.pack(ORDER + layout, *values)


def flag(bit):
    """Bit fields start at the lowest bit of a little-endian word, and at the highest of a big-endian one."""
    return 1 << (bit if ORDER == "<" else 63 - bit)


def record(kind, misc, body):
    return pack("IHH", kind, misc, 8 + len(body)) + body


def text(name):
    return name.encode() + bytes(8 - len(name) % 8)


attr = pack("IIQQQQQ", 1, 128, 0, 1, IP | TID | TIME | PERIOD, 0, flag(SAMPLE_ID_ALL))
attr += bytes(128 - len(attr))
trailer = pack("IIQ", 0, 0, 0)
data = record(COMM, 0, pack("II", 10, 11) + text("worker") + trailer)
data += record(MMAP2, 2, pack("IIQQQIIQQII", 10, 11, 0x400000, 0x10000, 0, 8, 1, 99, 0, 5, 2)
               + text("/opt/none/prog") + trailer)
for i in range(5):
    data += record(SAMPLE, 2, pack("QIIQQ", 0x400100 + i, 10, 11, 5000000000 - i * 1000, 7))
start = 104 + 144
header = b"PERFILE2" if ORDER == "<" else b"2ELIFREP"
header += pack("QQQQQQQQQQQQ", 104, 144, 104, 144, start, len(data), 0, 0, 0, 0, 0, 0)
with open(sys.argv[2], "wb") as out:
    out.write(header + attr + pack("QQ", 0, 0) + data)
