# Forms that this version does not read: each is named, with a way out.
"$GEN" -n 20 -o whole
{ printf 'PERFFILE'; tail -c +9 whole; } >version1
{ printf 'PERFILE2\020\0\0\0\0\0\0\0'; tail -c +457 whole; } >piped
mkfifo fifo
show_readers version1
show_readers piped
show_readers fifo
