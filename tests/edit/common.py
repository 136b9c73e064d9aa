# SPDX-License-Identifier: MIT
"""What the tests of this folder share: recordings, records of files, and both tools in a home of their own."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

SONDE = os.path.realpath(sys.argv[1])
HAS_PERF = shutil.which("perf") is not None
FOLDER = tempfile.mkdtemp(prefix="sonde-edit-")
HOME = os.path.join(FOLDER, "home")
os.mkdir(HOME)
ENV = dict(os.environ, LC_ALL="C", PERF_PAGER="cat", PAGER="cat", DEBUGINFOD_URLS="", HOME=HOME,
           XDG_CACHE_HOME=os.path.join(HOME, ".cache"))


def at(name):
    return os.path.join(FOLDER, name)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def run(*argv, stdin=None, env=ENV, cwd=FOLDER):
    """(status, output, messages); stdin: bytes"""
    done = subprocess.run(argv, input=b"" if stdin is None else stdin, capture_output=True, env=env, cwd=cwd, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def sonde(*words, stdin=None):
    return run(SONDE, *words, stdin=stdin)


def perf(*words, stdin=None):
    return run("perf", *words, stdin=stdin)


def records(data):
    """[(type, misc, bytes)] of a little-endian file or stream, with the payload of AUXTRACE and TRACING_DATA."""
    if struct.unpack_from("<Q", data, 8)[0] == 16:
        at_, end = 16, len(data)
    else:
        at_, size = struct.unpack_from("<QQ", data, 40)
        end = at_ + size
    out = []
    while at_ + 8 <= end:
        kind, misc, size = struct.unpack_from("<IHH", data, at_)
        more = struct.unpack_from("<Q", data, at_ + 8)[0] if kind == 71 else 0
        more = (struct.unpack_from("<I", data, at_ + 8)[0] + 7) & ~7 if kind == 66 else more
        out.append((kind, misc, data[at_:at_ + size + more]))
        at_ += size + more
    return out


def kernel_records(data):
    """Records that do not describe the container."""
    return [r for r in records(data) if r[0] not in (64, 65, 66, 67, 80)]


def build_ids(tool, path):
    """The sorted lines of `buildid-list` of a recording."""
    return sorted(run(*tool, "buildid-list", "-i", path)[1].decode().splitlines())


def clean():
    shutil.rmtree(FOLDER, ignore_errors=True)
