package cli

import (
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// runtimeReport is what doctor says of one runtime, as JSON prints it.
type runtimeReport struct {
	Runtime string `json:"runtime"`
	Usable  bool   `json:"usable"`
	// Error says why the runtime cannot be used at all.
	Error      string                `json:"error,omitempty"`
	Levels     []sandbox.Level       `json:"levels"`
	Networks   []sandbox.NetworkMode `json:"networks"`
	Mechanisms []mechanismReport     `json:"mechanisms"`
}

type mechanismReport struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"`
}

// doctor shows what holds on this host and what mends the rest. It succeeds
// when at least one runtime can run, however degraded.
func (a *app) doctor(args []string) (int, error) {
	f, help, err := a.parseList("doctor", args)
	if err != nil || help {
		return exitOK, err
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	report := runtimeReport{Runtime: cfg.Runtime}
	stop := newStopper()
	defer stop.release()
	engine, err := a.deps.Open(cfg, func(string) {})
	if err == nil {
		defer a.close(engine)
		var caps sandbox.Capabilities
		if caps, err = engine.Probe(stop.ctx); err == nil {
			report = newReport(caps)
		}
	}
	if err != nil {
		report.Error = err.Error()
	}
	code := exitOK
	if !report.Usable {
		code = exitSandbox
	}
	if f.JSON {
		return code, a.printJSON(map[string]any{"runtimes": []runtimeReport{report}})
	}
	return code, a.print(reportText(report, newPaint("auto", isTerminal(a.stdout), a.environ)))
}

func newReport(caps sandbox.Capabilities) runtimeReport {
	r := runtimeReport{Runtime: caps.Runtime, Usable: len(caps.Levels) > 0, Levels: caps.Levels, Networks: caps.Networks}
	for _, m := range caps.Mechanisms {
		r.Mechanisms = append(r.Mechanisms, mechanismReport{m.Name, m.State, m.Detail, m.Mend})
	}
	return r
}

func reportText(r runtimeReport, p paint) string {
	var b strings.Builder
	verdict := p.text(styleGreen, "can run programs")
	if !r.Usable {
		verdict = p.text(styleRed, "cannot run programs")
	}
	fmt.Fprintf(&b, "%s: %s", p.text(styleBold, r.Runtime), verdict)
	if r.Error != "" {
		fmt.Fprintf(&b, ": %s", printable(r.Error))
	}
	if r.Usable {
		fmt.Fprintf(&b, " at isolation %s, network %s", join(r.Levels), join(r.Networks))
	}
	b.WriteString("\n")
	width := 0
	for _, m := range r.Mechanisms {
		width = max(width, len(m.Name))
	}
	for _, m := range r.Mechanisms {
		// The state is padded before it is painted: escapes have no width.
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", p.text(stateStyle(m.State), fmt.Sprintf("%-8s", m.State)), width, m.Name, printable(m.Detail))
		if m.Mend != "" && m.State != api.Enforced {
			fmt.Fprintf(&b, "  %8s  %-*s  mend: %s\n", "", width, "", p.text(styleBold, printable(m.Mend)))
		}
	}
	return b.String()
}

func stateStyle(state string) string {
	switch state {
	case api.Enforced:
		return styleGreen
	case api.Absent:
		return styleRed
	}
	return styleYellow
}

// join writes words as a list for reading.
func join[T ~string](words []T) string {
	if len(words) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}
