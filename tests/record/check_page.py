#!/usr/bin/env python3
"""The generated part of doc/format.md is what the tables say: check_page.py PRINT_LAYOUTS PAGE [--update]."""
import difflib
import subprocess
import sys
from pathlib import Path

MARK = "<!-- Generated from the tables of src/record by scripts/update-golden: do not edit below. -->\n"


def main():
    page = Path(sys.argv[2])
    text = page.read_text()
    want = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    head, mark, have = text.partition(MARK)
    if "--update" in sys.argv:
        page.write_text(head + MARK + want)
        return 0
    print("1..1")
    if mark and have == want:
        print("ok 1 - doc/format.md and the tables agree")
        return 0
    print("not ok 1 - doc/format.md and the tables agree; scripts/update-golden rewrites the page")
    for line in list(difflib.unified_diff(have.splitlines(), want.splitlines(), "page", "tables", lineterm=""))[:40]:
        print("#", line)
    return 1


sys.exit(main())
