#!/usr/bin/env bash
# Runs in the container: the test binaries beside this script that are about
# isolation restricted, or, in the image of sandbox-server, that server's.
# SANDBOX_TEST_CONTAINER says which container it is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${SANDBOX_TEST_BINARY:=$here/sandbox-run}"
export SANDBOX_TEST_BINARY

log=$(mktemp)
failed=0

# run TEST PATTERN shows what failed, why what was skipped was, and how many passed.
run() {
	echo "-- $1 $2"
	# RLIMIT_NPROC counts all that the user runs, other tests included: few at once.
	if "$here/$1" -test.v -test.parallel=2 -test.timeout=30m -test.run="$2" >"$log" 2>&1; then
		grep -oE '^ +[a-z_]+\.go:[0-9]+: .*' "$log" | sort | uniq -c | sort -rn || true
	else
		failed=1
		grep -vE '^=== |^ *--- (PASS|SKIP)' "$log" | tail -n 200
	fi
	for verdict in PASS SKIP FAIL; do
		echo "   $(grep -cE "^ *--- $verdict" "$log") $verdict"
	done
}

"$SANDBOX_TEST_BINARY" doctor
if [ "$SANDBOX_TEST_CONTAINER" = image ]; then
	cd /src/test/sandbox
	run sandbox.test "${1-.}"
	exit $failed
fi
cd "$here"
case $SANDBOX_TEST_CONTAINER in
powerless) run test-cli.test TestContainer ;; # the rest is as for user
*) run test-cli.test 'TestContainer|TestVerdicts|TestOutput|TestBinary' ;;
esac
if [ -d /exec ]; then
	export TMPDIR=/exec # programs of the suite execute what they write
fi
run pkg-sandbox-local.test 'TestConformance/restricted'
exit $failed
