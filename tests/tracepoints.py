# SPDX-License-Identifier: MIT
"""Makes recordings of tracepoints from formats alone: data with a value for every field, for tests that compare texts.

    formats = read_formats()                    # of the running kernel
    r = make(formats, samples=3, seed=1)        # a Recording with 3 samples of each
"""
import glob
import os
import random
import re
import struct

import recording

EVENTS = "/sys/kernel/tracing/events"
FIELD = re.compile(r"^\tfield:([^;]*);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?", re.MULTILINE)
PAGE = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
        b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")
LENGTHS = 1.0  # share of the lengths that fit their arrays: perf reads beyond the end for others
WORDS = ("bash", "kworker/0:1", "a b", "/dev/sda", "x", "", "eth0", "100%s")


class Format:
    def __init__(self, system, text):
        self.system, self.text = system, text
        self.name = re.search(r"^name: (.*)$", text, re.MULTILINE).group(1)
        self.id = int(re.search(r"^ID: (\d+)$", text, re.MULTILINE).group(1))
        self.fields = [(declared, int(offset), int(size)) for declared, offset, size, _ in FIELD.findall(text)]


def read_formats(events=EVENTS):
    """Formats of the events that can be recorded: those of the system ftrace cannot."""
    found = []
    for path in sorted(glob.glob(os.path.join(events, "*", "*", "format"))):
        system = path.split(os.sep)[-3]
        if system != "ftrace":
            with open(path, encoding="utf-8") as f:
                found.append(Format(system, f.read()))
    return found


def blob(formats, printk=""):
    out = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    for name in (b"header_page", b"header_event"):
        out += name + b"\0" + struct.pack("<Q", len(PAGE)) + PAGE  # perf refuses a blob without
    systems = {}
    for f in formats:
        systems.setdefault(f.system, []).append(f.text.encode())
    out += struct.pack("<II", 0, len(systems))
    for system, texts in systems.items():
        out += system.encode() + b"\0" + struct.pack("<I", len(texts))
        out += b"".join(struct.pack("<Q", len(text)) + text for text in texts)
    return out + struct.pack("<II", 0, len(printk)) + printk.encode() + struct.pack("<Q", 0)


def number(rng, size):
    """Small numbers more often than large ones: flags and names of values are small."""
    bits = rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24, 31, 32, 63, 64))
    return rng.getrandbits(min(bits, 8 * size)).to_bytes(size, "little")


def value(rng, declared, size):
    if declared.endswith(("len", "length", "count")) and rng.random() < LENGTHS:
        return rng.randint(0, 8).to_bytes(size, "little")
    if "char" in declared and "[" in declared:
        return rng.choice(WORDS).encode()[:max(size - 1, 0)].ljust(size, b"\0")
    if "size_t" in declared:  # perf 6.1 prints the lower half of %zu
        return number(rng, 3).ljust(size, b"\0")
    if size in (1, 2, 4, 8):
        return number(rng, size)
    return bytes(rng.choice((0, 0, rng.getrandbits(8))) for _ in range(size))


def data_of(rng, f):
    """Bytes of a sample: its fields, and the texts and arrays of dynamic ones after them."""
    end = max((offset + size for _, offset, size in f.fields), default=8)
    out, tail = bytearray(end), b""
    for declared, offset, size in f.fields:
        if declared.startswith(("__data_loc", "__rel_loc")):
            own = rng.choice(WORDS).encode() + b"\0" if "char" in declared else number(rng, 8) * rng.randint(1, 3)
            at = end + len(tail) - (offset + 4 if declared.startswith("__rel_loc") else 0)
            out[offset:offset + 4] = struct.pack("<I", at | len(own) << 16)
            tail += own
        else:
            out[offset:offset + size] = value(rng, declared, size)
    out[0:2] = struct.pack("<H", f.id)
    out[2:8] = struct.pack("<BBi", 0, 0, 7)
    return bytes(out) + tail


def make(formats, samples, seed, sample_type=recording.USUAL | recording.RAW, printk=""):
    rng = random.Random(seed)
    r = recording.Recording([recording.Event(2, f.id, sample_type=sample_type) for f in formats])
    r.tracing = blob(formats, printk)
    r.comm(0, "prog", pid=7)
    time = 1000
    for _ in range(samples):
        for i, f in enumerate(formats):
            time += 1000
            r.sample(time, ip=0x400100, pid=7, event=i, cpu=1, raw=data_of(rng, f))
    return r
