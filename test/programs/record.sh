#!/usr/bin/env bash
# Runs programs of the corpus on the bare host, each one twice in fresh copies of
# its folder, and compares both runs with each other and with the recorded files.
#
#   record.sh [--record] LANGUAGE [NAME...]     e.g. record.sh --record rust '00*'
#
# NAME is a glob over LANGUAGE/testdata; without one it is all of them. --record
# writes what a program printed (stdout, and stderr where that file exists)
# instead of comparing with it. The toolchain is the first on PATH; programs that
# need a newer one, by their file needs, are skipped.
set -euo pipefail
export LC_ALL=C.UTF-8
shopt -s nullglob
corpus=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "record.sh: $*" >&2
	exit 2
}

record=no
if [ "${1:-}" = --record ]; then
	record=yes
	shift
fi
language=${1:-}
case $language in
go) ask=(go version) ;;
java) ask=(javac -version) ;;
javascript) ask=(node --version) ;;
python) ask=(python3 --version) ;;
rust) ask=(rustc --version) ;;
*) fail "usage: record.sh [--record] go|java|javascript|python|rust [NAME...]" ;;
esac
shift
version=$("${ask[@]}" | sed -nE '1s/^[^0-9]*([0-9.]+).*/\1/p')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The function build_LANGUAGE is called in a copy of a program's folder. It leaves
# what it makes in ./.built of that copy and the command that runs it in argv.

build_go() {
	local sources=(*.go)
	[ ! -f go.mod ] || sources=(.)
	GOFLAGS='' GOWORK=off GOPROXY=off GOTOOLCHAIN=local go build -o .built/program "${sources[@]}"
	argv=("$PWD/.built/program")
}

build_rust() {
	local name
	if [ -f Cargo.toml ]; then
		name=$(sed -nE '/^name *= *"(.*)".*/{s//\1/p;q}' Cargo.toml)
		CARGO_TARGET_DIR=.built cargo build --quiet --offline
		argv=("$PWD/.built/debug/$name")
	else
		rustc --edition 2021 -o .built/program main.rs
		argv=("$PWD/.built/program")
	fi
}

# javac wants a public class in a file of its name; what is main.java may have any.
build_java() {
	local type='((public|final|abstract|sealed|strictfp) )*(class|record|enum|interface) ([^ <({]+).*' main class
	read -r main < <(grep -rl --include='*.java' 'static void main(String')
	class=$(sed -nE "s/^package (.*);/\1./p" "$main")$(sed -nE "/static void main\(String/q; s/^$type/\4/p" "$main" | tail -n 1)
	if [ -f main.java ]; then
		main=$(sed -nE "/^public $type/{s//\4/p;q}" main.java)
		[ -z "$main" ] || mv main.java "$main.java"
	fi
	find . -name '*.java' -print0 | xargs -0 javac -encoding UTF-8 -d .built
	argv=("$(command -v java)" -cp "$PWD/.built" "$class")
}

# A version manager's shim does not work in the bare environment of a run.

build_javascript() {
	argv=("$(node -p process.execPath)" main.*js)
}

build_python() {
	argv=("$(python3 -c 'import sys; print(sys.executable)')" main.py)
}

# fresh copies a program's folder, without the files that are about its run.
fresh() {
	cp -R "$1" "$2"
	rm -f "$2"/{stdin,stdout,stderr,args,env,exit,needs}
}

# run FOLDER RESULT runs argv as FOLDER says, in a fresh copy of it; the folder
# RESULT gets stdout, stderr and exit.
run() {
	local folder=$1 result=$PWD/$2 args=() vars=() input=/dev/null code=0
	[ ! -f "$folder/args" ] || mapfile -t args <"$folder/args"
	[ ! -f "$folder/env" ] || mapfile -t vars <"$folder/env"
	[ ! -f "$folder/stdin" ] || input=$folder/stdin
	mkdir "$result" "$result.tmp"
	fresh "$folder" "$result.copy"
	(cd "$result.copy" && exec timeout 20 env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$PWD" USER=sandbox \
		LANG=C.UTF-8 TMPDIR="$result.tmp" TZ=UTC "${vars[@]}" "${argv[@]}" "${args[@]}") \
		<"$input" >"$result/stdout" 2>"$result/stderr" || code=$?
	echo "$code" >"$result/exit"
}

# check FOLDER is called in an empty folder. It prints what is wrong and fails, or
# says nothing.
check() {
	local folder=$1 want=0 streams=(stdout) result stream argv
	[ ! -f "$folder/exit" ] || want=$(<"$folder/exit")
	[ ! -f "$folder/stderr" ] || streams+=(stderr)
	fresh "$folder" source
	mkdir source/.built
	cd source
	"build_$language"
	cd ..
	for result in first second; do
		run "$folder" $result
		if [ "$(<$result/exit)" != "$want" ]; then
			echo "exit code $(<$result/exit), want $want"
			tail -n 3 $result/stderr
			return 1
		fi
	done
	for stream in "${streams[@]}"; do
		cmp "first/$stream" "second/$stream"
		[ $record = no ] || cp "first/$stream" "$folder/$stream"
		cmp "first/$stream" "$folder/$stream"
	done
}

# needs_newer FOLDER says whether its file needs names a version beyond ours.
needs_newer() {
	[ -f "$1/needs" ] && ! { grep -v '^#' "$1/needs" && echo "$version"; } | sort -V -C
}

folders=()
for name in "${@:-*}"; do
	# shellcheck disable=SC2206 # the name is a glob
	found=("$corpus/$language/testdata"/$name/)
	[ ${#found[@]} -gt 0 ] || fail "no program of $language is called $name"
	folders+=("${found[@]%/}")
done

passed=0 failed=0 skipped=0
for folder in "${folders[@]}"; do
	if needs_newer "$folder"; then
		skipped=$((skipped + 1))
		continue
	fi
	mkdir "$scratch/check"
	# Not in a condition: there, set -e would not hold inside of check.
	set +e
	(set -e; cd "$scratch/check"; check "$folder") >"$scratch/report" 2>&1
	code=$?
	set -e
	if [ $code -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $(basename "$folder")"
		head -n 8 "$scratch/report"
	fi
	rm -rf "$scratch/check"
done
echo "$passed passed, $failed failed, $skipped skipped ($language $version)"
[ $failed -eq 0 ]
