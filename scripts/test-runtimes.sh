#!/usr/bin/env bash
# Runs five languages through every verdict in every runtime, and writes the table of
# docs/RUNTIMES.md from what it has seen: this machine's kernel as root and as an
# ordinary user, crun, runc, gVisor, Docker, Podman, another server of ours, and a
# service that speaks E2B's protocol. It installs and starts what it needs, as root, and
# takes the better part of an hour. Nothing else should run meanwhile: it measures.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-runtimes: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

[[ $EUID -eq 0 ]] || die "OCI runtimes and engines are driven as root: sudo make test-runtimes"
unset DOCKER_HOST
need_engine
scripts/install.sh crun runc runsc podman
work=$(mktemp -d)
stop() {
	stop_podman "$work/podman" "$cache/podman"
	stop_engine "$work"
	rm -rf "$work"
}
trap stop EXIT

tar=$(test/container/image.sh "$cache" five)
image=sandbox-run-test:$(basename "$tar" .tar)
have_image() { docker image inspect "$image" >/dev/null 2>&1 || docker import "$tar" "$image" >/dev/null; }
start_engine "$work" "$cache/docker"
docker=$DOCKER_HOST
have_image
start_podman "$work/podman" "$cache/podman" 127.0.0.1:5000
podman_host=$DOCKER_HOST
have_image
unset DOCKER_HOST

seen=$work/seen
mkdir "$seen"
runsc='runsc --platform=ptrace --ignore-cgroups --network=none'
status=0
go test -count=1 -timeout 120m -run 'TestVerdicts' ./test/cli -seen "$seen" -image "$image" \
	-runtimes "crun,runc,${RUNSC-$runsc},docker=$docker,podman=$podman_host,remote,e2b" "$@" || status=$?
go test -count=1 -run TestRuntimesTable ./test/cli -seen "$seen" -table "$PWD/docs/RUNTIMES.md"
exit "$status"
