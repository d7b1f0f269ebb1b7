package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
)

// hardening is what doctor says of this machine's settings, whichever runtime is chosen.
func hardening(settings []advisory.Setting) []mechanismReport {
	reports := []mechanismReport{}
	for _, s := range settings {
		reports = append(reports, mechanismReport{s.Name, s.State, s.Detail, s.Mend})
	}
	return reports
}

// hardeningText has a row for each advice. Settings about which there is nothing to do
// share one: those that are good, and those that are unknown for the same reason.
func hardeningText(rows []mechanismReport, p paint) string {
	var advice []mechanismReport
	var good []string
	unknown := map[string][]string{}
	for _, r := range rows {
		switch r.State {
		case advisory.Advice:
			advice = append(advice, r)
		case advisory.Good:
			good = append(good, r.Name)
		default:
			unknown[r.Detail] = append(unknown[r.Detail], r.Name)
		}
	}
	share := func(state, text string) string {
		return fmt.Sprintf("  %s  %s\n", p.text(stateStyle(state), fmt.Sprintf("%-8s", state)), printable(text))
	}
	text := fmt.Sprintf("%s: %d to consider, %d good, %d unknown\n", p.text(styleBold, "hardening of this host"), len(advice), len(good), len(rows)-len(advice)-len(good))
	text += rowsText(advice, p)
	if len(good) > 0 {
		text += share(advisory.Good, strings.Join(good, ", "))
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		text += share(advisory.Unknown, strings.Join(unknown[why], ", ")+": "+why)
	}
	return text
}
