package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// figures is the one line that sums a run up. A figure that could not be had
// is left out.
func (p *textPrinter) figures(r *api.Result) string {
	style := styleRed
	if r.Success {
		style = styleGreen
	}
	parts := []string{endText(r)}
	if ran(r) {
		parts = append(parts, secondsText(r.ExecutionTime))
	}
	if cpu := r.Metrics.CPUTimeS; cpu != nil {
		parts = append(parts, "cpu "+secondsText(*cpu))
	}
	if peak := r.Metrics.MemoryPeakBytes; peak != nil {
		parts = append(parts, "memory "+sandbox.FormatBytes(*peak))
	}
	if level := r.Meta.IsolationLevel; level != "" {
		parts = append(parts, "isolation "+level)
	}
	rule, rest := p.paint.text(styleDim, "── "), p.paint.text(styleDim, " · "+strings.Join(parts, " · "))
	if p.paint.on {
		rule = styleReset + rule // whatever the program left switched on
	}
	return rule + p.paint.text(style, string(r.Status)) + rest
}

// endText is how the program ended: its signal, or its exit code.
func endText(r *api.Result) string {
	switch {
	case r.Signal != "":
		return r.Signal
	case r.ExitCode < 0:
		return "not started"
	}
	return "exit " + strconv.Itoa(r.ExitCode)
}

func ran(r *api.Result) bool {
	for _, phase := range r.Phases {
		if phase.Name == api.PhaseRun {
			return true
		}
	}
	return false
}

func limitText(l *api.LimitHit) string {
	return fmt.Sprintf("limit %s: %s, reached %s in the %s phase (%s)",
		l.Name, amount(l.Limit, l.Unit), amount(l.Observed, l.Unit), l.Phase, l.Source)
}

func amount(value float64, unit string) string {
	switch unit {
	case "bytes":
		return sandbox.FormatBytes(int64(value))
	case "seconds":
		return secondsText(value)
	}
	return strings.TrimSpace(strconv.FormatFloat(value, 'f', -1, 64) + " " + unit)
}
