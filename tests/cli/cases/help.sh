# No command, help, and the version.
show
show help
sonde --version | sed 's,[0-9][0-9.]*,N,'
# What was built in depends on the machine.
for words in "version" "version --build-options" "version -vv" "-vv"; do
	# shellcheck disable=SC2086 # several words
	sonde $words | sed 's/version .*/version N/; s/\[ on  \]/[ ... ]/; s/\[ OFF \]/[ ... ]/; s/# [0-9][0-9.]*, /# /'
done
show version more
show version --no-such-option
