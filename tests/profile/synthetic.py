# SPDX-License-Identifier: MIT
"""Recordings from lists of samples: a perf.data file of one event with call chains, as simple as it can be."""
import struct

IP, TID, TIME, CALLCHAIN, PERIOD, BRANCHES, REGS, STACK, IDENTIFIER = (1 << i for i in (0, 1, 2, 5, 8, 11, 12, 13, 16))
CONTEXT_USER = 2**64 - 512
MMAP, LOST, COMM, SAMPLE, LOST_SAMPLES = 1, 2, 3, 9, 13
ID = 77
KERNEL, USER = 1, 2  # misc of records


class Recording:
    """counted: the event counts its lost samples; stack, branches: each sample has an empty one."""

    def __init__(self, chains=True, counted=False, stack=False, branches=False, tracepoint=False):
        self.type = IDENTIFIER | IP | TID | TIME | PERIOD | (CALLCHAIN if chains else 0)
        self.type |= (STACK | REGS if stack else 0) | (BRANCHES if branches else 0)
        self.chains, self.counted, self.stack, self.branches = chains, counted, stack, branches
        self.tracepoint = tracepoint
        self.second = False
        self.data = b""
        self.time = 1000

    def sample_id(self, pid, tid):
        return struct.pack("<IIQQ", pid, tid, self.time, ID)

    def record(self, kind, misc, body):
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def side_band(self, kind, misc, pid, tid, body, name):
        """pid of the kernel's mappings: 2**32 - 1."""
        text = name.encode() + b"\0"
        text += b"\0" * (-len(text) % 8)
        self.time += 1
        self.record(kind, misc, struct.pack("<II", pid, tid) + body + text + self.sample_id(pid, tid))

    def comm(self, pid, tid, name):
        self.side_band(COMM, 0, pid, tid, b"", name)

    def mmap(self, pid, address, size, offset, name):
        self.side_band(MMAP, USER, pid, pid, struct.pack("<QQQ", address, size, offset), name)

    def map_kernel(self, address, size):
        self.side_band(MMAP, KERNEL, 2**32 - 1, 0, struct.pack("<QQQ", address, size, address), "[kernel.kallsyms]_text")

    def sample(self, pid, tid, chain, period=1000, misc=USER):
        """chain: addresses, the sampled one first; where there are chains, in user code."""
        self.time += 1
        body = struct.pack("<QQIIQQ", ID, chain[0], pid, tid, self.time, period)
        if self.chains:
            words = [CONTEXT_USER, *chain]
            body += struct.pack(f"<{len(words) + 1}Q", len(words), *words)
        if self.branches:
            body += struct.pack("<Q", 0)
        if self.stack:
            body += struct.pack("<QQQQ", 0, 8, 0, 8)  # no registers, 8 bytes
        self.record(SAMPLE, misc, body)

    def sample_without_chain(self, pid, tid, ip, period=1000):
        """A sample of a second event, page-faults, which records no chains."""
        self.time += 1
        self.second = True
        self.record(SAMPLE, USER, struct.pack("<QQIIQQ", ID + 1, ip, pid, tid, self.time, period))

    def lost(self, n):
        """n records did not fit into a ring."""
        self.time += 1
        self.record(LOST, 0, struct.pack("<QQ", ID, n) + self.sample_id(0, 0))

    def lost_samples(self, n):
        self.time += 1
        self.record(LOST_SAMPLES, 0, struct.pack("<Q", n) + self.sample_id(0, 0))

    def write(self, path):
        flags = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 18  # mmap, comm, freq, sample_id_all
        flags |= 1 << 22 if self.stack else 0  # exclude_callchain_user
        kind, config = (2, 300) if self.tracepoint else (1, 0)
        read_format = 4 | 16 if self.counted else 4  # ID, LOST
        entries, ids = b"", struct.pack("<QQ", ID, ID + 1)
        for i, (config, fields) in enumerate([(config, self.type), (2, self.type & ~CALLCHAIN)][:1 + self.second]):
            attr = struct.pack("<IIQQQQQ", kind, 112, config, 1000, fields, read_format, flags).ljust(112, b"\0")
            entries += attr + struct.pack("<QQ", 104 + 8 * i, 8)
        at, size = 104 + len(ids), 112 + 16
        head = struct.pack("<QQQQQQQQ", 104, size, at, len(entries), at + len(entries), len(self.data), 0, 0)
        with open(path, "wb") as f:
            f.write((b"PERFILE2" + head).ljust(104, b"\0") + ids + entries + self.data)
