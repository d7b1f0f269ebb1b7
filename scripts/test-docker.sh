#!/usr/bin/env bash
# Runs the tests of containers of an engine, the conformance suite among them, on Docker
# and on Podman, both started as root and stopped at the end, and has programs die wherever
# such a container is made; or the tests alone on the engine that DOCKER_HOST names.
# Arguments go to the tests, e.g. -test.run TestKeep, and then nothing dies.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-docker: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

need_engine
work=$(mktemp -d)
small=''
# stop stops the engines, also one that a test has started anew.
stop() {
	stop_podman "$work/podman" "$cache/podman"
	if [[ -n $small ]]; then
		kill "$small" && wait "$small"
		umount "$work/small/exec/netns/default" "$work/small/data"
	fi 2>/dev/null || true
	[[ -z $engine ]] || engine=$(cat "$work/pid" 2>/dev/null || echo "$engine")
	stop_engine "$work"
	while [[ -n $engine ]] && kill -0 "$engine" 2>/dev/null; do sleep 0.1; done
	rm -rf "$work"
}
trap stop EXIT

# The tests are a program without libraries: one of them runs in an image that has
# nothing else, and some as an ordinary user, whom root's rights would spare.
CGO_ENABLED=0 go test -c -o "$work/docker.test" ./pkg/sandbox/docker
cd pkg/sandbox/docker
chmod 711 "$work"
[[ $EUID -ne 0 ]] || setpriv --reuid=65534 --regid=65534 --clear-groups "$work/docker.test" -test.run 'TestNoPermission|TestSocketOf'

# No registry may be in reach: the image is Debian with Python, made here.
tar=$(../../../test/container/image.sh "$cache" suite)
image=sandbox-run-test:$(basename "$tar" .tar)
port=$((20000 + RANDOM % 10000))
while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done # somebody has it
registry=127.0.0.1:$port
# test_engine tests the engine that DOCKER_HOST names.
test_engine() {
	docker image inspect "$image" >/dev/null 2>&1 || docker import "$tar" "$image" >/dev/null
	"$work/docker.test" -test.timeout 10m -docker "$DOCKER_HOST" -image "$image" -registry "$registry" "$@"
}
# crash has programs die at the places of containers of the engine that DOCKER_HOST names,
# which is $1 to the tests. They look at all that the engine has, so that it must be ours.
crash() {
	local variable=SANDBOX_TEST_ENGINE
	[[ $1 = docker ]] || variable=SANDBOX_TEST_PODMAN
	say "crashes with $1"
	(cd ../../.. && env -u DOCKER_HOST -u SANDBOX_TEST_ENGINE "$variable=$DOCKER_HOST" SANDBOX_TEST_ENGINE_IMAGE="$image" \
		go test -count=1 -timeout 20m ./test/crash -run "TestPoints/$1|TestServerElsewhere/$1")
}
own=$([[ -n ${DOCKER_HOST-} ]] || echo yes)
full=()
if [[ -n $own ]]; then # an engine whose disk is soon full
	mkdir -p "$work/small/data"
	mount -t tmpfs -o size=64m sandbox-run-test "$work/small/data"
	start_engine "$work/small" "$work/small/data"
	small=$engine full=(-small-engine "$DOCKER_HOST")
	unset DOCKER_HOST engine
fi
start_engine "$work" "$cache/docker"
# The tests may kill an engine of ours.
restart=()
if [[ -n $engine ]]; then
	cat >"$work/restart" <<-END
		#!/usr/bin/env bash
		set -euo pipefail
		export DOCKER_HOST=$DOCKER_HOST
		if [[ \$1 = kill ]]; then
			pid=\$(cat $work/pid)
			kill -KILL "\$pid"
			while kill -0 "\$pid" 2>/dev/null; do sleep 0.1; done
			exit
		fi
		# The engine takes its own, which died with it, for one that is still there.
		rm -f $work/pid $work/exec/containerd/containerd.pid
		setsid $(printf '%q ' "${engine_command[@]}") >>$work/log 2>&1 </dev/null &
		for ((i = 0; i < 300; i++)); do docker version >/dev/null 2>&1 && exit; sleep 0.2; done
		exit 1
	END
	chmod +x "$work/restart"
	restart=(-restart "$work/restart")
fi
say "Docker: $(docker version --format '{{.Server.Version}}')"
test_engine "${restart[@]}" "${full[@]}" "$@"
[[ -z $own || $# -gt 0 ]] || crash docker
if [[ -n $own ]]; then
	command -v podman >/dev/null || install_packages podman
	start_podman "$work/podman" "$cache/podman" "$registry"
	say "Podman: $(podman --version)"
	test_engine "$@"
	[[ $# -gt 0 ]] || crash podman
fi
