package config

import (
	"fmt"
	"maps"
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

// unknown is the error of names that are not known.
func unknown(env map[string]string) error {
	var known []string
	for _, v := range Variables() {
		known = append(known, v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch near := Nearest(name, known); {
		case slices.Contains(known, name):
			continue
		case slices.Contains(laterVariables(), name):
			return fmt.Errorf("%s has no effect in this version; take it away, so that nobody relies on it", name)
		case len(near) > 0:
			return fmt.Errorf("%s is not a setting: did you mean %s?", name, near[0])
		}
		return fmt.Errorf("%s is not a setting; .env.example lists them all", name)
	}
	return nil
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
