#!/usr/bin/env bash
# Runs the hostile programs, the crashes and the faults in a virtual machine with cgroup v2,
# as root, whose programs each have a group of their own, and who is an ordinary user besides.
# Arguments choose among hostile, crash and faults; HOSTILE, CRASH and FAULTS are further
# arguments of theirs, such as HOSTILE='-row A1'.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir" # for the ordinary user
export CGO_ENABLED=0
suites=("${@:-hostile crash faults}")

# The tests look at their own source.
mkdir -p "$dir/tree" "$dir/fault"
git ls-files -z | tar --null --create --files-from=- | tar --extract --directory "$dir/tree"
for name in sandbox-run sandbox-server; do
	go build -o "$dir/$name" "./cmd/$name"
	go build -tags fault -o "$dir/fault/$name" "./cmd/$name"
done
for suite in ${suites[*]}; do
	go test -c -o "$dir/tree/test/$suite/suite.test" "./test/$suite"
done
# Under emulation Go's standard library takes minutes to prepare.
SANDBOX_DATA_DIR=$dir/prepared "$dir/sandbox-run" --quiet --lang go --code 'package main; func main() {}'

cp test/vm/groups.sh "$dir"
cat >"$dir/run.sh" <<END
#!/usr/bin/env bash
set -uo pipefail
cd /opt/test
. ./groups.sh
mkdir -p own/fault
for program in {,fault/}sandbox-{run,server}; do
	own_groups own/\$program "\$PWD/\$program"
done
export SANDBOX_TEST_BINARY=/opt/test/own/sandbox-run SANDBOX_TEST_SERVER=/opt/test/own/sandbox-server
export SANDBOX_TEST_FAULT=/opt/test/own/fault SANDBOX_TEST_PREPARED=/opt/test/prepared
failed=0
for suite in ${suites[*]}; do
	cd /opt/test/tree/test/\$suite
	case \$suite in
	hostile) args=(-patience=15m -slow=5 ${HOSTILE-}) ;;
	crash) args=(-patience=5m ${CRASH-}) ;;
	faults) args=(${FAULTS-}) ;;
	esac
	echo "-- \$suite"
	./suite.test -test.v -test.timeout=120m "\${args[@]}" >/tmp/log 2>&1 || failed=1
	mkdir -p /opt/test/out && cp /tmp/log /opt/test/out/\$suite.log
	# What a failing test said comes before its name.
	awk '/^=== / { said = "" } { said = said \$0 "\n" } /^ *--- FAIL|^panic/ { printf "%s", said; said = "" }' /tmp/log | cut -c1-600 | head -300
	printf '%s of %s passed, %s skipped\n' "\$(grep -c -- '--- PASS' /tmp/log)" "\$(grep -c -- '--- ' /tmp/log)" "\$(grep -c -- '--- SKIP' /tmp/log)"
	tail -n 1 /tmp/log
done
exit \$failed
END
chmod 755 "$dir/run.sh"
test/vm/run.sh --user root --timeout "${VM_TIMEOUT:-9000}" ${OUT:+--out "$OUT"} -- "$dir"
