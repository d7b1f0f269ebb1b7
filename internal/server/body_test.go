package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What one tenant uploads keeps nobody else out: neither bodies that are announced and do
// not come, nor as many as the server takes.
func TestUploadsOfOneTenantKeepNobodyOut(t *testing.T) {
	const most = 1 << 20
	for name, sent := range map[string]int{"announced": 1, "all but the end": most - 1} {
		t.Run(name, func(t *testing.T) {
			var uid atomic.Uint32
			s := newServer(t, &fakeRuntime{}, Options{MaxBodyBytes: most})
			s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { return WithPeer(ctx, uid.Load()) }
			s.Start()
			uid.Store(1)
			held := 0
			for range 2 * bodyShare {
				conn := dial(t, s, fmt.Sprintf("POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", most))
				answer, err := bufio.NewReader(conn).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(answer, "100 Continue") { // the body is being read
					held++
					if _, err := io.WriteString(conn, strings.Repeat(" ", sent)); err != nil {
						t.Fatal(err)
					}
				} else if !strings.Contains(answer, "429") {
					t.Errorf("answered %q", answer)
				}
				awaitArrived(t, s.Config.Handler.(*Server), "uid:1", int64(held*sent))
			}
			if sent == 1 && held != 2*bodyShare || sent > 1 && held > bodyShare/2 {
				t.Errorf("%d bodies of %d bytes are held", held, sent)
			}
			uid.Store(2)
			body := `{"language": "exec", "args": ["x"]}`
			for _, body := range []string{body, body + strings.Repeat(" ", most-len(body))} {
				answer, err := s.Client().Post(s.URL+"/execute", "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(answer.Body)
				if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
					t.Errorf("another tenant's body of %d bytes: %s %s", len(body), answer.Status, text)
				}
			}
		})
	}
}

// What has arrived is counted as long as its image is looked at, and not when its run has ended.
func TestUploadsThatAreLookedAt(t *testing.T) {
	const most = 1 << 20
	looked := make(chan struct{})
	s := newServer(t, &fakeRuntime{onImage: func() error { <-looked; return &sandbox.ImageError{} }}, Options{MaxBodyBytes: most})
	s.Start()
	server := s.Config.Handler.(*Server)
	body := `{"language": "exec", "args": ["x"], "image": "x"}`
	body += strings.Repeat(" ", most-len(body))
	post := func() int { return post(t, s, body) }
	var clients sync.WaitGroup
	for i := range bodyShare / 2 {
		clients.Go(func() {
			if status := post(); status == http.StatusTooManyRequests {
				t.Errorf("status %d", status)
			}
		})
		awaitArrived(t, server, "", int64((i+1)*most))
	}
	if status := post(); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
	close(looked)
	clients.Wait()
	if status := post(); status == http.StatusTooManyRequests {
		t.Errorf("afterwards: %d", status)
	}
	server.bodies.mu.Lock()
	defer server.bodies.mu.Unlock()
	if server.bodies.sum != 0 || len(server.bodies.of) > 0 {
		t.Errorf("%d bytes are counted, %v", server.bodies.sum, server.bodies.of)
	}
}

// What waits for a place is held in memory, and counts.
func TestUploadsThatWait(t *testing.T) {
	const most = 1 << 20
	ready, end := make(chan struct{}), make(chan struct{})
	rt := &fakeRuntime{program: func(*fakeContainer, sandbox.Process) sandbox.Exit {
		close(ready)
		<-end
		return sandbox.Exit{}
	}}
	s := newServer(t, rt, Options{MaxBodyBytes: most, Ledger: capacity.New(capacity.Limits{Runs: 1, Queue: 10, MemoryBytes: 1 << 40})})
	s.Start()
	server := s.Config.Handler.(*Server)
	body := `{"language": "exec", "args": ["x"]}`
	var clients sync.WaitGroup
	clients.Go(func() { post(t, s, body) })
	<-ready
	rt.program = nil
	clients.Go(func() {
		if status := post(t, s, body+strings.Repeat(" ", most-len(body))); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
	for server.Ledger.Load().Waiting == 0 {
		if t.Context().Err() != nil || t.Failed() {
			t.Fatal("nothing waits")
		}
		<-time.After(time.Millisecond)
	}
	awaitArrived(t, server, "", most)
	close(end)
	clients.Wait()
	server.bodies.mu.Lock()
	defer server.bodies.mu.Unlock()
	if server.bodies.sum != 0 {
		t.Errorf("%d bytes are counted", server.bodies.sum)
	}
}

// post sends a request, and returns the status of its answer.
func post(t *testing.T, s *httptest.Server, body string) int {
	t.Helper()
	answer, err := s.Client().Post(s.URL+"/execute", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// awaitArrived waits until so much of a tenant's is there.
func awaitArrived(t *testing.T, s *Server, tenant string, bytes int64) {
	t.Helper()
	held := func() int64 {
		s.bodies.mu.Lock()
		defer s.bodies.mu.Unlock()
		return s.bodies.of[tenant]
	}
	for held() < bytes {
		if t.Context().Err() != nil {
			t.Fatal("it does not arrive")
		}
		<-time.After(time.Millisecond)
	}
}
