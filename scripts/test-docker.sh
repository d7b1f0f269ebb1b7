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
# stop stops the engine, also one that a test has started anew.
stop() {
	[[ -z $engine ]] || engine=$(cat "$work/pid" 2>/dev/null || echo "$engine")
	stop_engine "$work"
	while [[ -n $engine ]] && kill -0 "$engine" 2>/dev/null; do sleep 0.1; done
	rm -rf "$work"
}
trap stop EXIT
start_engine "$work" "$cache/docker"

# No registry may be in reach: the image is Debian with Python, made here.
tar=$(test/container/image.sh "$cache" suite)
image=sandbox-run-test:$(basename "$tar" .tar)
docker image inspect "$image" >/dev/null 2>&1 || docker import "$tar" "$image" >/dev/null
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
go test -count=1 -timeout 20m ./pkg/sandbox/docker -docker "$DOCKER_HOST" -image "$image" "${restart[@]}" "$@"
