mkdir folder
show_readers folder
