package executor

import (
	"context"
	"errors"
	"slices"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
)

// Check says what the program of a request imports, and whether its language takes
// it for a program, without running it: compilers do what they do before a run, in the
// same sandbox, and interpreters only parse. The error is an [*InputError], or ours.
func (e *Executor) Check(ctx context.Context, req Request) (*api.Check, error) {
	req.Requirements, req.Collect = nil, []string{}
	a, err := e.admit(ctx, req, true)
	if err != nil {
		return nil, err
	}
	result, err := a.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	switch result.Status {
	case api.StatusSandboxError:
		return nil, errors.New(result.Message)
	case api.StatusCancelled:
		return nil, errCancelled
	}
	return a.run.checked(result), nil
}

// checked folds the result of a check.
func (r *run) checked(result *api.Result) *api.Check {
	name := r.lang.Info().Name
	found, heard := r.imports.findings()
	c := &api.Check{
		Language: result.Language, Version: result.Version,
		Policy:       string(r.e.cfg.Imports.For(r.req.Imports, len(r.req.BlockImports) > 0, r.req.Isolation)),
		Imports:      []api.Import{},
		ImportsKnown: policy.Knows(name) && heard && found.Incomplete == "",
		// Never null, so that a reader can count them.
		BlockedImports: append([]string{}, found.Blocked...),
		Warnings:       append([]string{}, result.Meta.Warnings...),
	}
	for _, i := range found.Imports {
		_, blocked := r.imports.list.Match(i.Module)
		c.Imports = append(c.Imports, api.Import{Module: i.Module, File: i.File, Line: i.Line, Blocked: blocked})
	}
	r.syntax(c, result)
	return c
}

// syntax says what the toolchain has made of the source.
func (r *run) syntax(c *api.Check, result *api.Result) {
	var faults []string
	if r.imports.listener != nil {
		faults = r.imports.listener.Faults()
	}
	switch {
	case len(faults) > 0:
		c.Syntax, c.Message = api.SyntaxError, r.lang.Info().Title+" syntax error: "+faults[0]
	case result.Status == api.StatusCompileError:
		c.Syntax, c.Message, c.Details = api.SyntaxError, result.Message, result.Stderr
	case len(result.Phases) == 0:
		c.Syntax, c.Message = api.SyntaxUnknown, r.lang.Info().Title+" cannot parse a program without running it"
	case result.Status == api.StatusOK, r.imports.hook != nil && result.ExitCode == exitBlocked:
		c.Syntax = api.SyntaxOK
	default:
		c.Syntax, c.Message, c.Details = api.SyntaxUnknown, result.Message, result.Stderr
	}
}

// checkStep is what takes the place of the program: an interpreter that only parses.
// There is none for languages that have been compiled, and for those that cannot.
func (r *run) checkStep(step language.Step) (language.Step, bool) {
	switch r.lang.Info().Name {
	case "python": // the hook ends it
		return step, r.imports.hook != nil
	case "javascript":
		step.Args = slices.Insert(slices.Clone(step.Args), 1, "--check")
		return step, true
	}
	return step, false
}
