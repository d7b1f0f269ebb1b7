#!/usr/bin/env bash
# Runs go test, and writes what it says as JSON, for gotestsum. Packages whose tests look at
# the machine, or have it busy, run one after the other, and all others before them, side by
# side. Arguments are go test's.
set -euo pipefail
cd "$(dirname "$0")/.."

alone='/(test|pkg/sandbox/(docker|local|oci|remote)|internal/(kernel|guest|image|instance|outlet|posture|relay))(/|$)'
mapfile -t packages < <(go list ./...)
mapfile -t first < <(printf '%s\n' "${packages[@]}" | grep -vE "$alone")
mapfile -t last < <(printf '%s\n' "${packages[@]}" | grep -E "$alone")
failed=0
go test -json -timeout 20m "$@" "${first[@]}" || failed=$?
go test -json -timeout 20m -p 1 "$@" "${last[@]}" || failed=$?
exit $failed
