# SPDX-License-Identifier: MIT
"""Recordings from lists of samples: a perf.data file of one event with call chains, as simple as it can be."""
import struct

IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 0x20, 0x100
CONTEXT_USER = 2**64 - 512
MMAP, COMM, SAMPLE = 1, 3, 9
USER = 2  # misc of records


class Recording:
    def __init__(self, chains=True):
        self.type = IP | TID | TIME | PERIOD | (CALLCHAIN if chains else 0)
        self.chains = chains
        self.data = b""
        self.time = 1000

    def record(self, kind, misc, body):
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def side_band(self, kind, misc, pid, tid, body, name):
        text = name.encode() + b"\0"
        text += b"\0" * (-len(text) % 8)
        self.time += 1
        self.record(kind, misc, struct.pack("<II", pid, tid) + body + text + struct.pack("<IIQ", pid, tid, self.time))

    def comm(self, pid, tid, name):
        self.side_band(COMM, 0, pid, tid, b"", name)

    def mmap(self, pid, address, size, offset, name):
        self.side_band(MMAP, USER, pid, pid, struct.pack("<QQQ", address, size, offset), name)

    def sample(self, pid, tid, chain, period=1000):
        """chain: user addresses, the sampled one first."""
        self.time += 1
        body = struct.pack("<QIIQQ", chain[0], pid, tid, self.time, period)
        if self.chains:
            words = [CONTEXT_USER, *chain]
            body += struct.pack(f"<{len(words) + 1}Q", len(words), *words)
        self.record(SAMPLE, USER, body)

    def write(self, path):
        flags = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 18  # mmap, comm, freq, sample_id_all
        attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, self.type, 0, flags).ljust(112, b"\0")
        entry = attr + struct.pack("<QQ", 0, 0)
        start = 104 + len(entry)
        head = struct.pack("<QQQQQQQQ", 104, len(entry), 104, len(entry), start, len(self.data), 0, 0)
        with open(path, "wb") as f:
            f.write((b"PERFILE2" + head).ljust(104, b"\0") + entry + self.data)
