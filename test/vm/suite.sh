#!/usr/bin/env bash
# Runs in the guest: every test binary beside this script.
set -euo pipefail
cd "$(dirname "$0")"
export SANDBOX_TEST_BINARY=$PWD/sandbox-run
export SANDBOX_DATA_DIR=${XDG_RUNTIME_DIR:-/run}/data
mkdir -p "$SANDBOX_DATA_DIR"
cp -a data/. "$SANDBOX_DATA_DIR/"
chmod -R u+w "$SANDBOX_DATA_DIR"

# What is started from here has a control group to itself, as it would from a
# unit's ExecStart: otherwise the group is not ours to divide.
alone() {
	if [ -w "/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cgroup.procs" ]; then
		local group
		group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
		mkdir -p "$group/shell"
		echo $$ >"$group/shell/cgroup.procs"
		(
			echo $BASHPID >"$group/cgroup.procs"
			exec "$@"
		)
	else
		"$@"
	fi
}

alone ./sandbox-run doctor || true
failed=0
for test in *.test; do
	args=(-test.timeout=50m)
	case $test in
	internal-kernel-spawn.test) args+=(-test.skip='TestInitIsBuiltFromItsSource|TestSums') ;; # the source is not here
	test-cli.test) args+=(-test.run='TestVerdicts|TestOutput|TestBinary') ;;
	esac
	echo "-- $test"
	alone "./$test" "${args[@]}" >log 2>&1 || failed=1
	grep -E '^(---|===) FAIL|^\s+--- (FAIL|SKIP)|^PASS|^FAIL|_test.go' log | tail -60
done
exit $failed
