package executor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fakeToolchains is a host whose Python, Node and Bash only tell a version.
func fakeToolchains(t *testing.T) language.Host {
	t.Helper()
	dir := t.TempDir()
	for name, version := range map[string]string{"python3": "Python 3.11.2", "node": "v22.9.0", "bash": "GNU bash, version 5.2.15"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+version+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return language.Host{Path: []string{dir}}
}

// reports is a program whose interpreter's hook says this; the nonce of the hook is
// in its directory's name.
func reports(ran *bool, code int, says ...string) func(sandbox.Process, *fakeRunning) sandbox.Exit {
	return func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
		*ran = true
		_, nonce, hooked := strings.Cut(strings.Join(p.Env, "\n")+"\n", "\nPYTHONPATH=/workspace/.sandbox-run-")
		nonce, _, _ = strings.Cut(nonce, "\n")
		for _, said := range says {
			if hooked {
				_, _ = p.Stderr.Write([]byte("\x1e" + nonce + said + "\x1e"))
			}
		}
		_, _ = p.Stderr.Write([]byte("said\n"))
		return sandbox.Exit{Code: code}
	}
}

func pythonRequest(code string) Request { return Request{Language: "python", Code: []byte(code)} }
func nodeRequest(code string) Request   { return Request{Language: "javascript", Code: []byte(code)} }

// withImports is a request under a policy of its own.
func withImports(r Request, mode policy.Mode, more ...string) Request {
	r.Imports, r.BlockImports = mode, more
	return r
}

func atNone(r Request) Request {
	r.Isolation = sandbox.LevelNone
	return r
}

// importCase is a request, what its interpreter says, and what comes of it.
type importCase struct {
	name     string
	operator ImportPolicy
	req      Request
	says     []string
	code     int
	status   api.Status
	message  string
	blocked  string
}

func (c importCase) check(t *testing.T, runs bool) {
	t.Helper()
	ran := false
	rt := &fakeRuntime{program: reports(&ran, c.code, c.says...)}
	cfg := DefaultConfig()
	cfg.Host, cfg.Imports = fakeToolchains(t), c.operator
	r, err := New(rt, cfg).Run(t.Context(), c.req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != c.status || r.Message != c.message || strings.Join(r.Meta.BlockedImports, " ") != c.blocked || ran != runs {
		t.Errorf("%s %q, blocked %q, ran %v", r.Status, r.Message, r.Meta.BlockedImports, ran)
	}
	switch {
	case ran && r.Stderr != "said\n":
		t.Errorf("stderr %q", r.Stderr)
	case ran && c.status == api.StatusPolicyBlocked && r.ExitCode != 126:
		t.Errorf("exit code %d", r.ExitCode)
	case !ran && (r.ExitCode != -1 || len(r.Phases) > 0 || len(rt.containers) > 0):
		t.Errorf("exit code %d, %d phases, %d containers", r.ExitCode, len(r.Phases), len(rt.containers))
	}
}

// What is read here is known before there is a container.
func TestImportsReadHere(t *testing.T) {
	const blocked = "Security policy blocked import: "
	block := ImportPolicy{Mode: policy.Block}
	for _, c := range []importCase{
		{name: "blocks", req: withImports(nodeRequest("require('fs')"), policy.Block), status: api.StatusPolicyBlocked, message: blocked + "fs", blocked: "fs"},
		{name: "the operator's", operator: block, req: nodeRequest("require('fs')"), status: api.StatusPolicyBlocked, message: blocked + "fs", blocked: "fs"},
		{name: "the operator's rules", operator: ImportPolicy{Mode: policy.Block, Rules: []policy.Rule{{Module: "x"}}}, req: nodeRequest("require('fs'); require('x/y')"),
			status: api.StatusPolicyBlocked, message: blocked + "x", blocked: "x"},
		{name: "one more", req: withImports(nodeRequest("require('x')"), "", "x"), status: api.StatusPolicyBlocked, message: blocked + "x", blocked: "x"},
		{name: "at isolation none", req: atNone(nodeRequest("require('fs')")), status: api.StatusPolicyBlocked, message: blocked + "fs", blocked: "fs"},
		{name: "too many", req: withImports(nodeRequest(strings.Repeat("require('x')\n", 60_000)), policy.Block), status: api.StatusPolicyBlocked,
			message: "Security policy blocked the program: its imports cannot be told, because main.js names more than 50000 modules"},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, false) })
	}
	files := map[string]InputFile{"main.js": {}, "lib/x.mjs": {Content: []byte("import 'os'")}}
	for _, c := range []importCase{
		{name: "warns", req: nodeRequest("require('fs')"), blocked: "fs"},
		{name: "lets pass", req: withImports(nodeRequest("require('x')"), policy.Block)},
		{name: "off", req: withImports(nodeRequest("require('fs')"), policy.Off)},
		{name: "one more to warn of", req: withImports(nodeRequest("require('x'), require('fs')"), policy.Warn, "x"), blocked: "fs x"},
		{name: "trusted at isolation none", req: atNone(withImports(nodeRequest("require('fs')"), policy.Off))},
		{name: "every file", req: Request{Language: "javascript", Files: files}, blocked: "os"},
		{name: "no parser", req: Request{Language: "bash", Code: []byte("x")}},
	} {
		c.status = api.StatusOK
		t.Run(c.name, func(t *testing.T) { c.check(t, true) })
	}
}

// Python says what it imports, and what it says is not the program's output.
func TestImportsReadByPython(t *testing.T) {
	const blocked = "Security policy blocked import: "
	block := func(code string) Request { return withImports(pythonRequest(code), policy.Block) }
	for _, c := range []importCase{
		{name: "needs no hook", req: pythonRequest("print(1)"), says: []string{"sos"}, status: api.StatusOK},
		{name: "warns", req: pythonRequest("import os"), says: []string{"sos\x1fsocket", "dshutil"}, status: api.StatusOK, blocked: "os shutil socket"},
		{name: "blocks", req: block("import os"), says: []string{"sos"}, code: 126, status: api.StatusPolicyBlocked, message: blocked + "os", blocked: "os"},
		{name: "at the import", req: block("x"), says: []string{"s", "dos"}, code: 126, status: api.StatusPolicyBlocked, message: blocked + "os", blocked: "os"},
		{name: "in a child", req: block("x"), says: []string{"s", "dos"}, status: api.StatusPolicyBlocked, message: blocked + "os", blocked: "os"},
		{name: "lets pass", req: block("x"), says: []string{"s"}, status: api.StatusOK},
		{name: "is silent", req: block("x"), status: api.StatusPolicyBlocked, message: "Security policy blocked the program: its imports were not told"},
		{name: "fails", req: block("x"), says: []string{"xE()"}, code: 126, status: api.StatusPolicyBlocked,
			message: "Security policy blocked the program: its imports cannot be told, because the check failed: E()"},
		{name: "a code of its own", req: block("x"), says: []string{"s"}, code: 126, status: api.StatusRuntimeError, message: "Execution failed: said"},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, true) })
	}
}

// Where nothing can be told, what must be blocked does not run, and the caller hears
// why.
func TestImportsThatCannotBeTold(t *testing.T) {
	bash := Request{Language: "bash", Code: []byte("x")}
	cfg := DefaultConfig()
	cfg.Host = fakeToolchains(t)
	for _, c := range []struct {
		req         Request
		field, want string
	}{
		{withImports(bash, policy.Block), "/policy/imports", "what Bash imports cannot be checked"},
		{atNone(bash), "/policy/imports", "isolation none blocks unless it is told otherwise"},
		{withImports(bash, "never"), "/policy/imports", `"never" is no import policy`},
		{withImports(bash, policy.Warn, "a", "b c"), "/policy/blocked_imports/1", `"b c" is no name of a module`},
	} {
		_, err := New(&fakeRuntime{}, cfg).Run(t.Context(), c.req, nil)
		var input *InputError
		if !errors.As(err, &input) || input.Field != c.field || !strings.Contains(input.Detail, c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	r, err := New(&fakeRuntime{}, cfg).Run(t.Context(), withImports(bash, policy.Warn), nil)
	if err != nil || !slices.Contains(r.Meta.Warnings, "imports: what Bash imports cannot be checked") {
		t.Errorf("%v, %v", r, err)
	}
}

// The request's own PYTHONPATH stays behind the hook's.
func TestHookKeepsPythonPath(t *testing.T) {
	var env []string
	rt := &fakeRuntime{program: func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
		env = p.Env
		return sandbox.Exit{}
	}}
	cfg := DefaultConfig()
	cfg.Host = fakeToolchains(t)
	req := pythonRequest("import os")
	req.Env = map[string]string{"PYTHONPATH": "/mine"}
	if _, err := New(rt, cfg).Run(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PYTHONPATH=") })
	if i < 0 || !strings.HasPrefix(env[i], "PYTHONPATH=/workspace/.sandbox-run-") || !strings.HasSuffix(env[i], ":/mine") {
		t.Errorf("%q", env)
	}
	hook := 0
	for name := range rt.containers[0].trees[sandbox.WorkspaceDir].names {
		if strings.HasPrefix(name, ".sandbox-run-") {
			hook++
		}
	}
	if hook != 2 {
		t.Errorf("%d files of the hook", hook)
	}
}

func TestCheck(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Host, cfg.Imports.Mode = fakeToolchains(t), policy.Block // which is no reason not to look
	osImport := api.Import{Module: "os", File: "main.py", Line: 1, Blocked: true}
	for _, c := range []struct {
		name    string
		req     Request
		says    []string
		code    int
		ran     bool
		syntax  string
		imports []api.Import
		known   bool
	}{
		{"python", pythonRequest("import os"), []string{"ios\x1dmain.py\x1d1\x1fjson\x1dmain.py\x1d2", "sos"}, 126, true, api.SyntaxOK,
			[]api.Import{{Module: "json", File: "main.py", Line: 2}, osImport}, true},
		{"python that does not parse", pythonRequest("x = ="), []string{"einvalid syntax (main.py, line 1)", "s"}, 0, true, api.SyntaxError, nil, true},
		{"python that is silent", pythonRequest("1"), nil, 1, true, api.SyntaxUnknown, nil, false},
		{"javascript", nodeRequest("require('fs')"), nil, 0, true, api.SyntaxOK, []api.Import{{Module: "fs", File: "main.js", Line: 1, Blocked: true}}, true},
		{"bash", Request{Language: "bash", Code: []byte("ls")}, nil, 0, false, api.SyntaxUnknown, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := false
			got, err := New(&fakeRuntime{program: reports(&ran, c.code, c.says...)}, cfg).Check(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			if got.Syntax != c.syntax || !slices.Equal(got.Imports, c.imports) || got.ImportsKnown != c.known || ran != c.ran || got.Policy != "block" {
				t.Errorf("%+v, ran %v", got, ran)
			}
		})
	}
}

// Node is asked to parse, and nothing else.
func TestCheckOfJavaScript(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Host = fakeToolchains(t)
	var args []string
	rt := &fakeRuntime{program: func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
		args = p.Args
		_, _ = p.Stderr.Write([]byte("/workspace/main.js:1\nlet\n   ^\n\nSyntaxError: Unexpected end of input\n"))
		return sandbox.Exit{Code: 1}
	}}
	got, err := New(rt, cfg).Check(t.Context(), nodeRequest("let"))
	if err != nil || got.Syntax != api.SyntaxError || !strings.Contains(got.Message, "Unexpected end of input") || !slices.Contains(args, "--check") {
		t.Errorf("%+v, %v, %q", got, err, args)
	}
	_, err = New(&fakeRuntime{createErr: errors.New("no room")}, cfg).Check(t.Context(), nodeRequest("1"))
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a container that cannot be made: %v", err)
	}
}
