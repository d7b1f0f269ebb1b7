#!/usr/bin/env bash
# Runs golangci-lint with the rules of .golangci.yml, after it has found every
# mistake of internal/conventions/testdata/lint: a rule with a slip in its
# pattern passes everything, in silence.
#
#   lint.sh [package...]
#
# The linter is built once from its released source and kept in the user's cache
# directory, so that go.mod knows nothing of it.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly version=v2.15.0
readonly samples=internal/conventions/testdata/lint
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sandbox-run/golangci-lint-$version-$(go env GOVERSION)
linter=$cache/golangci-lint

if [ ! -x "$linter" ]; then
	echo "lint: building golangci-lint $version once, into $cache (a minute or two)" >&2
	mkdir -p "$cache"
	building=$(mktemp -d "$cache/build.XXXXXX")
	trap 'rm -rf "$building"' EXIT
	env -u GOOS -u GOARCH GOFLAGS= CGO_ENABLED=0 GOBIN="$building" go install -trimpath -ldflags '-s -w' \
		"github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
	mv "$building/golangci-lint" "$linter"
fi

# lint analyses for Linux, whatever this machine is, and prints a line an issue.
lint() {
	GOOS=linux CGO_ENABLED=0 GOFLAGS="-mod=readonly -buildvcs=false" "$linter" run --output.text.print-issued-lines=false "$@"
}

# part does so for a part of the module, where most exceptions have no use.
part() { lint "$@" 2> >(grep -v 'runner/exclusion_rules' >&2); }

wanted=$(grep -n '// want ' "$samples/bad.go" | sed 's/^\([0-9]*\):.*want /\1 /' | sort)
found=$(part --issues-exit-code=0 "./$samples" | sed -n 's/^[^:]*bad\.go:\([0-9]*\):.*(\([a-z]*\))$/\1 \2/p' | sort -u)
missed=$(comm -23 <(echo "$wanted") <(echo "$found"))
if [ -z "$wanted" ] || [ -n "$missed" ]; then
	echo "lint: .golangci.yml misses mistakes of $samples/bad.go (line, linter):" >&2
	echo "$missed" >&2
	exit 1
fi

if [ $# -gt 0 ]; then
	part "$@"
else
	lint ./...
fi
