#!/usr/bin/env bash
# Runs in the guest: every test binary beside this script.
set -euo pipefail
cd "$(dirname "$0")"
export SANDBOX_TEST_BINARY=$PWD/sandbox-run
export SANDBOX_DATA_DIR=${XDG_RUNTIME_DIR:-/run}/data
export SANDBOX_TIMEOUT_SEC=120 # an interpreter takes seconds to start here
mkdir -p "$SANDBOX_DATA_DIR"
cp -a data/. "$SANDBOX_DATA_DIR/"
chmod -R u+w "$SANDBOX_DATA_DIR"

# shellcheck source=test/vm/groups.sh
. ./groups.sh

# What is started from here has the group to itself, as it would from a unit's
# ExecStart: otherwise the group is not ours to divide. Nobody can enter one whose
# controllers the last one has handed down.
alone() {
	if $delegated; then
		(
			sed 's/[a-z][a-z]*/-&/g' "$group/cgroup.subtree_control" >"$group/cgroup.subtree_control"
			echo $BASHPID >"$group/cgroup.procs" || exit 125
			exec "$@"
		)
	else
		"$@"
	fi
}

alone ./sandbox-run doctor || true
# Minutes here, for which tests that run side by side would all wait.
alone ./sandbox-run --quiet --timeout 20m --lang java --code 'class A { public static void main(String[] a) { } }' || true
export SANDBOX_TEST_PREPARED=$SANDBOX_DATA_DIR
failed=0
for test in *.test; do
	args=(-test.timeout=50m)
	command=("./$test")
	case $test in
	# An emulated processor may run what a JIT compiler on another has replaced: on
	# two, 1 of 12 javac crashed without a filter and 3 of 12 with one; on one, none of 48.
	internal-kernel-netns.test | internal-kernel-seccomp.test) command=(taskset --cpu-list 0 "./$test") ;;
	internal-kernel-spawn.test) args+=(-test.skip='TestInitIsBuiltFromItsSource|TestSums') ;; # the source is not here
	pkg-sandbox-docker.test)
		[ "$SANDBOX_VM_USER" = root ] || continue # an engine is root's
		./docker.sh || failed=1
		args+=(-docker=unix:///run/docker.sock -image=sandbox-run-test:vm
			-test.run='TestConformance|TestNetwork|TestQuotaComesBack|TestFilesAboveMemory|TestInitIsFiltered'
			-test.skip='TestConformance/a_gigabyte_of_output') # seven minutes; the rest is the same with every version
		;;
	test-cli.test) args+=(-test.run='TestVerdicts|TestOutput|TestBinary|TestRestrictedAttributes|TestRestrictedRemains|TestThrashing') ;;
	esac
	echo "-- $test"
	if [ "$test" = test-cli.test ] && $delegated; then
		own_groups alone-sandbox-run "$PWD/sandbox-run"
		export SANDBOX_TEST_BINARY=$PWD/alone-sandbox-run
		"${command[@]}" "${args[@]}" >log 2>&1 || failed=1
	else
		alone "${command[@]}" "${args[@]}" >log 2>&1 || failed=1
	fi
	[ "$test" != pkg-sandbox-docker.test ] || systemctl stop docker.socket docker containerd
	grep -E '^\s+--- SKIP|^PASS|^FAIL|_test.go' log | tail -60 || true
	# All that a failing test said: the first line of a crash seldom explains it.
	awk '/^ *--- |^panic/ { on = /FAIL|^panic/ } on' log | cut -c1-400 | head -200
done
exit $failed
