# SPDX-License-Identifier: MIT
"""Where the tests against perf run, and how they wait: for what happened, never for a time that should be enough."""
import os
import select
import shutil
import subprocess
import time

# Commands that are recorded: the first creates the file `begun` when it runs, the second also ends only when there is
# a file `stop`. Both then use CPU time that does not depend on what else runs.
SOME_TIME = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
BEGUN = ["sh", "-c", f": >begun; {SOME_TIME}"]
UNTIL_STOP = ["sh", "-c", f": >begun; until [ -e stop ]; do :; done; {SOME_TIME}"]
SPIN = ["sh", "-c", "ulimit -t 300; while :; do :; done"]  # not for ever when a test forgets it


def nobody_may_run(program):
    """Whether the user nobody may run what was built here: not below a folder such as /root."""
    try:
        return subprocess.run([program, "--version"], user=65534, group=65534, extra_groups=[], capture_output=True,
                              check=False).returncode == 0
    except PermissionError:
        return False


def keep(path):
    """Copies the recording of a comparison that failed to the folder that SONDE_KEEP names."""
    folder = os.environ.get("SONDE_KEEP")
    if folder and os.path.isfile(path):
        os.makedirs(folder, exist_ok=True)
        shutil.copy(path, os.path.join(folder, f"{os.getpid()}-{os.path.basename(path)}"))


def wait_for(condition, seconds=60):
    """Whether the condition comes true; the time only ends a test that hangs."""
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
    """Seconds that a thread ran; 0 when it has ended. /proc/TID/stat would be that of its whole process."""
    try:
        with open(f"/proc/{task}/task/{task}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_run(tasks, seconds=0.1):
    """Until each of these threads has run so long from now on."""
    begin = {task: cpu_time(task) for task in tasks}
    return wait_for(lambda: all(cpu_time(task) - begin[task] >= seconds for task in tasks))


class Control:
    """The FIFOs of --control=, in the folder that the test is in. tell("ping") is answered when the recorder runs."""
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
    """Whether the processes and paths that can be seen are the machine's own. In another process namespace the
    kernel sends names of processes that cannot be seen, all with number 0, and in a chroot perf looks for the
    files of processes outside: recordings of the whole machine cannot be compared there."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounted = any(line.split()[4] == "/" for line in f)  # not so in a chroot
    return mounted and os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC
