package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// Which runtimes the verdicts are seen in, beside this machine's kernel, and the
// image of those that have one. More than one is for make test-runtimes.
var (
	otherRuntimes = flag.String("runtimes", usualRuntimes(), "runtimes to test, separated by commas: an OCI runtime with flags of its own, docker=ADDRESS, podman=ADDRESS, remote, e2b")
	engineImage   = flag.String("image", os.Getenv("SANDBOX_TEST_ENGINE_IMAGE"), "the image of runtimes that have no toolchains of this machine")
)

// usualRuntimes are those of every run of the tests, which scripts/test.sh starts.
func usualRuntimes() string {
	if engine := os.Getenv("SANDBOX_TEST_ENGINE"); engine != "" {
		return "crun,docker=" + engine
	}
	return "crun"
}

// runtimeUsers are root with other runtimes: the same programs end the same way in
// them.
func runtimeUsers(t *testing.T) (list []user) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" || *otherRuntimes == "" {
		return nil
	}
	for entry := range strings.SplitSeq(*otherRuntimes, ",") {
		list = append(list, runtimeUser(t, entry))
	}
	return list
}

func runtimeUser(t *testing.T, entry string) user {
	t.Helper()
	kind, address, _ := strings.Cut(entry, "=")
	switch kind {
	case "docker", "podman":
		return user{name: kind, self: true, env: []string{"SANDBOX_DOCKER_IMAGE=" + *engineImage, "SANDBOX_TYPE=docker", "DOCKER_HOST=" + address}}
	case "e2b":
		_, u := e2bServer(t)
		return u
	case "remote":
		return user{name: kind, self: true, env: []string{"SANDBOX_TYPE=remote", "SANDBOX_REMOTE=" + anotherServer(t)}}
	}
	name, _, _ := strings.Cut(entry, " ")
	return user{name: name, self: true, needs: name, env: []string{"SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=" + entry}}
}

// anotherServer starts a sandbox-server and returns its address.
func anotherServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := testenv.Program(filepath.Dir(binary), "sandbox-server", "SANDBOX_TEST_SERVER")
	if err != nil {
		t.Fatal(err)
	}
	s, err := testenv.Launch(program, nil, "SANDBOX_DATA_DIR="+dir, "SANDBOX_WARM=auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

// installed skips where a program is not there that the user needs.
func (u user) installed(t *testing.T) {
	t.Helper()
	if u.needs == "" {
		return
	}
	if _, err := exec.LookPath(u.needs); err != nil {
		t.Skipf("%s is not installed", u.needs)
	}
}

// TestFallback: what cannot be used is an error, or another runtime that says so;
// and never less than was asked for by name.
func TestFallback(t *testing.T) {
	missing := []string{"SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=/no/such/runtime"}
	program := []string{"--lang", "bash", "--code", "echo ran"}
	o := invocation{user: user{self: true}, env: missing, args: program}.run(t)
	if o.code != 125 || o.stdout != "" || !strings.Contains(o.stderr, "/no/such/runtime") {
		t.Errorf("%+v", o)
	}
	fallback := append(missing, "SANDBOX_FALLBACK=local")
	r, o := invocation{user: user{self: true}, env: fallback, args: program}.result(t)
	if o.code != 0 || r.Stdout != "ran\n" || r.Meta.Runtime != "local" || len(r.Meta.Warnings) == 0 || !strings.Contains(r.Meta.Warnings[0], "runtime oci cannot be used, so local runs this") {
		t.Errorf("%+v: %+v", o, r)
	}
	o = invocation{user: user{self: true}, env: []string{"SANDBOX_TYPE=auto", "SANDBOX_OCI_RUNTIME=/no/such/runsc"}, args: append(program, "--output", "raw")}.run(t)
	if o.code != 0 || o.stdout != "ran\n" {
		t.Errorf("auto: %+v", o)
	}
}

// What is not there, or not set up, is one sentence that says what to do; the
// fallback tells why it was needed.
func TestRuntimesThatCannotBeUsed(t *testing.T) {
	for kind, c := range map[string]struct {
		env   []string
		want  string
		lines int // beside one
	}{
		"docker": {[]string{"DOCKER_HOST=unix:///no/such/socket"}, "cannot reach the Docker engine at unix:///no/such/socket: nobody answers there. Start it", 0},
		"e2b":    {[]string{"E2B_API_KEY="}, "there is no key for E2B: set E2B_API_KEY", 0},
		"remote": {[]string{"SANDBOX_REMOTE=http://127.0.0.1:1"}, "no other server can run this: http://127.0.0.1:1: no answer", 1},
		"oci":    {[]string{"SANDBOX_OCI_RUNTIME=/no/such/runtime"}, "/no/such/runtime", 0},
	} {
		t.Run(kind, func(t *testing.T) {
			args := []string{"--runtime", kind, "--lang", "bash", "--code", "echo ran"}
			o := invocation{user: user{self: true}, env: c.env, args: args}.run(t)
			if o.code != 125 || o.stdout != "" || !strings.Contains(o.stderr, c.want) || strings.Count(strings.TrimSpace(o.stderr), "\n") > c.lines {
				t.Errorf("%+v, want %q", o, c.want)
			}
		})
	}
}

// An address that is none is a mistake of who has set it.
func TestAddressesThatAreNone(t *testing.T) {
	for kind, c := range map[string]struct{ env, want string }{
		"e2b":    {"E2B_SANDBOX_URL=https:/x", "sandbox-run: E2B_SANDBOX_URL: an address begins with http:// or https://, and a host follows\n"},
		"remote": {"SANDBOX_REMOTE=https://a ftp://x", "sandbox-run: SANDBOX_REMOTE: server 2: its URL is none of http://HOST:PORT, https://HOST and unix:///PATH\n"},
	} {
		o := invocation{user: user{self: true}, env: []string{c.env, "E2B_API_KEY=e2b_0"}, args: []string{"--runtime", kind, "--lang", "bash", "--code", "echo ran"}}.run(t)
		if o.code != 2 || o.stdout != "" || o.stderr != c.want {
			t.Errorf("%+v, want %q", o, c.want)
		}
	}
}

// TestOCIRefuses what its containers cannot hold, before anything runs.
func TestOCIRefuses(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" {
		t.Skip("OCI runtimes are driven as root")
	}
	u := runtimeUser(t, "crun")
	u.installed(t)
	for flag, want := range map[string]string{
		"--isolation=restricted": "isolation restricted cannot be enforced here",
		"--on-disk":              "a workspace on disk cannot be enforced here",
	} {
		o := invocation{user: u, args: []string{flag, "--lang", "bash", "--code", "echo ran"}}.run(t)
		if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, want) || strings.Count(strings.TrimSpace(o.stderr), "\n") > 0 {
			t.Errorf("%s: %+v", flag, o)
		}
	}
}

// refuses tells whether a runtime that does not hold a limit says so, which is what
// it is to do when the limit is asked for by name.
func (c verdictCase) refuses(t *testing.T, u user, lang string, enforcement map[string]string) bool {
	t.Helper()
	flags := map[string]string{"--memory": "memory", "--pids": "processes", "--cpu-time": "cpu_time", "--disk": "disk", "--timeout": "wall_time"}
	held := func(limit string) bool {
		weak := u.name == "e2b" && limit == "memory" // which is the template's
		return enforcement[limit] != "absent" && !weak
	}
	i := slices.IndexFunc(c.args, func(arg string) bool { return flags[arg] != "" && !held(flags[arg]) })
	if i < 0 {
		return false
	}
	args := append([]string{"--lang", lang, "--code", c.sources[lang]}, c.args...)
	o := invocation{user: u, args: args, stdin: c.stdin}.run(t)
	if o.code != 2 || !strings.Contains(o.stderr, "cannot be enforced here") {
		t.Errorf("%s is not held, and not refused: %+v", c.args[i], o)
	}
	return true
}

// languagesOf are those that an image has; nil means this machine's.
func languagesOf(t *testing.T, u user) map[string]bool {
	t.Helper()
	if !slices.Contains(u.env, "SANDBOX_TYPE=docker") {
		return nil
	}
	have := map[string]bool{}
	for _, tc := range listed(t, invocation{user: u, args: []string{"languages", "--json"}}.run(t)) {
		have[tc.Name] = have[tc.Name] || tc.Available
	}
	if !have["python"] {
		t.Fatalf("the image %s has no Python", *engineImage)
	}
	return have
}
