#!/usr/bin/env bash
# Installs the language toolchains that are missing, by apt on Debian and
# Ubuntu. It says what it will do before it does it.
set -euo pipefail

missing=()
need() { # need PROGRAM PACKAGE...
	local program=$1
	shift
	command -v "$program" >/dev/null 2>&1 || missing+=("$@")
}

if ! command -v go >/dev/null 2>&1; then
	echo "setup: Go 1.26 or later is needed; see https://go.dev/dl" >&2
	exit 1
fi
need python3 python3
need node nodejs
need rustc rustc cargo
need javac default-jdk-headless
need gcc gcc libc6-dev
need g++ g++
need ruby ruby
need perl perl
need php php-cli
need lua5.4 lua5.4
need bash bash

[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: please install: ${missing[*]} (package names of Debian; on this system use its own package manager)" >&2
	exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
	sudo=sudo
fi
echo "setup: installing with ${sudo:+$sudo }apt-get: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
	tail -20 "$log" >&2
	echo "setup: apt-get failed; install these by hand: ${missing[*]}" >&2
	exit 1
fi
