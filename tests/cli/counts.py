#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a recording whose samples have counts of a group: counts.py little|big FILE

cpu-clock leads the group; page-faults and context-switches are members. Each event has an id for each of two cpus.
From sample to sample of a cpu the counts grow by 1000, by 0 or 3, and by 0 or 1. One sample also has a count with an
unknown id.
"""
import struct
import sys

ORDER = "<" if sys.argv[1] == "little" else ">"
IP_TID_TIME_READ_ID_CPU_PERIOD = 0x1d7
GROUP_ID_LOST = 8 | 4 | 16
EVENTS = {0: [1, 11], 2: [2, 12], 3: [3, 13]}  # config: ids
SAMPLE_ID_ALL = 1 << (18 if ORDER == "<" else 63 - 18)
UNKNOWN = 99


def pack(layout, *values):
    return struct.pack(ORDER + layout, *values)


def record(kind, misc, body):
    return pack("IHH", kind, misc, 8 + len(body)) + body


def sample(number, cpu, counts):
    body = pack("QIIQQIIQ", 0x401000 + number, 50, 50, 1000000000 + number * 1000, counts[0][1], cpu, 0, 4000)
    body += pack("Q", len(counts)) + b"".join(pack("QQQ", value, id_, 0) for value, id_ in counts)
    return record(9, 2, body)


def samples():
    for i in range(20):
        cpu = i % 2
        n = i // 2 + 1
        counts = [(n * 1000, 1 + 10 * cpu), (n // 2 * 3, 2 + 10 * cpu), (n // 5, 3 + 10 * cpu)]
        yield sample(i, cpu, counts + [(7, UNKNOWN)] * (i == 6))


ids = b""
attrs = b""
for config, own in EVENTS.items():
    attr = pack("IIQQQQQ", 1, 128, config, 4000, IP_TID_TIME_READ_ID_CPU_PERIOD, GROUP_ID_LOST, SAMPLE_ID_ALL)
    attrs += attr.ljust(128, b"\0") + pack("QQ", 104 + len(ids), 8 * len(own))
    ids += pack("QQ", *own)
comm = record(3, 0, pack("II", 50, 50) + b"group\0\0\0" + pack("IIQQII", 50, 50, 0, 1, 0, 0))
records = comm + b"".join(samples())
start = 104 + len(ids)
with open(sys.argv[2], "wb") as f:
    f.write(b"PERFILE2" if ORDER == "<" else b"2ELIFREP")
    f.write(pack("QQQQQQQQ", 104, 144, start, len(attrs), start + len(attrs), len(records), 0, 0))
    f.write(bytes(32) + ids + attrs + records)
