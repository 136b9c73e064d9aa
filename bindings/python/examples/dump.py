#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints every record of a recording: dump.py [--raw] FILE. The bytes are those of `sonde dump --json [--raw]`."""
import math
import re
import sys
from typing import Any, Dict

import sonde

SHORT = 64  # longer bytes are told by their length, unless all are asked for
SPECIAL = re.compile('["\\\\\x00-\x1f\x7f<>&\u2028\u2029]')


def escape(m: "re.Match[str]") -> str:
    return "\\" + m.group() if m.group() in '"\\' else f"\\u{ord(m.group()):04x}"


def to_json(value: Any, raw: bool) -> str:
    if isinstance(value, str):
        return f'"{SPECIAL.sub(escape, value)}"'
    if isinstance(value, bytes):
        return f'"{value.hex()}"' if raw or len(value) <= SHORT else f'{{"bytes":{len(value)}}}'
    if isinstance(value, dict):
        return "{" + ",".join(f'"{k}":{to_json(v, raw)}' for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(to_json(v, raw) for v in value) + "]"
    if isinstance(value, float):
        return ("-" if math.copysign(1, value) < 0 and math.isnan(value) else "") + f"{value:.17g}"
    return str(value)


def describe(file: sonde.File, several: bool, record: sonde.Record, raw: bool) -> str:
    out: Dict[str, Any] = {"file": record.path} if several else {}
    out["offset"] = record.offset
    if record.inside is not None:
        out["inside"] = record.inside
    out.update(type=record.type, type_is=record.type_name, size=record.size, misc=record.misc,
               misc_is=record.misc_names)
    if record.event is not None:
        out["event"] = file.event_name(record.event)
    out["fields"] = record.fields
    if record.payload_size:
        out["payload_size"] = record.payload_size
    if raw:
        out["raw"] = record.data
    return to_json(out, raw)


def main() -> int:
    raw = "--raw" in sys.argv
    put = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    with sonde.File(sys.argv[-1]) as file, put:
        info = file.info
        put.write('{"schema":"sonde-dump","version":1,"byte_order":"%s","records":['
                  % ("big" if info.big_endian else "little"))
        for i, record in enumerate(file):
            put.write(("," if i else "") + "\n" + describe(file, info.streams > 1, record, raw))
        put.write("\n]}\n")
        return int(file.diagnostics(sonde.DiagnosticKind.TRUNCATED) != 0
                   or file.diagnostics(sonde.DiagnosticKind.DAMAGED) != 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sonde.SondeError as error:
        sys.exit(f"Error: {error}")
