package sandbox

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Traces go to the collector that the environment names. They tell how a run went
// and nothing of what it was.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var sent []byte
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unzipped
		}
		content, err := io.ReadAll(io.LimitReader(body, 1<<20))
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, content...)
	}))
	defer collector.Close()
	s, err := launch("OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL)
	if err != nil {
		t.Fatal(err)
	}
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	r := s.run(t, api.Request{Code: "print('the-code')", Env: map[string]string{"A": "the-value"}}, "traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	s.execute(t, `{"code":"1","files":{"../the-file":""}}`).problem(t, 422)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"sandbox-server", "execute", "queue", r.ID, "python", "problem:invalid", "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6"} {
		if !bytes.Contains(sent, []byte(want)) {
			t.Errorf("the trace does not hold %q", want)
		}
	}
	for _, secret := range []string{"the-code", "the-value", "the-file"} {
		if strings.Contains(string(sent), secret) {
			t.Errorf("the trace holds %q", secret)
		}
	}
}
