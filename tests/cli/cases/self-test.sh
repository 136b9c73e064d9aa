# The list of self-tests, those that need no kernel, and what does not exist.
show test list
show test 14 15
show test 'intel pt' -v
show test no-such-test
show test 99
