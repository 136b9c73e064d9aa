#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public headers, as TAP: headers.py INCLUDE_FOLDER MAP LIBRARY.

They must compile alone and together, as C and as C++. Their functions must be those of the version script MAP and those
that LIBRARY exports: functions of stable headers in a node SONDE_X.Y, of preview headers in SONDE_PREVIEW.
"""
import itertools
import pathlib
import re
import shutil
import subprocess
import sys

INCLUDE, MAP, LIBRARY = (pathlib.Path(a) for a in sys.argv[1:4])
FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{INCLUDE}"]
LANGUAGES = {"c": ["c99", "c11", "gnu17"], "c++": ["c++11", "c++20"]}
COMPILERS = {"c": ["gcc", "clang"], "c++": ["g++", "clang++"]}
count = failures = 0


def result(good, what, detail=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in [] if good else detail.splitlines()[:12]:
        print("#   " + line)


def compiles(language, standard, compiler, headers, what):
    text = "".join(f"#include <{h}>\n" for h in headers) + "extern int used;\n"
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", *FLAGS, "-"], input=text, text=True,
                          capture_output=True)
    result(done.returncode == 0, f"{compiler} -std={standard}: {what}", done.stderr)


def in_headers():
    """{(function, whether its header is stable)}"""
    found = set()
    for header in INCLUDE.rglob("*.h"):
        text = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", header.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for declaration in re.findall(r"\bSONDE_API\b([^;{]*)", text):
            found.add((re.search(r"\b(\w+)\s*\(", declaration).group(1), "preview" not in header.parts))
    return found


def is_stable(node):
    assert re.fullmatch(r"SONDE_(PREVIEW|\d+\.\d+)", node), node
    return node != "SONDE_PREVIEW"


def in_map():
    text = re.sub(r"/\*.*?\*/", "", MAP.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {(name, is_stable(node)) for node, names in re.findall(r"([\w.]+) \{(.*?)\}", text, re.DOTALL)
            for name in re.findall(r"([\w*?]+);", names) if name != "*"}


def in_library():
    listed = subprocess.run(["readelf", "--dyn-syms", "--wide", LIBRARY], capture_output=True, text=True, check=True).stdout
    return {(name, is_stable(node)) for name, node in re.findall(r" FUNC .* (\w+)@@(\S+)$", listed, re.MULTILINE)}


def exports():
    headers = in_headers()
    for what, other in ((MAP.name, in_map()), (LIBRARY.name, in_library())):
        result(len(headers) > 100 and headers == other, f"{what} and the headers have the same functions",
               "\n".join(f"{'only in headers' if x in headers else 'not in headers'}: {x[0]}, "
                         f"{'stable' if x[1] else 'preview'}" for x in sorted(headers ^ other)))


def main():
    headers = sorted(str(h.relative_to(INCLUDE)) for h in INCLUDE.rglob("*.h"))
    assert len(headers) > 20, headers
    for language, standards in LANGUAGES.items():
        for compiler in filter(shutil.which, COMPILERS[language]):
            for header in headers:
                compiles(language, standards[0], compiler, [header], header)
            for standard, (order, what) in itertools.product(standards, ((headers, "all headers, in order of names"),
                                                                        (headers[::-1], "all headers, in reverse order"))):
                compiles(language, standard, compiler, order, what)
    exports()
    print(f"1..{count}")
    return failures != 0


sys.exit(main())
