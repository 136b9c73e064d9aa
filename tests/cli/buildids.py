#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a recording without samples whose header lists build ids: buildids.py little|big FILE

Ids of 20, 16 and 8 bytes, an id with an invalid size, one without a size, a name twice, guests, and an entry with an
unknown cpu mode. A third argument truncates the list to this many bytes.
"""
import struct
import sys

ORDER = "<" if sys.argv[1] == "little" else ">"
KERNEL, USER, GUEST_KERNEL, GUEST_USER, SIZED = 1, 2, 4, 5, 0x8000
ONE, TWO = bytes(range(1, 21)), bytes(range(101, 121))


def pack(layout, *values):
    return struct.pack(ORDER + layout, *values)


def entry(name, build_id, misc, size=20, pid=-1):
    name = name.encode().ljust(64, b"\0")
    return pack("IHHi", 0, misc, 36 + len(name), pid) + build_id.ljust(20, b"\0") + bytes([size, 0, 0, 0]) + name


ids = b"".join([
    entry("/opt/guest", TWO, SIZED | GUEST_USER, pid=9),
    entry("[kernel.kallsyms]", ONE, SIZED | KERNEL),
    entry("/opt/twice", ONE, SIZED | USER),
    entry("/opt/short", ONE[:16], SIZED | USER, 16),
    entry("/opt/shorter", ONE[:8], SIZED | USER, 8),
    entry("/opt/none", ONE, SIZED | USER, 0),
    entry("/opt/nonsense", TWO, SIZED | USER, 99),
    entry("/opt/unsized", ONE[:16], USER, 16),
    entry("/opt/nobody", ONE, SIZED),
    entry("/opt/twice", TWO, SIZED | USER),
    entry("[guest.kernel.kallsyms]", ONE, SIZED | GUEST_KERNEL, pid=7),
])[:int(sys.argv[3]) if len(sys.argv) > 3 else None]
attr = pack("IIQQQQQ", 1, 128, 0, 1, 7, 0, 0).ljust(128, b"\0")
mark = pack("IHH", 68, 0, 8)
data = 104 + len(attr) + 16
header = b"PERFILE2"[::1 if ORDER == "<" else -1] + pack("8Q", 104, len(attr) + 16, 104, len(attr) + 16, data, len(mark), 0, 0)
header += pack("4Q", 1 << 2, 0, 0, 0)
with open(sys.argv[2], "wb") as out:
    out.write(header + attr + pack("QQ", 0, 0) + mark + pack("QQ", data + len(mark) + 16, len(ids)) + ids)
