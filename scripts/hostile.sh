#!/usr/bin/env bash
# Runs the hostile programs, in every language, level and user, on local and on the
# runtimes of the first argument, such as oci,docker,remote; crun and a Docker engine it
# installs and starts. Further arguments go to the tests, e.g. -row A1.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'hostile: %s\n' "$*" >&2; }
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
# shellcheck source=test/container/engine.sh
. test/container/engine.sh

types=${1-}
shift || true
work=$(mktemp -d)
rust=
stop() {
	stop_engine "$work"
	rm -rf "$work" "$rust"
}
trap stop EXIT
reach=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin
# A toolchain in root's home is nobody else's, and not to be seen at restricted: the same files
# by names that everybody can reach.
sysroot=$(rustc --print sysroot || true)
if [[ $sysroot = "$HOME"/* ]]; then
	rust=$(mktemp -d /usr/local/lib/rust.XXXXXX)
	chmod 755 "$rust"
	cp -a --link "$sysroot/bin" "$sysroot/lib" "$rust" || cp -a "$sysroot/bin" "$sysroot/lib" "$rust"
	reach=$rust/bin:$reach PATH=$rust/bin:$PATH
fi
[[ ,$types, != *,oci,* || -n ${SANDBOX_OCI_RUNTIME-} ]] || scripts/install.sh crun
if [[ ,$types, = *,docker,* ]]; then
	need_engine
	start_test_engine "$work" five
fi
# What a journal has is of the same server still when what was committed is none of it.
export GOFLAGS="${GOFLAGS-} -buildvcs=false"
# Verbose, since what is not as it should be is told at once then, and not after hours.
go test -count=1 -v -timeout 180m ./test/hostile -all -path "$reach" -types "$types" "$@"
