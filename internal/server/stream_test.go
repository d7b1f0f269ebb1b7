package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A stream that has begun ends with a result, also when the request turns out to be one
// that cannot be run here; one that has not is answered with the problem.
func TestStreamOfARefusal(t *testing.T) {
	refused := &sandbox.UnsupportedError{What: "isolation full", Reason: "x"}
	for name, heartbeat := range map[string]time.Duration{"at once": 0, "after heartbeats": 10 * time.Millisecond} {
		s := newServer(t, &fakeRuntime{heartbeat: heartbeat, onCreate: func() error { <-time.After(5 * heartbeat); return refused }}, Options{})
		s.Start()
		for _, kind := range []string{ndjson, eventStream} {
			t.Run(name+" "+kind, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/execute", strings.NewReader(`{"language": "exec", "args": ["x"]}`))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", kind)
				answer, err := s.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				if heartbeat == 0 {
					if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(text), "isolation full") {
						t.Errorf("%s %s", answer.Status, text)
					}
					return
				}
				last := lastEvent(t, answer.Body)
				if last.Type != api.EventResult || last.Result == nil || last.Result.Status != api.StatusSandboxError || !strings.Contains(last.Result.Message, "isolation full") {
					t.Errorf("the last event of %s is %+v", answer.Status, last)
				}
			})
		}
	}
}

// lastEvent reads a stream, all of whose events have to follow each other.
func lastEvent(t *testing.T, stream io.Reader) (last api.Event) {
	t.Helper()
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		text, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData && !strings.HasPrefix(text, "{") {
			continue
		}
		var event api.Event
		if err := json.Unmarshal([]byte(text), &event); err != nil || event.Seq != last.Seq+1 {
			t.Fatalf("%q after number %d: %v", text, last.Seq, err)
		}
		last = event
	}
	return last
}
