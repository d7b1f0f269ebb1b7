package sandbox

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// resident is how much memory the server has, in bytes.
func (s *instance) resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	h := shared.health(t)
	if h.Status != "ok" || h.Capacity < 1 || h.Languages["python"] == "" || h.Runtimes["local"] == "" {
		t.Errorf("%+v", h)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if a := shared.send(t, "GET", path, nil); a.status != 200 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	a := shared.send(t, "GET", "/metrics", nil)
	for _, name := range []string{"sandbox_runs_total", "sandbox_phase_seconds_bucket", "sandbox_running", "sandbox_capacity"} {
		if shared.run(t, api.Request{Code: "1"}); !strings.Contains(string(a.body), name) {
			a = shared.send(t, "GET", "/metrics", nil)
			if !strings.Contains(string(a.body), name) {
				t.Errorf("no %s", name)
			}
		}
	}
}

// The examples of the document are requests that run.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	type media struct {
		Examples map[string]struct {
			Value api.Request `json:"value"`
		} `json:"examples"`
	}
	document := decode[struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			RequestBody struct {
				Content map[string]media `json:"content"`
			} `json:"requestBody"`
		}
	}](t, shared.send(t, "GET", "/openapi.json", nil).body)
	examples := document.Paths["/execute"]["post"].RequestBody.Content["application/json"].Examples
	if len(examples) == 0 || !strings.HasPrefix(document.OpenAPI, "3.1") {
		t.Fatalf("%d examples, version %s", len(examples), document.OpenAPI)
	}
	for name, example := range examples {
		if r := shared.run(t, example.Value); r.Success == (name == "timeout") {
			t.Errorf("%s: %s %s", name, r.Status, r.Stderr)
		}
	}
	page := shared.send(t, "GET", "/docs/", nil)
	if page.status != 200 || strings.Contains(string(page.body), `src="http`) || strings.Contains(string(page.body), `href="http`) {
		t.Errorf("%d; the page loads from elsewhere:\n%.2000s", page.status, page.body)
	}
	if script := shared.send(t, "GET", "/docs/swagger-ui-bundle.js", nil); script.status != 200 {
		t.Errorf("its script: %d", script.status)
	}
}

// Answers may grow: what was made out of the document reads those of a later
// server too. Requests may not, and a figure that cannot be had is null.
func TestOpenAPIGrows(t *testing.T) {
	t.Parallel()
	type schema struct {
		Additional any `json:"additionalProperties"`
		Properties map[string]struct {
			Type any
		}
	}
	schemas := decode[struct {
		Components struct{ Schemas map[string]schema }
	}](t, shared.send(t, "GET", "/openapi.json", nil).body).Components.Schemas
	for name, closed := range map[string]bool{
		"Request": true, "RequestLimits": true,
		"Result": false, "Phase": false, "Metrics": false, "Meta": false, "File": false, "Event": false, "Problem": false, "Health": false,
	} {
		s, ok := schemas[name]
		if is := s.Additional == false; !ok || is != closed {
			t.Errorf("%s: there %v, closed %v", name, ok, is)
		}
	}
	if figure := schemas["Metrics"].Properties["wall_time_s"].Type; !reflect.DeepEqual(figure, []any{"number", "null"}) {
		t.Errorf("a figure is %v", figure)
	}
}

// The server takes as many runs as it says and refuses the rest.
func TestCapacity(t *testing.T) {
	s := started(t, "SANDBOX_MAX_CONCURRENT=2")
	if h := s.health(t); h.Capacity != 2 {
		t.Errorf("capacity %d", h.Capacity)
	}
	var refused, answered atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a := s.execute(t, `{"language":"bash","code":"sleep 2"}`)
			if a.status == 200 {
				answered.Add(1)
				return
			}
			p := a.problem(t, 429)
			if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 1 || p.Type != "urn:sandbox-run:problem:capacity" {
				t.Errorf("retry after %q, %+v", a.header.Get("Retry-After"), p)
			}
			refused.Add(1)
		})
	}
	wg.Wait()
	if answered.Load() < 2 || refused.Load() == 0 {
		t.Errorf("%d answered, %d refused", answered.Load(), refused.Load())
	}
	if r := s.run(t, api.Request{Code: "print(1)"}); !r.Success {
		t.Error(r.Message)
	}
}

// What does not fit waits where there is a queue, and is told how long.
func TestQueue(t *testing.T) {
	s := started(t, "SANDBOX_MAX_CONCURRENT=1", "SANDBOX_QUEUE=8")
	var wg sync.WaitGroup
	var waited atomic.Int64
	for range 5 {
		wg.Go(func() {
			r := s.run(t, api.Request{Language: "bash", Code: "sleep 0.2"})
			if *r.Metrics.QueueS > 0.1 {
				waited.Add(1)
			}
		})
	}
	wg.Wait()
	if waited.Load() < 3 {
		t.Errorf("%d of 5 say that they have waited", waited.Load())
	}
}

// The memory of all runs together stays below what the operator gives.
func TestMemoryIsGranted(t *testing.T) {
	s := started(t, "SANDBOX_TOTAL_MEMORY_MB=600", "SANDBOX_MAX_CONCURRENT=10", "SANDBOX_COMPILE_MEMORY_MB=1000")
	s.execute(t, `{"code":"1","limits":{"memory_mb":601}}`).problem(t, 422)
	if p := s.execute(t, `{"code":"int main(){}","language":"c"}`).problem(t, 422); !strings.Contains(p.Detail, "1000 MiB of memory (SANDBOX_COMPILE_MEMORY_MB)") || strings.Contains(p.Detail, "memory_mb") {
		t.Error(p.Detail)
	}
	if log := s.Logged(); !strings.Contains(log, "nothing can be compiled or installed here") {
		t.Error(log)
	}
	done := make(chan answer, 1)
	go func() { done <- s.execute(t, `{"language":"bash","code":"sleep 2","limits":{"memory_mb":500}}`) }()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	s.execute(t, `{"code":"1","limits":{"memory_mb":200}}`).problem(t, 429)
	if r := s.run(t, api.Request{Code: "print(1)", Limits: &api.RequestLimits{MemoryMB: 100}}); !r.Success {
		t.Error(r.Message)
	}
	(<-done).result(t)
}

// On SIGTERM what runs is finished and answered, and nothing new is taken.
func TestDrain(t *testing.T) {
	s := started(t)
	done := make(chan answer, 1)
	go func() { done <- s.execute(t, `{"language":"bash","code":"sleep 2; echo finished"}`) }()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "health says so", func() bool { return s.send(t, "GET", "/health", nil).status == 503 })
	if a := s.execute(t, `{"code":"1"}`); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	} else {
		a.problem(t, 503)
	}
	if a := s.send(t, "GET", "/livez", nil); a.status != 200 {
		t.Errorf("livez %d", a.status)
	}
	if r := (<-done).result(t); r.Stdout != "finished\n" {
		t.Errorf("%+v", r)
	}
}

// Past the time for it, what still runs is cancelled and answered.
func TestDrainHasAnEnd(t *testing.T) {
	s := started(t, "SANDBOX_DRAIN_SEC=0.5")
	done := make(chan answer, 1)
	go func() { done <- s.execute(t, `{"language":"bash","code":"echo before; sleep 100"}`) }()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if r := (<-done).result(t); r.Status != api.StatusCancelled || r.Stdout != "before\n" {
		t.Errorf("%+v", r)
	}
}

// A server that was killed, time after time, leaves nothing that its successor
// does not remove before it is ready, and its successor knows of the runs that
// were lost.
func TestCrashes(t *testing.T) {
	const runs = 20
	before := inventory(t)
	data := "SANDBOX_DATA_DIR=" + t.TempDir()
	marker := fmt.Sprintf("%d.%d", 1000+os.Getpid(), time.Now().Nanosecond())
	var clients sync.WaitGroup
	var idle map[string]int // of a server that has just started
	for round := range *crashes {
		s := started(t, data, "SANDBOX_MAX_CONCURRENT=20", "SANDBOX_WARM=off") // what is there is counted
		if n := processes(t, marker); n > 0 {
			t.Fatalf("round %d: %d processes of an old life", round, n)
		}
		now := inventory(t)
		for end := time.Now().Add(2 * time.Second); round > 0 && grown(idle, now) && time.Now().Before(end); now = inventory(t) {
			time.Sleep(10 * time.Millisecond)
		}
		if round == 0 {
			idle = now
		} else if grown(idle, now) {
			t.Fatalf("round %d: %v, and %v before there was an old life", round, now, idle)
		}
		if round > 0 && !strings.Contains(s.Logged(), fmt.Sprintf(`"runs":%d}`, runs)) {
			t.Fatalf("round %d: the lost runs are not told:\n%s", round, s.Logged())
		}
		for range runs {
			clients.Go(func() {
				body := `{"language":"bash","code":"setsid sleep ` + marker + ` & sleep ` + marker + `"}`
				_, _ = s.try(t.Context(), "POST", "/execute", strings.NewReader(body), "Content-Type", "application/json")
			})
		}
		until(t, "they run", func() bool { return s.health(t).Load == runs && processes(t, marker) == 2*runs })
		if err := s.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.Cmd.Wait()
	}
	clients.Wait()
	last := started(t, data)
	if r := last.run(t, api.Request{Code: "print(1)"}); !r.Success {
		t.Error(r.Message)
	}
	if err := last.Stop(); err != nil {
		t.Fatal(err)
	}
	// What was killed may still be on its way out.
	var after map[string]int
	asBefore := func() bool { after = inventory(t); return !grown(before, after) }
	if !testenv.Within(2*time.Second, asBefore) {
		t.Errorf("before %v, after %v", before, after)
	}
}

// grown tells whether there is more of anything: what others leave may go at any time.
func grown(before, now map[string]int) bool {
	for what, n := range now {
		if n > before[what] {
			return true
		}
	}
	return false
}

// inventory counts what sandboxes are made of on this machine.
func inventory(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats { // the dead that pid 1 has not buried yet are not ours
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), " (sandbox-init) ") && !strings.Contains(string(b), ") Z ") {
			found["inits"]++
		}
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "/sandbox-run/") {
			found["control groups"]++
		}
		return nil
	})
	for _, pattern := range []string{filepath.Join(os.TempDir(), "sandbox-run-i*"), "/run/sandbox-run/i*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found[pattern] = len(paths)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	found["mounts"] = strings.Count(string(mounts), "\n")
	return found
}

// processes counts those whose command line holds a text.
func processes(t *testing.T, text string) (n int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(line), "sleep\x00") && strings.Contains(string(line), text) {
			n++
		}
	}
	return n
}

// Names that nobody reads, and values that do not parse, are told at the start.
func TestSettings(t *testing.T) {
	for setting, want := range map[string]string{
		"SANDBOX_PROT=1":                 "did you mean SANDBOX_PORT",
		"SANDBOX_PORT=x":                 "SANDBOX_PORT",
		"SANDBOX_API_KEY=short":          "at least 16",
		"SANDBOX_API_KEYS_FILE=/nowhere": "/nowhere",
		"SANDBOX_ADDR=203.0.113.1":       "203.0.113.1",
		"SANDBOX_TLS_CERT=/nowhere":      "SANDBOX_TLS_KEY",
	} {
		s, err := launch(setting, "SANDBOX_DATA_DIR="+t.TempDir())
		if err == nil {
			t.Errorf("%s: it starts", setting)
			_ = s.Stop()
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// Connections that send nothing, or slowly, hold up nobody.
func TestSlowSenders(t *testing.T) {
	s := started(t, "SANDBOX_MAX_CONCURRENT=2")
	for i := range 50 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if i%2 == 0 {
			_, err = io.WriteString(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-")
		} else {
			_, err = io.WriteString(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := s.run(t, api.Request{Code: "print(1)"}); !r.Success {
		t.Error(r.Message)
	}
}

// Requests that two parsers could read in two ways are refused.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"two lengths":        "Content-Length: 5\r\nContent-Length: 6",
		"length and chunked": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nX: \x00",
		"a space before":     "Content-Length : 5",
		"negative":           "Content-Length: -1",
		"obsolete folding":   "X: a\r\n b\r\nContent-Length: +5",
		"unknown coding":     "Transfer-Encoding: xchunked",
		"large header":       "X: " + strings.Repeat("a", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(shared.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+head+"\r\n\r\n{\"code\":\"print(1)\"}"); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			answer := make([]byte, 12)
			if n, err := io.ReadFull(conn, answer); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") && !strings.HasPrefix(string(answer), "HTTP/1.1 501") {
				t.Errorf("%q, %v", answer[:n], err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	data := "SANDBOX_DATA_DIR=" + t.TempDir()
	create := exec.Command(binary, "keys", "create", "acme", "--rate", "1000", "--concurrency", "1")
	create.Env = testenv.Environ(data)
	key, err := create.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := started(t, data, "SANDBOX_API_KEY=an-operators-own-key")
	bearer := []string{"Authorization", "Bearer " + strings.TrimSpace(string(key))}
	for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}, {"X-API-Key", "sbx_aaaaaaaa_bbbb"}} {
		a := s.execute(t, `{"code":"1"}`, header...)
		if a.problem(t, 401); a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%v: no WWW-Authenticate", header)
		}
	}
	for _, path := range []string{"/metrics", "/v1/languages"} {
		s.send(t, "GET", path, nil).problem(t, 401)
		if a := s.send(t, "GET", path, nil, bearer...); a.status != 200 {
			t.Errorf("%s with a key: %d", path, a.status)
		}
	}
	for _, path := range []string{"/health", "/livez", "/readyz"} {
		if a := s.send(t, "GET", path, nil); a.status != 200 {
			t.Errorf("%s without a key: %d", path, a.status)
		}
	}
	if r := s.run(t, api.Request{Code: "print(1)"}, bearer...); !r.Success {
		t.Error(r.Message)
	}
	if r := s.run(t, api.Request{Code: "print(1)"}, "X-API-Key", "an-operators-own-key"); !r.Success {
		t.Error(r.Message)
	}
	done := make(chan answer, 1)
	go func() { done <- s.execute(t, `{"language":"bash","code":"sleep 2"}`, bearer...) }()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	if p := s.execute(t, `{"code":"1"}`, bearer...).problem(t, 429); p.Type != "urn:sandbox-run:problem:capacity" {
		t.Errorf("%+v", p)
	}
	(<-done).result(t)

	usage := exec.Command(binary, "usage", "--json")
	usage.Env = testenv.Environ(data)
	if out, err := usage.Output(); err != nil || !strings.Contains(string(out), `"tenant": "acme"`) {
		t.Errorf("usage: %v %s", err, out)
	}
	revoke := exec.Command(binary, "keys", "revoke", strings.TrimSpace(string(key)))
	revoke.Env = testenv.Environ(data)
	if out, err := revoke.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	until(t, "the key is worthless", func() bool { return s.execute(t, `{"code":"1"}`, bearer...).status == 401 })
	if log := s.Logged(); strings.Contains(log, strings.TrimSpace(string(key))) || strings.Contains(log, "own-key") {
		t.Error("a key is in the log")
	}
}
