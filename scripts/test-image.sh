#!/usr/bin/env bash
# Builds the image of sandbox-server, starts it as docs/SERVER.md says, and runs the
# suite of sandbox-server in it. The ways to start it:
#
#   unprivileged   as it is
#   root           as root, with the capabilities that a uid for each run takes
#   full           with what isolation full takes
#   hardened       as deploy/compose.yaml has it
#
# Arguments choose among them. With --or-skip it succeeds, and says why, where no
# image can be built.
#
# BASE and GO name the images that it is built from, as for make sandbox-build.
# Without them it makes stand-ins, since no registry may be in reach: test/container.
# DOCKER_HOST names an engine on this machine; else one is started as root, and
# stopped at the end. Its layers are kept in sandbox-run-container below
# XDG_CACHE_HOME: /var/cache for root, else ~/.cache.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-image: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

readonly kinds=(unprivileged root full hardened)
readonly image=sandbox-run-test-image

# options_of sets what docker run is told for a kind. A test holds docs/SERVER.md
# and deploy/compose.yaml to it.
options_of() {
	case $1 in
	unprivileged) options=() ;;
	root) options=(--user 0 --cap-drop ALL "${four[@]/#/--cap-add=}") ;;
	full) options=(--security-opt seccomp=unconfined --security-opt systempaths=unconfined --security-opt apparmor=unconfined --cap-drop ALL --security-opt no-new-privileges) ;;
	hardened) options=(--cap-drop ALL --security-opt no-new-privileges --read-only --tmpfs '/tmp:exec,mode=1777,size=1g' --memory 4g --pids-limit 2048) ;;
	*) die "$1: want one of ${kinds[*]}" ;;
	esac
}

# base_image prints the name of the image that stands for a kind of root.
base_image() {
	local tar name
	tar=$(test/container/image.sh "$cache" "$1") || die "no root image; the reason is above"
	name=$(basename "$tar" .tar)
	name=sandbox-run-base:$name
	if ! docker image inspect "$name" >/dev/null 2>&1; then
		docker import --change 'ENV PATH=/usr/local/go/bin:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin' "$tar" "$name" >/dev/null
	fi
	echo "$name"
}

# build makes both targets, by make as an operator does. Our own engine has no
# bridge, so that builds take the host's network there.
build() {
	local flags=() target
	[[ -z $engine ]] || flags=(--network host)
	flags+=(--build-arg "GO=$GO")
	for target in server all; do
		say "building $image:$target from $BASE"
		# BuildKit is not on every engine; who has it may still use it.
		DOCKER_BUILDKIT=0 make --no-print-directory sandbox-build ENGINE=docker IMAGE="$image" TAG="$target" TARGET="$target" \
			BASE="$BASE" BUILD_FLAGS="${flags[*]}" >"$work/build.log" 2>&1 || {
			tail -n 40 "$work/build.log" >&2
			die "the image was not built; the last lines are above"
		}
	done
	# What no tag names any more is of use for a while, as a cache.
	[[ -z $engine ]] || docker image prune --force --filter until=12h >/dev/null
	docker image ls --format '{{.Repository}}:{{.Tag}} {{.Size}}' "$image"
}

# life starts the image and looks at it from outside.
life() {
	(
		cd test/sandbox
		SANDBOX_TEST_IMAGE=$image SANDBOX_TEST_KIND=$1 SANDBOX_TEST_OPTIONS=${options[*]} \
			"$work/tests/sandbox.test" -test.v -test.timeout=20m -test.run='^TestImage' >"$work/life.log" 2>&1
	) || { cat "$work/life.log" && return 1; }
	grep -E '^ *--- ' "$work/life.log"
}

# suite runs the suite in the image that has all languages, away from what this
# machine does with its ports; but for the test that asks PyPI.
suite() {
	local network=bridge
	[[ -z $engine ]] || network=host
	suite_part none && suite_part "$network" FromPyPI
}

# suite_part NETWORK [PATTERN] has the source beside it, to which the tests hold the
# documentation.
suite_part() {
	docker run --rm --name "$tag" --network "$1" "${options[@]}" \
		--env SANDBOX_TEST_SERVER=/usr/local/bin/sandbox-server --env SANDBOX_TEST_BINARY=/usr/local/bin/sandbox-run \
		--env SANDBOX_TEST_CONTAINER=image --volume "$PWD:/src:ro" --volume "$work/tests:/opt/test:ro" \
		--entrypoint /opt/test/suite.sh "$image:all" "${@:2}" &
	wait $! # a signal ends this at once; finish then removes the container
}

# finish is the one way out.
# shellcheck disable=SC2317,SC2329 # called by the trap
finish() {
	docker ps --all --quiet --filter "label=$tag" | xargs --no-run-if-empty docker rm --force --volumes >/dev/null 2>&1 || true
	docker rm --force --volumes "$tag" >/dev/null 2>&1 || true
	[[ -n $engine ]] || docker rmi "$image:server" "$image:all" >/dev/null 2>&1 || true
	stop_engine "$work"
	# What a killed engine leaves mounted is not ours to remove with the rest.
	rm -rf --one-file-system "$work"
}

main() {
	if [[ ${1-} = --or-skip ]]; then
		shift
		local why
		why=$(why_no_engine)
		if [[ -n $why ]]; then
			echo "SKIP ${#kinds[@]} kinds of container (${kinds[*]}): $why"
			exit 0
		fi
	fi
	[[ $# -gt 0 ]] || set -- "${kinds[@]}"
	local kind
	for kind in "$@"; do options_of "$kind"; done # a mistake is told before anything is built
	need_engine
	tag=sandbox-run-test-$$
	work=$(mktemp -d "${TMPDIR:-/var/tmp}/sandbox-image.XXXXXX")
	trap finish EXIT
	trap 'exit 130' INT TERM HUP
	chmod 755 "$work"
	mkdir "$work/tests"
	CGO_ENABLED=0 go test -c -o "$work/tests/sandbox.test" ./test/sandbox
	install -m 755 test/container/suite.sh "$work/tests/"
	start_engine "$work" "$cache/engine"
	: "${BASE:=$(base_image python)}" "${GO:=$(base_image golang)}"
	build
	export SANDBOX_TEST_LABEL=$tag
	local failed=()
	for kind in "$@"; do
		echo "== image, $kind"
		options_of "$kind"
		life "$kind" || failed+=("$kind: life")
		[[ $kind = hardened ]] || suite || failed+=("$kind: suite") # hardened is unprivileged, and less
	done
	[[ ${#failed[@]} -eq 0 ]] || die "failed: ${failed[*]}"
}

main "$@"
