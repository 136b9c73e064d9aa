# SPDX-License-Identifier: MIT
"""The PostgreSQL part of bench/export: sonde and perf's script write one recording, into a server of its own with the settings
that a new one has: bench/export_postgresql.py [--alone] SONDE RECORDING SYMFS|- WORDS... With --alone sonde writes it, once."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/export")]
from server import Server, missing  # noqa: E402

ALONE = sys.argv[1] == "--alone"
SONDE, RECORDING, SYMFS, *WORDS = sys.argv[1 + ALONE:]
SCRIPT = next((p for p in (Path(f"/usr/{lib}/perf-core/scripts/python/export-to-postgresql.py") for lib in ("lib", "libexec"))
               if p.exists()), None)
TICKS = os.sysconf("SC_CLK_TCK")


def processes(pid):
    """CPU seconds of a process, of those that it waited for, and of its children that run."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            ticks += sum(map(int, Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            pass  # it ended
    return ticks / TICKS


def measure(server, name, user, argv):
    database = f"{name}{user}"
    before, start = processes(server.process.pid), time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([a.replace("DATABASE", database) for a in argv], stdout=said, stderr=said, stdin=subprocess.DEVNULL,
                                 env=server.environment | {"PGUSER": user})
        usage = os.wait4(child.pid, 0)[2]
        seconds = time.monotonic() - start
        time.sleep(0.5)  # the process of the connection ends
        work = processes(server.process.pid) - before
        if database not in server.databases():
            said.seek(0)
            print(f"{name} failed: {said.read().decode(errors='replace').strip().splitlines()[-1:]}")
            return
    rows = int(server.sql(database, "SELECT count(*) FROM samples")[0]) - 1
    size = int(server.sql(database, "SELECT pg_database_size(current_database())")[0])
    client = usage.ru_utime + usage.ru_stime
    print(f"{name:6} {rows:9} samples {seconds:8.2f} s {rows / max(seconds, 0.01):10.0f} samples/s {client:8.2f} CPU s "
          f"{work:8.2f} CPU s of the server {usage.ru_maxrss / 1024:7.1f} MiB memory {size / 2**20:7.1f} MiB database, {user}", flush=True)
    server.sql("postgres", f"DROP DATABASE {database}")
    server.sql("postgres", "CHECKPOINT")


def main():
    symfs = [] if SYMFS == "-" else ["--symfs", SYMFS]
    with Server(Path("server").resolve(), settings={}) as server:
        server.sql("postgres", "CREATE ROLE maker LOGIN CREATEDB")
        export = [SONDE, "export", "--to", "postgresql", *symfs, "-i", RECORDING, "-o", "DATABASE", *WORDS]
        for user in ("tester",) if ALONE else ("tester", "maker"):  # tester is a superuser
            measure(server, "sonde", user, export)
        if not ALONE and SCRIPT is not None and shutil.which("perf"):
            # perf's Python takes its modules from where the first python3 of PATH is
            server.environment["PATH"] = f"/usr/bin:/bin:{os.environ['PATH']}"
            traced = ["--itrace=bep"] if symfs else []
            measure(server, "perf", "tester", ["perf", "script", *symfs, *traced, "-i", RECORDING, "-s", SCRIPT.as_posix(), "DATABASE",
                                               *WORDS])


if missing():
    print(f"postgresql: {missing()}")
else:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # for the user of the server
        os.chdir(folder)
        main()
