#!/usr/bin/env bash
# Runs every test, and closes with the runner's own count. As root, the tests of
# the local runtime that make sense for an ordinary user run a second time as
# one (test/cli starts the binary as uid 65534 itself).
set -euo pipefail
cd "$(dirname "$0")/.."
# One OCI runtime is a part of the suite; the others are for make test-oci.
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	scripts/install.sh crun
fi
exec go run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --hide-summary=output -- -p 1 -timeout 20m "$@" ./...
