#!/bin/sh
# A compile job for recordings: compile.sh SECONDS [DIR]. Compiles files of this repository, one after the
# other as make would start them, until the time is up; objects go to a folder that is removed.
seconds=${1:-10}
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
end=$(($(date +%s) + seconds))
while :; do
	for file in src/*/*.c; do
		[ "$(date +%s)" -lt $end ] || exit 0
		cc -O1 -w -DSONDE_VERSION='"0"' -Iinclude -Isrc -c "$file" -o "$out/object.o" || exit 1
	done
done
