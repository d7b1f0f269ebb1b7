#!/bin/bash
# Runs a command in a world that may be broken: its own processes, mounts, network,
# names and control groups. For root; what is left of it goes with its first process.
#
# It is there so that one wall of a sandbox can be left out at a time. Should more give
# way, there is this: files of the host and settings of its kernel are read-only, disks
# cannot be opened, memory and processes are bounded, and nobody has the capabilities to
# restart the machine, to load modules, to set its clock or to reach its hardware.
#
#   test/hostile/world.sh COMMAND...
set -euo pipefail
work=$(mktemp -d)
remove() { # GROUP, with all that it has
	local left
	for _ in {1..50}; do
		mapfile -t left < <(find "$1" -name cgroup.procs -exec cat {} + 2>/dev/null)
		kill -KILL "${left[@]}" 2>/dev/null || true
		find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null || true
		[[ -d $1 ]] || break
		sleep 0.1
	done
}
# What a world left that was killed itself.
for g in /sys/fs/cgroup/{,*/}fault-world.*; do
	[[ ! -d $g || -d /proc/${g##*.} ]] || remove "$g"
done
groups=()
for tree in cpu cpuacct memory pids blkio freezer devices unified; do
	dir=/sys/fs/cgroup/$tree
	[[ -d $dir ]] || continue
	mkdir "$dir/fault-world.$$"
	groups+=("$dir/fault-world.$$")
done
[[ ${#groups[@]} -gt 0 ]] || { mkdir "/sys/fs/cgroup/fault-world.$$" && groups=("/sys/fs/cgroup/fault-world.$$"); }
gone() {
	for g in "${groups[@]}"; do remove "$g"; done
	rm -rf "$work"
}
trap gone EXIT
limit() { # FILE VALUE, in each group that has the file
	for g in "${groups[@]}"; do
		[[ ! -e $g/$1 ]] || echo "$2" >"$g/$1"
	done
}
limit memory.limit_in_bytes 6G
limit memory.max 6G
limit pids.max 4000
limit devices.deny 'b *:* rw'
cp "$(command -v bash)" "$work/fault-world" # its name is how the programs know where they are
without=sys_boot,sys_time,sys_module,sys_rawio,syslog,wake_alarm,block_suspend,mac_admin,mac_override,audit_control,linux_immutable,sys_pacct,bpf,perfmon
(
	for g in "${groups[@]}"; do echo 0 >"$g/cgroup.procs"; done
	# shellcheck disable=SC2016 # the inner shell's own
	unshare -m -p -n -i -u -C --fork --mount-proc --propagation private --kill-child \
		setpriv --bounding-set "-${without//,/,-}" --inh-caps=-all --groups 4,6 "$work/fault-world" -c '
		set -euo pipefail
		hostname world
		echo 10000 >/proc/sys/kernel/ns_last_pid # a server has a process id here that none in its containers has
		ip link set lo up
		for tree in cpu cpuacct memory pids blkio freezer; do
			[[ -d /sys/fs/cgroup/$tree ]] || continue
			umount /sys/fs/cgroup/$tree
			mount -t cgroup -o "$tree" none "/sys/fs/cgroup/$tree"
		done
		if [[ -d /sys/fs/cgroup/unified ]]; then
			umount /sys/fs/cgroup/unified
			mount -t cgroup2 none /sys/fs/cgroup/unified
		elif [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
			umount /sys/fs/cgroup
			mount -t cgroup2 none /sys/fs/cgroup
		fi
		mount -t tmpfs tmpfs /run
		mount -t tmpfs -o mode=1777 tmpfs /tmp
		mount -o remount,bind,ro /
		mount -o remount,bind,ro /sys
		mount --bind /proc/sys /proc/sys
		mount -o remount,bind,ro /proc/sys
		"$@"
		exit' fault-world "$@"
)
