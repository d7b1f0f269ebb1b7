package sandbox

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	remote "github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// sandboxRun is the command line, built once; SANDBOX_TEST_BINARY names one that
// exists. It stays beside the server's data.
var sandboxRun = sync.OnceValues(func() (string, error) {
	return testenv.Program(filepath.Dir(dataDir), "sandbox-run", "SANDBOX_TEST_BINARY")
})

// call is one call of sandbox-run.
type call struct {
	*exec.Cmd
	stdout, stderr output
}

// output is what a program has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// calling prepares a call, as a user who has set nothing of ours; settings are of
// its environment.
func calling(t *testing.T, args []string, settings ...string) *call {
	t.Helper()
	program, err := sandboxRun()
	if err != nil {
		t.Fatal(err)
	}
	c := &call{Cmd: exec.CommandContext(t.Context(), program, args...)}
	c.Env = append(testenv.Environ("SANDBOX_DATA_DIR="+dataDir, "GREETING=hello"), settings...)
	c.Cmd.Stdout, c.Cmd.Stderr = &c.stdout, &c.stderr
	return c
}

func (c *call) code(t *testing.T) int {
	t.Helper()
	err := c.Wait()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

func (c *call) begin(t *testing.T) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
}

// cli calls sandbox-run on this server, with an input.
func (s *instance) cli(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := calling(t, append([]string{"--server", s.URL}, args...))
	c.Stdin = strings.NewReader(stdin)
	c.begin(t)
	code = c.code(t)
	return c.stdout.String(), c.stderr.String(), code
}

func (s *instance) client(t *testing.T, key string) *remote.Client {
	t.Helper()
	c, err := remote.New(s.URL, remote.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestClient(t *testing.T) {
	t.Parallel()
	c := shared.client(t, "")
	large := make([]byte, 13<<20) // too large for a body in base64
	large[0] = 0xff
	req := api.Request{Code: "import sys; print('🦀', len(open('ü/large.bin','rb').read()), input())", Stdin: "é",
		Files: map[string]api.InputFile{"ü/large.bin": {Content: base64.StdEncoding.EncodeToString(large), Encoding: api.EncodingBase64}}}
	r, err := c.Execute(t.Context(), req)
	if want := fmt.Sprintf("🦀 %d é\n", len(large)); err != nil || r.Stdout != want {
		t.Errorf("%+v %v, want %q", r, err, want)
	}
	var streamed string
	r, err = c.Stream(t.Context(), req, func(e api.Event) error {
		if e.Type == api.EventStdout {
			streamed += e.Data
		}
		return nil
	})
	if err != nil || r.Stdout != streamed || streamed == "" {
		t.Errorf("%+v %v, streamed %q", r, err, streamed)
	}
	for name, req := range map[string]api.Request{remote.TypeLanguage: {Language: "nothing", Code: "1"}, "urn:sandbox-run:problem:invalid": {Code: "1", TimeoutSeconds: 301}} {
		_, err := c.Execute(t.Context(), req)
		if refused, ok := errors.AsType[*remote.Error](err); !ok || refused.Problem.Type != name || refused.Problem.Status != 422 || refused.Problem.RequestID == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h, err := c.Health(t.Context()); err != nil || h.Status != "ok" || h.Languages["python"] == "" {
		t.Errorf("%+v %v", h, err)
	}
	if all, err := c.Languages(t.Context()); err != nil || len(all) < 5 {
		t.Errorf("%+v %v", all, err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// To cancel a call ends its run.
func TestClientCancels(t *testing.T) {
	s := started(t)
	c := s.client(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Execute(ctx, api.Request{Language: "bash", Code: "trap '' TERM; sleep 1000", TimeoutSeconds: 300})
		failed <- err
	}()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	until(t, "it has ended", func() bool { return s.health(t).Load == 0 })
}

// varying is what differs between two runs of one program.
var varying = regexp.MustCompile(`\d+(\.\d+)? ([mµ]?s|B|[KMG]iB)\b|"(id|t|seq|execution_time|memory_used|setup_s|collect_s|queue_s|\w+_time_s|\w+_bytes|\w+_s|processes_peak|page_faults|context_switches|observed|warm)":("\w+"|[\d.e+-]+|null|true|false)|,"warnings":\[[^]]*\]|[^\n]*── warning: [^\n]*\n`)

// elsewhere is what stands before a path of the world inside at isolation
// restricted, or the number of a process in what bash says.
var elsewhere = regexp.MustCompile(`/[^\s"]*/sandbox-run-i[0-9a-f]{4}-[0-9a-f]{16}/[^/]+(/workspace|/tmp)|(line 1:) +\d+ `)

// withoutFigures is an output without figures, and without events that come by the
// clock.
func withoutFigures(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if !strings.Contains(line, `"type":"metrics"`) && !strings.Contains(line, `"type":"heartbeat"`) {
			lines = append(lines, line)
		}
	}
	return varying.ReplaceAllString(elsewhere.ReplaceAllString(strings.Join(lines, ""), "$1$2"), "#")
}

// A run on a server looks like one here, in every format and however it ends.
func TestServerRunIsLikeALocalOne(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"proj/main.py": "import ü; print(ü.x)", "proj/ü.py": "x = '🦀'", "in.txt": "größe\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	py := func(code string, more ...string) []string {
		return append([]string{"-l", "python", "--code", code}, more...)
	}
	full := 1
	if restricted(t) {
		full = 128 + int(syscall.SIGXFSZ) // each file has the limit there, and not their file system
	}
	for name, c := range map[string]struct {
		args  []string
		stdin string
		code  int // -1: whatever this host makes of it
	}{
		"ok":              {py("import sys; print('héllo 🦀', sys.argv[1:]); print('err', file=sys.stderr)", "--", "a b", "🦀"), "", 0},
		"quiet":           {py("print(1)", "-q"), "", 0},
		"raw":             {py("import sys; sys.stdout.buffer.write(b'a\\xff\\x00'); sys.stderr.write('e')", "-o", "raw"), "", 0},
		"json":            {py("import sys; sys.stdout.buffer.write(b'a\\xff<>')", "--json"), "", 0},
		"ndjson":          {py("print(1)", "-o", "ndjson"), "", 0},
		"standard input":  {py("print(input())", "--stdin", "-"), "größe\n", 0},
		"input file":      {py("print(input())", "--stdin", filepath.Join(dir, "in.txt")), "", 0},
		"source by pipe":  {[]string{"-l", "js"}, "console.log(6*7)", 0},
		"project":         {[]string{filepath.Join(dir, "proj")}, "", 0},
		"environment":     {py("import os; print(os.environ['A'], os.environ['GREETING'])", "--env", "A=é=b", "--env", "GREETING"), "", 0},
		"exit code":       {py("print('before'); raise SystemExit(7)"), "", 7},
		"uncaught":        {py("1/0"), "", 1},
		"syntax":          {py("def"), "", 1},
		"compile error":   {[]string{"-l", "c", "--code", "int main(void) { return x; }"}, "", 1},
		"compile, raw":    {[]string{"-o", "raw", "-l", "c", "--code", "int main(void) { return x; }"}, "", 1},
		"signal":          {[]string{"-l", "bash", "--code", "kill -SEGV $$"}, "", 139},
		"timeout":         {py("print('before', flush=True)\nwhile True: pass", "--timeout", "500ms", "-q"), "", 124},
		"cpu":             {py("while True: pass", "--cpu-time", "300ms", "-q"), "", 124},
		"memory":          {py("x = bytearray(200 << 20)", "--memory", "64m", "-q"), "", 137},
		"output":          {py("while True: print('x')", "--max-stream", "100", "-q"), "", 137},
		"disk":            {[]string{"-q", "--disk", "1m", "-l", "bash", "--code", "head -c 2m /dev/zero > big"}, "", full},
		"cut":             {py("print('0123456789')", "--max-output", "4"), "", 0},
		"kept":            {py("print('0123456789' * 10)", "--max-output", "4", "--json"), "", 0},
		"loopback":        {py("import socket; socket.create_server(('127.0.0.1', 8000)); print('up')", "--network", "localhost"), "", -1},
		"a level":         {py("print(1)", "--isolation", "full"), "", -1},
		"files in JSON":   {py("open('é.txt','w').write('ü')", "--json"), "", 0},
		"no such version": {[]string{"-l", "python@1.5", "--code", "1"}, "", 127},
	} {
		t.Run(name, func(t *testing.T) {
			here := calling(t, c.args)
			here.Stdin = strings.NewReader(c.stdin)
			here.begin(t)
			local := here.code(t)
			stdout, stderr, code := shared.cli(t, c.stdin, c.args...)
			if code != local || c.code >= 0 && code != c.code {
				t.Errorf("exit code %d, here %d, want %d\n%s\n%s", code, local, c.code, stdout, stderr)
			}
			for _, got := range [][2]string{{here.stdout.String(), stdout}, {here.stderr.String(), strings.ReplaceAll(stderr, "the server says: ", "")}} {
				if want, got := withoutFigures(got[0]), withoutFigures(got[1]); got != want {
					t.Errorf("on the server:\n%s\nhere:\n%s", got, want)
				}
			}
		})
	}
}

func TestServerFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(filepath.Join(dir, "größe.bin"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := shared.cli(t, "", "-l", "python", "--in", filepath.Join(dir, "größe.bin")+":in/größe.bin", "--out", filepath.Join(dir, "out"), "--collect", "made/**", "--code",
		"import os\nos.mkdir('made')\nopen('made/ü.bin','wb').write(open('in/größe.bin','rb').read()[::-1])\nopen('made/run','w').write('1')\nos.chmod('made/run', 0o700)\nopen('left','w')")
	if code != 0 || !strings.Contains(stderr, "2 files (3 MiB) written") {
		t.Fatalf("%d %s", code, stderr)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out/made/ü.bin"))
	if err != nil || len(got) != len(data) || got[0] != data[len(data)-1] {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(filepath.Join(dir, "out/made/run")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out/left")); err == nil {
		t.Error("what was not asked for has come")
	}
}

// What the server refuses is the user's mistake or not, and says so.
func TestServerRefusals(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	web := httptest.NewServer(nil)
	defer web.Close()
	code := []string{"-l", "python", "--code", "print(1)"}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"over a ceiling": {[]string{"--server", shared.URL, "--timeout", "301s"}, 2, "300s"},
		"unreachable":    {[]string{"--server", gone.URL}, 125, "no answer from " + gone.URL + ": .*connection refused"},
		"a web server":   {[]string{"--server", web.URL}, 125, "as no sandbox-server does"},
		"no URL":         {[]string{"--server", "localhost:8080"}, 2, "http://HOST:PORT"},
		"no socket":      {[]string{"--server", "unix:///nowhere/sock"}, 125, "no such file"},
		"a terminal":     {[]string{"--server", shared.URL, "--tty"}, 2, "--tty needs a run on this machine"},
		"binary input":   {[]string{"--server", shared.URL, "--stdin", "/proc/self/exe"}, 2, "--in"},
	} {
		run := calling(t, append(c.args, code...))
		run.begin(t)
		if got := run.code(t); got != c.code || !regexp.MustCompile(`^sandbox-run: .*`+c.says).MatchString(run.stderr.String()) || run.stdout.String() != "" {
			t.Errorf("%s: exit code %d, want %d: %s", name, got, c.code, run.stderr.String())
		}
	}
}

func TestServerKey(t *testing.T) {
	const right, wrong = "the-right-key-of-this-test", "the-wrong-key-of-this-test"
	s := started(t, "SANDBOX_DATA_DIR="+t.TempDir(), "SANDBOX_API_KEY="+right)
	for key, want := range map[string]int{"": 2, wrong: 2, right: 0} {
		run := calling(t, []string{"--server", s.URL, "-l", "bash", "--code", "echo in"}, "SANDBOX_API_KEY="+key)
		run.begin(t)
		if code := run.code(t); code != want || code == 2 && !strings.Contains(run.stderr.String(), "SANDBOX_API_KEY") {
			t.Errorf("%q: exit code %d: %s", key, code, run.stderr.String())
		}
		if strings.Contains(run.stdout.String()+run.stderr.String()+s.Logged(), "key-of-this-test") {
			t.Errorf("%q is shown", key)
		}
	}
	_, err := s.client(t, wrong).Execute(t.Context(), api.Request{Code: "1"})
	if refused, ok := errors.AsType[*remote.Error](err); !ok || refused.Problem.Status != 401 || strings.Contains(err.Error(), wrong) {
		t.Error(err)
	}
}

// A full server says when to come back.
func TestServerIsFull(t *testing.T) {
	s := started(t, "SANDBOX_MAX_CONCURRENT=1")
	first := calling(t, []string{"--server", s.URL, "-l", "bash", "--code", "sleep 100"})
	first.begin(t)
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	_, stderr, code := s.cli(t, "", "-l", "bash", "--code", "true")
	if code != 125 || !regexp.MustCompile(`^sandbox-run: the server says: .*; try again in \d+s\n$`).MatchString(stderr) {
		t.Errorf("%d %s", code, stderr)
	}
	_, err := s.client(t, "").Execute(t.Context(), api.Request{Code: "1"})
	if refused, ok := errors.AsType[*remote.Error](err); !ok || refused.Problem.Type != remote.TypeCapacity || refused.RetryAfter < time.Second {
		t.Errorf("%+v", err)
	}
	_ = first.Process.Signal(syscall.SIGTERM)
	first.code(t)
}

// A signal ends the run on the server; what it had written is in the result.
func TestServerRunIsCancelled(t *testing.T) {
	s := started(t)
	for _, c := range []struct {
		signal syscall.Signal
		format string
		code   int
	}{{syscall.SIGINT, "json", 130}, {syscall.SIGTERM, "ndjson", 143}, {syscall.SIGTERM, "text", 143}} {
		run := calling(t, []string{"--server", s.URL, "-o", c.format, "-l", "bash", "--code", "trap '' TERM; echo before; sleep 100"})
		run.begin(t)
		until(t, "it runs", func() bool { return s.health(t).Load == 1 })
		if c.format != "json" { // which says nothing before the end
			until(t, "its words are here", func() bool { return strings.Contains(run.stdout.String(), "before") })
		}
		_ = run.Process.Signal(c.signal)
		if code := run.code(t); code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.format, code, c.code)
		}
		out := run.stdout.String()
		if c.format == "text" {
			if out != "before\n" || !strings.Contains(run.stderr.String(), "── cancelled · SIGKILL") {
				t.Errorf("%q %q", out, run.stderr.String())
			}
		} else if r := resultOf(t, out); r.Status != api.StatusCancelled || c.format == "ndjson" && r.Stdout != "before\n" {
			t.Errorf("%s: %+v", c.format, r)
		}
		until(t, "it has ended", func() bool { return s.health(t).Load == 0 })
	}
}

// resultOf is the result in JSON output, or in its last line.
func resultOf(t *testing.T, out string) api.Result {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := []byte(lines[len(lines)-1])
	var e api.Event
	if err := json.Unmarshal(last, &e); err == nil && e.Result != nil {
		return *e.Result
	}
	return decode[api.Result](t, last)
}

// A server that dies takes its runs along, and that is no fault of the program's.
func TestServerDies(t *testing.T) {
	s := started(t)
	run := calling(t, []string{"--server", s.URL, "-o", "ndjson", "-l", "bash", "--code", "echo before; sleep 100"})
	run.begin(t)
	until(t, "its words are here", func() bool { return strings.Contains(run.stdout.String(), "before") })
	s.Kill()
	if code := run.code(t); code != 125 {
		t.Errorf("exit code %d", code)
	}
	if r := resultOf(t, run.stdout.String()); r.Status != api.StatusSandboxError || r.Stdout != "before\n" || !*r.Retryable || !strings.Contains(r.Message, s.URL) {
		t.Errorf("%+v", r)
	}
}

// auto finds the server of this machine, and runs here what only works here.
func TestAuto(t *testing.T) {
	_, served := socket(t)
	for _, c := range []struct {
		args     []string
		stdout   string
		onServer bool
	}{
		{[]string{"-l", "bash", "--code", "echo 'größe'"}, "größe\n", served},
		{[]string{"-l", "bash", "--code", "pwd", "--workdir", "/tmp"}, "/tmp\n", false},
	} {
		run := calling(t, append([]string{"--server", "auto"}, c.args...), "SANDBOX_API_KEY=a-key-for-another-server")
		run.begin(t)
		code := run.code(t)
		stderr := run.stderr.String()
		if onServer := strings.Contains(stderr, "── on the server at /"); code != 0 || withoutFigures(run.stdout.String()) != c.stdout || onServer != c.onServer {
			t.Errorf("%q: %d %s %s", c.args, code, run.stdout.String(), stderr)
		}
	}
}
