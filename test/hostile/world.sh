#!/bin/bash
# Runs a command in a world that may be broken: its own processes, mounts, network,
# names and control groups. For root; what is left of it goes with its first process.
#
#   test/hostile/world.sh COMMAND...
set -euo pipefail
work=$(mktemp -d)
groups=()
for tree in cpu cpuacct memory pids unified; do
	dir=/sys/fs/cgroup/$tree
	[[ -d $dir ]] || continue
	mkdir "$dir/fault-world.$$"
	groups+=("$dir/fault-world.$$")
done
[[ ${#groups[@]} -gt 0 ]] || { mkdir "/sys/fs/cgroup/fault-world.$$" && groups=("/sys/fs/cgroup/fault-world.$$"); }
gone() {
	for g in "${groups[@]}"; do
		find "$g" -depth -type d -exec rmdir {} \; 2>/dev/null || true
	done
	rm -rf "$work"
}
trap gone EXIT
cp "$(command -v bash)" "$work/fault-world" # its name is how the programs know where they are
(
	for g in "${groups[@]}"; do echo 0 >"$g/cgroup.procs"; done
	# shellcheck disable=SC2016 # the inner shell's own
	unshare -m -p -n -i -u -C --fork --mount-proc --propagation private --kill-child "$work/fault-world" -c '
		set -euo pipefail
		hostname world
		ip link set lo up
		for tree in cpu cpuacct memory pids; do
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
		"$@"
		exit' fault-world "$@"
)
