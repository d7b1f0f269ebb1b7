package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/cli"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// serving is a runner on a server with this handler.
func serving(t *testing.T, handler http.HandlerFunc) cli.Runner {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	r, err := openServer(s.URL, "a-key", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// streaming answers with lines of events, and waits for the caller to leave if
// the last is empty.
func streaming(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, line := range lines {
			if line == "" {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
			_, _ = io.WriteString(w, line+"\n")
		}
	}
}

const (
	startLine   = `{"seq":1,"type":"start","id":"01","language":"python","version":"3.12.1"}`
	compileLine = `{"seq":2,"type":"phase","name":"compile","state":"begin"}`
	runLine     = `{"seq":3,"type":"phase","name":"run","state":"begin"}`
	stdoutLine  = `{"seq":4,"type":"stdout","data_base64":"AP8="}`
	stderrLine  = `{"seq":5,"type":"stderr","data":"é"}`
	resultLine  = `{"seq":6,"type":"result","result":{"id":"01","status":"ok"}}`
)

var job = cli.Job{Request: executor.Request{Language: "python", Code: []byte("1")}}

func TestRemoteRun(t *testing.T) {
	var types []api.EventType
	r, err := serving(t, streaming(startLine, stdoutLine, resultLine)).Run(t.Context(), job, func(e api.Event) error {
		types = append(types, e.Type)
		return nil
	})
	if err != nil || r.Status != api.StatusOK || fmt.Sprint(types) != "[start stdout result]" {
		t.Errorf("%+v %v %v", r, err, types)
	}
}

// A run whose caller leaves has a result that tells what was seen of it, and so
// has one that the server leaves.
func TestCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		leave int64 // at the event of this number
		want  api.Result
	}{
		"we leave": {[]string{startLine, runLine, stdoutLine, stderrLine, ""}, 5, api.Result{
			ID: "01", Language: "python", Version: "3.12.1", Status: api.StatusCancelled, Message: "The run was cancelled",
			Stdout: "\x00\uFFFD", StdoutBase64: "AP8=", Stderr: "é", ExitCode: 137, Signal: "SIGKILL",
			Phases: []api.Phase{{Name: "run", Status: api.StatusCancelled, ExitCode: 137, Signal: "SIGKILL", Stdout: "\x00\uFFFD", Stderr: "é"}},
		}},
		"we leave while it compiles": {[]string{startLine, compileLine, ""}, 2, api.Result{
			ID: "01", Language: "python", Version: "3.12.1", Status: api.StatusCancelled, Message: "The run was cancelled", ExitCode: 137, Signal: "SIGKILL",
			Phases: []api.Phase{{Name: "compile", Status: api.StatusCancelled, ExitCode: 137, Signal: "SIGKILL"}},
		}},
		"the server leaves": {[]string{startLine, stderrLine}, 0, api.Result{
			ID: "01", Language: "python", Version: "3.12.1", Status: api.StatusSandboxError, Message: "The sandbox failed: the answer of SERVER broke off before the result: unexpected EOF",
			Stderr: "é", ExitCode: -1, Retryable: new(true),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last api.Event
			r, err := serving(t, streaming(c.lines...)).Run(ctx, job, func(e api.Event) error {
				if last = e; e.Seq == c.leave {
					cancel()
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if last.Result != r || last.Type != api.EventResult || last.Seq < 2 {
				t.Errorf("the last event is %+v", last)
			}
			c.want.Meta.Runtime, r.ExecutionTime = "remote", 0
			r.Message = regexp.MustCompile(`http://[0-9.:]*\d`).ReplaceAllString(r.Message, "SERVER")
			if diff := cmp.Diff(&c.want, r); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where nothing has begun, who is at fault decides over the exit code.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		status      int
		problem     string
		retry       string
		kind        string
		has         string
		languageOut bool
	}{
		{422, `{"type":"` + client.TypeLanguage + `","detail":"no rust"}`, "", "input", "the server says: no rust", true},
		{422, `{"type":"urn:sandbox-run:problem:invalid","detail":"too much"}`, "", "input", "too much", false},
		{400, `{"detail":"no JSON"}`, "", "input", "no JSON", false},
		{413, `{"detail":"too large"}`, "", "input", "too large", false},
		{401, `{"detail":"no key"}`, "", "input", "SANDBOX_API_KEY", false},
		{403, `{"detail":"not for you"}`, "", "policy", "not for you", false},
		{429, `{"detail":"all 2 places are taken"}`, "3", "ours", "all 2 places are taken; try again in 3s", false},
		{503, `{"detail":"shutting down"}`, "1", "ours", "shutting down; try again in 1s", false},
		{500, `{"detail":"failed"}`, "", "ours", "the server says: failed", false},
	} {
		runner := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", c.retry)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.problem)
		})
		_, err := runner.Run(t.Context(), job, func(api.Event) error { return nil })
		kind := "ours"
		input, isInput := errors.AsType[*executor.InputError](err)
		if isInput {
			kind = "input"
		}
		if errors.As(err, new(*cli.PolicyError)) {
			kind = "policy"
		}
		if kind != c.kind || !strings.Contains(err.Error(), c.has) || c.languageOut != (isInput && input.Kind == executor.InputUnknownLanguage) {
			t.Errorf("%d: %s %v, want %s %s", c.status, kind, err, c.kind, c.has)
		}
	}
}

func TestBadURL(t *testing.T) {
	if _, err := openServer("localhost:8080", "", nil); !errors.As(err, new(*executor.InputError)) || !strings.Contains(err.Error(), "--server") {
		t.Error(err)
	}
}

func TestSockets(t *testing.T) {
	for dir, want := range map[string][]string{
		"":               {"/run/sandbox-run/sock"},
		"relative":       {"/run/sandbox-run/sock"},
		"/run/user/1000": {"/run/user/1000/sandbox-run.sock", "/run/sandbox-run/sock"},
	} {
		if diff := cmp.Diff(want, sockets(dir)); diff != "" {
			t.Errorf("%q: %s", dir, diff)
		}
	}
}

// The first socket that somebody serves counts, and one that is left over does not.
func TestFindServer(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "none"), filepath.Join(dir, "stale"), filepath.Join(dir, "live")}
	if err := os.WriteFile(paths[1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	notify := func(message string) { told = append(told, message) }
	if r, err := findServer(paths, notify); r != nil || err != nil || len(told) != 1 || !strings.Contains(told[0], "stale: ") {
		t.Errorf("%v %v %q", r, err, told)
	}
	listener, err := net.Listen("unix", paths[2])
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		streaming(startLine, resultLine)(w, r)
	})}
	defer s.Close()
	go func() { _ = s.Serve(listener) }()
	r, err := findServer(paths, notify)
	if r == nil || err != nil || !strings.Contains(told[len(told)-1], "on the server at "+paths[2]) {
		t.Fatalf("%v %v %q", r, err, told)
	}
	if result, err := r.Run(t.Context(), job, func(api.Event) error { return nil }); err != nil || result.Status != api.StatusOK {
		t.Errorf("%+v %v", result, err)
	}
}
