#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public headers compile alone and together, as C and as C++, as TAP: headers.py INCLUDE_FOLDER."""
import itertools
import pathlib
import shutil
import subprocess
import sys

INCLUDE = pathlib.Path(sys.argv[1])
FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{INCLUDE}"]
LANGUAGES = {"c": ["c99", "c11", "gnu17"], "c++": ["c++11", "c++20"]}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
count = failures = 0


def compiles(language, standard, compiler, headers, what):
    global count, failures
    text = "".join(f"#include <{h}>\n" for h in headers) + "extern int used;\n"
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", *FLAGS, "-"], input=text, text=True,
                          capture_output=True)
    count += 1
    failures += done.returncode != 0
    print(f"{'not ' if done.returncode else ''}ok {count} - {compiler} -std={standard}: {what}")
    for line in done.stderr.splitlines()[:12]:
        print("#   " + line)


def main():
    headers = sorted(str(h.relative_to(INCLUDE)) for h in INCLUDE.rglob("*.h"))
    assert len(headers) > 20, headers
    for language, standards in LANGUAGES.items():
        for compiler in filter(shutil.which, COMPILERS[language]):
            for header in headers:
                compiles(language, standards[0], compiler, [header], header)
            for standard, (order, what) in itertools.product(standards, ((headers, "all, by name"),
                                                                        (headers[::-1], "all, the other way round"))):
                compiles(language, standard, compiler, order, what)
    print(f"1..{count}" if count else "1..0 # SKIP no compiler")
    return failures != 0


sys.exit(main())
