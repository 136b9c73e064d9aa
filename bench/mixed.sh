#!/usr/bin/env bash
# A workload to record: compiles, interpreters, a sort, compression: bench/mixed.sh [ROUNDS]
# It uses a scratch folder and removes it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

make_source() { # C code with enough work for the optimiser
	awk -v seed="$1" 'BEGIN {
		srand(seed);
		print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>";
		for (i = 0; i < 400; i++) {
			printf "int f%d(int *v, int n) {\n\tint s = %d;\n", i, rand() * 1000;
			printf "\tfor (int i = 0; i < n; i++) {\n\t\tswitch (v[i] %% 7) {\n";
			for (k = 0; k < 7; k++) {
				printf "\t\tcase %d: s += v[i] * %d ^ s >> %d; break;\n", k, rand() * 99 + 1, rand() * 9;
			}
			print "\t\t}\n\t}";
			if (i) { printf "\tif (s & 1) { s += f%d(v, n / 2); }\n", int(rand() * i); }
			print "\treturn s;\n}";
		}
		print "int main(void) { int v[64] = {1, 2, 3}; printf(\"%d\\n\", f399(v, 64)); return 0; }";
	}'
}

count_words='
import collections, json, re, sys
text = open(sys.argv[1]).read()
for turn in range(6):
    words = collections.Counter(re.findall(r"\w+", text))
    blob = json.dumps({w: [n, w[::-1]] for w, n in words.items()})
    assert len(json.loads(blob)) == len(words)
    sorted(text.split(), key=lambda w: (len(w), w))
'
query='
import sqlite3
db = sqlite3.connect(":memory:")
db.execute("create table t (a integer, b text, c real)")
db.executemany("insert into t values (?, ?, ?)", ((i * 7919 % 10007, "row%d" % i, i / 3) for i in range(150000)))
db.execute("create index i on t (a)")
for k in range(12):
    db.execute("select a % 100, count(*), sum(c), max(b) from t group by 1 order by 3").fetchall()
    db.execute("select count(*) from t x join t y on x.a = y.a where x.c < 900").fetchall()
'
hash_lines='my %h; while (<>) { for my $w (split /\W+/) { $h{$w} += length $w; } }
print scalar(keys %h), "\n"; my @k = sort { $h{$a} <=> $h{$b} || $a cmp $b } keys %h; print "$k[0]\n";'

for ((round = 0; round < ${1:-1}; round++)); do
	for ((i = 0; i < 6; i++)); do
		make_source $((round * 10 + i)) >"part$i.c"
	done
	printf '%s\n' part?.c | xargs -P 2 -n 1 sh -c 'gcc -w -O2 -o "$1.out" "$1" && "./$1.out"' sh
	cat part?.c >all.txt
	for ((i = 0; i < 8; i++)); do cat part?.c; done >many.txt
	python3 -c "$count_words" all.txt &
	python3 -c "$query" &
	command -v perl >/dev/null && perl -e "$hash_lines" many.txt
	sort many.txt | uniq -c | sort -rn | tail -1
	gzip -9 <many.txt | wc -c
	find "$here/.." -name '*.c' -exec grep -c return {} + | tail -1
	wait
done
