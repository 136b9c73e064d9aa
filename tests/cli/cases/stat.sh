# Counts of a recording that was made for it, in every form; mistakes.
python3 - <<'P'
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SONDE_TESTS"], "..", "..", "stat"))
from make_stat import Event, recording
T = 10_000_000
recording("one.data", [Event("task-clock", [[(T, T, T)]]), Event("cycles", [[(4 * T, T, T)]]),
                       Event("instructions", [[(6 * T, T, T)]]), Event("branches", [[(T // 2, T, T // 4)]]),
                       Event("branch-misses", [None])], times=(12_000_000,))
recording("two.data", [Event("cpu-clock", [[(T * k, T * k, T * k), (T * k + 9, T * k, T * k)] for k in (1, 2)]),
                       Event("page-faults", [[(5 * k, T * k, T * k), (7 * k, T * k, T * k)] for k in (1, 2)])],
          cpus=2, threads=((-1, ""),), interval=10, times=(T, 2 * T))
P
show stat report -i one.data
show stat report -i one.data -x ';'
show stat report -i one.data -j
show stat report -i two.data
show stat report -i two.data -A
show stat report -i two.data --per-core -x,
show stat report -i two.data --per-node -j
show stat report -i missing.data
"$GEN" -n 100 -o samples.data
show stat report -i samples.data
show stat -x, -j true
show stat --per-core true
show stat -I 10 -r 2 true
show stat -e no-such-event true 2>&1 | sed 's/valid are.*/.../;s/near.*//'
show stat --timeout 5
show stat -p 0
show stat -p 999999999
show stat -t 1,x
show stat -C one
