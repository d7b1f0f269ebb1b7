package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// inContainer is the kind of unprivileged container that the tests run in, or
// empty; scripts/test-container.sh lists them.
var inContainer = os.Getenv("SANDBOX_TEST_CONTAINER")

// missing says why a language cannot be tested here, or nothing.
func missing(u user, lang string) string {
	_, err := os.Stat("/usr/bin/rustc")
	switch {
	case !u.self && lang == "rust" && err != nil:
		return "the toolchain is in root's home, which the ordinary user cannot reach"
	case os.Getenv("SANDBOX_VM_USER") != "" && slices.Contains([]string{"cpp", "ruby", "php", "lua"}, lang):
		return "the virtual machine has no " + lang
	case inContainer != "" && !slices.Contains([]string{"python", "javascript", "typescript", "go", "bash", "perl"}, lang):
		return "the container has no " + lang
	case inContainer == "hardened" && lang == "go":
		return "what is compiled cannot be executed below a noexec /tmp; TestContainer has Go"
	}
	return ""
}

// TestContainer: in an unprivileged container runs are restricted, and everything
// that speaks of it says so.
func TestContainer(t *testing.T) {
	if inContainer == "" {
		t.Skip("make test-container runs it in an unprivileged container")
	}
	t.Run("result", restrictedResult)
	t.Run("text", restrictedText)
	t.Run("full is refused", fullIsRefused)
	t.Run("a limit that nothing holds is refused", absentIsRefused)
	t.Run("doctor", restrictedDoctor)
	t.Run("walls", restrictedWalls)
	t.Run("noexec", noexec)
}

func hello(t *testing.T) api.Result {
	t.Helper()
	r, o := invocation{user: user{self: true}, args: []string{"--lang", "python", "--code", "print(42)"}}.result(t)
	if r.Status != api.StatusOK || r.Stdout != "42\n" || o.code != 0 {
		t.Fatalf("status %s, exit code %d: %s", r.Status, o.code, r.Message)
	}
	return r
}

func restrictedResult(t *testing.T) {
	r := hello(t)
	if r.Meta.IsolationLevel != "restricted" {
		t.Errorf("isolation_level %q", r.Meta.IsolationLevel)
	}
	ownID, processes := api.Absent, api.Degraded
	switch inContainer {
	case "root", "four":
		ownID, processes = api.Enforced, api.Enforced
	case "powerless":
		processes = api.Absent
	}
	walls := map[string]string{"namespaces": api.Absent, "root": api.Absent, "devices": api.Absent, "seccomp": api.Enforced, "network": api.Enforced, "uid": ownID}
	for _, wall := range []string{"cgroup", "landlock", "signals"} { // as the host's kernel has them
		walls[wall] = r.Meta.Isolation[wall]
	}
	if diff := cmp.Diff(walls, r.Meta.Isolation); diff != "" || walls["cgroup"] == api.Enforced || walls["landlock"] == api.Absent {
		t.Errorf("isolation %v: %s", r.Meta.Isolation, diff)
	}
	limits := map[string]string{
		"wall_time": api.Enforced, "open_files": api.Enforced, "cpu": api.Degraded, "cpu_time": api.Sampled,
		"memory": api.Sampled, "disk": api.Sampled, "inodes": api.Sampled, "processes": processes}
	if diff := cmp.Diff(limits, r.Meta.ResourceLimits.Enforcement); diff != "" {
		t.Errorf("enforcement: %s", diff)
	}
	warnings := strings.Join(r.Meta.Warnings, "\n")
	wanted := []string{"isolation is restricted, not full: ", "memory is sampled", "cpu is degraded", "disk is sampled", "sandbox-run doctor"}
	if processes != api.Enforced {
		wanted = append(wanted, "processes is "+processes)
	}
	for _, want := range wanted {
		if !strings.Contains(warnings, want) {
			t.Errorf("no warning says %q: %q", want, r.Meta.Warnings)
		}
	}
}

func restrictedText(t *testing.T) {
	o := sandboxRun(t, "--lang", "python", "--code", "print(42)")
	if o.stdout != "42\n" || o.code != 0 {
		t.Errorf("stdout %q, exit code %d", o.stdout, o.code)
	}
	for _, want := range []string{" · isolation restricted\n", "── warning: isolation is restricted, not full: ", "── warning: limits: "} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error does not say %q:\n%s", want, o.stderr)
		}
	}
}

// What is asked for by name is refused before anything runs, in one line that
// says what, why, and what to do.
func fullIsRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}, {"--quiet"}} {
		o := sandboxRun(t, append(args, "--isolation", "full", "--lang", "python", "--code", "print(42)")...)
		if o.code != 2 || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 ||
			!strings.HasPrefix(o.stderr, "sandbox-run: isolation full cannot be enforced here: ") || !strings.Contains(o.stderr, "--privileged") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, o.code, o.stdout, o.stderr)
		}
	}
}

// Of root without capabilities the kernel counts no processes.
func absentIsRefused(t *testing.T) {
	if inContainer != "powerless" {
		t.Skip("every limit is held here in some way")
	}
	o := sandboxRun(t, "--pids", "20", "--lang", "python", "--code", "print(42)")
	if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, "the processes limit cannot be enforced here: ") {
		t.Errorf("exit code %d, stdout %q, stderr %q", o.code, o.stdout, o.stderr)
	}
}

// doctor names the levels that are left, says of each mechanism what results say
// of it, and how to mend what does not hold.
func restrictedDoctor(t *testing.T) {
	if text := sandboxRun(t, "doctor"); text.code != 0 || !strings.HasPrefix(text.stdout, "local: can run programs at isolation restricted, none, network none, allowlist, full\n") {
		t.Errorf("exit code %d:\n%s", text.code, text.stdout)
	}
	var report struct {
		Runtimes []struct {
			Levels, Networks []string
			Mechanisms       []struct{ Name, State, Detail, Mend string }
		}
	}
	o := sandboxRun(t, "doctor", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil || len(report.Runtimes) != 1 {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	doctor := report.Runtimes[0]
	if !slices.Equal(doctor.Levels, []string{"restricted", "none"}) || !slices.Equal(doctor.Networks, []string{"none", "allowlist", "full"}) {
		t.Errorf("levels %q, networks %q", doctor.Levels, doctor.Networks)
	}
	meta := hello(t).Meta
	for _, m := range doctor.Mechanisms {
		states := meta.Isolation
		name, isLimit := strings.CutPrefix(m.Name, "limit:")
		if isLimit {
			states = meta.ResourceLimits.Enforcement
		}
		if name == "network" { // which hello has none of
			states = map[string]string{name: api.Degraded}
		}
		if m.State == "" || m.State != states[name] {
			t.Errorf("%s is %s, and %q in the result", m.Name, m.State, states[name])
		}
		if m.State != api.Enforced && m.Mend == "" && !strings.Contains(m.Detail, "needs namespaces") {
			t.Errorf("%s is %s, and nothing mends it: %s", m.Name, m.State, m.Detail)
		}
	}
	if i := slices.IndexFunc(doctor.Mechanisms, func(m struct{ Name, State, Detail, Mend string }) bool { return m.Name == "namespaces" }); i < 0 || !strings.Contains(doctor.Mechanisms[i].Mend, "--privileged") {
		t.Errorf("nothing tells how to get namespaces: %s", o.stdout)
	}
}

// The walls that are left stand: the program finds nothing that is not the
// toolchain's and makes no socket.
func restrictedWalls(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	// The path is in the source: elsewhere /tmp stands for a directory of the run.
	code := fmt.Sprintf(`
import os, socket
for name, attempt in {
    "read": lambda: open(%[1]q),
    "write": lambda: open(%[1]q, "a"),
    "list": lambda: os.listdir("/"),
    "plant": lambda: open("/tmp/planted", "w"),
    "connect": lambda: socket.socket(socket.AF_INET),
    "signal": lambda: os.kill(1, 0),
}.items():
    try:
        attempt()
        print(name, "was possible")
    except OSError:
        print(name)
`, secret)
	r, _ := invocation{user: user{self: true}, args: []string{"--lang", "python", "--code", code}}.result(t)
	want := "read\nwrite\nlist\nplant\nconnect\nsignal\n"
	if r.Meta.Isolation["signals"] != api.Enforced {
		want = strings.Replace(want, "signal\n", "signal was possible\n", 1)
	}
	if r.Stdout != want {
		t.Errorf("stdout %q: %s%s", r.Stdout, r.Stderr, r.Message)
	}
}

// Where /tmp lets nothing be executed, a compiled program says what to do, and
// that helps.
func noexec(t *testing.T) {
	if inContainer != "hardened" {
		t.Skip("/tmp of this container lets programs be executed")
	}
	i := invocation{user: user{self: true}, args: []string{"--lang", "go", "--code", "package main\nfunc main() { print(42) }"}}
	if r, o := i.result(t); o.code == 0 || !strings.Contains(r.Message, "noexec") || !strings.Contains(r.Message, "TMPDIR") {
		t.Errorf("exit code %d, message %q", o.code, r.Message)
	}
	i.env = []string{"TMPDIR=/exec"}
	if r, _ := i.result(t); r.Status != api.StatusOK || r.Stderr != "42" {
		t.Errorf("with TMPDIR=/exec: status %s, stderr %q: %s", r.Status, r.Stderr, r.Message)
	}
}

// Languages find at restricted what they need of the host and of what was prepared
// for them, although the directory that holds the latter is closed to others.
func TestRestrictedLanguages(t *testing.T) {
	hello := verdictCases()[0]
	hello.args = []string{"--isolation", "restricted"}
	for _, u := range users(t) {
		for _, lang := range slices.Sorted(maps.Keys(hello.sources)) {
			t.Run(u.name+"/"+lang, func(t *testing.T) {
				t.Parallel()
				if why := missing(u, lang); why != "" {
					t.Skip(why)
				}
				o := invocation{user: u, args: []string{"--isolation", "restricted", "--lang", lang, "--code", hello.sources[lang]}}.run(t)
				if strings.Contains(o.stderr, "private home") {
					t.Skip("the toolchain is in root's home, which the sandbox's user cannot reach")
				}
				hello.check(t, u, lang)
			})
		}
	}
}

// A user id of the sandbox's own passes, however closed to others we make files.
func TestRestrictedUmask(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			cmd := invocation{user: u, args: []string{"--isolation", "restricted", "--lang", "bash", "--code", "echo 42 > file; cat file"}}.command(t.Context())
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `umask 077; exec "$0" "$@"`}, cmd.Args...)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "42\n") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
