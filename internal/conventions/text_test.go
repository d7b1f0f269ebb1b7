package conventions

import (
	"regexp"
	"strings"
)

// textRules are about every file that people read.
func textRules() []rule {
	return []rule{
		{
			name: "nothing is left to do",
			why:  "what is missing belongs to the issue tracker; code that is here works",
			bad:  "// TO" + "DO: later\n",
			good: "// mktemp sandbox.XXXXXX, and \\uXXXX\n",
			// The brackets keep the pattern from finding itself.
			findText: matches(`\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b`),
		},
		{
			name:     "nothing is unfinished",
			why:      "a door that opens on nothing is not built yet: leave it out",
			bad:      "package p\n\nvar err = errors.New(\"this is not " + "implemented\")\n",
			good:     "package p\n\n// ENOSYS is \"function not " + "implemented\".\n",
			findText: unfinished,
		},
		{
			name:     "no paths of one machine",
			why:      "it works on the machine of whoever wrote it, and it tells who that was",
			bad:      "see /wo" + "rk/main/README.md\n",
			good:     "see ~/work/main, /workspace and /workdir\n",
			findText: matches(`(^|[^~\w.}])/(work|Users)/`),
		},
		{
			name:     "commands name flags that there are",
			why:      "tests that take hours are run by hand, and nobody notices that one has not begun",
			path:     "Makefile",
			bad:      "\tgo test -count=1 -run 'A|B' \\\n\t\t./test/bench -rounds 3 --no-such-flag2 6\n",
			good:     "\tgo test -count=1 -v ./test/bench -rounds 3 $(if $(PLOTS),-plots $(abspath $(PLOTS)))\n",
			findText: flagsThatAreNot,
		},
		{
			name:     "shell scripts stop at the first error",
			why:      "a script that goes on after a failed step reports success, or removes the wrong thing",
			path:     "scripts/sample.sh",
			bad:      "#!/bin/sh\n# Removes it.\nrm -rf \"$dir/\"\n",
			good:     "#!/usr/bin/env bash\n# Removes it.\n\nset -euo pipefail\nrm -rf \"$dir\"\n",
			findText: carelessScript,
			except: map[string]string{
				"test/vm/guest/sandbox-vm": "it passes on how the tests ended and must reach the marker behind them",
				"test/vm/smoke/run.sh":     "it counts failures and goes on to the next check",
			},
		},
	}
}

// matches finds the lines that a pattern matches.
func matches(pattern string) func(textFile) []finding {
	re := regexp.MustCompile(pattern)
	return func(f textFile) []finding {
		var found []finding
		for i, line := range strings.Split(f.text, "\n") {
			if re.MatchString(line) {
				found = append(found, finding{i + 1, strings.TrimSpace(line)})
			}
		}
		return found
	}
}

// unfinished finds the words in code. The words of ENOSYS are not meant.
func unfinished(f textFile) []finding {
	if !strings.HasSuffix(f.path, ".go") {
		return nil
	}
	const words = "not " + "implemented"
	f.text = strings.ReplaceAll(f.text, "function "+words, "")
	return matches(words)(f)
}

// carelessScript looks at the first command of a shell script.
func carelessScript(f textFile) []finding {
	lines := strings.Split(f.text, "\n")
	if !regexp.MustCompile(`^#!.*\b(ba|da)?sh$`).MatchString(lines[0]) {
		return nil
	}
	for i, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			if strings.HasPrefix(line, "set -eu") {
				return nil
			}
			return []finding{{i + 1, "the first command is not set -eu: " + line}}
		}
	}
	return nil
}
