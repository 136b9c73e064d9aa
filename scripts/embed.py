#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a file into C: embed.py INPUT OUTPUT.c NAME HEADER defines NAME[] and NAME_size.

HEADER is what declares both; a NUL that NAME_size does not count stands behind the bytes.
"""
import sys


def main():
    source, target, name, header = sys.argv[1:5]
    with open(source, 'rb') as f:
        data = f.read()
    lines = []
    for at in range(0, len(data), 16):
        lines.append('\t' + ' '.join('0x%02x,' % b for b in data[at:at + 16]))
    with open(target, 'w', encoding='ascii') as f:
        f.write('/* SPDX-License-Identifier: MIT */\n')
        f.write('/* Made by scripts/embed.py; do not edit. */\n')
        f.write('#include "%s"\n\n' % header)
        f.write('const unsigned char %s[] = {\n' % name)
        f.write('\n'.join(lines))
        f.write('\n\t0x00};\nconst size_t %s_size = %d;\n' % (name, len(data)))


if __name__ == '__main__':
    main()
