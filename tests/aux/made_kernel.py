#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes recordings of Intel PT in kernels, in guests, and with address filters, always the same: tests/aux/made_kernel.py FOLDER [NAME...]

As made.py. Kernel code is in the kcore_dir of a folder, as record --kcore makes it. OPTIONS has the options of script that a
recording needs besides --symfs; {} is its path.
"""
import copy
import os
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
import made as plain  # noqa: E402
import pt_recording as pt  # noqa: E402
from made import BASE, PAGE, task, trace, user  # noqa: E402
from pt_recording import Code, Flow, Recording, program  # noqa: E402

MADE, OPTIONS = {}, {}


def made(function):
    MADE[function.__name__] = function
    return function


KERNEL_BASE, MODULE_BASE = 0xffffffff81000000, 0xffffffffc0200000
KERNEL_SIZE, MODULE_SIZE = 0x200000, 0x4000


def kernel_code(module=None, seed=60):
    """A kernel: a few functions, and the entry of system calls, which calls them and a module."""
    c, names = Code(KERNEL_BASE), ("do_one", "do_two", "do_three")
    c.label("_text", function=True)
    c.nop(16)
    for i, name in enumerate(names):
        c.label(name, function=True)
        c.nop(2 + i)
        c.jcc(name + ".end")
        if i:
            c.call(names[i - 1])
        if name == "do_three":  # a jump label: a NOP of 5 bytes, or a jump
            c.label("label")
            c.emit(b"\x0f\x1f\x44\0\0")
        c.label(name + ".end")
        c.nop(3)
        c.ret()
    c.label("entry_SYSCALL_64", function=True)
    c.nop(4)
    c.call_reg(["do_two", "do_three"] + ([module.labels["mod_work"]] if module else []))
    c.jcc("entry.again")
    c.nop()
    c.label("entry.again")
    c.call("do_three")
    c.sysret()
    c.label("vmx_vmenter", function=True)
    c.nop(2)
    c.vmresume()
    c.label("vmx_vmexit", function=True)
    c.nop()
    c.ret()
    c.label("_etext", function=True)
    c.nop(8)
    return c.done()


def module_code(base=MODULE_BASE):
    c = Code(base)
    c.label("mod_helper", function=True)
    c.nop(3)
    c.ret()
    c.label("mod_work", function=True)
    c.nop(2)
    c.jcc("mod_work.1")
    c.call("mod_helper")
    c.label("mod_work.1")
    c.nop()
    c.ret()
    return c.done()


def kernel_copy(kernel, module=None):
    """The files of kcore_dir"""
    text = pt.kallsyms(kernel) + (pt.kallsyms(module, "testmod", "t") if module else "")
    modules = f"testmod {MODULE_SIZE} 0 - Live 0x{module.base:016x}\n" if module else ""
    return {"kcore": pt.core([kernel] + ([module] if module else [])), "kallsyms": text.encode(), "modules": modules.encode()}


def kernel_maps(r, kernel, module=None, name="[testmod]"):
    r.kernel_mmap(kernel.base, KERNEL_SIZE, "[kernel.kallsyms]_text")
    if module:
        r.kernel_mmap(module.base, MODULE_SIZE, name, 0)


@made
def kcore(path, symfs):
    """System calls into a kernel and a module whose code is in kcore_dir"""
    code, module = user(symfs, syscalls=True), module_code()
    kernel = kernel_code(module)
    f = Flow([code, kernel, module], entry=kernel.labels["entry_SYSCALL_64"])
    f.begin(BASE)
    f.run(3000)
    f.disable()
    r = Recording(kernel=True)
    kernel_maps(r, kernel, module)
    task(r, code, "/made/prog")
    trace(r, f)
    r.write_folder(path, {"kcore_dir": kernel_copy(kernel, module)})


def with_module(path, symfs, linked):
    """linked: the file of the module has the code as the kernel runs it"""
    code, module = user(symfs, syscalls=True), Code(MODULE_BASE)
    module.labels["do_one"] = kernel_code().labels["do_one"]
    module.label("mod_helper", function=True)
    module.nop(3)
    module.ret()
    module.label("mod_work", function=True)
    module.emit(b"\x0f\x1f\x44\0\0")  # a call of __fentry__ in the file
    module.jcc("mod_work.1")
    module.call("mod_helper")
    module.call("do_one")
    module.label("mod_work.1")
    module.nop()
    module.ret()
    module.done()
    kernel = kernel_code(module)
    kernel.elf(symfs / "made" / "vmlinux")
    name, file = f"testmod{int(linked)}", copy.copy(module)
    file.bytes, relocations = bytearray(module.bytes), []
    if not linked:
        work = module.labels["mod_work"] - MODULE_BASE
        for at, symbol in ((work, "__fentry__"), (work + 11, "mod_helper"), (work + 16, "do_one")):
            file.bytes[at:at + 5] = b"\xe8\0\0\0\0"
            relocations.append((".text", at + 1, symbol, 4, -4))
    pt.module_elf(symfs / f"made/{name}.ko", [(".text", file)], relocations)
    f = Flow([code, kernel, module], entry=kernel.labels["entry_SYSCALL_64"])
    f.begin(BASE)
    f.run(1500)
    f.disable()
    r = Recording(kernel=True)
    kernel_maps(r, kernel, module, str(symfs / f"made/{name}.ko"))
    task(r, code, str(symfs / "made/prog"))
    trace(r, f)
    OPTIONS[path.stem] = [f"--vmlinux={symfs}/made/vmlinux"]
    r.write(path)


@made
def module_file(path, symfs):
    """The code of the kernel and of a module is only in their files"""
    with_module(path, symfs, True)


@made
def module_relocated(path, symfs):
    """The same, but the file of the module is not linked"""
    with_module(path, symfs, False)


class Guest:
    """A virtual machine: its program, where it is, and its registers"""

    def __init__(self, code, ip, cr3, vmcs=None):
        self.code, self.ip, self.cr3, self.vmcs, self.stack = code, ip, cr3, vmcs, []

    def run(self, f, branches, exit_to):
        """VMRESUME, code of the guest, and the VM exit to an address of the host"""
        host, stack, out = f.insns, f.stack, f.entry
        f.time()
        if self.vmcs is not None:
            f.p.vmcs(self.vmcs)
        f.p.pip(self.cr3, True)
        f.p.tip(self.ip)
        f.insns, f.stack, f.ip, f.depth, f.entry = self.code.insns, self.stack, self.ip, 0, None
        f.nonroot = self.cr3
        f.run(branches)
        self.ip, self.stack = f.ip, f.stack
        f.time()
        f.p.fup(f.ip)
        if self.vmcs is not None:
            f.p.vmcs(0)
        f.nonroot = None
        f.p.pip(0x5000)
        f.p.tip(exit_to)
        f.insns, f.stack, f.ip, f.depth, f.entry = host, stack, exit_to, 0, out


def host_until_entry(f, kernel):
    """Runs the host to its VM entry."""
    f.stack.append(f.ip)
    f.time()
    f.p.fup(f.ip)
    f.p.tip(kernel.labels["vmx_vmenter"])
    f.ip, f.depth = kernel.labels["vmx_vmenter"], 0
    while f.insns[f.ip][0] != pt.VMRESUME:
        f.step()


def host_after_exit(f):
    """The host returns from its VM exit to where it was."""
    f.run(1)


def guest_kernel(base=KERNEL_BASE, seed=70):
    c = program(base, seed)
    c.functions[0] = ("_text", base)
    return c


def with_guests(path, symfs, guests, after=None):
    code, kernel = user(symfs, syscalls=True), kernel_code()
    f = Flow([code, kernel], entry=kernel.labels["entry_SYSCALL_64"])
    f.begin(BASE)
    for i in range(6):
        f.run(120)
        host_until_entry(f, kernel)
        guests[i % len(guests)].run(f, 60, kernel.labels["vmx_vmexit"])
        host_after_exit(f)
    f.run(50)
    f.disable()
    r = Recording(kernel=True, exclude_guest=False)
    kernel_maps(r, kernel)
    if after is not None:
        after(r)
    task(r, code, "/made/prog")
    trace(r, f)
    return r, kernel_copy(kernel)


def guest_copy(code):
    return {"kcore": pt.core([code]), "kallsyms": pt.kallsyms(code).encode(), "modules": b""}


def guest_maps(r, code, pid=0):
    name = f"[guest.kernel.kallsyms.{pid}]_text" if pid else "[guest.kernel.kallsyms]_text"
    r.records.append(pt.record(pt.MMAP, pt.GUEST_KERNEL, struct.pack("<iiQQQ", pid, 0, code.base, KERNEL_SIZE, code.base) +
                               pt.padded(name) + r.trailer(0, -1, 0)))


@made
def guest_kernels(path, symfs):
    """A guest whose kernel is traced; its code is named by --guestkallsyms"""
    code = guest_kernel()
    r, copy = with_guests(path, symfs, [Guest(code, code.base, 0x10000)], lambda r: guest_maps(r, code))
    OPTIONS["guest_kernels"] = ["--guestkallsyms={}/guest/kallsyms"]
    r.write_folder(path, {"kcore_dir": copy, "guest": guest_copy(code)})


@made
def two_guests(path, symfs):
    """Two processes that run a guest each, with the same kernel, one after the other"""
    code, kernel, own = user(symfs, syscalls=True), kernel_code(), guest_kernel()
    r = Recording(kernel=True, exclude_guest=False)
    kernel_maps(r, kernel)
    guest_maps(r, own)
    tsc = plain.TSC
    for i, pid in enumerate((1000, 2000)):
        task(r, code, "/made/prog", pid, f"vm{i}")
        guest = Guest(own, own.base, 0x10000 * (1 + i), 0x1000 * (1 + i))
        f = Flow([code, kernel], seed=5 + i, entry=kernel.labels["entry_SYSCALL_64"], tsc=tsc)
        f.begin(BASE)
        for _ in range(4):
            f.run(100)
            host_until_entry(f, kernel)
            guest.run(f, 60, kernel.labels["vmx_vmexit"])
            host_after_exit(f)
        f.disable()
        tsc = f.tsc + 1000
        trace(r, f, tid=pid, idx=i)
    OPTIONS["two_guests"] = ["--guestkallsyms={}/guest/kallsyms"]
    r.write_folder(path, {"kcore_dir": kernel_copy(kernel), "guest": guest_copy(own)})


@made
def text_poke(path, symfs):
    """The kernel makes a NOP a jump, and back, and runs code that it wrote elsewhere"""
    code, kernel = user(symfs, syscalls=True), kernel_code()
    label, end = kernel.labels["label"], kernel.labels["do_three.end"]
    nop, jump = kernel.insns[label], [pt.JMP, 5, end]
    made_code = module_code(0xffffffffc0300000)
    f = Flow([code, kernel, made_code], entry=kernel.labels["entry_SYSCALL_64"])
    calls = next(insn for insn in kernel.insns.values() if insn[0] == pt.CALL_REG)
    r = Recording(kernel=True)
    kernel_maps(r, kernel)
    task(r, code, "/made/prog")
    f.begin(BASE)
    old, new = b"\x0f\x1f\x44\0\0", b"\xe9" + struct.pack("<i", end - label - 5)
    for i in range(5):
        f.run(400)
        f.disable()
        f.tsc += 4000
        if i == 2:
            r.ksymbol(f.ns(), made_code.base, PAGE, "trampoline", kind=2)
            r.text_poke(f.ns() + 1, made_code.base, b"", bytes(made_code.bytes))
            calls[2] = calls[2] + [made_code.labels["mod_work"]]
        else:
            to_jump = kernel.insns[label] is nop
            kernel.insns[label] = f.insns[label] = jump if to_jump else nop
            r.text_poke(f.ns(), label, *((old, new) if to_jump else (new, old)))
        f.tsc += 4000
        f.stack = []
        f.begin(BASE)
    f.run(100)
    f.disable()
    trace(r, f)
    r.write_folder(path, {"kcore_dir": kernel_copy(kernel)})


BPF_TAG, BPF_BASE = bytes.fromhex("0123456789abcdef"), 0xffffffffc0400000


def bpf_parts(name, base, codes):
    """The program and the functions that it calls, each on a page of its own"""
    return [(f"bpf_prog_{BPF_TAG.hex()}_{name}{i or ''}", base + i * PAGE, bytes(code.bytes)) for i, code in enumerate(codes)]


def with_bpf(path, symfs, together):
    """together: one program has a second function, which is another program otherwise"""
    code, kernel = user(symfs, syscalls=True), kernel_code()
    called = Code(BPF_BASE + PAGE)
    called.label("called", function=True)
    called.nop(2)
    called.jcc("called.1")
    called.nop()
    called.label("called.1")
    called.ret()
    called.done()
    main = Code(BPF_BASE)
    main.label("main", function=True)
    main.nop(3)
    main.jcc("main.1")
    main.call_reg([called.base])
    main.label("main.1")
    main.ret()
    main.done()
    other = module_code(BPF_BASE + 8 * PAGE)
    calls = next(insn for insn in kernel.insns.values() if insn[0] == pt.CALL_REG)
    calls[2] = calls[2] + [main.base, other.labels["mod_work"]]
    f = Flow([code, kernel, main, called, other], entry=kernel.labels["entry_SYSCALL_64"])
    r = Recording(kernel=True)
    kernel_maps(r, kernel)
    parts = bpf_parts("first", BPF_BASE, [main, called])
    for i, some in enumerate([parts] if together else [[part] for part in parts]):
        r.bpf_program(0, 7 + i, BPF_TAG, some, "first")
    r.bpf_program(0, 9, BPF_TAG, bpf_parts("other", other.base, [other]), "other")
    task(r, code, "/made/prog")
    f.begin(BASE)
    f.run(1500)
    f.disable()
    trace(r, f)
    r.write_folder(path, {"kcore_dir": kernel_copy(kernel)})


@made
def bpf(path, symfs):
    """The kernel runs BPF programs, whose code is in the header"""
    with_bpf(path, symfs, False)


@made
def bpf_functions(path, symfs):
    """The same, but one of the programs has two functions"""
    with_bpf(path, symfs, True)


def filtered(path, symfs, with_ip):
    """Tracing only of some functions; with_ip: the trace has the address where it ends"""
    code = user(symfs)
    entries = dict(code.functions)
    first, end = entries["f2"], entries["f9"]
    f = Flow([code])
    p = f.p
    f.psb()
    f.ip, on = BASE, False
    for _ in range(6000):
        state = bytes(p.out), list(p.bits), p.last_ip
        f.step()
        inside = first <= f.ip < end
        if not on or not inside:  # no packet of a step outside, or of one that leaves
            p.out[:], p.bits, p.last_ip, f.depth = state[0], state[1], state[2], 0
        if on and not inside:
            p.pgd(f.ip if with_ip else None)
        elif inside and not on:
            f.enable(f.ip)
        on = inside
        if on and f.ctc() >> 3 != f.mtc:
            f.mtc = f.ctc() >> 3
            p.mtc(f.mtc)
    if on:
        f.disable()
    r = Recording(filter_text=f"filter {first - BASE + 0x1000:#x}/{end - first:#x}@/made/prog")
    task(r, code, "/made/prog")
    trace(r, f)
    r.write(path)


@made
def filter_addresses(path, symfs):
    filtered(path, symfs, True)


@made
def filter_alone(path, symfs):
    """Only the filter shows where tracing ends"""
    filtered(path, symfs, False)


def make(folder, names=None):
    """Makes the recordings; yields (name, path)."""
    return plain.make(folder, names or MADE, MADE)


if __name__ == "__main__":
    for _, written in make(sys.argv[1], sys.argv[2:]):
        print(os.path.relpath(written))
