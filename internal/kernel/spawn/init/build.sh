#!/bin/sh
# Builds init.c and ancestor.c for every architecture. The results are checked in, so that
# `go build` needs no C compiler; the same compiler makes the same bytes, and
# the tests hold them against this script where it is installed.
#
# Debian 12: apt-get install gcc gcc-aarch64-linux-gnu
set -eu
cd "$(dirname "$0")"
out=${1:-.}
flags="-std=gnu11 -Os -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-stack-protector
	-fno-asynchronous-unwind-tables -fno-ident -fno-tree-loop-distribute-patterns
	-nostdlib -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -s"
for arch in ${ARCHS:-amd64 arm64}; do
	case $arch in
	amd64) cc=x86_64-linux-gnu-gcc extra="-fcf-protection=none -mno-red-zone" ;;
	arm64) cc=aarch64-linux-gnu-gcc extra="-mno-outline-atomics" ;;
	esac
	# shellcheck disable=SC2086 # the flags are words
	$cc $flags $extra -fno-pic -static -no-pie -o "$out/init_$arch" init.c
	# shellcheck disable=SC2086
	$cc $flags $extra -fPIC -fvisibility=hidden -shared -Wno-unused-function -o "$out/ancestor_$arch.so" ancestor.c
done
