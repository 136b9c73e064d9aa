# SPDX-License-Identifier: MIT
"""Recordings that no perf of this machine can make: one in the other byte order, and one with kernel modules.

The layouts are those of the kernel's linux/perf_event.h and of perf.data-file-format.txt. Nothing here knows Sonde.
"""
import struct

COMM, EXIT, FORK, SAMPLE, MMAP, MMAP2 = 3, 4, 7, 9, 1, 10
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
STRINGS = {3, 4, 5, 6, 8, 9}  # HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID: features that are one string
NRCPUS, TOTAL_MEM, CMDLINE, BUILD_ID = 7, 10, 11, 2
ATTR = "IIQQQQQIIQQ"  # type, size, config, period, sample_type, read_format, flags, wakeup, bp_type, config1, config2


def text(name):
    """A text with its NUL, padded to 8 bytes."""
    return name.encode() + bytes(8 - len(name) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def other_way(layout, data):
    """Swaps fields of struct letters; s and bytes that are left over stay."""
    size = struct.calcsize("<" + layout)
    return struct.pack(">" + layout, *struct.unpack("<" + layout, data[:size])) + data[size:]


def swap_flags(flags):
    """Bit fields are allocated from the other end of the word."""
    return sum(1 << (63 - bit) for bit in range(64) if flags >> bit & 1)


def swap_attr(attr):
    fields = list(struct.unpack("<" + ATTR, attr[:72]))
    precise = fields[6] >> 15 & 3
    assert precise == 0, "precise_ip is two bits wide"
    fields[6] = swap_flags(fields[6])
    # From branch_sample_type on: regs_user, stack_user, clockid, regs_intr, aux_watermark, max_stack, ..., sig_data.
    return struct.pack(">" + ATTR, *fields) + other_way("QQIiQIHHIIQ", attr[72:])


def swap_body(kind, body, sample_type):
    tail = {IP: "Q", TID: "II", TIME: "Q", PERIOD: "Q"}
    if kind == SAMPLE:
        layout = "".join(tail[bit] for bit in (IP, TID, TIME, PERIOD) if sample_type & bit and bit < CALLCHAIN)
        return other_way(layout + "Q" * ((len(body) - struct.calcsize("<" + layout)) // 8), body)
    if kind == COMM:
        return other_way("II", body[:-16]) + other_way("IIQ", body[-16:])
    if kind in (FORK, EXIT):
        return other_way("IIIIQIIQ", body)
    if kind == MMAP:
        return other_way("IIQQQ", body[:-16]) + other_way("IIQ", body[-16:])
    if kind == MMAP2:
        return other_way("IIQQQIIQQII", body[:-16]) + other_way("IIQ", body[-16:])
    return other_way("Q" * (len(body) // 8), body) if kind < 64 else None


def swap_records(data, sample_type):
    """Records of perf itself (types from 64) but for the end of a round are left out."""
    out, at = b"", 0
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        body = b"" if kind == 68 else swap_body(kind, data[at + 8:at + size], sample_type)
        if body is not None:
            out += struct.pack(">IHH", kind, misc, 8 + len(body)) + body
        at += size
    return out


def swap_feature(number, data):
    if number in STRINGS:
        return other_way("I", data)
    if number == NRCPUS:
        return other_way("II", data)
    if number == TOTAL_MEM:
        return other_way("Q", data)
    if number == CMDLINE:
        out, at = other_way("I", data[:4]), 4
        while at < len(data):
            size = struct.unpack_from("<I", data, at)[0]
            out += other_way("I", data[at:at + 4 + size])
            at += 4 + size
        return out
    if number == BUILD_ID:
        out, at = b"", 0
        while at < len(data):
            size = struct.unpack_from("<IHH", data, at)[2]
            out += other_way("IHHi", data[at:at + size])
            at += size
        return out
    return None


def swap(path, to):
    """A recording of one event with IP, TID, TIME, PERIOD and maybe CALLCHAIN, in big-endian byte order."""
    with open(path, "rb") as f:
        data = f.read()
    size, attr_size, attrs_at, attrs_n, data_at, data_n = struct.unpack_from("<QQQQQQ", data, 8)
    assert data[:8] == b"PERFILE2" and attr_size == attrs_n, "one event, little-endian"
    bits = struct.unpack_from("<4Q", data, 72)
    numbers = [i for i in range(256) if bits[i // 64] >> (i % 64) & 1]
    sections = [struct.unpack_from("<QQ", data, data_at + data_n + 16 * i) for i in range(len(numbers))]
    features = [(n, swap_feature(n, data[at:at + length])) for n, (at, length) in zip(numbers, sections)]
    features = [(n, f) for n, f in features if f is not None]
    attr = data[attrs_at:attrs_at + attr_size - 16]
    ids_at, ids_n = struct.unpack_from("<QQ", data, attrs_at + attr_size - 16)
    records = swap_records(data[data_at:data_at + data_n], struct.unpack_from("<Q", attr, 24)[0])
    ids = other_way("Q" * (ids_n // 8), data[ids_at:ids_at + ids_n])
    bitmap = sum(1 << n for n, _ in features)
    start = size + len(ids) + attr_size
    out = b"2ELIFREP" + struct.pack(">QQQQQQQQ", size, attr_size, size + len(ids), attr_size, start, len(records), 0, 0)
    out += struct.pack(">4Q", *(bitmap >> 64 * i & (1 << 64) - 1 for i in range(4))) + ids
    out += swap_attr(attr) + struct.pack(">QQ", size, len(ids)) + records
    at = len(out) + 16 * len(features)
    for _, feature in features:
        out += struct.pack(">QQ", at, len(feature))
        at += len(feature)
    with open(to, "wb") as f:
        f.write(out + b"".join(feature for _, feature in features))


# ---- modules ----

def write(to, attr, data, empty=()):
    """A file of one event; its features are the architecture, which names registers, and empty ones with later bits."""
    start, arch = 104 + len(attr) + 16, struct.pack("<I", 8) + b"x86_64\0\0"
    with open(to, "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, start, len(data), 0, 0))
        f.write(struct.pack("<4Q", sum(1 << bit for bit in (6, *empty)), 0, 0, 0) + attr)
        f.write(struct.pack("<QQ", 0, 0) + data)
        end = start + len(data) + 16 * (1 + len(empty))
        f.write(struct.pack("<QQ", end, len(arch)) + struct.pack("<QQ", end + len(arch), 0) * len(empty) + arch)


def write_events(to, attrs, data):
    """A file of several events without features; the id of event n is n + 1."""
    at, size = 104 + 8 * len(attrs), 144 * len(attrs)
    with open(to, "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<8Q", 104, 144, at, size, at + size, len(data), 0, 0) + bytes(32))
        f.write(struct.pack(f"<{len(attrs)}Q", *range(1, len(attrs) + 1)))
        f.write(b"".join(attr + struct.pack("<QQ", 104 + 8 * i, 8) for i, attr in enumerate(attrs)) + data)


MODULES = [  # start, size, file
    (0xffffffffa0000000, 0x20000, "/lib/modules/6.1.0/kernel/net/mac80211/mac80211.ko"),
    (0xffffffffa0020000, 0x10000, "/lib/modules/6.1.0/kernel/sound/pci/hda/snd-hda-intel.ko.xz"),
    (0xffffffffa0030000, 0x8000, "[nf_tables]"),
]


def modules(to):
    """Samples in the kernel and in three modules, with call chains from one into the other."""
    kernel, user = 0xffffffff81000000, 0x400000
    trailer = struct.pack("<IIQ", 7, 7, 0)

    def mapping(misc, pid, start, size, offset, name):
        return record(MMAP, misc, struct.pack("<iiQQQ", pid, max(pid, 0), start, size, offset) + text(name) + trailer)

    data = mapping(1, -1, kernel, 0x1000000, kernel, "[kernel.kallsyms]_text")
    for start, size, name in MODULES:
        data += mapping(1, -1, start, size, 0, name)
    data += record(COMM, 0, struct.pack("<II", 7, 7) + text("worker") + trailer)
    data += mapping(2, 7, user, 0x10000, 0, "/opt/none/worker")
    for i in range(24):
        chain = [MODULES[i % 3][0] + 0x100 + 16 * (i % 5), MODULES[(i + 1) % 3][0] + 0x800, kernel + 0x4000 + i % 2]
        ip = chain[0] if i % 4 else kernel + 0x9000
        chain = [(1 << 64) - 128, ip, *chain[1:], (1 << 64) - 512, user + 0x1000]
        data += record(SAMPLE, 1, struct.pack("<QIIQQQ", ip, 7, 7, 1000000 * (i + 1), 1000 << i % 12, len(chain)) +
                       struct.pack(f"<{len(chain)}Q", *chain))
    sample_type = IP | TID | TIME | CALLCHAIN | PERIOD
    flags = 1 << 8 | 1 << 9 | 1 << 18  # mmap, comm, sample_id_all
    attr = struct.pack("<" + ATTR, 1, 128, 0, 1000, sample_type, 0, flags, 0, 0, 0, 0) + bytes(56)
    write(to, attr, data)


def ksymbols(to):
    """Samples in code that the kernel made at run time, which comes and goes: BPF programs and a trampoline."""
    kernel, code, user = 0xffffffff81000000, 0xffffffffc0100000, 0x400000

    def trailer(time):
        return struct.pack("<IIQ", 7, 7, time)

    def ksymbol(time, addr, size, kind, flags, name):
        return record(17, 1, struct.pack("<QIHH", addr, size, kind, flags) + text(name) + trailer(time))

    def sample(time, ip, chain):
        period = 1000 + time // 20000 * (time // 1000000 % 7 + 1)  # so that no two lines are equal
        chain = [(1 << 64) - 128, ip, *chain, (1 << 64) - 512, user + 0x1000]
        return record(SAMPLE, 1, struct.pack("<QIIQQQ", ip, 7, 7, time, period, len(chain)) +
                      struct.pack(f"<{len(chain)}Q", *chain))

    data = record(MMAP, 1, struct.pack("<iiQQQ", -1, 0, kernel, 0x1000000, kernel) + text("[kernel.kallsyms]_text") +
                  trailer(0))
    data += record(COMM, 0, struct.pack("<II", 7, 7) + text("worker") + trailer(0))
    data += record(MMAP, 2, struct.pack("<iiQQQ", 7, 7, user, 0x10000, 0) + text("/opt/none/worker") + trailer(0))
    data += ksymbol(0, code, 0x100, 1, 0, "bpf_prog_0123456789abcdef_first")
    changes = {
        6: ksymbol(6000000, code + 0x1000, 0x40, 2, 0, "bpf_trampoline_6442500000"),
        12: ksymbol(12000000, code, 0x100, 1, 1, "bpf_prog_0123456789abcdef_first"),
        18: ksymbol(18000000, code, 0x80, 1, 0, "bpf_prog_fedcba9876543210_second"),
        24: ksymbol(24000000, code + 0x2000, 0x100, 1, 0, "bpf_prog_00112233445566aa_third"),
    }
    places = [code + 0x10, code + 0x90, code + 0x1008, code + 0x2010, kernel + 0x9000]
    for i in range(40):
        data += changes.get(i, b"")
        data += sample(1000000 * i + 500000, places[i % 5] + i, [places[2], places[0], kernel + 0x4000])
    flags = 1 << 8 | 1 << 9 | 1 << 18 | 1 << 29  # mmap, comm, sample_id_all, ksymbol
    attr = struct.pack("<" + ATTR, 1, 128, 0, 1000, IP | TID | TIME | CALLCHAIN | PERIOD, 0, flags, 0, 0, 0, 0)
    write(to, attr + bytes(56), data)


def changes(to):
    """Records of what changes in a running system, between samples: code, BPF programs, namespaces, control groups."""
    kernel, code, user = 0xffffffff81000000, 0xffffffffc0100000, 0x400000

    def record(kind, misc, body, time):
        body += bytes(-len(body) % 8) + struct.pack("<IIQ", 7, 7, time)
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def ksymbol(time, flags, name):
        return record(17, 1, struct.pack("<QIHH", code, 0x100, 1, flags) + name + bytes(8 - len(name) % 8), time)

    def poke(time, addr, old, new):
        return record(20, 1, struct.pack("<QHH", addr, len(old), len(new)) + old + new, time)

    def sample(time, misc, ip):
        body = struct.pack("<QIIQQ", ip, 7, 7, time, 1000 + time // 1000)
        return struct.pack("<IHH", SAMPLE, misc, 8 + len(body)) + body

    links = [(4, 0xf0000000 + i) for i in range(7)]
    data = record(MMAP, 1, struct.pack("<iiQQQ", -1, 0, kernel, 0x1000000, kernel) + b"[kernel.kallsyms]_text\0", 0)
    data += record(COMM, 0, struct.pack("<II", 7, 7) + b"worker\0", 0)
    data += record(MMAP, 2, struct.pack("<iiQQQ", 7, 7, user, 0x10000, 0) + b"/opt/none/worker\0", 0)
    data += record(COMM, 1 << 13, struct.pack("<II", 7, 7) + b"worker\0", 1000)
    data += record(16, 0, struct.pack("<IIQ", 7, 7, 7) + b"".join(struct.pack("<QQ", *link) for link in links), 2000)
    data += record(16, 0, struct.pack("<IIQ", 7, 8, 3) + b"".join(struct.pack("<QQ", *link) for link in links[:3]), 3000)
    data += sample(4000, 2, user + 0x10)
    data += ksymbol(5000, 0, b"bpf_prog_0123456789abcdef_first")
    data += record(18, 0, struct.pack("<HHI8s", 1, 0, 42, bytes.fromhex("0123456789abcdef")), 6000)
    data += sample(7000, 1, code + 0x10)
    data += poke(8000, kernel + 0x100, bytes.fromhex("0f1f440000"), bytes.fromhex("e911223344"))
    data += poke(9000, kernel + 0x200, b"", bytes(range(0x20, 0x48)))
    data += poke(10000, kernel + 0x300, bytes(range(0x60, 0x84)), b"\x90")
    data += sample(11000, 1, kernel + 0x104)
    data += record(18, 0, struct.pack("<HHI8s", 2, 0, 42, bytes(8)), 12000)
    data += ksymbol(13000, 1, b"bpf_prog_0123456789abcdef_first")
    data += record(19, 0, struct.pack("<Q", 7001) + b"/user.slice/one\0", 14000)
    data += record(MMAP, 1 << 13 | 2, struct.pack("<iiQQQ", 7, 7, user + 0x20000, 0x1000, 0) + b"/opt/none/data\0", 15000)
    data += record(2, 0, struct.pack("<QQ", 0, 12), 16000)
    data += record(13, 0, struct.pack("<Q", 5), 17000)
    data += record(14, 0, b"", 18000) + record(14, 1 << 13, b"", 19000) + record(14, 3 << 13, b"", 20000)
    data += record(15, 3 << 13, struct.pack("<II", 9, 10), 21000)
    data += record(FORK, 1 << 13, struct.pack("<IIIIQ", 8, 7, 8, 7, 22000), 22000)
    data += record(EXIT, 0, struct.pack("<IIIIQ", 8, 7, 8, 7, 23000), 23000)
    data += record(5, 0, struct.pack("<QQQ", 24000, 0, 0), 24000) + record(6, 0, struct.pack("<QQQ", 25000, 0, 0), 25000)
    data += struct.pack("<IHH", 68, 0, 8)
    for i in range(3):  # kernel, user, hypervisor
        data += sample(26000 + 1000 * i, i + 1, (user if i % 2 else kernel) + 0x1000)
    data += struct.pack("<IHH", 68, 0, 8)
    flags = 1 << 8 | 1 << 9 | 1 << 18 | 1 << 29  # mmap, comm, sample_id_all, ksymbol
    attr = struct.pack("<" + ATTR, 1, 128, 0, 1000, IP | TID | TIME | PERIOD, 0, flags, 0, 0, 0, 0) + bytes(56)
    write(to, attr, data)


def synth(to):
    """Events that a decoder of Intel PT made, as in the output of perf inject: their raw data and cut short."""
    def word(*words):
        return struct.pack(f"<{len(words)}I", *words)

    raw = {
        0: [word(0, 0x11223344, 0x55667788), word(1, 5, 0), word(3, 0x64636261, 0x68676665), word(0, 0x64636261, 0),
            word(0, 0x0a636261, 0), word(0, 0x63006261, 0), word(0, 0, 0), word(0, 0)],
        1: [word(0, 0x60, 0), word(0, 0xffffffff, 0xffffffff), word(0, 0x1ff, 3), word(0, 0)],
        2: [word(0, 0xffffffff, 0xffffffff), word(0, 0x80, 0), word(0, 0x1234, 0), word(0, 0x500, 0)],
        3: [word(0), word(1), word(2), b""],
        4: [word(0, 0xffffffff, 0xffffffff), word(0, 0x1234, 0), word(0, 0x812, 0), word(0, 0)],
        5: [word(0x00190014, 2000000, 0), word(0x00000014, 100, 0), word(0x000a0014, 2016499, 7), word(0xff00ff, 99999, 7),
            word(20, 0)],
        6: [word(0, 0x4000, 1), word(0, 0, 0), word(0, 0)],
        7: [word(kind, 0) for kind in range(32)] + [word(0xff81, 0), word(1)] +
           [word(0x10001, kind, 0, 0x1234, 5) for kind in (0, 1, 2, 3, 63, 64)] +
           [word(0x20002, 0, 0, 0x1234, 5, 1, 0, 7, 0)],
        8: [word(0, 0, 0), word(1, 0x401000, 0), word(3, 0x401000, 0), word(2, 0x401000, 1), word(0, 0)],
        9: [word(0, 0)],
    }
    data = struct.pack("<IHHII8sIIQQ", COMM, 0, 48, 7, 7, b"worker", 7, 7, 0, 1)
    name = b"/mnt/spin\0\0\0\0\0\0\0"
    data += struct.pack("<IHHIIQQQ", MMAP, 2, 80, 7, 7, 0x400000, 0x1000, 0) + name + struct.pack("<IIQQ", 7, 7, 0, 1)
    time = 0
    for kind, parts in raw.items():
        for part in parts:
            time += 1000
            body = struct.pack("<QQIIQI", kind + 1, 0x400000 + time % 0x300, 7, 7, time, len(part)) + part
            body += bytes(-len(body) % 8)
            data += struct.pack("<IHH", SAMPLE, 2, 8 + len(body)) + body
    attrs = [struct.pack("<" + ATTR, 1 << 31, 128, kind, 1, IP | TID | TIME | 1 << 10 | 1 << 16, 4, 1 << 9 | 1 << 18, 0, 0, 0, 0) +
             bytes(56) for kind in raw]
    write_events(to, attrs, data)


def bpf_output(to):
    """What BPF programs write: texts, other bytes, and nothing."""
    raw = [b"hello world\0", b"", bytes(range(44)), b"exactly sixteen!" + bytes(4), b"abc\x80\xff\0\0\0", b"text without end",
           b"tab\there\0\0\0\0", bytes(4), b"ab\0cd\0\0\0", b"a\0\0\0", b"a text that is longer than a line of it\0"]
    data = struct.pack("<IHHII8sIIQ", COMM, 0, 40, 7, 7, b"worker", 7, 7, 0)
    for i, part in enumerate(raw):
        body = struct.pack("<QIIQQI", 0x401000 + i, 7, 7, 1000000 * i, 1, len(part)) + part
        body += bytes(-len(body) % 8)
        data += struct.pack("<IHH", SAMPLE, 2, 8 + len(body)) + body
    attr = struct.pack("<" + ATTR, 1, 128, 10, 1, IP | TID | TIME | PERIOD | 1 << 10, 0, 1 << 9 | 1 << 18, 0, 0, 0, 0)
    write(to, attr + bytes(56), data)


def registers(to):
    """Samples with registers of user code, of which every other one has none, as in a kernel thread."""
    trailer = struct.pack("<IIQ", 7, 7, 0)
    data = struct.pack("<IHHII8s", COMM, 0, 24 + len(trailer), 7, 7, b"worker") + trailer
    for i in range(8):
        regs = struct.pack("<QQQ", 2, 0x7ffc00001000 + i, 0x401000 + i) if i % 2 else struct.pack("<Q", 0)
        body = struct.pack("<QIIQ", 0x401000 + i, 7, 7, 1000000 * i) + regs
        data += struct.pack("<IHH", SAMPLE, 2 if i % 2 else 1, 8 + len(body)) + body
    attr = struct.pack("<" + ATTR, 1, 128, 0, 1000, IP | TID | TIME | 1 << 12, 0, 1 << 9 | 1 << 18, 0, 0, 0, 0)
    attr += struct.pack("<QQ", 0, 1 << 7 | 1 << 8) + bytes(40)  # SP and IP
    write(to, attr, data)


# ---- branches ----

COND, CALL, RET, SYSRET, IRQ, NEW_KIND = 1, 4, 6, 8, 12, 15  # kinds of branches, PERF_BR_*
KERNEL = 0xffffffff81000000


def steps(seed):
    """Branches of spin as it runs, (from, to, kind) for ever: loops of random lengths, and now and then the kernel."""
    def random(n):
        nonlocal seed
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        return (seed >> 8) % n

    def loop(end, start):
        for _ in range(random(6)):
            yield end, start, COND
            if random(16) == 0:  # an interrupt
                yield start + 4, KERNEL + 0x1000, IRQ
                yield KERNEL + 0x1040, KERNEL + 0x2000 + 16 * random(4), CALL
                yield KERNEL + 0x2080, KERNEL + 0x1045, RET
                yield KERNEL + 0x1080, start + 4, SYSRET

    while True:
        yield 0x40025b, 0x4001b1, CALL  # program calls outer, which calls inner
        yield 0x4001ba, 0x40018b, CALL
        yield from loop(0x4001ae, 0x400196)
        yield 0x4001b0, 0x4001bf, RET
        yield 0x4001d2, 0x400260, RET
        yield 0x400260, 0x4001d3, CALL  # other, which calls inner
        yield from loop(0x4001f7, 0x4001dc)
        yield 0x4001fe, 0x40018b, CALL
        yield from loop(0x4001ae, 0x400196)
        yield 0x4001b0, 0x400203, RET
        yield 0x400216, 0x400265, RET
        yield 0x40026c, 0x40025b, COND
        if random(8) == 0:  # code that nothing is mapped at
            yield 0x400260, 0x700000 + random(3), 0
            yield 0x700010, 0x400265, 0


def branches(to, chains=False):
    """Samples of spin with the last branches, in processes of two names; some flags and kinds are rare."""
    trailer = struct.pack("<IIQ", 7, 7, 0)

    data = record(MMAP, 1, struct.pack("<iiQQQ", -1, 0, KERNEL, 0x1000000, KERNEL) + text("[kernel.kallsyms]_text") +
                  trailer)
    for pid, name in ((7, "spin"), (8, "other")):
        data += record(COMM, 0, struct.pack("<II", pid, pid) + text(name) + trailer)
        data += record(MMAP, 2, struct.pack("<iiQQQ", pid, pid, 0x400000, 0x1000, 0) + text("/mnt/spin") + trailer)
    walk, stack, count, sampled = steps(1), [], 0, 0
    while sampled < 80:
        source, target, kind = next(walk)
        count += 1
        mispredicted = count % 7 == 0
        flags = (1 if mispredicted else 0 if count % 41 == 0 else 2) | (count % 53 == 0) << 2 | (count % 59 == 0) << 3
        flags |= (0 if count % 23 == 0 else 1 + count * 7 % 30) << 4 | kind << 20 | (count % 31 == 0) << 24
        if count % 29 == 0:  # every kind that there is
            kind = min(count // 29 % 23, NEW_KIND)
            flags = flags & ~(15 << 20) | kind << 20 | (count // 29 % 23 - kind) << 26
        stack = [(source, target, flags), *stack][:10]
        if count % 9 != 0:
            continue
        sampled += 1
        pid = 7 + (sampled % 5 == 0)
        shown = stack if sampled % 17 else []
        kernel = target >= KERNEL
        body = struct.pack("<QIIQQ", target + 2, pid, pid, 1000000 * sampled, 1000 + sampled % 3)
        if chains:
            chain = [(1 << 64) - 128 if kernel else (1 << 64) - 512, target + 2]
            chain += [(1 << 64) - 512] if kernel else []
            chain += [0x400260 if sampled % 3 else 0x400265, 0x40029a, 0x40018a]
            body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        body += struct.pack("<Q", len(shown)) + b"".join(struct.pack("<3Q", *branch) for branch in shown)
        data += record(SAMPLE, 1 if kernel else 2, body)
    sample_type = IP | TID | TIME | PERIOD | 1 << 11 | (CALLCHAIN if chains else 0)
    flags = 1 << 8 | 1 << 9 | 1 << 18  # mmap, comm, sample_id_all
    attr = struct.pack("<" + ATTR, 0, 128, 0, 1000, sample_type, 0, flags, 0, 0, 0, 0)
    attr += struct.pack("<Q", 1 << 0 | 1 << 1 | 1 << 3 | 1 << 16)  # user, kernel, any, with kinds
    write(to, attr + bytes(48), data, [15])  # BRANCH_STACK


def branch_chains(to):
    branches(to, chains=True)


PREDICTED, MISPREDICTED, IN_TX, ABORTED, CYCLES = 2, 1, 4, 8, 5 << 4
# Samples of spin: the sampled address, and its branches (from, to[, flags]), the newest first.
BRANCH_CODE = [
    (0x4001e3, [(0x4001f7, 0x4001dc)]),  # two instructions after the branch
    (0x4001dc, [(0x4001f7, 0x4001dc)]),  # its target
    (0x4001de, [(0x4001f7, 0x4001dc)]),  # inside an instruction
    (0x40026c, [(0x400216, 0x400265)]),  # a branch
    (0x400270, [(0x400216, 0x400265)]),  # after a branch that was not recorded
    (0x4002be, [(0x40025b, 0x4002b9)]),  # after a system call
    (0x400262, [(0x4001d2, 0x400260)]),  # inside a call
    (0x4001d8, [(0x4001f7, 0x4001dc)]),  # before the target
    (KERNEL + 5, [(0x4001ae, 0x400196)]),  # in the kernel, whose branches were not recorded
    (0x4001b5, [(0x4001ae, KERNEL + 5)]),  # after the kernel
    (0x4001b5, [(0x4001ae, 0x700000)]),  # after code that is not mapped
    (0x700000, [(0x4001ae, 0x400196)]),
    (0x4001b0, [(KERNEL + 5, 0x400196), (0x4001b0, KERNEL + 5), (0x4001ae, 0x400196), (0x40025b, 0x4001b1)]),
    (0x400198, [(0x4001ae, 0x400196), (KERNEL + 5, 0x40019d), (0x40025b, 0x40018b)]),  # the way to the kernel is missing
    (0x400198, [(0x4001ae, 0x400196), (KERNEL + 5, KERNEL + 9), (KERNEL + 5, 0x40019d), (0x40025b, 0x40018b)]),
    (0x400198, [(KERNEL + 5, 0x400196), (0x40025b, 0x40018b)]),
    (0x400198, [(0x4001ae, 0x400196), (0x4001ae, 0x4001b0), (0x4001ae, 0x400196)]),  # branches that do not fit together
    (0x400198, [(0x4001ae, 0x400196), (0x4001ae, 0), (0, 0x400196)]),
    (0x400198, [(0x4001ae, 0x400196), (0, 0), (0x4001ae, 0x400196)]),
    (0x4001a0, [(0x40019b, 0x400196), (0x4001ae, 0x400196)]),  # a branch inside an instruction
    (0x4001a0, [(0x40019c, 0x400190), (0x4001ae, 0x400190)]),
    (0x400196, [(0x4001b5, 0x4001ab), (0x4001ae, 0x400196)]),  # from a function into the next one
    (0x400198, [(0x4001ae, 0x400196), (0x400100, 0x400196), (0x4001ae, 0x4000fc)]),  # code without a function
    (0x4002c8, [(0x4001b5, 0x4002c0)]),
    (0x4001a0, [(0x4001ae, 0x400196, 0), (0x4001ae, 0x400196, MISPREDICTED | IN_TX | CYCLES),
                (0x4001ae, 0x400196, PREDICTED | MISPREDICTED), (0x4001ae, 0x400196, PREDICTED | ABORTED | CYCLES)]),
    (0x4001be, [(0x4001ae, 0x4001b5, PREDICTED | ABORTED | CYCLES), (0x40025b, 0x40018b)]),  # an aborted transaction
    (0x4001a0, []),
    (0x400ffc, [(0x400ff9, 0x400ff0), (0x400ffe, 0x400ff8)]),  # mapped, but not in the file
]


def branch_code(to, samples=tuple(BRANCH_CODE)):
    trailer = struct.pack("<IIQ", 7, 7, 0)
    flags = 1 << 8 | 1 << 9 | 1 << 18  # mmap, comm, sample_id_all

    data = record(MMAP, 1, struct.pack("<iiQQQ", -1, 0, KERNEL, 0x1000000, KERNEL) + text("[kernel.kallsyms]_text") +
                  trailer)
    data += record(COMM, 0, struct.pack("<II", 7, 7) + text("spin") + trailer)
    data += record(MMAP, 2, struct.pack("<iiQQQ", 7, 7, 0x400000, 0x1000, 0) + text("/mnt/spin") + trailer)
    for number, (ip, branches_of) in enumerate(samples):
        body = struct.pack("<QIIQQQ", ip, 7, 7, 1000000 * (number + 1), 1000, len(branches_of))
        for source, target, *more in branches_of:
            body += struct.pack("<3Q", source, target, more[0] if more else PREDICTED | CYCLES)
        data += record(SAMPLE, 1 if ip >= KERNEL else 2, body)
    attr = struct.pack("<" + ATTR, 0, 128, 0, 1000, IP | TID | TIME | PERIOD | 1 << 11, 0, flags, 0, 0, 0, 0)
    attr += struct.pack("<Q", 1 << 0 | 1 << 1 | 1 << 3)  # user, kernel, any
    write(to, attr + bytes(48), data, [15])  # BRANCH_STACK


def each_branch(to):
    """An event for each branch, with its target as address."""
    trailer = struct.pack("<IIQ", 7, 7, 0)

    data = record(COMM, 0, struct.pack("<II", 7, 7) + b"spin\0\0\0\0" + trailer)
    data += record(MMAP, 2, struct.pack("<iiQQQ", 7, 7, 0x400000, 0x1000, 0) + b"/mnt/spin".ljust(16, b"\0") + trailer)
    # Without interrupts, which steps() puts into the middle of instructions.
    walk = ((source, target) for source, target, kind in steps(1) if kind != IRQ)
    for number in range(40):
        source, target = next(walk)
        data += record(SAMPLE, 1 if source >= KERNEL else 2,
                       struct.pack("<QIIQQQ", source, 7, 7, 1000 * (number + 1), target, 1))
    flags = 1 << 8 | 1 << 9 | 1 << 18  # mmap, comm, sample_id_all
    attr = struct.pack("<" + ATTR, 0, 128, 4, 1, IP | TID | TIME | 8 | PERIOD, 0, flags, 0, 0, 0, 0)
    write(to, attr + bytes(56), data, [])
