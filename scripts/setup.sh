#!/usr/bin/env bash
# Installs what is missing: the language toolchains, by apt on Debian and Ubuntu,
# and uv, which installs packages for programs in Python. It says what it will do
# before it does it. Without the small languages it goes on.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=() small=()
need() { # need PROGRAM PACKAGE...
	local program=$1
	shift
	command -v "$program" >/dev/null 2>&1 || missing+=("$@")
}
like() { command -v "$1" >/dev/null 2>&1 || small+=("$2"); } # like PROGRAM PACKAGE

# Asked here, a Go that may fetch the one that go.mod names (GOTOOLCHAIN) answers as that one.
want=$(sed -n 's/^go //p' go.mod)
have=$(go env GOVERSION) || true
if ! printf '%s\n' "$want" "${have#go}" | sort -VC; then
	echo "setup: Go $want or later is needed${have:+, and this is $have}; see https://go.dev/dl" >&2
	exit 1
fi
need python3 python3
need node nodejs
need rustc rustc cargo
need javac default-jdk-headless
need gcc gcc libc6-dev # rustc links with it
like g++ g++
like ruby ruby
like perl perl
like php php-cli
like lua5.4 lua5.4

sudo=
home=~
bin=/usr/local/bin
if [ "$(id -u)" -ne 0 ]; then
	sudo=sudo
	bin=$home/.local/bin
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

updated=
apt() { # apt PACKAGE...; when it fails, the log says why
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "this system has no apt-get" >"$work/log"
		return 1
	fi
	echo "setup: installing with ${sudo:+$sudo }apt-get: $*" >&2
	{ # sudo drops what is exported
		{ [ -n "$updated" ] || $sudo apt-get update; } && updated=yes &&
			$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
	} >"$work/log" 2>&1
}

# has_uv looks where sandbox-run does. A version manager's script does not count: it
# does not work in a sandbox.
has_uv() {
	local dir
	while read -r -d : dir; do
		[ "$(head -c 4 "$dir/uv" 2>/dev/null | tail -c 3)" != ELF ] || return 0
	done <<<"$PATH:$home/.local/bin:$home/.cargo/bin:/usr/local/bin:"
	return 1
}

# install_uv takes uv out of a virtual environment that is thrown away: Debian keeps
# pip out of the system's own (PEP 668), and uv is one file that needs no Python.
install_uv() {
	python3 -c 'import ensurepip' >/dev/null 2>&1 || apt python3-venv || return 1
	echo "setup: installing uv from PyPI as $bin/uv, for packages in Python" >&2
	{
		python3 -m venv "$work/uv" &&
			"$work/uv/bin/python3" -m pip install --disable-pip-version-check --no-cache-dir \
				--only-binary :all: --retries 1 --timeout 15 uv &&
			install -D -m 755 "$work/uv/bin/uv" "$bin/uv"
	} >"$work/log" 2>&1
}

if [ ${#missing[@]} -gt 0 ] && ! apt "${missing[@]}"; then
	tail -20 "$work/log" >&2
	echo "setup: please install these by hand (package names of Debian): ${missing[*]}" >&2
	exit 1
fi
for package in "${small[@]}"; do # each by itself: not every system has all
	apt "$package" ||
		echo "setup: $package is not there, so programs in its language do not run, and tests of it fail: $(tail -n 1 "$work/log")" >&2
done
# Everything else works without uv, and PyPI cannot be reached from everywhere.
if ! has_uv && ! install_uv; then
	echo "setup: uv is not there, so --require does not work and its tests are skipped: $(tail -n 1 "$work/log")" >&2
fi
