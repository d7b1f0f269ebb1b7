package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// languageRow is one line of the verb languages, as JSON prints it.
type languageRow struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Available bool   `json:"available"`
	Version   string `json:"version,omitempty"`
	Origin    string `json:"origin,omitempty"`
	Program   string `json:"program,omitempty"`
	Compiler  string `json:"compiler,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Install   string `json:"install,omitempty"`
}

// languages lists what can run here, and how to get the rest.
func (a *app) languages(args []string) (int, error) {
	f := lookFlags{}
	help, err := a.parseVerb("languages", &f, args)
	if err != nil || help {
		return exitOK, err
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	f.choose(&cfg)
	stop := newStopper()
	defer stop.release()
	engine, err := a.deps.Open(cfg, func(string) {})
	if err != nil {
		return 0, err
	}
	defer a.close(engine)
	rows := languageRows(stop.ctx, engine)
	if f.JSON {
		return exitOK, a.printJSON(map[string]any{"languages": rows})
	}
	return exitOK, a.print(languageTable(rows))
}

// languageRows has the found toolchains in their order of preference, then the
// missing languages. A language is missing once, and only if nothing was found.
func languageRows(ctx context.Context, engine Engine) []languageRow {
	byName := map[string]language.Info{}
	for _, lang := range language.All() {
		byName[lang.Info().Name] = lang.Info()
	}
	found, missing := engine.Toolchains(ctx)
	seen := map[string]bool{}
	rows := []languageRow{}
	for _, tc := range found {
		seen[tc.Language] = true
		rows = append(rows, languageRow{
			Name: tc.Language, Title: byName[tc.Language].Title, Available: true, Version: tc.Version,
			Origin: tc.Origin, Program: tc.Program, Compiler: tc.Compiler,
		})
	}
	for _, m := range missing {
		if seen[m.Language] {
			continue
		}
		seen[m.Language] = true
		info := byName[m.Language]
		install := info.Install
		if install == "" {
			install = info.Elsewhere
		}
		if m.Inside {
			install = ""
		}
		rows = append(rows, languageRow{Name: m.Language, Title: info.Title, Reason: m.Reason, Install: install})
	}
	return rows
}

func languageTable(rows []languageRow) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LANGUAGE\tVERSION\tORIGIN\tPROGRAM")
	for _, r := range rows {
		if r.Available {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.Version, r.Origin, printable(r.Program))
		}
	}
	w.Flush()
	header := false
	for _, r := range rows {
		if r.Available {
			continue
		}
		if !header {
			fmt.Fprintln(w, "\nMISSING\tREASON\tINSTALL WITH")
			header = true
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, printable(r.Reason), r.Install)
	}
	w.Flush()
	return b.String()
}

// gc removes what killed runs left behind, and what only older versions needed.
func (a *app) gc(args []string) (int, error) {
	f := listFlags{}
	help, err := a.parseVerb("gc", &f, args)
	if err != nil || help {
		return exitOK, err
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	// A signal does not cut this short: what is left half removed would be
	// found again, but there is nothing to gain.
	stop := newStopper()
	defer stop.release()
	removed, err := a.deps.Reclaim(stop.ctx, cfg)
	old, oldErr := executor.Reclaim(stop.ctx, cfg.DataDir)
	images, imagesErr := reclaimImages(stop.ctx, cfg.DataDir)
	uploads, uploadsErr := kept.Reclaim(kept.Dir(cfg.DataDir))
	removed = slices.Concat(removed, old, images, uploads)
	if err := errors.Join(err, oldErr, imagesErr, uploadsErr); err != nil {
		return 0, fmt.Errorf("cannot remove everything: %w", err)
	}
	return exitOK, a.tellRemoved(removed, f.JSON, true)
}

// tellRemoved names what is gone. That nothing is, is worth a word where nothing
// else was said.
func (a *app) tellRemoved(removed []string, asJSON, sayNothing bool) error {
	if asJSON {
		return a.printJSON(map[string]any{"removed": append([]string{}, removed...)})
	}
	var b strings.Builder
	for _, name := range removed {
		fmt.Fprintf(&b, "removed %s\n", printable(name))
	}
	if len(removed) == 0 && sayNothing {
		b.WriteString("nothing to remove\n")
	}
	return a.print(b.String())
}

// printJSON prints one object, indented for a person.
func (a *app) printJSON(v any) error {
	data, err := encodeJSON(v, isTerminal(a.stdout))
	if err != nil {
		return err
	}
	return a.print(string(data))
}
