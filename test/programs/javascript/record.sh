#!/usr/bin/env bash
# Runs every program of testdata on the bare host, twice, in a fresh copy of its
# folder, and compares both runs with each other and with the recorded files.
#
#   record.sh [--record] [name-glob]    e.g. record.sh --record '00*'
#
# --record writes stdout instead of comparing with it. NODE names another
# interpreter.
set -u
here=$(cd "$(dirname "$0")" && pwd)
node=${NODE:-$(command -v node)}
record=no
if [ "${1:-}" = --record ]; then record=yes; shift; fi
glob=${1:-*}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run FOLDER RESULT: one run in a copy; leaves RESULT.out, RESULT.err, RESULT.exit.
run() {
  local from=$1 result=$2 work main=main.js args=() vars=() input=/dev/null
  work=$(mktemp -d "$scratch/work.XXXXXX")
  cp -R "$from/." "$work/"
  rm -f "$work"/{stdin,args,env,exit,stdout,stderr}
  [ -f "$from/args" ] && mapfile -t args <"$from/args"
  [ -f "$from/env" ] && mapfile -t vars <"$from/env"
  [ -f "$from/main.mjs" ] && main=main.mjs
  [ -f "$from/stdin" ] && input=$from/stdin
  mkdir "$work.tmp"
  (cd "$work" && exec timeout 20 env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$work" USER=sandbox \
    LANG=C.UTF-8 TMPDIR="$work.tmp" TZ=UTC "${vars[@]}" \
    "$node" "$main" "${args[@]}") <"$input" >"$result.out" 2>"$result.err"
  echo $? >"$result.exit"
  rm -rf "$work" "$work.tmp"
}

passed=0 failed=0
for folder in "$here"/testdata/$glob/; do
  folder=${folder%/}
  run "$folder" "$scratch/first"
  run "$folder" "$scratch/second"
  want=0 why=
  [ -f "$folder/exit" ] && want=$(cat "$folder/exit")
  cmp -s "$scratch/first.out" "$scratch/second.out" || why="two runs differ"
  [ "$(cat "$scratch/first.exit")" = "$want" ] || why="exit $(cat "$scratch/first.exit"), want $want"
  if [ -f "$folder/stderr" ]; then
    cmp -s "$scratch/first.err" "$scratch/second.err" || why="two runs differ in stderr"
  fi
  if [ -z "$why" ] && [ $record = yes ]; then
    cp "$scratch/first.out" "$folder/stdout"
    [ -f "$folder/stderr" ] && cp "$scratch/first.err" "$folder/stderr"
  fi
  cmp -s "$scratch/first.out" "$folder/stdout" || why=${why:-"stdout differs from the recorded one"}
  if [ -f "$folder/stderr" ]; then
    cmp -s "$scratch/first.err" "$folder/stderr" || why=${why:-"stderr differs from the recorded one"}
  fi
  if [ -z "$why" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $(basename "$folder"): $why"
    tail -n 3 "$scratch/first.err"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
