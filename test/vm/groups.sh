# Sourced in the guest by what runs suites there: where control groups are delegated to
# this shell, it moves to a leaf, so that there can be others beside it.
# shellcheck shell=bash
group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
delegated=false
if [ -w "$group/cgroup.procs" ]; then
	delegated=true
	mkdir -p "$group/shell"
	echo $$ >"$group/shell/cgroup.procs"
fi

# own_groups FILE PROGRAM makes a file of that name which starts the program in a group of
# its own each time, as with systemd-run -p Delegate=yes: tests that start one must not be
# in the group that it divides. An ordinary user's has none, unless that is who we are.
own_groups() {
	echo "+memory +pids +cpu" >"$group/cgroup.subtree_control"
	cat >"$1" <<-END
		#!/bin/sh
		if [ -w "$group/cgroup.procs" ]; then
			mkdir "$group/run.\$\$" && echo \$\$ >"$group/run.\$\$/cgroup.procs" || exit 125
		fi
		exec "$2" "\$@"
	END
	chmod 755 "$1"
}
