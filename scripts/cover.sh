#!/usr/bin/env bash
# Measures statement coverage of every test, the runs of the built binary
# included, and prints it for each package and in all.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$PWD/coverage
rm -rf "$dir"
mkdir -p "$dir/tests" "$dir/binary"
chmod 777 "$dir/binary" # sandbox-run also runs as an ordinary user
export GOCOVERDIR=$dir/binary
go test -p 1 -count=1 -timeout 40m -cover -coverpkg=./... ./... -args -test.gocoverdir="$dir/tests" >"$dir/log" 2>&1 ||
	{ grep -E '^(---|\s+---) FAIL|^FAIL|panic:' "$dir/log" >&2; exit 1; }
go tool covdata textfmt -i="$dir/tests,$dir/binary" -o "$dir/profile"
go tool covdata percent -i="$dir/tests,$dir/binary"
go tool cover -func="$dir/profile" | tail -1
