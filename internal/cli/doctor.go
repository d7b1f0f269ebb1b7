package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// doctorReport is what doctor says, as JSON prints it.
type doctorReport struct {
	// Runtimes has the chosen one first.
	Runtimes []runtimeReport `json:"runtimes"`
	// Hardening are settings of this machine; their states are good, advice or unknown.
	Hardening []mechanismReport `json:"hardening"`
}

// runtimeReport is what doctor says of one runtime.
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

// doctor shows what holds on this host and what mends the rest: of the chosen
// runtime in full, and of the others whether they could be; then what would make the
// host harder. It succeeds when at least one can run, however degraded.
func (a *app) doctor(args []string) (int, error) {
	f := doctorFlags{}
	help, err := a.parseVerb("doctor", &f, args)
	if err != nil || help {
		return exitOK, err
	}
	if f.Seccomp {
		return exitOK, a.printFilter()
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	f.choose(&cfg)
	stop := newStopper()
	defer stop.release()
	if f.Posture {
		return a.posture(stop.ctx, cfg, f.JSON)
	}
	reports := []runtimeReport{a.examine(stop.ctx, cfg)}
	cfg.Fallback = ""
	for _, name := range config.Runtimes() {
		if cfg.Runtime = name; name != reports[0].Runtime {
			reports = append(reports, a.examine(stop.ctx, cfg))
		}
	}
	code := exitOK
	if !slices.ContainsFunc(reports, func(r runtimeReport) bool { return r.Usable }) {
		code = exitSandbox
	}
	host := hardening(advisory.Hardening())
	if f.JSON {
		return code, a.printJSON(doctorReport{reports, host})
	}
	p := newPaint("auto", isTerminal(a.stdout), a.environ)
	text := reportText(reports[0], p)
	for _, r := range reports[1:] {
		text += reportLine(r, p)
	}
	return code, a.print(text + hardeningText(host, p))
}

// examine opens a runtime and has it tell what it can do here.
func (a *app) examine(ctx context.Context, cfg config.Config) runtimeReport {
	engine, err := a.deps.Open(cfg, func(string) {})
	if err != nil {
		return runtimeReport{Runtime: cfg.Runtime, Error: err.Error()}
	}
	defer a.close(engine)
	caps, err := engine.Probe(ctx)
	if err != nil {
		return runtimeReport{Runtime: cfg.Runtime, Error: err.Error()}
	}
	return newReport(caps)
}

func newReport(caps sandbox.Capabilities) runtimeReport {
	r := runtimeReport{Runtime: caps.Runtime, Usable: len(caps.Levels) > 0, Levels: caps.Levels, Networks: caps.Networks}
	for _, m := range caps.Mechanisms {
		r.Mechanisms = append(r.Mechanisms, mechanismReport{m.Name, m.State, m.Detail, m.Mend})
	}
	return r
}

// reportLine says whether a runtime can be used.
func reportLine(r runtimeReport, p paint) string {
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
	return b.String()
}

func reportText(r runtimeReport, p paint) string {
	return reportLine(r, p) + rowsText(r.Mechanisms, p)
}

func rowsText(rows []mechanismReport, p paint) string {
	var b strings.Builder
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	for _, r := range rows {
		// The state is padded before it is painted: escapes have no width.
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", p.text(stateStyle(r.State), fmt.Sprintf("%-8s", r.State)), width, r.Name, printable(r.Detail))
		if r.Mend != "" && r.State != api.Enforced {
			fmt.Fprintf(&b, "  %8s  %-*s  mend: %s\n", "", width, "", p.text(styleBold, printable(r.Mend)))
		}
	}
	return b.String()
}

func stateStyle(state string) string {
	switch state {
	case api.Enforced, advisory.Good:
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
