#!/bin/bash
# Shows what the machine offers, and passes only if that is what was asked for:
# the cgroup layout with the controllers a sandbox needs, a subtree of its own
# where there is to be one and none where not, and user namespaces.
#
# shellcheck disable=SC2317 # the conditions are called by check
set -u
failed=0

# check prints whether condition $2... holds, under the name $1.
check() {
	local name=$1
	shift
	if "$@"; then
		echo "ok      $name"
	else
		echo "FAILED  $name"
		failed=1
	fi
}

# own is the folder of this process's cgroup in the unified hierarchy.
own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)

unified() { [[ $(stat --file-system --format=%T "$1") == cgroup2fs ]]; }
available() { grep -qw "$1" /sys/fs/cgroup/cgroup.controllers; }
legacy() { grep -q " /sys/fs/cgroup/[a-z,]*\b$1\b[a-z,]* cgroup " /proc/mounts; }
not() { ! "$@"; }

# limited makes a leaf cgroup with limits of memory and processes and enters it.
limited() {
	mkdir "$own/main" "$own/leaf" &&
		echo $$ >"$own/main/cgroup.procs" &&
		echo '+cpu +memory +pids' >"$own/cgroup.subtree_control" &&
		echo 64M >"$own/leaf/memory.max" &&
		echo 8 >"$own/leaf/pids.max" &&
		(echo "$BASHPID" >"$own/leaf/cgroup.procs" && grep -q 'leaf$' /proc/self/cgroup)
}

# writable says whether this process may make cgroups beside itself.
writable() { mkdir "$own/probe" 2>/dev/null && rmdir "$own/probe"; }

show() {
	echo "kernel       $(uname -r)"
	echo "user         $(id -un) ($(id -u)), as $SANDBOX_VM_USER"
	echo "runtime dir  ${XDG_RUNTIME_DIR-none}"
	echo "LSMs         $(cat /sys/kernel/security/lsm 2>/dev/null || echo unknown)"
	echo "layout       $SANDBOX_VM_CGROUP"
	sed 's/^/cgroup       /' /proc/self/cgroup
	local folder
	for folder in /sys/fs/cgroup "$own"; do
		[[ ! -r $folder/cgroup.controllers ]] || echo "controllers  $(<"$folder/cgroup.controllers") in $folder"
	done
}

tools() {
	local tool
	for tool in 'python3 --version' 'node --version' 'java --version' \
		'gcc --version' 'go version' 'rustc --version'; do
		# shellcheck disable=SC2086 # a command and its argument
		check "$tool: $($tool 2>&1 | head -n 1)" eval "$tool >/dev/null 2>&1"
	done
}

# layout checks the hierarchies against the layout that was asked for.
layout() {
	local controller
	case $SANDBOX_VM_CGROUP in
	v2)
		check "unified hierarchy alone" unified /sys/fs/cgroup
		for controller in cpu memory pids io; do
			check "v2 controller $controller" available "$controller"
		done
		return
		;;
	hybrid) check "unified hierarchy beside v1" unified /sys/fs/cgroup/unified ;;
	v1) check "no unified hierarchy" test ! -e /sys/fs/cgroup/unified ;;
	esac
	for controller in cpu memory pids blkio freezer; do
		check "v1 controller $controller" legacy "$controller"
	done
}

# delegation checks, on v2, what this user may do with its own cgroup.
delegation() {
	[[ $SANDBOX_VM_CGROUP == v2 ]] || return 0
	case $SANDBOX_VM_USER in
	root | delegated) check "limits in a cgroup of our own" limited ;;
	session) check "no cgroup of our own" not writable ;;
	esac
}

show
tools
layout
delegation
check "user namespace" unshare --user --map-root-user true
exit "$failed"
