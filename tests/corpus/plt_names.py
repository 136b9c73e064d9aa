# SPDX-License-Identifier: MIT
"""The one difference between names of PLT entries in perf 6.1 and in Sonde (doc/differences.md), for comparisons of outputs.

perf resolves the first entries of a PLT after _init to _init, gives some the name of another, and others none; tests/symbol/plt
compares Sonde's names with objdump. Here only that name may differ, at an address for which the two tools print such a pair.
"""
import itertools
import os
import re

# A name in a line of `script`: Sonde's, and what perf may have instead.
MAYBE = re.compile(r"(?<=[ /])(_init|[^\s/]*@plt|\[unknown\])(\+0x[0-9a-f]+)?(?=[ /]|$)")
OBJECT = re.compile(r" \((.*)\)$")
ADDRESS = re.compile(r"^\s*([0-9a-f]+) ")
# A row with its samples, of the first event if it is a group; also one with commas (-t).
ROW = re.compile(r"^(?: +\d+\.\d\d%)+ +(\d+)|^(?: +\d+\.\d\d% *,)+ *(\d+) *,")


def with_ours(theirs, mine):
    """perf's line with Sonde's names of PLT entries, if both lines have as many names that can be some."""
    if theirs == mine or "@plt" not in mine:
        return theirs
    if theirs.endswith(" ([unknown])") and not mine.endswith(" ([unknown])"):  # an unknown mapping: another difference
        return theirs
    at, our_at = ADDRESS.match(theirs), ADDRESS.match(mine)
    if at and our_at and at[1][-3:] != our_at[1][-3:]:  # entries of other chains: pages are loaded anywhere
        return theirs
    names, ours = list(MAYBE.finditer(theirs)), list(MAYBE.finditer(mine))
    if len(names) != len(ours):
        return theirs
    for name, our in reversed(list(zip(names, ours))):
        if "@plt" in our.group():
            theirs = theirs[:name.start()] + our.group() + theirs[name.end():]
    return theirs


def blocks(lines):
    """Rows of a report with the lines of their graphs; other lines with those that follow them."""
    found = []
    for line in lines:
        if ROW.match(line) or line.startswith("#") or not found:
            found.append([line])
        else:
            found[-1].append(line)
    return found


def folded(lines):
    """Without the width of columns, which depends on the longest name, and empty lines."""
    return [re.sub("  +", "  ", line).rstrip() for line in lines if line and not line.startswith("# ..")]


class Names:
    """Names of the PLT entries of a recording's samples that differ, both perf's and Sonde's. outs: pairs of outputs of
    `script -F ip,sym,dso`, perf's first. mappings: (start, size, offset, name), to know perf's rows of addresses without name."""

    def __init__(self, outs, mappings=()):
        self.names, self.mappings = set(), mappings
        self.unnamed_leaves = 0  # samples in entries for which perf has no name
        for theirs, mine in outs:
            for chain, our_chain in zip(theirs.split("\n\n"), mine.split("\n\n")):
                for frame, our_frame in zip(chain.splitlines(), our_chain.splitlines()):
                    self.add(frame, our_frame)
        if outs:
            leaves = zip(*(out.splitlines() for out in outs[-1]))  # of `script -G`
            self.unnamed_leaves = sum("@plt" in mine and " [unknown] " in theirs for theirs, mine in leaves)
        self.pattern = re.compile("|".join(f"(?<![^\\s;,|-]){re.escape(name)}(?![^\\s;,+)])" for name in sorted(self.names)))

    def add(self, theirs, mine):
        if theirs == mine or "@plt" not in mine or [o.group(1) for o in map(OBJECT.search, (theirs, mine)) if o] != \
                [OBJECT.search(mine).group(1)] * 2:
            return
        for name, our in zip(MAYBE.finditer(theirs), MAYBE.finditer(mine)):
            if "@plt" in our.group() and name.group(1) != our.group(1):
                self.names |= {our.group(1)} | ({name.group(1)} if name.group(1) != "[unknown]" else self.addresses(mine))

    def addresses(self, line):
        """What perf prints in rows and graphs for an address without a name: itself, its offset in the object."""
        address, name = int(ADDRESS.match(line).group(1), 16), OBJECT.search(line).group(1)
        places = {address - start + at for start, size, at, _ in self.mappings if start <= address < start + size}
        return {text for at in {address} | places for text in (f"0x{at:016x}", f"0x{at:x}", f"{os.path.basename(name)}[{at:x}]")}

    def without(self, want, got, sums):
        """Lines of two reports without the rows of these entries, of which only the sum of samples remains, and without the
        graphs in which such an entry is."""
        both = [blocks(folded(lines)) for lines in (want, got)]
        cut = {block[0] for block in itertools.chain(*both) if any(map(self.pattern.search, block[1:]))}
        left = []
        for found in both:
            lines, samples = [], 0
            for head, *graph in found:
                row = ROW.match(head)
                if row and self.pattern.search(head):
                    samples += int(row.group(1) or row.group(2))
                elif row:
                    lines += [head, *([] if head in cut else graph)]
                else:
                    lines += [line for line in (head, *graph) if not self.pattern.search(line)]
            left.append(lines + [f"samples in PLT entries: {samples}"] * sums)
        return tuple(left)

    def hidden(self, want, got):
        """The numbers of samples of two reports that hide code without a name, after those in these entries are added to
        perf's; numbers from 10,000 are rounded."""
        theirs, mine = ([line for line in lines if line.startswith("# Samples: ")] for lines in (want, got))
        exact = [found for found in (re.match(r"# Samples: (\d+) ", line) for line in theirs + mine) if found]
        if len(exact) < len(theirs + mine):
            return ["rounded"], ["rounded"]
        counts = [int(found.group(1)) for found in exact]
        return [str(sum(counts[:len(theirs)]) + self.unnamed_leaves)], [str(sum(counts[len(theirs):]))]
