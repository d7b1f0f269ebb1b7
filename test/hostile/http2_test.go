package hostile

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// streams is a connection of HTTP/2 that keeps to none of its rules.
type streams struct {
	*http2.Framer
	conn *tls.Conn
	next uint32
}

// dial begins a connection of HTTP/2 with a server whose certificate roots trust.
func dial(t *testing.T, server *testenv.Server, roots *x509.CertPool) *streams {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(server.URL, "http://"), &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Fatalf("it speaks %q", got)
	}
	s := &streams{http2.NewFramer(conn, conn), conn, 1}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return s
}

// fields is a block of headers, in pairs of names and values.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.Bytes()
}

// asked are the fields of a request for a run.
var asked = []string{":method", "POST", ":scheme", "https", ":authority", "localhost", ":path", "/execute", "x-api-key", ourKey, "content-type", "application/json"}

// open begins a stream, and tells its number.
func (s *streams) open(block []byte, complete bool) (id uint32, err error) {
	id = s.next
	s.next += 2
	return id, s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: complete})
}

// status is the first that the server answers, or why there is none.
func (s *streams) status() string {
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := s.ReadFrame()
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame:
			return f.ErrCode.String()
		case *http2.GoAwayFrame:
			return f.ErrCode.String()
		}
		if err != nil {
			return err.Error()
		}
	}
}

// withPair is a request's fields with one more, at the end or in the place of one that it has.
func withPair(name, value string, more ...string) []string {
	pairs := slices.Clone(asked)
	if i := slices.Index(pairs, name); i >= 0 && len(more) == 0 {
		pairs[i+1] = value
		return pairs
	}
	return append(append(pairs, name, value), more...)
}

// TestHTTP2Fields is G9 for the fields of HTTP/2: requests that a server of HTTP/1 behind
// another could take for two, or for another one.
func TestHTTP2Fields(t *testing.T) {
	const body = `{"language":"bash","code":"echo hello"}`
	each(t, "G9", "Requests of HTTP/2 with fields that it has not, twice, or in the wrong place.", func(t *testing.T, c *combination) {
		other, roots, stop := c.secured(t)
		defer stop()
		ask := func(pairs []string) string {
			s := dial(t, other.server, roots)
			defer s.conn.Close()
			id, err := s.open(fields(pairs...), true)
			if err := errors.Join(err, s.WriteData(id, true, []byte(body))); err != nil {
				t.Fatal(err)
			}
			return s.status()
		}
		if status := ask(asked); status != "200" { // or this proves nothing
			t.Fatalf("a plain request: %s", status)
		}
		for what, pairs := range map[string][]string{
			"two paths":             append([]string{":path", "/livez"}, asked...),
			"a path at the end":     append(slices.Clone(asked), ":path", "/execute"),
			"no path":               withPair(":path", ""),
			"a path with a line":    withPair(":path", "/execute HTTP/1.1\r\nX: y"),
			"another's path":        withPair(":path", "execute"),
			"no method":             withPair(":method", ""),
			"a method with a line":  withPair(":method", "POST /x HTTP/1.1\r\nX:"),
			"a method of two words": withPair(":method", "POST /execute"),
			"a field of its own":    append([]string{":hostile", "x"}, asked...),
			"a status":              append([]string{":status", "200"}, asked...),
			"capitals":              withPair("X-Capital", "x"),
			"a name with a colon":   withPair("x:y", "x"),
			"a name with a line":    withPair("x\r\ny", "x"),
			"a name with nothing":   withPair("x\x00y", "x"),
			"a value with a line":   withPair("x", "y\r\ncontent-length: 5"),
			"a value with nothing":  withPair("x", "\x00"),
			"chunks":                withPair("transfer-encoding", "chunked"),
			"a connection":          withPair("connection", "close"),
			"an upgrade":            withPair("upgrade", "websocket"),
			"too short a length":    withPair("content-length", "5"),
			"too long a length":     withPair("content-length", "500"),
			"two lengths":           withPair("content-length", "5", "content-length", fmt.Sprint(len(body))),
			"much":                  withPair("x", strings.Repeat("a", 200<<10)),
		} {
			if status := ask(pairs); status == "200" {
				t.Errorf("%s: it is served", what)
			}
		}
	})
}

// secured is a server beside the combination's that speaks TLS, and who trusts it.
func (c *combination) secured(t *testing.T) (other *combination, roots *x509.CertPool, stop func()) {
	t.Helper()
	cert, key := filepath.Join(c.dir(), "cert.pem"), filepath.Join(c.dir(), "key.pem")
	roots, err := testenv.SelfSigned(cert, key)
	if err = errors.Join(err, os.Chown(cert, c.uid(), -1), os.Chown(key, c.uid(), -1)); err != nil {
		t.Fatal(err)
	}
	other, stop = c.beside(t, "SANDBOX_TLS_CERT="+cert, "SANDBOX_TLS_KEY="+key, "SANDBOX_MAX_CONCURRENT=4")
	return other, roots, stop
}

// TestRapidReset is G9 for HTTP/2: streams that are reset as soon as they have asked for
// a run, and floods of frames that cost their sender nothing. No run goes on, the server does not grow,
// and it speaks to others.
func TestRapidReset(t *testing.T) {
	const body = `{"language":"bash","code":"trap '' TERM; while :; do sleep 1; done","timeout_seconds":100}`
	floods := map[string]func(*streams) error{
		"streams that are reset": func(s *streams) error {
			id, err := s.open(fields(asked...), true)
			return errors.Join(err, s.WriteData(id, true, []byte(body)), s.WriteRSTStream(id, http2.ErrCodeCancel))
		},
		"streams that are reset before their body": func(s *streams) error {
			id, err := s.open(fields(asked...), true)
			return errors.Join(err, s.WriteRSTStream(id, http2.ErrCodeCancel))
		},
		"headers without an end": func(s *streams) error {
			if s.next == 1 {
				_, err := s.open(fields(asked...), false)
				return err
			}
			return s.WriteContinuation(1, false, fields("x-more", strings.Repeat("a", 8000)))
		},
		"pings": func(s *streams) error { return s.WritePing(false, [8]byte{}) },
		"settings": func(s *streams) error {
			return s.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1})
		},
		"data without bytes": func(s *streams) error {
			if s.next == 1 {
				_, err := s.open(fields(asked...), true)
				return err
			}
			return s.WriteData(1, false, nil)
		},
	}
	each(t, "G9", "Streams of HTTP/2 that are reset as soon as they ask for a run, and floods of its frames.", func(t *testing.T, c *combination) {
		other, roots, stop := c.secured(t)
		defer stop()
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		polite := &http.Client{Transport: transport, Timeout: time.Minute}
		secure := strings.Replace(other.server.URL, "http:", "https:", 1)
		get := func(method, path, body string) string {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), method, secure+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-API-Key", ourKey)
			r.Header.Set("Content-Type", "application/json")
			resp, err := polite.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			answer, err := io.ReadAll(resp.Body)
			if err != nil || resp.ProtoMajor != 2 {
				t.Fatalf("%s: %s, %v", path, resp.Proto, err)
			}
			return string(answer)
		}
		ask := fmt.Sprintf(`{"language":"bash","code":%q}`, hello["bash"])
		get("POST", "/execute", ask)
		before := resident(t, other)
		for range 1 + figures(3) { // what a flood leaves for a while adds up
			for what, flood := range floods {
				s := dial(t, other.server, roots)
				var reading sync.WaitGroup
				reading.Go(func() { _, _ = io.Copy(io.Discard, s.conn) })
				for range 20000 {
					if flood(s) != nil { // the server may well have had enough
						break
					}
				}
				s.conn.Close()
				reading.Wait()
				var health string
				if !testenv.Within(10*time.Second, func() bool { health = get("GET", "/health", ""); return strings.Contains(health, `"load":0,`) }) {
					t.Errorf("%s: a run goes on that nobody waits for: %s", what, health)
				}
				if answer := get("POST", "/execute", ask); !strings.Contains(answer, `"stdout":"hello\n"`) {
					t.Errorf("%s: another client then: %.300s", what, answer)
				}
			}
		}
		if grown := resident(t, other) - before; grown > 128<<10 {
			t.Errorf("the server has grown by %d MiB", grown>>10)
		}
	})
}

// resident is the memory of a server that has no plain port, in KiB.
func resident(t *testing.T, c *combination) (kib int) {
	t.Helper()
	_, rest, _ := strings.Cut(text(fmt.Sprintf("/proc/%d/status", c.server.Cmd.Process.Pid)), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
