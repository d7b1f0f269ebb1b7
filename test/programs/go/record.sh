#!/usr/bin/env bash
# Builds every program under testdata on the bare host, runs each one twice
# and compares exit code, standard output and (where recorded) standard error.
#
#   record.sh [--record] [pattern...]
#
# --record writes stdout from the first run instead of comparing with it; the
# second run must still agree. A pattern is a glob on the folder's name.
set -u -o pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
record=false
if [[ ${1:-} == --record ]]; then
	record=true
	shift
fi
patterns=("${@:-*}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# build DIR OUT: a module by its go.mod, loose files by name.
build() (
	cd "$1" || exit 1
	export GOFLAGS=-mod=mod GOWORK=off GOPROXY=off GOTOOLCHAIN=local
	if [[ -f go.mod ]]; then
		nice -n 10 go build -o "$2" .
	else
		GOFLAGS='' nice -n 10 go build -o "$2" ./*.go
	fi
)

# run_once SRC BIN OUT: one run in a fresh copy of SRC; leaves OUT.stdout,
# OUT.stderr and OUT.exit.
run_once() {
	local src=$1 bin=$2 out=$3 args=() vars=() input=/dev/null work
	work=$(mktemp -d -p "$scratch")
	cp -R "$src/." "$work"
	mkdir "$out.tmp"
	[[ -f $src/args ]] && mapfile -t args <"$src/args"
	[[ -f $src/env ]] && mapfile -t vars <"$src/env"
	[[ -f $src/stdin ]] && input=$src/stdin
	(cd "$work" && exec timeout 10 env -i PATH="$PATH" HOME="$work" USER=sandbox \
		LANG=C.UTF-8 TMPDIR="$out.tmp" TZ=UTC "${vars[@]}" "$bin" "${args[@]}") \
		<"$input" >"$out.stdout" 2>"$out.stderr"
	echo $? >"$out.exit"
	rm -rf "$work"
}

# check SRC: prints what is wrong and fails, or passes in silence.
check() {
	local src=$1 base want=0
	base=$scratch/$(basename "$src")
	build "$src" "$base.bin" || { echo "does not build"; return 1; }
	run_once "$src" "$base.bin" "$base.1"
	run_once "$src" "$base.bin" "$base.2"
	[[ -f $src/exit ]] && want=$(<"$src/exit")
	[[ $(<"$base.1.exit") == "$want" ]] || {
		echo "exit code $(<"$base.1.exit"), want $want"
		head -n 5 "$base.1.stderr"
		return 1
	}
	cmp "$base.1.exit" "$base.2.exit" && cmp "$base.1.stdout" "$base.2.stdout" || return 1
	$record && cp "$base.1.stdout" "$src/stdout"
	cmp "$base.1.stdout" "$src/stdout" || return 1
	[[ ! -f $src/stderr ]] || cmp "$base.1.stderr" "$src/stderr"
}

passed=0 failed=0
for pattern in "${patterns[@]}"; do
	for src in "$here"/testdata/$pattern/; do
		src=${src%/}
		if report=$(check "$src" 2>&1); then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			printf '%s: %s\n' "$(basename "$src")" "$report"
		fi
		rm -rf "${scratch:?}/$(basename "$src")".*
	done
done
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
