package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
)

// Whoever asks for health without a key, as often as he likes, has the runtime asked once.
func TestHealthAsksTheRuntimeOnce(t *testing.T) {
	var asked atomic.Int64
	answer := make(chan struct{})
	s := newServer(t, &fakeRuntime{onProbe: func(ctx context.Context) error {
		asked.Add(1)
		select {
		case <-answer:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, Options{})
	s.Start()
	get := func(ctx context.Context, path string) (status int) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		resp, err := s.Client().Do(r)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	first, leave := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	clients.Go(func() { get(first, "/health") })
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave() // what is asked for others goes on
	for range 20 {
		clients.Go(func() {
			if status := get(t.Context(), "/health"); status != http.StatusOK {
				t.Errorf("health: %d", status)
			}
		})
	}
	time.Sleep(short)
	close(answer)
	clients.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("the runtime was asked %d times for 21 callers", n)
	}
}

// A list of languages that takes for ever holds up nobody's look at the health.
func TestHealthWaitsForNoLanguages(t *testing.T) {
	stuck := make(chan struct{})
	s := newServer(t, &fakeRuntime{onImage: func() error { <-stuck; return nil }}, Options{})
	s.Start()
	defer close(stuck)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), short)
		w := httptest.NewRecorder()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			s.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/health", nil))
		}()
		select {
		case <-answered:
		case <-time.After(time.Minute):
			t.Fatal("it waits")
		}
		cancel()
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// Who waits for a place when the server ends is told to come again: nothing of it ran.
func TestQueuedAtTheEnd(t *testing.T) {
	s := newServer(t, &fakeRuntime{}, Options{})
	server := s.Config.Handler.(*Server)
	server.Ledger = capacity.New(capacity.Limits{Runs: 1, MemoryBytes: 1 << 40, Queue: 1})
	s.Start()
	grant, err := server.Ledger.Acquire(t.Context(), capacity.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Release()
	answer := make(chan string, 1)
	go func() {
		resp, err := s.Client().Post(s.URL+"/execute", "application/json", strings.NewReader(`{"language": "exec", "args": ["x"]}`))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answer <- fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Retry-After"), " ", string(text))
	}()
	for server.Ledger.Load().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	server.Drain()
	server.EndRuns()
	if got := <-answer; !strings.HasPrefix(got, "503 1 ") || !strings.Contains(got, "shutting down") {
		t.Error(got)
	}
}

// A request that arrives while the server begins to shut down is told so, and begins no run that
// nobody waits for.
func TestDrainWhileARequestArrives(t *testing.T) {
	var began atomic.Int64
	s := newServer(t, &fakeRuntime{onCreate: func() error { began.Add(1); return nil }}, Options{})
	s.Start()
	server := s.Config.Handler.(*Server)
	body, arriving := io.Pipe()
	status := make(chan string, 1)
	go func() {
		resp, err := s.Client().Post(s.URL+"/execute", "application/json", body)
		if err != nil {
			status <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		status <- resp.Status + " " + string(text)
	}()
	const request = `{"language": "exec", "args": ["x"]}`
	if _, err := io.WriteString(arriving, request[:10]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(short) // it has passed what it meets first
	server.Drain()
	if server.Busy() {
		t.Error("a body that may never come keeps the server")
	}
	if _, err := io.WriteString(arriving, request[10:]); err != nil {
		t.Fatal(err)
	}
	_ = arriving.Close()
	if got := <-status; !strings.HasPrefix(got, "503 ") || !strings.Contains(got, "shutting down") || began.Load() > 0 {
		t.Errorf("%s; %d runs began", got, began.Load())
	}
}
