# SPDX-License-Identifier: MIT
"""The recordings of this folder: how each was made, and which texts of perf lie beside it."""

SPIN, TASKS, MEMORY = "/mnt/spin 3000", "/mnt/tasks", "/mnt/memory"
WATCHED = "0x401000"  # address of `watched` in memory

# Texts: file NAME.TEXT holds what perf prints for this command.
TEXTS = {
    "header": "report --header-only -I",
    "evlist": "evlist -v",
    "buildid": "buildid-list",
    "report": "report --stdio -n",
    "no-children": "report --stdio -n --no-children",
    "caller": "report --stdio -n --no-children -g caller",
    "comm": "report --stdio -n -s comm,pid",
    "dso": "report --stdio -n -s dso -g none",
    "levels": "report --stdio -n --hierarchy -s comm,dso,sym",
    "levels-joined": "report --stdio -n --hierarchy -s {dso,sym},pid --no-children --percent-limit 8",
    "levels-unpadded": "report --stdio -n --hierarchy -s {sym,dso},pid --percent-limit 8",
    "levels-separated": "report --stdio -n --hierarchy -s sym,{comm,pid} -t ; -c renamed,spin",
    "group": "report --stdio -n --group",
    "group-index": "report --stdio -n --group --group-sort-idx 1 -s sym,comm --show-total-period",
    "group-levels": "report --stdio -n --group --hierarchy -s comm,{dso,sym} -t ;",
    "no-group": "report --stdio -n --no-group",
    "empty": "report --stdio -n --no-skip-empty --time 80%-100%",
    "parent": "report --stdio -n -p work|inner -s parent,sym",
    "parents-only": "report --stdio -n -p start|program -x --percentage relative --no-children",
    "callees": "report --stdio -n --ignore-callees=start|program|outer",
    "callees-above": "report --stdio -n --ignore-callees=start|program|outer --no-children",
    "known": "report --stdio -n -U -s sym,comm",
    "socket": "report --stdio -n -s cpu,socket --socket-filter 0",
    "time": "report --stdio -n -s time,comm --ns --time-quantum 1ms",
    "modes": "report --stdio -n -s comm --showcpuutilization",
    "switched": "report --stdio -n --switch-on page-faults:u --switch-off cpu-clock:u -s comm,sym",
    "switched-on": "report --stdio -n --switch-on page-faults:u -s comm,sym",
    "switched-shown": "report --stdio -n --switch-on page-faults:u --switch-off cpu-clock:u --show-on-off-events -s sym",
    "folded": "report --stdio -n -g folded,1 --no-children -t | -s comm,dso",
    "shares": "report --stdio -n -g none -F overhead,sym,overhead_us -t ,",
    "no-graph": "report --stdio -n --no-children -g none",
    "sizes": "report --stdio -n -s symbol_size,sym",
    "no-trace": "report --stdio -n -s trace,comm",
    "no-fields": "script -F comm,ip,trace,srcline",
    "stats": "report --stats",
    "task-tree": "report --tasks",
    "task-maps": "report --mmaps",
    "script": "script",
    "records": "script --show-task-events --show-mmap-events --show-switch-events",
    "changes": "script -F +misc --show-namespace-events --show-bpf-events --show-cgroup-events --show-lost-events "
               "--show-switch-events --show-task-events --show-mmap-events",
    "code": "script --show-text-poke-events",
    "rounds": "script --show-round-events --show-task-events",
    "reltime": "script --reltime --show-task-events --show-mmap-events",
    "deltatime": "script --deltatime --ns --show-task-events --show-mmap-events",
    "stop-bt": "script --stop-bt program,child,other",
    "range": "script -S other,0x400190 --addr-range 14",
    "insn": "script -F comm,tid,event,ip,insnlen,insn",
    "flags": "script -F comm,tid,flags,ip,insn,insnlen -G",
    "bpf": "script -F -event",
    "synth": "script -F -event,+synth",
    "spans": "script --reltime --ns --time 0.000246,0.001",
    "mmaps": "script --show-mmap-events -F comm",
    "addr": "script -F comm,tid,time,event,addr,ip,sym,dso",
    "data_src": "script -F comm,tid,time,event,addr,data_src,weight",
    "pages": "script -F comm,tid,time,event,addr,phys_addr,data_page_size,code_page_size",
    "uregs": "script -F comm,tid,event,ip,uregs",
    "iregs": "script -F comm,tid,event,ip,iregs",
    "cpu": "script -F comm,tid,cpu,time,event,ip,sym",
    "mem-mode": "report --stdio -n --mem-mode",
    "no-branches": "report --stdio -n --no-branch-stack",
    "history": "report --stdio -n --branch-history --no-children -s sym,dso",
    "history-callers": "report --stdio -n --branch-history --max-stack 4 -s comm",
    "history-flat": "report --stdio -n --branch-history --no-children -s dso -g flat -U",
    "history-fractal": "report --stdio -n --branch-history --no-children -s dso -g fractal,2 --ignore-callees=inner",
    "cgroup-id": "report --stdio -n -s cgroup_id,comm",
    "source-lines": "report --stdio -n -s srcline_to,srcline_from,comm",
    "brstack": "script -F comm,tid,time,ip,brstack,dso",
    "brstacksym": "script -F comm,time,brstacksym",
    "brstackoff": "script -F time,brstackoff,dso",
    "targets": "script -F ip,sym,symoff,dso,addr,insn,insnlen",
    "brstackinsn": "script -F ip,sym,brstack,brstackinsn",
    "brstackinsnlen": "script -F +brstackinsnlen,+insn,-period",
    "blocks": "script -F time,brstackinsn --max-blocks 1",
    "stat": "stat report",
}
CLOCK = "-e cpu-clock:u -F 4000 "
ALWAYS = ["script", "report"]


class Recipe:
    """name: NAME.data. how: words after `perf record -N -q -o NAME.data`; a whole shell command; or with generate.py, the
    call; or none: a copy of a file that others made. texts: those beside script and report, or all of them where
    `only`. masks: for a text the rows of doc/differences.md why Sonde's is another one."""

    def __init__(self, name, how, texts="", only=False, masks=None):
        self.name, self.how, self.masks = name, how, masks or {}
        self.texts = ([] if only else ALWAYS) + texts.split()


ADDRESSES = "addresses in the call chains of `script`"
CHAINS = {"script": [ADDRESSES]}
STOPPED = {"stop-bt": [ADDRESSES]}
INSTRUCTIONS = "`report -s symbol`, `-s symbol_size`"
STATISTICS = "`report` of branches: Branch Statistics"
TIP = "`evlist`, tip for tracepoints"
RECIPES = [
    Recipe("basic", CLOCK + SPIN, "header evlist buildid stats range spans insn no-trace"),
    Recipe("chains", "-g " + CLOCK + SPIN, "header evlist no-children caller mmaps stop-bt flags",
           masks=CHAINS | STOPPED),
    Recipe("chains-tasks", "-g " + CLOCK + TASKS,
           "caller mmaps stop-bt levels levels-joined levels-unpadded levels-separated parent parents-only callees "
           "callees-above shares folded",
           masks=CHAINS | STOPPED),
    Recipe("dwarf", "--call-graph dwarf,512 -e cpu-clock:u -F 2000 " + SPIN, "header evlist no-children caller mmaps stop-bt",
           masks=CHAINS | STOPPED),
    Recipe("groups", "-e '{cpu-clock:u,task-clock:u}' " + SPIN, "header evlist no-group group-levels"),
    Recipe("counts", "-e '{cpu-clock:u,page-faults:u}:S' -F 4000 " + TASKS, "evlist stats group-index switched-on switched-shown"),
    Recipe("reads", "-s " + CLOCK + TASKS, "stats task-tree task-maps"),
    Recipe("no-inherit", "-s --no-inherit " + CLOCK + TASKS, "stats"),
    Recipe("tasks", CLOCK + TASKS, "records comm stats rounds reltime deltatime task-tree task-maps time"),
    Recipe("switches", "--switch-events " + CLOCK + TASKS, "records evlist changes"),
    Recipe("namespaces", "--namespaces " + CLOCK + TASKS, "stats changes cgroup-id"),
    Recipe("cgroups", "--all-cgroups " + CLOCK + SPIN, "stats evlist"),
    Recipe("faults", "-d -e page-faults:u -c 1 " + MEMORY, "addr sizes", masks={"sizes": [INSTRUCTIONS]}),
    Recipe("breakpoints", f"-d -e mem:{WATCHED}:w:u -e mem:{WATCHED}:rw:u -c 1 " + MEMORY, "addr evlist mem-mode"),
    Recipe("pages", "-d --phys-data --data-page-size --code-page-size -e page-faults:u -c 1 " + MEMORY, "pages evlist mem-mode"),
    Recipe("weight", "-W -d " + CLOCK + SPIN, "data_src mem-mode"),
    Recipe("user-regs", "--user-regs=ip,sp,ax " + CLOCK + SPIN, "uregs evlist"),
    Recipe("intr-regs", "--intr-regs=ip,sp,ax " + CLOCK + SPIN, "iregs evlist"),
    Recipe("cpus", "--sample-cpu --sample-identifier -e cpu-clock:u,page-faults:u -F 3000 " + TASKS,
           "cpu evlist levels group group-levels task-tree task-maps socket modes "
           "switched switched-on switched-shown"),
    Recipe("lost", f"-m 1 -c 1 -d -g -e page-faults:u -e mem:{WATCHED}:rw:u " + MEMORY,
           "stats mmaps group group-index group-levels empty", masks=CHAINS),
    Recipe("timeless", "--per-thread --no-timestamp -e cpu-clock:u -c 200000 " + SPIN, "evlist"),
    Recipe("overwrite", "--overwrite --tail-synthesize -m 1 -e cpu-clock:u -F 20000 " + SPIN, "evlist stats"),
    Recipe("buildid-mmap", "--buildid-mmap " + CLOCK + TASKS, "buildid records"),
    Recipe("compressed", "-z " + CLOCK + TASKS, "header stats"),
    Recipe("threads", "--threads " + CLOCK + TASKS, "header stats"),
    Recipe("tracepoints", "-e sched:sched_process_exec,sched:sched_process_fork,syscalls:sys_enter_prctl " + TASKS,
           "evlist header insn", masks={"evlist": [TIP]}),
    Recipe("uprobe", "perf probe -q -x /mnt/spin outer; perf record -N -q -g -e probe_spin:outer -o uprobe.data "
           "/mnt/spin 15; perf probe -q -d probe_spin:outer", "evlist mmaps",
           masks={"script": [ADDRESSES], "evlist": [TIP]}),
    Recipe("pipe", f"perf record -N -q -g {CLOCK} -o - {SPIN} >pipe.data", "header no-children records",
           masks=CHAINS | {"records": [ADDRESSES], "report": ["`report` of a pipe stream with call chains"]}),
    Recipe("stat", "perf stat record -e cs,page-faults -o stat.data " + TASKS, "script stat stats header no-fields", only=True),
    Recipe("stat-interval", "perf stat record -I 5 -e cs,page-faults -o stat-interval.data " + TASKS, "script stat stats",
           only=True),
    Recipe("big-endian", "swap('basic')", "header buildid stats"),
    Recipe("big-endian-chains", "swap('chains')", "no-children mmaps",
           masks=CHAINS | {"mmaps": ["`script --show-mmap-events` of a recording in the other byte order"]}),
    Recipe("modules", "modules()", "no-graph no-children dso mmaps", masks=CHAINS),
    Recipe("ksymbols", "ksymbols()", "no-graph no-children dso mmaps buildid known", masks=CHAINS),
    Recipe("changes", "changes()", "script changes code rounds", only=True,
           masks={"changes": ["`script -F misc` of a sample in a hypervisor"]}),
    Recipe("bpf-output", "bpf_output()", "bpf", only=True, masks={"bpf": ["`script -F bpf-output`, bytes above 0x9f"]}),
    Recipe("synth", "synth()", "synth script", only=True),
    Recipe("registers", "registers()", "uregs", only=True),
    Recipe("branches", "branches()", "brstack brstacksym brstackoff mmaps history history-callers source-lines",
           masks={"report": [STATISTICS], "source-lines": [STATISTICS], "brstackoff": ["`script -F brstackoff`"]}),
    Recipe("each-branch", "each_branch()", "script targets", only=True),
    Recipe("branch-code", "branch_code()", "brstackinsn brstackinsnlen blocks", only=True),
    Recipe("branch-chains", "branch_chains()",
           "mmaps no-branches history history-callers history-flat history-fractal",
           masks={"report": [STATISTICS], "script": [ADDRESSES]}),
    Recipe("quipper-branches", None, "evlist header brstack brstacksym no-branches",
           masks={"report": ["`report` of branches: cycles above 32767"]}),
    Recipe("quipper-groups", None, "evlist buildid group-index no-group"),
    Recipe("quipper-namespaces", None, "stats evlist header"),
    Recipe("quipper-old", None, "header buildid stats levels levels-joined task-tree task-maps"),
    Recipe("aarch64-pipe", None, "header"),
]
