# SPDX-License-Identifier: MIT
"""Whether a database with several recordings has the rows of databases with one each."""
from collections import Counter

from databases import Resolver

NUMBERS = ("id", "call_id", "return_id", "parent_id")  # ids of samples and calls continue in a database with several


def contents(database, tables):
    """Rows by table without those that mean "unknown", and without the root of call paths."""
    found = {}
    for table in tables:
        resolver = database if isinstance(database, Resolver) else Resolver(database)
        database = resolver
        rows = Counter()
        for number, row in resolver.tables.get(table, {}).items():
            if number > (1 if table == "call_paths" else 0) and table != "branch_types":
                rows[tuple((c, resolver.value(table, c, v)) for c, v in row.items() if c not in NUMBERS and c != "has_calls")] += 1
        found[table] = rows
    return found


def missing(whole, parts, tables):
    """Lines about tables that do not have the rows of all parts."""
    whole, parts = contents(whole, tables), [contents(p, tables) for p in parts]
    lines = []
    for table in tables:
        wanted = sum((p[table] for p in parts), Counter())
        if whole[table] != wanted:
            lines.append(f"{table}: lacks {list(wanted - whole[table])[:1]}, has {list(whole[table] - wanted)[:1]}")
    return lines
