#!/bin/sh
# Builds near.c for every architecture. The results are checked in, as those of the init
# (internal/kernel/spawn/init), with whose compiler they are made.
set -eu
cd "$(dirname "$0")"
out=${1:-.}
for arch in ${ARCHS:-amd64 arm64}; do
	case $arch in
	amd64) cc=x86_64-linux-gnu-gcc extra="-fcf-protection=none -Wl,-z,max-page-size=0x1000" ;;
	arm64) cc=aarch64-linux-gnu-gcc extra="-Wl,-z,max-page-size=0x10000" ;;
	esac
	# shellcheck disable=SC2086 # the flags are words
	$cc -std=gnu11 -Os -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-stack-protector \
		-fno-asynchronous-unwind-tables -fno-ident -fPIC -fvisibility=hidden -shared $extra \
		-nostdlib -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -Wl,-z,noseparate-code \
		-Wl,--hash-style=gnu -s -o "$out/near_$arch.so" near.c
done
