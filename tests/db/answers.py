# SPDX-License-Identifier: MIT
"""Answers to the questions of `sonde db`, from the rows of a database's tables, without SQL.

    Answers("perf.db").top()
"""
import sqlite3
from collections import Counter, defaultdict

NO_CALL, NO_RETURN = 1, 2
SEEN = ("call and return", "no call", "no return", "no call/return")


class Answers:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.row_factory = sqlite3.Row
        self.tables = {t: {r["id"]: r for r in self.db.execute(f"SELECT * FROM {t}")}
                       for t in ("symbols", "dsos", "threads", "comms", "call_paths", "calls", "samples", "branch_types")}
        self.calls = [c for n, c in sorted(self.tables["calls"].items()) if n]
        self.callees = defaultdict(list)
        for c in self.calls:
            self.callees[c["parent_id"]].append(c)

    def symbol(self, number):
        """name, object"""
        row = self.tables["symbols"][number]
        return row["name"], self.tables["dsos"][row["dso_id"]]["long_name"]

    def function(self, call):
        return self.symbol(self.tables["call_paths"][call["call_path_id"]]["symbol_id"])

    def callers(self, call):
        """Functions of its call path, without its own."""
        path = self.tables["call_paths"][call["call_path_id"]]
        while (path := self.tables["call_paths"][path["parent_id"]])["parent_id"]:
            yield self.symbol(path["symbol_id"])

    @staticmethod
    def took(call):
        return call["return_time"] - call["call_time"]

    def own(self, call):
        return self.took(call) - sum(map(self.took, self.callees[call["id"]]))

    def top(self):
        rows = defaultdict(lambda: {"calls": 0, "total": 0, "self": 0, "min": None, "max": None})
        for c in self.calls:
            name = self.function(c)
            row = rows[name]
            row["calls"] += 1
            row["self"] += self.own(c)
            row["total"] += 0 if name in self.callers(c) else self.took(c)
            if not c["flags"] & (NO_CALL | NO_RETURN):
                row["min"] = min(self.took(c), row["min"] if row["min"] is not None else self.took(c))
                row["max"] = max(self.took(c), row["max"] or 0)
        return [row | dict(zip(("function", "dso"), name)) for name, row in rows.items()]

    def chain(self, call):
        return tuple([self.function(call), *self.callers(call)][::-1])

    def graph(self):
        """By all functions of a path. Numbers of a path are not unique by them, so they are summed."""
        sums = defaultdict(Counter)
        for c in self.calls:
            sums[self.chain(c)].update({"calls": 1, "total": self.took(c), "self": self.own(c), "branches": c["branch_count"],
                                        "insns": c["insn_count"], "cycles": c["cyc_count"]})
        return sums

    def row(self, call):
        return {"entry": call["call_time"], "exit": call["return_time"], "duration": self.took(call),
                "branches": call["branch_count"], "insns": call["insn_count"], "cycles": call["cyc_count"]}

    def tree(self):
        """Each thread from its outermost calls on, callees in the order of time."""
        rows = []

        def add(calls, depth):
            for c in sorted(calls, key=lambda c: (c["call_id"], self.tables["call_paths"][c["call_path_id"]]["id"])):
                rows.append({"tid": self.tables["threads"][c["thread_id"]]["tid"]} | self.row(c) | {"depth": depth} |
                            dict(zip(("function", "dso"), self.function(c))))
                add(self.callees[c["id"]], depth + 1)
        for thread in sorted(self.tables["threads"]):
            add([c for c in self.callees[0] if c["thread_id"] == thread], 0)
        return rows

    def slow(self, name, limit):
        found = sorted((c for c in self.calls if self.function(c)[0] == name), key=lambda c: (-self.took(c), c["call_id"]))
        rows = []
        for c in found[:limit]:
            up = self.tables["call_paths"][c["parent_call_path_id"]]
            caller = self.symbol(up["symbol_id"])
            rows.append(self.row(c) | {"tid": self.tables["threads"][c["thread_id"]]["tid"],
                                       "comm": self.tables["comms"][c["comm_id"]]["comm"], "seen": SEEN[c["flags"] & 3],
                                       "caller": caller[0], "dso": caller[1]})
        return rows

    def between(self, a, b):
        rows, started = [], {}
        for c in sorted(self.calls, key=lambda c: c["call_id"]):
            name, thread = self.function(c)[0], c["thread_id"]
            if c["flags"] & NO_CALL:
                continue
            if name == b and thread in started:
                start = started.pop(thread)
                rows.append({"start": start, "end": c["call_time"], "duration": c["call_time"] - start,
                             "tid": self.tables["threads"][thread]["tid"]})
            if name == a:
                started[thread] = c["call_time"]
        return rows

    def branches(self, name):
        found = Counter()
        for number, s in self.tables["samples"].items():
            kind = s["branch_type"]
            if not number or not kind or self.symbol(s["to_symbol_id"])[0] != name:
                continue
            if s["symbol_id"] == s["to_symbol_id"] and not kind & 6:
                continue
            source = self.symbol(s["symbol_id"])
            found[self.tables["branch_types"][kind]["name"], s["to_sym_offset"], source[0], s["sym_offset"], source[1]] += 1
        return found
