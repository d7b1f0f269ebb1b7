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
stop() {
	stop_engine "$work"
	rm -rf "$work"
}
[[ ,$types, != *,oci,* || -n ${SANDBOX_OCI_RUNTIME-} ]] || scripts/install.sh crun
if [[ ,$types, = *,docker,* ]]; then
	need_engine
	trap stop EXIT
	start_test_engine "$work"
fi
go test -count=1 -timeout 180m ./test/hostile -all -types "$types" "$@"
