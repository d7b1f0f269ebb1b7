#!/usr/bin/env bash
# Runs a real program in each of the five languages in the sandbox and shows the
# result and its figures.
set -euo pipefail
cd "$(dirname "$0")/.."
run=$1
failed=0
for program in examples/demo/primes.py examples/demo/wordcount.js examples/demo/pipeline.go examples/demo/matrix.rs examples/demo/Bank.java; do
	echo "\$ sandbox-run $program"
	"$run" "$program" || failed=1
	echo
done
if [ $failed -ne 0 ]; then
	echo "demo: not every language works here; \`$run languages\` and \`$run doctor\` say why" >&2
	exit 1
fi
