#!/usr/bin/env bash
# Measures statement coverage of every test, the runs of the built binary
# included, and prints it for each package and in all.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$PWD/coverage
rm -rf "$dir"
mkdir -p "$dir/tests" "$dir/binary"
chmod 777 "$dir/binary" # sandbox-run also runs as an ordinary user
# (one example says what its compiler prints, which a binary built for coverage
# adds a warning to: the page is not tested here)
export SANDBOX_TEST_COVERDIR=$dir/binary
go test -p 1 -count=1 -timeout 40m -cover -coverpkg=./... -skip TestDocumentation ./... -args -test.gocoverdir="$dir/tests" >"$dir/log" 2>&1 ||
	{ grep -E '^(---|\s+---) FAIL|^FAIL|panic:' "$dir/log" >&2; exit 1; }
go tool covdata textfmt -i="$dir/tests,$dir/binary" -o "$dir/runs"
# The sessions of the command line run its main in processes of their own, which
# only a profile of the old kind sees. A statement is covered when either saw it.
go test -count=1 -coverpkg=./... -coverprofile="$dir/sessions" ./internal/cli >>"$dir/log"
{
	echo 'mode: set'
	cat "$dir/runs" "$dir/sessions" | awk '!/^mode:/ { k = $1 " " $2; if ($3 > n[k]) n[k] = $3; else n[k] += 0 } END { for (k in n) print k, n[k] }' | sort
} >"$dir/profile"
go tool cover -func="$dir/profile" | tail -1
