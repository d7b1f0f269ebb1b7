#!/usr/bin/env bash
# Runs the conformance suite in containers of a Docker engine: one that it starts as
# root and stops at the end, or the one that DOCKER_HOST names. Arguments go to the
# tests, e.g. -docker-runtime runsc.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-docker: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

need_engine
cache=${XDG_CACHE_HOME:-/var/cache}/sandbox-run-container
work=$(mktemp -d)
trap 'stop_engine "$work"; rm -rf "$work"' EXIT
start_engine "$work" "$cache/docker"

# No registry may be in reach: the image is Debian with Python, made here.
tar=$(test/container/image.sh "$cache" suite)
image=sandbox-run-test:$(basename "$tar" .tar)
docker image inspect "$image" >/dev/null 2>&1 || docker import "$tar" "$image" >/dev/null
go test -count=1 -timeout 20m ./pkg/sandbox/docker -docker "$DOCKER_HOST" -image "$image" "$@"
