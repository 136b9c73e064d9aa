# shellcheck shell=bash
# Functions for the cases.

sonde() {
	"$SONDE" "$@"
}

# Runs sonde and prints the command, all of its output, and its status.
show() {
	local status
	echo "\$ sonde $*"
	"$SONDE" "$@" 2>&1
	status=$?
	echo "status $status"
}

# Runs every command that reads a recording on one file.
show_readers() {
	show report --stdio -i "$1"
	show report --stats -i "$1"
	show report --header-only -i "$1"
	show script -i "$1"
	show evlist -i "$1"
	show flamegraph -i "$1" -o flame.html
	if [ -e flame.html ]; then
		echo "flame.html was written"
		rm -f flame.html
	fi
}
