# Threads and their mappings: --tasks, --mmaps. perf prints numbers for the inodes of mappings that have a build id instead,
# and no rights if the recording is in the other byte order (doc/differences.md).
recordings=$SONDE_TESTS/../../recordings
cp "$recordings/tasks.data" "$recordings/buildid-mmap.data" "$recordings/big-endian.data" .
show report --tasks -i tasks.data
show report --mmaps -i buildid-mmap.data
show report --mmaps -i big-endian.data
show report --tasks --json -i tasks.data
