# Sourced by scripts that run Docker containers: a Docker engine of their own, or
# the one that DOCKER_HOST names. The script has say, and scripts/packages.sh.
# shellcheck shell=bash

# The capabilities that a uid for each run takes (docs/SERVER.md says what for).
# shellcheck disable=SC2034 # for who sources this
readonly four=(CHOWN KILL SETGID SETUID)

# why_no_engine says why there is no engine for this user, or nothing.
why_no_engine() {
	[[ -n ${DOCKER_HOST-} || $EUID -eq 0 ]] ||
		echo "starting a Docker engine needs root; or let DOCKER_HOST name one on this machine that you may use"
}

# need_engine installs what an engine takes.
need_engine() {
	local why
	why=$(why_no_engine)
	[[ -z $why ]] || die "$why"
	if [[ -n ${DOCKER_HOST-} ]]; then
		command -v docker >/dev/null || install_engine
	else
		command -v dockerd >/dev/null || install_engine
	fi
	command -v docker >/dev/null || install_packages docker-cli # from Debian 13 on apart
}

# install_engine installs Debian's engine. The services that it brings are neither started,
# since they change the machine's network, nor enabled: the tests have an engine of their own.
install_engine() {
	local unit new=()
	if [[ -d /run/systemd/system ]]; then
		for unit in docker.socket docker.service containerd.service; do
			systemctl cat "$unit" >/dev/null 2>&1 || new+=("$unit")
		done
	fi
	[[ ${#new[@]} -eq 0 ]] || systemctl --quiet --runtime mask "${new[@]}"
	install_packages docker.io
	[[ ${#new[@]} -eq 0 ]] || { systemctl --quiet --runtime unmask "${new[@]}" && systemctl --quiet disable "${new[@]}"; }
}

# wait_for_engine waits until the engine that DOCKER_HOST names answers, called $1, of
# process $2, whose words are in file $3.
wait_for_engine() {
	local i
	for ((i = 0; i < 300; i++)); do
		docker version >/dev/null 2>&1 && return
		kill -0 "$2" 2>/dev/null || break
		sleep 0.2
	done
	tail -n 20 "$3" >&2
	die "$1 did not start; its last words are above"
}

engine=''

# start_engine starts an engine, unless there is one, that touches nothing of the
# machine's own: no bridge, no firewall rules. It works in directory $1 and keeps
# images in $2, which is one engine's at a time.
start_engine() {
	[[ -z ${DOCKER_HOST-} ]] || return 0
	local lock
	mkdir -p "${2%/*}"
	exec {lock}>"$2.lock"
	flock --nonblock "$lock" || {
		say "waiting for another suite, whose engine has $2 (fuser $2.lock names it)"
		flock --timeout 3600 "$lock" || die "it has it still, after an hour"
	}
	export DOCKER_HOST=unix://$1/docker.sock
	engine_command=(dockerd --host "$DOCKER_HOST" --bridge=none --iptables=false --containerd-namespace="${1##*/}"
		--data-root "$2" --exec-root "$1/exec" --pidfile "$1/pid")
	"${engine_command[@]}" >"$1/log" 2>&1 &
	engine=$!
	exec {lock}>&- # the engine has it, for as long as it lives
	wait_for_engine "the Docker engine" "$engine" "$1/log"
}

# start_test_engine starts an engine with an image of the kind $2 for the tests, which its
# variables name. It works in directory $1.
start_test_engine() {
	local tar
	start_engine "$1" "$cache/docker"
	tar=$(test/container/image.sh "$cache" "$2")
	export SANDBOX_TEST_ENGINE=$DOCKER_HOST SANDBOX_TEST_ENGINE_IMAGE=sandbox-run-test:$(basename "$tar" .tar)
	docker image inspect "$SANDBOX_TEST_ENGINE_IMAGE" >/dev/null 2>&1 || docker import "$tar" "$SANDBOX_TEST_ENGINE_IMAGE" >/dev/null
	unset DOCKER_HOST
}

# stop_engine stops what start_engine has started in directory $1, which the engine
# leaves one mount in.
stop_engine() {
	[[ -z $engine ]] || { kill "$engine" && wait "$engine"; } 2>/dev/null || true
	umount "$1/exec/netns/default" 2>/dev/null || true
}

podman=''

# start_podman starts the service of Podman, which works in directory $1, keeps images
# in $2, and takes the registry at address $3 for one without TLS. It is DOCKER_HOST then.
start_podman() {
	mkdir -p "$1"
	rm -rf "$2/libpod" # remembers the directory of last time, and takes no other
	# Where the machine's own limits are lower than Podman's, no container starts.
	printf '[containers]\ndefault_ulimits=["nofile=4096:4096","nproc=4096:4096"]\n[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >"$1/containers.conf"
	printf '[[registry]]\nlocation="%s"\ninsecure=true\n' "$3" >"$1/registries.conf"
	local command=(podman --root "$2" --runroot "$1/run" --tmpdir "$1/tmp" --storage-driver overlay)
	[[ ! -e /sys/fs/cgroup/unified ]] || command+=(--runtime runc) # crun takes no control groups of both versions
	# Of a container without memory a file "oom" is left where the service works.
	(cd "$1" && CONTAINERS_CONF=$1/containers.conf CONTAINERS_REGISTRIES_CONF=$1/registries.conf \
		exec "${command[@]}" system service --time 0 "unix://$1/podman.sock") >"$1/log" 2>&1 &
	podman=$!
	export DOCKER_HOST=unix://$1/podman.sock
	wait_for_engine "Podman's service" "$podman" "$1/log"
}

# stop_podman stops it.
stop_podman() {
	[[ -z $podman ]] || { kill "$podman" && wait "$podman"; } 2>/dev/null || true
	umount "$1/run/netns"/* "$2/overlay" 2>/dev/null || true
}
