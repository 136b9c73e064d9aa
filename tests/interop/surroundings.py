# SPDX-License-Identifier: MIT
"""Where the tests against perf run."""
import os


def whole_machine():
    """Whether the processes and paths that can be seen are the machine's own. In another process namespace the
    kernel sends names of processes that cannot be seen, all with number 0, and in a chroot perf looks for the
    files of processes outside: recordings of the whole machine cannot be compared there."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounted = any(line.split()[4] == "/" for line in f)  # not so in a chroot
    return mounted and os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC
