package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// open begins a stream of events, which ends with the test.
func (s *instance) open(t *testing.T, accept string, req api.Request) (status int, kind string, body io.Reader) {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/execute", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.StatusCode, resp.Header.Get("Content-Type"), resp.Body
}

// events reads a stream to its end and checks what holds for every one.
func events(t *testing.T, kind string, body io.Reader) []api.Event {
	t.Helper()
	var all []api.Event
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 16<<20)
	var id, name string
	for lines.Scan() {
		line := lines.Text()
		if kind == "text/event-stream" {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "id":
				id = value
				continue
			case "event":
				name = value
				continue
			case "":
				continue
			}
			line = value
		}
		e := decode[api.Event](t, []byte(line))
		if kind == "text/event-stream" && (name != string(e.Type) || id != jsonOf(t, e.Seq)) {
			t.Errorf("id %s event %s of %s", id, name, line)
		}
		if e.Seq != int64(len(all)+1) || len(all) > 0 && e.T < all[len(all)-1].T {
			t.Errorf("event %d is out of order: %s", len(all)+1, line)
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(all) < 3 || all[0].Type != api.EventStart || all[len(all)-1].Type != api.EventResult {
		t.Fatalf("%d events, from start to result expected", len(all))
	}
	return all
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text/event-stream", "application/x-ndjson"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			status, got, body := shared.open(t, kind, api.Request{Code: "import sys\nfor i in range(3): print(i, '🦀', flush=True)\nsys.stderr.write('e')\nsys.stdout.buffer.write(b'\\xff')"})
			if status != 200 || got != kind {
				t.Fatalf("%d %s", status, got)
			}
			var stdout, stderr []byte
			var result *api.Result
			for _, e := range events(t, kind, body) {
				data := []byte(e.Data)
				if e.DataBase64 != "" {
					if err := json.Unmarshal([]byte(`"`+e.DataBase64+`"`), &data); err != nil {
						t.Fatal(err)
					}
				}
				switch e.Type {
				case api.EventStdout:
					stdout = append(stdout, data...)
				case api.EventStderr:
					stderr = append(stderr, data...)
				case api.EventResult:
					result = e.Result
				}
			}
			if string(stdout) != "0 🦀\n1 🦀\n2 🦀\n\xff" || string(stderr) != "e" || !result.Success {
				t.Errorf("stdout %q, stderr %q, %+v", stdout, stderr, result)
			}
		})
	}
}

// What is refused before it begins has a status of its own, also for a stream.
func TestRefusedStream(t *testing.T) {
	t.Parallel()
	shared.execute(t, `{"code":"x","language":"nothing"}`, "Accept", "text/event-stream").problem(t, 422)
}

// Output reaches the client while the program runs.
func TestOutputComesAtOnce(t *testing.T) {
	t.Parallel()
	_, _, body := shared.open(t, "application/x-ndjson", api.Request{Code: "print('first', flush=True); input()", TimeoutSeconds: 60})
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		e := decode[api.Event](t, lines.Bytes())
		if e.Type == api.EventResult {
			break
		}
		if e.Type == api.EventStdout {
			return
		}
	}
	t.Error("no output before the end")
}

// A client that goes away ends its run, whatever the program does about it.
func TestGoneClientEndsItsRun(t *testing.T) {
	s := started(t)
	for name, accept := range map[string]string{"stream": "text/event-stream", "plain": "application/json"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				body := `{"language":"bash","code":"trap '' TERM; while true; do sleep 1; done","timeout_seconds":300}`
				_, _ = s.try(ctx, "POST", "/execute", strings.NewReader(body), "Content-Type", "application/json", "Accept", accept)
			}()
			until(t, "it runs", func() bool { return s.health(t).Load == 1 })
			cancel()
			<-done
			until(t, "it has ended", func() bool { return s.health(t).Load == 0 })
		})
	}
}

// A client that does not read holds up its own run alone, and takes no memory.
func TestSlowClientIsAlone(t *testing.T) {
	s := started(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"code":"while True: print('x' * 10000)","limits":{"stream_mb":1000},"timeout_seconds":300}`
	if _, err := io.WriteString(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\nContent-Type: application/json\r\nContent-Length: "+jsonOf(t, len(body))+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	before := s.resident(t)
	for range 5 {
		if r := s.run(t, api.Request{Code: "print(1)"}); r.Stdout != "1\n" {
			t.Errorf("another run: %+v", r)
		}
	}
	time.Sleep(time.Second) // the flood has every chance to pile up
	if grown := s.resident(t) - before; grown > 32<<20 {
		t.Errorf("%d MiB more in memory", grown>>20)
	}
	conn.Close()
	until(t, "it has ended", func() bool { return s.health(t).Load == 0 })
}
