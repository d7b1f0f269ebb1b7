package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// posture shows what a program sees from inside, and what of it is not as it should be.
func (a *app) posture(ctx context.Context, cfg config.Config, asJSON bool) (code int, err error) {
	engine, err := a.deps.Open(cfg, func(string) {})
	if err != nil {
		return 0, err
	}
	defer a.close(engine)
	p, err := engine.Posture(ctx, cfg.Isolation)
	if err != nil {
		return 0, err
	}
	faults := p.Faults()
	if len(faults) > 0 {
		code = exitSandbox
	}
	if asJSON {
		seen := map[string]string{}
		for _, l := range p.Lines {
			seen[l.Key] = l.Value
		}
		report := map[string]any{"runtime": cfg.Runtime, "isolation": p.Isolation.Level, "posture": seen, "faults": append([]string{}, faults...)}
		if len(faults) > 0 {
			report["mend"] = p.Mend()
		}
		return code, a.printJSON(report)
	}
	var b strings.Builder
	for _, l := range p.Lines {
		fmt.Fprintf(&b, "%-26s %s\n", printable(l.Key), printable(l.Value))
	}
	paint := newPaint("auto", isTerminal(a.stdout), a.environ)
	for _, fault := range faults {
		fmt.Fprintf(&b, "%s %s\n", paint.text(styleRed, "not as it should be:"), printable(fault))
	}
	if len(faults) > 0 {
		fmt.Fprintf(&b, "What to do: %s\n", p.Mend())
	} else {
		fmt.Fprintf(&b, "%s\n", paint.text(styleGreen, fmt.Sprintf("isolation %s: all of it is as it should be", p.Isolation.Level)))
	}
	return code, a.print(b.String())
}
