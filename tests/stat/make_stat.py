#!/usr/bin/env python3
"""Makes recordings of counters (`perf stat record`) from a list of events, also those of hardware that is not present.

A recording is a seekable perf.data: header, ids, attrs, then the records EVENT_UPDATE, THREAD_MAP, CPU_MAP,
STAT_CONFIG, STAT, STAT_ROUND (doc/format.md), then features.

    recording([Event("cycles", 0, 0, [[(1000, 10, 10)]])], ...)  # rounds of cpus of (value, enabled, running)
"""
import struct

SOFTWARE = {"cpu-clock": 0, "task-clock": 1, "page-faults": 2, "context-switches": 3, "cpu-migrations": 4}
HARDWARE = {"cycles": 0, "instructions": 1, "cache-references": 2, "cache-misses": 3, "branches": 4,
            "branch-misses": 5, "bus-cycles": 6, "stalled-cycles-frontend": 7, "stalled-cycles-backend": 8,
            "ref-cycles": 9}
CACHES = {"L1-dcache": 0, "L1-icache": 1, "LLC": 2, "dTLB": 3, "iTLB": 4, "branch": 5}
GLOBAL, SOCKET, DIE, CORE, THREAD, NONE, NODE = 1, 2, 3, 4, 5, 0, 6
CMDLINE, CPU_TOPOLOGY, NRCPUS, EVENT_DESC, NUMA, STAT = 11, 13, 7, 12, 14, 21
ARCH, HOSTNAME, OSRELEASE, VERSION = 6, 3, 4, 5


def kind(name):
    """(type, config) of an event name."""
    base = name.split(":")[0]
    if base in SOFTWARE:
        return 1, SOFTWARE[base]
    if base in HARDWARE:
        return 0, HARDWARE[base]
    for cache, number in CACHES.items():
        if base.startswith(cache + "-"):
            miss = base.endswith("misses")
            return 3, number | (0x10000 if miss else 0) | (0x200 if "prefetch" in base else 0)
    return 4, 0x1234


class Event:
    """counts[round][cpu] = (value, enabled, running); unit and scale are those of EVENT_UPDATE."""

    def __init__(self, name, counts, unit=None, scale=None):
        self.name, self.counts, self.unit, self.scale = name, counts, unit, scale
        self.type, self.config = kind(name)
        if self.type == 1 and self.config < 2 and unit is None:
            self.unit, self.scale = "msec", 1e-6


def record(kind_, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind_, 0, 8 + len(body)) + body


def text(value):
    raw = value.encode(errors="surrogateescape") + b"\0"
    raw += b"\0" * (-len(raw) % 64)
    return struct.pack("<I", len(raw)) + raw


def attr(event):
    exclude = (1 << 5 | 1 << 6) if event.name.endswith(":u") else 0
    flags = 1 | 1 << 1 | 1 << 20 | exclude
    return struct.pack("<IIQQQQQ", event.type, 128, event.config, 0, 1 << 16, 3, flags) + b"\0" * 80


def topology(cpus, sockets):
    """CPU_TOPOLOGY: consecutive cpus in each socket, two threads a core."""
    def lists(groups):
        return struct.pack("<I", len(groups)) + b"".join(text(g) for g in groups)

    per = cpus // sockets
    out = lists([f"{s * per}-{(s + 1) * per - 1}" for s in range(sockets)])
    out += lists([f"{c}-{c + 1}" for c in range(0, cpus, 2)])
    for cpu in range(cpus):
        out += struct.pack("<II", cpu % per // 2, cpu // per)
    out += lists([f"{s * per}-{(s + 1) * per - 1}" for s in range(sockets)])
    for cpu in range(cpus):
        out += struct.pack("<I", 0)
    return out


def numa(cpus):
    half = cpus // 2
    out = struct.pack("<I", 2)
    for node in range(2):
        out += struct.pack("<IQQ", node, 1000, 500) + text(f"{node * half}-{(node + 1) * half - 1}")
    return out


def recording(path, events, *, aggr=GLOBAL, interval=0, times=(1000000,), cpus=0, threads=((1, ""),), scale=1):
    """cpus: number of cpus, from cpu 0; 0: the events are of threads, on any cpu."""
    ids, data = {}, b""
    places = [c for c in range(cpus)] if cpus else list(range(len(threads)))
    number = 100
    for event in events:
        ids[event] = []
        for _ in places:
            ids[event].append(number)
            number += 1
        if all(c is None for c in event.counts):
            ids[event] = []
            continue
        if event.unit:
            body = event.unit.encode() + b"\0"
            data += record(78, struct.pack("<QQ", 0, ids[event][0]) + body + b"\0" * (-len(body) % 8))
            data += record(78, struct.pack("<QQd", 1, ids[event][0], event.scale))
    names = b"".join(struct.pack("<Q16s", pid & (1 << 64) - 1, comm.encode(errors="surrogateescape")) for pid, comm in threads)
    data += record(73, struct.pack("<Q", len(threads)) + names)
    numbers = list(range(cpus)) if cpus else [65535]
    data += record(74, struct.pack("<HH", 0, len(numbers)) + struct.pack(f"<{len(numbers)}H", *numbers))
    data += record(75, struct.pack("<QQQQQQQ", 3, 0, aggr, 1, interval, 2, scale))
    for step, time in enumerate(times):
        for place in range(len(places)):
            for event in events:
                if not ids[event]:
                    continue
                value, enabled, running = event.counts[step][place]
                cpu, thread = (places[place], 0) if cpus else (-1 & 0xffffffff, place)
                data += record(76, struct.pack("<QIIQQQ", ids[event][place], cpu, thread, value, enabled, running))
        data += record(77, struct.pack("<QQ", 0 if interval else 1, time))
    features = {HOSTNAME: text("host"), OSRELEASE: text("6.1"), VERSION: text("6.1"), ARCH: text("x86_64"),
                NRCPUS: struct.pack("<II", max(cpus, 2), max(cpus, 2)),
                CMDLINE: struct.pack("<I", 2) + text("tool") + text("work"),
                CPU_TOPOLOGY: topology(max(cpus, 2), 2 if cpus >= 4 else 1), NUMA: numa(max(cpus, 2)), STAT: b""}
    desc = struct.pack("<II", len(events), 128)
    for event in events:
        desc += attr(event) + struct.pack("<I", len(ids[event])) + text(event.name)
        desc += struct.pack(f"<{len(ids[event])}Q", *ids[event])
    features[EVENT_DESC] = desc
    write(path, events, ids, data, features)


def write(path, events, ids, data, features):
    at, body, attrs = 104, b"", b""
    for event in events:
        attrs += attr(event) + struct.pack("<QQ", at + len(body), 8 * len(ids[event]))
        body += struct.pack(f"<{len(ids[event])}Q", *ids[event])
    attrs_at = at + len(body)
    data_at = attrs_at + len(attrs)
    bits = sum(1 << bit for bit in features)
    head = struct.pack("<8sQQQQQQQQQ", b"PERFILE2", 104, 144, attrs_at, len(attrs), data_at, len(data), 0, 0,
                       bits & (1 << 64) - 1) + b"\0" * 24
    table, payload = b"", b""
    start = data_at + len(data) + 16 * len(features)
    for bit in sorted(features):
        table += struct.pack("<QQ", start + len(payload), len(features[bit]))
        payload += features[bit]
    with open(path, "wb") as out:
        out.write(head + body + attrs + data + table + payload)
