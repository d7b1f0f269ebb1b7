#!/usr/bin/env bash
# Runs the suite in unprivileged Docker containers, with Docker's own profile and
# capabilities, where sandbox-run is at isolation restricted:
#
#   root       as Docker starts a container
#   user       as uid 1000
#   hardened   as uid 1000 without capabilities, on a read-only root with a tmpfs
#   four       as root with just the capabilities that a uid for each run takes
#   powerless  as root with none
#
# Arguments choose among them. DOCKER_HOST names an engine on this machine; else
# one is started as root, with directories and a socket of its own, and stopped at
# the end. The root of the containers is built once, in sandbox-run-container
# below XDG_CACHE_HOME: /var/cache for root, else ~/.cache.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-container: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

# finish is the one way out.
# shellcheck disable=SC2317,SC2329 # called by the trap
finish() {
	docker rm --force "$tag" >/dev/null 2>&1 || true
	docker rmi "$tag" >/dev/null 2>&1 || true
	stop_engine "$work"
	# What a killed engine leaves mounted is not ours to remove with the rest.
	rm -rf --one-file-system "$work"
}

# build puts everything that runs in the container into $work/tests.
build() {
	mkdir "$work/tests"
	export CGO_ENABLED=0
	go build -o "$work/tests/sandbox-run" ./cmd/sandbox-run
	for package in test/cli pkg/sandbox/local; do
		go test -c -o "$work/tests/${package//\//-}.test" "./$package"
	done
	install -m 755 test/container/suite.sh "$work/tests/"
}

# contain runs the suite in a container of the given kind. Both kinds of the user
# share a data directory, so that Go's library is prepared twice and not thrice; it
# is on another file system than their temporary directory.
contain() {
	local kind=$1 options data=(--volume "$work/user:/data" --env SANDBOX_DATA_DIR=/data)
	case $kind in
	root) options=(--env SANDBOX_DATA_DIR=/var/lib/sandbox-run) ;; # its default
	user) options=(--user 1000 "${data[@]}") ;;
	hardened) options=(--user 1000 "${data[@]}" --cap-drop ALL --read-only --tmpfs /tmp --tmpfs '/exec:exec,mode=1777') ;;
	four) options=(--cap-drop ALL "${four[@]/#/--cap-add=}") ;;
	powerless) options=(--cap-drop ALL) ;;
	*) die "$kind: want root, user, hardened, four or powerless" ;;
	esac
	docker run --rm --name "$tag" --network none "${options[@]}" --env SANDBOX_TEST_CONTAINER="$kind" \
		--volume "$work/tests:/opt/test:ro" --volume "$(go env GOROOT):/usr/local/go:ro" "$tag" /opt/test/suite.sh &
	wait $! # a signal ends this at once; finish then removes the container
}

main() {
	need_engine
	local image
	image=$(test/container/image.sh "$cache" suite) || die "no root image; the reason is above"
	tag=sandbox-run-test-$$
	work=$(mktemp -d "${TMPDIR:-/var/tmp}/sandbox-container.XXXXXX")
	trap finish EXIT
	trap 'exit 130' INT TERM HUP
	chmod 755 "$work"
	install -d -m 777 "$work/user"
	build
	start_engine "$work" "$work/data"
	docker import "$image" "$tag" >/dev/null
	local failed=0 kind
	for kind in "${@:-root user hardened four powerless}"; do
		for k in $kind; do
			echo "== container, $k"
			contain "$k" || failed=1
		done
	done
	exit "$failed"
}

main "$@"
