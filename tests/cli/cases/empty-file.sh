: >empty
show_readers empty
