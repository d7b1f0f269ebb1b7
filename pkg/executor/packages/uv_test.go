package packages

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

var python = language.Toolchain{Language: "python", Version: "3.12.1", Program: "/usr/bin/python3.12"}

// fakeUV is a host with a uv that is not there to be run.
func fakeUV(t *testing.T) UV {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "uv"), []byte("\x7fELF"), 0o755); err != nil {
		t.Fatal(err)
	}
	return UV{Host: language.Host{Path: []string{"relative", dir}}}
}

func mustParse(t *testing.T, list ...string) []Requirement {
	t.Helper()
	all, err := ParseAll(list)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPlan(t *testing.T) {
	u := fakeUV(t)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	u.Host.Getenv = func(name string) string { return map[string]string{"SSL_CERT_FILE": bundle}[name] }
	p, err := u.Plan(python, mustParse(t, "Requests>2", "numpy"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Tools["uv"] != filepath.Join(u.Host.Path[1], "uv") || p.Tools["certificates"] != bundle {
		t.Errorf("tools %q", p.Tools)
	}
	for _, want := range []string{"UV_NO_CONFIG=1", "SSL_CERT_FILE=/installer/certificates"} {
		if !slices.Contains(p.Step.Env, want) {
			t.Errorf("%q is not in %q", want, p.Step.Env)
		}
	}
	args := strings.Join(p.Step.Args, " ")
	for _, want := range []string{"--no-build", ` -- "$@"`, "/installer/uv /usr/bin/python3.12 /build/venv https://pypi.org/simple numpy requests>2"} {
		if !strings.Contains(args, want) {
			t.Errorf("%q is not in %q", want, args)
		}
	}
}

func TestPlanWithoutUV(t *testing.T) {
	script := t.TempDir() // a version manager's
	if err := os.WriteFile(filepath.Join(script, "uv"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), script} {
		_, err := UV{Host: language.Host{Path: []string{dir}}}.find()
		if _, installed := os.Stat("/usr/local/bin/uv"); installed == nil {
			t.Skip("there is a uv that is always found")
		}
		if err == nil || !strings.Contains(err.Error(), "pip install uv") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// An environment is used again only where nothing differs that it follows from.
func TestKey(t *testing.T) {
	day := time.Date(2026, 1, 2, 23, 59, 0, 0, time.UTC)
	key := func(change func(u *UV, tc *language.Toolchain), list ...string) string {
		u, tc := fakeUV(t), python
		u.Now = func() time.Time { return day }
		if change != nil {
			change(&u, &tc)
		}
		p, err := u.Plan(tc, mustParse(t, list...))
		if err != nil {
			t.Fatal(err)
		}
		return p.Key
	}
	one := key(nil, "a>1", "B_c")
	if again := key(nil, "b.C", "A > 1", "a>1"); again != one {
		t.Error("equal requirements have two keys")
	}
	if filepath.Base(one) != one || strings.HasPrefix(one, ".") {
		t.Errorf("%q is no file name", one)
	}
	for what, other := range map[string]string{
		"the list":      key(nil, "a>1"),
		"a version":     key(nil, "a>2", "b-c"),
		"a marker":      key(nil, "a>1;os_name=='x'", "b-c"),
		"an extra":      key(nil, "a[x]>1", "b-c"),
		"the index":     key(func(u *UV, _ *language.Toolchain) { u.Index = "https://example.org/simple" }, "a>1", "b-c"),
		"Python":        key(func(_ *UV, tc *language.Toolchain) { tc.Version = "3.12.2" }, "a>1", "b-c"),
		"the program":   key(func(_ *UV, tc *language.Toolchain) { tc.Program = "/opt/python3" }, "a>1", "b-c"),
		"the day":       key(func(u *UV, _ *language.Toolchain) { u.Now = func() time.Time { return day.Add(time.Minute) } }, "a>1", "b-c"),
		"where it ends": key(nil, "a>1", "b", "c"),
	} {
		if other == one {
			t.Errorf("%s makes no difference", what)
		}
	}
}

func TestCheckIndex(t *testing.T) {
	for text, want := range map[string]string{
		DefaultIndex:                       "",
		"http://127.0.0.1:8080/simple/":    "",
		"https://[::1]:3141/root/pypi":     "",
		"":                                 "not an http",
		"pypi.org/simple":                  "not an http",
		"file:///etc":                      "not an http",
		"https:///simple":                  "not an http",
		"https://user:secret@example.org/": "password",
		"https://example.org:99999/":       "port",
		"https://example.org/?a=b":         "query",
		"https://example.org/#a":           "fragment",
	} {
		_, err := CheckIndex(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestNetwork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no name server is asked
	for index, want := range map[string]struct{ address, allow string }{
		"http://127.0.0.1:8080/simple":   {"http://host.docker.internal:8080/simple", "localhost:8080"},
		"http://localhost/simple":        {"http://host.docker.internal/simple", "localhost:80"},
		"https://10.1.2.3/simple":        {"https://10.1.2.3/simple", "10.1.2.3:443"},
		"https://example.invalid/simple": {"https://example.invalid/simple", "example.invalid:443"},
		DefaultIndex:                     {DefaultIndex, "pypi.org:443"},
	} {
		u := fakeUV(t)
		u.Index = index
		p, err := u.Plan(python, mustParse(t, "a"))
		if err != nil {
			t.Fatal(err)
		}
		policy := p.Network(ctx)
		if policy.Mode != sandbox.NetworkAllowlist || policy.AllowDNS || !slices.Contains(policy.Allow, want.allow) {
			t.Errorf("%s: %+v", index, policy)
		}
		if files := slices.Contains(policy.Allow, "files.pythonhosted.org:443"); files != (index == DefaultIndex) {
			t.Errorf("%s opens %q", index, policy.Allow)
		}
		if !slices.Contains(p.Step.Args, want.address) {
			t.Errorf("%s: %q", index, p.Step.Args)
		}
	}
}

func TestReason(t *testing.T) {
	for said, want := range map[string]string{
		"": "",
		"Using Python\nerror: No solution found when resolving dependencies\n  cause: Because there is no version of a==9\n         and you require a==9.\n\nhint: look elsewhere\n": "Because there is no version of a==9 and you require a==9.",
		"error: Request failed\n  cause: Failed to fetch: http://x/\n  cause: client error\n  cause: Connection refused (os error 111)\n":                                            "Failed to fetch: http://x/: Connection refused (os error 111)",
		"  × No solution found when resolving dependencies:\n  ╰─▶ Because a was not found\n      in the registry.\n":                                                                "Because a was not found in the registry.",
		"error: Failed to parse: `x`\n": "Failed to parse: `x`",
	} {
		if got := Reason(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
