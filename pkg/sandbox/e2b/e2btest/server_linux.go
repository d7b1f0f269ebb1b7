package e2btest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Key is the one that the server takes.
const Key = "e2b_0123456789abcdef"

// Server is a service with a control plane and sandboxes at one address.
type Server struct {
	// URL is E2B_API_URL and E2B_SANDBOX_URL.
	URL string
	// EnvdVersion is what new sandboxes report, and can do; of one digit a part.
	EnvdVersion string
	// EndsAtOnce has envd report the end of a process although others hold its
	// output open, as newer ones do.
	EndsAtOnce bool
	// Holds are directories of this host that templates hold, by where they do, and
	// Env is what envd gives every process beside HOME and the like.
	Holds, Env map[string]string
	// Templates are what GET /templates answers; nil has no such call.
	Templates []Template

	http *httptest.Server

	mu        sync.Mutex
	sandboxes map[string]*Sandbox
	faults    []Fault
	serial    int
	requests  []string
}

// Template is one of those that belong to the key.
type Template struct {
	TemplateID  string   `json:"templateID"`
	BuildID     string   `json:"buildID"`
	BuildStatus string   `json:"buildStatus,omitempty"`
	Aliases     []string `json:"aliases"`
	Names       []string `json:"names"`
}

// Fault answers a request in the service's place, or returns false. It may wrap
// the way on, which is next.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler) bool

// Sandbox is one that was created and not deleted.
type Sandbox struct {
	ID       string
	Metadata map[string]string
	// Request is what it was created by, and Timeout what it was last given.
	Request map[string]any
	Network map[string]any
	Timeout int

	token string
	guest *guest
	proxy *httputil.ReverseProxy
}

// Start starts a server that ends with the test, and its sandboxes with it.
func Start(t testing.TB) *Server {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("the sandboxes of the test server need root")
	}
	s := &Server{EnvdVersion: "0.5.7", sandboxes: map[string]*Sandbox{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	t.Cleanup(func() {
		for _, id := range s.Alive() {
			s.Kill(id)
		}
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Fail adds a fault. Those that were added last come first.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append([]Fault{f}, s.faults...)
}

// Heal takes all faults away.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Alive lists the sandboxes that are there.
func (s *Server) Alive() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.sandboxes))
	for id := range s.sandboxes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Sandbox is the one with that name, or nil.
func (s *Server) Sandbox(id string) *Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sandboxes[id]
}

// Requests are the methods and paths of all requests so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Kill ends a sandbox as a failure of the service would, and tells whether it was
// there.
func (s *Server) Kill(id string) bool {
	s.mu.Lock()
	b := s.sandboxes[id]
	delete(s.sandboxes, id)
	s.mu.Unlock()
	if b == nil {
		return false
	}
	b.guest.kill()
	return true
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	faults := slices.Clone(s.faults)
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	for _, f := range faults {
		if f(w, r, http.HandlerFunc(s.serve)) {
			return
		}
	}
	s.serve(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if id := r.Header.Get("E2b-Sandbox-Id"); id != "" {
		s.traffic(w, r, id)
		return
	}
	if r.Header.Get("X-API-Key") != Key {
		fail(w, http.StatusUnauthorized, "Invalid API key "+r.Header.Get("X-API-Key"))
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sandboxes", s.create)
	mux.HandleFunc("GET /v2/sandboxes", s.list)
	if s.Templates != nil {
		mux.HandleFunc("GET /templates", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Templates) })
	}
	mux.HandleFunc("GET /sandboxes/{id}", s.with(s.detail))
	mux.HandleFunc("DELETE /sandboxes/{id}", func(w http.ResponseWriter, r *http.Request) {
		if !s.Kill(r.PathValue("id")) {
			fail(w, http.StatusNotFound, "Sandbox not found")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /sandboxes/{id}/timeout", s.with(func(w http.ResponseWriter, r *http.Request, b *Sandbox) {
		body := struct{ Timeout int }{}
		if decode(w, r, &body) {
			s.mu.Lock()
			b.Timeout = body.Timeout
			s.mu.Unlock()
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	mux.HandleFunc("PUT /sandboxes/{id}/network", s.with(func(w http.ResponseWriter, r *http.Request, b *Sandbox) {
		body := map[string]any{}
		if decode(w, r, &body) {
			s.mu.Lock()
			b.Network = body
			s.mu.Unlock()
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	mux.ServeHTTP(w, r)
}

func (s *Server) with(f func(http.ResponseWriter, *http.Request, *Sandbox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if b := s.Sandbox(r.PathValue("id")); b != nil {
			f(w, r, b)
			return
		}
		fail(w, http.StatusNotFound, "Sandbox not found")
	}
}

// maxRequestBytes bounds a request to envd, but for files.
const maxRequestBytes = 8 << 20

// traffic is what goes to a port of a sandbox.
func (s *Server) traffic(w http.ResponseWriter, r *http.Request, id string) {
	b := s.Sandbox(id)
	switch {
	case b == nil:
		answer(w, http.StatusBadGateway, map[string]any{"sandboxId": id, "message": "The sandbox was not found", "code": 502})
	case r.Header.Get("E2b-Sandbox-Port") != "49983":
		answer(w, http.StatusBadGateway, map[string]any{"sandboxId": id, "message": "The sandbox is running but port is not open", "code": 502})
	case r.Header.Get("E2b-Traffic-Access-Token") != "traffic-"+b.token:
		fail(w, http.StatusForbidden, "no traffic token")
	default:
		if r.URL.Path != "/files" {
			// A stream begins before the proxy has seen the end of the request,
			// which HTTP/1 does not let it read any more.
			body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBytes))
			if err != nil {
				fail(w, http.StatusBadRequest, err.Error())
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		b.proxy.ServeHTTP(w, r)
	}
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if !decode(w, r, &body) {
		return
	}
	template, _ := body["templateID"].(string)
	if template == "" || template == "no-such-template" {
		fail(w, http.StatusBadRequest, "Template '"+template+"' not found")
		return
	}
	b := &Sandbox{ID: "i" + strings.ToLower(rand.Text()), token: rand.Text(), Request: body, Metadata: map[string]string{}}
	seconds, _ := body["timeout"].(float64)
	b.Timeout = int(seconds)
	b.Network, _ = body["network"].(map[string]any)
	metadata, _ := body["metadata"].(map[string]any)
	for k, v := range metadata {
		b.Metadata[k] = fmt.Sprint(v)
	}
	s.mu.Lock()
	s.serial++
	serial := s.serial
	s.mu.Unlock()
	internet, _ := body["allow_internet_access"].(bool)
	g, err := startGuest(guestOptions{
		Serial: serial, Token: b.token, Internet: internet, EndsAtOnce: s.EndsAtOnce, Env: s.Env,
		StdinFlag: s.EnvdVersion >= "0.3.0", OctetStream: s.EnvdVersion >= "0.5.7",
	}, s.Holds)
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	b.guest = g
	b.proxy = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "envd"})
		},
		FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		Transport: &http.Transport{DisableCompression: true, DialContext: g.dial},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			answer(w, http.StatusBadGateway, map[string]any{"sandboxId": b.ID, "message": err.Error(), "code": 502})
		},
	}
	s.mu.Lock()
	s.sandboxes[b.ID] = b
	s.mu.Unlock()
	answer(w, http.StatusCreated, map[string]any{
		"templateID": template, "sandboxID": b.ID, "clientID": "test", "envdVersion": s.EnvdVersion,
		"envdAccessToken": b.token, "trafficAccessToken": "traffic-" + b.token,
	})
}

func (s *Server) detail(w http.ResponseWriter, _ *http.Request, b *Sandbox) {
	answer(w, http.StatusOK, map[string]any{
		"templateID": b.Request["templateID"], "sandboxID": b.ID, "clientID": "test", "cpuCount": 2, "memoryMB": 512,
		"diskSizeMB": 1024, "state": "running", "envdVersion": s.EnvdVersion, "metadata": b.Metadata,
	})
}

// list answers in pages of two, so that clients have to ask for more.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	want, err := url.ParseQuery(r.URL.Query().Get("metadata"))
	if err != nil {
		fail(w, http.StatusBadRequest, "metadata cannot be read")
		return
	}
	page := []map[string]any{}
	for _, id := range s.Alive() {
		b := s.Sandbox(id)
		fits := b != nil && id > r.URL.Query().Get("nextToken")
		for key := range want {
			fits = fits && b.Metadata[key] == want.Get(key)
		}
		if !fits {
			continue
		}
		if len(page) == 2 {
			last, _ := page[1]["sandboxID"].(string)
			w.Header().Set("X-Next-Token", last)
			break
		}
		page = append(page, map[string]any{"sandboxID": id, "templateID": "base", "metadata": b.Metadata, "state": "running"})
	}
	answer(w, http.StatusOK, page)
}

func decode(w http.ResponseWriter, r *http.Request, out any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(out); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// fail answers as the control plane does.
func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"code": status, "message": message})
}
