#!/usr/bin/env bash
# Runs a directory of tests in a throw-away virtual machine: Debian with
# systemd, a stock kernel, and the cgroup layout and kind of user asked for.
#
# Exit codes: what the tests ended with; 124 the machine did not finish in
# time; 125 the harness failed before, beside or after the tests.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here

usage() {
	cat <<-'END'
		usage: test/vm/run.sh [options] -- DIR

		Copies DIR to /opt/test of a fresh virtual machine, runs /opt/test/run.sh
		there, streams what it prints and exits with its exit code.

		  --cgroup v2|hybrid|v1   cgroup layout (v2)
		  --user KIND             root          system service with Delegate=yes (default)
		                          root-session  root, logged in, nothing delegated
		                          delegated     uid 1000 in a scope of its own manager, Delegate=yes
		                          session       uid 1000, logged in, nothing delegated
		  --cpus N                virtual processors (2)
		  --memory SIZE           as qemu spells it (4G)
		  --timeout SECONDS       boot and tests together (1200)
		  --cache DIR             where the root image is kept
		                          (${XDG_CACHE_HOME:-/var/cache}/sandbox-run-vm)
		  --out DIR               where to put what the tests left in /opt/test/out
		  --console               show the whole serial console, not the tests' output alone
	END
}

say() { printf 'test/vm: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit 125
}

# parse fills the option variables and leaves the test directory in $tests.
parse() {
	cgroup=v2 user=root cpus=2 memory=4G limit=1200 out='' console=false
	cache=${XDG_CACHE_HOME:-/var/cache}/sandbox-run-vm
	while [[ ${1-} == -* && $1 != -- ]]; do
		case $1 in
		--console) console=true && shift && continue ;;
		-h | --help) usage && exit 0 ;;
		esac
		[[ $# -ge 2 ]] || die "$1 needs a value; see --help"
		case $1 in
		--cgroup) cgroup=$2 ;;
		--user) user=$2 ;;
		--cpus) cpus=$2 ;;
		--memory) memory=$2 ;;
		--timeout) limit=$2 ;;
		--cache) cache=$2 ;;
		--out) out=$2 ;;
		*) die "unknown option $1; see --help" ;;
		esac
		shift 2
	done
	[[ ${1-} != -- ]] || shift
	[[ $# -eq 1 ]] || die "exactly one test directory is needed; see --help"
	tests=$1
}

# validate refuses what could only fail minutes later, inside the guest.
validate() {
	[[ $cgroup =~ ^(v2|hybrid|v1)$ ]] || die "--cgroup $cgroup: want v2, hybrid or v1"
	[[ $user =~ ^(root|root-session|delegated|session)$ ]] ||
		die "--user $user: want root, root-session, delegated or session"
	[[ $cpus =~ ^[1-9][0-9]*$ ]] || die "--cpus $cpus: want a positive whole number"
	[[ $memory =~ ^[1-9][0-9]*[MG]$ ]] || die "--memory $memory: want a size such as 4G or 2048M"
	[[ $limit =~ ^[1-9][0-9]*$ ]] || die "--timeout $limit: want a positive number of seconds"
	[[ -x $tests/run.sh ]] || die "$tests: no executable run.sh in it"
	[[ -z $out || -d $out ]] || die "--out $out: no such directory"
	[[ $(uname -sm) == "Linux x86_64" ]] ||
		die "the image takes its toolchains from this machine, which must be Linux on x86_64"
}

# layout prints the boot parameters that select the cgroup hierarchy.
layout() {
	case $cgroup in
	v2) echo systemd.unified_cgroup_hierarchy=1 ;;
	hybrid) echo systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=0 ;;
	v1) echo systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1 ;;
	esac
}

# parameters prints the kernel command line. Under emulation every instruction
# counts: no mitigations for a processor that does not exist, no calibration of
# timers, no waiting for entropy, nothing printed that nobody reads.
parameters() {
	echo root=/dev/vda ro rootfstype=ext4 console=ttyS0 panic=-1 \
		mitigations=off tsc=reliable no_timer_check \
		random.trust_cpu=on quiet loglevel=3 systemd.show_status=0 \
		"$(layout)" \
		"sandbox_vm.cgroup=$cgroup" "sandbox_vm.user=$user" "sandbox_vm.token=$token"
}

# emulate runs the machine with its serial console on standard output. Never
# with KVM: nested, ordinary kernels hang. The root is a snapshot: what the
# tests write is dropped. 57-bit addresses would only lengthen page walks, and
# nested virtualization load modules.
emulate() {
	exec timeout --kill-after=10 "$limit" qemu-system-x86_64 \
		-M q35 -accel tcg,thread=multi,tb-size=512 -cpu max,la57=off,svm=off \
		-smp "$cpus" -m "$memory" -nodefaults -no-user-config -nic none \
		-display none -monitor none -serial stdio -no-reboot \
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng \
		-kernel "$image/vmlinuz" -initrd "$image/initrd" -append "$(parameters)" \
		-drive "file=$image/root.ext4,format=raw,if=virtio,snapshot=on,cache=unsafe" \
		-drive "file=$work/tests.tar,format=raw,if=virtio,readonly=on" \
		-drive "file=$work/out.tar,format=raw,if=virtio,cache=unsafe" </dev/null
}

# show passes on what lies between the two markers, or everything.
show() {
	if $console; then
		cat
	else
		sed -u -n "/^sandbox-vm $token begin/,/^sandbox-vm $token end/{/^sandbox-vm $token/!p}"
	fi
}

# boot runs the machine to its end and leaves the console in $work/console.
boot() {
	local status=0
	mkfifo "$work/serial"
	emulate >"$work/serial" 2>"$work/qemu" &
	machine=$!
	sed -u 's/\r$//' <"$work/serial" | tee "$work/console" | show &
	local reader=$!
	wait "$machine" || status=$?
	machine=
	wait "$reader"
	return "$status"
}

# verdict turns the end marker into the exit code, and its absence into words.
verdict() {
	local boot_status=$1 mark uptime code
	mark="^sandbox-vm $token end"
	if ! read -r _ _ _ code uptime < <(grep -a "$mark" "$work/console"); then
		tail -n 30 "$work/console" "$work/qemu" >&2
		[[ $boot_status -ne 124 && $boot_status -ne 137 ]] || {
			say "no end of the tests after $limit s (--timeout); the machine was stopped"
			exit 124
		}
		die "the machine ended with code $boot_status and no end marker; its last lines are above"
	fi
	[[ -z $out ]] || tar --extract --no-same-owner --file "$work/out.tar" --directory "$out" ||
		die "what the tests left in /opt/test/out could not be put into $out"
	say "$cgroup $user: exit code $code; userland after $(started) s," \
		"tests ended at $uptime s, all done after $SECONDS s"
	exit "$code"
}

# started prints the guest's uptime, in seconds, when the tests began.
started() { sed -n "s/^sandbox-vm $token begin //p" "$work/console"; }

# finish is the one way out: it stops a machine that still runs, by its pid.
# shellcheck disable=SC2317 # called by the trap
finish() {
	[[ -z $machine ]] || { kill "$machine" && wait "$machine"; } 2>/dev/null || true
	rm -rf "$work"
}

main() {
	parse "$@"
	validate
	image=$("$here/image.sh" "$cache") || die "no root image; the reason is above"
	machine=
	token=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
	work=$(mktemp -d "${TMPDIR:-/var/tmp}/sandbox-vm.XXXXXX")
	trap finish EXIT
	trap 'exit 125' INT TERM HUP
	tar --create --file "$work/tests.tar" --directory "$tests" --owner=0 --group=0 .
	truncate --size 1G "$work/out.tar" # sparse
	SECONDS=0
	local status=0
	boot || status=$?
	verdict "$status"
}

main "$@"
