#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings written by tests/recording.py: sonde must print the same as perf 6.1.

usage: made.py SONDE          compares with made.txt; also compares the installed perf if it is 6.1
       made.py --update PERF  writes made.txt from the output of PERF

The columns of ids are 7 wide, as in perf 6.12 (5 in perf 6.1): their width is compared in id_widths(). Blank lines,
comment lines and blanks at the ends of lines are not compared. In reports other than WIDTHS neither is the width of
columns, as perf also makes room for rows that it does not show.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
RECORDINGS = os.path.join(sys.path[0], "recordings")
sys.path.append(RECORDINGS)
from generate import branch_code  # noqa: E402
from recording import (ADDR, AUXTRACE, BRANCH_INDEX, BRANCH_STACK, CALLCHAIN, CGROUP_ID, CODE_PAGE,  # noqa: E402
                       CONTEXT_KERNEL, CONTEXT_USER, CPU, DATA_PAGE, DATA_SRC, ID, IDENTIFIER, IP, KERNEL, PERIOD, PHYS,
                       READ, STACK_USER, TID, TIME, TRANSACTION, USER, USUAL, WEIGHT, WEIGHT_PARTS, Event, Recording)

PAGE_FAULTS, MINOR_FAULTS, MAJOR_FAULTS, CPU_CLOCK, DUMMY, CYCLES = (1, 2), (1, 5), (1, 6), (1, 0), (1, 9), (0, 0)
DSO_SYM = ["report", "--stdio", "-g", "none", "--no-children", "-s", "dso,sym"]
DSOS = ["report", "--stdio", "-g", "none", "--no-children", "-s", "dso"]
CPU_ROWS = ["report", "--stdio", "-g", "none", "--no-children", "-s", "cpu,dso"]
SYM_ROWS = ["report", "--stdio", "-g", "none", "--no-children", "-s", "sym,comm"]
TRANSACTION_ROWS = ["report", "--stdio", "-g", "none", "--no-children", "-s", "transaction,comm"]
WIDTHS = (CPU_ROWS, SYM_ROWS, TRANSACTION_ROWS)
CALL_STACK = 1 << 11  # of branch_sample_type
READ_ID, READ_GROUP = 4, 8  # of read_format
CASES = []
ROOT = "@root"  # an argument: the folder of the recorded programs
IDS = re.compile(r"^(.{16}) +(-?\d+)")
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "made.txt")


def case(name, make, *checks):
    """checks: arguments of the commands to compare"""
    CASES.append((name, make, checks))


def modules(path):
    """Kernel modules with names as in recordings; some are in the list of build ids."""
    folder = "/lib/modules/6.1.0/kernel/"
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    start = 0xffffffffc0000000
    names = ["net/mac80211.ko", "crypto/aes-x86_64.ko.xz", "fs/ext4.ko.gz", "fs/nfs.ko.zst", "a-b.elf", "dm.mod.ko"]
    for i, name in enumerate([folder + n for n in names] + ["[snd-hda]"]):
        r.mmap(0, -1, start, 0x1000, name, 0, KERNEL)
        r.sample(1000 + i, start + 0x10 + i, 7, mode=KERNEL, period=i + 1)
        if i in (0, 2):
            r.build_id(name, bytes([i + 1] * 20), KERNEL)
        start += 0x10000
    r.write(path)


case("modules", modules,
     DSO_SYM,
     ["script", "-F", "ip,sym,dso"],
     ["script", "-F", "ip,sym,dso", "--show-kernel-path"],
     DSOS + ["-d", "[mac80211]"],
     DSOS + ["-d", "mac80211.ko"],
     DSOS + ["-d", "/lib/modules/6.1.0/kernel/crypto/aes-x86_64.ko.xz"],
     ["script", "-F", "ip,dso", "--dsos", "[aes_x86_64]"],
     ["buildid-list"],
     ["buildid-list", "-H"])


def listed(path):
    """Modules whose entries in the list of build ids have the cpu mode kernel or user."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    for i, mode in enumerate((KERNEL, USER)):
        start, name = 0xffffffffc0000000 + 0x10000 * i, f"/lib/modules/6.1.0/kernel/fs/fs{i}.ko"
        r.mmap(0, -1, start, 0x1000, name, 0, KERNEL)
        r.sample(1000 + i, start + 0x10, 7, mode=KERNEL)
        r.build_id(name, bytes([i + 1] * 20), mode)
    r.write(path)


case("listed modules", listed,
     ["script", "-F", "ip,sym,dso"])


def addresses(path):
    """Faults at data of files, stack, heap and memory of a JIT compiler, by user and kernel code."""
    r = Recording([Event(*PAGE_FAULTS), Event(*MINOR_FAULTS), Event(*MAJOR_FAULTS), Event(*CPU_CLOCK), Event(0, 0)])
    r.comm(1, "prog", 7)
    r.mmap2(2, 7, 0x400000, 0x1000, "/nowhere/prog", 5)
    r.mmap2(2, 7, 0x500000, 0x1000, "/nowhere/prog", 3, 0x1000)
    at = 0x600000
    for name in ["//anon", "/dev/zero", "[heap]", "[stack]", "/SYSV00000000", "/memfd:x (deleted)"]:
        for prot in (3, 5):
            r.mmap2(2, 7, at, 0x1000, name, prot, at)
            r.sample(at, 0x400010, 7, addr=at + 8)
            at += 0x1000
    r.mmap(3, 7, at, 0x1000, "//anon", at, data=True)
    r.sample(at, 0x400010, 7, addr=at + 8)
    for i in range(len(r.events)):
        r.sample(at + 1 + i, 0x400020, 7, addr=0x500020, event=i)
    r.sample(at + 9, 0xffffffff81000000, 7, addr=0x500030, mode=KERNEL)
    r.sample(at + 10, 0x400030, 7, addr=0x10)
    r.write(path)


case("data addresses", addresses,
     ["script", "-F", "event,addr,sym,dso"],
     ["script", "-F", "addr,ip,sym"])


def names(path):
    """Samples before the first name of their thread, and tasks of other PID namespaces, which are all 0:0."""
    r = Recording([Event(*CPU_CLOCK)])
    for time in range(100000, 1000000, 100000):
        for tid in (0, 10, 20, 30, -1):
            r.sample(time + 50000, 0x1000, tid)
    r.comm(500000, "late", 10)
    r.fork(200000, 20, 20, 10, 10)
    r.comm(300000, "child", 20, exec_=True)
    r.fork(600000, 30, 30, 10, 10)
    r.comm(400000, "foreign", 0, exec_=True)
    r.fork(700000, 0, 0, 0, 0)
    r.comm(800000, "gone", -1)
    r.comm(800000, "forked", 20)
    r.write(path)


case("names", names,
     ["script", "-F", "comm,tid,time"],
     ["script", "-F", "comm,pid"],
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "comm"],
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "pid"],
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "comm,dso"])


def other_tasks(path):
    """Ids that several tasks have one after another, also tasks of other PID namespaces, which are all 0:0."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1000, "first", 0, exec_=True)
    r.comm(1000, "eight", 8)
    r.fork(210000, 9, 9, 8, 8)
    for time in range(100000, 900000, 50000):
        for tid in (0, 9):
            r.sample(time, 0x1000 + time, tid)
    r.comm(310000, "second-name", 0, exec_=True)
    r.fork(420000, 0, 0, 0, 0)
    r.comm(510000, "a-longer-name", 0, exec_=True)
    r.comm(260000, "nine", 9)
    r.fork(520000, 9, 9, 8, 8)
    r.comm(620000, "nine-again", 9)
    r.write(path)


case("numbers of several tasks", other_tasks,
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "pid"],
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "pid,sym"],
     ["report", "--stdio", "-g", "none", "--no-children", "-s", "comm,dso"],
     ["script", "-F", "comm,tid,time"])


def no_cpu(path):
    """A sample with cpu -1, and one with a high number."""
    r = Recording([Event(*CPU_CLOCK)])
    for i, cpu in enumerate((0, 2**32 - 1, 1023)):
        r.sample(1000 + i, 0x400010, 7, cpu=cpu)
    r.write(path)


case("a sample of no cpu", no_cpu, ["script", "-F", "cpu,event"], CPU_ROWS, [*CPU_ROWS, "-w", "9,6"])


def no_thread(path):
    """A task that has ended has no ids: its samples have process and thread -1."""
    r = Recording([Event(*CPU_CLOCK)])
    r.sample(1, 0x1000, -1)
    r.sample(2, 0x1000, -1)
    r.write(path)


case("samples of a task without number", no_thread, ["script", "-F", "comm,time"], DSOS + ["-s", "comm"])


def with_fields(*events, traced=False):
    """One sample of each event; events: (type and config, whether samples have CPU, TIME and ADDR)."""
    def make(path):
        less = IP | TID | PERIOD | IDENTIFIER
        r = Recording([Event(*kind, sample_type=less | (TIME | ADDR | CPU if more else 0)) for kind, more in events])
        r.traced = traced
        r.comm(1, "prog", 7)
        for i, (kind, _) in enumerate(events):
            if kind != DUMMY:
                r.sample(1000 + i, 0x400010, 7, event=i, cpu=3, addr=0x99)
        r.write(path)
    return make


# The first event of a type decides which fields all events of the type show; dummy events are not considered.
ASKED = [["script", "-F", "cpu,event"], ["script", "-F", "time,event"], ["script", "-F", "addr,event"]]
USUAL_FIELDS = ["script", "-F", "-comm,-tid"]
case("an event without fields after one with them", with_fields((CPU_CLOCK, True), (PAGE_FAULTS, False)),
     *ASKED, USUAL_FIELDS)
case("an event without fields before one with them", with_fields((PAGE_FAULTS, False), (CPU_CLOCK, True)),
     *ASKED, USUAL_FIELDS)
case("an event without fields of another type", with_fields((CYCLES, True), (PAGE_FAULTS, False)),
     *ASKED, ["script", "-F", "hw:cpu,event", "-F", "sw:event"], USUAL_FIELDS)
case("a dummy without fields", with_fields((CPU_CLOCK, True), (DUMMY, False)), *ASKED, USUAL_FIELDS)
case("a dummy without fields first", with_fields((DUMMY, False), (CPU_CLOCK, True)), *ASKED, USUAL_FIELDS)
case("a dummy alone of its type without fields", with_fields((CYCLES, True), (DUMMY, False)), *ASKED, USUAL_FIELDS)
# With a hardware trace, some fields may be asked for although samples do not have them.
case("a trace, and an event without fields", with_fields((CYCLES, False), traced=True),
     *(["script", "-F", "event," + field] for field in (
         "cpu", "time", "addr", "data_src", "weight", "ins_lat", "iregs", "uregs", "phys_addr", "data_page_size")),
     USUAL_FIELDS)


def cgroups(path):
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    r.cgroup(5_000_000, 1, "/")
    r.cgroup(6_000_000, 2**40, "/system.slice/a b")
    r.sample(7_000_000, 0x400010, 7)
    r.write(path)


case("control groups", cgroups, ["script", "-F", "comm,tid,time", "--show-cgroup-events"])


def switches(path):
    """Rounds with switches newer than all samples of the round, and one switch older than rounds allow."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    for number in range(4):
        for i in range(17000):  # a round that is not joined with the next one
            r.sample((number + 1) * 1_000_000_000 + i * 1000, 0x400010, 7, cpu=3)
        r.switch(number * 1_000_000_000 + 1_500_000_000, 7)
        r.switch(number * 1_000_000_000 + 1_600_000_000, 7, out=True)
        if number == 3:
            r.switch(1_700_000_000, 7)
        r.finished_round()
    r.write(path)


case("switches at the ends of rounds", switches, ["script", "-F", "comm,tid,time", "--tid", "99", "--show-switch-events"])


def cpu_counts(path, by=0):
    """Counts of three intervals on two cpus; one event ran for part of the time."""
    r = Recording([Event(1, 3, flags=1), Event(1, 0)])
    r.thread_map((-1, ""))
    r.cpu_map(0, 2)
    r.stat_config(by)
    for i in range(1, 4):
        for cpu in (2, 0):
            r.stat(1, cpu, 0, i * 2**40 + cpu)
            r.stat(0, cpu, 0, i * 100 + cpu, 1000 * i, (900 + cpu) * i)
        r.stat_round(i * 10_000_000, i == 3)
    r.write(path)


def address_zero(path):
    """A column of names without a symbol has room for an address with 0x, which the address 0 does not have."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    r.sample(1000, 0, 7)
    r.write(path)


case("a sample at address 0", address_zero, SYM_ROWS)


def one_transaction(value):
    def make(path):
        r = Recording([Event(*CPU_CLOCK, sample_type=USUAL | TRANSACTION)])
        r.comm(1, "prog", 7)
        r.sample(1000, 0x400010, 7, transaction=value)
        r.write(path)
    return make


for flags in (0, 1, 0xff):
    case(f"the width of the transaction {flags}", one_transaction(flags), TRANSACTION_ROWS)


def all_counts(path):
    cpu_counts(path, 1)


case("counts of cpus", cpu_counts, ["script"])
case("counts of cpus, added up", all_counts, ["script"])


def thread_counts(path):
    r = Recording([Event(1, 3, flags=1), Event(1, 0)])
    r.thread_map((101, "one"), (1000102, "two"))
    r.cpu_map(-1)
    r.stat_config(5)
    for event in (0, 1):
        for thread in (1, 0):
            r.stat(event, -1, thread, 10 * event + thread)
    r.stat_round(2**41, True)
    r.write(path)


case("counts of threads", thread_counts, ["script"])


def command(tool, arguments, path):
    words = [os.path.join(RECORDINGS, "root") if word == ROOT else word for word in arguments]
    done = subprocess.run([tool] + words + ["-i", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return "refused\n"
    lines = [line.rstrip() for line in done.stdout.decode(errors="replace").split("\n")]
    if "comm,tid,time" in arguments or "comm,pid" in arguments:
        lines = [IDS.sub(r"\1 \2", line) for line in lines]
    if arguments[0] == "report" and all(arguments[:len(words)] != words for words in WIDTHS):
        lines = [" ".join(line.split()) for line in lines]
    return "".join(line + "\n" for line in lines if line and not line.startswith("#"))


def perf_6_1():
    perf = shutil.which("perf")
    if perf is None:
        return None
    version = subprocess.run([perf, "--version"], stdout=subprocess.PIPE, check=False).stdout
    return perf if version.startswith(b"perf version 6.1.") else None


def results(tool):
    """Yields (title, text) of all checks."""
    for name, make, checks in CASES:
        path = os.path.join(os.environ["HOME"], "perf.data")
        make(path)
        for arguments in checks:
            yield f"{name}: {' '.join(arguments)}", command(tool, arguments, path)


def expectations():
    found, title = {}, None
    with open(EXPECTED, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("=== "):
                title = line[4:].rstrip("\n")
                found[title] = ""
            else:
                found[title] += line
    return found


def update(perf):
    with open(EXPECTED, "w", encoding="utf-8") as out:
        for title, text in results(perf):
            out.write(f"=== {title}\n{text}")


def compare(sonde):
    n, expected, perf = 0, expectations(), perf_6_1()
    for label, tool in (("sonde", sonde), ("perf", perf)):
        if tool is None:
            n += 1
            print(f"ok {n} - perf prints the same # SKIP there is no perf 6.1")
            continue
        for title, text in results(tool):
            n += 1
            good = text == expected.get(title)
            print(f"{'' if good else 'not '}ok {n} - {label}, {title}")
            if not good:
                print("".join(f"# {line}\n" for line in text.split("\n")), end="")
    n = not_shown(n, sonde)
    n = differences(n, sonde, perf)
    n = id_widths(n, sonde, 7)
    n = id_widths(n, perf, 5) if perf is not None else n
    n = rounded_samples(n, sonde)
    n = rounded_samples(n, perf) if perf is not None else n
    print(f"1..{n}")


def stacks(path, flags=1 << 22):
    """Chains without user part, which is in copies of the stack (exclude_callchain_user)."""
    r = Recording([Event(*CPU_CLOCK, sample_type=USUAL | CALLCHAIN | STACK_USER, flags=flags)])
    r.comm(1, "prog", 7)
    r.sample(1000, 0x400010, 7)
    r.sample(2000, 0xffffffff81000010, 7, mode=KERNEL, chain=(2**64 - 128, 0xffffffff81000010))
    r.write(path)


def whole_chains(path):
    """Copies of the stack, and chains with user part."""
    stacks(path, 0)


def tracepoints(path):
    r = Recording([Event(2, 99), Event(2, 98)])
    r.comm(1, "prog", 7)
    r.sample(1000, 0x400010, 7)
    r.sample(2000, 0x400010, 7, event=1)
    r.write(path)


def trace(path):
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    r.sample(1000, 0x400010, 7)
    r.sample(2000, 0x400010, 7)
    r.record(AUXTRACE, 0, bytes(40))
    r.write(path)


STACKS = ("Warning: 2 samples have a copy of the user stack (--call-graph dwarf), but not the stack pointer and program "
          "counter of x86-64 or aarch64 code to unwind it: callers in user code are missing; to see them try 'perf script'\n")
FIELDS = ("Warning: 2 samples of tracepoints have no text: the recording does not contain the formats of their "
          "fields\n")
TRACES = ("Warning: traces of this kind are not decoded into samples, which are missing: only Intel PT is; to see them "
          "use 'perf script'\n")


def vdso_build_id():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        start, end = (int(x, 16) for x in next(m for m in maps if "[vdso]" in m).split()[0].split("-"))
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(start)
        return re.search(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", memory.read(end - start), re.S)[1]


def vdso(path):
    """Samples at all addresses of this machine's [vdso], with its build id."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    r.mmap2(2, 7, 0x10000, 0x2000, "[vdso]", 5)
    for at in range(0x10000, 0x12000, 16):
        r.sample(1000000 + at, at, 7)
    r.build_id("[vdso]", vdso_build_id())
    r.write(path)


def indexed_trace(path):
    """An index of hardware traces in the header, without a trace."""
    r = Recording([Event(*CPU_CLOCK)])
    r.traced = True
    r.sample(1000, 0x400010, 7)
    r.write(path)


def exited(path):
    """A sample of a task that has no id any more."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(0, "prog", 7)
    r.sample(1000, 0x400010, 7)
    r.sample(2000, 0x400010, 7, tid=-1)
    r.write(path)


def ended(path):
    """Samples of threads of two processes that have no id any more."""
    r = Recording([Event(*CPU_CLOCK)])
    for pid in (7, 8):
        r.comm(0, f"prog{pid}", pid)
        r.mmap(0, pid, 0x400000, 0x1000, "/bin/a-program")
    for time, pid, tid in ((1000, 7, -1), (2000, 8, -1), (3000, 8, 8)):
        r.sample(time, 0x400010, pid, tid=tid)
    r.write(path)


def one_place(path):
    r = Recording([Event(*CPU_CLOCK)])
    r.mmap(0, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
    r.sample(1000, 0xffffffff81000010, 7, mode=KERNEL)
    r.write(path)


def late(path):
    """A sample that was read after two rounds of later ones."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(0, "prog", 7)
    for time in (3000, 4000, 5000, 2000, 6000):
        r.sample(time, 0x400010, 7)
        r.finished_round()
    r.write(path)


def run(tool, arguments):
    path = os.path.join(os.environ["HOME"], "perf.data")
    done = subprocess.run([tool] + arguments + ["-i", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def dumped(status, text):
    return (status == 0 and len(re.findall(r"^0x[0-9a-f]+ [A-Z0-9]+ size=", text, re.M)) == 53 and
            len(re.findall(r"^    0000  ", text, re.M)) == 53)


def dumped_by_perf(status, text):
    return status == 0 and len(re.findall(r"PERF_RECORD_(SAMPLE|COMM|FORK)", text)) == 53


def differences(n, sonde, perf):
    """Rows of doc/differences.md: checks Sonde, and perf 6.1 if it is installed."""
    path = os.path.join(os.environ["HOME"], "perf.data")
    checks = [
        ("functions of [vdso] have names", vdso, ["script", "-F", "ip,sym"],
         lambda status, text: status == 0 and re.search(r"__vdso_\w+", text) is not None,
         lambda status, text: status == 0 and "__vdso_" not in text and "[unknown]" in text),
        ("script -D has a line for each record, and its bytes", names, ["script", "-D"], dumped, dumped_by_perf),
        ("report -D has a line for each record, and its bytes", names, ["report", "-D"], dumped, dumped_by_perf),
        ("--stats says that what is decoded from traces is not counted", indexed_trace, ["report", "--stats"],
         *2 * [lambda status, text: status == 0 and text.startswith(
             "\nAggregated stats: (excludes AUX area (e.g. instruction trace) decoded / synthesized events)\n")]),
        ("--tasks leaves out tasks without an id", exited, ["report", "--tasks"],
         *2 * [lambda status, text: status == 0 and [line.split()[0] for line in text.splitlines()] == ["#", "0", "7"]]),
        ("-F +dsoff shows the offset in the object", modules, ["script", "-F", "+dsoff"],
         lambda status, text: status == 0 and "([aes_x86_64]+0x11)" in text,
         lambda status, text: status != 0 and text == ""),
        ("--time in percent without times in the header", names, ["script", "--time", "0%-50%", "-F", "tid"],
         lambda status, text: status == 0 and 20 <= len(text.split()) <= 25,
         lambda status, text: status == 234 and text == ""),
        ("a caller counts once in rows by cgroup", twice, ["report", "--stdio", "-g", "none", "-s", "cgroup"],
         lambda status, text: status == 0 and re.search(r"^ +100\.00% +100\.00% +/a$", text, re.M) is not None,
         lambda status, text: status == 0 and re.search(r"^ +[2-9]\d\d\.00% +100\.00% +/a$", text, re.M) is not None),
        ("a caller counts once in rows by socket", twice, ["report", "--stdio", "-g", "none", "-s", "socket"],
         lambda status, text: status == 0 and re.search(r"^ +100\.00% +100\.00% +-001$", text, re.M) is not None,
         lambda status, text: status == 0 and re.search(r"^ +[2-9]\d\d\.00% +100\.00% +-001$", text, re.M) is not None),
        *(("an event for each branch shows targets by default", each_branch(USUAL | ADDR | more),
           ["script", "--symfs", os.path.join(RECORDINGS, "root")],
           *2 * [lambda status, text: re.findall(r" => +([0-9a-f]+ \S+)", text) == [
               "400196 inner+0xb", "4001b1 outer+0x0", "700000 [unknown]", "0 [unknown]"]]) for more in (0, CALLCHAIN)),
        ("-F -sym prints no names", names, ["script", "-F", "-sym,-dso,-comm,-cpu,-tid,-time,-period,-event"],
         lambda status, text: status == 0 and re.fullmatch(r"( +[0-9a-f]+ *\n)+", text) is not None,
         lambda status, text: status == 255 and text == ""),
        ("-F trace: without tracepoints", names, ["script", "-F", "tid", "-F", "trace:"],
         lambda status, text: status == 0 and text.strip() != "",
         lambda status, text: status == 255 and text == ""),
        ("-F other:", names, ["script", "-F", "tid", "-F", "other:comm"],
         lambda status, text: status == 0 and text.strip() != "",
         lambda status, text: status == 129 and text == ""),
        *(("metrics of " + what, group(events, *rows), ["script", "-F", "metric"],
           lambda status, text, want=want: [" ".join(line.split()) for line in text.split("\n") if line] == want,
           lambda status, text, want=want: [" ".join(line.split()) for line in text.split("\n") if line] not in ([], want))
          for what, events, rows, want in (
              ("more than two events", THREE, [(1000, 500, 10)], ["metric: 0.50 insn per cycle"]),
              ("counts that are zero", INSTRUCTIONS, [(1000, 0), (1000, 0), (1000, 700), (50, 10)],
               ["metric: 0.70 insn per cycle", "metric: 0.20 insn per cycle"]),
              ("clocks", {"cpu-clock": CPU_CLOCK, "cycles": CYCLES, "page-faults": PAGE_FAULTS}, [(1000000, 2500000, 5)],
               ["metric: 2.500 GHz", "metric: 5.000 K/sec"]))),
        ("--stitch-lbr without the size of the branch stack", deep_stacks(8, header=False), ["script", "-F", "ip", "--stitch-lbr"],
         lambda status, text: (status, text) == (255, ""), lambda status, text: status == 0 and text != ""),
        ("--stitch-lbr without LBR call stacks", branches, ["report", "--stdio", "--stitch-lbr"],
         lambda status, text: (status, text) == (255, ""), lambda status, text: status == 0 and text != ""),
        ("--stitch-lbr where only one call is the same", one_call_left, ["script", "-F", "ip", *STITCHED],
         lambda status, text: len(text.split()) == 9 + 16, lambda status, text: len(text.split()) == 9 + 9),
        ("metrics of an event before its base", group({"instructions": (0, 1), "cycles": CYCLES}, (1000, 500)), ["script", "-F", "metric"],
         lambda status, text: text.split() == ["metric:", "2.00", "insn", "per", "cycle"],
         lambda status, text: text.split() == []),
        ("--max-stack limits LBR call stacks too", call_stacks("/bin/prog", 0x400000, 0x400000),
         ["script", "--kallsyms=/dev/null", "-F", "ip", "--max-stack", "1"],
         lambda status, text: len(text.split()) == 7,
         lambda status, text: len(text.split()) > 8),
        ("LBR call stacks, kernel functions as callers", call_stacks("/bin/prog", 0x400000),
         ["report", "--stdio", "-g", "none", "-s", "dso", "--kallsyms=/dev/null"],
         lambda status, text: "[unknown]" not in text and re.search(r"^ +38\.\d\d% +38\.\d\d% +\[kernel", text, re.M) is not None,
         lambda status, text: "[unknown]" in text),
        ("an empty branch stack is no LBR call stack",
         lambda path: call_stacks("/bin/prog", 0x400000, 0x400000)(path, empty=True),
         ["script", "--kallsyms=/dev/null", "-F", "ip"],
         lambda status, text: text.split()[:2] == ["40019b", "400900"],
         lambda status, text: text.split()[:1] == ["40019b"] and text.split()[1:2] != ["400900"]),
        ("names of threads of guests are those of the host", guest_threads, ["script", "-F", "comm,machine_pid"],
         lambda status, text: text.split() == ["host", "VM:", "9", "host"],
         lambda status, text: text.split() == ["host", "VM:", "9", ":7"]),
        ("script shows samples of guests", guests, ["script", "-F", "misc"],
         lambda status, text: text.split() == ["K", "U", "H", "G", "g"],
         lambda status, text: len(text.split()) == 3),
        ("-F retire_lat prints the third part of the weight", latencies, ["script", "-F", "weight,ins_lat,retire_lat"],
         lambda status, text: [line.split() for line in text.splitlines()] == [[str(n + i) for n in (5, 30, 70)] for i in range(3)],
         lambda status, text: status != 0 and text == ""),
        ("-F brstackinsn, bytes that are no instruction", no_instruction,
         ["script", "-F", "brstackinsn", "--symfs", os.path.join(RECORDINGS, "root")],
         lambda status, text: "\t00000000004002d0\t<bad>\n" in text,
         lambda status, text: "\t00000000004002d0\tinsn: 06 \n" in text),
        ("a kind of branch that is not defined", undefined_branch, ["script", "-F", "brstack"],
         lambda status, text: text == " 0x400200/0x400300/P/-/-/0/ \n",
         lambda status, text: text == " 0x400200/0x400300/P/-/-/0/(null) \n"),
        ("levels of newer bits have rows of their own", memory_levels, MEMORY_ROWS + ["-s", "mem"],
         lambda status, text: re.findall(r"^ +[\d.]+% +(\d) +(\S.*?) *$", text, re.M) == [
             ("2", "PMEM"), ("1", "Remote CXL"), ("1", "CXL")],
         lambda status, text: re.findall(r"^ +[\d.]+% +(\d) +(\S.*?) *$", text, re.M) == [("4", "PMEM")]),
        ("lines with a name", named_line, MEMORY_ROWS + ["-s", "dcacheline"],
         lambda status, text: re.search(r"^ +100.00% +1 +\[\.\] 0x0000000000001000 *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +1 +\[\.\] watched\+0xf{8}[0-9a-f]{8} *$", text, re.M) is not None),
        ("lines of files without inode", unnamed_inode, MEMORY_ROWS + ["-s", "dcacheline"],
         lambda status, text: re.findall(r"^ +([\d.]+)% +(\d) +\[", text, re.M) == [("100.00", "2")],
         lambda status, text: re.findall(r"^ +([\d.]+)% +(\d) +\[", text, re.M) == 2 * [("50.00", "1")]),
        ("kernel data after the kernel's code", kernel_data, MEMORY_ROWS + ["-s", "dso_daddr"],
         lambda status, text: re.search(r"^ +100.00% +1 +\[kernel.kallsyms\]$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +1 +\[unknown\] *$", text, re.M) is not None),
        ("-s p_stage_cyc has a column", memory, ["report", "--stdio", "-n", "-s", "local_p_stage_cyc"],
         lambda status, text: re.findall(r"^ +[\d.]+% +(\d+) +(\d) *$", text, re.M) == [("36", "0"), ("30", "1")],
         lambda status, text: re.search(r"^ +100.00% +66 *$", text, re.M) is not None),
        ("--total-cycles prints titles if no cycles were recorded", flagged_branches, ["report", "--stdio", "--total-cycles"],
         *2 * [lambda status, text: status == 0 and "->" not in text and
               ["#", "Samples:", "40"] in [line.split()[:3] for line in text.split("\n")] and "  [Program Block Range]  " in text]),
        ("--total-cycles sums the cycles of blocks", blocks, ["report", "--stdio", "--total-cycles"],
         lambda status, text: status == 0 and [line.split() for line in text.split("\n") if "->" in line] == [
             ["66.67%", "180", "80.00%", "60", "[0x200", "->", "0x220]", "prog"],
             ["33.33%", "90", "20.00%", "15", "[0x100", "->", "0x120]", "prog"]],
         lambda status, text: status == -11 and text == ""),
        ("rows of branches by a flag are sums", flagged_branches, ["report", "--stdio", "-n", "-s", "mispredict"],
         lambda status, text: re.findall(r"^ +50.00% +20 +([YN]) *$", text, re.M) == ["N", "Y"],
         lambda status, text: re.search(r"^ +50.00% +20 +[YN] *$", text, re.M) is None and "N" in text),
        ("branches that nobody predicted are not mispredicted", unflagged_branches,
         ["report", "--stdio", "-n", "-s", "mispredict"],
         lambda status, text: re.search(r"^ +100.00% +4 +N *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +[\d.]+% +\d +N/A *$", text, re.M) is not None),
        ("cycles of branches above 32767", long_branch, ["report", "--stdio", "-n", "-s", "cycles"],
         lambda status, text: re.search(r"^ +100.00% +1 +42141 *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +1 +-23395 *$", text, re.M) is not None),
        ("sizes of mappings from 2 GiB", large_mapping, ["report", "--stdio", "-s", "dso_size"],
         lambda status, text: re.search(r"^ +100.00% +435041730560 *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +1250033664 *$", text, re.M) is not None),
        ("size of the kernel's mapping", kernel_mapping, ["report", "--stdio", "--kallsyms=/dev/null", "-s", "dso_size"],
         lambda status, text: re.search(r"^ +100.00% +1056964608 *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +16777216 *$", text, re.M) is not None),
        ("addresses of callers", twice_mapped, ["report", "--stdio", "-g", "none", "-s", "addr"],
         lambda status, text: re.findall(r"% +(0x\w+) *$", text, re.M) == ["0x400010", "0x400020"],
         lambda status, text: "0x800020" in text.split()),
        ("source lines of branches to no mapping", branch_nowhere, ["report", "--stdio", "-s", "srcline_to,srcline_from"],
         lambda status, text: re.search(r"^ +100.00% +\?\?:0 +\?\?:0 *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% .*\(null\)", text, re.M) is not None),
        ("threads that have ended are part of their process", ended, ["script", "--ns", "--pid", "8", "-F", "time"],
         lambda status, text: text.split() == ["0.000002000:", "0.000003000:"],
         lambda status, text: text.split() == ["0.000003000:"]),
        ("the source line of a single row is whole", one_place, ["report", "--stdio", "--kallsyms=/dev/null", "-s", "srcline"],
         lambda status, text: re.search(r"^ +100.00% +\[kernel.kallsyms\]\[ffffffff81000010\] *$", text, re.M) is not None,
         lambda status, text: re.search(r"^ +100.00% +\[kernel.kal *$", text, re.M) is not None),
        ("samples that came late are in order of time", late, ["script", "--ns", "-F", "time"],
         lambda status, text: text.split() == [f"0.00000{n}000:" for n in (2, 3, 4, 5, 6)],
         lambda status, text: text.split() == [f"0.00000{n}000:" for n in (3, 4, 2, 5, 6)]),
        ("rows by event", keys, ["report", "--stdio", "-s", "type"],
         lambda status, text: status == 0 and "100.00%  cpu-clock" in text,
         lambda status, text: text == ""),
    ]
    for name, make, arguments, own, perfs in checks:
        make(path)
        for tool, test in ((sonde, own), (perf, perfs)):
            if tool is None:
                continue
            status, text = run(tool, arguments)
            n += 1
            good = test(status, text)
            print(f"{'' if good else 'not '}ok {n} - difference: {name}: {os.path.basename(tool)}")
            if not good:
                print(f"# status {status}\n" + "\n".join("# " + line for line in text.split("\n")[:20]))
    return n


def not_shown(n, sonde):
    """One warning for data that this version cannot show; samples without their chain show an address."""
    path = os.path.join(os.environ["HOME"], "perf.data")
    frames = ["\t          400010 [unknown]", "\tffffffff81000010 [unknown]"]
    for make, arguments, lines, warnings in (
            (stacks, ["-F", "ip,sym"], frames, STACKS), (stacks, ["-G", "-F", "tid"], None, ""),
            (stacks, ["-F", "comm,tid"], None, ""), (whole_chains, ["-F", "ip,sym"], None, ""),
            (tracepoints, [], None, FIELDS),
            (tracepoints, ["-F", "comm"], ["prog".rjust(16) + " "] * 2, ""),
            (trace, ["-F", "comm"], ["prog".rjust(16) + " "] * 2, TRACES)):
        make(path)
        done = subprocess.run([sonde, "script", "-i", path] + arguments, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        got = [line for line in done.stdout.decode().split("\n") if line]
        good = done.returncode == 0 and done.stderr.decode() == warnings
        good = good and len(got) == 2 and (lines is None or got == lines)
        n += 1
        print(f"{'' if good else 'not '}ok {n} - {make.__name__}: script {' '.join(arguments)} "
              f"{'warns once' if warnings else 'does not warn'}")
        if not good:
            print("\n".join("# " + line for line in got + done.stderr.decode().split("\n")))
    return n


def keys(path):
    """Samples with different values of sort keys."""
    r = Recording([Event(*CPU_CLOCK, sample_type=USUAL | WEIGHT | CGROUP_ID)])
    r.sockets = [0, 1, 0, -1]
    r.comm(0, "prog", 7)
    r.comm(0, "other", 9)
    r.cgroup(0, 100, "/a/b")
    r.cgroup(0, 50, "/z")
    for i, (pid, weight, group, cpu, period) in enumerate([
            (7, 5, 100, 0, 1), (7, 300, 50, 1, 2), (9, 5, 50, 2, 3), (9, 300, 7, 0, 4), (7, 11, 100, 0, 5), (7, 5, 100, 3, 6),
            (9, 7, 0, 1, 7), (7, 1 << 33, 50, 1, 8), (7, 1 << 33, 50, 1, 8), (9, 5, 0, 2, 4)]):
        r.sample(1_000_000_000 + i * 60_000_000, 0x1000 + i % 3, pid, cpu=cpu, period=period, weight=weight, cgroup=group)
    r.write(path)


def twice(path):
    """A chain of three frames in one control group."""
    r = Recording([Event(*CPU_CLOCK, sample_type=USUAL | CALLCHAIN | CGROUP_ID)])
    r.comm(0, "prog", 7)
    r.cgroup(0, 100, "/a")
    r.sample(1000, 0x1000, 7, chain=[CONTEXT_USER, 0x1000, 0x2000, 0x3000], cgroup=100)
    r.write(path)


ROWS = ["report", "--stdio", "-n", "--no-children", "-g", "none", "-s"]
case("keys of rows", keys,
     ROWS + ["socket"], ROWS + ["socket,cpu"], ROWS + ["comm,socket"],
     ROWS + ["time"], ROWS + ["time,comm"], ROWS + ["time", "--time-quantum", "50ms"],
     ROWS + ["time,sym", "--time-quantum", "1s"], ROWS + ["time,weight", "-w", "0,0,4,3"],
     ROWS + ["cgroup"], ROWS + ["cgroup,comm"], ROWS + ["dso,cgroup", "-w", "0,0,4,3"],
     ROWS + ["weight"], ROWS + ["local_weight"], ROWS + ["weight,local_weight,comm", "-t", ";"],
     ROWS + ["sym,weight"], ["report", "--stdio", "-F", "time,overhead,weight,sample"])


PREDICTED, NEW_KIND = 2, 15 << 20 | 2


def branches(path):
    """Branches of one event, to kernel code and to nothing; the other event has none."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK), Event(*CPU_CLOCK)])
    r.mmap(0, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
    r.comm(0, "prog", 7)
    r.mmap(0, 7, 0x400000, 0x10000, "/opt/prog")
    for i in range(4):
        r.sample(1000 + i, 0x400100, 7, branches=[(0x400200, 0x400300 + i, PREDICTED | i << 4),
                                                  (0x400310, 0xffffffff81000010, i), (0x10, 0, i << 2)][:i])
        r.sample(2000 + i, 0xffffffff81000020, 7, event=1 if i % 2 else 0, mode=KERNEL,
                 branches=[(0xffffffff81000000 + i, 0x400400, i << 20)])
    r.write(path)


def latencies(path):
    """Weights of three parts: of the sample, of the instruction, and until it retired."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS)])
    for i in range(3):
        r.sample(1000 + i, 0x400100, 7, weight=(70 + i) << 48 | (30 + i) << 32 | 5 + i)
    r.write(path)


def guests(path):
    """Samples of the kernel, a program, a hypervisor, and of a guest's kernel and program."""
    r = Recording([Event(*CPU_CLOCK)])
    r.comm(1, "prog", 7)
    for i, mode in enumerate((1, 2, 3, 4, 5)):
        r.sample(1000 + i, 0x400100, 7, mode=mode)
    r.write(path)


def guest_ids(path):
    """Events of the host and of processors of two guests; the guest of an event changes."""
    kind = USUAL & ~ID | IDENTIFIER
    r = Recording([Event(*CPU_CLOCK, sample_type=kind) for _ in range(4)])
    r.names = ["host", "first", "second", "unknown"]
    r.id_index((1, 0, 0, -1), (2, 0, 9, 1), (3, 0, 4242, 12))
    r.comm(1, "host", 7)
    r.comm(2, "guest", 8, event=2)
    for i, event in enumerate((0, 1, 2, 3, 2, 1, 0)):
        r.sample(1000 + i, 0x400100, 8 if event else 7, event=event)
    r.id_index((2, 0, 12345678, 1234), (4, 0, 99999, -1))
    r.sample(2000, 0x400100, 7, event=1)
    r.write(path)


def guest_threads(path):
    """A thread of the host and one of a guest with the same number."""
    r = Recording([Event(*CPU_CLOCK, sample_type=USUAL & ~ID | IDENTIFIER) for _ in range(2)])
    r.names = ["host", "guest"]
    r.id_index((1, 0, 0, -1), (2, 0, 9, 1))
    r.comm(1, "host", 7)
    r.sample(1000, 0x400100, 7)
    r.sample(1001, 0x400100, 7, event=1, mode=5)
    r.write(path)


GUEST_FIELDS = ["machine_pid", "vcpu", "comm,vcpu,machine_pid", "machine_pid,ip", "vcpu,cpu,time,event", "-tid,+machine_pid",
                "-tid,+vcpu,+machine_pid"]
case("guests", guest_ids, *(["script", "-F", fields] for fields in GUEST_FIELDS),
     ["script", "--show-task-events", "-F", "comm,machine_pid,vcpu"])


def no_instruction(path):
    """A branch to data between functions, where the byte 06 is no instruction of a 64-bit processor."""
    branch_code(path, [(0x4002d8, [(0x4001ae, 0x4002d0)])])


def undefined_branch(path):
    """A branch of a kind that the kernel does not define."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.sample(1000, 0x400100, 7, branches=[(0x400200, 0x400300, NEW_KIND | 9 << 26)])
    r.write(path)


def branch_rows(path):
    """Branches from and to code of several objects in several processes, with all flags; and with equal counts."""
    kernel, module, library = 0xffffffff81000000, 0xffffffffa0000000, 0x7f0000100000
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    r.mmap(0, -1, kernel, 0x1000000, "[kernel.kallsyms]_text", kernel, KERNEL)
    r.mmap(0, -1, module, 0x10000, "/lib/modules/6.1/kernel/mac80211.ko", 0, KERNEL)
    for i, (pid, name) in enumerate(((7, "prog"), (9, "zeta"), (8, "alpha"))):
        r.comm(0, name, pid)
        for start, file in ((0x400000, "prog"), (0x500000, "b.so"), (0x600000, "zz"), (library + i * 0x100000, "lib.so")):
            r.mmap(0, pid, start, 0x10000, "/opt/" + file)
    places = [0x400010, 0x500010, 0x600010, kernel + 0x10, module + 0x10, 0x700000, 0, 0xffff000000000000, 0x7fffffffffff,
              0x400020]
    time = 1000
    for i, pid in enumerate((7, 8, 9)):
        for mode, ip in ((USER, 0x400100), (KERNEL, kernel + 0x20)):
            for k, place in enumerate([*places, library + 0x100 + i * 0x100000]):
                time += 1000
                r.sample(time, ip, pid, mode=mode, cpu=k, branches=[
                    (place, places[(k + 5) % 10], PREDICTED | k % 4 << 4),
                    (places[-k % 10], 0x400010, k % 4 | k % 3 << 2 | 50000 // (k + 1) << 4)])
    r.write(path)


def branch_kinds(path):
    """Branches of all kinds and distances."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    for kind in range(1, 23):
        flags = min(kind, 15) << 20 | max(kind - 15, 0) << 26 | PREDICTED
        for distance in (0x10, -0x10, 0x1000, 0x200000, -0x200000, 0x100000000, 0)[:7 if kind in (1, 9) else 2]:
            start = 0x40000000 + 8 * len(r.records)
            r.sample(1000 * len(r.records), 0x400100, 7, branches=[(start, start + distance, flags)])
    r.write(path)


def flagged_branches(path):
    """Branches that differ only in their flags, in an order in which perf does not find rows again."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    for i in range(40):
        r.sample(1000 + i, 0x400100, 7, branches=[(0x400200, 0x400300, i % 4)])
    r.write(path)


def unflagged_branches(path):
    """Branches of which the processor does not say whether they were predicted."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    for i in range(4):
        r.sample(1000 + i, 0x400100, 7, branches=[(0x400200, 0x400300, 0)])
    r.write(path)


def blocks(path):
    """Blocks of 10 and 20 cycles at 0x100, of 60 at 0x200; none to other code, backwards, or without cycles."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    for start, name in ((0x400000, "prog"), (0x500000, "b.so")):
        r.mmap(0, 7, start, 0x10000, "/opt/" + name)
    for i in range(3):
        r.sample(1000 + i, 0x400100, 7, branches=[
            (0x400120, 0x400100, 10 << 4), (0x400120, 0x400100, 20 << 4), (0x400220, 0x400100, 60 << 4),
            (0x400180, 0x400200, 99 << 4), (0x500100, 0x500200, 0), (0x500180, 0x500080, 99 << 4)])
    r.write(path)


def long_branch(path):
    """A branch after 42141 cycles."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    r.sample(1000, 0x400100, 7, branches=[(0x400200, 0x400300, PREDICTED | 42141 << 4)])
    r.write(path)


def data_source(lvl=0, snoop=1, lock=0, tlb=1, num=0, remote=0, snoopx=0, blk=0, hops=0):
    """A load."""
    return (2 | lvl << 5 | snoop << 19 | lock << 24 | tlb << 26 | num << 33 | remote << 37 | snoopx << 38 | blk << 40 |
            hops << 43)


def memory(path):
    """Accesses to data of the kernel, of files and of nothing, with every value of each part of the data source."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC | PHYS | DATA_PAGE | CODE_PAGE)])
    kernel = 0xffffffff81000000
    r.mmap(0, -1, kernel, 0x1000000, "[kernel.kallsyms]_text", kernel, KERNEL)
    r.mmap(0, -1, 0xffffffffa0000000, 0x10000, "/lib/modules/6.1/kernel/mac80211.ko", 0, KERNEL)
    for pid, name in ((7, "prog"), (9, "zeta"), (8, "alpha")):
        r.comm(0, name, pid)
        r.mmap(0, pid, 0x400000, 0x1000, "/opt/prog")
        r.mmap(0, pid, 0x401000, 0x1000, "//anon", data=True)
        r.mmap(0, pid, 0x500000, 0x10000, "/opt/b.so")
        r.mmap(0, pid, 0x600000, 0x10000, "[heap]", data=True)
    ips = [0x40019c, 0x4001c1, 0x500010, kernel + 0x10, 0x700000]
    places = [0x401000, 0x401008, 0x600010, 0x600050, kernel + 0x400, 0xffffffffa0000020, 0x700010, 0, 0x40018c, 0x500123,
              0xffff888000001234]
    time = 1000
    for pid in (7, 8, 9):
        for i, place in enumerate(places):
            for mode in (USER, KERNEL):
                time += 1000
                r.sample(time, ips[i % 5], pid, mode=mode, addr=place, period=1000, weight=i % 4 * 3 | i % 3 << 32 | i % 2 << 48,
                         data_src=data_source(10 if i % 2 else 36, [1, 2, 4, 8, 16][i % 5], i % 3, [1, 10, 20, 34, 64][i % 5],
                                              blk=i % 7),
                         phys=place & 0xfff000, data_page=4096 << 9 * (i % 3) if i % 4 else 0, code_page=4096 << i)
    r.write(path)


def memory_levels(path):
    """Levels that only newer bits of the data source distinguish, and several bits at once."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    for i, source in enumerate((data_source(num=14), data_source(num=9), data_source(num=14), data_source(num=9, remote=1))):
        r.sample(1000 + i, 0x400100, 7, weight=i, data_src=source)
    r.write(path)


def cache_lines(path):
    """Lines of files, of shared memory, of memory of each process, of the kernel and of nothing."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    kernel, module = 0xffffffff81000000, 0xffffffffa0000000
    r.mmap(0, -1, kernel, 0x1000000, "[kernel.kallsyms]_text", kernel, KERNEL)
    r.mmap(0, -1, module, 0x10000, "/lib/modules/6.1/kernel/mac80211.ko", 0, KERNEL)
    for pid in (7, 9, 8):
        r.comm(0, f"prog{pid}", pid)
        r.mmap2(0, pid, 0x400000, 0x10000, "/opt/prog", 5, inode=50)
        r.mmap2(0, pid, 0x600000, 0x10000, "/opt/data", 3, 0x3000, inode=51)
        r.mmap2(0, pid, 0xa00000, 0x10000, "/dev/shm/common", 3, inode=52, flags=1)
        r.mmap2(0, pid, 0xc00000, 0x10000, "//anon", 3)
        r.mmap2(0, pid, 0xe00000, 0x10000, "[stack]", 3)
    time = 0
    for pid in (7, 9, 8):
        for weight, mode, places in ((3, USER, (0x400040, 0x400050, 0x400090)), (5, USER, (0x600010, 0x60007f)), (7, USER, (0xa00010,)),
                                     (11, USER, (0x700010, 0xffff888000000000)), (13, USER, (0xc00010, 0xc00048, 0xe00010)),
                                     (17, KERNEL, (kernel + 0x400, kernel + 0x43f)), (19, KERNEL, (module + 0x20,)),
                                     (23, KERNEL, (0x400040, 0xffff888000000000))):
            for place in places:
                time += 1000
                r.sample(time, 0x400100 if mode == USER else kernel + 0x10, pid, mode=mode, addr=place, weight=weight,
                         data_src=data_source())
    r.write(path)


def named_line(path):
    """A variable with a name."""
    file = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings", "root", "mnt", "memory"))
    pid = 5000007  # no process can have it: perf looks for objects where the process sees them
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    r.mmap2(0, pid, 0x400000, 0x1000, file, 5, inode=50)
    r.mmap2(0, pid, 0x401000, 0x1000, file, 3, 0x1000, inode=50)
    r.sample(1000, 0x400190, pid, addr=0x401000, data_src=data_source())
    r.write(path)


def unnamed_inode(path):
    """A file whose mappings have no inode."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    for pid in (7, 8):
        r.mmap(0, pid, 0x400000, 0x10000, "/opt/prog")
        r.sample(1000 + pid, 0x400100, pid, addr=0x401010, data_src=data_source())
    r.write(path)


def kernel_data(path):
    """Kernel data after the kernel's code."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    r.mmap(0, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
    r.sample(1000, 0xffffffff81000010, 7, mode=KERNEL, addr=0xffffffff82c120e8, data_src=data_source())
    r.write(path)


def memory_bits(path):
    """Several bits of a part at once."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | WEIGHT_PARTS | DATA_SRC)])
    for i, (tlb, snoop, lvl) in enumerate(((58, 31, 10), (126, 6, 138), (12, 30, 4), (1, 1, 1), (12, 6, 42))):
        r.sample(1000 + i, 0x400100, 7, weight=i, data_src=data_source(lvl, snoop, 3, tlb, snoopx=snoop % 4, blk=6))
    r.write(path)


def transactions(path):
    """All flags of a transaction, alone and together, with and without a code."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | TRANSACTION)])
    r.comm(1, "prog", 7)
    values = [0, *(1 << bit for bit in range(10)), 36, 9, 82, 129, 1 | 5 << 32, 128 | 3 << 32, 511 | 255 << 32, 2**64 - 1, 0]
    for i, value in enumerate(values):
        r.sample(1000 + i, 0x400010, 7, transaction=value, period=1 + i)
    r.write(path)


def namespaces(path):
    """Threads that enter other cgroup namespaces."""
    r = Recording([Event(*CYCLES)])
    for tid in (7, 8, 9):
        r.comm(1, f"task{tid}", 7, tid)
    for time, tid, dev, inode in ((0, 7, 4, 0xeffffffb), (0, 8, 4, 0xf0000010), (3000, 7, 3, 0xf0000123), (5000, 8, 1 << 40, 1 << 36),
                                  (6000, 7, 4, 0xeffffffb), (7000, 8, 4, 0xf0000010)):
        r.namespaces(time, 7, tid, dev, inode)
    for time in range(1000, 9000, 1000):
        for tid in (7, 8, 9):
            r.sample(time + 10, 0x400010, 7, tid)
    r.write(path)


def places(path):
    """Chains through mappings of several sizes, of one object too, and of no mapping."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN)])
    r.comm(1, "prog", 7)
    r.mmap2(2, 7, 0x400000, 0x3000, "/nowhere/prog", 5)
    r.mmap2(2, 7, 0x500000, 0x1000, "/nowhere/prog", 5, 0x3000)
    r.mmap2(2, 7, 0x600000, 0x3000, "/nowhere/lib", 5)
    for i, ip in enumerate([0x400010, 0x400020, 0x500010, 0x600010, 0x10, 0x400010, 0xffffffff81000010]):
        r.sample(1000 + i, ip, 7, chain=[CONTEXT_USER, ip, 0x600020, 0x500030], period=1 + i)
    r.write(path)


def large_mapping(path):
    r = Recording([Event(*CYCLES)])
    r.comm(1, "prog", 7)
    r.mmap2(2, 7, 0x7000000000, 0x654a820000, "/nowhere/huge", 5)
    r.sample(1000, 0x7000000010, 7)
    r.write(path)


def kernel_mapping(path):
    r = Recording([Event(*CYCLES)])
    r.comm(1, "prog", 7)
    r.mmap(2, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
    r.sample(1000, 0xffffffff81000010, 7, mode=KERNEL)
    r.write(path)


def twice_mapped(path):
    """A caller in a mapping that does not begin at 0."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN)])
    r.comm(1, "prog", 7)
    r.mmap2(2, 7, 0x400000, 0x3000, "/nowhere/prog", 5)
    r.sample(1000, 0x400010, 7, chain=[CONTEXT_USER, 0x400010, 0x400020])
    r.write(path)


def branch_nowhere(path):
    r = Recording([Event(*CYCLES, sample_type=USUAL | BRANCH_STACK)])
    r.branches = True
    r.sample(1000, 0x400100, 7, branches=[(0x400200, 0x400300, PREDICTED)])
    r.write(path)


def memory_chains(path):
    """Accesses with call chains, by weight."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN | WEIGHT | DATA_SRC)])
    for i in range(20):
        ip = 0x400100 + i % 3 * 16
        r.sample(1000 + i, ip, 7, chain=[CONTEXT_USER, ip, 0x400200, 0x400300 + i % 2], weight=i % 3 * 4, data_src=data_source())
    r.write(path)


MEMORY_ROWS = ["report", "--mem-mode", "--stdio", "-n", "--kallsyms=/dev/null"]
case("memory accesses", memory,
     MEMORY_ROWS, MEMORY_ROWS + ["-s", "+phys_daddr"], MEMORY_ROWS + ["-F", "+data_page_size"],
     *(MEMORY_ROWS + ["-s", keys] for keys in (
         "dso_daddr", "comm,dso_daddr", "phys_daddr", "mem", "tlb,comm", "snoop", "locked", "blocked", "data_page_size",
         "code_page_size", "local_weight,weight", "ins_lat", "local_ins_lat", "ins_lat,local_ins_lat,comm", "dso,mem",
         "mem,tlb,snoop,locked,blocked")),
     *(MEMORY_ROWS + ["-F", "overhead,sample," + keys] for keys in ("symbol_daddr", "symbol_iaddr", "symbol_daddr,dso_daddr")),
     ["report", "--stdio", "-n", "-s", "ins_lat"], ["report", "--stdio", "-n", "-s", "local_ins_lat,comm"],
     ["report", "--stdio", "-n", "-s", "code_page_size"], ["script", "-F", "comm,data_page_size,code_page_size"])
case("lines of the cache", cache_lines,
     *(MEMORY_ROWS + ["-s", keys] for keys in ("dcacheline", "pid,dcacheline", "dso,dcacheline", "dso_daddr,dcacheline")))
case("parts of data sources", memory_bits, *(MEMORY_ROWS + ["-s", keys] for keys in ("tlb", "snoop", "mem,locked,blocked")))
case("memory accesses with call chains", memory_chains,
     MEMORY_ROWS + ["-s", "comm"], MEMORY_ROWS + ["-s", "dso", "--no-children"], MEMORY_ROWS + ["-s", "sym", "-g", "none"])
case("call chains without entries", memory_chains,
     ["script", "-F", "comm,ip,sym", "--max-stack", "0"], ["report", "--stdio", "-n", "--max-stack", "0"],
     ["report", "--stdio", "-n", "--max-stack", "0", "--no-children", "-g", "caller"])
case("sums as keys", memory_chains,
     *(["report", "--stdio", "-n", "-s", keys] for keys in ("overhead_us,sym", "sym,overhead_us", "comm,overhead_children")))


case("transactions", transactions, ROWS + ["transaction"], ROWS + ["comm,transaction"])
case("cgroup namespaces", namespaces, ROWS + ["cgroup_id"], ROWS + ["cgroup_id,comm"], ROWS + ["pid,cgroup_id"])
case("places of code", places,
     *(ROWS + [keys] for keys in ("addr", "addr,comm", "dso_size", "dso_size,dso", "sym,dso_size", "dso_size,addr")),
     ["report", "--stdio", "-n", "-s", "dso_size"], ["report", "--stdio", "-n", "-s", "dso_size,sym"],
     ["report", "--stdio", "-n", "-s", "addr,dso", "--no-children"])


BRANCH_ROWS = ["report", "--stdio", "-n", "--kallsyms=/dev/null"]
case("rows of branches", branch_rows,
     BRANCH_ROWS + ["--percent-limit", "1.6"], BRANCH_ROWS + ["-U"],
     BRANCH_ROWS + ["-b", "-s", "weight"], BRANCH_ROWS + ["-b", "-s", "local_weight,comm"],
     *(BRANCH_ROWS + ["-s", keys] for keys in (
         "dso_from", "dso_to", "comm,dso_from", "comm,dso_to", "addr_from", "addr_to,comm", "addr_from,addr_to", "pid,dso_to",
         "sym", "dso", "dso,sym", "comm", "comm,in_tx", "cpu,dso_from,addr_to")),
     *(BRANCH_ROWS + ["-F", "overhead,sample," + keys] for keys in ("symbol_from", "symbol_to,comm", "overhead_sys,dso_to")),
     BRANCH_ROWS + ["--no-branch-stack"], BRANCH_ROWS + ["-b", "-s", "dso_to", "-c", "zeta"],
     BRANCH_ROWS + ["-s", "dso_to,addr_from", "-t", ";"], BRANCH_ROWS + ["-s", "comm,addr_to", "-S", "none"],
     BRANCH_ROWS + ["-s", "dso_from,addr_to", "-w", "0,0,5,4"], BRANCH_ROWS + ["-s", "comm,dso_to", "--time", ",0.00003"])
case("kinds of branches", branch_kinds,
     BRANCH_ROWS + ["-s", "addr_from,addr_to"], ["report", "--stdio", "-q", "-b", "-s", "addr_to,addr_from"])
case("branch stacks", branches,
     BRANCH_ROWS + ["-s", "comm"],
     *(["script", "--kallsyms=/dev/null", "-F", fields] for fields in (
         "ip,brstack", "ip,dso,brstack", "comm,time,brstacksym", "ip,dso,brstacksym", "comm,time,brstacksym,brstackoff",
         "comm,time,brstackoff,brstack")))


def call_stacks(program, start, pgoff=0):
    """LBR call stacks: a processor's branch stack has an entry for each call that has not returned."""
    def make(path, empty=False):
        calls = [(a, b, 2) for a, b in ((start + 0x1ae, start + 0x196), (start + 0x25b, start + 0x1b1), (start + 0x200, start + 0x217))]
        kernel = (CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000100)
        r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN | BRANCH_STACK, branches=1 << 0 | CALL_STACK)])
        r.comm(1, "prog", 7)
        r.mmap(2, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
        r.mmap(2, 7, start, 0x1000, program, pgoff)
        user = (CONTEXT_USER, start + 0x19b, start + 0x900)
        samples = [(user[1], USER, user, calls), (kernel[1], KERNEL, kernel + user, calls), (user[1], USER, user[:2], calls[1:]),
                   (kernel[1], KERNEL, kernel, calls), (user[1], USER, (), calls), (user[1], USER, user[1:], calls[:1]),
                   (start + 0x260, USER, user[:1], calls[2:] * 3), (kernel[1], KERNEL, kernel + user[:1], calls[2:])]
        for n, (ip, mode, chain, branches) in enumerate(samples if not empty else [(user[1], USER, user, []), samples[0]]):
            r.sample(1000 + n, ip, 7, mode=mode, chain=chain, branches=branches, period=n + 1)
        r.write(path)
    return make


LBR_ROWS = ["report", "--stdio", "-n", "--no-children", "--symfs", ROOT, "--kallsyms=/dev/null"]
case("LBR call stacks", call_stacks("/bin/prog", 0x400000, 0x400000), # perf's addresses of chains are those in the object
     *(["script", "--kallsyms=/dev/null", *words] for words in (
         ["-F", "ip"], ["-F", "ip,sym,dso"], ["-F", "ip,brstack"], ["-F", "ip", "-G"])))
case("LBR call stacks with functions", call_stacks("/mnt/spin", 0x400000),
     LBR_ROWS, LBR_ROWS + ["-g", "caller"], LBR_ROWS + ["-g", "folded"], LBR_ROWS + ["-g", "flat,0"], LBR_ROWS + ["-s", "comm"],
     LBR_ROWS + ["-G"], LBR_ROWS + ["-g", "address"], LBR_ROWS + ["-s", "dso", "-g", "count"],
     LBR_ROWS + ["-b", "-s", "addr_from,addr_to"])


def deep_stacks(slots, calls=24, header=True, deepest=22):
    """Call stacks of two threads that are deeper than the processor's branch stack has slots."""
    def make(path):
        r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN | BRANCH_STACK, branches=1 | CALL_STACK | BRANCH_INDEX)])
        r.slots = slots if header else 0
        r.comm(1, "prog", 7)
        r.mmap(2, 7, 0x400000, 0x10000, "/bin/prog", 0x400000)
        stacks, random = {7: [], 8: []}, 1
        for n in range(calls):
            stack = stacks[8 if n % 3 == 2 else 7]
            for limit in (slots // 2, slots - 2):
                random = random * 1103515245 + 12345 & 0x7fffffff
                moves = (random >> 16) % (limit + 1)
                if limit == slots // 2:
                    del stack[max(0, len(stack) - moves):]
                for _ in range(moves if limit > slots // 2 and len(stack) < deepest else 0):
                    at = 0x400000 + 0x100 * len(stack)
                    stack.append((at + 16 * (1 + n % 3), at + 0x100, 0))
            ip = stack[-1][1] + 4 if stack else 0x400004
            r.sample(1000 * (n + 3), ip, 7, tid=8 if n % 3 == 2 else 7, chain=(CONTEXT_USER, ip),
                     branches=stack[-slots:][::-1] if stack else [(1, 2, 0)], slot=(len(stack) - 1) % slots)
        r.write(path)
    return make


def one_call_left(path):
    """Of 8 slots, the second sample has only the newest call of the first one."""
    r = Recording([Event(*CYCLES, sample_type=USUAL | CALLCHAIN | BRANCH_STACK, branches=1 | CALL_STACK | BRANCH_INDEX)])
    r.slots = 8
    calls = [(0x400000 + 0x100 * i, 0x400100 + 0x100 * i, 0) for i in range(15)]
    for depth in (8, 15):
        r.sample(1000 * depth, 0x400000, 7, chain=(CONTEXT_USER, 0x400000), branches=calls[:depth][::-1][:8], slot=(depth - 1) % 8)
    r.write(path)


STITCHED = ["--stitch-lbr", "--kallsyms=/dev/null"]
case("stitched LBR call stacks of 8 slots", deep_stacks(8), ["script", "-F", "ip", *STITCHED],
     ["report", "--stdio", "-n", "--no-children", "-s", "comm", "-g", "folded,0,caller", *STITCHED])
case("stitched LBR call stacks of 32 slots", deep_stacks(32, 16, deepest=60), ["script", "-F", "ip", *STITCHED])


def group(events, *rows):
    """A group whose leader's samples have the counts of all: {name: (type, config)}, and what each sample adds to them."""
    def make(path):
        kind = IDENTIFIER | IP | TID | TIME | READ | CPU | PERIOD
        r = Recording([Event(*event, 1000, sample_type=kind, read_format=READ_GROUP | READ_ID) for event in events.values()])
        r.names, r.grouped = list(events), True
        r.comm(1, "prog", 7)
        r.mmap(2, 7, 0x400000, 0x1000, "/bin/prog")
        totals = [0] * len(events)
        for n, row in enumerate(rows):
            totals = [a + b for a, b in zip(totals, row)]
            r.sample(1000 * (n + 1), 0x400010 + n, 7, counts=totals, period=row[0])
        r.write(path)
    return make


INSTRUCTIONS = {"cycles": (0, 0), "instructions": (0, 1)}
THREE = {**INSTRUCTIONS, "branch-misses": (0, 5)}
for group_names in ({"cycles": (0, 0), "stalled-cycles-frontend": (0, 7)}, {"cycles": (0, 0), "stalled-cycles-backend": (0, 8)},
                    {"branches": (0, 4), "branch-misses": (0, 5)}, {"cache-references": (0, 2), "cache-misses": (0, 3)},
                    {"LLC-loads": (3, 2), "LLC-load-misses": (3, 0x10002)}, {"dTLB-loads": (3, 3), "dTLB-load-misses": (3, 0x10003)},
                    {"cycles": (0, 0), "cycles:u": (0, 0)}, {"cycles": (0, 0)}):
    group_rows = [row[:len(group_names)] for row in ((1000, 500), (3, 1000), (900, 1))]
    case("metrics of " + ", ".join(group_names), group(group_names, *group_rows),
         ["script", "-F", "event,period,metric"])
case("metrics", group(INSTRUCTIONS, (1000, 500), (1000, 1500), (123456, 7), (3, 1000), (1000, 1)),
     *(["script", *words.split()] for words in (
         "-F metric", "-F comm,metric", "-F ip,metric", "-F comm,time,event,period,metric --ns", "-F -tid,+metric --deltatime",
         "-F -tid,+metric --reltime", "-F misc,metric,cpu", "-F hw:+metric,-tid", "-F sw:+metric -F hw:-tid")))


def start(path):
    """Records of the state at the start, which have time 0, in an order in which names come late; and later ones."""
    r = Recording([Event(*CPU_CLOCK)])
    r.mmap(0, -1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000, KERNEL)
    r.fork(0, 1, 1, 0, 0)
    r.comm(0, "init", 1)
    r.fork(0, 10, 10, 2, 2)
    r.comm(0, "kworker", 10)
    r.fork(0, 11, 11, 1, 1)
    r.mmap2(0, 11, 0x400000, 0x1000, "/opt/early", 5)
    r.comm(0, "daemon", 11)
    r.fork(0, 11, 12, 11, 11)
    r.mmap2(0, 20, 0x400000, 0x1000, "/opt/nameless", 5)
    r.comm(0, "first", 20)
    r.comm(0, "second", 20)
    r.mmap2(0, 20, 0x500000, 0x1000, "/opt/named", 5)
    r.comm(0, "kthreadd", 2)
    r.fork(0, 13, 13, 2, 2)
    r.fork(0, 20, 20, 30, 30)
    r.mmap2(0, 20, 0x600000, 0x1000, "/opt/again", 5)
    r.comm(1000, "later", 20)
    r.fork(1001, 40, 40, 20, 20)
    r.mmap2(1002, 41, 0x400000, 0x1000, "/opt/unknown", 5)
    r.fork(1003, 50, 50, 60, 60)
    r.fork(1004, 60, 61, 60, 60)
    r.fork(1005, 70, 70, 80, 80)
    for pid in (1, 10, 11, 20, 40, 50):
        r.sample(2000 + pid, 0x400010, pid)
    r.write(path)


case("state at the start", start,
     ["script", "-F", "comm,tid,time", "--show-task-events", "--show-mmap-events"],
     ["script", "-F", "comm,pid", "--show-mmap-events"],
     ["script", "--show-task-events", "-F", "comm,time", "--deltatime"])


def each_branch(st, period=1, flags=0):
    """Samples of an event for each branch, one of which goes nowhere that is mapped; and others of the event."""
    def make(path):
        r = Recording([Event(0, 4, period=period, sample_type=st, flags=flags)])
        r.comm(1, "prog", 7)
        r.mmap(2, 7, 0x400000, 0x1000, "/mnt/spin")
        for i, (source, target) in enumerate([(0x4001ae, 0x400196), (0x40025b, 0x4001b1), (0x4001b0, 0x700000), (0x4001b0, 0)]):
            chain = {"chain": (CONTEXT_USER, source)} if st & CALLCHAIN else {}
            r.sample(1000 + i, source, 7, addr=target, period=period, **chain)
        r.write(path)
    return make


FREQUENCY = 1 << 10
BRANCH_LINES = [["script", "--symfs", ROOT, "-F", fields] for fields in (
    "ip,addr", "comm,addr", "ip,sym,addr", "ip,sym,dso,symoff,addr", "ip,addr,period", "-tid,+callindent",
    "-tid,+callindent,+flags", "-tid,+addr", "ip,sym,dso", "comm,time", "-tid,+misc,+addr,-symoff")]
for branch_name, branch_make in (
        ("branches", each_branch(USUAL | ADDR)), ("branches without targets", each_branch(USUAL & ~ADDR)),
        ("every second branch", each_branch(USUAL | ADDR, 2)), ("branches by frequency", each_branch(USUAL | ADDR, 1, FREQUENCY))):
    case(branch_name, branch_make, *BRANCH_LINES)
def id_widths(n, tool, width):
    """pid and tid are right-aligned in columns of this width; a tid after a pid is left-aligned."""
    path = os.path.join(os.environ["HOME"], "perf.data")
    names(path)
    for fields, row in (("comm,tid", f"{'late':>16} {10:>{width}} "), ("comm,pid", f"{'late':>16} {10:>{width}} "),
                        ("pid,tid", f"{10:>{width}}/{10:<{width}} "), ("pid,tid", f"{-1:>{width}}/{-1:<{width}} ")):
        done = subprocess.run([tool, "script", "-F", fields, "-i", path], stdout=subprocess.PIPE, check=False)
        n += 1
        good = row in done.stdout.decode().split("\n")
        print(f"{'' if good else 'not '}ok {n} - {os.path.basename(tool)}: ids of {fields} are {width} wide: '{row}'")
    return n


def rounded_samples(n, tool):
    """The number of samples above a table is cut to thousands, but 1000 of a unit are not yet one of the next."""
    path = os.path.join(os.environ["HOME"], "perf.data")
    for samples, text in ((999, "999 "), (1000, "1000 "), (1001, "1K"), (1999, "1K"), (1000000, "1000K"), (1000001, "1M")):
        r = Recording([Event(*CPU_CLOCK, sample_type=IP | TID)])
        r.sample(0, 0x400010, 7)
        r.records *= samples
        r.write(path)
        done = subprocess.run([tool, "report", "--stdio", "-i", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        row = f"# Samples: {text} of event 'cpu-clock:HG'"
        n += 1
        good = row in done.stdout.decode().split("\n")
        print(f"{'' if good else 'not '}ok {n} - {os.path.basename(tool)}: {samples} samples: '{row}'")
    return n


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        os.environ["SONDE_CACHE"] = ""
        if sys.argv[1] == "--update":
            update(sys.argv[2])
        else:
            compare(sys.argv[1])


if __name__ == "__main__":
    main()
