package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

type contextKey int

const (
	requestIDKey contextKey = iota
	peerKey
)

// requestID is the id of a request: in its answer, its log line and its audit line.
func requestID(r *http.Request) string {
	id, _ := r.Context().Value(requestIDKey).(string)
	return id
}

// around is what every request passes.
func (s *Server) around(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey, id))
		w.Header().Set("X-Request-Id", id)
		if !fault.Off("header", "nosniff") {
			w.Header().Set("X-Content-Type-Options", "nosniff")
		}
		seen := s.watched(w, r)
		begin := time.Now()
		_, route := mux.Handler(r)
		defer func() {
			if cause := recover(); cause != nil && !aborted(cause) {
				s.Log.Error("a request made the server panic", "request_id", id, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				if seen.status == 0 {
					s.fail(seen, r, fmt.Errorf("panic: %v", cause))
				}
			}
			seen.done(r)
			s.metrics.request(route, seen.status, time.Since(begin))
			s.Log.Info("request", "request_id", id, "method", r.Method, "path", r.URL.Path, "status", seen.status,
				"seconds", time.Since(begin).Seconds(), "remote", r.RemoteAddr)
		}()
		if err := s.foreign(r); err != nil {
			s.fail(seen, r, err)
			return
		}
		if route == "" {
			s.fail(seen, r, unknownRoute(mux, seen, r))
			return
		}
		mux.ServeHTTP(seen, r)
	})
}

// aborted tells a handler that gives up its connection from one that is broken.
func aborted(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// methods are those that any route answers.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut}

// unknownRoute tells a wrong method from a wrong path.
func unknownRoute(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range methods {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, route := mux.Handler(other); route != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return &api.Problem{Type: "about:blank", Status: http.StatusNotFound, Detail: fmt.Sprintf("there is no %.80q here; /docs shows what there is", r.URL.Path)}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return &api.Problem{Type: "about:blank", Status: http.StatusMethodNotAllowed, Detail: fmt.Sprintf("%.80q answers %s only", r.URL.Path, strings.Join(allowed, ", "))}
}

// foreign refuses what a web page elsewhere may have made a browser on this
// machine send: nobody else calls a server on loopback by another name (DNS
// rebinding) or from another origin.
func (s *Server) foreign(r *http.Request) error {
	if _, local := r.Context().Value(peerKey).(uint32); local || !s.LoopbackOnly {
		return nil // no browser talks to a unix socket
	}
	if !loopbackName(r.Host) {
		return &api.Problem{Type: wire.TypeForbidden, Status: http.StatusForbidden,
			Detail: fmt.Sprintf("this server has no keys, so it answers as localhost, 127.0.0.1 or [::1] alone, and not as %.80q: call it by one of these, or have it ask for a key (sandbox-server keys create TENANT, and a new start)", r.Host)}
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
		return &api.Problem{Type: wire.TypeForbidden, Status: http.StatusForbidden,
			Detail: fmt.Sprintf("web pages of other sites, such as %.80q, may not call a server without keys", origin)}
	}
	return nil
}

func loopbackName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(trimBrackets(host))
	return err == nil && address.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// keyed wants a key, where there are any.
func (s *Server) keyed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.principal(r); err != nil {
			s.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answer writes v as JSON.
func (s *Server) answer(w http.ResponseWriter, status int, kind string, v any) {
	text, err := encode(v)
	if err != nil {
		s.Log.Error("an answer cannot be written", "error", err.Error())
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	if len(text.files) == 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(text.text)))
	}
	w.WriteHeader(status)
	_ = text.writeTo(w) // else nobody is there
}
