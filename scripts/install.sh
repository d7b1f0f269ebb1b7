#!/usr/bin/env bash
# Installs packages whose programs are missing, by apt on Debian and Ubuntu. The
# arguments are programs that are called as their packages.
set -euo pipefail
say() { echo "install: $*" >&2; }
. "$(dirname "$0")/packages.sh"
missing=()
for program in "$@"; do
	command -v "$program" >/dev/null || missing+=("$program")
done
install_packages "${missing[@]}"
