printf '\211PNG\r\n\032\n\000\000\000\rIHDR\000\000\000\001\000\000\000\001\010\002\000\000\000' >picture.png
printf 'Dear reader,\nthis is a letter and not a recording, though it is long enough to hold a header of one.\n' >letter.txt
show_readers picture.png
show_readers letter.txt
