package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	// short is a deadline of the server's under test, patient how long a test waits
	// until it says that there is none.
	short   = 100 * time.Millisecond
	patient = 20 * time.Second
)

// dial connects to a server and sends text.
func dial(t *testing.T, s *httptest.Server, text string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A body that never comes holds its connection no longer than one that somebody reads,
// whatever the answer is.
func TestABodyThatNeverComes(t *testing.T) {
	s := newServer(t, &fakeRuntime{}, Options{BodyTimeout: short})
	s.Start()
	for request, status := range map[string]string{
		"POST /execute HTTP/1.1\r\nContent-Type: application/json\r\n": "400",
		"POST /execute HTTP/1.1\r\nContent-Type: text/plain\r\n":       "415",
		"POST /nowhere HTTP/1.1\r\n":                                   "404",
		"DELETE /execute HTTP/1.1\r\n":                                 "405",
		"GET /livez HTTP/1.1\r\n":                                      "200",
		"GET /openapi.json HTTP/1.1\r\n":                               "200",
	} {
		for _, body := range []string{"Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n3\r\n{"} {
			conn := dial(t, s, request+"Host: localhost\r\n"+body)
			answer, err := io.ReadAll(conn) // until the server gives up the connection
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+status) {
				t.Errorf("%q%q: %.80q, %v; want %s, and the end", request, body, answer, err, status)
			}
		}
	}
}

// An answer that nobody takes holds neither its connection nor what is answered.
func TestAnAnswerThatNobodyTakes(t *testing.T) {
	rt := &fakeRuntime{program: func(c *fakeContainer, _ sandbox.Process) sandbox.Exit {
		c.files["large"] = make([]byte, 32<<20)
		return sandbox.Exit{}
	}}
	for name, request := range map[string]string{
		"document": strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 2000),
		"metrics":  strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 4000),
		"page":     strings.Repeat("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n", 100),
		"result":   execution(`{"language": "exec", "args": ["x"], "collect": ["large"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, rt, Options{AnswerTimeout: short})
			closed := make(chan struct{}, 1)
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- struct{}{}
				}
			}
			s.Start()
			conn := dial(t, s, "")
			go func() { _, _ = io.WriteString(conn, request) }()
			select {
			case <-closed:
			case <-time.After(patient):
				t.Error("the server still waits")
			}
		})
	}
}

// execution is a request for a run.
func execution(body string) string {
	return fmt.Sprintf("POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// Deadlines are for what does not move: a run may take longer, and the connection goes
// on afterwards.
func TestDeadlinesLetRunsBe(t *testing.T) {
	rt := &fakeRuntime{program: func(*fakeContainer, sandbox.Process) sandbox.Exit {
		<-time.After(3 * short)
		return sandbox.Exit{}
	}}
	s := newServer(t, rt, Options{BodyTimeout: short, AnswerTimeout: short})
	s.Start()
	conn := dial(t, s, "")
	answers := bufio.NewReader(conn)
	for i := range 2 {
		if _, err := io.WriteString(conn, execution(`{"language": "exec", "args": ["x"]}`)); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `"status":"ok"`) {
			t.Errorf("run %d: %s, %.300s, %v", i, answer.Status, text, err)
		}
	}
}

// A stream of HTTP/2 that waits for a run is not taken for one that nobody reads.
func TestDeadlinesLetRunsBeOverHTTP2(t *testing.T) {
	rt := &fakeRuntime{program: func(*fakeContainer, sandbox.Process) sandbox.Exit {
		<-time.After(3 * short)
		return sandbox.Exit{}
	}}
	s := newServer(t, rt, Options{BodyTimeout: short, AnswerTimeout: short})
	s.EnableHTTP2 = true
	s.StartTLS()
	answer, err := s.Client().Post(s.URL+"/execute", "application/json", strings.NewReader(`{"language": "exec", "args": ["x"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.ProtoMajor != 2 || !strings.Contains(string(text), `"status":"ok"`) {
		t.Errorf("%s %s: %.300s, %v", answer.Proto, answer.Status, text, err)
	}
}

// A stream of HTTP/2 whose client resets it at once is kept by nobody once it has been answered,
// though the deadlines of its request are far away.
func TestDeadlinesKeepNoStreams(t *testing.T) {
	s := newServer(t, &fakeRuntime{}, Options{BodyTimeout: time.Hour, AnswerTimeout: time.Hour})
	var begun, kept atomic.Int64
	served := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		kept.Add(1)
		// The stream has its context, and whoever has the stream has that.
		runtime.SetFinalizer(r.Context(), func(context.Context) { kept.Add(-1) })
		if r.Method == http.MethodPost {
			<-r.Context().Done() // the stream is over before a deadline is set
		}
		served.ServeHTTP(w, r)
	})
	s.EnableHTTP2 = true
	s.StartTLS()
	if answer, err := s.Client().Get(s.URL + "/livez"); err != nil { // so that there is a connection
		t.Fatal(err)
	} else {
		_ = answer.Body.Close()
	}
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/nowhere", iotest.ErrReader(errors.New("it never comes")))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := s.Client().Do(r); err == nil {
			_ = answer.Body.Close()
			t.Error("a request without its body is answered")
		}
		cancel()
	}
	for end := time.Now().Add(patient); kept.Load() > 0 && time.Now().Before(end); time.Sleep(short) {
		runtime.GC()
	}
	if kept.Load() > 0 || begun.Load() < 50 {
		t.Errorf("%d of %d streams are kept", kept.Load(), begun.Load())
	}
}
