package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// checkFlags is the grammar of check. Its flags mean what those of run do.
type checkFlags struct {
	Paths []string `arg:"" optional:"" name:"file" help:"The source: a file, several files, or a directory."`

	Lang  string   `short:"l" placeholder:"L" help:"The language, or an alias, with an optional version (default: by the extension or the #! line)."`
	Code  []string `sep:"none" placeholder:"S" help:"The source itself."`
	File  []string `sep:"none" placeholder:"F" help:"The source's file; several make a project."`
	Entry string   `placeholder:"F" help:"The main file of a project (default: by the language's convention)."`

	Imports     *string  `placeholder:"MODE" enum:"off,warn,block" help:"What a run would do with imports that are blocked: off, warn or block."`
	BlockImport []string `name:"block-import" sep:"none" placeholder:"M" help:"A module to block beside the usual ones; each is one more. Without --imports it means block."`

	runtimeFlag
	Image     string  `placeholder:"REF" help:"The root file system, as for run."`
	Isolation *string `placeholder:"LEVEL" enum:"auto,full,restricted,none" help:"The isolation level, as for run."`

	JSON bool `name:"json" help:"Print JSON."`
}

// check tells what a program imports and whether it parses, without running it. The
// code is 1 for what does not parse, and 126 for what a run would refuse.
func (a *app) check(args []string) (int, error) {
	f := &checkFlags{}
	after, help, err := parse(f, args)
	switch {
	case help:
		return exitOK, a.help("check")
	case err == nil && len(after) > 0:
		err = usageError{errors.New("check runs nothing, so that it takes no arguments for a program")}
	}
	if err != nil {
		return 0, err
	}
	run := &runFlags{
		Paths: f.Paths, Lang: f.Lang, Code: f.Code, File: f.File, Entry: f.Entry, Imports: f.Imports, BlockImport: f.BlockImport,
		runtimeFlag: f.runtimeFlag, Image: f.Image, Isolation: f.Isolation, Output: formatText,
	}
	if err := run.check(); err != nil {
		return 0, usageError{err}
	}
	if isExec(f.Lang) {
		return 0, usageError{errors.New("--lang exec has no source to check")}
	}
	report, err := a.checkSource(run)
	if err != nil {
		return 0, err
	}
	if f.JSON {
		err = a.printJSON(report)
	} else {
		err = a.print(checkText(report))
	}
	return checkCode(report), err
}

func (a *app) checkSource(f *runFlags) (*api.Check, error) {
	stop := newStopper()
	defer stop.release()
	cfg, err := a.config(false)
	if err != nil {
		return nil, err
	}
	f.apply(&cfg)
	req, closeInput, err := a.read(f, cfg, stop)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	req.Network.Mode = sandbox.NetworkNone
	engine, err := a.deps.Open(cfg, func(message string) { fmt.Fprintf(a.stderr, "── %s\n", printable(message)) })
	if err != nil {
		return nil, err
	}
	defer a.close(engine)
	report, err := engine.Check(stop.ctx, req)
	if err != nil && stop.signal() != nil {
		err = errQuiet{signalCode(stop.signal())}
	}
	return report, err
}

func checkCode(c *api.Check) int {
	switch {
	case c.Policy == string(policy.Block) && (len(c.BlockedImports) > 0 || !c.ImportsKnown):
		return exitPolicy
	case c.Syntax == api.SyntaxError:
		return exitFailure
	}
	return exitOK
}

// checkText is the report for a person: the imports by file, then what is wrong.
func checkText(c *api.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: import policy %s\n", strings.TrimSpace(c.Language+" "+c.Version), c.Policy)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, i := range c.Imports {
		place, note := i.File, ""
		if i.Line > 0 {
			place = fmt.Sprintf("%s:%d", i.File, i.Line)
		}
		if i.Blocked {
			note = "\tblocked"
		}
		fmt.Fprintf(w, "  %s\t%s%s\n", printable(place), printable(i.Module), note)
	}
	w.Flush()
	switch {
	case !c.ImportsKnown:
		b.WriteString("imports: cannot be told\n")
	case len(c.BlockedImports) > 0:
		fmt.Fprintf(&b, "blocked imports: %s\n", printable(strings.Join(c.BlockedImports, ", ")))
	default:
		b.WriteString("blocked imports: none\n")
	}
	fmt.Fprintf(&b, "syntax: %s\n", c.Syntax)
	if c.Message != "" {
		fmt.Fprintf(&b, "  %s\n", printable(c.Message))
	}
	for line := range strings.Lines(strings.TrimSpace(c.Details)) {
		fmt.Fprintf(&b, "    %s\n", printable(strings.TrimRight(line, "\n")))
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", printable(warning))
	}
	return b.String()
}
