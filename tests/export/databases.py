# SPDX-License-Identifier: MIT
"""Compares two exported databases table by table. Ids are replaced by what they refer to, so only what the rows mean counts.

    for line in differences(rows(perf), rows(sonde)): ...
"""
import sqlite3
from collections import Counter

REFERENCES = {
    "machine_id": "machines", "thread_id": "threads", "process_id": "threads", "c_thread_id": "threads", "comm_id": "comms",
    "dso_id": "dsos", "to_dso_id": "dsos", "symbol_id": "symbols", "to_symbol_id": "symbols", "evsel_id": "selected_events",
    "call_path_id": "call_paths", "parent_call_path_id": "call_paths", "thread_out_id": "threads", "thread_in_id": "threads",
    "comm_in_id": "comms", "comm_out_id": "comms"}
OWN = ("hosts", "recordings")  # tables that perf's databases lack
# Their ids are numbers of samples, which perf also counts in the order of time, or of branch types.
NUMBERED = ("samples", "ptwrite", "cbr", "mwait", "pwre", "exstop", "pwrx", "branch_types")

PATHS = {}  # call paths: (number of the parent, symbol, ip) to a number


class Sqlite:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")

    def select(self, sql):
        """names of columns, rows"""
        found = self.connection.execute(sql)
        return [d[0].lower() for d in found.description], found.fetchall()

    def names(self, kind):
        return [r[0] for r in self.select(f"SELECT name FROM sqlite_master WHERE type = '{kind}' ORDER BY name")[1]]

    def columns(self, table):
        return self.select(f"SELECT * FROM {table} LIMIT 0")[0]

    def types(self, _table):
        """SQLite's types are words: each value has its own."""
        return {}

    def keys(self):
        return []


class Resolver:
    def __init__(self, database):
        self.tables, self.known, self.paths = {}, {}, {}
        for table in database.names("table"):
            columns, rows = database.select(f"SELECT * FROM {table}")
            self.tables[table] = {r[0]: dict(zip(columns, r)) for r in rows}

    def key(self, table, number):
        """What a row is, without ids."""
        if (table, number) not in self.known:
            self.known[table, number] = self.meaning(table, number, self.tables.get(table, {}).get(number))
        return self.known[table, number]

    def path(self, number):
        """The number of a call path, the same in all databases; its root has 0, or itself, as parent."""
        todo = []
        while number and number not in self.paths and (row := self.tables["call_paths"].get(number)) and row["parent_id"]:
            todo.append((number, row))
            number = row["parent_id"]
        found = self.paths.get(number, 0)
        for number, row in reversed(todo):
            step = (found, self.key("symbols", row["symbol_id"]), row["ip"])
            found = self.paths[number] = PATHS.setdefault(step, len(PATHS) + 1)
        return found

    def meaning(self, table, number, row):
        if table == "call_paths":
            return self.path(number) if table in self.tables else None
        if row is None:
            return ("no row", table, number)
        if table == "machines":
            return row["pid"], row["root_dir"]
        if table == "threads":
            return row["pid"], row["tid"]
        if table == "comms":
            return row["comm"], row["c_time"], bool(row["exec_flag"]), self.key("threads", row["c_thread_id"])
        if table == "dsos":
            return row["short_name"], row["long_name"], row["build_id"]
        if table == "symbols":
            return self.key("dsos", row["dso_id"]), row["sym_start"], row["sym_end"], row["binding"], row["name"]
        return row["name"]

    def parent(self, table, number):
        if table == "call_paths":
            return self.path(number)
        call = self.tables[table].get(number)
        return call and (self.path(call["call_path_id"]), call["call_time"], call["call_id"])

    def value(self, table, column, value):
        if column == "parent_id":
            return self.parent(table, value)
        if column in REFERENCES:
            return self.key(REFERENCES[column], value)
        if column in ("mhz", "percent"):  # fractions in perf's SQLite databases
            return int(value)
        if column == "has_calls":  # perf's is NULL or false
            return value or None
        return value

    def rows(self, table):
        keep = table in NUMBERED
        return Counter(tuple((c, self.value(table, c, v)) for c, v in row.items() if keep or c != "id")
                       for row in self.tables[table].values())


def stripped(rows, without):
    out = Counter()
    for row, n in rows.items():
        out[tuple(c for c in row if c[0] not in without)] += n
    return out


def differences(perf, sonde, without=(), view_ids=None):
    """Lines that say what differs; without: tables and columns of perf's that are not compared; view_ids: views are
    compared below this id (perf's are slow), tables always whole."""
    without = (*without, *OWN)

    def kept(names):
        return [n for n in names if not any(n == w or n == w + "_view" for w in without)]
    lines = []
    for kind in ("table", "view"):
        if kept(perf.names(kind)) != kept(sonde.names(kind)):
            lines.append(f"{kind}s only in one: {set(kept(perf.names(kind))) ^ set(kept(sonde.names(kind)))}")
        for name in kept(perf.names(kind)):
            if name in sonde.names(kind) and kept(perf.columns(name)) != kept(sonde.columns(name)):
                lines.append(f"columns of {name}: {kept(perf.columns(name))} {kept(sonde.columns(name))}")
            elif name in sonde.names(kind) and perf.types(name) != sonde.types(name):
                lines.append(f"types of {name}: {set(perf.types(name).items()) ^ set(sonde.types(name).items())}")
    theirs, ours = ([k for k in d.keys() if kept([k[0]])] for d in (perf, sonde))
    if theirs != ours:
        lines.append(f"keys: only perf {set(theirs) - set(ours)}, only sonde {set(ours) - set(theirs)}")
    if lines:
        return lines
    theirs, ours = Resolver(perf), Resolver(sonde)
    for table in kept(theirs.tables):
        a, b = theirs.rows(table), ours.rows(table)
        a, b = (stripped(c, without) for c in (a, b))
        if table == "symbols":  # perf makes some symbols without a name twice
            a, b = (Counter(dict.fromkeys(c, 1)) for c in (a, b))
        for who, rest in (("perf", a - b), ("sonde", b - a)):
            lines += [f"{table}: {sum(rest.values())} rows only of {who}"] if rest else []
            lines += [f"    {' '.join(f'{c}={str(v)[:70]}' for c, v in row)}" for row in list(rest)[:2]]
    # Views show what their names say: each has as many rows, with the same texts.
    for view in kept(perf.names("view")):
        columns = [c for c in perf.columns(view) if "id" not in c.split("_") and c not in without]
        some = f" WHERE id < {view_ids}" if view_ids and "id" in perf.columns(view) else ""
        wanted = "SELECT " + ", ".join(columns) + f" FROM {view}{some}"
        a, b = (Counter(tuple(int(v) if c in ("mhz", "percent") and str(v).strip() else str(v) if v is not None else v
                              for c, v in zip(columns, r)) for r in d.select(wanted)[1]) for d in (perf, sonde))
        if view == "symbols_view":
            a, b = (Counter(dict.fromkeys(c, 1)) for c in (a, b))
        if a != b:
            lines.append(f"{view}: {sum((a - b).values())} rows only of perf, as {list(a - b)[:1]}, {list(b - a)[:1]}")
    return lines
