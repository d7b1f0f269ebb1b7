package hostile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// call asks for a path without a body.
func (c *combination) call(t *testing.T, method, path string) (int, string) {
	t.Helper()
	status, _, answer := c.request(t, method, path, nil)
	return status, answer
}

// post sends a body as it is, and returns the status, the headers and the answer.
func (c *combination) post(t *testing.T, body io.Reader, header ...string) (int, http.Header, string) {
	t.Helper()
	return c.request(t, "POST", "/execute", body, append([]string{"Content-Type", "application/json"}, header...)...)
}

func (c *combination) request(t *testing.T, method, path string, body io.Reader, header ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", ourKey)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// endless is a body that never ends.
type endless struct{ sent int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.sent += len(b)
	return len(b), nil
}

// TestG1 sends bodies without an end, packed ones and ones that lie about their
// length: they are refused, and the server does not grow.
func TestG1(t *testing.T) {
	each(t, "G1", "Bodies without an end, packed ones, and ones that lie about their length.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		const memory = "process_resident_memory_bytes"
		before := c.gauge(memory)
		for range 4 {
			body := &endless{}
			if status, _, answer := c.post(t, io.NopCloser(body)); status != 413 && status != 0 || body.sent > 64<<20 {
				t.Errorf("a body without an end: %d %.200s after %d MiB", status, answer, body.sent>>20)
			}
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.CopyN(w, &endless{}, 512<<20)
		w.Close()
		for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
			if status, _, answer := c.post(t, bytes.NewReader(packed.Bytes()), "Content-Encoding", coding); status/100 != 4 {
				t.Errorf("a body in %s: %d %.200s", coding, status, answer)
			}
		}
		// A small one in a coding is not taken for what it is not, either.
		packed.Reset()
		w = gzip.NewWriter(&packed)
		fmt.Fprint(w, `{"code":"print(1)"}`)
		w.Close()
		if status, _, answer := c.post(t, &packed, "Content-Encoding", "gzip"); status/100 != 4 {
			t.Errorf("a small packed body: %d %.200s", status, answer)
		}
		for range 8 { // it promises a megabyte and goes away
			conn, err := net.Dial("tcp", strings.TrimPrefix(c.server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: "+ourKey+"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"code\":\"print(1)\"}")
			_ = conn.(*net.TCPConn).SetLinger(0) // a reset
			conn.Close()
		}
		if grown := c.gauge(memory) - before; grown > 128<<20 {
			t.Errorf("the server has grown by %d MiB", grown>>20)
		}
	})
}

// TestG2 holds thousands of connections open that say little or nothing. The server ends
// those that do not come to the end of their headers.
func TestG2(t *testing.T) {
	each(t, "G2", "Thousands of connections that say little or nothing.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		slow, err := net.Dial("tcp", strings.TrimPrefix(c.server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if _, err := io.WriteString(slow, "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-"); err != nil {
			t.Fatal(err)
		}
		const memory = "process_resident_memory_bytes"
		before := c.gauge(memory)
		connections := 1000
		if *allOf {
			connections = 10000
		}
		for i := range connections {
			conn, err := net.Dial("tcp", strings.TrimPrefix(c.server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			say := []string{"", "P", "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: " + ourKey + "\r\nX-", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
				"POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: " + ourKey + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"}[i%5]
			if _, err := io.WriteString(conn, say); err != nil {
				t.Fatal(err)
			}
		}
		c.greets(t, "python")
		if grown := c.gauge(memory) - before; grown > 128<<20+connections*8<<10 {
			t.Errorf("%d connections take %d MiB", connections, grown>>20)
		}
		_ = slow.SetReadDeadline(time.Now().Add(time.Minute))
		if answer, err := io.ReadAll(slow); err != nil { // nothing, or that it took too long
			t.Errorf("headers without an end: %.300q, %v", answer, err)
		}
	})
}

// faultOfCaller fails when what cannot be run is not said to be the caller's fault, or
// its program's, in words.
func (c *combination) faultOfCaller(t *testing.T, what string, req api.Request) {
	t.Helper()
	r, err := c.client.Execute(t.Context(), req)
	var refused *client.Error
	var unsent *client.RequestError
	switch {
	case errors.As(err, &unsent): // it cannot even be written down
	case errors.As(err, &refused):
		if p := refused.Problem; p.Status/100 != 4 || p.Detail == "" {
			t.Errorf("%s: %d %.300s", what, p.Status, p.Detail)
		}
	case err != nil:
		t.Errorf("%s: %.300v", what, err)
	case r.Status != api.StatusOK && r.Status != api.StatusRuntimeError && r.Status != api.StatusCompileError:
		t.Errorf("%s: status %s, %.300s", what, r.Status, r.Message)
	case r.Status == api.StatusRuntimeError && r.Message == "":
		t.Errorf("%s: no word of why", what)
	}
}

// TestD27 asks for what cannot be, and breaks what the server needs: no answer tells what
// this host's directories are, or what the server is made of.
func TestD27(t *testing.T) {
	ask := map[string]string{
		"no JSON":       `{"code":`,
		"another type":  `{"code":1}`,
		"a language":    `{"code":"x","language":"../../../etc"}`,
		"a version":     `{"code":"x","language":"python","version":"9.9"}`,
		"an image":      `{"code":"x","image":"/etc/passwd"}`,
		"a file":        `{"code":"x","files":{"../../x":"y"}}`,
		"a directory":   `{"code":"print(1)","dir":"no/such"}`,
		"a program":     `{"code":"x","language":"exec","args":["./no/such"]}`,
		"a requirement": `{"code":"print(1)","requirements":["file:///etc"]}`,
		"a pattern":     `{"code":"print(1)","collect":["[","/etc/*"]}`,
		"a limit":       `{"code":"print(1)","limits":{"memory_mb":-1}}`,
		"an argument":   `{"code":"print(1)","args":["\u0000"]}`,
		"a path":        `{"code":"print(1)","env":{"PATH":"/no/such","LD_PRELOAD":"/no/such.so"}}`,
		"an interface":  `{"code":"print(1)","network":{"mode":"internet","allow":["/etc"]}}`,
	}
	each(t, "D27", "What cannot be is asked for, and what the server needs is broken: answers tell nothing of the host.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		told := regexp.MustCompile(regexp.QuoteMeta(work) + `|` + regexp.QuoteMeta(os.TempDir()) + `/sandbox|/run/sandbox-run|/root/|/home/|goroutine \d|\.go:\d|runtime error`)
		quiet := func(what, answer string) {
			t.Helper()
			if found := told.FindString(answer); found != "" {
				t.Errorf("%s: the answer tells of %q: %.600s", what, found, answer)
			}
		}
		for what, body := range ask {
			_, _, answer := c.post(t, strings.NewReader(body))
			quiet(what, answer)
		}
		broken := []string{filepath.Join(c.data(), "cache")}
		if c.behind != nil {
			broken = append(broken, filepath.Join(c.data()+"-behind", "cache"))
		}
		for _, cache := range broken {
			if err := errors.Join(os.Rename(cache, cache+"-away"), os.WriteFile(cache, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := errors.Join(os.Remove(cache), os.Rename(cache+"-away", cache)); err != nil {
					t.Error(err)
				}
			}()
		}
		for what, body := range map[string]string{
			"a cache that cannot be made": `{"code":"package main\nfunc main() {}","language":"go"}`,
			"packages that have no place": `{"code":"import six","requirements":["six"]}`,
		} {
			status, _, answer := c.post(t, strings.NewReader(body))
			if status/100 != 5 && c.behind == nil && c.runtime == "local" {
				t.Errorf("%s: %d %.300s", what, status, answer)
			}
			quiet(what, answer)
		}
	})
}

// TestG12 names files as attackers do. What is taken lies in the workspace, and what a
// name shadows is the program's own affair.
func TestG12(t *testing.T) {
	names := []string{"/etc/x", "../x", "a/../../b", "a/./b", "a//b", "a/", ".", "..", "", `C:\x`, `\\?\x`, "a\x00b", "a\nb", "-rf", "~", "~/.ssh/x", "$HOME", "`id`", "main.c;id", "a b", "\u202etxt.c",
		strings.Repeat("a", 4096), strings.Repeat("a/", 3000) + "b", strings.Repeat("é", 200), "main", "main.out", "a.out", "program", "stdin", "stdout", "result.json", ".sandbox-run/init",
		"proc/self/mem", "dev/null", "go.mod", "Cargo.toml", "package.json", "Makefile", "__pycache__/main.cpython-311.pyc", "main.py/x", "main.c/x"}
	each(t, "G12", "Names of files as attackers write them.", func(t *testing.T, c *combination) {
		for lang, code := range map[string]string{"python": hello["python"], "c": hello["c"], "bash": hello["bash"]} {
			if lang == "bash" && !*allOf {
				continue
			}
			c.warm(t, lang)
			for _, name := range names {
				c.faultOfCaller(t, fmt.Sprintf("%s and %.40q", lang, name), api.Request{Language: lang, Code: code, Files: map[string]api.InputFile{name: {Content: "#error\n"}}})
			}
		}
	})
}

// TestG13 gives more arguments and variables than a program can have, larger ones, and
// ones that mean something to whoever starts it.
func TestG13(t *testing.T) {
	many := func(n, size int) (list []string) {
		for range n {
			list = append(list, strings.Repeat("a", size))
		}
		return list
	}
	env := map[string]string{}
	for i := range 5000 {
		env[fmt.Sprintf("V%d", i)] = strings.Repeat("a", 500)
	}
	each(t, "G13", "More arguments and variables than a program can have, larger ones, and ones that mean something to whoever starts it.", func(t *testing.T, c *combination) {
		for _, lang := range []string{"python", "bash", "javascript", "c"} {
			if (lang == "javascript" || lang == "c") && !*allOf {
				continue
			}
			c.warm(t, lang)
			for what, req := range map[string]api.Request{
				"4096 arguments":          {Args: many(4096, 10)},
				"5000 arguments":          {Args: many(5000, 10)},
				"4096 long arguments":     {Args: many(4096, 2000)},
				"an argument of 128 KiB":  {Args: many(1, 128<<10)},
				"an argument of 2 MiB":    {Args: many(1, 2<<20)},
				"empty arguments":         {Args: many(100, 0)},
				"options":                 {Args: []string{"--", "-c", "--help", "-e", "\n", "\x01", "$(id)", "{}"}},
				"a variable of 128 KiB":   {Env: map[string]string{"A": strings.Repeat("a", 128<<10)}},
				"a variable of 2 MiB":     {Env: map[string]string{"A": strings.Repeat("a", 2<<20)}},
				"5000 variables":          {Env: env},
				"a name of 128 KiB":       {Env: map[string]string{strings.Repeat("A", 128<<10): "a"}},
				"an empty name":           {Env: map[string]string{"": "a"}},
				"a name with a sign":      {Env: map[string]string{"A=B": "a"}},
				"a name with NUL":         {Env: map[string]string{"A\x00B": "a"}},
				"a value with NUL":        {Env: map[string]string{"A": "a\x00b"}},
				"a world that is another": {Env: map[string]string{"PATH": "", "HOME": "/etc", "TMPDIR": "nowhere", "USER": "root", "LANG": "xx_XX.nonsense", "TZ": "../../../etc/passwd", "IFS": "x"}},
				"a loader's":              {Env: map[string]string{"LD_PRELOAD": "/etc/passwd", "LD_LIBRARY_PATH": "/proc/self/fd", "LD_AUDIT": "/dev/zero", "GLIBC_TUNABLES": "glibc.malloc.check=3:" + strings.Repeat("A=B:", 1000)}},
				"no standard input":       {Stdin: strings.Repeat("\x00\u2028", 1<<20)},
			} {
				req.Language, req.Code, req.TimeoutSeconds = lang, hello[lang], 20
				c.faultOfCaller(t, lang+", "+what, req)
			}
			c.greets(t, lang)
		}
	})
}

// TestG23 names languages, versions, keys and paths that nobody has: no metric has
// their name.
func TestG23(t *testing.T) {
	each(t, "G23", "Languages, versions, keys and paths that nobody has, to be names of metrics.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		for i := range 50 {
			c.faultOfCaller(t, "a made-up language", api.Request{Language: fmt.Sprintf("madeup%d", i), Version: "madeup", Code: "1"})
			for _, path := range []string{"/madeup%d", "/v1/madeup%d", "/execute/madeup%d", "/v1/containers/madeup%d"} {
				c.call(t, "GET", fmt.Sprintf(path, i))
				c.call(t, fmt.Sprintf("MADEUP%d", i), "/execute")
			}
		}
		if status, text := c.call(t, "GET", "/metrics"); status != 200 || !strings.Contains(text, "sandbox_") {
			t.Errorf("the metrics: %d %.200s", status, text)
		} else if i := strings.Index(strings.ToLower(text), "madeup"); i >= 0 {
			t.Errorf("the metrics say %.100q", text[max(0, i-50):])
		}
	})
}

// TestG25 prints what breaks the formats that output travels in: every form of answer
// is well-formed, says what it is, and brings the bytes back.
func TestG25(t *testing.T) {
	const printed = "</script><b>\u2028\u2029\x00\x1b[2J\r\n\r\nevent: result\ndata: {}\n\nid: 1\r\"\\\ufeff\U0001f980"
	code := "import sys; sys.stdout.buffer.write(" + pyBytes(printed+"\xff\xfe\xed\xa0\x80\xc0\x80") + ")"
	each(t, "G25", "Output that breaks the formats in which it travels.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		body, _ := json.Marshal(api.Request{Code: code, Language: "python"})
		for accept, kind := range map[string]string{"": "application/json", "text/html": "application/json", "text/event-stream": "text/event-stream", "application/x-ndjson": "application/x-ndjson"} {
			status, header, answer := c.post(t, bytes.NewReader(body), "Accept", accept)
			if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), kind) || header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("for %q: %d %v", accept, status, header)
				continue
			}
			var r api.Result
			switch kind {
			case "application/json":
				if err := json.Unmarshal([]byte(answer), &r); err != nil {
					t.Errorf("for %q: %v", accept, err)
				}
			default: // the last event is the result, and none was forged
				var last api.Event
				results := 0
				for line := range strings.SplitSeq(answer, "\n") {
					line = strings.TrimPrefix(line, "data: ")
					if !strings.HasPrefix(line, "{") {
						continue
					}
					if err := json.Unmarshal([]byte(line), &last); err != nil {
						t.Errorf("for %q: %v in %.200q", accept, err, line)
					}
					if last.Type == api.EventResult {
						results++
					}
				}
				if results != 1 || last.Result == nil {
					t.Errorf("for %q: %d results", accept, results)
					continue
				}
				r = *last.Result
			}
			if !strings.HasPrefix(r.Stdout, printed) || !strings.HasSuffix(r.Stdout, "\ufffd") {
				t.Errorf("for %q: stdout %q", accept, r.Stdout)
			}
		}
	})
}

// pyBytes writes bytes as Python does.
func pyBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return "b'" + b.String() + "'"
}

// TestG6 resets its connections in the middle of a run, instead of closing them.
func TestG6(t *testing.T) {
	each(t, "G6", "Connections are reset in the middle of a run.", func(t *testing.T, c *combination) {
		body := `{"language":"bash","code":"trap '' TERM; while :; do echo x; sleep 0.1; done","timeout_seconds":100}`
		for _, accept := range []string{"application/json", "text/event-stream", "application/x-ndjson"} {
			for _, wait := range []time.Duration{0, 50 * time.Millisecond, 500 * time.Millisecond} {
				conn, err := net.Dial("tcp", strings.TrimPrefix(c.server.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: "+ourKey+"\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", accept, len(body), body)
				time.Sleep(wait)
				_ = conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		}
		c.going() // it would be one of the runs
		defer c.begin()
		c.idles(t)
	})
}
