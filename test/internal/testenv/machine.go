package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Counts are figures of the whole machine that must come back to what they were
// once no sandbox runs any more.
func Counts() map[string]int {
	namespaces := map[string]bool{}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, l := range links {
		if target, err := os.Readlink(l); err == nil {
			namespaces[target] = true
		}
	}
	return map[string]int{
		"namespaces":   len(namespaces),
		"mounts":       lines("/proc/self/mountinfo"),
		"unix sockets": lines("/proc/net/unix"),
	}
}

func lines(name string) int {
	text, _ := os.ReadFile(name)
	return bytes.Count(text, []byte("\n"))
}

// Processes are the directories below /proc of processes with this name.
func Processes(comm string) (found []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(text)) == comm {
			found = append(found, filepath.Dir(name))
		}
	}
	return found
}
