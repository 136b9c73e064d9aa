#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configuration files: their syntax, their effect on options, and `sonde config`, as TAP: config.py SONDE RECORDINGS.

The syntax and the effects of perf's keys are compared with the installed perf.
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
from tap import result, skip  # noqa: E402

SONDE, RECORDINGS = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
HOME = tempfile.mkdtemp(prefix="sonde-config-")
DROP = ("PERF_CONFIG", "SONDE_CONFIG", "XDG_CONFIG_HOME")
ENV = {k: v for k, v in os.environ.items() if k not in DROP} | {"HOME": HOME, "LC_ALL": "C", "PERF_PAGER": "cat"}
PERFS, OWN = os.path.join(HOME, ".perfconfig"), os.path.join(HOME, ".config/sonde/config")
PERF = shutil.which("perf")
SPIN = "1491814f932cbcfe98a9bd5ad491a31db2691449"  # build id of root/mnt/spin

LOOP = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"

# text of a file, and what is listed; None: a mistake, after what is listed
SYNTAX = [
    ("[a]\nz = x   y\n", "a.z=x y\n"),
    ("[a]\nPercent-Limit = 3\n", "a.percent-Limit=3\n"),
    ("[A b.c]\nk=1\n", None),
    ('[a "q.R"]\nk=1\n', "a.q.R.k=1\n"),
    ('[a "x\\"y\\\\z"]\nk=1\n', 'a.x"y\\z.k=1\n'),
    ("[a_b-2.c]\nk_x=1\n", "a_b-2.c.k_x=1\n"),
    ("[1a]\nk=1\n", "1a.k=1\n"),
    ("[A]\nk=1\n", "a.k=1\n"),
    ("[ a ]\nk=1\n", None),
    ("[a]x\nk=1\n", None),
    ('[a "q"b]\nk=1\n', None),
    ("[]\nk=1\n", None),
    ("[a", None),
    ("[a]\nk x=1\n", None),
    ("[a]\nk.l=1\n", None),
    ("[a]\n1k=1\n", None),
    ("[a]\n-k=1\n", None),
    ("[a]\nk", None),
    ("[a]\nk #c\n", None),
    ("k=1\n", None),
    ("[a]k=1\nj = 2 ; c\n", "a.k=1\na.j=2\n"),
    ('[a]\nk = "x;y # z" w\\n\\t # c\n', "a.k=x;y # z w\n\t\n"),
    ('[a]\nk="  x  "  \n', "a.k=  x  \n"),
    ('[a]\nk="x"y"z"\n', "a.k=xyz\n"),
    ("[a]\nk==\"x\"\n", "a.k==x\n"),
    ("[a]\nk = x\\\n  y\nj=2", "a.k=x y\na.j=2\n"),
    ("[a]\nk=x\\qy\n", None),
    ('[a]\nk="x\ny"\n', None),
    ('[a]\nk=x\\"y\n', 'a.k=x"y\n'),
    ("[a]\nk =\n", "a.k=\n"),
    ("[a]\nk = 1\nk = 2\n", "a.k=2\n"),
    ("[a]\r\nk=1\r\n", "a.k=1\n"),
    ("\xef\xbb\xbf[a]\nk=1\n", "a.k=1\n"),
    ("; c\n# d\n\n\t[a]#x\nk=1;2\n", "a.k=1\n"),
    ('[a "b"]\nk=1\n[a]\nk=2\n[a "b"]\nl=3\n', "a.b.k=1\na.k=2\na.b.l=3\n"),
]
# recording, the variable, the options that have the same effect on `report`
EFFECTS = [
    ("chains.data", "[report]\nchildren = false\n", ["--no-children"]),
    ("chains.data", "[report]\nchildren = off\n", ["--no-children"]),
    ("chains.data", "[report]\nsort_order = dso,sym\n", ["-s", "dso,sym"]),
    ("chains.data", "[report]\npercent-limit = 30\n", ["--percent-limit", "30"]),
    ("chains.data", "[call-graph]\nprint-type = flat\n", ["-g", "flat"]),
    ("chains.data", "[call-graph]\norder = callee\n", ["-g", "callee"]),
    ("chains.data", "[call-graph]\nthreshold = 20\n", ["-g", "graph,20"]),
    ("chains.data", "[call-graph]\nprint-type = fractal\nthreshold = 40\norder = caller\n", ["-g", "fractal,40,caller"]),
]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text.encode("latin1"))


def read(path):
    with open(path, encoding="latin1") as f:
        return f.read()


def run(*argv, **env):
    return subprocess.run(argv, capture_output=True, env=ENV | env, text=True, errors="replace", timeout=60, check=False)


def clean():
    for path in (PERFS, OWN):
        if os.path.exists(path):
            os.unlink(path)


def test_syntax():
    for text, want in SYNTAX:
        write(PERFS, text)
        got = run(SONDE, "config", "--list")
        good = (got.stdout == want and got.stderr == "" and got.returncode == 0) if want is not None else (
            got.returncode == 255 and f"{PERFS}:" in got.stderr)
        result(good, f"the file {text!r} has " + ("a mistake" if want is None else f"{want!r}"), got.stdout, got.stderr)
        if PERF:
            theirs = run("perf", "config", "--list")
            result(theirs.stdout == got.stdout and ("bad config" in theirs.stderr) == (want is None),
                   f"the file {text!r}: perf lists the same", theirs.stdout, theirs.stderr)
    clean()


def report(tool, name, *options, **env):
    got = run(tool, "report", "--stdio", "-i", os.path.join(RECORDINGS, name), *options, **env)
    return re.sub(r"# \(Tip: .*\n", "", got.stdout)  # perf chooses one at random


def test_effects():
    for name, text, options in EFFECTS:
        clean()
        plain, wanted = report(SONDE, name), report(SONDE, name, *options)
        result(plain != wanted and len(wanted) > 200, f"report {' '.join(options)} changes the text", wanted)
        write(PERFS, text)
        what = " ".join(text.split())
        result(report(SONDE, name) == wanted, f"{what} in ~/.perfconfig prints as report {' '.join(options)}",
               report(SONDE, name))
        if PERF:
            theirs = report("perf", name)
            clean()
            result(theirs == report("perf", name, *options) != report("perf", name), f"{what}: so it is in perf", theirs)
        clean()
        write(OWN, text)
        result(report(SONDE, name) == wanted, f"{what} in ~/.config/sonde/config does the same")
    clean()


def test_order():
    name = "chains.data"
    flat, tree = report(SONDE, name, "-g", "flat"), report(SONDE, name)
    write(PERFS, "[call-graph]\nprint-type = flat\n")
    result(report(SONDE, name, "-g", "graph") == tree != flat, "an option takes precedence over a configuration file")
    write(OWN, "[call-graph]\nprint-type = graph\n")
    result(report(SONDE, name) == tree, "a file of Sonde takes precedence over one of perf")
    result(report(SONDE, name, SONDE_CONFIG="/dev/null") == flat, "SONDE_CONFIG=/dev/null: no file of Sonde is read")
    result(report(SONDE, name, SONDE_CONFIG="/dev/null", PERF_CONFIG="/dev/null") == tree,
           "PERF_CONFIG=/dev/null: no file of perf is read")
    write(os.path.join(HOME, "other"), "[report]\nsort = dso\n")
    result(report(SONDE, name, SONDE_CONFIG=os.path.join(HOME, "other")) == report(SONDE, name, "-s", "dso", "-g", "flat"),
           "SONDE_CONFIG=FILE: that file is read, by the name of the long option")
    write(os.path.join(HOME, "xdg/sonde/config"), "[report]\nsort = dso\n")
    result(report(SONDE, name, XDG_CONFIG_HOME=os.path.join(HOME, "xdg")) == report(SONDE, name, "-s", "dso", "-g", "flat"),
           "XDG_CONFIG_HOME/sonde/config is read")
    clean()


def test_targets():
    """Only regular files are replaced, by their own name."""
    link, own, folder, null = (os.path.join(HOME, name) for name in ("link", "own", "folder", "null"))
    os.symlink("own", link)
    write(own, "[report]\nns = true\n")
    done = subprocess.run([SONDE, "config", "report.sort=dso"], capture_output=True, text=True, env=dict(ENV, SONDE_CONFIG=link))
    with open(own, encoding="utf-8") as f:
        text = f.read()
    result(done.returncode == 0 and os.path.islink(link) and 'sort = "dso"' in text and "ns = true" in text,
           "a link stays, and the file that it names is changed", done.stderr, text)
    os.mkdir(folder)
    others = {"a folder": folder}
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        others["a device"] = null
    except OSError:
        skip("a device is not replaced", "this user may not make one")
    for what, path in others.items():
        before = os.stat(path).st_mode
        done = subprocess.run([SONDE, "config", "report.sort=dso"], capture_output=True, text=True,
                              env=dict(ENV, SONDE_CONFIG=path))
        result(done.returncode == 255 and os.stat(path).st_mode == before and path in done.stderr, f"{what} is not replaced",
               done.returncode, done.stderr)


def test_mistakes():
    name = os.path.join(RECORDINGS, "chains.data")
    plain = run(SONDE, "report", "-i", name)
    for text, words in (("[report]\n\nchildren = maybe\n", ":3: report.children = maybe is ignored: it is true or false"),
                        ("[report]\nmax-stack = x\n", ":2: report.max-stack = x is ignored: the option does not accept"),
                        ("[call-graph]\nprint-type = x\n", ":2: call-graph.print-type = x is ignored"),
                        ("[report]\nnothing = 1\n", ":2: report.nothing = 1 is ignored: the command has no such option")):
        write(OWN, text)
        got = run(SONDE, "report", "-i", name)
        result(words in got.stderr and got.stdout == plain.stdout and got.returncode == 0,
               f"{text.split()}: a warning, and the default", got.stderr)
    write(OWN, "[record]\nevent = cycles\n")
    got = run(SONDE, "record", "--dry-run", "-e", "cpu-clock", "--", "true")
    result("only be given on the command line" in got.stderr, "record.event is refused", got.stderr)
    clean()
    write(PERFS, "[report]\nnothing = 1\nqueue-size = 3\n[top]\nchildren = false\n")
    got = run(SONDE, "report", "-i", name)
    result(got.stderr == plain.stderr and got.stdout == plain.stdout, "keys of perf without a meaning here are ignored")
    clean()
    if os.geteuid() == 0:
        write(PERFS, "[report]\nsort_order = dso\n")
        os.chown(PERFS, 12345, 12345)
        got = run(SONDE, "report", "-i", name)
        result(got.stdout == plain.stdout and "belongs to another user" in got.stderr, "files of other users are ignored",
               got.stderr)
    else:
        skip("files of other users are ignored", "only root can give a file away")
    clean()


def attrs(text):
    write(PERFS, text)
    got = run(SONDE, "record", "--dry-run", "-vv", "-g", "-e", "cpu-clock", "--", "true")
    clean()
    return got.stdout + got.stderr


def test_record():
    plain, dwarf = attrs(""), attrs("[call-graph]\nrecord-mode = dwarf\ndump-size = 4096\n")
    result("sample_stack_user" not in plain and "4096" in dwarf and "sample_stack_user" in dwarf,
           "call-graph.record-mode and dump-size are the chains of record -g", plain, dwarf)
    result("sample_stack_user" in attrs("[record]\ncall-graph = dwarf\n"), "so is record.call-graph")
    result("build_id" in attrs("[record]\nbuild-id = mmap\n") and "build_id" not in plain,
           "record.build-id = mmap records build ids in mappings")


def test_build_ids():
    """buildid.dir is perf's cache of objects instead of ~/.debug; /dev/null is none."""
    store, debug = os.path.join(HOME, "store"), os.path.join(HOME, ".debug")
    entry = os.path.join(store, ".build-id", SPIN[:2], SPIN[2:])
    os.makedirs(entry)
    shutil.copy(os.path.join(RECORDINGS, "root", "mnt", "spin"), os.path.join(entry, "elf"))
    words = ["script", "-F", "ip,sym", "-f", "-i", os.path.join(RECORDINGS, "basic.data")]
    for tool in (SONDE, "perf") if PERF else (SONDE,):
        def names(*first, tool=tool, **env):
            return set(run(tool, *first, *words, **env).stdout.split())

        what = os.path.basename(tool)
        result("inner" not in names(), f"{what}: objects are not looked for elsewhere")
        result("inner" in names("--buildid-dir", store), f"{what}: --buildid-dir names the folder")
        write(PERFS, f"[buildid]\ndir = {store}\n")
        result("inner" in names(), f"{what}: buildid.dir names the folder")
        result("inner" not in names("--buildid-dir", HOME), f"{what}: --buildid-dir takes precedence")
        write(PERFS, "[buildid]\ndir =\n")
        os.symlink(store, debug)
        result("inner" in names(), f"{what}: an empty buildid.dir is ~/.debug")
        write(PERFS, "[buildid]\ndir = /dev/null\n")
        result("inner" not in names(), f"{what}: the folder /dev/null is none")
        os.unlink(debug)
        clean()
    result("inner" in set(run(SONDE, f"--buildid-dir={store}", *words).stdout.split()), "--buildid-dir=DIR names the folder too")
    got = run(SONDE, "--buildid-dir")
    result(got.returncode == 129 and "needs the path of a folder" in got.stderr, "--buildid-dir alone is a mistake", got.stderr)
    got = run(SONDE, "--buildid-dir", store, "doctor").stdout
    result(f"{store} holds build ids" in got, "doctor looks at that folder", got)


def test_stored():
    """Where `record` stores the objects that samples hit."""
    data, store = os.path.join(HOME, "perf.data"), os.path.join(HOME, "new")
    for tool in (SONDE, "perf") if PERF else (SONDE,):
        what = os.path.basename(tool)
        for folder in (store, "/dev/null"):
            write(PERFS, f"[buildid]\ndir = {folder}\n")
            got = run(tool, "record", "-e", "cpu-clock", "-F", "2000", "-o", data, "--", "sh", "-c", LOOP)
            if got.returncode != 0:
                skip(f"{what} record: buildid.dir", "nothing can be recorded here")
                continue
            made = [os.path.isdir(os.path.join(path, ".build-id")) for path in (store, os.path.join(HOME, ".debug"))]
            result(made == [folder == store, False], f"{what} record: buildid.dir = {os.path.basename(folder)}", made, got.stderr)
            shutil.rmtree(store, ignore_errors=True)
    clean()


def test_set():
    def config(*words):
        return run(SONDE, "config", *words)

    result(config("report.children=false").returncode == 0 and read(OWN) == '[report]\n\tchildren = "false"\n',
           "config KEY=VALUE makes the user's file")
    result(config("report.children").stdout == "report.children=false\n", "config KEY prints the value")
    text = ("# mine\n[report]\n\tchildren = true  # yes\n\n\tchildren = \\\n  false\n; end\n[call-graph]\norder=caller\n"
            "[stat]")
    write(OWN, text)
    config("report.children=true", "report.sort=sym;dso", "stat.big-num=no", "call-graph.order= a \"b\" ")
    result(read(OWN) == ('# mine\n[report]\n\tchildren = true  # yes\n\n\tchildren = "true"\n\tsort = "sym;dso"\n; end\n'
                         '[call-graph]\n\torder = " a \\"b\\" "\n[stat]\n[stat]\n\tbig-num = "no"\n'),
           "only the variable's lines change", read(OWN))
    result(config("--list").stdout == 'report.children=true\nreport.sort=sym;dso\ncall-graph.order= a "b" \nstat.big-num=no\n',
           "what was set is what is read", config("--list").stdout)
    got = config("--list", "--show-origin").stdout
    result(got.startswith(f"{OWN}:5\treport.children=true\n"), "--show-origin prints file and line", got)
    write(PERFS, "[report]\nchildren = false\n[x]\ny = 1\n")
    result("report.children=true\n" in config().stdout and "x.y=1\n" in config().stdout, "all files are listed together")
    result(config("--system", "--list").stdout == "" and config("--user", "x.y").stdout == "x.y=1\n",
           "--system and --user select files")
    for words, why in ((["x"], "'x' is no key"), (["x.y="], "x.y= has no value"), (["x y.z=1"], "is no key"),
                       (["x.1=2"], "is no key"), (["x.y=" + "z" * 2000], "longer than")):
        got = config(*words)
        result(got.returncode == 255 and why in got.stderr, f"config {words[0][:20]}: {why}", got.stderr)
    write(OWN, "[report\n")
    got = config("report.sort=dso")
    result(got.returncode == 255 and ":1 has a mistake" in got.stderr and read(OWN) == "[report\n",
           "a file with a mistake is not changed", got.stderr)
    clean()
    os.makedirs(os.path.join(HOME, "file"))
    got = run(SONDE, "config", "a.b=c", SONDE_CONFIG=os.path.join(HOME, "file"))
    result(got.returncode == 255 and "cannot read" in got.stderr, "a folder instead of the file is an error", got.stderr)
    result(sorted(os.listdir(os.path.dirname(OWN))) == [], "no temporary file is left")


try:
    test_syntax()
    test_effects()
    test_order()
    test_targets()
    test_mistakes()
    test_record()
    test_build_ids()
    test_stored()
    test_set()
finally:
    shutil.rmtree(HOME)
sys.exit(tap.end())
