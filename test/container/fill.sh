#!/usr/bin/env bash
# Completes the root of a kind (image.sh) with what no package of Debian has: a
# toolchain of this machine, and trust in whom this machine trusts, which is how a
# build gets through a proxy that looks into TLS. mmdebstrap calls it.
#
#   fill.sh KIND ROOT FOLDER
set -euo pipefail
kind=$1 root=$2 folder=$3

# One file for each certificate: that is what update-ca-certificates, which a later
# package may call, keeps.
bundle=/etc/ssl/certs/ca-certificates.crt
if [[ -e $bundle ]]; then
	awk -v dir="$root/usr/local/share/ca-certificates" \
		'/BEGIN CERTIFICATE/ { close(file); file = dir "/machine-" ++n ".crt" } n { print >file }' "$bundle"
	chroot "$root" update-ca-certificates
	printf '[global]\ncert = %s\n' "$bundle" >"$root/etc/pip.conf" # pip has a bundle of its own
fi

case $kind in
golang)
	mkdir -p "$root/usr/local/go"
	tar -C "$folder" --exclude=./test --exclude=./api --exclude=./doc -cf - . | tar -C "$root/usr/local/go" --no-same-owner -xf -
	;;
python)
	[[ -n $folder ]] || exit 0
	cd "$folder"
	# What is installed there is this machine's, but for what Python brings.
	tar --exclude=lib/python3.12/site-packages --exclude=lib/python3.12/test --exclude=__pycache__ \
		-cf - bin/python bin/python3 bin/python3.12 lib/libpython3* lib/python3.12 | tar -C "$root/usr/local" --no-same-owner -xf -
	chroot "$root" ldconfig
	chroot "$root" python3 -m ensurepip --default-pip
	;;
esac
