package cli

import (
	"flag"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var e2bAll = flag.Bool("e2b-all", false, "see every verdict in every language in sandboxes of the E2B server, which takes minutes; otherwise those of Python, and a program in each")

// In a sandbox of the test's E2B server this program is the sandbox's init and envd.
func init() {
	if code, guest := e2btest.Main(); guest {
		os.Exit(code)
	}
}

// e2bServer starts a server whose templates hold the toolchains of this machine, and
// returns it with a user of it.
func e2bServer(t *testing.T) (*e2btest.Server, user) {
	t.Helper()
	if os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" {
		t.Skip("the server needs a root of its own and the toolchains of this machine")
	}
	s := e2btest.Start(t)
	s.Holds = map[string]string{}
	for _, pattern := range []string{"/etc/alternatives", "/etc/java-*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			s.Holds[dir] = dir
		}
	}
	search := "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	for place, ask := range map[string][]string{"/opt/go": {"go", "env", "GOROOT"}, "/opt/rust": {"rustc", "--print", "sysroot"}} {
		said, err := exec.Command(ask[0], ask[1:]...).Output()
		if err != nil {
			t.Logf("the template has no %s: %v", ask[0], err)
			continue
		}
		s.Holds[place] = strings.TrimSpace(string(said))
		search = place + "/bin:" + search
	}
	s.Env = map[string]string{"PATH": search}
	s.Templates = []e2btest.Template{{TemplateID: "tid1", BuildID: "build-1", BuildStatus: "ready", Aliases: []string{"own"}}}
	return s, user{name: "e2b", self: true, env: []string{
		"SANDBOX_TYPE=e2b", "E2B_API_KEY=" + e2btest.Key, "E2B_API_URL=" + s.URL, "E2B_SANDBOX_URL=" + s.URL,
		"SANDBOX_E2B_TEMPLATE=own", "XDG_RUNTIME_DIR=" + t.TempDir(),
	}}
}

// e2bCreated counts the sandboxes that were made so far.
func e2bCreated(s *e2btest.Server) (n int) {
	for _, r := range s.Requests() {
		if r == "POST /sandboxes" {
			n++
		}
	}
	return n
}

// TestE2B: the same programs end the same way in sandboxes of a service that speaks
// E2B's protocol.
func TestE2B(t *testing.T) {
	s, u := e2bServer(t)
	facts := look(t, u)
	if m := facts.Meta; m.Runtime != "e2b" || m.Image != "own@build-1" || m.IsolationLevel != "full" || m.Cost != nil {
		t.Fatalf("%+v", facts)
	}
	for _, c := range verdictCases() {
		for _, lang := range slices.Sorted(maps.Keys(c.sources)) {
			hello := c.name == ordinaryCases()[0].name
			if !*e2bAll && (lang != "python" && !hello || lang == "go") {
				continue
			}
			t.Run(c.name+"/"+lang, func(t *testing.T) {
				t.Parallel()
				if slices.Contains(c.args, "--memory") { // the template has more, and nothing holds less
					c.e2bRefuses(t, u, lang)
					return
				}
				c.check(t, u, lang)
			})
		}
	}
	t.Run("go", func(t *testing.T) { // of which nothing but the runtime has to be compiled
		t.Parallel()
		r, o := invocation{user: u, args: []string{"--lang", "go", "--code", "package main\nfunc main() { println(6*7) }"}}.result(t)
		if r.Stderr != "42\n" || o.code != 0 {
			t.Errorf("%+v", o)
		}
	})
	t.Cleanup(func() {
		if left := s.Alive(); len(left) > 0 {
			t.Errorf("sandboxes are left: %q", left)
		}
	})
}

func (c verdictCase) e2bRefuses(t *testing.T, u user, lang string) {
	o := invocation{user: u, args: append([]string{"--lang", lang, "--code", c.sources[lang]}, c.args...)}.run(t)
	if o.code != 2 || !strings.Contains(o.stderr, "the memory limit cannot be enforced here: programs have 512 MiB, and nothing holds less") {
		t.Errorf("%+v", o)
	}
}

// TestE2BAsksOnce: a sandbox costs money, so what a template holds is asked for once
// for each of its builds; and once an hour where the build is not ours to see.
func TestE2BAsksOnce(t *testing.T) {
	s, u := e2bServer(t)
	u.env = append(u.env, "SANDBOX_DATA_DIR="+t.TempDir())
	for _, step := range []struct {
		name, image, build string
		sandboxes          int
	}{
		{"the first time", "own", "build-1", 2},
		{"again", "own", "build-1", 1},
		{"by its id", "tid1", "build-1", 1},
		{"a new build", "own", "build-2", 2},
		{"somebody else's", "base", "build-2", 2},
		{"again", "base", "build-2", 1},
		{"a tag", "own:v1", "build-2", 2},
		{"again", "own:v1", "build-2", 2},
	} {
		s.Templates[0].BuildID = step.build
		before := e2bCreated(s)
		r, o := invocation{user: u, args: []string{"--image", step.image, "--lang", "python", "--code", "print(6*7)"}}.result(t)
		if r.Stdout != "42\n" || !strings.HasPrefix(r.Meta.Image, step.image) {
			t.Errorf("%s %s: %+v", step.image, step.name, o)
		}
		if made := e2bCreated(s) - before; made != step.sandboxes && (step.image != "base" || made != 2) { // the hour may have turned
			t.Errorf("%s %s: %d sandboxes, want %d", step.image, step.name, made, step.sandboxes)
		}
	}
}

// TestE2BCost: with prices the result has an estimate, and text has none of it.
func TestE2BCost(t *testing.T) {
	_, u := e2bServer(t)
	u.env = append(u.env, "SANDBOX_E2B_PRICE_VCPU_HOUR=3600", "SANDBOX_E2B_PRICE_GIB_HOUR=7200")
	r, _ := invocation{user: u, args: []string{"--lang", "python", "--code", "import os; print(*os.environ)"}}.result(t)
	c := r.Meta.Cost
	if c == nil || c.CPUCores != 2 || c.MemoryBytes != 512<<20 || c.Seconds <= r.ExecutionTime {
		t.Fatalf("the cost is %+v of %v s", c, r.ExecutionTime)
	}
	if want := c.Seconds * (2*1 + 0.5*2); math.Abs(c.Amount-want) > want/1e6 {
		t.Errorf("the cost is %+v, want %v", c, want)
	}
	if strings.Contains(r.Stdout, "E2B") {
		t.Errorf("the program sees %s", r.Stdout)
	}
}

// TestE2BRefusals: what the service, or the way to it, refuses is one sentence that
// says what to do, and never shows the key, which this service repeats.
func TestE2BRefusals(t *testing.T) {
	s, u := e2bServer(t)
	const wrong = "e2b_fedcba9876543210"
	quota := e2btest.On("POST", "/sandboxes", 0, e2btest.Status(429, `{"code":429,"message":"too many sandboxes of `+e2btest.Key+`"}`, "Retry-After", "9"))
	for _, c := range []struct {
		name, set string
		fault     e2btest.Fault
		code      int
		says      string
		retryable string // of the result; empty: there is none
	}{
		{"no key", "E2B_API_KEY=", nil, 125, "there is no key for E2B: set E2B_API_KEY, or name the file that holds it", ""},
		{"no file", "E2B_API_KEY_FILE=/no/such/file E2B_API_KEY=", nil, 125, "open /no/such/file", ""},
		{"no address", "E2B_API_URL=ftp://x", nil, 2, "E2B_API_URL: an address begins with http:// or https://", ""},
		{"wrong key", "E2B_API_KEY=" + wrong, nil, 125, "E2B does not take the key: Invalid API key [redacted] (HTTP 401). Set E2B_API_KEY", "false"},
		{"template", "SANDBOX_E2B_TEMPLATE=no-such-template", nil, 2, "the image no-such-template cannot be used: Template 'no-such-template' not found. Name a template", ""},
		{"quota", "", quota, 125, "E2B's quota or rate limit is used up: too many sandboxes of [redacted]; try again in 9s", "true"},
		{"down", "", e2btest.Status(503, "down"), 125, "down (HTTP 503)", "true"},
		{"nobody there", "E2B_API_URL=http://127.0.0.1:1", nil, 125, "the service cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused. Look at E2B_API_URL", "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.fault != nil {
				s.Fail(c.fault)
				defer s.Heal()
			}
			u := u
			u.env = append(slices.Clone(u.env), strings.Fields(c.set)...)
			for _, format := range []string{"text", "json", "ndjson"} {
				o := invocation{user: u, args: []string{"--output", format, "--lang", "python", "--code", "print(6*7)"}}.run(t)
				all := strings.ReplaceAll(o.stdout+o.stderr, `\"`, `"`)
				if o.code != c.code || strings.Count(all, c.says) != 1 {
					t.Errorf("%s: exit code %d: %s, want %d: %s", format, o.code, all, c.code, c.says)
				}
				if strings.Contains(all, wrong) || strings.Contains(all, e2btest.Key) {
					t.Errorf("%s shows the key: %s", format, all)
				}
				if format == "json" && c.retryable != "" && !strings.Contains(all, `"retryable":`+c.retryable) {
					t.Errorf("retryable is not %s: %s", c.retryable, all)
				}
			}
		})
	}
}

// TestE2BDoctor says what the service holds, or why it cannot be used.
func TestE2BDoctor(t *testing.T) {
	s, u := e2bServer(t)
	for key, want := range map[string]string{
		e2btest.Key:            "e2b: can run programs at isolation full, network none, localhost, allowlist, full\n  enforced  vm ",
		"":                     "e2b: cannot run programs: there is no key for E2B: set E2B_API_KEY",
		"e2b_fedcba9876543210": "e2b: cannot run programs: E2B does not take the key",
	} {
		u := u
		u.env = append(slices.Clone(u.env), "E2B_API_KEY="+key)
		o := invocation{user: u, args: []string{"doctor"}}.run(t)
		if o.code != 0 || !strings.HasPrefix(o.stdout, want) || key != "" && strings.Contains(o.stdout+o.stderr, key) {
			t.Errorf("with the key %q: %+v", key, o)
		}
	}
	if n := e2bCreated(s); n != 0 {
		t.Errorf("%d sandboxes were made for that", n)
	}
}

// TestE2BLanguages: one sandbox tells of all languages, once for each build.
func TestE2BLanguages(t *testing.T) {
	s, u := e2bServer(t)
	u.env = append(u.env, "SANDBOX_DATA_DIR="+t.TempDir())
	for range 2 {
		o := invocation{user: u, args: []string{"languages"}}.run(t)
		if o.code != 0 || !regexp.MustCompile(`(?m)^python +3\.\d+\.\d+ +own `).MatchString(o.stdout) {
			t.Errorf("%+v", o)
		}
	}
	if made, left := e2bCreated(s), s.Alive(); made != 1 || len(left) > 0 {
		t.Errorf("%d sandboxes were made, and %q are left", made, left)
	}
}

// TestE2BKilled: the sandbox of a run that was stopped is deleted, and what a killed
// one has left is deleted by the next.
func TestE2BKilled(t *testing.T) {
	s, u := e2bServer(t)
	for _, sig := range []os.Signal{os.Interrupt, os.Kill} {
		i := invocation{user: u, args: []string{"--lang", "bash", "--code", "sleep 1000"}}
		cmd := i.command(t.Context())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !testenv.Within(time.Minute, func() bool { return len(s.Alive()) == 1 }) {
			t.Errorf("%d sandboxes", len(s.Alive()))
		}
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait() // it failed, of course
		if left := len(s.Alive()); sig == os.Interrupt && left > 0 {
			t.Errorf("%d sandboxes are left", left)
		}
	}
	o := invocation{user: u, args: []string{"--lang", "bash", "--code", "echo next"}}.run(t)
	if left := s.Alive(); o.code != 0 || len(left) > 0 {
		t.Errorf("%+v, and %q are left", o, left)
	}
}
