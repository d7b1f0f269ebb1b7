#!/usr/bin/env bash
# Fuzzes one target after the other, each for FUZZTIME (10m), and goes on when one
# fails. What a target has found worth keeping stays in FUZZ_CORPUS, so that the next
# call goes on from there; an input that fails is written into testdata/fuzz of its
# package, where every later `go test` tries it again.
#
#   fuzz.sh [package...]
set -euo pipefail
cd "$(dirname "$0")/.."

time=${FUZZTIME:-10m}
corpus=${FUZZ_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/sandbox-run/fuzz}
mkdir -p "$corpus"
corpus=$(cd "$corpus" && pwd) # the test runs in the folder of its package

if [ $# -eq 0 ]; then
	mapfile -t folders < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u)
	set -- "${folders[@]}"
fi

count=0
failed=()
for package in "$@"; do
	# A package that does not build fails as a target would.
	list=$(go test -list '^Fuzz' "$package") || { failed+=("$package"); continue; }
	mapfile -t targets < <(grep '^Fuzz' <<<"$list")
	for target in "${targets[@]}"; do
		kept=$corpus/$(go list "$package")
		count=$((count + 1))
		printf '=== %s %s, %s inputs kept\n' "$package" "$target" "$(find "$kept/$target" -type f 2>/dev/null | wc -l)"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10s -timeout 0 "$package" -args -test.fuzzcachedir="$kept" ||
			failed+=("$package $target")
	done
done

if [ ${#failed[@]} -gt 0 ]; then
	printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
echo "fuzz: $count targets for $time each, nothing found; the corpus is in $corpus"
