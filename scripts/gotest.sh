#!/usr/bin/env bash
# Runs go test, and writes what it says as JSON, for gotestsum. Packages whose tests look at
# the machine, or have it busy, run one after the other, and all others before them, side by
# side. Those below test/ come last and are never taken from go test's cache, which does not
# see the commands that they build. All is built as make build and make vet have, so that the
# compiler works once. Arguments are go test's.
set -euo pipefail
cd "$(dirname "$0")/.."

built='/test(/|$)'
alone='/(pkg/sandbox/(docker|local|oci|remote)|internal/(kernel/(cgroup|netns|notify|spawn)|guest|image|instance|outlet|posture|relay))(/|$)'
mapfile -t packages < <(go list ./...)
mapfile -t first < <(printf '%s\n' "${packages[@]}" | grep -vE "$built|$alone")
mapfile -t next < <(printf '%s\n' "${packages[@]}" | grep -E "$alone")
mapfile -t last < <(printf '%s\n' "${packages[@]}" | grep -E "$built")
failed=0
go test -json -trimpath -vet=off -timeout 20m "$@" "${first[@]}" || failed=$?
go test -json -trimpath -vet=off -timeout 20m -p 1 "$@" "${next[@]}" || failed=$?
go test -json -trimpath -vet=off -timeout 20m -p 1 -count=1 "$@" "${last[@]}" || failed=$?
exit $failed
