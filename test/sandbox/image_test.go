package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// image is what scripts/test-image.sh has built, kind the way to start it, and
// options what docker is told for that.
var (
	image   = os.Getenv("SANDBOX_TEST_IMAGE")
	kind    = os.Getenv("SANDBOX_TEST_KIND")
	options = strings.Fields(os.Getenv("SANDBOX_TEST_OPTIONS"))
)

func needImage(t *testing.T) {
	t.Helper()
	if image == "" {
		t.Skip("make test-image runs it against the image")
	}
}

// docker calls it and returns what it prints.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %q: %v: %s", args, err, out)
	}
	return string(out)
}

// box is a container of the image. It has no network: what asks it is inside.
type box struct{ name, key string }

// boxed starts the image, with further options, and waits until it is healthy.
func boxed(t *testing.T, more ...string) *box {
	t.Helper()
	b := &box{name: fmt.Sprintf("%s-%d", os.Getenv("SANDBOX_TEST_LABEL"), time.Now().UnixNano())}
	args := append([]string{"run", "--detach", "--name", b.name, "--label", os.Getenv("SANDBOX_TEST_LABEL"), "--network", "none", "--health-interval", "1s"}, options...)
	docker(t, slices.Concat(args, more, []string{image + ":server"})...)
	t.Cleanup(func() {
		if t.Failed() {
			logs, _ := exec.Command("docker", "logs", b.name).CombinedOutput()
			t.Logf("the log of the server:\n%.20000s", logs)
		}
		if out, err := exec.Command("docker", "rm", "--force", "--volumes", b.name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	b.healthy(t)
	keys := regexp.MustCompile(`(?m)^sbx_\S+$`).FindAllString(b.logs(t), -1)
	if len(keys) != 1 {
		t.Fatalf("the first start shows the keys %q", keys)
	}
	b.key = keys[0]
	return b
}

func (b *box) logs(t *testing.T) string { t.Helper(); return docker(t, "logs", b.name) }

func (b *box) state(t *testing.T) (s struct {
	Running               bool
	ExitCode              int
	OOMKilled             bool
	StartedAt, FinishedAt string
	Health                struct{ Status string }
}) {
	t.Helper()
	if err := json.Unmarshal([]byte(docker(t, "inspect", "--format", "{{json .State}}", b.name)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *box) healthy(t *testing.T) {
	t.Helper()
	until(t, "it is healthy", func() bool {
		s := b.state(t)
		if !s.Running {
			t.Fatalf("it has ended: %+v\n%s", s, b.logs(t))
		}
		return s.Health.Status == "healthy"
	})
}

// ask sends a request from inside. The body, if there is one, is JSON.
func (b *box) ask(t *testing.T, path string, body any) answer {
	t.Helper()
	const program = `import sys, urllib.request, urllib.error
path, key = sys.argv[1:]
body = sys.stdin.buffer.read() or None
request = urllib.request.Request("http://127.0.0.1:8080" + path, body, {"Content-Type": "application/json"})
if key:
    request.add_header("Authorization", "Bearer " + key)
try:
    answer = urllib.request.urlopen(request, timeout=120)
except urllib.error.HTTPError as e:
    answer = e
print(answer.status, answer.headers["Content-Type"])
sys.stdout.flush()
sys.stdout.buffer.write(answer.read())
`
	cmd := exec.CommandContext(t.Context(), "docker", "exec", "--interactive", b.name, "python3", "-c", program, path, b.key)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(text)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	head, content, _ := bytes.Cut(out, []byte("\n"))
	status, kind, _ := strings.Cut(string(head), " ")
	code, err := strconv.Atoi(status)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: code, header: map[string][]string{"Content-Type": {kind}}, body: content}
}

func (b *box) run(t *testing.T, req api.Request) api.Result {
	t.Helper()
	return b.ask(t, "/execute", req).result(t)
}

// promised is the level that the guide promises for each way to start the image.
func promised() string {
	if kind == "full" {
		return "full"
	}
	return "restricted"
}

// What the image says of itself is what engines and orchestrators act on.
func TestImageConfiguration(t *testing.T) {
	needImage(t)
	var c struct {
		User                  string
		Entrypoint            []string
		ExposedPorts, Volumes map[string]struct{}
		Healthcheck           struct{ Test []string }
	}
	if err := json.Unmarshal([]byte(docker(t, "image", "inspect", "--format", "{{json .Config}}", image+":server")), &c); err != nil {
		t.Fatal(err)
	}
	_, port := c.ExposedPorts["8080/tcp"]
	_, data := c.Volumes["/var/lib/sandbox-run"]
	if c.User != "10001:10001" || !port || !data || !slices.Equal(c.Entrypoint, []string{"sandbox-server"}) ||
		!slices.Equal(c.Healthcheck.Test, []string{"CMD", "sandbox-server", "healthcheck"}) {
		t.Errorf("%+v", c)
	}
	for program, want := range map[string]bool{"sandbox-server": true, "sandbox-run": true, "uv": true, "python3": true, "go": false, "gcc": false} {
		err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network", "none", "--entrypoint", "/bin/sh", image+":server", "-c", "command -v "+program).Run()
		if (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", program, err == nil, want)
		}
	}
}

// The image lives as a service does: it is healthy, asks for its key, runs programs
// as isolated as it can be here, ends when it is told to, and keeps its key.
func TestImage(t *testing.T) {
	needImage(t)
	b := boxed(t)
	t.Run("key", func(t *testing.T) {
		if a := (&box{name: b.name}).ask(t, "/execute", api.Request{Code: "1"}); a.status != 401 {
			t.Errorf("without a key: %d %s", a.status, a.body)
		}
	})
	t.Run("level", b.testLevel)
	t.Run("memory", func(t *testing.T) {
		r := b.run(t, api.Request{Code: "x = bytearray(300 << 20)", Limits: &api.RequestLimits{MemoryMB: 64}})
		if r.Status != api.StatusMemoryLimit {
			t.Errorf("%s %s %s", r.Status, r.Message, r.Stderr)
		}
	})
	t.Run("files", func(t *testing.T) {
		r := b.run(t, api.Request{Code: "open('b', 'w').write(open('a').read().upper())", Files: map[string]api.InputFile{"a": {Content: "x"}}})
		if r.Files["b"].Content != "X" {
			t.Errorf("%+v %s", r.Files, r.Stderr)
		}
	})
	t.Run("network", func(t *testing.T) {
		r := b.run(t, api.Request{Network: &api.RequestNetwork{Allow: []string{"example.org:443"}}, Code: "import socket\ntry: socket.create_connection(('169.254.169.254', 80)).recv(1)\nexcept OSError as e: print('refused')"})
		if r.Stdout != "refused\n" || len(r.Meta.Violations) != 1 || !strings.Contains(r.Meta.Violations[0], "169.254.169.254:80 refused") {
			t.Errorf("%s %q %q %q", r.Status, r.Stdout, r.Stderr, r.Meta.Violations)
		}
	})
	t.Run("health", func(t *testing.T) {
		if out, err := exec.CommandContext(t.Context(), "docker", "exec", "--env", "SANDBOX_PORT=9", b.name, "sandbox-server", "healthcheck").CombinedOutput(); err == nil {
			t.Errorf("where nothing listens: %s", out)
		}
		if h := decode[api.Health](t, b.ask(t, "/health", nil).body); h.Languages["python"] == "" || h.Runtimes["local"] != promised() {
			t.Errorf("%+v", h)
		}
	})
	t.Run("nothing is left", func(t *testing.T) {
		until(t, "no process of a run is there", func() bool {
			left := docker(t, "exec", b.name, "python3", "-c", "import glob\nfor p in glob.glob('/proc/[0-9]*/stat'):\n  try: print(*open(p).read().split()[1:3])\n  except OSError: pass")
			return strings.Count(left, "(python3)") == 1 && !strings.Contains(left, ") Z") // the one that looks
		})
	})
	t.Run("end", b.testEnd)
}

// Every wall and limit that is weaker here than elsewhere is said to be.
func (b *box) testLevel(t *testing.T) {
	r := b.run(t, api.Request{Code: "import os; print(os.getuid())"})
	if r.Meta.IsolationLevel != promised() || r.Meta.Isolation["seccomp"] != api.Enforced {
		t.Errorf("%s %v", r.Meta.IsolationLevel, r.Meta.Isolation)
	}
	if own := kind == "root"; own != (r.Meta.Isolation["uid"] == api.Enforced) {
		t.Errorf("uid is %s", r.Meta.Isolation["uid"])
	}
	if kind == "full" {
		return
	}
	if own := r.Stdout != "10001\n"; own != (kind == "root") {
		t.Errorf("it is user %s", r.Stdout)
	}
	for _, limit := range []string{"memory", "disk"} {
		if r.Meta.ResourceLimits.Enforcement[limit] != api.Sampled {
			t.Errorf("%s is %s", limit, r.Meta.ResourceLimits.Enforcement[limit])
		}
	}
	if !slices.ContainsFunc(r.Meta.Warnings, func(w string) bool { return strings.Contains(w, "restricted, not full") }) {
		t.Errorf("warnings %q", r.Meta.Warnings)
	}
}

func (b *box) testEnd(t *testing.T) {
	docker(t, "stop", "--time", "45", b.name)
	if s := b.state(t); s.ExitCode != 0 || !strings.Contains(b.logs(t), "draining") {
		t.Errorf("%+v\n%s", s, b.logs(t))
	}
	docker(t, "start", b.name)
	b.healthy(t)
	if n := strings.Count(b.logs(t), "sbx_"); n != 1 {
		t.Errorf("%d keys were shown", n)
	}
	if r := b.run(t, api.Request{Code: "print(6*7)"}); r.Stdout != "42\n" {
		t.Errorf("%s %s", r.Status, r.Message)
	}
}

// Packages are installed in the image as it is, from an index that the operator
// names.
func TestImageRequirements(t *testing.T) {
	needImage(t)
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"simple/demo-pkg/index.html":    []byte(`<a href="/demo_pkg-1.0-py3-none-any.whl">demo_pkg-1.0-py3-none-any.whl</a>`),
		"demo_pkg-1.0-py3-none-any.whl": wheel(t, "demo_pkg", "answer = 42\ndef main(): pass\n"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) { // the image's user must pass
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := boxed(t, "--volume", dir+":/index:ro", "--env", "SANDBOX_PYTHON_INDEX=http://localhost:8000/simple")
	docker(t, "exec", "--detach", b.name, "python3", "-m", "http.server", "--directory", "/index", "--bind", "127.0.0.1", "8000")
	r := b.run(t, api.Request{Requirements: []string{"demo-pkg==1.0"}, Code: "import demo_pkg; print(demo_pkg.answer)"})
	if r.Stdout != "42\n" || len(r.Phases) != 2 {
		t.Fatalf("%s %s %q", r.Status, r.Message, r.Stderr)
	}
	docker(t, "restart", "--time", "45", b.name) // and the index is gone
	b.healthy(t)
	if r := b.run(t, api.Request{Requirements: []string{"demo-pkg==1.0"}, Code: "import demo_pkg; print(demo_pkg.answer)"}); r.Stdout != "42\n" || len(r.Phases) != 1 {
		t.Errorf("again: %d phases, %s %s %q", len(r.Phases), r.Status, r.Message, r.Stderr)
	}
}

// Where runs take more memory than the container has, they die and the server does
// not, although each of their processes is smaller.
func TestImageOutOfMemory(t *testing.T) {
	needImage(t)
	b := boxed(t, "--memory", "300m", "--memory-swap", "300m", "--env", "SANDBOX_TOTAL_MEMORY_MB=1024")
	before := b.state(t).StartedAt
	a := b.ask(t, "/execute", api.Request{Limits: &api.RequestLimits{MemoryMB: 1000}, TimeoutSeconds: 5, Code: `
import os, time
for _ in range(60):
    if os.fork() == 0:
        x = b"x" * (10 << 20)
        time.sleep(10)
time.sleep(10)
`})
	if a.status >= 500 && !bytes.Contains(a.body, []byte("sandbox-error")) {
		t.Errorf("%d %s", a.status, a.body)
	}
	b.healthy(t)
	if after := b.state(t).StartedAt; after != before {
		t.Errorf("it was started at %s, and again at %s", before, after)
	}
	if r := b.run(t, api.Request{Code: "print(6*7)", Limits: &api.RequestLimits{MemoryMB: 64}}); r.Stdout != "42\n" {
		t.Errorf("%s %s", r.Status, r.Message)
	}
}

// The guide, and the example of Compose, start the image in the ways that are
// tested.
func TestImageDocumentation(t *testing.T) {
	needImage(t)
	if kind != "hardened" {
		text := strings.Join(strings.Fields(strings.ReplaceAll(testenv.ReadFile(t, guide), "\\\n", " ")), " ")
		want := strings.Join(options, " ")
		want = regexp.MustCompile(`--cap-add=`).ReplaceAllString(want, "--cap-add ")
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", guide, want)
		}
		return
	}
	for _, option := range composeOptions(t) {
		if !slices.Contains(options, option) {
			t.Errorf("deploy/compose.yaml has %s, and the test %q", option, options)
		}
	}
}

// composeOptions are those of the example, as docker run has them.
func composeOptions(t *testing.T) (found []string) {
	t.Helper()
	var file struct {
		Services map[string]struct {
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
			ReadOnly    bool     `yaml:"read_only"`
			Tmpfs       []string
			Memory      string `yaml:"mem_limit"`
			Pids        int    `yaml:"pids_limit"`
		}
	}
	if err := yaml.Unmarshal([]byte(testenv.ReadFile(t, "deploy/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	s := file.Services["sandbox"]
	found = append(slices.Concat(s.CapDrop, s.SecurityOpt, s.Tmpfs), s.Memory, strconv.Itoa(s.Pids))
	if !s.ReadOnly {
		t.Errorf("%+v", s)
	}
	return found
}
