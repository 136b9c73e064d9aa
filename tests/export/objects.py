# SPDX-License-Identifier: MIT
"""ELF files with one function."""
import struct
from pathlib import Path


def write_object(path, name):
    """An ELF file with one function at 0x401000, in the page after the first."""
    strings, sections = b"\0" + name.encode() + b"\0", b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x401000, 16)
    blobs = [(1, 1, 6, 0x401000, b"\x90" * 16, 0, 0, 0), (7, 2, 0, 0, symbols, 3, 1, 24), (15, 3, 0, 0, strings, 0, 0, 0),
             (23, 3, 0, 0, sections, 0, 0, 0)]
    body, headers = bytearray(), bytearray(64)
    for where, kind, flags, address, data, link, info, entry in blobs:
        headers += struct.pack("<IIQQQQIIQQ", where, kind, flags, address, 0x1000 + len(body), len(data), link, info, 8, entry)
        body += data
    start = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x401000, 64, 0x1000 + len(body), 0, 64, 56, 1,
                                                      64, 5, 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x401000, 0x401000, 16, 16, 0x1000)
    Path(path).write_bytes((start + segment).ljust(0x1000, b"\0") + body + headers)
