package e2b

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// answering is a runtime whose service gives one answer to everything.
func answering(t *testing.T, h http.HandlerFunc) *Runtime {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	rt, err := New(Options{APIURL: s.URL, SandboxURL: s.URL, APIKey: NewSecret("e2b_topsecret"), RequestTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// TestAnswers: each refusal of the service has one meaning, says what to do, and
// never shows the key.
func TestAnswers(t *testing.T) {
	type test struct {
		name   string
		status int
		body   string
		header http.Header
		envd   bool
		is     []error // what errors.Is finds
		as     any
		words  string
		final  bool // it is no use to try again
	}
	inFuture := http.Header{"Retry-After": {"7"}}
	for _, tc := range []test{
		{name: "no key", status: 401, body: `{"code":401,"message":"bad key e2b_topsecret"}`, as: new(*KeyError), words: "E2B_API_KEY", final: true},
		{name: "forbidden", status: 403, body: `{}`, as: new(*KeyError), words: "E2B_API_KEY", final: true},
		{name: "rate", status: 429, body: `{"code":429,"message":"too many sandboxes e2b_topsecret"}`, header: inFuture, as: new(*QuotaError), words: "try again in 7s"},
		{name: "rate without a time", status: 429, body: "", as: new(*QuotaError), words: "try again later"},
		{name: "quota in envd", status: 429, body: `{"code":"resource_exhausted","message":"slow down"}`, header: inFuture, envd: true, as: new(*QuotaError), words: "slow down; try again in 7s"},
		{name: "gone", status: 404, body: `{"code":404,"message":"Sandbox not found"}`, as: new(*GoneError), words: "is gone: Sandbox not found"},
		{name: "gone on the way", status: 502, body: `{"sandboxId":"i1","message":"The sandbox was not found","code":502}`, envd: true, as: new(*GoneError), words: "is gone"},
		{name: "gateway of the control plane", status: 502, body: `{"message":"upstream connect error"}`, as: new(*TransientError), words: "upstream connect error (HTTP 502)"},
		{name: "unavailable", status: 503, body: "upstream e2b_topsecret\n\n down", as: new(*TransientError), words: "upstream [redacted] down (HTTP 503)"},
		{name: "internal", status: 500, body: `{"code":500,"message":"oops"}`, as: new(*TransientError), words: "oops (HTTP 500)"},
		{name: "gateway timeout", status: 504, as: new(*TransientError), words: "it gives no reason (HTTP 504)"},
		{name: "envd unavailable", status: 503, body: `{"code":"unavailable","message":"sandbox timeout"}`, envd: true, as: new(*TransientError), words: "sandbox timeout"},
		{name: "envd deadline", status: 504, body: `{"code":"deadline_exceeded","message":"late"}`, envd: true, as: new(*TransientError), words: "late"},
		{name: "disk full", status: 507, body: `{"code":507,"message":"not enough disk space"}`, envd: true, is: []error{syscall.ENOSPC}, words: "not enough disk space"},
		{name: "no file", status: 404, body: `{"code":404,"message":"path does not exist"}`, envd: true, is: []error{fs.ErrNotExist}, words: "path does not exist", final: true},
		{name: "no name", status: 404, body: `{"code":"not_found","message":"nothing"}`, envd: true, is: []error{fs.ErrNotExist}, words: "nothing (not_found)", final: true},
		{name: "there already", status: 409, body: `{"code":"already_exists","message":"is there"}`, envd: true, is: []error{fs.ErrExist}, words: "is there", final: true},
		{name: "closed", status: 403, body: `{"code":"permission_denied","message":"no"}`, envd: true, is: []error{fs.ErrPermission}, words: "no (permission_denied)", final: true},
		{name: "bad request", status: 400, body: `{"code":400,"message":"Template 'x' not found"}`, words: "Template 'x' not found (HTTP 400)", final: true},
		{name: "envd token", status: 401, body: `{"code":401,"message":"no token"}`, envd: true, words: "no token (HTTP 401)", final: true},
		{name: "redirect", status: 307, header: http.Header{"Location": {"/elsewhere"}}, words: "HTTP 307", final: true},
		{name: "tokens of envd", status: 500, body: `{"message":"not access-secret nor traffic-secret"}`, envd: true, as: new(*TransientError), words: "not [redacted] nor [redacted]"},
		{name: "a long story", status: 500, body: strings.Repeat("x", 1<<20), as: new(*TransientError), words: "xxx…"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked := 0
			rt := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				asked++
				for k, v := range tc.header {
					w.Header()[k] = v
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			var err error
			if tc.envd {
				e := &envd{client: rt.client, id: "i1", base: rt.client.options.SandboxURL, token: NewSecret("access-secret"), traffic: NewSecret("traffic-secret")}
				err = e.unary(t.Context(), "do it", "/x", struct{}{}, nil)
			} else {
				_, err = rt.client.control(t.Context(), "do it", http.MethodGet, "/sandboxes/i1", "i1", nil, nil)
			}
			if err == nil || !strings.Contains(err.Error(), tc.words) || strings.Contains(err.Error(), "topsecret") || len(err.Error()) > 500 {
				t.Errorf("error %v, want one that says %q", err, tc.words)
			}
			if tc.as != nil && !errors.As(err, tc.as) {
				t.Errorf("error %T, want %T", err, tc.as)
			}
			for _, is := range tc.is {
				if !errors.Is(err, is) {
					t.Errorf("error %v is no %v", err, is)
				}
			}
			// What pkg/executor takes for worth another try.
			if again := errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOSPC); again == tc.final {
				t.Errorf("retryable %v: %v", again, err)
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	at := func(v string) time.Duration { return retryAfter(http.Header{"Retry-After": {v}}) }
	if at("3") != 3*time.Second || at("-3") != 0 || at("x") != 0 || at("") != 0 || at("99999999999999") != 24*time.Hour || at("999999999") != 24*time.Hour {
		t.Error("seconds are read wrong")
	}
	if d := at(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)); d < 50*time.Minute || d > time.Hour {
		t.Errorf("a date is read as %v", d)
	}
}

// A caller who calls off gets that back, and no failure of the service.
func TestCalledOff(t *testing.T) {
	for _, halfway := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		rt := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if halfway {
				_, _ = io.WriteString(w, `{"sandboxID":"half`)
				_ = http.NewResponseController(w).Flush()
			} else {
				cancel()
			}
			<-r.Context().Done()
		})
		rt.client.http.Transport = then{cancel}
		var out struct{}
		_, err := rt.client.control(ctx, "do it", http.MethodGet, "/x", "", nil, &out)
		if !errors.Is(err, context.Canceled) || errors.Is(err, syscall.EAGAIN) {
			t.Errorf("halfway %v: error %v", halfway, err)
		}
	}
}

// then does something when an answer has begun.
type then struct{ do func() }

func (t then) RoundTrip(r *http.Request) (*http.Response, error) {
	defer t.do()
	return http.DefaultTransport.RoundTrip(r)
}

// A service that does not answer, or cannot be reached, is a transient failure.
func TestSlowAndAbsent(t *testing.T) {
	rt := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	rt.client.options.RequestTimeout = 50 * time.Millisecond
	var transient *TransientError
	if _, err := rt.Probe(t.Context()); !errors.As(err, &transient) || !errors.Is(err, errSlow) || !transient.Timeout() {
		t.Errorf("error %v", err)
	}
	rt.client.options.APIURL = "http://127.0.0.1:1"
	if _, err := rt.Probe(t.Context()); !errors.As(err, &transient) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error %v", err)
	}
}

// An answer that is not JSON, or has no end, is an error of bounded size.
func TestGarbageAnswers(t *testing.T) {
	for _, body := range []string{"<html>", `{"sandboxID":`, `{"sandboxID":"` + strings.Repeat("a", 2<<20), `{"sandboxID":"../../x"}`, `{"sandboxID":"ok","domain":"evil/x"}`} {
		deleted := 0
		rt := answering(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodPost:
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, body)
			case http.MethodDelete:
				deleted++
				w.WriteHeader(http.StatusNoContent)
			default:
				_, _ = io.WriteString(w, "[]")
			}
		})
		rt.client.options.SandboxURL = ""
		_, err := rt.Create(t.Context(), someSpec())
		if err == nil || len(err.Error()) > 600 {
			t.Errorf("%.40s: error %v", body, err)
		}
		if bad := strings.Contains(body, "/"); bad && strings.Contains(body, "ID") && !strings.Contains(err.Error(), "no usable") {
			t.Errorf("%s: %v", body, err)
		}
		if strings.Contains(body, "evil") && deleted != 1 {
			t.Errorf("the sandbox was deleted %d times", deleted)
		}
	}
}

func someSpec() sandbox.Spec {
	return sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 32 << 20, Inodes: 2000}}
}
