#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes recordings of Intel PT that no machine here can make, always the same: tests/aux/made.py FOLDER [NAME...]

Each function below makes one recording, FOLDER/NAME.data, with its programs under FOLDER/symfs/made. The comment of each
says what a decoder must do with it. TAKES has the options that a reader needs besides --symfs.
"""
import os
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import pt_recording as pt  # noqa: E402
import tracepoints  # noqa: E402
from pt_recording import CONFIG, Code, Flow, Packets, Recording, padded, program, time_of  # noqa: E402

TSC = 0x1d562f6c000
START = time_of(TSC)
BASE = 0x401000
PAGE = 4096
MADE = {}
SWITCH_FORMAT = """name: sched_switch
ID: 317
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s prev_pid=%d ==> next_comm=%s next_pid=%d", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid
"""
SWITCH_TRACEPOINT = 317


def made(function):
    MADE[function.__name__] = function
    return function


def pages(n):
    return n + -n % PAGE


def task(r, code, path, pid=1000, name="made", time=START - 2000, cpu=0, start=True):
    """A process that runs a program"""
    r.comm(time, pid, name, exec_=True, cpu=cpu)
    r.mmap(time + 10, pid, code.base, pages(len(code.bytes)), path, 0x1000, cpu=cpu)
    if start:
        r.itrace_start(time + 20, pid, cpu=cpu)


def trace(r, f, cpu=-1, tid=1000, idx=0, flags=0):
    """The whole trace of a flow, as one piece"""
    data = f.bytes()
    r.aux(f.ns() + 10, 0, len(data), flags, pid=tid if tid > 0 else 1000, tid=tid if tid > 0 else 1000, cpu=max(cpu, 0))
    r.auxtrace(data, idx=idx, tid=tid if cpu < 0 else -1, cpu=cpu)


def user(symfs, name="prog", seed=1, base=BASE, shared=False, **options):
    code = program(base, seed, **options)
    code.elf(symfs / "made" / name, shared=shared)
    return code


@made
def basic(path, symfs):
    """One thread, with system calls"""
    code = user(symfs, syscalls=True)
    f = Flow([code])
    f.begin(BASE)
    f.run(3000)
    f.disable()
    r = Recording()
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def cycles(path, symfs):
    """CYC packets: times between MTCs, and instructions per cycle"""
    code = user(symfs)
    f = Flow([code], cyc=True, tick=2)
    f.begin(BASE)
    f.run(2000)
    f.disable()
    r = Recording(config=CONFIG | pt.CYC_BIT)
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def timeless(path, symfs):
    """No TSC, no times of records"""
    code = user(symfs, syscalls=True)
    f = Flow([code], timing=False)
    f.begin(BASE)
    f.run(1500)
    f.disable()
    bits = pt.IP | pt.TID | pt.IDENTIFIER
    r = Recording(config=CONFIG & ~(pt.TSC_BIT | pt.MTC_BIT), sample_type=bits)
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def noretcomp(path, symfs):
    """Returns that are not compressed"""
    code = user(symfs, syscalls=True)
    f = Flow([code], retcomp=False)
    f.begin(BASE)
    f.run(2000)
    f.disable()
    r = Recording(config=CONFIG | pt.NORETCOMP)
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


def two_tasks(symfs):
    return [user(symfs, "one", 11, syscalls=True), user(symfs, "two", 12, syscalls=True)]


def slices(codes, n=12, cpu=0, seed=3, branches=150, tsc=TSC):
    """A processor that runs two programs in turn. Returns the flow and its slices (task, time from, time to)."""
    f = Flow([], seed=seed, tsc=tsc)
    found, state = [], [None, None]
    for i in range(n):
        now = (i + cpu) % 2
        f.insns = codes[now].insns
        ip, f.stack = state[now] or (BASE, [])
        f.depth = 0
        begin = f.ns()
        f.tsc += 300
        f.psb()  # as where the kernel enables the trace again
        f.enable(ip)
        f.run(branches)
        state[now] = (f.ip, list(f.stack))
        f.disable(300)
        found.append((now, begin, f.ns()))
        f.tsc += 100
    return f, found


def cpu_wide(path, symfs, have, drop=None, cpus=1, tracepoint=None):
    codes = two_tasks(symfs)
    r = Recording(per_cpu=True, have_sched_switch=have, tracepoint=tracepoint)
    if tracepoint is not None:
        r.features[1] = tracepoints.blob([tracepoints.Format("sched", SWITCH_FORMAT)])
    pids = (1000, 2000)
    for i, code in enumerate(codes):
        task(r, code, "/made/" + ("one", "two")[i], pids[i], ("one", "two")[i], start=False)
    for cpu in range(cpus):
        f, found = slices(codes, cpu=cpu, seed=3 + cpu, tsc=TSC + 1000 * cpu)
        r.itrace_start(START - 1900, pids[cpu % 2], cpu=cpu)
        for i, (now, begin, end) in enumerate(found):
            if i == drop:
                continue
            pid, other = pids[now], pids[1 - now]
            if have == 2:
                r.switch(begin, pid, pid, cpu, False)
                r.switch(end, pid, pid, cpu, True)
            elif have == 3:
                r.switch_cpu_wide(begin, pid, pid, cpu, False, (other, other))
                r.switch_cpu_wide(end, pid, pid, cpu, True, (other, other))
            else:
                raw = struct.pack("<HBBi", tracepoint, 0, 0, other) + b"x".ljust(16, b"\0") + struct.pack("<iiq", other, 120, 0)
                raw += (b"one", b"two")[now].ljust(16, b"\0") + struct.pack("<ii", pid, 120)
                r.sample(begin, other, other, cpu, 0xffffffff81000000, 2, raw=raw)
        trace(r, f, cpu=cpu, tid=-1, idx=cpu)
        r.finished_round()
    r.write(path)


@made
def switches(path, symfs):
    """SWITCH records: which thread ran on a processor"""
    cpu_wide(path, symfs, 2)


@made
def switches_cpu_wide(path, symfs):
    """SWITCH_CPU_WIDE records"""
    cpu_wide(path, symfs, 3)


@made
def switches_cpus(path, symfs):
    """SWITCH_CPU_WIDE records of several processors"""
    cpu_wide(path, symfs, 3, cpus=4)


@made
def sched_switch(path, symfs):
    """Samples of sched:sched_switch, with tracing data"""
    cpu_wide(path, symfs, 1, tracepoint=SWITCH_TRACEPOINT)


@made
def switch_missing(path, symfs):
    """A lost pair of SWITCH_CPU_WIDE records: code of another thread"""
    cpu_wide(path, symfs, 3, drop=5)


@made
def sideband_missing(path, symfs):
    """No mappings: no code at any address"""
    code = user(symfs)
    f = Flow([code])
    f.begin(BASE)
    f.run(300)
    f.disable()
    r = Recording()
    r.comm(START - 2000, 1000, "made", exec_=True)
    r.itrace_start(START - 1900, 1000)
    trace(r, f)
    r.write(path)


@made
def wrong_binary(path, symfs):
    """The file is another program than the one that ran"""
    code = program(BASE, 1)
    user(symfs, "other", 77)
    f = Flow([code])
    f.begin(BASE)
    f.run(1200)
    f.disable()
    r = Recording()
    task(r, code, "/made/other")
    trace(r, f)
    r.write(path)


def pieces(f, n, each):
    """Runs a flow and returns the offsets of n pieces of `each` branches in its trace."""
    ends, times = [], []
    for _ in range(n):
        f.run(each)
        f.p.flush()
        ends.append(len(f.p.out))
        times.append(f.ns())
    return ends, times


@made
def snapshot(path, symfs):
    """Snapshots of which each begins with a part of the one before: decoded once"""
    code = user(symfs)
    f = Flow([code], psb_every=512)
    f.begin(BASE)
    ends, times = pieces(f, 6, 700)
    f.disable()
    data = f.bytes()
    r = Recording(snapshot=True)
    task(r, code, "/made/prog")
    for end, time in zip(ends, times):
        begin = max(0, end - 2 * ends[0])
        r.aux(time + 5, begin, end - begin, pt.OVERWRITE)
        r.auxtrace(data[begin:end], tid=1000, offset=begin, pad=False)
    r.write(path)


@made
def truncated(path, symfs):
    """AUX records with TRUNCATED: trace was lost between the pieces"""
    code = user(symfs)
    f = Flow([code])
    f.begin(BASE)
    ends, times = pieces(f, 4, 500)
    f.disable()
    data, r, at = f.bytes(), Recording(), 0
    task(r, code, "/made/prog")
    for i, (end, time) in enumerate(zip(ends, times)):
        if i != 2:
            r.aux(time + 5, at, end - at, pt.TRUNCATED if i == 1 else 0)
            r.auxtrace(data[at:end], tid=1000, offset=at, pad=False)
        at = end
    r.write(path)


@made
def partial(path, symfs):
    """A trace that begins in the middle of packets"""
    code = user(symfs)
    f = Flow([code], psb_every=400)
    f.begin(BASE)
    f.run(2000)
    f.disable()
    data, r = f.bytes()[313:], Recording()
    task(r, code, "/made/prog")
    r.aux(f.ns() + 5, 0, len(data), pt.PARTIAL)
    r.auxtrace(data, tid=1000)
    r.write(path)


@made
def aux_samples(path, symfs):
    """Samples with the trace before them, which overlap"""
    code = user(symfs)
    f = Flow([code], psb_every=256)
    f.begin(BASE)
    bits = pt.IP | pt.TID | pt.TIME | pt.CPU | pt.IDENTIFIER
    r = Recording(samples_of=(1, 0, bits | pt.PERIOD | pt.AUX), per_cpu=True, have_sched_switch=3)
    task(r, code, "/made/prog")
    r.switch_cpu_wide(START - 1000, 1000, 1000, 0, False, (0, 0))
    for _ in range(6):
        f.run(400)
        f.p.flush()
        data = bytes(f.p.out)
        r.sample(f.ns() + 1, 1000, 1000, 0, ip=f.ip, event=2, aux=data[max(0, len(data) - 1024):], period=100000)
    r.write(path)


@made
def others(path, symfs):
    """Samples of another event beside the trace, which tells their calls and branches"""
    code = user(symfs, syscalls=True)
    f = Flow([code])
    f.begin(BASE)
    bits = pt.IP | pt.TID | pt.TIME | pt.CPU | pt.IDENTIFIER
    r = Recording(samples_of=(1, 0, bits | pt.PERIOD))
    task(r, code, "/made/prog")
    for i in range(12):
        f.run(57)
        while i % 4 == 3 and f.stack:
            f.run(1)
        f.tsc += 100
        f.psb()
        f.tsc += 100
        r.sample(f.ns(), 1000, 1000, 0, ip=f.ip, event=2, period=100000)
        f.tsc += 100
        f.psb()
    f.disable()
    trace(r, f)
    r.write(path)


def pebs_blocks(f, i):
    """A PEBS record: each has other blocks"""
    registers = (1, [(k, f.ip if k == 1 else 0x1000 * k + i) for k in range(18)])
    blocks = [registers,
              (5, [(0, 0x7f0000 + i), (1, 0x55), (2, (i + 5) << 32 | i if i % 2 else 33 + i), (3, i % 4 << 32 | 7)]),
              (8, [(k, (0x401000, 0x401010, (i % 8) << 61 | k)[k % 3] + i) for k in range(9)]),
              (9, [(k, (0x402000, 0x402010, k)[k % 3]) for k in range(3 * (i % 4))]),
              registers]
    basic = [(1, 1 + i % 4)] + ([(0, f.ip + i % 2)] if i % 5 else []) + ([(2, f.tsc - 7 * i)] if i % 6 else [])
    return [(4, basic)] + [blocks[j] for j in range(5) if (i + j) % 3 or i % 4 == 0]


def pebs_flow(f, n, each=9):
    """PEBS records directly after branches that packets decide, so that it does not matter how far code is followed"""
    for i in range(n):
        f.run(each)
        while not f.decided:
            f.run(1)
        f.time()
        f.p.pebs(pebs_blocks(f, i), f.ip if i % 7 else None)


PEBS_BITS = pt.IP | pt.TID | pt.TIME | pt.CPU | pt.IDENTIFIER | pt.PERIOD
REGS = 0xff03ff  # all but those of segments
ALL_BRANCHES = 1 << 17 | 8  # with the index
# (type, config, bits, period, kinds of branches, registers): address, weight, data source, registers, branches; few; and the
# structured weight with call chains
PEBS_EVENTS = [(0, 0, PEBS_BITS | 8 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17 | 1 << 18, 1000, ALL_BRANCHES, REGS),
               (0, 1, PEBS_BITS, 777), (4, 0x1cd, PEBS_BITS | 1 << 5 | 1 << 11 | 1 << 24, 55, ALL_BRANCHES)]


def with_pebs(symfs, events, numbers, n=60, **options):
    code = user(symfs, syscalls=True)
    f = Flow([code], psb_every=1500)
    f.begin(BASE)
    pebs_flow(f, n)
    f.disable()
    r = Recording(outputs=events, **options)
    r.features[pt.ARCH] = struct.pack("<I", 8) + padded("x86_64")
    task(r, code, "/made/prog")
    for number, event in numbers:
        r.output_hw_id(START - 1500, number, event)
    trace(r, f)
    return r


@made
def pebs(path, symfs):
    """PEBS records of three events in the trace: AUX_OUTPUT_HW_ID tells which"""
    with_pebs(symfs, PEBS_EVENTS, [(0, pt.OUTPUT_ID), (1, pt.OUTPUT_ID + 1), (2, pt.OUTPUT_ID + 2)]).write(path)


@made
def pebs_one(path, symfs):
    """PEBS records of one event: all are its, whatever their counters are"""
    with_pebs(symfs, PEBS_EVENTS[:1], []).write(path)


@made
def pebs_alone(path, symfs):
    """PEBS records without branches: nothing else is in the trace"""
    code = user(symfs)
    f = Flow([code])
    f.psb()
    for i in range(40):
        f.tsc += 500
        f.ip = BASE + i
        f.p.tsc(f.tsc)
        f.p.pebs(pebs_blocks(f, i), f.ip)
    r = Recording(config=CONFIG & ~pt.BRANCH_BIT, outputs=PEBS_EVENTS[:2])
    r.features[pt.ARCH] = struct.pack("<I", 8) + padded("x86_64")
    task(r, code, "/made/prog")
    r.output_hw_id(START - 1500, 0, pt.OUTPUT_ID + 1)
    r.output_hw_id(START - 1490, 1, pt.OUTPUT_ID)
    trace(r, f)
    r.write(path)


@made
def transactions(path, symfs):
    """TSX: a transaction that commits, one that aborts, and branches inside"""
    def more(c, f, b):
        if b == 2 and f % 3 == 1:
            c.nop(2)
    code = program(BASE, 5, more=more)
    code.elf(symfs / "made" / "prog5")
    f = Flow([code], psb_every=4096)
    f.begin(BASE)
    for i in range(12):
        f.run(30)
        f.time()
        f.p.mode_tsx(inside=True)
        f.p.fup(f.ip)
        f.run(20)
        f.time()
        if i % 3 == 2:
            f.p.mode_tsx(abort=True)
            f.p.fup(f.ip)
            f.ip, f.stack, f.depth = BASE, [], 0
            f.p.tip(f.ip)
        else:
            f.p.mode_tsx()
            f.p.fup(f.ip)
    f.disable()
    r = Recording()
    task(r, code, "/made/prog5")
    trace(r, f)
    r.write(path)


@made
def events(path, symfs):
    """PTWRITE, MWAIT, PWRE, EXSTOP, PWRX, CBR and PSB: synthesised samples of each"""
    def more(c, f, b):
        if b == 3:
            c.ptwrite()
    code = program(BASE, 6, more=more)
    code.elf(symfs / "made" / "prog6")
    f = Flow([code], psb_every=700)
    f.begin(BASE)
    for i in range(10):
        f.run(100)
        f.time()
        f.p.cbr(8 + i)
        f.run(50)
        if i % 2 == 0:
            f.time()
            f.p.mwait(i << 4, i & 1)
            f.p.pwre(i % 5, i % 3, i % 4 == 0)
            f.p.exstop(True)
            f.p.fup(f.ip)
            f.tsc += 300
            f.p.pwrx(i % 5, i % 3, 1 << i % 4 & 0xd)
    f.disable()
    r = Recording(config=CONFIG | pt.PWR_BIT | pt.PTW_BIT | pt.FUP_ON_PTW)
    task(r, code, "/made/prog6")
    trace(r, f)
    r.write(path)


@made
def event_trace(path, symfs):
    """Event Trace of user code: page faults and interrupts with CFE and EVD, from which tracing goes on in another
    place with other interrupt flags; signals between functions; STI and CLI"""
    code = user(symfs)
    handler = program(0x501000, 9, functions=3)
    handler.elf(symfs / "made" / "handler")
    f = Flow([code, handler], psb_every=900)
    f.interrupts = True
    f.begin(BASE)
    for i in range(26):
        f.run(40)
        f.time()
        if i % 2 == 0:
            f.p.evd(0, 0x7f0000001000 + i)  # page fault address
        f.p.cfe(1, 14 if i % 2 == 0 else 32 + i)
        f.p.fup(f.ip)
        if i % 3 == 0:
            back, stack = f.ip, list(f.stack)
            f.p.tip(handler.base)
            f.ip, f.stack, f.depth = handler.base, [], 0
            f.run(10)
            f.time()
            f.p.fup(f.ip)
            f.p.tip(back)
            f.ip, f.stack, f.depth = back, stack, 0
        else:
            back = f.ip
            f.p.pgd(None)
            f.tsc += 300
            f.interrupts = i % 4 != 1
            f.ip = None
            f.enable(back)
        f.run(5)
        f.time()
        if i % 5 == 1:  # STI or CLI
            f.interrupts = not f.interrupts
            f.p.mode_exec(interrupts=f.interrupts)
            f.p.fup(f.ip)
    f.disable()
    r = Recording(config=CONFIG | pt.EVENT_BIT, cap_event_trace=1)
    task(r, code, "/made/prog")
    r.mmap(START - 1950, 1000, handler.base, PAGE, "/made/handler", 0x1000)
    trace(r, f)
    r.write(path)


@made
def overflow_syscall(path, symfs):
    """Overflows: in user code, and in the middle of a system call"""
    code = user(symfs, syscalls=True)
    f = Flow([code])
    f.begin(BASE)
    for i in range(6):
        f.run(200)
        f.time()
        f.p.flush()
        if i % 2:
            f.p.fup(f.ip)
            f.p.pgd(None)
            f.tsc += 200
            f.p.ovf()
            f.tsc += 200
            f.p.pge(f.ip)
        else:
            f.tsc += 900
            f.p.ovf()
            f.p.fup(f.ip)
        f.depth = 0
    f.disable()
    r = Recording()
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def interrupts(path, symfs):
    """Interrupts and signals: a FUP, the handler, and back"""
    code = user(symfs)
    handler = program(0x501000, 9, functions=3)
    handler.elf(symfs / "made" / "handler")
    f = Flow([code, handler])
    f.begin(BASE)
    for _ in range(20):
        f.run(60)
        back, stack = f.ip, list(f.stack)
        f.time()
        f.p.fup(f.ip)
        f.p.tip(handler.base)
        f.ip, f.stack, f.depth = handler.base, [], 0
        f.run(15)
        f.time()
        f.p.fup(f.ip)
        f.p.tip(back)
        f.ip, f.stack, f.depth = back, stack, 0
    f.disable()
    r = Recording()
    task(r, code, "/made/prog")
    r.mmap(START - 1950, 1000, handler.base, PAGE, "/made/handler", 0x1000)
    trace(r, f)
    r.write(path)


@made
def mappings(path, symfs):
    """exec, dlopen, and an mmap over a mapping: the code at an address changes"""
    codes = [user(symfs, f"map{i}", 20 + i) for i in range(3)]
    library = program(0x7f0000001000, 30)
    library.elf(symfs / "made" / "lib.so", shared=True)
    f, r = Flow([]), Recording()
    task(r, codes[0], "/made/map0")
    steps = [(codes[0], "exec"), (codes[1], "exec"), (codes[2], "over"), (library, "dlopen"), (codes[0], "over")]
    for i, (code, how) in enumerate(steps):
        if i:
            f.tsc += 2000
            name = "/made/lib.so" if how == "dlopen" else f"/made/map{codes.index(code)}"
            if how == "exec":
                r.comm(f.ns(), 1000, "other", exec_=True)
            r.mmap(f.ns() + 5, 1000, code.base, pages(len(code.bytes)), name, 0x1000)
            f.tsc += 2000
        f.insns, f.stack, f.depth = code.insns, [], 0
        f.psb()
        f.enable(code.base)
        f.run(300)
        f.disable()
    trace(r, f)
    r.write(path)


def many(path, symfs, n, each, dlopens):
    """n processes that share a program, or one process with n libraries"""
    code = user(symfs, "shared.so", 40, shared=True)
    f, r = Flow([], psb_every=4096), Recording(per_cpu=not dlopens, have_sched_switch=0 if dlopens else 3)
    if dlopens:
        r.comm(START - 2000, 1000, "many", exec_=True)
        r.itrace_start(START - 1900, 1000)
    for i in range(n):
        base = 0x10000000 + (i if dlopens else i % 7) * 0x10000
        here, pid = code.at(base), 1000 if dlopens else 1000 + i
        if dlopens:
            r.mmap(f.ns() - 1900, 1000, base, pages(len(code.bytes)), "/made/shared.so", 0x1000)
        else:
            r.comm(START - 2000, pid, f"p{i}", exec_=True)
            r.mmap(START - 1900, pid, base, pages(len(code.bytes)), "/made/shared.so", 0x1000)
            r.switch_cpu_wide(f.ns(), pid, pid, 0, False, (0, 0))
        f.insns, f.stack, f.depth = here.insns, [], 0
        f.tsc += 4000
        f.psb()
        f.enable(base)
        f.run(each)
        f.disable()
        if not dlopens:
            r.switch_cpu_wide(f.ns(), pid, pid, 0, True, (0, 0))
            f.tsc += 100
    if dlopens:
        trace(r, f)
    else:
        trace(r, f, cpu=0, tid=-1)
    r.write(path)


@made
def processes(path, symfs):
    """200 processes that share an object at several addresses"""
    many(path, symfs, 200, 20, False)


@made
def dlopens(path, symfs):
    """1,000 times dlopen"""
    many(path, symfs, 1000, 6, True)


@made
def guests(path, symfs):
    """Two guests: their kernels are traced by PIP with NR, VMCS; without their mappings nothing can be decoded there"""
    code = user(symfs, syscalls=True)
    f = Flow([code])
    f.begin(BASE)
    for i in range(4):
        f.run(100)
        f.p.fup(f.ip)
        f.p.pgd(None)
        f.tsc += 500
        f.p.vmcs(0x1000 * (1 + i % 2))
        f.p.pip(0x10000 * (1 + i % 2), True)
        f.p.mode_exec()
        f.p.pge(0xffffffff81000000)
        f.tsc += 500
        f.p.pgd(None)
        f.p.pip(0x5000)
        f.enable(f.ip)
        f.depth = 0
    f.disable()
    r = Recording(exclude_guest=False)
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def timestamps_zero(path, symfs):
    """A clock whose zero is not 0"""
    code = user(symfs)
    zero = 5_000_000_000_000
    f = Flow([code])
    f.begin(BASE)
    f.run(500)
    f.disable()
    r = Recording(zero=zero)
    task(r, code, "/made/prog", time=START + zero - 2000)
    data = f.bytes()
    r.aux(f.ns() + zero + 10, 0, len(data))
    r.auxtrace(data, tid=1000)
    r.write(path)


def threads(path, symfs, folder):
    """Traces of processors. folder: as record --threads, with a file for each of them and one for the rest"""
    code = user(symfs, syscalls=True)
    r = Recording(per_cpu=True)
    r.finished_round()
    parts, traces = [], []
    for cpu in range(3):
        pid = 1000 + cpu
        task(r, code, "/made/prog", pid, f"made{cpu}", cpu=cpu)
        f = Flow([code], seed=1 + cpu)
        f.begin(BASE)
        f.run(1500)
        f.disable()
        traces.append((f, cpu, pid))
    for f, cpu, pid in traces:
        parts.append(len(r.records))
        r.switch(START - 1000, pid, pid, cpu, False)
        data = f.bytes()
        r.aux(f.ns() + 10, 0, len(data), pid=pid, tid=pid, cpu=cpu)
        r.auxtrace(data, idx=cpu, tid=-1, cpu=cpu)
        r.switch(f.ns() + 100, pid, pid, cpu, True)
        r.finished_round()
    if folder:
        r.write_threads(path, parts)
    else:
        r.write(path)


def make(folder, names=None, functions=None):
    """Makes the recordings; yields (name, path)."""
    functions = functions or MADE
    folder = Path(folder)
    symfs = folder / "symfs"
    symfs.mkdir(parents=True, exist_ok=True)
    for name in names or functions:
        path = folder / f"{name}.data"
        functions[name](path, symfs)
        yield name, path


if __name__ == "__main__":
    for _, written in make(sys.argv[1], sys.argv[2:]):
        print(os.path.relpath(written))
