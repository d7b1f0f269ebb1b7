#!/usr/bin/env bash
# Runs every test, and closes with the runner's own count. As root, the tests of
# the local runtime that make sense for an ordinary user run a second time as
# one (test/cli starts the binary as uid 65534 itself).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test: %s\n' "$*" >&2; }
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

# One OCI runtime and a Docker engine are a part of the suite; the others are for make
# test-oci and make test-docker.
work=$(mktemp -d)
stop() {
	stop_engine "$work"
	rm -rf "$work"
}
trap stop EXIT
if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
	scripts/install.sh crun strace
	if [[ ${SANDBOX_TEST_ENGINE-} != none ]]; then
		trap 'say "nothing was tested, for want of a Docker engine; SANDBOX_TEST_ENGINE=none skips what needs one"; stop' EXIT
		need_engine
		start_test_engine "$work" suite
		trap stop EXIT
	fi
fi
[[ ${SANDBOX_TEST_ENGINE-} != none ]] || unset SANDBOX_TEST_ENGINE # to the tests it is an address
# What takes long to link and to prepare is made once, and not in each suite; every user of
# the tests may get there.
chmod 711 "$work"
CGO_ENABLED=0 go build -trimpath -o "$work/bin/" ./cmd/sandbox-run ./cmd/sandbox-server
export SANDBOX_TEST_BINARY=$work/bin/sandbox-run SANDBOX_TEST_SERVER=$work/bin/sandbox-server SANDBOX_TEST_PREPARED=$work/prepared
prepare() { SANDBOX_DATA_DIR=$SANDBOX_TEST_PREPARED "$SANDBOX_TEST_BINARY" --quiet --lang "$1" --code "$2"; }
prepare go 'package main; func main() {}'
for jdk in java java@17 java@25; do # those that are here
	prepare "$jdk" 'class A { public static void main(String[] a) { } }' 2>/dev/null || true
done
go run -trimpath gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --hide-summary=output --raw-command -- scripts/gotest.sh "$@"
