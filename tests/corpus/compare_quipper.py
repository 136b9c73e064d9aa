#!/usr/bin/env python3
"""Compares attrs, records, build ids and header features with quipper's goldens, as TAP: compare_quipper.py SONDE [NAME...]

$SONDE_CORPUS/quipper has recordings F, with the whole file as a text proto in F.pb_text[.gz] or F.pr.out.pb_text[.gz],
and with the output of `perf buildid-list` in F.buildids. Records are compared as multisets, as some goldens are sorted
by time. Records that a golden leaves out are counted, and must be of a type in MAY_LACK.
"""
import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter

SONDE = os.path.realpath(sys.argv[1])
FOLDER = os.path.join(os.environ.get("SONDE_CORPUS", ""), "quipper")
ONLY = sys.argv[2:]
TOKEN = re.compile(r'(\w+) \{|(\w+): ("(?:[^"\\]|\\.)*"|\S+)|(\})')
ESCAPE = re.compile(r'\\([0-7]{1,3}|x[0-9a-f]{1,2}|.)')
NAMED = {"n": "\n", "t": "\t", "r": "\r"}
NOT_YET = "not read by this version"
TOOL_TYPES = range(64, 128)
# Largest number of records that a golden may lack, by type: quipper does not know some types, and its older goldens lack
# a few mappings of objects without a name.
MAY_LACK = {"MMAP": 8, "CPU_MAP": 1000, "BPF_EVENT": 1000, "EVENT_UPDATE": 1000, "KSYMBOL": 1000}
LINES = int(os.environ.get("LINES_SHOWN", "12"))
count = failures = 0


def result(good, what, detail=()):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in [] if good else list(detail)[:LINES]:
        print("#   " + str(line)[:500])
    sys.stdout.flush()


def skip(what, why):
    global count
    count += 1
    print(f"ok {count} - {what} # SKIP {why}")


def unescape(text):
    def one(m):
        w = m.group(1)
        if w[0] in "01234567":
            return chr(int(w, 8) & 255)
        return chr(int(w[1:], 16)) if w[0] == "x" and len(w) > 1 else NAMED.get(w, w)
    return ESCAPE.sub(one, text)


def scalar(word):
    if word[0] == '"':
        return unescape(word[1:-1])
    return {"true": 1, "false": 0}.get(word) if word in ("true", "false") else int(word) if re.fullmatch(r"-?\d+", word) else word


def parse_proto(text):
    """Parses a text proto: a message is a dict of lists."""
    top = {}
    stack = [top]
    for m in TOKEN.finditer(text):
        opened, key, word, closed = m.groups()
        if opened:
            message = {}
            stack[-1].setdefault(opened, []).append(message)
            stack.append(message)
        elif closed:
            stack.pop()
        else:
            stack[-1].setdefault(key, []).append(scalar(word))
    return top


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return f.read().decode("latin-1")


def sonde(*argv):
    p = subprocess.run([SONDE, *argv], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    return p.stdout, p.stderr.decode("utf-8", "replace").strip()


def documents(path):
    dump, error = sonde("dump", "--json", "-f", "-i", path)
    evlist, _ = sonde("evlist", "--json", "-f", "-i", path)
    header, _ = sonde("report", "--header-only", "--json", "-f", "-i", path)
    if not dump or not evlist or not header:
        return None, error
    return (json.loads(dump), json.loads(evlist), json.loads(header)), ""


def one(message, key, default=None):
    return message.get(key, [default])[0]


# ---- attrs ----

ATTR_SAME = ["type", "size", "config", "sample_period", "sample_type", "read_format", "wakeup_events", "bp_type",
             "branch_sample_type", "sample_regs_user", "sample_stack_user"]
ATTR_RENAMED = {"bp_addr": "config1", "bp_len": "config2"}
ATTR_FLAGS = ["disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv",
              "exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark",
              "precise_ip", "mmap_data", "sample_id_all", "exclude_host", "exclude_guest",
              "exclude_callchain_kernel", "exclude_callchain_user", "mmap2", "comm_exec", "use_clockid",
              "context_switch", "write_backward", "namespaces", "cgroup", "ksymbol"]


def attr_differences(golden, ours):
    for i, (g, o) in enumerate(zip(golden, ours)):
        attr, mine = one(g, "attr"), o["attr"]
        for key in attr:
            if key in ATTR_FLAGS:
                value = mine["flags_is"].get(key, 0)
            else:
                value = mine.get(ATTR_RENAMED.get(key, key), 0)
            if key == "size":  # quipper writes the size of its own struct
                value = 96
            if value != one(attr, key):
                yield f"attr {i}: {key}: golden {one(attr, key)}, sonde {value}"
            if key not in ATTR_SAME and key not in ATTR_RENAMED and key not in ATTR_FLAGS:
                yield f"attr {i}: {key} is not compared"
        if g.get("ids", []) != o["ids"]:
            yield f"attr {i}: ids: golden {g.get('ids', [])}, sonde {o['ids']}"
    if len(golden) != len(ours):
        yield f"golden has {len(golden)} attrs, sonde {len(ours)}"


# ---- records ----

def unsigned(value, bits):
    return value if value is None else value & ((1 << bits) - 1)


def sample_id(fields):
    s = fields.get("sample_id", {})
    i = s.get("id", s.get("identifier"))
    return tuple(s.get(k) for k in ("pid", "tid", "time")) + (i, s.get("stream_id"), s.get("cpu"))


def golden_sample_id(event):
    s = one(event, "sample_info", {})
    return tuple(one(s, k) for k in ("pid", "tid", "sample_time_ns", "id", "stream_id", "cpu"))


def branch(entry):
    """from, to, and the bits that quipper stores."""
    f = entry.get("flags_is", {})
    return (entry["from"], entry["to"], *(f.get(k, 0) for k in ("mispred", "predicted", "in_tx", "abort", "cycles")))


def golden_branch(b):
    return tuple(one(b, k, 0) for k in ("from_ip", "to_ip", "mispredicted", "predicted", "in_transaction", "abort", "cycles"))


def our_sample(f):
    raw = f.get("raw", {})
    return (f.get("ip"), f.get("pid"), f.get("tid"), f.get("time"), f.get("addr"), f.get("identifier", f.get("id")),
            f.get("stream_id"), f.get("cpu"), f.get("period"), tuple(f.get("callchain", {}).get("ips", [])),
            tuple(branch(b) for b in f.get("branch_stack", {}).get("entries", [])), raw.get("size"))


def golden_sample(e):
    return (*(one(e, k) for k in ("ip", "pid", "tid", "sample_time_ns", "addr", "id", "stream_id", "cpu", "period")),
            tuple(e.get("callchain", [])), tuple(golden_branch(b) for b in e.get("branch_stack", [])), one(e, "raw_size"))


def pick(*keys):
    return lambda f: tuple(f.get(k) for k in keys)


def golden_pick(*keys):
    return lambda e: tuple(one(e, k) for k in keys)


TASK = ("fork_event", pick("pid", "ppid", "tid", "ptid", "time"),
        golden_pick("pid", "ppid", "tid", "ptid", "fork_time_ns"))
THROTTLE = ("throttle_event", pick("time", "id", "stream_id"), golden_pick("time_ns", "id", "stream_id"))
SWITCH = ("context_switch_event", pick("next_prev_pid", "next_prev_tid"), golden_pick("next_prev_pid", "next_prev_tid"))
TIME = ["time_shift", "time_mult", "time_zero", "time_cycles", "time_mask", "cap_user_time_zero", "cap_user_time_short"]


def our_mmap(f):
    return (unsigned(f["pid"], 32), unsigned(f["tid"], 32), *pick("addr", "len", "pgoff", "maj", "min", "ino",
            "ino_generation", "prot", "flags", "filename")(f))


def our_priv(f):
    pt = f.get("intel_pt", {})
    words = [v for k, v in pt.items() if isinstance(v, int)]
    return (f["type"], tuple(words + f.get("priv", [])))


BY_TYPE = {
    "MMAP": ("mmap_event", our_mmap, golden_pick("pid", "tid", "start", "len", "pgoff", "maj", "min", "ino",
             "ino_generation", "prot", "flags", "filename")),
    "LOST": ("lost_event", pick("id", "lost"), golden_pick("id", "lost")),
    "COMM": ("comm_event", pick("pid", "tid", "comm"), golden_pick("pid", "tid", "comm")),
    "EXIT": TASK, "FORK": TASK, "THROTTLE": THROTTLE, "UNTHROTTLE": THROTTLE,
    "SAMPLE": ("sample_event", our_sample, golden_sample),
    "AUX": ("aux_event", lambda f: (f["aux_offset"], f["aux_size"], f["flags"] & 7),
            lambda e: (one(e, "aux_offset"), one(e, "aux_size"), one(e, "is_truncated", 0) |
                       one(e, "is_overwrite", 0) << 1 | one(e, "is_partial", 0) << 2)),
    "ITRACE_START": ("itrace_start_event", pick("pid", "tid"), golden_pick("pid", "tid")),
    "LOST_SAMPLES": ("lost_samples_event", pick("lost"), golden_pick("num_lost")),
    "SWITCH": SWITCH, "SWITCH_CPU_WIDE": SWITCH,
    "NAMESPACES": ("namespaces_event", lambda f: (f["pid"], f["tid"], tuple((n["dev"], n["ino"]) for n in f["links"])),
                   lambda e: (one(e, "pid"), one(e, "tid"), tuple((one(n, "dev"), one(n, "ino")) for n in e.get("link_info", [])))),
    "ID_INDEX": ("id_index_event", lambda f: tuple((e["id"], e["idx"], unsigned(e["cpu"], 64), unsigned(e["tid"], 64)) for e in f["entries"]),
                 lambda e: tuple((one(x, "id"), one(x, "idx"), one(x, "cpu"), one(x, "tid")) for x in e.get("entries", []))),
    "AUXTRACE_INFO": ("auxtrace_info_event", our_priv, lambda e: (one(e, "type"), tuple(e.get("unparsed_binary_blob_priv_data", [])))),
    "AUXTRACE": ("auxtrace_event", pick("size", "offset", "reference", "idx", "tid", "cpu"),
                 golden_pick("size", "offset", "reference", "idx", "tid", "cpu")),
    "THREAD_MAP": ("thread_map_event", lambda f: tuple((unsigned(e["pid"], 64), e["comm"]) for e in f["threads"]),
                   lambda e: tuple((one(x, "pid"), one(x, "comm")) for x in e.get("entries", []))),
    "TIME_CONV": ("time_conv_event", pick(*TIME), golden_pick(*TIME)),
}
BY_TYPE["MMAP2"] = BY_TYPE["MMAP"]


def our_records(dump):
    for r in dump["records"]:
        kind, f = r["type_is"], r["fields"]
        body = ()
        if kind in BY_TYPE:
            body = BY_TYPE[kind][1](f)
            if kind != "SAMPLE":
                body = (*body, *sample_id(f))
        yield kind, (r["type"], r["misc"], r["size"], *body)


def golden_records(proto, names):
    for e in proto.get("events", []):
        h = one(e, "header")
        kind = names.get(one(h, "type"), str(one(h, "type")))
        body = ()
        if kind in BY_TYPE:
            key = BY_TYPE[kind][0]
            event = one(e, key, one(e, "exit_event", {}) if key == "fork_event" else {})
            body = BY_TYPE[kind][2](event)
            if kind != "SAMPLE":
                body = (*body, *golden_sample_id(event))
        yield kind, (one(h, "type"), one(h, "misc"), one(h, "size"), *body)


TOP = 1 << 63
CHAIN = 12  # index of the call chain in the tuple of a sample
START, LENGTH, NAME = 5, 6, 14  # indexes in the tuple of a mapping


def top_set(kind, record):
    """A sample with the highest bit of its chain entries set, as quipper does for entries that are in no mapping."""
    if kind != "SAMPLE":
        return kind, record
    return kind, (*record[:CHAIN], tuple(v | TOP for v in record[CHAIN]), *record[CHAIN + 1:])


def joined(golden, ours):
    """quipper joins a mapping with the anonymous mapping directly after it, which has its huge pages."""
    short = {}
    for kind, r in ours:
        if kind == "MMAP":
            short[(r[3], r[4], r[START], r[NAME])] = r
    for kind, r in list(golden):
        mine = short.get((r[3], r[4], r[START], r[NAME])) if kind == "MMAP" else None
        anon = mine and short.get((r[3], r[4], mine[START] + mine[LENGTH], "//anon"))
        if anon and mine[LENGTH] + anon[LENGTH] == r[LENGTH]:
            for taken, counter in ((r, golden), (mine, ours), (anon, ours)):
                counter[(kind, taken)] -= 1
    return +golden, +ours


def record_differences(proto, dump):
    names = {r["type"]: r["type_is"] for r in dump["records"]}
    ours, golden = Counter(our_records(dump)), Counter(golden_records(proto, names))
    lacking = Counter()
    golden, ours = joined(golden - ours, ours - golden)
    golden, ours = (Counter({k: n for k, n in c.items() if k[0] != "SAMPLE"}) +
                    Counter(top_set(*k) for k in c.elements() if k[0] == "SAMPLE") for c in (golden, ours))
    for (kind, record), n in (golden - ours).items():
        yield f"golden only {n} x {kind} {record}"
    kinds = {k for k, _ in golden}
    for (kind, record), n in (ours - golden).items():
        lacking[kind] += n
        if lacking[kind] > MAY_LACK.get(kind, 0) and (record[0] not in TOOL_TYPES or kind in kinds):
            yield f"sonde only {n} x {kind} {record}"


# ---- header ----

TEXTS = {"hostname": "HOSTNAME", "kernel_version": "OSRELEASE", "perf_version": "VERSION", "architecture": "ARCH",
         "cpu_description": "CPUDESC", "cpu_id": "CPUID"}


def features(header):
    return {f["name"]: f.get("fields", {}) for f in header["features"] if f["name"]}


def header_differences(proto, header):
    have = features(header)
    texts = one(proto, "string_metadata", {})
    for key, name in TEXTS.items():
        want = one(one(texts, key, {}), "value")
        got = have.get(name, {}).get("value")
        if want is not None and want != (got or ""):
            yield f"{name}: golden {want!r}, sonde {got!r}"
    want = [one(t, "value") for t in texts.get("perf_command_line_token", [])]
    got = [t["value"] for t in have.get("CMDLINE", {}).get("list", [])]
    if want and want != got:
        yield f"CMDLINE: golden {want}, sonde {got}"
    want = [(one(p, "type"), one(p, "name")) for p in proto.get("pmu_mappings", [])]
    got = [(p["type"], p["name"]) for p in have.get("PMU_MAPPINGS", {}).get("pmus", [])]
    if want and want != got:
        yield f"PMU_MAPPINGS: golden {want}, sonde {got}"
    for topology in proto.get("cpu_topology", []):
        got = have.get("CPU_TOPOLOGY", {})
        for key, mine in (("core_siblings", "cores"), ("thread_siblings", "threads")):
            lists = [t["value"] for t in got.get(mine, {}).get("list", [])]
            if topology.get(key, []) != lists:
                yield f"CPU_TOPOLOGY {key}: golden {topology.get(key)}, sonde {lists}"
        want = [(one(c, "core_id"), one(c, "socket_id")) for c in topology.get("available_cpus", [])]
        mine = [(c["core_id"], c["socket_id"]) for c in got.get("cpus", [])]
        if want and want != mine:
            yield f"CPU_TOPOLOGY cpus: golden {want}, sonde {mine}"
    for group, mine in zip(proto.get("group_desc", []), have.get("GROUP_DESC", {}).get("groups", [])):
        want = (one(group, "name"), one(group, "leader_idx"), one(group, "num_members"))
        if want != (mine["name"], mine["leader_idx"], mine["nr_members"]):
            yield f"GROUP_DESC: golden {want}, sonde {mine}"


def number_differences(proto, header):
    have = {f["feature"]: f.get("fields", {}) for f in header["features"]}
    for m in proto.get("uint32_metadata", []) + proto.get("uint64_metadata", []):
        got = [v for v in have.get(one(m, "type"), {}).values() if isinstance(v, int)]
        if m.get("data", []) != got:
            yield f"feature {one(m, 'type')}: golden {m.get('data')}, sonde {got}"
    nodes = have.get(14, {}).get("nodes", [])
    want = [tuple(one(n, k) for k in ("id", "total_memory", "free_memory", "cpu_list")) for n in proto.get("numa_topology", [])]
    mine = [(n["node"], n["mem_total"], n["mem_free"], n["cpus"]) for n in nodes]
    if want and want != mine:
        yield f"NUMA_TOPOLOGY: golden {want}, sonde {mine}"


def event_differences(proto, evlist):
    """Names and ids of EVENT_DESC."""
    for i, (g, o) in enumerate(zip(proto.get("event_types", []), evlist["events"])):
        if one(g, "name") != o["name"] or ("ids" in g and g["ids"] != o["ids"]):
            yield f"event {i}: golden {one(g, 'name')} {g.get('ids')}, sonde {o['name']} {o['ids']}"


def build_id_differences(proto, header, dump):
    """Compares build ids: those of the header, or of BUILD_ID records in pipes."""
    entries = features(header).get("BUILD_ID", {}).get("build_ids", [])
    entries = [(e["misc"], e["pid"], e["filename"], e["build_id"], e["build_id_size"]) for e in entries]
    for r in dump["records"]:
        if r["type_is"] == "BUILD_ID":
            f = r["fields"]
            entries.append((r["misc"], f["pid"], f["filename"], f["build_id"], f["build_id_size"]))
    ours = Counter()
    for misc, pid, name, build_id, size in entries:
        size = size if misc & 0x8000 else 20
        ours[(misc, pid & 0xFFFFFFFF, name, build_id[:2 * size].rstrip("0"))] += 1
    golden = Counter()
    for b in proto.get("build_ids", []):
        hexes = one(b, "build_id_hash", "").encode("latin-1").hex()
        golden[(one(b, "misc"), one(b, "pid"), one(b, "filename"), hexes.rstrip("0"))] += 1
    for line in (golden - ours).elements():
        yield f"golden only {line}"
    for line in (ours - golden).elements():
        yield f"sonde only {line}"


def compare(name):
    path = os.path.join(FOLDER, name)
    goldens = [g for g in os.listdir(FOLDER) if re.fullmatch(re.escape(name) + r"(\.pr\.out)?\.pb_text(\.gz)?", g)]
    if not goldens:
        return
    docs, error = documents(path)
    if docs is None and NOT_YET in error:
        skip(name, NOT_YET)
        return
    if docs is None:
        result(False, f"{name} is read", [error])
        return
    dump, evlist, header = docs
    for golden in sorted(goldens):
        proto = parse_proto(read(os.path.join(FOLDER, golden)))
        for what, differences in (
                ("attrs", attr_differences(proto.get("file_attrs", []), evlist["events"])),
                ("records", record_differences(proto, dump)),
                ("header", header_differences(proto, header)),
                ("numbers", number_differences(proto, header)),
                ("events", event_differences(proto, evlist)),
                ("build ids", build_id_differences(proto, header, dump))):
            found = list(differences)
            result(not found, f"{what} of {golden}", [f"{len(found)} differences", *found])


def compare_build_ids(name):
    want = sorted(read(os.path.join(FOLDER, name)).splitlines())
    out, error = sonde("buildid-list", "-f", "-i", os.path.join(FOLDER, name[:-len(".buildids")]))
    if NOT_YET in error:
        skip(name, NOT_YET)
        return
    got = sorted(out.decode("utf-8", "replace").splitlines())
    result(want == got, name, [error, *(f"golden {x}" for x in want if x not in got), *(f"sonde  {x}" for x in got if x not in want)])


def main():
    if not os.path.isdir(FOLDER):
        print("1..0 # SKIP SONDE_CORPUS does not name a folder that has quipper/")
        return 0
    names = sorted(n for n in os.listdir(FOLDER) if not ONLY or any(o in n for o in ONLY))
    for name in names:
        if name.endswith(".next.buildids"):
            continue  # its recording is not in the corpus
        if name.endswith(".buildids"):
            compare_build_ids(name)
        elif "pb_text" not in name and name != "LICENSE":
            compare(name)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
