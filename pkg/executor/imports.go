package executor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ImportPolicy is what an operator says of imports.
type ImportPolicy struct {
	// Mode is what becomes of programs that import what is blocked; empty warns, and
	// blocks at isolation none.
	Mode policy.Mode
	// Rules are what is blocked; nil is [policy.DefaultRules].
	Rules []policy.Rule
}

// For is the mode of a request that asks for asked, or for nothing, and the rules
// that it adds. Whoever names modules to block means that they be blocked.
func (p ImportPolicy) For(asked policy.Mode, adds bool, level sandbox.Level) policy.Mode {
	switch {
	case asked != "":
		return asked
	case adds:
		return policy.Block
	case p.Mode != "":
		return p.Mode
	case level == sandbox.LevelNone:
		return policy.Block
	}
	return policy.Warn
}

// blockedMessage is the first half of that of every blocked run.
const blockedMessage = "Security policy blocked import: "

// imports is the import policy of one run, and what was found.
type imports struct {
	mode policy.Mode
	list policy.List
	// found is what was read here; what is told while it is compiled or run comes to
	// listener, which is nil where nothing is.
	found    policy.Findings
	listener *policy.Listener
	nonce    string
	hook     *policy.Hook // of the interpreter, if it has one
}

// planImports finds out what the policy of the run is. That it cannot be held is the
// caller's error.
func (r *run) planImports() error {
	info, asked := r.lang.Info(), r.req.Imports
	if asked != "" {
		if _, err := policy.ParseMode(string(asked)); err != nil {
			return &InputError{Field: "/policy/imports", Detail: err.Error()}
		}
	}
	mode := r.e.cfg.Imports.For(asked, len(r.req.BlockImports) > 0, r.req.Isolation)
	rules := r.e.cfg.Imports.Rules
	for i, text := range r.req.BlockImports {
		rule, err := policy.ParseRule(text)
		if err != nil {
			return &InputError{Field: fmt.Sprintf("/policy/blocked_imports/%d", i), Detail: err.Error()}
		}
		rules = append(slices.Clip(rules), rule)
	}
	r.imports = imports{mode: mode, list: policy.NewList(info.Name, rules)}
	switch {
	case r.check:
		r.imports.mode = policy.Warn
	case mode == policy.Off || policy.Knows(info.Name):
	case mode == policy.Block:
		return &InputError{Kind: InputUnsupported, Field: "/policy/imports", Detail: fmt.Sprintf(
			"the import policy is block, and what %s imports cannot be checked: ask for it to be warn or off (--imports warn, --trusted); isolation none blocks unless it is told otherwise", info.Title)}
	case asked == policy.Warn || r.e.cfg.Imports.Mode == policy.Warn:
		r.warn(fmt.Sprintf("imports: what %s imports cannot be checked", info.Title))
	}
	return nil
}

// readImports reads the sources, or prepares that they are read where the program is
// compiled or run. It tells whether the run may go on.
func (r *run) readImports(ctx context.Context) bool {
	name := r.lang.Info().Name
	if r.imports.mode == policy.Off || !policy.Knows(name) {
		return true
	}
	if policy.Scans(name) {
		r.imports.found = policy.Scan(ctx, name, r.sources(), path.Clean(r.req.Entry), r.imports.list)
		return !r.imports.refuses()
	}
	r.imports.nonce = nonce()
	if name == "python" {
		r.imports.hook = policy.PythonHook(policy.HookOptions{
			Sources: r.sources(), Main: path.Clean(r.req.Entry), List: r.imports.list, Mode: r.imports.mode, Check: r.check,
			Nonce: r.imports.nonce, Descriptor: min(max(r.limits.OpenFiles, 4), 256) - 1,
		})
		if r.imports.hook == nil {
			return true
		}
	}
	r.imports.listener = policy.NewListener(r.imports.nonce, r.imports.list)
	return true
}

// refuses tells whether what was read here keeps the program from running.
func (i *imports) refuses() bool {
	return i.mode == policy.Block && (len(i.found.Blocked) > 0 || i.found.Incomplete != "")
}

func nonce() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// sources are all files of the run, as the toolchain will see them.
func (r *run) sources() map[string][]byte {
	files := map[string][]byte{}
	for name, file := range r.inputs() {
		files[name] = file.Content
	}
	return files
}

// findings is all that is known.
func (i *imports) findings() (found policy.Findings, heard bool) {
	if i.listener == nil {
		return i.found, true
	}
	return i.listener.Findings()
}

// blockedImports are the rules that the program breaks. What is not known of them is
// worth a warning.
func (r *run) blockedImports() []string {
	found, _ := r.imports.findings()
	if found.Incomplete != "" {
		r.warn("imports: " + found.Incomplete)
	}
	return found.Blocked
}

// report is the report that a compiler or interpreter makes in a phase; nil if none.
func (r *run) report(phase string) *policy.Listener {
	if (phase == api.PhaseRun) == (r.imports.hook != nil) && phase != api.PhaseInstall {
		return r.imports.listener
	}
	return nil
}

// reporting has the TypeScript compiler report imports.
func (r *run) reporting(step language.Step) language.Step {
	if r.imports.listener != nil && r.imports.hook == nil && slices.Contains(step.Args, language.EsbuildCommand) {
		at := slices.Index(step.Args, language.EsbuildCommand) + 1
		step.Args = slices.Insert(slices.Clone(step.Args), at, "--report="+r.imports.nonce)
	}
	return step
}

// hooked has Python find the hook before its own modules.
func (r *run) hooked(phase string, env []string) []string {
	const name = "PYTHONPATH="
	if r.imports.hook == nil || phase != api.PhaseRun {
		return env
	}
	env = slices.Clone(env)
	dir := path.Join(sandbox.WorkspaceDir, r.imports.hook.Dir)
	for i, kv := range env {
		if own, ok := strings.CutPrefix(kv, name); ok && own != "" {
			env[i] = name + dir + ":" + own
			return env
		}
	}
	return append(env, name+dir)
}

// judgeImports is the verdict of a phase, or that of the policy. What could not be
// checked is blocked too.
func (r *run) judgeImports(ph *phase, v verdict) verdict {
	if r.report(ph.name) == nil || r.imports.mode != policy.Block || !ph.started {
		return v
	}
	found, heard := r.imports.findings()
	unheard := !heard && (v.status == api.StatusOK || v.status == api.StatusRuntimeError)
	if len(found.Blocked) == 0 && found.Incomplete == "" && !unheard {
		return v
	}
	ph.exit.Code, ph.exit.Signal = exitBlocked, 0
	return verdict{status: api.StatusPolicyBlocked, message: blockedBy(found), notes: v.notes}
}

// exitBlocked is the exit code of a phase that the policy has ended; the interpreter's
// hook ends with it.
const exitBlocked = 126

// blockedBy words why a program is blocked.
func blockedBy(found policy.Findings) string {
	switch {
	case len(found.Blocked) > 0:
		return blockedMessage + found.Blocked[0]
	case found.Incomplete != "":
		return "Security policy blocked the program: its imports cannot be told, because " + found.Incomplete
	}
	return "Security policy blocked the program: its imports were not told"
}
