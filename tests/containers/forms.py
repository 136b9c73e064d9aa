#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a seekable recording (version 2, any byte order) in another form: forms.py FORM IN OUT

Made from the description of the format, not with the project's own code, so that a reader can be checked.
zstd frames are made of blocks that are not compressed: magic 28 b5 2f fd, descriptor 0, window byte, then
blocks of a u24 (1 last | type << 1 | size << 3) and their bytes; a frame may go on in the next record.
"""
import os
import struct
import sys

ROUND, TRACING, COMPRESSED, COMPRESSED2 = 68, 66, 81, 83
HEADER_ATTR, EVENT_TYPE, FEATURE = 64, 65, 80
EVENT_DESC, DIR_FORMAT, ZSTD = 12, 24, 27
RAW = 4  # a type of attr
FEATURES_OF_FILES = {1, 2, 18, 19, 20, 24, 15, 30}
ORDER = {b"PERFILE2": "<", b"2ELIFREP": ">"}
MAGIC = {v: k for k, v in ORDER.items()}
order = "<"


def pack(layout, *values):
    return struct.pack(order + layout, *values)


def unpack(layout, data, at=0):
    return struct.unpack_from(order + layout, data, at)


class Recording:
    """The parts of a seekable file."""

    def __init__(self, data):
        (self.attr_size,) = unpack("Q", data, 16)
        attrs, attrs_n, at, n = unpack("QQQQ", data, 24)
        self.features = {}
        self.attrs = []
        for a in range(attrs, attrs + attrs_n, self.attr_size):
            ids, ids_n = unpack("QQ", data, a + self.attr_size - 16)
            self.attrs.append((data[a:a + self.attr_size - 16], data[ids:ids + ids_n]))
        self.records = []
        end = at + n
        while at < end:
            kind, size = unpack("I2xH", data, at)
            extra = unpack("Q", data, at + 8)[0] if kind == 71 else 0
            self.records.append(data[at:at + size + extra])
            at += size + extra
        bits = unpack("4Q", data, 72)
        for bit in range(256):
            if bits[bit // 64] >> bit % 64 & 1:
                offset, size = unpack("QQ", data, at)
                self.features[bit] = data[offset:offset + size]
                at += 16

    def write(self, out, records=None, magic=None, attrs_behind=False, types=b"", size=None):
        records = b"".join(self.records) if records is None else records
        start = 104
        attrs = b""
        ids = b"".join(i for _, i in self.attrs)
        ids_at = start + (len(records) + 16 * len(self.features) if attrs_behind else 0)
        attrs_at = ids_at + len(ids)
        for attr, i in self.attrs:
            attrs += attr + pack("QQ", ids_at, len(i))
            ids_at += len(i)
        front = ids + attrs + types
        data_at = start + (0 if attrs_behind else len(front))
        payload_at = data_at + len(records) + 16 * len(self.features) + (len(front) if attrs_behind else 0)
        bits = sum(1 << bit for bit in self.features)
        table = payload = b""
        for _, content in sorted(self.features.items()):
            table += pack("QQ", payload_at + len(payload), len(content))
            payload += content
        header = (magic or MAGIC[order]) + pack("QQQQQQQQ", 104, self.attr_size, attrs_at, len(attrs), data_at,
                                     len(records) if size is None else size,
                                     attrs_at + len(attrs) if types else 0, len(types))
        header += pack("4Q", bits, 0, 0, 0)
        body = records + table + front if attrs_behind else front + records + table
        out.write(header + body + payload)


def record(kind, body):
    return pack("IHH", kind, 0, 8 + len(body)) + body


def read(path):
    global order
    with open(path, "rb") as f:
        data = f.read()
    order = ORDER[data[:8]]
    return Recording(data)


def pipe(rec, out, magic=None):
    out.write((magic or MAGIC[order]) + pack("Q", 16))
    for attr, ids in rec.attrs:
        out.write(record(HEADER_ATTR, attr + ids))
    for bit, content in sorted(rec.features.items()):
        if bit not in FEATURES_OF_FILES:
            content += bytes(-len(content) % 8)
            out.write(record(FEATURE, pack("Q", bit) + content))
    out.write(record(FEATURE, pack("Q", 32)))
    out.write(b"".join(rec.records))


class Stream:
    """Cuts what is written into compressed records, one zstd frame over all of them."""

    def __init__(self, kind, piece):
        self.kind, self.piece, self.begun = kind, piece, False

    def block(self, data, last=False):
        return (len(data) << 3 | last).to_bytes(3, "little") + data

    def frame(self, data):
        out = b"" if self.begun else b"\x28\xb5\x2f\xfd\x00\x58"
        self.begun = True
        return out + self.block(data)

    def wrap(self, packed):
        if self.kind == COMPRESSED:
            return record(COMPRESSED, packed)
        body = pack("Q", len(packed)) + packed + bytes(-len(packed) % 8)
        return pack("IHH", COMPRESSED2, 0, (8 + len(body)) & 0xffff) + body

    def write(self, data):
        return b"".join(self.wrap(self.frame(data[i:i + self.piece])) for i in range(0, len(data), self.piece))


def compressed(rec, kind, piece):
    """Kernel records between two marks are packed; pieces of a fixed size cut records in two."""
    stream = Stream(kind, piece)
    out, pending = [], []
    for r in rec.records:
        if unpack("I", r)[0] < 64:
            pending.append(r)
            continue
        out += [stream.write(b"".join(pending)), r]
        pending = []
    return b"".join(out) + stream.write(b"".join(pending))


def overflow(rec):
    """COMPRESSED2 records of about 65,530 bytes: the 16 bits of their size do not hold it."""
    stream = Stream(COMPRESSED2, 0)
    everything = b"".join(r for r in rec.records if unpack("I", r)[0] < 64)
    out = b""
    sizes = [65510, 1000, 65526, 70000, 65518]
    while everything:
        n = sizes[0]
        sizes = sizes[1:] + sizes[:1]
        part, everything = everything[:n], everything[n:]
        packed = stream.frame(part)
        if 16 + len(packed) > 65528:  # written without padding
            total = 16 + len(packed) + (-len(packed) % 8)
            head = pack("IHHQ", COMPRESSED2, 0, total & 0xffff, len(packed))
            if len(packed) > 65519:   # and in two pieces, the second with a header of its own
                first, second = packed[:65519], packed[65519:]
                inner = pack("IHHQ", COMPRESSED2, 0, 16 + len(second), len(second))
                data_size = len(first) + len(inner) + len(second)
                total = 16 + data_size + (-data_size % 8)
                head = pack("IHHQ", COMPRESSED2, 0, total & 0xffff, data_size)
                packed = first + inner + second
            out += head + packed
        else:
            out += stream.wrap(packed)
    return out


def directory(rec, path, kind):
    """Kernel records round robin in data.0 to data.2, what the tool wrote in data."""
    os.makedirs(path, exist_ok=True)
    parts = [[], [], []]
    rest = []
    for i, r in enumerate(rec.records):
        sample = unpack("I", r)[0] == 9
        (parts[i % 3] if sample else rest).append(r)
    rec.records = [r for r in rest if unpack("I", r)[0] != ROUND]
    rec.features[DIR_FORMAT] = pack("Q", 1)
    if kind:
        rec.features[ZSTD] = pack("5I", 1, 1, 1, 1, 4096)
    with open(os.path.join(path, "data"), "wb") as out:
        rec.write(out)
    for i, part in enumerate(parts):
        with open(os.path.join(path, f"data.{i}"), "wb") as out:
            content = b"".join(part)
            out.write(Stream(kind, 5000).write(content) if kind else content)


def old(rec, out):
    """Version 1: names in a section of event types, none in EVENT_DESC; the first event is a raw one."""
    rec.features.pop(EVENT_DESC, None)
    rec.attrs[0] = (pack("I", RAW) + rec.attrs[0][0][4:], rec.attrs[0][1])
    types = b"".join(pack("Q64s", unpack("Q", attr, 8)[0], b"old-name")
                     for attr, _ in rec.attrs)
    rec.write(out, magic=b"PERFFILE", types=types)


def main():
    form, source, target = sys.argv[1:4]
    rec = read(source)
    if form.startswith("directory"):
        directory(rec, target, {"directory": 0, "directory-81": 81, "directory-83": 83}[form])
        return
    with open(target, "wb") as out:
        if form == "pipe":
            pipe(rec, out)
        elif form == "pipe-old":
            pipe(rec, out, b"PERFFILE")
        elif form == "pipe-text":
            pipe(rec, out)
            out.write(b"Woken up once to write data, and a program said something at its end.\n")
        elif form in ("pipe-81", "pipe-83"):
            records = compressed(rec, int(form[5:]), 3000)
            rec.records = [records]
            pipe(rec, out)
        elif form in ("81", "83", "81-unsaid", "81-large", "overflow", "81-interrupted"):
            records = overflow(rec) if form == "overflow" else compressed(
                rec, int(form[:2]), 60000 if form == "81-large" else 777)
            if form != "81-unsaid":
                rec.features[ZSTD] = pack("5I", 1, 1, 1, 1, 4096)
            if form == "81-interrupted":
                rec.features = {}
            rec.write(out, records, size=0 if form == "81-interrupted" else None)
        elif form == "interrupted":
            rec.features = {}
            rec.write(out, size=0)
        elif form == "behind":
            rec.write(out, attrs_behind=True)
        elif form == "old":
            old(rec, out)
        else:
            sys.exit(f"forms.py: no form {form}")


if __name__ == "__main__":
    main()
