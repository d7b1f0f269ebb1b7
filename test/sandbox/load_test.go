package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Longer runs of what the suite does in a few seconds: make load, make crashes.
var (
	loadFor     = flag.Duration("load", 3*time.Second, "how long TestLoad goes on")
	loadClients = flag.Int("clients", 64, "how many clients TestLoad has")
	crashes     = flag.Int("crashes", 2, "how often TestCrashes kills the server")
)

// tally counts what clients get.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	took   []time.Duration // of answered runs
	faults []string
}

func (c *tally) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *tally) answered(what string, took time.Duration) {
	c.count(what)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, took)
}

func (c *tally) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) < 20 {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// loads are what clients send, and what must come back.
var loads = []struct {
	name    string
	request api.Request
	status  api.Status
	stdout  string
}{
	{"python", api.Request{Code: "print(6*7)"}, api.StatusOK, "42\n"},
	{"python sum", api.Request{Code: "print(sum(range(300000)))"}, api.StatusOK, "44999850000\n"},
	{"javascript", api.Request{Language: "javascript", Code: "console.log(6*7)"}, api.StatusOK, "42\n"},
	{"bash", api.Request{Language: "bash", Code: "cat; echo $1", Stdin: "in ", Args: []string{"out"}}, api.StatusOK, "in out\n"},
	{"go", api.Request{Language: "go", Code: "package main\nimport \"os\"\nfunc main() { os.Stdout.WriteString(\"go\\n\") }"}, api.StatusOK, "go\n"},
	{"error", api.Request{Code: "raise SystemExit(3)"}, api.StatusRuntimeError, ""},
	{"timeout", api.Request{Code: "while True: pass", TimeoutSeconds: 0.3}, api.StatusTimeout, ""},
	{"memory", api.Request{Code: "x = bytearray(200 << 20)", Limits: &api.RequestLimits{MemoryMB: 64}}, api.StatusMemoryLimit, ""},
	{"files", api.Request{Code: "open('o','w').write(open('i').read()*2)", Files: map[string]api.InputFile{"i": {Content: strings.Repeat("x", 1<<18)}}}, api.StatusOK, ""},
	{"output", api.Request{Code: "print('y' * (1 << 20))"}, api.StatusOK, "*"},
}

// TestLoad has many clients at once send what clients send: programs of every
// size, garbage, and goodbyes in the middle. Whatever is accepted is answered and
// right, the rest is refused with 429, nothing is ever 5xx, and nothing grows.
func TestLoad(t *testing.T) {
	s := started(t)
	for _, l := range loads {
		s.run(t, l.request) // caches are full before anything is counted
	}
	before := s.resident(t)
	c := &tally{counts: map[string]int{}}
	deadline := time.Now().Add(*loadFor)
	var wg sync.WaitGroup
	for range *loadClients {
		wg.Go(func() {
			for time.Now().Before(deadline) {
				switch rand.IntN(10) {
				case 0:
					s.garbage(c)
				case 1:
					s.goodbye(t, c)
				default:
					s.honest(t, c)
				}
			}
		})
	}
	wg.Wait()
	until(t, "all have ended", func() bool { return s.health(t).Load == 0 })
	grown := s.resident(t) - before
	slices.Sort(c.took)
	t.Logf("%d clients for %v: %v", *loadClients, *loadFor, c.counts)
	if n := len(c.took); n > 0 {
		t.Logf("%d runs answered, %.1f a second; p50 %v, p99 %v", n, float64(n)/loadFor.Seconds(), c.took[n/2], c.took[n*99/100])
	}
	t.Logf("memory of the server: %d MiB before, %+d MiB after", before>>20, grown>>20)
	for _, f := range c.faults {
		t.Error(f)
	}
	if grown > 128<<20 {
		t.Errorf("%d MiB more in memory", grown>>20)
	}
	if len(c.took) == 0 {
		t.Error("nothing was answered")
	}
}

// honest sends a program and checks what comes.
func (s *instance) honest(t *testing.T, c *tally) {
	l := loads[rand.IntN(len(loads))]
	if l.request.Language == "go" { // the same would be compiled once
		l.request.Code += fmt.Sprintf("\n// %d", rand.Int64())
	}
	body, err := json.Marshal(l.request)
	if err != nil {
		c.fault("%v", err)
		return
	}
	begin := time.Now()
	a, err := s.try(t.Context(), "POST", "/execute", strings.NewReader(string(body)), "Content-Type", "application/json")
	switch {
	case err != nil:
		c.fault("%s: %v", l.name, err)
	case a.status == http.StatusTooManyRequests:
		c.count("429")
		after, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil {
			c.fault("429 without Retry-After")
		}
		time.Sleep(time.Duration(after) * 50 * time.Millisecond) // impatient, but no busy loop
	case a.status != http.StatusOK:
		c.fault("%s: %d %.300s", l.name, a.status, a.body)
	default:
		var r api.Result
		if err := json.Unmarshal(a.body, &r); err != nil || r.Status != l.status || l.stdout != "*" && r.Stdout != l.stdout {
			c.fault("%s: %v %s %s %.100q %.300q", l.name, err, r.Status, r.Message, r.Stdout, r.Stderr)
		}
		c.answered(string(r.Status), time.Since(begin))
	}
}

// garbage sends what is no request.
func (s *instance) garbage(c *tally) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		c.fault("%v", err)
		return
	}
	defer conn.Close()
	texts := []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"GET / HTTP/1.1\r\n\r\n",
		"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{]}",
		"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
	}
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := io.WriteString(conn, texts[rand.IntN(len(texts))]); err != nil {
		c.fault("%v", err)
	}
	if rand.IntN(2) == 0 {
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if strings.HasPrefix(line, "HTTP/1.1 5") {
			c.fault("garbage is answered with %s", line)
		}
	}
	c.count("garbage")
}

// goodbye asks for a long run and leaves.
func (s *instance) goodbye(t *testing.T, c *tally) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(300))*time.Millisecond)
	defer cancel()
	body := `{"language":"bash","code":"setsid sleep 30 & sleep 30"}`
	_, _ = s.try(ctx, "POST", "/execute", strings.NewReader(body), "Content-Type", "application/json")
	c.count("gone")
}

// TestFirstByte tells how long output is on its way: a program prints the time,
// and the client looks at its own clock when it comes.
func TestFirstByte(t *testing.T) {
	const runs, lines = 8, 20
	s := started(t)
	var mu sync.Mutex
	var late []time.Duration
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			code := fmt.Sprintf("import time\nfor i in range(%d):\n    print(time.time_ns(), flush=True)\n    time.sleep(0.05)", lines)
			_, _, body := s.open(t, "application/x-ndjson", api.Request{Code: code})
			scanner := bufio.NewScanner(body)
			scanner.Buffer(nil, 1<<20)
			for scanner.Scan() {
				now := time.Now()
				e := decode[api.Event](t, scanner.Bytes())
				if e.Type != api.EventStdout {
					continue
				}
				first, _, _ := strings.Cut(e.Data, "\n")
				written, err := strconv.ParseInt(first, 10, 64)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				late = append(late, now.Sub(time.Unix(0, written)))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(late) < runs*lines/2 {
		t.Fatalf("%d of %d lines came", len(late), runs*lines)
	}
	slices.Sort(late)
	t.Logf("%d lines of %d runs side by side: p50 %v, p95 %v, p99 %v", len(late), runs, late[len(late)/2], late[len(late)*95/100], late[len(late)*99/100])
}
