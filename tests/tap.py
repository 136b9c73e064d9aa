# SPDX-License-Identifier: MIT
"""Results of Python tests as TAP: result() and skip() for each check, at the end sys.exit(tap.end())."""
LINES = 24  # of the detail of a check that failed
count = failures = 0


def result(good, what, *detail):
    """detail: what to print where it is not good, each of one or more lines"""
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}", flush=True)
    for line in [] if good else "\n".join(map(str, detail)).splitlines()[:LINES]:
        print("#   " + line[:400], flush=True)


def skip(what, why):
    global count
    count += 1
    print(f"ok {count} - {what} # SKIP {why}", flush=True)


def end():
    """The plan; the status to exit with."""
    print(f"1..{count}", flush=True)
    return int(failures != 0)
