package hostile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// refuses fails when a body is not refused with a status, and at a place where one is named.
func (c *combination) refuses(t *testing.T, what, body string, status int, pointer ...string) {
	t.Helper()
	got, _, answer := c.post(t, strings.NewReader(body))
	var p api.Problem
	switch err := json.Unmarshal([]byte(answer), &p); {
	case err != nil || got != status || p.Status != status || p.Detail == "":
		t.Errorf("%s: %d %.300s, want %d", what, got, answer, status)
	case len(pointer) > 0 && (len(p.Errors) == 0 || p.Errors[0].Pointer != pointer[0]):
		t.Errorf("%s: %+v, want %s", what, p.Errors, pointer[0])
	}
}

// TestG3 sends bytes that are no text, in every place: they are refused, or come back
// as they were, and are never something else.
func TestG3(t *testing.T) {
	each(t, "G3", "Bytes that are no text, in every place of a request.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		for _, bad := range []string{"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", `\ud800`, `\udc00\ud800`, `\ud83d\u0041`} {
			for _, body := range []string{
				`{"code":"# BAD"}`, `{"code":"print(1)","stdin":"BAD"}`, `{"code":"print(1)","args":["BAD"]}`, `{"code":"print(1)","env":{"A":"BAD"}}`,
				`{"code":"print(1)","env":{"BAD":"a"}}`, `{"code":"print(1)","files":{"a":"BAD"}}`, `{"code":"print(1)","files":{"BAD":"a"}}`,
				`{"code":"print(1)","files":{"a":{"content":"BAD","encoding":"base64"}}}`, `{"code":"print(1)","collect":["BAD"]}`, `{"code":"print(1)","BAD":1}`,
			} {
				c.refuses(t, fmt.Sprintf("%q in %s", bad, body), strings.ReplaceAll(body, "BAD", bad), 400)
			}
		}
		const text = "\x00\x01 \u2028 \ufeff \ufffd \U0010ffff é é\r\n"
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		r, err := c.client.Execute(t.Context(), api.Request{
			Language: "python", Code: "import sys\nopen('out', 'wb').write(open('in', 'rb').read())\nsys.stdout.buffer.write(sys.stdin.buffer.read() + open('text', 'rb').read())",
			Stdin: text, Files: map[string]api.InputFile{"text": {Content: text}, "in": {Content: base64.StdEncoding.EncodeToString(all), Encoding: api.EncodingBase64}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := base64.StdEncoding.DecodeString(r.Files["out"].Content); err != nil || !bytes.Equal(out, all) || r.Stdout != text+text {
			t.Errorf("status %s, %s, stdout %q, %+v", r.Status, r.Message, r.Stdout, r.Files)
		}
	})
}

// TestG4 sends JSON that two readers would understand in two ways, or that none should.
func TestG4(t *testing.T) {
	each(t, "G4", "JSON that two readers would understand in two ways, or that none should.", func(t *testing.T, c *combination) {
		for what, body := range map[string]string{
			"a hundred thousand levels": `{"code":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
			"and open ones":             strings.Repeat(`{"files":`, 100_000),
			"a field twice":             `{"code":"print(1)","code":"print(2)"}`,
			"limits twice":              `{"code":"print(1)","limits":{"memory_mb":64},"limits":{"memory_mb":65536}}`,
			"a field twice, escaped":    `{"code":"print(1)","cod\u0065":"print(2)"}`,
			"twice below":               `{"code":"print(1)","env":{"A":"1","A":"2"}}`,
			"no number":                 `{"code":"print(1)","timeout_seconds":NaN}`,
			"no end":                    `{"code":"print(1)","timeout_seconds":Infinity}`,
			"a hexadecimal one":         `{"code":"print(1)","timeout_seconds":0x10}`,
			"a second value":            `{"code":"print(1)"} {"code":"print(2)"}`,
			"something behind it":       `{"code":"print(1)"}}`,
			"a comment":                 `{"code":"print(1)"/* */}`,
			"a comma":                   `{"code":"print(1)",}`,
			"other quotes":              `{'code':'print(1)'}`,
			"a mark at the beginning":   "\ufeff{\"code\":\"print(1)\"}",
			"another encoding":          "{\x00\"\x00c\x00",
		} {
			c.refuses(t, what, body, 400)
		}
		var many strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&many, `"K%d":"",`, i)
		}
		c.refuses(t, "many keys", `{"code":"print(1)","env":{`+strings.TrimSuffix(many.String(), ",")+`}}`, 400)
		for what, body := range map[string]string{
			"another case":           `{"code":"print(1)","Limits":{"memory_mb":65536}}`,
			"another case below":     `{"code":"print(1)","limits":{"Memory_MB":65536}}`,
			"a letter that is alike": `{"code":"print(1)","limit\u017f":{}}`,
			"too large a number":     `{"code":"print(1)","timeout_seconds":1e400}`,
			"minus nothing":          `{"code":"print(1)","timeout_seconds":-0}`,
			"a number like another":  `{"code":"print(1)","limits":{"processes":9007199254740993}}`,
			"one past the largest":   `{"code":"print(1)","limits":{"processes":9223372036854775808}}`,
			"a part":                 `{"code":"print(1)","limits":{"open_files":64.5}}`,
		} {
			c.refuses(t, what, body, 422)
		}
	})
}

// TestG5 sends fields that there are not, and other types than there are: each is told
// by its place.
func TestG5(t *testing.T) {
	each(t, "G5", "Fields that there are not, and other types than there are.", func(t *testing.T, c *combination) {
		for body, pointer := range map[string]string{
			`{"code":"x","privileged":true}`:                          "/privileged",
			`{"code":"x","limits":{"memory":1}}`:                      "/limits/memory",
			`{"code":"x","network":{"proxy":"x"}}`:                    "/network/proxy",
			`{"code":"x","files":{"a":{"content":"","mode":"4755"}}}`: "/files/a",
			`{"code":"x","__proto__":{"isolation":"none"}}`:           "/__proto__",
			`{"code":["x"]}`:                                                "/code",
			`{"code":"x","args":{"0":"a"}}`:                                 "/args",
			`{"code":"x","args":["a",["b"]]}`:                               "/args/1",
			`{"code":"x","env":["A=b"]}`:                                    "/env",
			`{"code":"x","env":{"A":null}}`:                                 "/env/A",
			`{"code":"x","env":{"A/~":1}}`:                                  "/env/A~1~0",
			`{"code":"x","files":[]}`:                                       "/files",
			`{"code":"x","timeout_seconds":"5"}`:                            "/timeout_seconds",
			`{"code":"x","timeout_seconds":null}`:                           "/timeout_seconds",
			`{"code":"x","limits":null}`:                                    "/limits",
			`{"code":"x","limits":[]}`:                                      "/limits",
			`{"code":"x","limits":{"processes":true}}`:                      "/limits/processes",
			`{"code":"x","network":"full"}`:                                 "/network",
			`{"code":"x","isolation":"nothing"}`:                            "/isolation",
			`{"code":"x","collect":"*"}`:                                    "/collect",
			`{"code":"x","recompile":"yes"}`:                                "/recompile",
			`{"code":"x","policy":{"imports":"block","allow":["os"]}}`:      "/policy/allow",
			`{"code":"x","limits":{"memory_mb":0}}`:                         "/limits/memory_mb",
			`{"code":"x","limits":{"cpu_seconds":-1}}`:                      "/limits/cpu_seconds",
			`{"code":"x","timeout_seconds":1e300,"limits":{"disk_mb":1.5}}`: "/timeout_seconds",
			`[{"code":"x"}]`:                                                "",
			`null`:                                                          "",
			`"print(1)"`:                                                    "",
		} {
			c.refuses(t, body, body, 422, pointer)
		}
	})
}

// TestG9 sends requests that two servers would read in two ways: none is served, and
// what hides in its body is no request of its own.
func TestG9(t *testing.T) {
	const hidden = `{"code":"print(1)"}` + "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
	each(t, "G9", "Requests that two servers would read in two ways.", func(t *testing.T, c *combination) {
		for what, head := range map[string]string{
			"two lengths":              "Content-Length: 19\r\nContent-Length: 20",
			"two in one":               "Content-Length: 19, 20",
			"a length with a sign":     "Content-Length: +19",
			"a negative length":        "Content-Length: -1",
			"a hexadecimal length":     "Content-Length: 0x13",
			"a length past every":      "Content-Length: 18446744073709551635",
			"a space before the colon": "Content-Length : 19",
			"a space before the name":  "X: y\r\n Content-Length : 19\r\n\x00: z",
			"chunks that are none":     "Transfer-Encoding: xchunked\r\nContent-Length: 19",
			"chunks in chunks":         "Transfer-Encoding: chunked, chunked",
			"chunks twice":             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
			"chunks and what is none":  "Transfer-Encoding: chunked, identity",
			"a tab before chunks":      "Transfer-Encoding: \vchunked",
			"no chunk at all":          "Transfer-Encoding: chunked",
			"a name with a line":       "Content-Length: 19\r\nX\nY: z",
			"a name with nothing":      "Content-Length: 19\r\nX\x00Y: z",
			"a value with nothing":     "Content-Length: 19\r\nX: \x00",
			"a return alone":           "Content-Length: 19\r\nX: a\rTransfer-Encoding: chunked",
			"no name":                  "Content-Length: 19\r\n: x",
			"no colon":                 "Content-Length: 19\r\nX",
			"another host":             "Content-Length: 19\r\nHost: elsewhere",
			"a header without an end":  "X: " + strings.Repeat("a", 128<<10),
		} {
			answer := c.said(t, "POST /execute HTTP/1.1\r\nHost: localhost\r\nX-API-Key: "+ourKey+"\r\nContent-Type: application/json\r\n"+head+"\r\n\r\n"+hidden)
			if n := strings.Count(answer, "HTTP/1.1 "); n != 1 || !strings.HasPrefix(answer, "HTTP/1.1 4") && !strings.HasPrefix(answer, "HTTP/1.1 501") {
				t.Errorf("%s: %d answers: %.300q", what, n, answer)
			}
		}
		for _, line := range []string{"POST /execute", "POST  /execute HTTP/1.1", "POST /execute HTTP/1.1 HTTP/1.0", "POST /execute HTTP/9.9", "PRI * HTTP/2.0", "CONNECT 127.0.0.1:22 HTTP/1.1", "GET /\x00 HTTP/1.1"} {
			if answer := c.said(t, line+"\r\nHost: localhost\r\nX-API-Key: "+ourKey+"\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n"+hidden); strings.Contains(answer, `"stdout"`) {
				t.Errorf("%q: %.300q", line, answer)
			}
		}
	})
}

// said is all that the server answers on a connection, until it has closed it.
func (c *combination) said(t *testing.T, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, text) // it may not want all of it
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// tripwire is a server on the host's loopback that nobody may ask for anything.
func tripwire(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		if n := asked.Load(); n > 0 {
			t.Errorf("the host's loopback was asked %d times", n)
		}
	})
	return l.Addr().String()
}

// TestG17 asks for requirements that are options, addresses, paths and commands to who
// installs them.
func TestG17(t *testing.T) {
	each(t, "G17", "Requirements that are options, addresses, paths or commands.", func(t *testing.T, c *combination) {
		at := tripwire(t)
		for _, line := range []string{
			"--index-url http://AT/", "--index-url=http://AT/", "-i http://AT/", "--extra-index-url http://AT/", "-f http://AT/", "--find-links file:///etc", "-r /etc/passwd", "-c /etc/passwd", "-e .", "--editable=.",
			"--trusted-host AT", "--proxy http://AT", "--no-binary :all:", "--config-settings=x=y", "--python=/bin/sh", "-", "--", " --index-url=http://AT/", "a --global-option=x", "a --hash=sha256:00", "a -r /etc/passwd", "a[b] --config-settings=x",
			"a @ http://AT/a.whl", "a@http://AT/a.whl", "a @ file:///etc/passwd", "a @ file:///proc/self/environ", "git+http://AT/a", "a @ git+ssh://git@AT/a", "hg+http://AT/a", "http://AT/a.whl", "HTTP://AT/a.whl", "file:///etc", "a @ ./b",
			".", "./a", "../../etc", "/etc/passwd", "a/../b", `C:\a`, "a.whl/../../b", "~/a", "a==${SECRET}", "$HOME", "a==`id`", "$(id)", "a;id", "a|id", "a&&id", "a # b", `a \`, "a\n--index-url=http://AT/", "a\r-r /etc/passwd",
			"a\u2028-r /etc/passwd", "a\x00b", "", " ", "\u202ea", "a b", "a==", "[b]", "a[", "a ; os_name == os.system('id')", strings.Repeat("a", 2000),
		} {
			line = strings.ReplaceAll(line, "AT", at)
			body, _ := json.Marshal(api.Request{Language: "python", Code: "print('ran')", Requirements: []string{"six", line}})
			c.refuses(t, fmt.Sprintf("%.80q", line), string(body), 422, "/requirements/1")
		}
		c.refuses(t, "too many", `{"code":"1","requirements":[`+strings.Repeat(`"a",`, 256)+`"a"]}`, 422, "/requirements")
		c.refuses(t, "a language that has none", `{"language":"bash","code":"echo ran","requirements":["a"]}`, 422, "/requirements")
	})
}

// TestG21 names addresses that the server, or the relay, which are on the host's
// network, would have to ask.
func TestG21(t *testing.T) {
	each(t, "G21", "Addresses of the host and its networks, for the server to ask.", func(t *testing.T, c *combination) {
		at := tripwire(t)
		port := at[strings.LastIndex(at, ":"):]
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::]", "10.0.0.1", "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]", "[64:ff9b::7f00:1]", "host.docker.internal"} {
			for _, mode := range []string{"allowlist", "full"} {
				c.refuses(t, host+" for the network "+mode, fmt.Sprintf(`{"code":"1","network":{"mode":%q,"allow":[%q]}}`, mode, host+port), 403, "/network/allow")
			}
		}
		for _, entry := range []string{"[::ffff:127.0.0.1]" + port, "[::ffff:7f00:1]" + port, "http://127.0.0.1" + port, "file:///etc/passwd", "gopher://127.0.0.1" + port, "unix:/run/docker.sock", "2130706433" + port, "0x7f000001" + port, "0177.0.0.1" + port, "127.1" + port, "user@127.0.0.1" + port, "example.org@127.0.0.1" + port, "127.0.0.1#" + port, "example.org:80/../", "example.org:0", "*", "", "\u2460\u2461\u2466.0.0.1" + port} {
			status, _, answer := c.post(t, strings.NewReader(fmt.Sprintf(`{"code":"1","network":{"mode":"allowlist","allow":[%q]}}`, entry)))
			if status != 422 && status != 403 {
				t.Errorf("%q for the network: %d %.300s", entry, status, answer)
			}
		}
		for _, image := range []string{at + "/a", at + "/a:latest", "http://" + at + "/a", "localhost" + port + "/a", "docker://" + at + "/a", "oci:/etc", "/etc", "../../etc", "a@sha256:" + strings.Repeat("0", 64)} {
			body, _ := json.Marshal(api.Request{Language: "python", Code: "print('ran')", Image: image})
			if status, _, answer := c.post(t, bytes.NewReader(body)); status/100 != 4 {
				t.Errorf("the image %q: %d %.300s", image, status, answer)
			}
		}
	})
}

// TestG24 comes without a key, and with what is none.
func TestG24(t *testing.T) {
	const post, own, bearer = "POST /execute", "X-API-Key", "Authorization"
	each(t, "G24", "No key, and what is none.", func(t *testing.T, c *combination) {
		for what, header := range map[string]http.Header{
			"none":              {},
			"an empty one":      {own: {""}, bearer: {"Bearer "}},
			"a blank one":       {own: {"  "}},
			"the scheme":        {bearer: {"Bearer"}},
			"another scheme":    {bearer: {"Basic " + ourKey}},
			"no scheme":         {bearer: {ourKey}},
			"its beginning":     {own: {ourKey[:len(ourKey)-1]}},
			"more than it":      {own: {ourKey + "x"}},
			"another case":      {own: {strings.ToUpper(ourKey)}},
			"two at once":       {own: {ourKey + "," + ourKey}},
			"a list":            {own: {"x, " + ourKey}},
			"two of two":        {own: {ourKey}, bearer: {"Bearer " + theirKey}},
			"two of a kind":     {own: {ourKey, theirKey}},
			"a pattern":         {own: {"key-of-*"}},
			"a long one":        {own: {strings.Repeat("a", 8<<10)}},
			"one that is a log": {own: {"\u202ekey\tINFO"}},
			"by a proxy's word": {"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-User": {"hostile"}, "X-Real-Ip": {"127.0.0.1"}},
			"as a cookie":       {"Cookie": {"X-API-Key=" + ourKey + "; key=" + ourKey}},
		} {
			for _, to := range []string{post, "POST /execute?key=" + ourKey + "&api_key=" + ourKey, "GET /v1/languages", "GET /metrics", "GET /v1/runtime"} {
				method, path, _ := strings.Cut(to, " ")
				r, err := http.NewRequestWithContext(t.Context(), method, c.server.URL+path, strings.NewReader(`{"language":"bash","code":"echo ran"}`))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = header.Clone()
				r.Header.Set("Content-Type", "application/json")
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") == "" || bytes.Contains(answer, []byte(ourKey)) {
					t.Errorf("%s with %s: %d %.300s", to, what, resp.StatusCode, answer)
				}
			}
		}
		if said := c.server.Logged(); strings.Contains(said, ourKey) || strings.Contains(said, theirKey) {
			t.Error("a key is in the log")
		}
	})
}
