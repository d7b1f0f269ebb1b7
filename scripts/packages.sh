# Sourced by scripts that need more than a developer's machine has. The script has
# the function say, which tells the person at the terminal.
# shellcheck shell=bash

# Where roots of containers and engines' images are kept: the system's place is root's alone.
cache=/var/cache
[[ $EUID -eq 0 ]] || cache=~/.cache
# shellcheck disable=SC2034 # for who sources this
cache=${XDG_CACHE_HOME:-$cache}/sandbox-run-container

die() {
	say "$*"
	exit 1
}

# install_packages installs packages of Debian, and says so before. Where it cannot,
# it says what is needed.
install_packages() {
	[[ $# -gt 0 ]] || return 0
	command -v apt-get >/dev/null ||
		die "needed here: $* (Debian's names); install them with your package manager"
	[[ $EUID -eq 0 ]] || die "needed here: run 'sudo apt-get install $*' first"
	say "installing with apt-get: $*"
	DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >&2
}
