#!/usr/bin/env bash
# Prints the tar file of the container's root, building it first if need be:
# Debian with Python, Node and the configuration of OpenSSL, which most images have
# and Node reads. Its name is a hash of this script, which is all that decides what
# it holds. Debian's own updates do not change the hash: delete the file to take
# them in.
#
#   image.sh CACHE_DIR
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly mirror=http://deb.debian.org
readonly suite=bookworm
readonly packages=python3,nodejs,openssl # bash and perl are there anyway; Go comes from this machine

say() { printf 'test/container: %s\n' "$*" >&2; }

die() {
	say "$*"
	exit 1
}

# build makes the tar file $1. One that is not whole never has its name.
build() {
	local building=$1.building began=$SECONDS
	say "building the root image $1 (about a minute, 300 MB, from $mirror)"
	mmdebstrap --verbose --variant=minbase --include="$packages" --format=tar \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		"$suite" "$building" \
		"deb $mirror/debian $suite main" \
		"deb $mirror/debian $suite-updates main" \
		"deb $mirror/debian-security $suite-security main" >"$1.log" 2>&1 || {
		tail -n 40 "$1.log" >&2
		die "mmdebstrap failed; its last lines are above, all of them in $1.log"
	}
	mv "$building" "$1"
	say "built in $((SECONDS - began)) s: $(du -h "$1" | cut -f1)"
}

main() {
	[[ $# -eq 1 ]] || die "usage: image.sh CACHE_DIR"
	local image
	image=$1/root-$(sha256sum <"$here/image.sh" | cut -c1-16).tar
	if [[ ! -e $image ]]; then
		mkdir -p "$1"
		exec {lock}>"$1/lock"
		flock "$lock"
		[[ -e $image ]] || build "$image"
	fi
	echo "$image"
}

main "$@"
