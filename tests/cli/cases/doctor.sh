# What doctor says of other machines: a desktop with everything, a container, an Arm board without perf events.
machine() { # machine NAME: "PATH VALUE" lines from standard input
	local path value
	while read -r path value; do
		mkdir -p "$1/$(dirname "$path")"
		printf '%b\n' "$value" >"$1/$path"
	done
}

machine desktop <<'M'
proc/sys/kernel/osrelease 6.1.0
proc/sys/kernel/perf_event_paranoid 3
proc/sys/kernel/perf_event_mlock_kb 516
proc/sys/kernel/perf_event_max_sample_rate 2000
proc/sys/kernel/perf_cpu_time_max_percent 25
proc/sys/kernel/kptr_restrict 1
proc/sys/kernel/nmi_watchdog 1
proc/sys/kernel/yama/ptrace_scope 1
proc/self/status Name:\tsonde\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0
proc/self/limits Max open files            64                 524288               files     \nMax locked memory         65536                65536                bytes     
proc/cpuinfo processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu intel_pt tsc
proc/mounts tracefs /sys/kernel/tracing tracefs rw 0 0
proc/kallsyms 0000000000000000 T _text
sys/devices/system/cpu/online 0-15
sys/bus/event_source/devices/cpu/type 4
sys/bus/event_source/devices/cpu/rdpmc 0
sys/bus/event_source/devices/cpu/caps/pmu_name skylake
sys/bus/event_source/devices/intel_pt/type 8
sys/bus/event_source/devices/intel_pt/caps/psb_cyc 1
sys/bus/event_source/devices/intel_pt/caps/mtc 1
sys/bus/event_source/devices/intel_pt/caps/ptwrite 0
sys/bus/event_source/devices/intel_pt/caps/mtc_periods 249
sys/bus/event_source/devices/intel_pt/caps/cycle_thresholds 1fff
sys/bus/event_source/devices/intel_pt/caps/psb_periods 3f
sys/bus/event_source/devices/intel_pt/caps/num_address_ranges 2
sys/bus/event_source/devices/kprobe/type 6
sys/bus/event_source/devices/uprobe/type 7
M
machine container <<'M'
proc/sys/kernel/osrelease 6.8.0
proc/sys/kernel/perf_event_paranoid 4
proc/sys/kernel/perf_event_mlock_kb 128
proc/sys/kernel/kptr_restrict 2
proc/self/status Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2
proc/self/limits Max open files            unlimited            unlimited            files     \nMax locked memory         65536                65536                bytes     
proc/cpuinfo processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor tsc
proc/kallsyms 0000000000000000 T _text
sys/devices/system/cpu/online 0-1
sys/bus/event_source/devices/software/type 1
sys/bus/event_source/devices/uprobe/type 7
M
machine board <<'M'
proc/sys/kernel/osrelease 5.4.0
proc/self/status Uid:\t0\t0\t0\t0\nCapEff:\t0000003fffffffff\nSeccomp:\t0
proc/cpuinfo processor\t: 0\nCPU implementer\t: 0x41
proc/kcore none
M
HOME=/home/someone
show doctor --root desktop
show doctor --root container
show doctor --root board
show doctor --root board --json
echo "== with DEBUGINFOD_URLS"
DEBUGINFOD_URLS=https://example.org "$SONDE" doctor --root board | grep -A1 debuginfod
echo "== fixes that are commands of perf: $("$SONDE" doctor --root board | grep -c 'to change it:.*perf [a-z]')"
show doctor --root missing
show doctor nothing
