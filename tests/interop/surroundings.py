# SPDX-License-Identifier: MIT
"""Helpers of the tests against perf: the machine they run on, and waiting for conditions instead of fixed times."""
import os
import select
import shutil
import subprocess
import time

# Commands to record. BEGUN creates the file `begun` when it starts; UNTIL_STOP also runs until the file `stop` exists.
# Both then use an amount of CPU time that does not depend on the machine's load.
SOME_TIME = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
BEGUN = ["sh", "-c", f": >begun; {SOME_TIME}"]
UNTIL_STOP = ["sh", "-c", f": >begun; until [ -e stop ]; do :; done; {SOME_TIME}"]
SPIN = ["sh", "-c", "ulimit -t 300; while :; do :; done"]  # limited, in case that a test does not end it


def nobody_may_run(program):
    """Whether the user nobody may run a program of this build: not if the build is below a folder such as /root."""
    try:
        return subprocess.run([program, "--version"], user=65534, group=65534, extra_groups=[], capture_output=True,
                              check=False).returncode == 0
    except PermissionError:
        return False


def keep(path):
    """Copies the recording of a failed comparison to the folder SONDE_KEEP."""
    folder = os.environ.get("SONDE_KEEP")
    if folder and os.path.isfile(path):
        os.makedirs(folder, exist_ok=True)
        shutil.copy(path, os.path.join(folder, f"{os.getpid()}-{os.path.basename(path)}"))


def in_order(path):
    """Whether perf puts all samples of a recording in order of time. On a busy machine some are read later than its
    rounds allow (doc/differences.md)."""
    done = subprocess.run(["perf", "script", "-F", "time", "-f", "-i", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    return "out of order events recorded" not in done.stderr


def wait_for(condition, seconds=60):
    """Whether the condition becomes true; the time limit only ends a test that hangs."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def unmark():
    for name in ("begun", "stop"):
        if os.path.exists(name):
            os.unlink(name)


def begun():
    return wait_for(lambda: os.path.exists("begun"))


def stop():
    with open("stop", "w", encoding="ascii"):
        pass


def cpu_time(task):
    """CPU time of a thread in seconds; 0: it has ended. /proc/TID/stat would be that of its whole process."""
    try:
        with open(f"/proc/{task}/task/{task}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_run(tasks, seconds=0.1):
    """Waits until each of these threads has used this much more CPU time."""
    begin = {task: cpu_time(task) for task in tasks}
    return wait_for(lambda: all(cpu_time(task) - begin[task] >= seconds for task in tasks))


class Control:
    """The FIFOs of --control=, in the working directory. tell("ping") is answered once the recorder runs."""
    option = "--control=fifo:ctl,ack"

    def __init__(self):
        for name in ("ctl", "ack"):
            if not os.path.exists(name):
                os.mkfifo(name)
        self.ctl = os.open("ctl", os.O_RDWR)
        self.ack = os.open("ack", os.O_RDWR)

    def write(self, line):
        os.write(self.ctl, line.encode() + b"\n")

    def tell(self, command):
        self.write(command)
        ready, _, _ = select.select([self.ack], [], [], 30)
        return os.read(self.ack, 64) if ready else b""

    def close(self):
        os.close(self.ctl)
        os.close(self.ack)


def whole_machine():
    """Whether this runs in the machine's first process namespace and not in a chroot. In another process namespace the
    kernel also sends names of invisible processes, all with number 0; in a chroot perf looks for files of processes
    outside. Recordings of the whole machine cannot be compared there."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounted = any(line.split()[4] == "/" for line in f)  # not so in a chroot
    return mounted and os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC
