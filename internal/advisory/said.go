package advisory

import (
	"path"
	"strings"
)

// Said takes name and version from the first line that a program prints when it is
// asked for its version: "crun version 1.8.1", "runsc version release-20250319.0",
// "kata-runtime  : 1.11.1".
func Said(text string) (name, version string) {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	for i, word := range words {
		if i > 0 && upstream(word) != "" {
			return path.Base(words[0]), word
		}
	}
	return "", ""
}
