#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines and files of either byte order say and write the same, as TAP: other_host.py SONDE [GEN]

SONDE_NATIVE names a sonde of this machine when SONDE is one for another machine (scripts/s390x); without it both are
SONDE, and what is compared is files of both byte orders. With GEN made files are taken, else those of SONDE_CORPUS
that its INDEX.tsv names, up to SONDE_OTHER_SIZE bytes each (300000).

Each file is written in both byte orders by both: the same bytes. Both dump and show each of the three (as it was,
little, big) alike, and what is said of the two written ones differs in the word for the byte order only.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SONDE = os.path.realpath(sys.argv[1])
NATIVE = os.environ.get("SONDE_NATIVE") or SONDE
ENV = dict(os.environ, LC_ALL="C", TZ="UTC", PAGER="cat", SONDE_CACHE="")
SHOWN = [["report", "--stdio", "-n", "--no-children", "-g", "none"], ["script"], ["evlist", "-v"],
         ["report", "--stats"], ["report", "--header-only", "-I"], ["buildid-list"], ["check"]]
# The reader's own vdso names the addresses of a recording that has no build id of its vdso: machines differ there.
VDSO = re.compile(rb"(?m)^.*\[vdso\].*\n|^# [. ]+\n")
# What is said of the file itself.
OF_FILE = re.compile(rb"captured on|data offset|data size|feat offset|-endian|PERFILE2|compressed")
count = failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in str(why).splitlines()[:12] if not good else []:
        print("#   " + line[:300])


def run(tool, words, path):
    done = subprocess.run([tool, *words, "-i", path], capture_output=True, env=ENV, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def dump(tool, path):
    """All records with their fields and, to compare files of two byte orders, without places and raw bytes."""
    done = subprocess.run([tool, "dump", "-f", "--json", path], capture_output=True, env=ENV, check=False)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.stdout, {}
    document.pop("byte_order", None)
    document.pop("file", None)
    return done.stdout, document


def without_vdso(said):
    """What a sonde said, without the lines that its own vdso decides, and widths of columns."""
    code, out, err = said
    return code, VDSO.sub(b"", out), err


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x!r}\n{y!r}"
    return f"{len(a)} and {len(b)} bytes"


def written(name, path, folder):
    """By this sonde in both byte orders; the other writes the same bytes."""
    files = {}
    for order in "little", "big":
        made = []
        for who, tool in (("native", NATIVE), ("other", SONDE)):
            out = os.path.join(folder, f"{who}-{order}")
            done = subprocess.run([tool, "convert", "-f", "-i", path, "-o", out, "--endian", order, "--to", "file",
                                   "--plain"], capture_output=True, env=ENV, check=False)
            if done.returncode not in (0, 1):
                check(False, f"{name} is written {order}-endian", done.stderr.decode(errors="replace"))
                return {}
            with open(out, "rb") as f:
                made.append(f.read())
        check(made[0] == made[1], f"{name}: both machines write the same {order}-endian bytes",
              f"{len(made[0])} and {len(made[1])} bytes, first at "
              f"{next((i for i, (a, b) in enumerate(zip(*made)) if a != b), min(map(len, made)))}")
        files[order] = os.path.join(folder, f"native-{order}")
    return files


def compare(name, path, folder):
    files = written(name, path, folder)
    if not files:
        return
    documents = {}
    for form, file in [("as it is", path), *files.items()]:
        native, documents[form] = dump(NATIVE, file)
        if SONDE != NATIVE:
            other, _ = dump(SONDE, file)
            check(native == other != b"", f"{name}, {form}: both machines print the same dump", first_difference(native, other))
    same = documents["little"] == documents["big"] != {}
    check(same, f"{name}: both byte orders have the same dump")
    said = {}
    for form, file in [("as it is", path), *files.items()]:
        for words in SHOWN:
            native = run(NATIVE, words, file)
            if SONDE != NATIVE:
                a, b = (without_vdso(said) for said in (native, run(SONDE, words, file)))
                check(a == b, f"{name}, {form}: both machines print the same {' '.join(words)}", first_difference(a[1] + a[2], b[1] + b[2]))
            said[form, words[0], len(words)] = (native[0], [x for x in native[1].replace(file.encode(), b"FILE")
                                                            .splitlines() if not OF_FILE.search(x)])
    sampled = any(b"SAMPLE events" in line for line in said["little", "report", 2][1])
    may_be_empty = ["buildid-list"] if sampled else ["buildid-list", "script"]
    for words in SHOWN:
        little, big = (said[form, words[0], len(words)] for form in ("little", "big"))
        some = little[1] != [] or words[0] in may_be_empty
        check(little == big and some, f"{name}: both byte orders have the same {' '.join(words)}",
              first_difference(b"\n".join(little[1]), b"\n".join(big[1])))


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            for words in (["-e", "2"], ["-e", "1", "-c", "1"]):
                path = os.path.join(folder, "made")
                subprocess.run([sys.argv[2], "-n", "1000", *words, "-o", path], check=True)
                compare("made " + " ".join(words), path, folder)
        elif not os.path.isfile(os.path.join(os.environ.get("SONDE_CORPUS", ""), "INDEX.tsv")):
            print("1..0 # SKIP no corpus: set SONDE_CORPUS to a folder of recordings with INDEX.tsv")
            return 0
        else:
            corpus = os.environ["SONDE_CORPUS"]
            limit = int(os.environ.get("SONDE_OTHER_SIZE", "300000"))
            with open(os.path.join(corpus, "INDEX.tsv"), encoding="utf-8") as f:
                for name in [x.split("\t")[0] for x in f.read().splitlines()[1:]]:
                    path = os.path.join(corpus, name)
                    if "crashers" not in name and (os.path.isdir(path) or os.path.getsize(path) <= limit):
                        compare(name, path, folder)
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
