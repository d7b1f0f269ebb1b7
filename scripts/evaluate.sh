#!/usr/bin/env bash
# Measures what one fresh sandbox costs with each technology that
# docs/TECHNOLOGY_EVALUATION.md compares, and prints its tables in Markdown.
#
#   evaluate.sh [ROUNDS [PATIENCE]]
#
# 100 rounds, and up to 600 seconds of waiting for moments without other work.
# For Debian, as root. It installs the technologies by apt, and says so before;
# what it makes itself lives in a temporary folder and a control group of its own
# and is gone at the end. What the engines write elsewhere, whatever folders they
# are given (/run/docker, /var/lib/containers), stays: others may use it by then.
# With EVALUATE_ROOTFS a Debian tree with python3 is used instead of a new one by
# debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly rounds=${1:-100}
readonly patience=${2:-600}
readonly parts=$PWD/scripts/evaluate
readonly subject=$PWD/bin/sandbox-run
readonly server=$PWD/bin/sandbox-server
readonly wazero_version=v1.12.0
readonly packages=(docker.io podman runc crun bubblewrap runsc debootstrap python3)
# What these bring along and what is measured with them.
readonly companions=(containerd conmon golang-github-containers-common)
# As many as measure.py has clients at a time: each has a bundle of its own.
readonly clients=16
go=$(command -v go || true)
# What the distribution packaged is measured, and its python3, not a shim of
# some version manager.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
export DEBIAN_FRONTEND=noninteractive

say() { echo "evaluate: $*" >&2; }

fail() {
	say "$*"
	exit 1
}

check_host() {
	[ "$(id -u)" -eq 0 ] || fail "the container engines are compared as root; run it as root"
	command -v apt-get >/dev/null || fail "it compares the packages of Debian, and there is no apt-get here"
	[ -x "$subject" ] && [ -x "$server" ] || fail "$subject or $server is missing; make build first"
	[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "ROUNDS must be a positive number, not '$rounds'"
	[[ $patience =~ ^[0-9]+$ ]] || fail "PATIENCE must be a number of seconds, not '$patience'"
}

install_packages() {
	local missing=() package
	for package in "${packages[@]}"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	say "installing with apt-get, and leaving installed: ${missing[*]}"
	say "(under systemd docker.io also starts its service; it is not the one that is measured)"
	apt-get update >"$work/apt.log" 2>&1 || fail "apt-get update failed: $(tail -3 "$work/apt.log")"
	apt-get install -y --no-install-recommends "${missing[@]}" >"$work/apt.log" 2>&1 ||
		fail "apt-get install failed: $(tail -3 "$work/apt.log")"
}

# cgroup_roots prints where control groups of ours may come to lie: the mount of
# each hierarchy.
cgroup_roots() { awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts; }

# enter_group moves this script, and so all that it starts, into a group that
# counts CPU time: daemons and helpers then count as much as children do. The
# engines put their containers below the same group. Other work on the machine
# gets less of the processor while this is at it.
enter_group() {
	local root=/sys/fs/cgroup/cpuacct controller=cpuacct
	clock=cpuacct.usage
	if [ ! -e "$root/cgroup.procs" ]; then
		root=/sys/fs/cgroup controller='' clock=cpu.stat
	fi
	[ -e "$root/cgroup.procs" ] || fail "no control group that counts CPU time is mounted below /sys/fs/cgroup"
	origin=$root$(awk -F: -v c="$controller" '$2 == c { print $3 }' /proc/self/cgroup)
	mkdir -p "$root/$group/self"
	echo $$ >"$root/$group/self/cgroup.procs"
	clock=$root/$group/$clock
	renice --priority -10 --pid $$ >/dev/null
}

leave_group() {
	[ -z "${origin:-}" ] || echo $$ >"$origin/cgroup.procs"
	local root
	for root in $(cgroup_roots); do
		[ -d "$root/$group" ] || continue
		find "$root/$group" -depth -type d -exec rmdir {} + || say "left behind: $root/$group"
	done
}

# unmount_ours takes down what the engines mounted below our folder.
unmount_ours() {
	local mounted
	awk -v p="$work/" 'index($5, p) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mounted; do
		umount "$mounted" || say "left mounted: $mounted"
	done
}

# stop ends a process of ours, if it was started.
stop() {
	[ -n "${1:-}" ] || return 0
	kill "$1" 2>/dev/null || true
	wait "$1" || true
}

clean_up() {
	local status=$?
	trap - EXIT
	stop "${served:-}"
	stop "${dockerd:-}"
	stop "${holder:-}"
	unmount_ours
	leave_group
	rm -rf --one-file-system "$work"
	exit "$status"
}

make_root() {
	if [ -n "${EVALUATE_ROOTFS:-}" ]; then
		root=$EVALUATE_ROOTFS
		return
	fi
	local suite
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	root=$work/root
	say "making a Debian root ($suite, minbase, python3) with debootstrap"
	debootstrap --variant=minbase --include=python3 "$suite" "$root" >"$work/debootstrap.log" 2>&1 ||
		fail "debootstrap failed: $(tail -3 "$work/debootstrap.log")"
}

start_dockerd() {
	dockerd --host "unix://$work/docker.sock" --data-root "$work/docker" --exec-root "$work/docker-exec" \
		--pidfile "$work/docker.pid" --bridge none --iptables=false --ip6tables=false --ip-forward=false \
		--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$group" >"$work/dockerd.log" 2>&1 &
	dockerd=$!
	for _ in {1..100}; do
		docker_ info >/dev/null 2>&1 && return
		kill -0 "$dockerd" 2>/dev/null || break
		sleep 0.2
	done
	fail "dockerd did not come up: $(tail -3 "$work/dockerd.log")"
}

# start_server starts ours, as it is shipped, on a port of the system's choice.
start_server() {
	SANDBOX_DATA_DIR=$work/server "$work/sandbox-server" warm >&2 # or it does so while something else is measured
	SANDBOX_DATA_DIR=$work/server SANDBOX_PORT=0 "$work/sandbox-server" >"$work/server.log" 2>&1 &
	served=$!
	for _ in {1..100}; do
		address=$(sed -n 's/.*"msg":"ready","address":"\([^"]*\)".*/\1/p' "$work/server.log")
		[ -z "$address" ] || return 0
		kill -0 "$served" 2>/dev/null || break
		sleep 0.2
	done
	fail "sandbox-server did not come up: $(tail -3 "$work/server.log")"
}

docker_() { docker --host "unix://$work/docker.sock" "$@"; }
podman_() { podman "${podman[@]}" "$@"; }

import_images() {
	say "importing the root into docker and podman"
	tar -C "$root" -c . | docker_ import - evaluate >/dev/null
	tar -C "$root" -c . | podman_ import --quiet - evaluate >/dev/null
}

# build_wazero gets the WebAssembly runtime through the Go module proxy, and
# writes the smallest module that starts: one function, empty, named _start.
build_wazero() {
	[ -n "$go" ] || return 0
	GOBIN=$work GOFLAGS='' "$go" install "github.com/tetratelabs/wazero/cmd/wazero@$wazero_version" >"$work/go.log" 2>&1 ||
		fail "cannot build wazero $wazero_version: $(tail -3 "$work/go.log")"
	printf '\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\7\12\1\6_start\0\0\12\4\1\2\0\13' >"$work/true.wasm"
}

# The programs, as they are called inside. hold stays until memory was read;
# walls reports what it sees of its isolation; sort computes, pipe writes.
readonly names=(true python hold walls sort pipe)
readonly sort='import random; random.seed(7); print(sorted(random.random() for _ in range(400000))[200000])'
declare -A program=(
	[true]='/bin/true'
	[python]="/usr/bin/python3 -c 'print(\"hello\")'"
	[hold]='/bin/sleep 4'
	[walls]="/usr/bin/python3 -c '$(<"$parts/walls.py")'"
	[sort]="/usr/bin/python3 -c '$sort'"
	[pipe]='/usr/bin/head -c 256M /dev/zero'
)

# write_cases lists technology, program and command line of every case. The engines
# keep no log of what a program writes: nobody else does.
write_cases() {
	local name inside options
	options="--rm --network none --read-only --tmpfs /tmp --user 65534:65534 --cap-drop ALL"
	options+=" --security-opt no-new-privileges --memory 512m --memory-swap 512m --pids-limit 128 --cpus 1"
	options+=" --ulimit nofile=256:256 --ulimit nproc=4096:4096 --log-driver none"
	for name in "${names[@]}"; do
		inside=${program[$name]}
		[ "$name" = walls ] || [ "$name" = hold ] || write_case bare "$name" "$inside"
		write_case bubblewrap "$name" "bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL" \
			"--uid 65534 --gid 65534 --ro-bind $root / --proc /proc --dev /dev --tmpfs /tmp $inside"
		write_case crun "$name" "${crun[*]} run --bundle $work/bundle-$name-@CLIENT@ $group-crun-@ID@"
		write_case runc "$name" "runc --root $work/runc run --bundle $work/bundle-$name-@CLIENT@ $group-runc-@ID@"
		write_case "podman (${podman[-1]})" "$name" "podman ${podman[*]} run $options --cgroup-parent /$group evaluate $inside"
		write_case "docker (runc)" "$name" "docker --host unix://$work/docker.sock run $options evaluate $inside"
		for platform in "${gvisor[@]}"; do
			write_case "gVisor ($platform)" "$name" "runsc --root $work/runsc --platform=$platform" \
				"--ignore-cgroups --network=none run --bundle $work/bundle-$name-@CLIENT@ $group-runsc-@ID@"
		done
	done
	write_own_cases
	[ -z "${holder:-}" ] || write_case "bare, through nsenter" true "${enter[*]} ${program[true]}"
	[ ! -x "$work/wazero" ] || write_case "WebAssembly (wazero)" true "$work/wazero run $work/true.wasm"
}

write_own_cases() {
	local run="$work/sandbox-run --output raw"
	write_case sandbox-run true "$run --lang exec -- ${program[true]}"
	write_case sandbox-run python "$run --lang python --code 'print(\"hello\")'"
	write_case sandbox-run hold "$run --lang exec -- ${program[hold]}"
	write_case sandbox-server true "POST $address '{\"language\":\"exec\",\"args\":[\"/bin/true\"]}'"
	write_case sandbox-server python "POST $address '{\"language\":\"python\",\"code\":\"print(\\\"hello\\\")  # @ID@\"}'"
	write_case sandbox-run sort "$run --lang python --code '$sort'"
	write_case sandbox-server sort "POST $address '{\"language\":\"python\",\"code\":\"$sort  # @ID@\"}'"
	write_case sandbox-run pipe "$run --max-stream 0 --lang exec -- ${program[pipe]}"
	write_case sandbox-run walls "$run --lang python --code '$(<"$parts/walls.py")'"
}

# write_case ends a case with a NUL, since programs have several lines; measure.py
# takes the command line apart as a shell would.
write_case() {
	local technology=$1 name=$2
	shift 2
	printf '%s\t%s\t%s\0' "$technology" "$name" "$*" >>"$work/cases"
}

# make_bundles makes one for each client, since a bundle names the control group:
# in a common one they would share a single core, and crun kills whatever is in its
# group. Without a name crun makes a group outside of ours, which nobody would count.
make_bundles() {
	local name client count bundle
	for name in "${names[@]}"; do
		count=1
		[ "$name" != python ] || count=$clients # the only one that many run at a time
		for ((client = 0; client < count; client++)); do
			bundle=$work/bundle-$name-$client
			mkdir "$bundle"
			(cd "$bundle" && runc spec)
			python3 "$parts/bundle.py" "$bundle/config.json" "$root" "/$group/oci-$client" "${program[$name]}"
		done
	done
}

# probe_crun finds out whether crun takes this machine's control groups; it refuses
# a hybrid layout whose second version has controllers. Then it runs in a mount
# namespace in which the second version is hidden, and podman takes runc.
probe_crun() {
	crun=(crun --root "$work/crun")
	podman=(--root "$work/podman" --runroot "$work/podman-run" --tmpdir "$work/podman-tmp"
		--cgroup-manager cgroupfs --events-backend none --runtime crun)
	"${crun[@]}" run --bundle "$work/bundle-true-0" "$group-probe" 2>"$work/crun.log" && return
	say "crun runs through nsenter, since it says: $(tail -1 "$work/crun.log")"
	unshare --mount sh -ec 'mount -t tmpfs hidden /sys/fs/cgroup/unified; echo ready; exec sleep infinity' \
		>"$work/holder.log" &
	holder=$!
	until grep -q ready "$work/holder.log"; do
		kill -0 "$holder" || fail "cannot hide the second version of control groups from crun"
		sleep 0.1
	done
	enter=(nsenter --mount --target "$holder")
	crun=("${enter[@]}" "${crun[@]}")
	podman[-1]=runc
}

# missing notes a technology that cannot be measured here, and why.
missing() { printf '%s\t%s\n' "$1" "$2" >>"$work/missing"; }

# note_unpackaged names those that apt cannot give.
note_unpackaged() {
	local kvm="/dev/kvm is absent here"
	[ ! -e /dev/kvm ] || kvm="/dev/kvm is present here"
	missing nsjail "not packaged in Debian"
	missing Firecracker "not packaged in Debian; needs KVM ($kvm), a kernel and a disk image of its own"
	missing "WebAssembly (wasmtime)" "not packaged in Debian"
	[ -x "$work/wazero" ] || missing "WebAssembly (wazero)" "no go on PATH to build it with"
}

# gvisor_platforms finds the ways to catch system calls that work on this machine.
gvisor_platforms() {
	local platform status
	gvisor=()
	for platform in systrap ptrace kvm; do
		status=0
		timeout 20 runsc --root "$work/runsc" --platform=$platform --ignore-cgroups --network=none \
			run --bundle "$work/bundle-true-0" "$group-$platform" >"$work/runsc.log" 2>&1 || status=$?
		case $status in
		0) gvisor+=("$platform") ;;
		124) missing "gVisor ($platform)" "no answer within 20 s" ;;
		*) missing "gVisor ($platform)" "$(tail -1 "$work/runsc.log" | cut -c1-160)" ;;
		esac
		[ $status -eq 0 ] || runsc --root "$work/runsc" delete --force "$group-$platform" >/dev/null 2>&1 || true
	done
}

version_of() { dpkg-query -W -f '${Package} ${Version}' "$1"; }

# describe prints the machine and the versions, for the text around the table.
describe() {
	local package list=
	for package in "${packages[@]}" "${companions[@]}"; do
		[ "$package" = debootstrap ] || list+=", $(version_of "$package")"
	done
	echo "Taken $(date -u '+%F %R UTC') by \`scripts/evaluate.sh $rounds $patience\` on $(nproc) × $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)," \
		"$(awk '/MemTotal/ { printf "%d GiB", $2 / 1048576 + 0.5 }' /proc/meminfo), Linux $(uname -r)," \
		"$(. /etc/os-release && echo "$PRETTY_NAME"). Versions: sandbox-run $("$work/sandbox-run" version | head -1 | awk '{ print $2 }')$list," \
		"wazero $wazero_version."
}

main() {
	check_host
	work=$(mktemp -d /var/tmp/evaluate.XXXXXX)
	group=evaluate-$$
	trap clean_up EXIT
	trap 'exit 130' INT TERM
	install_packages
	enter_group
	make_root
	chmod 755 "$work"
	cp "$subject" "$server" "$work"
	export SANDBOX_DATA_DIR=$work/data
	build_wazero
	make_bundles
	probe_crun
	start_dockerd
	start_server
	import_images
	gvisor_platforms
	note_unpackaged
	write_cases
	describe
	python3 -u "$parts/measure.py" --rounds "$rounds" --patience "$patience" --clock "$clock" "$work/cases" "$work/missing"
}

main
