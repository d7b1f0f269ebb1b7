// Package sandbox tests the built sandbox-server from outside, over HTTP, with
// real programs.
package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// binary is the server under test, and dataDir what it keeps between runs, such
// as the prepared standard library of Go. SANDBOX_TEST_SERVER and
// SANDBOX_DATA_DIR name ones that exist.
var binary, dataDir string

// shared is the server that most tests use.
var shared *instance

func TestMain(m *testing.M) {
	testenv.Main(func(dir string) (code int, err error) {
		dataDir = cmp.Or(os.Getenv("SANDBOX_DATA_DIR"), filepath.Join(dir, "data"))
		if err := testenv.Prepared(dataDir, os.Geteuid()); err != nil {
			return 0, err
		}
		if binary, err = testenv.Program(dir, "sandbox-server", "SANDBOX_TEST_SERVER"); err != nil {
			return 0, err
		}
		if shared, err = launch(); err != nil {
			return 0, err
		}
		code = m.Run()
		return code, shared.Stop()
	})
}

// instance is a running server.
type instance struct{ *testenv.Server }

// launch starts a server with settings beside the usual ones.
func launch(settings ...string) (*instance, error) {
	s, err := testenv.Launch(binary, nil, append([]string{"SANDBOX_DATA_DIR=" + dataDir, "SANDBOX_WARM=auto"}, settings...)...)
	return &instance{s}, err
}

// started is a server of a test's own.
func started(t *testing.T, settings ...string) *instance {
	t.Helper()
	s, err := launch(settings...)
	if err != nil {
		t.Fatal(err)
	}
	s.endsWith(t)
	return s
}

// endsWith has a server end with a test, and well.
func (s *instance) endsWith(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if s.Cmd.ProcessState != nil {
			return // the test has ended it itself
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// answer is what a client gets.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client gives up after as long as the slowest test may take.
var client = &http.Client{Timeout: 3 * time.Minute}

// send sends a request with any body; the header is name, value, name, value.
func (s *instance) send(t *testing.T, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	a, err := s.try(t.Context(), method, path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *instance) try(ctx context.Context, method, path string, body io.Reader, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, body)
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	return answer{resp.StatusCode, resp.Header, content}, err
}

// execute sends a JSON body to POST /execute.
func (s *instance) execute(t *testing.T, body string, header ...string) answer {
	t.Helper()
	return s.send(t, "POST", "/execute", strings.NewReader(body), append([]string{"Content-Type", "application/json"}, header...)...)
}

// run runs a request that must be accepted.
func (s *instance) run(t *testing.T, req api.Request, header ...string) api.Result {
	t.Helper()
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return s.execute(t, string(body), header...).result(t)
}

func (a answer) result(t *testing.T) api.Result {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	return decode[api.Result](t, a.body)
}

// problem is a refusal with the given status.
func (a answer) problem(t *testing.T, status int) api.Problem {
	t.Helper()
	if a.status != status || a.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %s: %.500s, want a problem with %d", a.status, a.header.Get("Content-Type"), a.body, status)
	}
	p := decode[api.Problem](t, a.body)
	if p.Status != status || p.Title == "" || p.Detail == "" || p.Type == "" || p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("the problem says too little: %s", a.body)
	}
	return p
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return v
}

// health asks how busy the server is.
func (s *instance) health(t *testing.T) (h struct {
	Status                 string
	Capacity, Load, Queued int
	Languages              map[string]string
	Runtimes               map[string]string
}) {
	t.Helper()
	a := s.send(t, "GET", "/health", nil)
	if err := json.Unmarshal(a.body, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// restricted tells whether there are no namespaces here, so that the world inside
// has its directories elsewhere.
func restricted(t *testing.T) bool {
	t.Helper()
	return shared.health(t).Runtimes["local"] == "restricted"
}

// until waits for something that happens on its own.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !testenv.Within(100*time.Second, ok) {
		t.Fatalf("still not so: %s", what)
	}
}

func (s *instance) hangUp(t *testing.T) {
	t.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
