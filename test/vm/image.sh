#!/usr/bin/env bash
# Prints the folder of the root image, building it first if need be:
# root.ext4 (sparse), vmlinuz and initrd. The folder is named after a hash of
# all that the image is built from, so a stale image is never used.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly mirror=http://deb.debian.org
readonly suite=bookworm
readonly size=5G

# What a server has, and what the five languages need beside Go and Rust, whose
# Debian versions are too old and which are copied from this machine.
readonly packages=(
	linux-image-cloud-amd64 initramfs-tools zstd systemd systemd-sysv udev
	dbus dbus-user-session libpam-systemd login passwd uidmap
	procps util-linux iproute2 kmod ca-certificates
	python3 nodejs openjdk-17-jdk-headless gcc libc6-dev strace crun docker.io apparmor
)

say() { printf 'test/vm: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. "$here/../../scripts/packages.sh"

# requirements prints the Debian packages that this machine lacks.
requirements() {
	command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
	command -v mmdebstrap >/dev/null || echo mmdebstrap
	command -v mke2fs >/dev/null || echo e2fsprogs
	[[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || echo debian-archive-keyring
}

# find_toolchains sets goroot and rustroot, and versions for the hash. Go is
# asked here, inside the module, so that it is the one that builds the tests.
find_toolchains() {
	command -v go >/dev/null || die "no go on PATH; its toolchain goes into the image"
	command -v rustc >/dev/null || die "no rustc on PATH; its toolchain goes into the image"
	goroot=$(cd "$here" && go env GOROOT)
	rustroot=$(cd / && rustc --print sysroot)
	versions=$("$goroot/bin/go" version && "$rustroot/bin/rustc" --version)
	[[ $goroot != /usr && $rustroot != /usr ]] ||
		die "Go and Rust must have folders of their own (go.dev, rustup), not share /usr"
}

# key prints the hash of everything that decides what the image holds.
key() {
	{
		echo "$versions"
		cat "$here/image.sh" "$here"/guest/*
	} | sha256sum | cut -c1-16
}

# bootstrap makes a Debian tree in $1; its own mount namespace holds the mounts.
bootstrap() {
	mmdebstrap --verbose --mode=root --variant=minbase --include="${packages[*]}" \
		--aptopt='Acquire::Languages "none"' \
		"$suite" "$1" \
		"deb $mirror/debian $suite main" \
		"deb $mirror/debian $suite-updates main" \
		"deb $mirror/debian-security $suite-security main" >"$1.log" 2>&1 || {
		tail -n 40 "$1.log" >&2
		die "mmdebstrap failed; its last lines are above, all of them in $1.log"
	}
}

# copy_toolchains puts this machine's Go and Rust under /usr/local of $1.
copy_toolchains() {
	mkdir -p "$1/usr/local/go" "$1/usr/local/rust"
	tar -C "$goroot" --exclude=./test --exclude=./api --exclude=./doc -cf - . | tar -C "$1/usr/local/go" -xf -
	tar -C "$rustroot" --exclude=./share -cf - . | tar -C "$1/usr/local/rust" -xf -
	chown -R root:root "$1/usr/local/go" "$1/usr/local/rust"
}

# configure makes the tree in $1 boot straight into the test service.
configure() {
	echo sandbox-vm >"$1/etc/hostname"
	printf '127.0.0.1 localhost sandbox-vm\n::1 localhost\n' >"$1/etc/hosts"
	echo '/dev/vda / ext4 rw,noatime 0 0' >"$1/etc/fstab"
	chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash tester
	mkdir -p "$1/var/lib/systemd/linger"
	touch "$1/var/lib/systemd/linger/tester"
	install -D -m 755 "$here/guest/sandbox-vm" "$1/usr/local/sbin/sandbox-vm"
	install -D -m 644 "$here/guest/sandbox-vm.service" "$1/etc/systemd/system/sandbox-vm.service"
	chroot "$1" systemctl --quiet set-default multi-user.target
	chroot "$1" systemctl --quiet enable sandbox-vm.service
	# Tests that need the engine start it, and AppArmor's profiles are Docker's alone.
	chroot "$1" systemctl --quiet disable docker.service docker.socket containerd.service apparmor.service
	# Nobody logs in here, nothing is to be kept up to date, no disk to be scrubbed.
	chroot "$1" systemctl --quiet mask getty@.service serial-getty@.service \
		apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
		e2scrub_all.timer e2scrub_reap.service systemd-timesyncd.service
}

# pack turns the tree $1 into the files of the image folder $2. No journal: the
# guest's writes are thrown away.
pack() {
	cp "$1"/boot/vmlinuz-* "$2/vmlinuz"
	cp "$1"/boot/initrd.img-* "$2/initrd"
	mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=0,root_owner=0:0 \
		-L root -d "$1" "$2/root.ext4" "$size" >/dev/null
	echo "$versions" >"$2/versions"
}

# build makes the image folder $1. Nothing mounted is ever removed with the rest
# of a build that was interrupted.
build() {
	local image=$1 building=${1%/*}/building began=$SECONDS
	say "building the root image in $image (some minutes, about 2 GB, from $mirror)"
	rm -rf --one-file-system "$building"
	mkdir -p "$building/image"
	bootstrap "$building/root"
	copy_toolchains "$building/root"
	configure "$building/root"
	pack "$building/root" "$building/image"
	mv "$building/image" "$image"
	rm -rf --one-file-system "$building"
	say "built in $((SECONDS - began)) s: $(du -sh "$image" | cut -f1) on disk"
}

main() {
	[[ $# -eq 1 ]] || die "usage: image.sh CACHE_DIR"
	local needed image
	mapfile -t needed < <(requirements)
	install_packages "${needed[@]}"
	find_toolchains
	image=$1/$(key)
	if [[ ! -d $image ]]; then
		[[ $EUID -eq 0 ]] || die "building the root image needs root, once; running it afterwards does not"
		mkdir -p "$1"
		exec {lock}>"$1/lock"
		flock "$lock"
		[[ -d $image ]] || build "$image"
	fi
	echo "$image"
}

main "$@"
