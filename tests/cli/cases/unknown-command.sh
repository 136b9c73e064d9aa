# Status 1, and the nearest command is named.
show repotr
show xyzzy
