#!/usr/bin/env bash
# Prints the tar file of a container's root, building it first if need be: Debian,
# and what its kind says.
#
#   suite    Python, Node and the configuration of OpenSSL, which most images have
#            and Node reads: for the suite at isolation restricted
#   five     Debian's own toolchains of five languages
#   golang   this machine's Go: for the image golang, where no registry is reached
#   python   for the image python:3.12-slim. Python 3.12 of this machine's pyenv lies
#            in /usr/local, as there; without one it is Debian's
#
# Its name is a hash of all that decides what it holds. Debian's own updates do not
# change the hash: delete the file to take them in.
#
#   image.sh CACHE_DIR KIND
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly mirror=http://deb.debian.org
readonly suite=bookworm

say() { printf 'test/container: %s\n' "$*" >&2; }

# shellcheck source=scripts/packages.sh
. "$here/../../scripts/packages.sh"

# requirements prints the Debian packages that this machine lacks.
requirements() {
	command -v mmdebstrap >/dev/null || echo mmdebstrap
	[[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || echo debian-archive-keyring
}

# describe sets what the root of a kind has: packages of Debian, and the folder of
# this machine that fill.sh copies.
describe() {
	folder=''
	case $1 in
	suite) packages=python3,nodejs,openssl ;; # bash and perl are there anyway; Go comes from this machine
	five) packages=ca-certificates,tzdata,python3,nodejs,golang-go,rustc,cargo,g++,default-jdk-headless ;;
	golang) packages=ca-certificates folder=$(cd "$here" && go env GOROOT) ;;
	python)
		packages=ca-certificates,python3,python3-pip
		local found
		for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*; do
			[[ -x $found/bin/python3.12 ]] || continue
			folder=$found
			packages=ca-certificates,libbz2-1.0,libexpat1,libffi8,liblzma5,libncursesw6,libreadline8,libsqlite3-0,libssl3,libuuid1,zlib1g
		done
		;;
	*) die "$1: want suite, five, golang or python" ;;
	esac
}

# build makes the tar file $1 of the kind $2. One that is not whole never has its
# name.
build() {
	local building=$1.building began=$SECONDS hooks=()
	say "building the root image $1 (about a minute, 300 MB, from $mirror)"
	[[ $2 = suite || $2 = five ]] || hooks=(--customize-hook="'$here/fill.sh' '$2' \"\$1\" '$folder'")
	mmdebstrap --verbose --variant=minbase --include="$packages" --format=tar \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*/*' "${hooks[@]}" \
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
	[[ $# -eq 2 ]] || die "usage: image.sh CACHE_DIR KIND"
	local needed image
	mapfile -t needed < <(requirements)
	install_packages "${needed[@]}"
	describe "$2"
	image=$1/$2-$({
		cat "$here/image.sh" "$here/fill.sh"
		echo "$folder"
		[[ $2 != golang ]] || cat "$folder/VERSION"
	} | sha256sum | cut -c1-16).tar
	if [[ ! -e $image ]]; then
		mkdir -p "$1"
		exec {lock}>"$1/lock"
		flock "$lock"
		[[ -e $image ]] || build "$image" "$2"
	fi
	echo "$image"
}

main "$@"
