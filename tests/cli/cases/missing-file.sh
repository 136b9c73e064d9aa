# Status 255, as perf's.
show_readers no-such-file
show report --stdio
