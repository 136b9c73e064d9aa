# SPDX-License-Identifier: MIT
"""Writes jitdump files for tests: Dump(pid), then load(), move(), lines(), unwinding(), and write(path)."""
import struct

X86_64 = 62


class Dump:
    def __init__(self, pid, time=0, flags=0, order="<", version=1):
        self.pid, self.order = pid, order
        self.out = struct.pack(order + "6I2Q", 0x4a695444, version, 40, X86_64, 0, pid, time, flags)

    def record(self, type, time, body):
        self.out += struct.pack(self.order + "IIQ", type, 16 + len(body), time) + body

    def load(self, time, index, address, name, code):
        self.record(0, time, struct.pack(self.order + "II4Q", self.pid, self.pid, address, address, len(code), index) +
                    name.encode() + b"\0" + code)

    def move(self, time, index, old, new, size):
        self.record(1, time, struct.pack(self.order + "II5Q", self.pid, self.pid, new, old, new, size, index))

    def lines(self, time, address, entries):
        """entries: (address, line, file); a file of b"\\xff" is the one before"""
        body = struct.pack(self.order + "2Q", address, len(entries))
        for at, line, file in entries:
            body += struct.pack(self.order + "QII", at, line, 0) + (file if isinstance(file, bytes) else file.encode()) + b"\0"
        self.record(2, time, body)

    def unwinding(self, time, eh_frame, header=b""):
        self.record(4, time, struct.pack(self.order + "3Q", len(eh_frame) + len(header), len(header), 0) + eh_frame + header)

    def close(self, time):
        self.record(3, time, b"")

    def write(self, path, cut=None):
        with open(path, "wb") as out:
            out.write(self.out[:cut])


def eh_frame(code_size, cfa):
    """A CIE and an FDE: the frame has `cfa` bytes from the stack pointer on, the return address is the last of them."""
    cie = struct.pack("<IB", 0, 1) + b"zR\0" + bytes([1, 0x78, 16, 1, 0x1b, 0x0c, 7, cfa, 0x90, 1])
    cie += b"\0" * (-(4 + len(cie)) % 8)
    cie = struct.pack("<I", len(cie)) + cie
    start = (code_size + 7) // 8 * 8 + len(cie) + 8  # from the start of the code to the pointer
    fde = struct.pack("<Iii", len(cie) + 4, -start, code_size) + b"\0"
    fde += b"\0" * (-(4 + len(fde)) % 8)
    return cie + struct.pack("<I", len(fde)) + fde + struct.pack("<I", 0)
