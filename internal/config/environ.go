package config

import (
	"fmt"
	"slices"
	"strings"
)

// sandboxVariables picks our variables out of K=V entries. Of a name that
// stands twice the first counts, as for getenv in C.
func sandboxVariables(environ []string) map[string]string {
	ours := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, twice := ours[name]; strings.HasPrefix(name, prefix) && !twice {
			ours[name] = value
		}
	}
	return ours
}

func lookup(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// misspelt warns of variables that are nearly one that is read here, in
// alphabetical order.
func misspelt(env map[string]string) []string {
	var known []string
	for _, v := range Variables() {
		known = append(known, v.Name)
	}
	var warnings []string
	for name := range env {
		if slices.Contains(known, name) || slices.Contains(laterVariables(), name) {
			continue
		}
		if near := Nearest(name, known); len(near) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s is not known and has no effect: did you mean %s?", name, near[0]))
		}
	}
	slices.Sort(warnings)
	return warnings
}
