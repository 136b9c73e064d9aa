#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz/corpus that are not recorded on a test machine: seeds.py FOLDER

Small recordings generated from the description of the format: samples with all fields, tracepoints with their formats,
trace data, every type of record, and a directory with compressed files. The output is kept in the repository.
"""
import os
import struct
import sys

SIZE = 144  # of an attr, in bytes
PARTS = {"ip": 0, "tid": 1, "time": 2, "addr": 3, "read": 4, "callchain": 5, "id": 6, "cpu": 7, "period": 8, "stream": 9,
         "raw": 10, "branch": 11, "regs": 12, "stack": 13, "weight": 14, "data_src": 15, "identifier": 16,
         "transaction": 17, "regs_intr": 18, "phys": 19, "aux": 20, "cgroup": 21, "data_page": 22, "code_page": 23}
FORMAT = b"""name: sched_switch
ID: 316
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;

print fmt: "prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid
"""


class Maker:
    """Packs numbers in one byte order."""

    def __init__(self, order):
        self.order = order

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def flag(self, *bits):
        return sum(1 << (b if self.order == "<" else 63 - b) for b in bits)

    def attr(self, kind, config, parts, read=0, branch=0, regs=0, regs_intr=0, flags=(8, 9, 18, 23)):
        out = self.pack("IIQQQQQ", kind, SIZE, config, 1, sum(1 << PARTS[p] for p in parts), read, self.flag(*flags))
        out += self.pack("IIQQQQIiQIHHIIQQ", 0, 0, 0, 0, branch, regs, 64 if "stack" in parts else 0, 0, regs_intr,
                         0, 0, 0, 0, 0, 0, 0)
        return out + bytes(SIZE - len(out))

    def record(self, kind, body, misc=0):
        body += bytes(-len(body) % 8 if kind != 81 else 0)
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def text(self, s):
        return s.encode() + bytes(8 - len(s) % 8)

    def string(self, s):
        padded = s.encode() + bytes(64 - len(s) % 64)
        return self.pack("I", len(padded)) + padded

    def file(self, attrs, records, features):
        """attrs: [(attr, ids)]; features: {bit: bytes}"""
        ids = b"".join(self.pack("Q", i) for _, own in attrs for i in own)
        at, entries = 104, b""
        for attr, own in attrs:
            entries += attr + self.pack("QQ", at, 8 * len(own))
            at += 8 * len(own)
        front = ids + entries
        start = 104 + len(front)
        behind = start + len(records) + 16 * len(features)
        table = payload = b""
        for _, content in sorted(features.items()):
            table += self.pack("QQ", behind + len(payload), len(content))
            payload += content
        header = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        header += self.pack("QQQQQQQQ", 104, SIZE + 16, 104 + len(ids), len(entries), start, len(records), 0, 0)
        return header + self.pack("4Q", sum(1 << b for b in features), 0, 0, 0) + front + records + table + payload


def trailer(m, parts, time):
    """The sample id after records that are no samples."""
    out = b""
    for part, value in (("tid", m.pack("II", 10, 11)), ("time", m.pack("Q", time)), ("id", m.pack("Q", 7)),
                        ("stream", m.pack("Q", 7)), ("cpu", m.pack("II", 1, 0)), ("identifier", m.pack("Q", 7))):
        out += value if part in parts else b""
    return out


def mapping(m, parts, misc=2):
    body = m.pack("IIQQQIIQQII", 10, 11, 0x400000, 0x10000, 0, 8, 1, 99, 0, 5, 2) + m.text("/opt/none/prog")
    return m.record(10, body + trailer(m, parts, 1), misc)


def comm(m, parts):
    return m.record(3, m.pack("II", 10, 11) + m.text("worker") + trailer(m, parts, 1))


RAW = struct.pack("<HBBi16si", 316, 0, 0, 11, b"worker", 11)


def sample(m, parts, i):
    """A sample with its fields in the kernel's order. Times of successive samples are not in order."""
    value = {
        "identifier": m.pack("Q", 7), "ip": m.pack("Q", 0x400100 + i), "tid": m.pack("II", 10, 11),
        "time": m.pack("Q", 1000 + (i * 7919) % 1000), "addr": m.pack("Q", 0x7fff0000 + i), "id": m.pack("Q", 7),
        "stream": m.pack("Q", 7), "cpu": m.pack("II", i % 2, 0), "period": m.pack("Q", 100 + i),
        "read": m.pack("QQQ", 2, 1000, 900) + m.pack("QQQ", 5, 7, 0) + m.pack("QQQ", 6, 8, 1),
        "callchain": m.pack("QQQQQ", 4, 2**64 - 128, 0xffffffff81000010, 2**64 - 512, 0x400100 + i),
        "raw": m.pack("I", len(RAW) + 4) + RAW + bytes(4),
        "branch": m.pack("QQ", 2, 0) + m.pack("QQQ", 0x400100, 0x400200, m.flag(1)) + m.pack(
            "QQQ", 0x400300, 0x400100, m.flag(0)),
        "regs": m.pack("QQQQ", 2, 1, 2, 3), "stack": m.pack("Q", 64) + bytes(64) + m.pack("Q", 32),
        "weight": m.pack("Q", 12), "data_src": m.pack("Q", 0x68100142), "transaction": m.pack("Q", 1),
        "regs_intr": m.pack("QQQ", 2, 4, 5), "phys": m.pack("Q", 0x1000), "cgroup": m.pack("Q", 1),
        "data_page": m.pack("Q", 4096), "code_page": m.pack("Q", 4096), "aux": m.pack("Q", 16) + bytes(16)}
    order = ["identifier", "ip", "tid", "time", "addr", "id", "stream", "cpu", "period", "read", "callchain", "raw",
             "branch", "regs", "stack", "weight", "data_src", "transaction", "regs_intr", "phys", "cgroup",
             "data_page", "code_page", "aux"]
    return m.record(9, b"".join(value[p] for p in order if p in parts), 2)


def parts_seed(m):
    """Samples with all fields, and a second event with few fields."""
    parts = list(PARTS)
    few = ["ip", "tid", "time", "identifier", "callchain"]
    attrs = [(m.attr(4, 0xc0, parts, read=15 + 16, branch=1 << 17, regs=7, regs_intr=3), [7]),
             (m.attr(1, 0, few), [9])]
    other = m.record(9, m.pack("QQIIQ", 9, 0x400500, 10, 12, 1500) + m.pack("QQQ", 2, 2**64 - 512, 0x400500), 2)
    records = comm(m, parts) + mapping(m, parts) + b"".join(sample(m, parts, i) for i in range(4)) + other * 2
    return m.file(attrs, records + m.record(68, b""), {15: b""})


def tracing_data(m):
    out = b"\x17\x08\x44tracing0.6\0" + bytes([m.order == ">", 8]) + m.pack("I", 4096)
    out += b"header_page\0" + m.pack("Q", 5) + b"page\n" + b"header_event\0" + m.pack("Q", 6) + b"event\n"
    out += m.pack("I", 0)
    out += m.pack("I", 1) + b"sched\0" + m.pack("IQ", 1, len(FORMAT)) + FORMAT
    return out + m.pack("I", 0) + m.pack("I", 0) + m.pack("Q", 0)


def tracepoint_seed(m):
    parts = ["ip", "tid", "time", "cpu", "period", "raw"]
    attrs = [(m.attr(2, 316, parts), [7])]
    records = comm(m, parts) + mapping(m, parts) + b"".join(sample(m, parts, i) for i in range(6))
    desc = m.pack("II", 1, SIZE) + attrs[0][0] + m.pack("I", 1) + m.string("sched:sched_switch") + m.pack("Q", 7)
    return m.file(attrs, records, {1: tracing_data(m), 12: desc})


def auxtrace_seed(m):
    parts = ["ip", "tid", "time", "cpu", "identifier"]
    attrs = [(m.attr(8, 0x300e601, parts, flags=(8, 9, 18, 23, 31)), [7])]
    info = m.record(70, m.pack("II", 1, 0) + m.pack("17Q", 8, 0, 1, 0, 0, 0, 0x400, 1, 0, 1, 2, 3, 4, 5, 6, 7, 0))
    trace = bytes.fromhex("0282" * 8) + b"\x02\x23" + bytes(30)
    aux = m.record(11, m.pack("QQQ", 0, len(trace), 1) + trailer(m, parts, 900))
    start = m.record(12, m.pack("II", 10, 11) + trailer(m, parts, 800))
    switch = m.record(15, m.pack("II", 10, 11) + trailer(m, parts, 850), 1 << 13)
    data = m.record(71, m.pack("QQQIIII", len(trace), 0, 5, 0, 11, 1, 0)) + trace
    error = m.record(72, m.pack("IIIIIIQQ", 1, 6, 1, 10, 11, 2, 0x400100, 950) + b"no code there".ljust(64, b"\0") + m.pack("II", 0, 0))
    conv = m.record(79, m.pack("QQQQQBB", 10, 20, 30, 40, 50, 1, 1) + bytes(6))
    records = info + comm(m, parts) + mapping(m, parts) + start + switch + aux + data + error + conv
    return m.file(attrs, records + m.record(68, b""), {18: m.pack("QQQ", 1, 104, len(data)), 23: bytes(8)})


def every_seed(m):
    """Every type of record once; most bodies are small numbers."""
    parts = ["ip", "tid", "time", "id", "cpu", "period"]
    attrs = [(m.attr(1, 0, parts), [7])]
    records = comm(m, parts) + mapping(m, parts) + sample(m, parts, 1)
    for kind in range(1, 23):
        if kind not in (3, 9, 10):
            records += m.record(kind, m.pack("12Q", *range(1, 13)) + trailer(m, parts, 2000 + kind))
    maps = [m.pack("HHHH", 0, 2, 0, 1), m.pack("HHH", 1, 1, 8) + bytes(4) + m.pack("Q", 3), m.pack("HBxHH", 2, 0, 0, 3)]
    records += b"".join(m.record(74, x) for x in maps)
    records += m.record(67, m.pack("I", 10) + bytes(20) + m.pack("I", 0) + m.text("/opt/none/prog"))
    records += m.record(69, m.pack("Q", 1) + m.pack("QQQQ", 7, 0, 1, 10))
    records += m.record(73, m.pack("QQ", 1, 10) + b"worker".ljust(16, b"\0"))
    records += m.record(75, m.pack("QQQ", 1, 0, 1)) + m.record(76, m.pack("QIIQQQ", 7, 0, 0, 5, 6, 6))
    records += m.record(77, m.pack("QQ", 0, 1000))
    for what, value in ((0, m.text("ns")), (1, m.pack("d", 2.5)), (2, m.text("renamed")), (3, maps[0])):
        records += m.record(78, m.pack("QQ", what, 7) + value)
    records += m.record(82, b"") + m.record(84, b"meta".ljust(512, b"\0") + m.pack("Q", 0)) + m.record(40, bytes(16)) + m.record(68, b"")
    features = {bit: m.string("some text") for bit in (3, 4, 5, 6, 8, 9)}
    features.update({7: m.pack("II", 2, 2), 10: m.pack("Q", 4096), 11: m.pack("I", 1) + m.string("perf"),
                     17: m.pack("I", 1) + m.string("g") + m.pack("II", 0, 1), 21: m.pack("QQ", 1000, 2000)})
    return m.file(attrs, records, features)


def zstd(m, data):
    """A COMPRESSED record with one frame of one uncompressed block."""
    return m.record(81, b"\x28\xb5\x2f\xfd\x00\x58" + (len(data) << 3 | 1).to_bytes(3, "little") + data)


def directory_seed(m, folder):
    parts = ["ip", "tid", "time", "cpu", "period", "callchain"]
    attrs = [(m.attr(1, 0, parts), [7])]
    main = m.file(attrs, comm(m, parts) + mapping(m, parts), {24: m.pack("Q", 1), 27: m.pack("5I", 1, 1, 1, 1, 4096)})
    samples = [sample(m, parts, i) for i in range(8)]
    os.makedirs(folder, exist_ok=True)
    for name, content in (("data", main), ("data.0", b"".join(samples[::2])), ("data.1", zstd(m, b"".join(samples[1::2])))):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)


def main():
    folder = sys.argv[1]
    for order, suffix in (("<", ""), (">", "-big")):
        m = Maker(order)
        for name, make in (("parts", parts_seed), ("tracepoint", tracepoint_seed), ("auxtrace", auxtrace_seed),
                           ("every", every_seed)):
            with open(os.path.join(folder, "session", name + suffix), "wb") as f:
                f.write(make(m))
        directory_seed(m, os.path.join(folder, "directory", "packed" + suffix))


main()
