# No command, help, and the version.
show
show help
sonde --version | sed 's,[0-9][0-9.]*,N,'
