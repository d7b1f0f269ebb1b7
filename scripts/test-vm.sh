#!/usr/bin/env bash
# Runs the suites that depend on the kernel and on systemd in a virtual machine
# with cgroup v2: as root, as an ordinary user with a delegated group, and as one
# without. See test/vm/README.md. Arguments choose the users.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'test-vm: %s\n' "$*" >&2; }
# shellcheck source=scripts/packages.sh
. scripts/packages.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0
go build -o "$dir/sandbox-run" ./cmd/sandbox-run
for package in internal/kernel/{cgroup,landlock,netns,notify,seccomp,spawn} internal/instance internal/outlet pkg/sandbox/{local,oci,docker} test/cli; do
	go test -c -o "$dir/$(echo $package | tr / -).test" ./$package
done
cp -r internal/kernel/seccomp/testdata "$dir"
install -m 755 test/vm/suite.sh "$dir/run.sh"
install -m 755 test/vm/docker.sh test/vm/groups.sh "$dir"
# Without what is large and no test needs: an engine takes in two megabytes a second there.
tar=$(test/container/image.sh "$cache" suite)
tar --delete --wildcards --file=- './usr/lib/*/libnode*' './usr/lib/*/libicu*' './usr/lib/*/perl/*' './usr/lib/*/gconv/*' \
	'./usr/share/*' './var/lib/apt/*' './var/lib/dpkg/*' './var/cache/*' <"$tar" >"$dir/docker.tar"
# The standard library of Go is prepared on the host: under emulation that takes
# minutes.
SANDBOX_DATA_DIR=$dir/prepared "$dir/sandbox-run" --quiet --lang go --code 'package main; func main() {}'
mkdir -p "$dir/data/cache/build"
mv "$dir"/prepared/cache/build/go-* "$dir/data/cache/build/"
rm -rf "$dir/prepared"

failed=0
for user in "${@:-root delegated session}"; do
	for u in $user; do
		echo "== cgroup v2, $u"
		test/vm/run.sh --user "$u" --timeout "${VM_TIMEOUT:-5400}" -- "$dir" || failed=1
	done
done
exit $failed
