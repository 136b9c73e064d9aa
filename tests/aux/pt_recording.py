# SPDX-License-Identifier: MIT
"""Writes perf.data files with Intel PT, for tests that need what no machine here can record.

Four parts: Packets encodes packets, Code assembles a small program and writes it as an ELF file, Flow executes such a
program at random (its own generator: the same bytes everywhere) and emits the packets of that execution, and Recording
writes the file: attrs, AUXTRACE_INFO, side-band, AUX and AUXTRACE records.

Formats: Intel SDM volume 3, chapter "Intel Processor Trace"; linux/perf_event.h; doc/format.md.
"""
import struct
from pathlib import Path

MASK = 2**64 - 1
SHIFT, MULTIPLIER = 31, 1065220063  # perf time = TSC * MULTIPLIER >> SHIFT
TSC_HZ_RATIO = 20  # nominal core to bus ratio
CTC_N, CTC_D = 168, 2  # TSC ticks for crystal ticks
PT_TYPE = 8
PT_ID, SIDE_ID, SWITCH_ID, OUTPUT_ID = 101, 102, 103, 104
IP, TID, TIME, ID, CPU, PERIOD, RAW, IDENTIFIER, AUX = 1, 2, 4, 64, 128, 256, 1 << 10, 1 << 16, 1 << 20
EXCLUDE_KERNEL = 1 << 5
MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2, AUX_RECORD, ITRACE_START = 1, 2, 3, 4, 7, 9, 10, 11, 12
LOST_SAMPLES, SWITCH, SWITCH_CPU_WIDE, KSYMBOL, BPF_EVENT, TEXT_POKE, AUX_HW_ID = 13, 14, 15, 17, 18, 20, 21
HEADER_ATTR, FINISHED_ROUND, ID_INDEX, AUXTRACE_INFO, AUXTRACE, AUXTRACE_ERROR, TIME_CONV = 64, 68, 69, 70, 71, 72, 79
ARCH, BPF_PROG_INFO = 6, 25  # features
TRUNCATED, OVERWRITE, PARTIAL, COLLISION = 1, 2, 4, 8  # flags of AUX records
KERNEL, USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5  # misc of records
TSC_BIT, MTC_BIT, NORETCOMP, CYC_BIT = 1 << 10, 1 << 9, 1 << 11, 1 << 1
EVENT_BIT = 1 << 31
BRANCH_BIT, PT_BIT, PWR_BIT, PTW_BIT, FUP_ON_PTW = 1 << 13, 1, 1 << 4, 1 << 12, 1 << 5
CONFIG = 0x300e601  # perf's default: tsc, mtc, mtc_period 3, psb_period 3, pt, branch


class Random:
    """xorshift64*: the numbers are the same on every machine and version of Python"""

    def __init__(self, seed):
        self.state = seed * 0x9e3779b97f4a7c15 & MASK or 1

    def below(self, n):
        s = self.state
        s ^= s >> 12
        s ^= s << 25 & MASK
        s ^= s >> 27
        self.state = s
        return (s * 0x2545f4914f6cdd1d & MASK) >> 32 if n == 2**32 else ((s * 0x2545f4914f6cdd1d & MASK) >> 32) % n


def time_of(tsc, zero=0):
    return zero + (tsc * MULTIPLIER >> SHIFT)


class Packets:
    """Bytes of a trace. IPs are compressed to 2, 4 or 6 bytes as a processor does; pending branch bits are written
    before any other packet."""

    def __init__(self):
        self.out = bytearray()
        self.bits = []
        self.last_ip = 0

    def flush(self):
        if self.bits:
            n = len(self.bits)
            value = 1
            for bit in self.bits:
                value = value << 1 | bit
            self.bits = []
            if n <= 6:
                self.out.append(value << 1 & 0xff)
            else:
                self.out += b"\x02\xa3" + struct.pack("<Q", value)[:6]

    def tnt(self, taken, long=False):
        self.bits.append(int(taken))
        if len(self.bits) == (47 if long else 6):
            self.flush()

    def raw(self, raw):
        self.flush()
        self.out += raw
        return self

    def ip(self, op, ip):
        """op: 0x0d TIP, 0x11 PGE, 0x01 PGD, 0x1d FUP; ip None: without one"""
        self.flush()
        if ip is None:
            self.out.append(op)
            return
        for size, code in ((2, 1), (4, 2), (6, 3), (6, 4), (8, 6)):
            mask = (1 << 8 * size) - 1
            if code == 3:
                good = ip == (ip & mask | (-(ip >> 47 & 1) << 48)) & MASK
            else:
                good = self.last_ip & ~mask == ip & ~mask
            if good:
                break
        self.last_ip = ip
        self.out.append(code << 5 | op)
        self.out += struct.pack("<Q", ip)[:size]

    def tip(self, ip):
        self.ip(0x0d, ip)

    def pge(self, ip):
        self.ip(0x11, ip)

    def pgd(self, ip=None):
        self.ip(0x01, ip)

    def fup(self, ip):
        self.ip(0x1d, ip)

    def psb(self):
        self.raw(b"\x02\x82" * 8)
        self.last_ip = 0

    def psbend(self):
        self.raw(b"\x02\x23")

    def ovf(self):
        self.raw(b"\x02\xf3")
        self.last_ip = 0

    def tsc(self, tsc):
        self.raw(b"\x19" + struct.pack("<Q", tsc)[:7])

    def tma(self, ctc, fast):
        self.raw(b"\x02\x73" + struct.pack("<HBH", ctc & 0xffff, 0, fast & 0x1ff))

    def mtc(self, ctc):
        self.raw(bytes([0x59, ctc & 0xff]))

    def cbr(self, ratio):
        self.raw(bytes([0x02, 0x03, ratio, 0]))

    def cyc(self, n):
        out = bytearray([(n & 31) << 3 | 3])
        n >>= 5
        if n:
            out[0] |= 4
        while n:
            more = n >> 7
            out.append((n & 127) << 1 | (1 if more else 0))
            n = more
        self.raw(bytes(out))

    def mode_exec(self, bits=64, interrupts=False):
        self.raw(bytes([0x99, {64: 1, 32: 2, 16: 0}[bits] | (4 if interrupts else 0)]))

    def mode_tsx(self, inside=False, abort=False):
        self.raw(bytes([0x99, 0x20 | inside | abort << 1]))

    def pip(self, cr3, nonroot=False):
        self.raw(b"\x02\x43" + struct.pack("<Q", cr3 >> 5 << 1 | nonroot)[:6])

    def vmcs(self, base):
        self.raw(b"\x02\xc8" + struct.pack("<Q", base >> 12)[:5])

    def stop(self):
        self.raw(b"\x02\x83")

    def ptw(self, value, size=8, fup=False):
        self.raw(bytes([0x02, 0x12 | (0x20 if size == 8 else 0) | (0x80 if fup else 0)]) + struct.pack("<Q", value)[:size])

    def exstop(self, fup=False):
        self.raw(bytes([0x02, 0x62 | (0x80 if fup else 0)]))

    def mwait(self, hints, extensions):
        self.raw(b"\x02\xc2" + struct.pack("<II", hints, extensions))

    def pwre(self, state, sub, hw=False):
        self.raw(bytes([0x02, 0x22, 0x80 if hw else 0, state << 4 | sub]))

    def cfe(self, kind, vector=0, ip=False):
        self.raw(bytes([0x02, 0x13, kind | ip << 7, vector]))

    def evd(self, kind, payload):
        self.raw(bytes([0x02, 0x53, kind]) + struct.pack("<Q", payload))

    def pwrx(self, last, deepest, wake):
        self.raw(bytes([0x02, 0xa2, last << 4 | deepest, wake, 0, 0, 0]))

    def pebs(self, blocks, ip=None, small=False):
        """A PEBS record: blocks are (type, [(item, value)..]); ip: of the FUP after it; small: items of 4 bytes"""
        for kind, items in blocks:
            self.raw(bytes([0x02, 0x63, kind | small << 7]))
            for item, value in items:
                self.raw(bytes([item << 3 | 4]) + struct.pack("<Q", value & MASK)[:4 if small else 8])
        self.raw(b"\x02\xb3" if ip is not None else b"\x02\x33")
        if ip is not None:
            self.fup(ip)

    def bytes(self):
        self.flush()
        return bytes(self.out)


def attr_bytes(kind, config, bits, flags, _, period, branches=0, regs=0):
    """A struct perf_event_attr; branches: branch_sample_type, regs: sample_regs_intr"""
    return struct.pack("<IIQQQQQQQQQQIiQ", kind, 128, config, period, bits, 4, flags, 0, 0, 0, branches, 0, 0, 0, regs).ljust(128, b"\0")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    raw = text.encode() + b"\0"
    return raw + b"\0" * (-len(raw) % 8)


class Recording:
    """A file with the events intel_pt (0), dummy (1) and, if asked for, sched:sched_switch (2)."""

    def __init__(self, config=CONFIG, per_cpu=False, have_sched_switch=0, snapshot=False, zero=0, kernel=False,
                 cap_time_zero=1, sample_type=IP | TID | TIME | CPU | IDENTIFIER, pt_sample_type=0, tracepoint=None,
                 cap_event_trace=0, filter_text=None, samples_of=None, ratios=(CTC_N, CTC_D), max_nonturbo=TSC_HZ_RATIO,
                 exclude_guest=True, outputs=()):
        self.sample_type, self.zero = sample_type, zero
        self.pt_sample_type = pt_sample_type or sample_type
        self.records, self.offsets, self.features = [], {}, {}
        exclude = (0 if kernel else EXCLUDE_KERNEL) | 1 << 6 | (1 << 20 if exclude_guest else 0)
        on_exec = 1 | 1 << 1 | 1 << 12 | 1 << 18
        if not exclude_guest:
            exclude &= ~(1 << 6)
        self.attrs = [(PT_TYPE, config, self.pt_sample_type, exclude | on_exec, PT_ID, 1),
                      (1, 9, sample_type, exclude | on_exec | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 24 | 1 << 26, SIDE_ID, 1)]
        if tracepoint is not None:
            self.attrs.append((2, tracepoint, sample_type | RAW | PERIOD, 1 << 18, SWITCH_ID, 1))
        if samples_of is not None:  # another event whose samples carry AUX data: (type, config, sample_type)
            self.attrs.append((samples_of[0], samples_of[1], samples_of[2], exclude | on_exec, SWITCH_ID, 100))
        for i, (kind, event, bits, period, *more) in enumerate(outputs):  # events whose samples are in the trace
            self.attrs.append((kind, event, bits, exclude | on_exec | 1 << 31, OUTPUT_ID + i, period, *more))
        words = [PT_TYPE, SHIFT, MULTIPLIER, zero, cap_time_zero, TSC_BIT, NORETCOMP, have_sched_switch, int(snapshot),
                 int(per_cpu), MTC_BIT, 0x3c000, ratios[0], ratios[1], CYC_BIT, max_nonturbo]
        text = b"" if filter_text is None else padded(filter_text)
        words += [len(text)]
        info = struct.pack("<II", 1, 0) + struct.pack(f"<{len(words)}Q", *words) + text + struct.pack("<Q", cap_event_trace)
        self.records.append(record(AUXTRACE_INFO, 0, info))
        self.reference = 0

    def trailer(self, time, pid, tid, cpu=0, event=SIDE_ID, bits=None):
        bits, out = self.sample_type if bits is None else bits, b""
        if bits & TID:
            out += struct.pack("<ii", pid, tid)
        if bits & TIME:
            out += struct.pack("<Q", time)
        if bits & ID:
            out += struct.pack("<Q", event)
        if bits & CPU:
            out += struct.pack("<II", cpu, 0)
        if bits & IDENTIFIER:
            out += struct.pack("<Q", event)
        return out

    def add(self, kind, misc, body, time, pid, tid, cpu=0, event=SIDE_ID):
        self.records.append(record(kind, misc, body + self.trailer(time, pid, tid, cpu, event)))

    def comm(self, time, pid, name, tid=None, exec_=False, cpu=0):
        tid = pid if tid is None else tid
        self.add(COMM, exec_ << 13, struct.pack("<ii", pid, tid) + padded(name), time, pid, tid, cpu)

    def mmap(self, time, pid, start, size, name, pgoff=0, prot=5, mode=USER, inode=77, cpu=0):
        self.add(MMAP2, mode, struct.pack("<iiQQQIIQQII", pid, pid, start, size, pgoff, 8, 1, inode, 0, prot, 2) + padded(name),
                 time, pid, pid, cpu)

    def kernel_mmap(self, start, size, name="[kernel.kallsyms]_text", pgoff=None):
        self.add(MMAP, KERNEL, struct.pack("<iiQQQ", -1, 0, start, size, start if pgoff is None else pgoff) + padded(name), 0, -1, 0)

    def ksymbol(self, time, start, size, name, kind=1, flags=0):
        """kind: 1 BPF, 2 out of line; flags: 1 it is gone"""
        self.add(KSYMBOL, 0, struct.pack("<QIHH", start, size, kind, flags) + padded(name), time, 0, 0)

    def bpf_program(self, time, number, tag, parts, name=""):
        """The kernel loaded a BPF program; parts: (name, address, bytes) of the program and the functions it calls."""
        for function, start, code in parts:
            self.ksymbol(time, start, len(code), function)
        self.add(BPF_EVENT, 0, struct.pack("<HHI", 1, 0, number) + tag, time, 0, 0)
        lengths = struct.pack(f"<{len(parts)}I", *[len(code) for _, _, code in parts])
        arrays = [(0, b"".join(code for _, _, code in parts)),
                  (3, struct.pack(f"<{len(parts)}Q", *[start for _, start, _ in parts])), (4, lengths)]
        data, at = b"", {}
        for bit, raw in arrays:
            at[bit] = len(data)
            data += raw + bytes(-len(raw) % 8)
        info = struct.pack("<II", 1, number) + tag + struct.pack("<IIQQQIIQ16s", len(arrays[0][1]), 0, at[0], 0, 5, 0, 0, 0, name.encode())
        info += bytes(24) + struct.pack("<IIQQ", len(parts), len(parts), at[3], at[4])
        info = info.ljust(224, b"\0")
        old = self.features.get(BPF_PROG_INFO, struct.pack("<I", 0))
        self.features[BPF_PROG_INFO] = struct.pack("<I", struct.unpack_from("<I", old)[0] + 1) + old[4:] + \
            struct.pack("<IIQ", len(info), len(data), sum(1 << bit for bit, _ in arrays)) + info + data

    def text_poke(self, time, address, old, new):
        """The kernel changed its code."""
        body = struct.pack("<QHH", address, len(old), len(new)) + old + new
        self.add(TEXT_POKE, KERNEL, body + b"\0" * (-len(body) % 8), time, 0, 0)

    def fork(self, time, pid, tid, ppid, ptid, cpu=0):
        self.add(FORK, 0, struct.pack("<iiiiQ", pid, ppid, tid, ptid, time), time, ppid, ptid, cpu)

    def exit(self, time, pid, tid=None, cpu=0):
        tid = pid if tid is None else tid
        self.add(EXIT, 0, struct.pack("<iiiiQ", pid, pid, tid, pid, time), time, pid, tid, cpu)

    def itrace_start(self, time, pid, tid=None, cpu=0):
        tid = pid if tid is None else tid
        self.add(ITRACE_START, 0, struct.pack("<ii", pid, tid), time, pid, tid, cpu, PT_ID)

    def switch(self, time, pid, tid, cpu, out):
        self.add(SWITCH, (1 << 13) * out, b"", time, pid, tid, cpu)

    def switch_cpu_wide(self, time, pid, tid, cpu, out, other):
        """other: (pid, tid) of the next or previous thread"""
        self.add(SWITCH_CPU_WIDE, (1 << 13) * out, struct.pack("<ii", *other), time, pid, tid, cpu)

    def aux(self, time, offset, size, flags=0, pid=1000, tid=1000, cpu=0):
        body = struct.pack("<QQQ", offset, size, flags)
        self.records.append(record(AUX_RECORD, 0, body + self.trailer(time, pid, tid, cpu, PT_ID, self.pt_sample_type)))

    def output_hw_id(self, time, number, event, pid=1000, cpu=0):
        """Blocks whose counter is `number` are samples of an event."""
        self.add(AUX_HW_ID, 0, struct.pack("<Q", number), time, pid, pid, cpu, event)

    def auxtrace(self, data, idx=0, tid=-1, cpu=-1, offset=None, pad=True):
        """Trace data; offset: where it is in the AUX area, by default after the data before it"""
        at = self.offsets.get(idx, 0) if offset is None else offset
        self.offsets[idx] = at + len(data)
        self.reference += 1
        if pad:
            data = data + b"\0" * (-len(data) % 8)
        head = struct.pack("<QQQIiiI", len(data), at, self.reference, idx, tid, cpu, 0)
        self.records.append(record(AUXTRACE, 0, head) + data)

    def auxtrace_error(self, time, message, code=5, cpu=0, pid=1000, tid=1000, ip=0x401000, fmt=1, kind=1):
        body = struct.pack("<IIiiiIQ", kind, code, cpu, pid, tid, fmt, ip)
        body += (struct.pack("<Q", time) if fmt else b"") + message.encode().ljust(64, b"\0")
        self.records.append(record(AUXTRACE_ERROR, 0, body))

    def finished_round(self):
        self.records.append(record(FINISHED_ROUND, 0, b""))

    def sample(self, time, pid, tid, cpu, ip=0, event=2, raw=None, aux=None, period=1):
        """A sample of an event; raw: of a tracepoint; aux: trace data before the sample"""
        bits, out = self.attrs[event][2], b""
        if bits & IDENTIFIER:
            out += struct.pack("<Q", self.attrs[event][4])
        if bits & IP:
            out += struct.pack("<Q", ip)
        if bits & TID:
            out += struct.pack("<ii", pid, tid)
        if bits & TIME:
            out += struct.pack("<Q", time)
        if bits & ID:
            out += struct.pack("<Q", self.attrs[event][4])
        if bits & CPU:
            out += struct.pack("<II", cpu, 0)
        if bits & PERIOD:
            out += struct.pack("<Q", period)
        if bits & RAW:
            raw += b"\0" * (-(4 + len(raw)) % 8)
            out += struct.pack("<I", len(raw)) + raw
        if bits & AUX:
            data = aux + b"\0" * (-len(aux) % 8)
            out += struct.pack("<Q", len(data)) + data
        self.records.append(record(SAMPLE, USER, out))

    def write(self, path):
        attrs, ids = b"", b""
        ids_at = 104
        attrs_at = ids_at + 8 * len(self.attrs)
        for i, attr in enumerate(self.attrs):
            attrs += attr_bytes(*attr) + struct.pack("<QQ", ids_at + 8 * i, 8)
            ids += struct.pack("<Q", attr[4])
        data = b"".join(self.records)
        data_at = attrs_at + len(attrs)
        features, blobs, bitmap = b"", b"", 0
        text = struct.pack("<II", len(self.attrs), 128)
        for i, attr in enumerate(self.attrs):
            name = ("intel_pt//u", "dummy:u", "sched:sched_switch" if attr[0] == 2 else "samples")[min(i, 2)]
            name = padded(name if i < 3 else f"samples{i - 1}")
            text += attr_bytes(*attr) + struct.pack("<II", 1, len(name)) + name + struct.pack("<Q", attr[4])
        found = dict(self.features)
        found[12] = text  # EVENT_DESC
        places, place = [], data_at
        for one in self.records:
            if one[:4] == struct.pack("<I", AUXTRACE):
                places.append((place, 48))
            place += len(one)
        found[18] = struct.pack("<Q", len(places)) + b"".join(struct.pack("<QQ", *p) for p in places)  # AUXTRACE
        at = data_at + len(data) + 16 * len(found)
        for bit in sorted(found):
            bitmap |= 1 << bit
            features += struct.pack("<QQ", at + len(blobs), len(found[bit]))
            blobs += found[bit]
        head = b"PERFILE2" + struct.pack("<8Q", 104, 144, attrs_at, len(attrs), data_at, len(data), 0, 0) + \
            struct.pack("<4Q", bitmap, 0, 0, 0)
        Path(path).write_bytes(head + ids + attrs + data + features + blobs)

    def write_stream(self, path):
        """The stream that record -o - writes: attrs are records, and there are no names"""
        records = [record(HEADER_ATTR, 0, attr_bytes(*attr) + struct.pack("<Q", attr[4])) for attr in self.attrs]
        Path(path).write_bytes(b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records + self.records))

    def write_threads(self, path, parts):
        """As record --threads: records from an index on, for each of parts, are in data.0, data.1, ..."""
        self.features[24] = struct.pack("<Q", 1)  # DIR_FORMAT
        path.mkdir(parents=True, exist_ok=True)
        for i, (first, end) in enumerate(zip(parts, [*parts[1:], len(self.records)])):
            (path / f"data.{i}").write_bytes(b"".join(self.records[first:end]))
        del self.records[parts[0]:]
        self.write(path / "data")

    def write_folder(self, path, copies):
        """A recording in a folder; copies: folders kcore_dir.. with the files of each."""
        self.features[24] = struct.pack("<Q", 0)  # DIR_FORMAT
        for name, files in copies.items():
            folder = Path(path) / name
            folder.mkdir(parents=True, exist_ok=True)
            for file, raw in files.items():
                (folder / file).write_bytes(raw)
        self.write(Path(path) / "data")


# ---- programs ----

JCC, JMP, CALL, JMP_REG, CALL_REG, RET, SYSCALL, PLAIN, PTWRITE, XBEGIN, XABORT, SYSRET, VMRESUME = range(13)


class Code:
    """A program of a few kinds of instructions; labels may be used before they are defined."""

    def __init__(self, base):
        self.base, self.bytes, self.insns, self.labels, self.functions = base, bytearray(), {}, {}, []
        self.fixups = []

    @property
    def ip(self):
        return self.base + len(self.bytes)

    def label(self, name, function=False):
        self.labels[name] = self.ip
        if function:
            self.functions.append((name, self.ip))

    def emit(self, raw, kind=PLAIN, target=None):
        self.insns[self.ip] = [kind, len(raw), target]
        if target is not None and not isinstance(target, list):
            self.fixups.append((self.ip, len(self.bytes) + len(raw), target))
        self.bytes += raw

    def nop(self, n=1):
        for _ in range(n):
            self.emit(b"\x90")

    def jcc(self, target, condition=4):
        self.emit(bytes([0x0f, 0x80 | condition]) + bytes(4), JCC, target)

    def jmp(self, target):
        self.emit(b"\xe9" + bytes(4), JMP, target)

    def call(self, target):
        self.emit(b"\xe8" + bytes(4), CALL, target)

    def jmp_reg(self, targets):
        self.emit(b"\xff\xe0", JMP_REG, targets)

    def call_reg(self, targets):
        self.emit(b"\xff\xd0", CALL_REG, targets)

    def ret(self):
        self.emit(b"\xc3", RET)

    def syscall(self):
        self.emit(b"\x0f\x05", SYSCALL)

    def sysret(self):
        self.emit(b"\x48\x0f\x07", SYSRET)

    def vmresume(self):
        self.emit(b"\x0f\x01\xc3", VMRESUME)

    def ptwrite(self):
        self.emit(b"\xf3\x0f\xae\xe0", PTWRITE)

    def xbegin(self, abort):
        self.emit(b"\xc7\xf8" + bytes(4), XBEGIN, abort)

    def xend(self):
        self.emit(b"\x0f\x01\xd5")

    def done(self):
        """Sets displacements and makes targets addresses."""
        for ip, end, name in self.fixups:
            self.insns[ip][2] = self.labels[name]
            self.bytes[end - 4:end] = struct.pack("<i", self.labels[name] - (self.base + end))
        for insn in self.insns.values():
            if isinstance(insn[2], list):
                insn[2] = [t if isinstance(t, int) else self.labels[t] for t in insn[2]]
        return self

    def at(self, base):
        """The same program at another address: only for programs whose registers point into themselves."""
        moved = Code(base)
        by = base - self.base
        moved.bytes = self.bytes
        moved.labels = {name: ip + by for name, ip in self.labels.items()}
        moved.functions = [(name, ip + by) for name, ip in self.functions]
        for ip, (kind, size, target) in self.insns.items():
            moved.insns[ip + by] = [kind, size, [t + by for t in target] if isinstance(target, list)
                                    else target + by if target is not None else None]
        return moved

    def elf(self, path, shared=False, offset=0x1000):
        """An ELF file with the code at `offset` and a symbol for each function."""
        base = 0 if shared else self.base - offset
        names, symbols = b"\0", bytes(24)
        ends = [ip for _, ip in self.functions[1:]] + [self.ip]
        for (name, ip), end in zip(self.functions, ends):
            symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, base + offset + ip - self.base, end - ip)
            names += name.encode() + b"\0"
        strings = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
        at = offset + len(self.bytes)
        text, at = at, at + -at % 8
        pad = at - text
        body = bytes(self.bytes) + bytes(pad) + symbols + names + strings
        names_at = at + len(symbols)
        strings_at = names_at + len(names)
        sections_at = strings_at + len(strings)
        sections_at += -sections_at % 8

        def section(name, kind, flags, addr, offset, size, link=0, info=0, entry=0):
            return struct.pack("<IIQQQQIIQQ", strings.index(b"\0" + name) + 1, kind, flags, addr, offset, size, link, info, 1, entry)

        sections = bytes(64) + section(b".text", 1, 6, base + offset, offset, len(self.bytes)) + \
            section(b".symtab", 2, 0, 0, at, len(symbols), 3, 1, 24) + section(b".strtab", 3, 0, 0, names_at, len(names)) + \
            section(b".shstrtab", 3, 0, 0, strings_at, len(strings))
        head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3 if shared else 2, 62, 1, base + offset, 64, sections_at,
                                                         0, 64, 56, 1, 64, 5, 4)
        load = struct.pack("<IIQQQQQQ", 1, 5, offset, base + offset, base + offset, len(self.bytes), len(self.bytes), 0x1000)
        out = (head + load).ljust(offset, b"\0") + body
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(out.ljust(sections_at, b"\0") + sections)


def module_elf(path, codes, relocations=()):
    """A kernel module's file, which is relocatable: a section for each (name, Code), a symbol for each function.
    relocations: (section, offset, symbol, type, addend); a symbol without a section is the kernel's."""
    names, symbols, bound = b"\0", bytes(24), [""]
    for number, (_, code) in enumerate(codes, 1):
        ends = [ip for _, ip in code.functions[1:]] + [code.ip]
        for (name, ip), end in zip(code.functions, ends):
            symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, number, ip - code.base, end - ip)
            names, bound = names + name.encode() + b"\0", bound + [name]
    for name in sorted({one[2] for one in relocations} - set(bound)):
        symbols += struct.pack("<IBBHQQ", len(names), 0x10, 0, 0, 0, 0)
        names, bound = names + name.encode() + b"\0", bound + [name]
    pieces = [(name, 1, 6, bytes(code.bytes), 0, 0, 16) for name, code in codes]
    table = len(codes) + 1
    pieces += [(".symtab", 2, 0, symbols, table + 1, 1, 24), (".strtab", 3, 0, names, 0, 0, 0)]
    for number, (name, _) in enumerate(codes, 1):
        raw = b"".join(struct.pack("<QQq", offset, bound.index(symbol) << 32 | kind, addend)
                       for section, offset, symbol, kind, addend in relocations if section == name)
        if raw:
            pieces.append((".rela" + name, 4, 0x40, raw, table, number, 24))
    texts = b"\0" + b"".join(piece[0].encode() + b"\0" for piece in pieces) + b".shstrtab\0"
    pieces.append((".shstrtab", 3, 0, texts, 0, 0, 0))
    body, heads = b"", bytes(64)
    for name, kind, flags, raw, link, info, entry in pieces:
        body += bytes(-len(body) % 16)
        heads += struct.pack("<IIQQQQIIQQ", texts.index(b"\0" + name.encode() + b"\0") + 1, kind, flags, 0, 64 + len(body), len(raw),
                             link, info, 16 if kind == 1 else 8, entry if kind != 1 else 0)
        body += raw
    body += bytes(-len(body) % 8)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                                                    len(pieces) + 1, len(pieces))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(head + body + heads)


def core(codes):
    """A kcore: an ELF core file with the code of each program at its address"""
    at = 64 + 56 * len(codes)
    at += -at % 4096
    heads, body = b"", b""
    for code in codes:
        size = len(code.bytes)
        heads += struct.pack("<IIQQQQQQ", 1, 7, at + len(body), code.base, 0, size, size, 4096)
        body += bytes(code.bytes) + bytes(-size % 4096)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(codes), 0, 0, 0)
    return (head + heads).ljust(at, b"\0") + body


def kallsyms(code, module=None, letter="T"):
    """Lines of kallsyms for a program; module: the name of a module."""
    end = f"\t[{module}]\n" if module else "\n"
    return "".join(f"{ip:016x} {letter} {name}{end}" for name, ip in code.functions)


def program(base, seed, functions=12, syscalls=False, more=None):
    """A program of functions with branches of all kinds; more(code, n) may add instructions to function n. Function 0
    runs for ever."""
    random, c = Random(seed), Code(base)
    for f in range(functions):
        c.label(f"f{f}", function=True)
        for b in range(6):
            c.label(f"f{f}.{b}")
            c.nop(1 + random.below(5))
            if more is not None:
                more(c, f, b)
            kind = random.below(10)
            later = f"f{f}.{b + 1 + random.below(6 - b)}"
            if kind < 4:
                c.jcc(later)
            elif kind < 5:
                c.jcc(f"f{f}.{b}")
            elif kind < 6:
                c.jmp(later)
            elif kind < 8 and f + 1 < functions:
                c.call(f"f{f + 1 + random.below(functions - f - 1)}")
            elif kind < 9 and f + 2 < functions:
                c.call_reg([f"f{f + 1}", f"f{functions - 1}"])
            elif syscalls:
                c.syscall()
            else:
                c.jmp_reg([later])
        c.label(f"f{f}.6")
        c.nop()
        if f == 0:
            c.jmp("f0.0")
        c.ret()
    return c.done()


class Flow:
    """Executes programs and writes the packets. tick: TSC ticks of an instruction; psb_every, mtc_every: bytes, branches.
    entry: the kernel's, where system calls lead; else tracing stops in the kernel."""

    def __init__(self, programs, seed=1, tsc=0x1d562f6c000, tick=3, psb_every=2048, mtc_every=40, cyc=False, timing=True,
                 retcomp=True, kernel=False, entry=None):
        self.insns, self.entry, self.back = {}, entry, None
        for code in programs:
            self.insns |= code.insns
        self.p, self.random, self.tsc, self.tick = Packets(), Random(seed), tsc, tick
        self.psb_every, self.mtc_every, self.cyc, self.timing, self.retcomp = psb_every, mtc_every, cyc, timing, retcomp
        self.kernel, self.depth, self.stack, self.ip, self.since, self.branches, self.mtc = kernel, 0, [], None, 0, 0, None
        self.cycled = tsc
        self.interrupts = False  # the interrupt flag, which Event Trace records
        self.nonroot = None  # CR3 of the guest that runs
        self.decided = False  # a packet tells where the last instruction went

    def ctc(self):
        return self.tsc * CTC_D // CTC_N

    def psb(self):
        p = self.p
        p.psb()
        if self.timing:
            p.tsc(self.tsc)
            p.tma(self.ctc(), self.tsc - self.ctc() * CTC_N // CTC_D & 0x1ff)
            self.mtc = self.ctc() >> 3
        p.cbr(TSC_HZ_RATIO)
        if self.nonroot is not None:
            p.pip(self.nonroot, True)
        if self.ip is not None:
            p.mode_exec(interrupts=self.interrupts)
            p.fup(self.ip)
        p.psbend()
        self.since, self.depth = len(p.out), 0

    def time(self):
        """Packets of time before another packet"""
        if self.cyc and self.tsc > self.cycled:
            self.p.cyc(self.tsc - self.cycled)
            self.cycled = self.tsc

    def begin(self, ip):
        self.psb()
        self.enable(ip)

    def enable(self, ip):
        self.time()
        self.p.mode_exec(interrupts=self.interrupts)
        self.p.pge(ip)
        self.ip = ip

    def disable(self, wait=500):
        """Tracing ends before the next instruction; time passes."""
        self.time()
        self.p.fup(self.ip)
        self.p.pgd(None)
        self.ip = None
        self.tsc += wait

    def bit(self, taken):
        if not self.p.bits:
            self.time()
        self.p.tnt(taken)

    def tip(self, ip):
        self.time()
        self.p.tip(ip)

    def step(self):
        """Executes one instruction; whether it was a branch."""
        kind, size, target = self.insns[self.ip]
        ip, self.ip = self.ip, self.ip + size
        self.tsc += self.tick
        self.decided = kind in (JCC, JMP_REG, CALL_REG, RET)
        if kind == PTWRITE:
            self.time()
            self.p.ptw(ip * 0x10001 & MASK, 8, fup=True)
            self.p.fup(ip)
        if kind == JCC:
            taken = self.random.below(3) == 0
            self.bit(taken)
            self.ip = target if taken else self.ip
        elif kind in (JMP, CALL):
            if kind == CALL:
                self.push(self.ip)
            self.ip = target
        elif kind in (JMP_REG, CALL_REG):
            if kind == CALL_REG:
                self.push(self.ip)
            self.ip = target[self.random.below(len(target))]
            self.tip(self.ip)
        elif kind == RET:
            self.ip = self.stack.pop()
            if self.retcomp and self.depth > 0:
                self.bit(True)
                self.depth -= 1
            else:
                self.tip(self.ip)
        elif kind == SYSCALL and self.entry is not None:
            self.back, self.ip = self.ip, self.entry
            self.tip(self.ip)
        elif kind == SYSRET:
            self.ip = self.back
            self.tip(self.ip)
        elif kind == SYSCALL and not self.kernel:
            back = self.ip
            self.time()
            self.p.pgd(None)
            self.tsc += 400
            self.enable(back)
        else:
            return False
        self.branches += 1
        return True

    def push(self, ip):
        self.stack.append(ip)
        self.depth = min(self.depth + 1, 64)

    def run(self, n):
        for _ in range(n):
            while not self.step():
                pass
            if len(self.p.out) - self.since >= self.psb_every:
                self.p.flush()
                self.psb()
            elif self.timing and self.mtc_every and self.ctc() >> 3 != self.mtc:
                self.mtc = self.ctc() >> 3
                self.time()
                self.p.mtc(self.mtc)

    def ns(self):
        return time_of(self.tsc)

    def bytes(self):
        return self.p.bytes()
