# SPDX-License-Identifier: MIT
"""A PostgreSQL server of a test, on a socket in a folder of its own, and what its databases contain.

    with Server(folder) as server: ... server.environment, Database(server, "name") ...

missing() is the reason why there can be none.
"""
import ctypes
import json
import os
import pwd
import signal
import subprocess
import time
from pathlib import Path

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)), None)


def library():
    found = ctypes.CDLL("libpq.so.5")
    for name in ("PQconnectdb", "PQexec"):
        getattr(found, name).restype = ctypes.c_void_p
    for name in ("PQerrorMessage", "PQgetvalue"):
        getattr(found, name).restype = ctypes.c_char_p
    return found


def missing():
    if PROGRAMS is None or not (PROGRAMS / "initdb").exists():
        return "no PostgreSQL server is installed"
    try:
        library()
    except OSError:
        return "libpq is not installed"
    return None


class Connection:
    def __init__(self, server, database):
        self.pq = library()
        self.handle = ctypes.c_void_p(self.pq.PQconnectdb(
            f"host={server.folder} port={server.port} user=tester dbname='{database}'".encode()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pq.PQfinish(self.handle)

    def run(self, sql):
        """First values of the rows; RuntimeError with the server's message."""
        result = ctypes.c_void_p(self.pq.PQexec(self.handle, sql.encode()))
        try:
            if self.pq.PQresultStatus(result) not in (1, 2):  # done, rows
                raise RuntimeError(self.pq.PQerrorMessage(self.handle).decode())
            return [self.pq.PQgetvalue(result, i, 0).decode() for i in range(self.pq.PQntuples(result))]
        finally:
            self.pq.PQclear(result)


class Server:
    def __init__(self, folder, port=5432, settings=None):
        """settings: of the server; None: it may lose databases if the machine fails."""
        self.folder, self.port, self.process = Path(folder), port, None
        self.settings = {"fsync": "off", "shared_buffers": "64MB"} if settings is None else settings
        self.user = {} if os.geteuid() != 0 else {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
        self.environment = os.environ | {"PGHOST": str(self.folder), "PGUSER": "tester", "PGPORT": str(port)}

    def as_server(self, *words):
        """Runs a program of the server, which refuses to run as root."""
        return {"args": list(map(str, words)), **self.user, "stdin": subprocess.DEVNULL, "cwd": self.folder,
                "env": os.environ | {"HOME": str(self.folder), "LC_ALL": "C"}}

    def __enter__(self):
        self.folder.mkdir()
        if self.user:
            os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, self.user["group"])
        done = subprocess.run(**self.as_server(PROGRAMS / "initdb", "-D", "data", "-U", "tester", "--auth=trust", "--no-sync",
                                               "--no-instructions", "-E", "UTF8"), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"initdb: {done.stderr}")
        self.start()
        return self

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                **self.as_server(PROGRAMS / "postgres", "-D", "data", "-k", self.folder, "-p", self.port, "-c", "listen_addresses=",
                                 *[f"--{name}={value}" for name, value in self.settings.items()]), stdout=log, stderr=log)
        for _ in range(600):
            try:
                self.sql("postgres", "SELECT 1")
                return
            except RuntimeError:
                time.sleep(0.1)
        raise RuntimeError(f"the server does not answer: {(self.folder / 'log').read_text()[-500:]}")

    def stop(self, how=signal.SIGINT):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def __exit__(self, *_):
        self.stop()

    def sql(self, database, sql):
        with Connection(self, database) as connection:
            return connection.run(sql)

    def databases(self):
        return self.sql("postgres", "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY 1")


class Database:
    """What differences() of databases.py compares."""
    def __init__(self, server, name):
        self.connection = Connection(server, name)

    def __del__(self):
        self.connection.__exit__()

    def objects(self, sql):
        return [json.loads(row) for row in self.connection.run(f"SELECT row_to_json(found) FROM ({sql}) found")]

    def select(self, sql):
        """names of columns, rows"""
        found = self.objects(sql)
        return list(found[0]) if found else [], [tuple(row.values()) for row in found]

    def names(self, kind):
        kinds = {"table": "BASE TABLE", "view": "VIEW"}
        return [r[0] for r in self.select("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' "
                                          f"AND table_type = '{kinds[kind]}' ORDER BY 1")[1]]

    def types(self, table):
        return dict(self.select("SELECT column_name, data_type FROM information_schema.columns WHERE "
                                f"table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position")[1])

    def columns(self, table):
        return list(self.types(table))

    def keys(self):
        """Primary and foreign keys and indexes of the tables that a user sees."""
        return self.select("SELECT t.relname::text, k.contype::text AS kind, pg_get_constraintdef(k.oid) AS key "
                           "FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_namespace n "
                           "ON n.oid = t.relnamespace WHERE n.nspname = 'public' AND k.conparentid = 0 UNION ALL "
                           "SELECT tablename::text, 'i', regexp_replace(indexdef, 'ON (ONLY )?', 'ON ') FROM pg_indexes "
                           "WHERE schemaname = 'public' ORDER BY 1, 2, 3")[1]

    def dangling(self):
        """Foreign keys, with the number of their rows that refer to no row."""
        keys = self.select("SELECT k.conrelid::regclass::text, a.attname::text, k.confrelid::regclass::text FROM pg_constraint k JOIN "
                           "pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] WHERE k.contype = 'f' AND "
                           "k.conparentid = 0")[1]
        sql = " UNION ALL ".join(
            f"SELECT '{table}.{column}' AS key, count(*) AS rows FROM {table} t WHERE {column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {target} WHERE {target}.id = t.{column})" for table, column, target in keys)
        return self.select(f"SELECT * FROM ({sql}) d WHERE rows <> 0")[1] if keys else [("no keys", 0)]
