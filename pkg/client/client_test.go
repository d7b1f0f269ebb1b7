package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

const secret = "a-key-that-nobody-may-see"

// answering is a client of a server that answers every request so.
func answering(t *testing.T, status int, kind, text string, header ...string) *client.Client {
	t.Helper()
	return calling(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

func calling(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return newClient(t, s.URL, client.Options{Key: secret, MaxAnswerBytes: 10_000})
}

func newClient(t *testing.T, url string, o client.Options) *client.Client {
	t.Helper()
	c, err := client.New(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// mustFail has an error that is one of the documented ones and keeps the key.
func mustFail[E error](t *testing.T, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("%T %v, want %T", err, err, e)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the key is in %q", err)
	}
	return e
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		url     string
		options client.Options
		fault   string
	}{
		{"http://127.0.0.1:8080", client.Options{}, ""},
		{"https://[::1]/below/", client.Options{Key: "with blank é"}, ""},
		{"unix:///run/sandbox-run/sock", client.Options{HTTPClient: &http.Client{Timeout: time.Second}}, ""},
		{"localhost:8080", client.Options{}, "none of"},
		{"127.0.0.1:8080", client.Options{}, "none of"},
		{"", client.Options{}, "none of"},
		{"http://", client.Options{}, "none of"},
		{"http://:8080", client.Options{}, "none of"},
		{"ftp://host", client.Options{}, "none of"},
		{"unix://host/path", client.Options{}, "none of"},
		{"unix:path", client.Options{}, "none of"},
		{"http://user:" + secret + "@host", client.Options{}, "user name"},
		{"http://user:" + secret + "/@host", client.Options{}, "none of"},
		{"http://host/?key=" + secret, client.Options{}, "without ?"},
		{"http://host", client.Options{Key: secret + "\n"}, "line break"},
		{"unix:///sock", client.Options{HTTPClient: &http.Client{Transport: &http.Transport{}}}, "transport of its own"},
	} {
		_, err := client.New(c.url, c.options)
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.url, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), secret)):
			t.Errorf("%s: %v, want %q", c.url, err, c.fault)
		}
	}
}

func TestExecute(t *testing.T) {
	c := calling(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.URL.Path != "/execute" || r.Header.Get("Authorization") != "Bearer "+secret || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		body, err := io.ReadAll(r.Body)
		if want := `{"code":"1 < 2","args":["é"],"collect":[]}` + "\n"; err != nil || string(body) != want {
			t.Errorf("%s %v, want %s", body, err, want)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"status":"runtime_error","exit_code":3,"something_new":1}`)
	})
	r, err := c.Execute(t.Context(), api.Request{Code: "1 < 2", Args: []string{"é"}, Collect: &[]string{}})
	if err != nil || r.Status != api.StatusRuntimeError || r.ExitCode != 3 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		client *client.Client
		want   client.Error
	}{
		"a problem": {
			answering(t, 422, "application/problem+json", `{"type":"`+wire.TypeInvalid+`","title":"t","status":422,"detail":"d","request_id":"i","errors":[{"pointer":"/code","detail":"d"}]}`),
			client.Error{Problem: api.Problem{Type: wire.TypeInvalid, Title: "t", Status: 422, Detail: "d", RequestID: "i", Errors: []api.ProblemError{{Pointer: "/code", Detail: "d"}}}},
		},
		"try again": {
			answering(t, 429, "application/problem+json", `{"detail":"full"}`, "Retry-After", "7"),
			client.Error{Problem: api.Problem{Status: 429, Detail: "full"}, RetryAfter: 7 * time.Second},
		},
		"a date that is over": {
			answering(t, 503, "application/problem+json", `{"detail":"draining"}`, "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"),
			client.Error{Problem: api.Problem{Status: 503, Detail: "draining"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.client.Execute(t.Context(), api.Request{Code: "1"})
			if diff := cmp.Diff(&c.want, mustFail[*client.Error](t, err)); diff != "" {
				t.Error(diff)
			}
			_, err = c.client.Stream(t.Context(), api.Request{Code: "1"}, nil)
			mustFail[*client.Error](t, err)
		})
	}
}

// A run that the server failed has a result, in whichever way it comes.
func TestSandboxErrorIsAResult(t *testing.T) {
	c := answering(t, 503, "application/problem+json", `{"status":503,"result":{"status":"sandbox_error","retryable":true}}`)
	for name, call := range map[string]func() (*api.Result, error){
		"execute": func() (*api.Result, error) { return c.Execute(t.Context(), api.Request{Code: "1"}) },
		"stream":  func() (*api.Result, error) { return c.Stream(t.Context(), api.Request{Code: "1"}, nil) },
	} {
		if r, err := call(); err != nil || r.Status != api.StatusSandboxError || r.Retryable == nil || !*r.Retryable {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// What answers is something else.
func TestNoSandboxServer(t *testing.T) {
	for name, c := range map[string]*client.Client{
		"502 Bad Gateway as no sandbox-server": answering(t, 502, "text/html", "<html>nginx"),
		"200 OK as no sandbox-server":          answering(t, 200, "text/html", "<html>welcome"),
		"404 Not Found as no sandbox-server":   answering(t, 404, "", ""),
	} {
		_, err := c.Execute(t.Context(), api.Request{Code: "1"})
		if e := mustFail[*client.Error](t, err); !strings.Contains(e.Error(), name) || e.Problem.Status == 0 {
			t.Errorf("%v, want %s", err, name)
		}
		if _, err := c.Languages(t.Context()); err == nil {
			t.Errorf("%s has languages", name)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect is followed, with %v", r.Header)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := answering(t, status, "text/plain", "", "Location", elsewhere.URL)
		_, err := c.Execute(t.Context(), api.Request{Code: "1"})
		if e := mustFail[*client.Error](t, err); e.Problem.Status != status || !strings.Contains(e.Error(), elsewhere.URL) {
			t.Errorf("%d: %v", status, err)
		}
		if err := c.Ping(t.Context()); err == nil {
			t.Errorf("%d: ping succeeds", status)
		}
	}
}

func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	c := newClient(t, gone.URL, client.Options{Key: secret})
	_, err := c.Execute(t.Context(), api.Request{Code: "1"})
	if e := mustFail[*client.ConnectionError](t, err); e.Server != gone.URL || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Execute(ctx, api.Request{Code: "1"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBrokenAnswers(t *testing.T) {
	for name, c := range map[string]*client.Client{
		"cut off":   answering(t, 200, "application/json", `{"status":`, "Content-Length", "100"),
		"not JSON":  answering(t, 200, "application/json", `{"status":`),
		"no result": answering(t, 200, "application/json", `{}`),
		"null":      answering(t, 200, "application/json", `null`),
		"too large": answering(t, 200, "application/json", `{"stdout":"`+strings.Repeat("x", 10_000)+`"}`),
	} {
		_, err := c.Execute(t.Context(), api.Request{Code: "1"})
		if mustFail[*client.ConnectionError](t, err); name == "too large" && !strings.Contains(err.Error(), "10000 bytes") {
			t.Error(err)
		}
	}
}

func TestHealthAndLanguages(t *testing.T) {
	health := api.Health{Status: "draining", Version: "1", Capacity: 1, Load: 2, Queued: 3, MemoryCapacityMB: 4, MemoryGrantedMB: 5, UptimeSeconds: 6,
		Runtimes: map[string]string{"local": "full"}, Languages: map[string]string{"python": "3.12"}, Warm: map[string]int{"python": 1}}
	language := api.Language{Name: "n", Title: "t", Aliases: []string{"a"}, Extensions: []string{"e"}, Available: true, Versions: []string{"v"}, Reason: "r", Install: "i"}
	c := calling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any = api.Languages{Languages: []api.Language{language}}
		if r.URL.Path == "/health" {
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = health
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	gotHealth, err := c.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(health, *gotHealth); diff != "" {
		t.Error(diff)
	}
	languages, err := c.Languages(t.Context())
	if err != nil || len(languages) != 1 {
		t.Fatal(languages, err)
	}
	if diff := cmp.Diff(language, languages[0]); diff != "" {
		t.Error(diff)
	}
}

// The words are the server's.
func TestTypes(t *testing.T) {
	for got, want := range map[string]string{client.TypeLanguage: wire.TypeLanguage, client.TypeRate: wire.TypeRate, client.TypeCapacity: wire.TypeCapacity, client.TypeQuota: wire.TypeQuota} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
