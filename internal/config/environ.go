package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/nearest"
)

// sandboxVariables picks our variables out of K=V entries. Of a name that
// stands twice the first counts, as for getenv in C.
func sandboxVariables(environ []string) map[string]string {
	ours := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, twice := ours[name]; (strings.HasPrefix(name, prefix) || slices.Contains(foreign(), name)) && !twice {
			ours[name] = value
		}
	}
	return ours
}

// foreign are the variables without our prefix that are read here. Those of the
// docker command that its own library reads are not among them.
func foreign() (names []string) {
	for _, v := range technologies() {
		if !strings.HasPrefix(v.Name, prefix) {
			names = append(names, v.Name)
		}
	}
	return names
}

func lookup(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// knownNames are those of all variables, and of the images of other languages.
func knownNames(env map[string]string) (names []string) {
	for _, v := range append(Variables(), otherImages(slices.Collect(maps.Keys(env)))...) {
		names = append(names, v.Name)
	}
	return names
}

// unknown is the error of names that are not known.
func unknown(env map[string]string) error {
	known := knownNames(env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch near := nearest.Words(name, known); {
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

// misspelt warns of variables that do nothing here, though they are of this project or nearly
// one that is read, in alphabetical order.
func misspelt(env map[string]string) []string {
	known := knownNames(env)
	var warnings []string
	for name := range env {
		if slices.Contains(known, name) {
			continue
		}
		if slices.Contains(laterVariables(), name) {
			warnings = append(warnings, name+" has no effect in this version")
		} else if near := nearest.Words(name, known); len(near) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s is not known and has no effect: did you mean %s?", name, near[0]))
		}
	}
	slices.Sort(warnings)
	return warnings
}
