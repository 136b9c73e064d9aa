# SPDX-License-Identifier: MIT
"""Writes small recordings from scratch, for tests that need what no machine here has.

    r = Recording([Event(type=1, config=0)])
    r.comm(0, "swapper", pid=7)
    r.mmap(0, -1, 0xffffffffa0000000, 0x1000, "/lib/modules/6.1/kernel/mac80211.ko", mode=KERNEL)
    r.sample(1000, ip=0xffffffffa0000010, pid=7, mode=KERNEL)
    r.build_id("/lib/modules/6.1/kernel/mac80211.ko", bytes(range(20)), KERNEL)
    r.write("perf.data")

All events have IP|TID|TIME|ADDR|ID|CPU|PERIOD unless Event(sample_type=...) says otherwise; times are in ns.
"""
import struct

KERNEL, USER = 1, 2  # misc of records
CONTEXT_USER = 2**64 - 512  # in front of the entries of a chain in user code
CONTEXT_KERNEL = 2**64 - 128
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD = (1 << bit for bit in range(9))
RAW = 1 << 10
BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT, IDENTIFIER = (1 << bit for bit in (11, 12, 13, 14, 16))
TRANSACTION = 1 << 17
DATA_SRC, PHYS, CGROUP_ID, DATA_PAGE, CODE_PAGE, WEIGHT_PARTS = (1 << bit for bit in (15, 19, 21, 22, 23, 24))
NAMESPACES = 16
BRANCH_INDEX = 1 << 17  # of branch_sample_type
MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, LOST_SAMPLES, SWITCH, FINISHED_ROUND, ID_INDEX, AUXTRACE = 1, 2, 3, 4, 7, 9, 10, 13, 14, 68, 69, 71
THROTTLE = 5
CGROUP = 19
MMAP_DATA = 1 << 13
TRACING_DATA = 1  # section of the header
BUILD_ID, HOSTNAME, OSRELEASE, CPU_COUNTS, EVENT_DESC, CPU_TOPOLOGY, BRANCHES, GROUPS, TRACE_INDEX, SAMPLE_TIME, CPU_CAPS = 2, 3, 4, 7, 12, 13, 15, 17, 18, 21, 28  # sections of the header
USUAL = IP | TID | TIME | ADDR | ID | CPU | PERIOD


class Event:
    def __init__(self, type, config, period=1, sample_type=USUAL, flags=0, read_format=4, user_regs=0, user_stack=0, branches=0, clock=None):
        self.clock = clock  # clockid of the times; None: perf's own
        self.branches = branches  # branch_sample_type
        self.type, self.config, self.period = type, config, period
        self.user_regs, self.user_stack = user_regs, user_stack  # bits of the registers, bytes of the stack
        self.sample_type, self.flags, self.read_format = sample_type, flags, read_format

    def attr(self):
        sample_id_all, mmap, comm, task = 1 << 18, 1 << 8, 1 << 9, 1 << 13
        flags = sample_id_all | mmap | comm | task | self.flags | (0 if self.clock is None else 1 << 25)
        head = struct.pack("<IIQQQQQ", self.type, 128, self.config, self.period, self.sample_type,
                           self.read_format, flags).ljust(72, b"\0") + struct.pack("<Q", self.branches)
        return (head + struct.pack("<QIi", self.user_regs, self.user_stack, self.clock or 0)).ljust(128, b"\0")


def encoded(name):
    """Bytes that are no UTF-8 are written as in names of files: chr(0xdc00 + byte)."""
    return name.encode("utf-8", "surrogateescape")


def padded(name):
    raw = encoded(name) + b"\0"
    return raw + b"\0" * (-len(raw) % 8)


class Recording:
    def __init__(self, events):
        self.events, self.records, self.build_ids = events, [], []
        self.sockets = []  # of each cpu
        self.names = []  # of the events, for the header
        self.branches = False  # the header notes that samples have branch stacks
        self.tracing = b""  # formats of tracepoints: tracepoints.blob()
        self.grouped = False  # the events are one group
        self.slots = 0  # of the processor's branch stack, in the header
        self.traced = False  # the header has an index of hardware traces, of none
        self.host = None  # its name and the release of its kernel, in the header
        self.times = None  # of the first and the last sample, in the header

    def record(self, type, misc, body):
        self.records.append(struct.pack("<IHH", type, misc, 8 + len(body)) + body)

    def trailer(self, time, pid, tid, cpu=0, event=0):
        """sample_id_all; the layout is that of the first event."""
        out, bits = b"", self.events[0].sample_type
        if bits & TID:
            out += struct.pack("<ii", pid, tid)
        if bits & TIME:
            out += struct.pack("<Q", time)
        if bits & ID:
            out += struct.pack("<Q", event + 1)
        if bits & CPU:
            out += struct.pack("<II", cpu, 0)
        if bits & IDENTIFIER:
            out += struct.pack("<Q", event + 1)
        return out

    def comm(self, time, name, pid, tid=None, exec_=False, event=0):
        tid = pid if tid is None else tid
        self.record(COMM, exec_ << 13, struct.pack("<ii", pid, tid) + padded(name) +
                    self.trailer(time, pid, tid, event=event))

    def fork(self, time, pid, tid, ppid, ptid):
        self.record(FORK, 0, struct.pack("<iiiiQ", pid, ppid, tid, ptid, time) + self.trailer(time, ppid, ptid))

    def exit(self, time, pid, tid, ppid=None, ptid=None):
        """The end of a thread; its parent: by default itself."""
        parent = [pid if ppid is None else ppid, tid if ptid is None else ptid]
        self.record(EXIT, 0, struct.pack("<iiiiQ", pid, parent[0], tid, parent[1], time) + self.trailer(time, pid, tid))

    def namespaces(self, time, pid, tid, dev, inode):
        """The namespaces of a thread; dev and inode are those of its control groups."""
        links = [(1, i) for i in range(6)] + [(dev, inode)]
        self.record(NAMESPACES, 0, struct.pack("<iiQ", pid, tid, len(links)) + b"".join(struct.pack("<QQ", *l) for l in links) +
                    self.trailer(time, pid, tid))

    def mmap(self, time, pid, start, size, name, pgoff=0, mode=USER, data=False):
        self.record(MMAP, mode | (MMAP_DATA if data else 0),
                    struct.pack("<iiQQQ", pid, 0 if pid < 0 else pid, start, size, pgoff) + padded(name) +
                    self.trailer(time, pid, 0 if pid < 0 else pid))

    def mmap2(self, time, pid, start, size, name, prot, pgoff=0, inode=0, flags=2):
        data = prot & 4 == 0
        self.record(MMAP2, USER | (MMAP_DATA if data else 0),
                    struct.pack("<iiQQQIIQQII", pid, pid, start, size, pgoff, 8 if inode else 0, 0, inode, 0, prot, flags) +
                    padded(name) + self.trailer(time, pid, pid))

    def sample(self, time, ip, pid, tid=None, mode=USER, addr=0, event=0, cpu=0, chain=(), period=1, weight=0, cgroup=0,
               code_page=0, branches=(), data_src=0, phys=0, data_page=0, regs=None, stack=bytes(8), raw=b"",
               transaction=0, counts=(), slot=0):
        """regs: {bit: value} of the user's registers; others of the event are 0. counts: of all events, which are a group.
        slot: of the newest branch"""
        bits, out = self.events[event].sample_type, b""
        if bits & IDENTIFIER:
            out += struct.pack("<Q", event + 1)
        if bits & IP:
            out += struct.pack("<Q", ip)
        if bits & TID:
            out += struct.pack("<ii", pid, pid if tid is None else tid)
        if bits & TIME:
            out += struct.pack("<Q", time)
        if bits & ADDR:
            out += struct.pack("<Q", addr)
        if bits & ID:
            out += struct.pack("<Q", event + 1)
        if bits & CPU:
            out += struct.pack("<II", cpu, 0)
        if bits & PERIOD:
            out += struct.pack("<Q", period)
        if bits & READ:
            out += struct.pack("<Q", len(counts)) + b"".join(struct.pack("<QQ", n, i + 1) for i, n in enumerate(counts))
        if bits & CALLCHAIN:
            out += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        if bits & RAW:
            raw += b"\0" * (-(4 + len(raw)) % 8)
            out += struct.pack("<I", len(raw)) + raw
        if bits & BRANCH_STACK:
            out += struct.pack("<Q", len(branches))
            out += struct.pack("<Q", slot) if self.events[event].branches & BRANCH_INDEX else b""
            out += b"".join(struct.pack("<3Q", *b) for b in branches)
        if bits & REGS_USER:
            mask = self.events[event].user_regs
            values = [] if regs is None else [regs.get(bit, 0) for bit in range(64) if mask >> bit & 1]
            out += struct.pack(f"<Q{len(values)}Q", 0 if regs is None else 2, *values)
        if bits & STACK_USER:
            out += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
        if bits & (WEIGHT | WEIGHT_PARTS):
            out += struct.pack("<Q", weight)
        if bits & DATA_SRC:
            out += struct.pack("<Q", data_src)
        if bits & TRANSACTION:
            out += struct.pack("<Q", transaction)
        if bits & PHYS:
            out += struct.pack("<Q", phys)
        if bits & CGROUP_ID:
            out += struct.pack("<Q", cgroup)
        if bits & DATA_PAGE:
            out += struct.pack("<Q", data_page)
        if bits & CODE_PAGE:
            out += struct.pack("<Q", code_page)
        self.record(SAMPLE, mode, out)

    def lost(self, time, n):
        """n records of the first event did not fit into a ring."""
        self.record(LOST, 0, struct.pack("<QQ", 1, n) + self.trailer(time, 0, 0))

    def lost_samples(self, time, n):
        self.record(LOST_SAMPLES, 0, struct.pack("<Q", n) + self.trailer(time, 0, 0))

    def throttle(self, time):
        """The kernel stops the first event because of too many samples."""
        self.record(THROTTLE, 0, struct.pack("<QQQ", time, 1, 1) + self.trailer(time, 0, 0))

    def cgroup(self, time, number, path):
        self.record(CGROUP, 0, struct.pack("<Q", number) + padded(path) + self.trailer(time, 0, 0))

    def switch(self, time, pid, out=False, tid=None):
        self.record(SWITCH, out << 13, self.trailer(time, pid, pid if tid is None else tid))

    def finished_round(self):
        self.record(FINISHED_ROUND, 0, b"")

    def id_index(self, *entries):
        """entries: (id, cpu, process of the guest, processor of the guest), of the host 0 and -1"""
        ids = b"".join(struct.pack("<QQqq", id, 0, cpu, -1) for id, cpu, _, _ in entries)
        machines = b"".join(struct.pack("<qq", pid, vcpu) for _, _, pid, vcpu in entries)
        self.record(ID_INDEX, 0, struct.pack("<Q", len(entries)) + ids + machines)

    def thread_map(self, *threads):
        self.record(73, 0, struct.pack("<Q", len(threads)) +
                    b"".join(struct.pack("<q16s", tid, encoded(name)) for tid, name in threads))

    def cpu_map(self, *cpus):
        raw = struct.pack(f"<HH{len(cpus)}H", 0, len(cpus), *(cpu & 0xffff for cpu in cpus))
        self.record(74, 0, raw + b"\0" * (-len(raw) % 8))

    def stat_config(self, by):
        """by: 0 each cpu, 1 all cpus, 5 threads, as in AGGR of perf stat; counts every 10 ms, scaled"""
        self.record(75, 0, struct.pack("<7Q", 3, 0, by, 1, 10, 2, 1))

    def stat(self, event, cpu, thread, value, enabled=100, running=100):
        self.record(76, 0, struct.pack("<QiiQQQ", event + 1, cpu, thread, value, enabled, running))

    def stat_round(self, time, last=False):
        self.record(77, 0, struct.pack("<QQ", int(last), time))

    def build_id(self, name, build_id, mode=USER):
        raw = encoded(name).ljust(64 * (len(encoded(name)) // 64 + 1), b"\0")
        self.build_ids.append(struct.pack("<IHHi", 0, mode | 1 << 15, 36 + len(raw), -1) +
                              build_id.ljust(20, b"\0") + bytes([len(build_id), 0, 0, 0]) + raw)

    def descriptions(self):
        out = struct.pack("<II", len(self.events), 128)
        for number, (event, name) in enumerate(zip(self.events, self.names)):
            out += event.attr() + struct.pack("<II64sQ", 1, 64, encoded(name), number + 1)
        return out

    def sections(self):
        """(bit, bytes) of the header's sections, in the order of the bits"""
        found = [(TRACING_DATA, self.tracing)] if self.tracing else []
        found += [(BUILD_ID, b"".join(self.build_ids))] if self.build_ids else []
        if self.host:
            texts = [encoded(name).ljust(64, b"\0") for name in self.host]
            found += [(bit, struct.pack("<I", len(raw)) + raw) for bit, raw in zip((HOSTNAME, OSRELEASE), texts)]
        if self.sockets:
            n = len(self.sockets)
            lists = struct.pack("<II64sI", 1, 64, b"0", 0)
            cpus = b"".join(struct.pack("<Ii", cpu, socket) for cpu, socket in enumerate(self.sockets))
            found += [(CPU_COUNTS, struct.pack("<II", n, n)), (CPU_TOPOLOGY, lists + cpus)]
        if self.names:
            found.append((EVENT_DESC, self.descriptions()))
            found.sort()
        found += [(BRANCHES, b"")] if self.branches else []
        if self.grouped:
            name = encoded(f"{{{','.join(self.names)}}}").ljust(256, b"\0")
            found.append((GROUPS, struct.pack("<II256sII", 1, 256, name, 0, len(self.names))))
        found += [(TRACE_INDEX, struct.pack("<Q", 0))] if self.traced else []
        found += [(SAMPLE_TIME, struct.pack("<2Q", *self.times))] if self.times else []
        if self.slots:
            found.append((CPU_CAPS, struct.pack("<II12sI4s", 1, 12, b"branches", 4, b"%d" % self.slots)))
        return found

    def write(self, path):
        ids = 104
        attrs = ids + 8 * len(self.events)
        data = attrs + 144 * len(self.events)
        body = b"".join(self.records)
        sections = self.sections()
        header = b"PERFILE2" + struct.pack("<8Q", 104, 144, attrs, 144 * len(self.events), data, len(body), 0, 0)
        header += struct.pack("<4Q", sum(1 << bit for bit, _ in sections), 0, 0, 0)
        with open(path, "wb") as out:
            out.write(header)
            for i in range(len(self.events)):
                out.write(struct.pack("<Q", i + 1))
            for i, event in enumerate(self.events):
                out.write(event.attr() + struct.pack("<QQ", ids + 8 * i, 8))
            out.write(body)
            at = data + len(body) + 16 * len(sections)
            for _, raw in sections:
                out.write(struct.pack("<QQ", at, len(raw)))
                at += len(raw)
            out.write(b"".join(raw for _, raw in sections))
