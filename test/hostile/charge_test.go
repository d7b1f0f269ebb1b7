package hostile

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// hoard opens every kind of socket that it gets, and pipes, fills them with what nobody reads, says
// how much that is, and keeps it for a while. A kind that nobody has thought of ends it.
const hoard = `import os, socket, sys, time
EACH, kept, block = 24 << 20, [], bytes(32768)

def room(*sockets):
    kept.extend(sockets)
    for s in sockets:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            s.setsockopt(socket.SOL_SOCKET, option, 1 << 20)

def pour(send, most=1 << 30):
    n = 0
    try:
        while n < most: n += send(block)
    except OSError: pass
    return n

def pipe():
    kept.append(os.pipe())
    os.set_blocking(kept[-1][1], False)
    return pour(lambda b: os.write(kept[-1][1], b))

def pair(kind):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    room(a, b)
    a.setblocking(False)
    return pour(a.send)

def connection(family, address):
    listener, a = socket.socket(family, socket.SOCK_STREAM), socket.socket(family, socket.SOCK_STREAM)
    room(listener, a)
    listener.bind((address, 0))
    listener.listen()
    a.connect(listener.getsockname()[:2])
    room(listener.accept()[0])
    a.setblocking(False)
    return pour(a.send)

def datagrams(family, address):
    a, b = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_DGRAM)
    room(a, b)
    b.bind((address, 0))
    a.connect(b.getsockname()[:2])
    return pour(a.send, 512 << 10) # what has no place is dropped in silence

local = lambda kind: lambda: pair(kind)
ways = {(1, 1): local(1), (1, 2): local(2), (1, 3): local(2), (1, 5): local(5),
    (2, 1): lambda: connection(socket.AF_INET, "127.0.0.1"), (2, 2): lambda: datagrams(socket.AF_INET, "127.0.0.1"),
    (10, 1): lambda: connection(socket.AF_INET6, "::1"), (10, 2): lambda: datagrams(socket.AF_INET6, "::1")}
chosen = {"pipes": pipe}
for family in range(64):
    for kind in range(1, 16):
        for make in socket.socket, socket.socketpair:
            try: made = make(family, kind)
            except OSError: continue
            break
        else: continue
        for s in made if isinstance(made, tuple) else [made]: s.close()
        if (family, kind) not in ways: sys.exit(f"nobody fills sockets of family {family}, type {kind}")
        chosen[f"{family}/{kind}"] = ways[family, kind]
print("start", flush=True)
time.sleep(1)
held = {}
for name, fill in chosen.items():
    held[name] = 0
    try:
        while held[name] < EACH:
            more = fill()
            if not more: break
            held[name] += more
    except OSError: pass
print("held", sum(held.values()), held, flush=True)
time.sleep(1)
print("done")`

// TestEveryKindOfSocketIsCharged fills the queues of every kind of socket that a program gets: what
// the host has less of is charged to the program.
func TestEveryKindOfSocketIsCharged(t *testing.T) {
	each(t, "M1", "The queues of every kind of socket that there is are filled: what the host has less of is charged.", func(t *testing.T, c *combination) {
		c.hoards(t, "none")
	})
}

// TestEveryKindOnALoopbackIsCharged has the kinds besides that a loopback makes useful. On control
// groups of version 1 queues of TCP are charged to nobody in containers of others, as
// docs/SECURITY.md says.
func TestEveryKindOnALoopbackIsCharged(t *testing.T) {
	each(t, "M1", "The same with a loopback. Containers of OCI runtimes and engines are charged for it by control groups of version 2 alone.", func(t *testing.T, c *combination) {
		switch {
		case c.level == "restricted":
			t.Skip("without namespaces the loopback is the host's own, and refused")
		case c.runtime != "local" && c.runtime != "remote" && strings.Contains(text("/proc/self/cgroup"), ":memory:"):
			t.Skip("queues of TCP are charged to nobody here")
		}
		c.hoards(t, "localhost")
	})
}

func (c *combination) hoards(t *testing.T, network string) {
	t.Helper()
	c.warm(t, "python")
	testenv.Within(5*time.Second, func() bool { // what was before has given its memory back
		first := free(t)
		time.Sleep(500 * time.Millisecond)
		return free(t)-first < 2<<20
	})
	var before, meanwhile int64
	var said strings.Builder
	r, err := c.client.Stream(t.Context(), api.Request{
		Language: "python", Code: hoard, Network: &api.RequestNetwork{Mode: network}, TimeoutSeconds: 60, Limits: &api.RequestLimits{MemoryMB: 400, OpenFiles: 8192},
	}, func(e api.Event) error {
		if e.Type != api.EventStdout {
			return nil
		}
		said.WriteString(e.Data)
		switch now := free(t); {
		case !strings.Contains(said.String(), "held"):
			before = now
		case meanwhile == 0: // later it has ended
			meanwhile = now
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != api.StatusOK || !strings.HasSuffix(r.Stdout, "done\n") {
		t.Fatalf("status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
	}
	if r.Meta.ResourceLimits.Enforcement["memory"] != api.Enforced {
		t.Skip("memory is sampled here, which sees no queues; docs/SECURITY.md says so")
	}
	held, err := strconv.ParseInt(regexp.MustCompile(`held (\d+)`).FindStringSubmatch(r.Stdout)[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const noise = 24 << 20
	gone, charged := before-meanwhile, *r.Metrics.MemoryPeakBytes
	t.Logf("%s", r.Stdout)
	t.Logf("it holds %d MiB, the host has %d MiB less, and %d MiB are charged", held>>20, gone>>20, charged>>20)
	if gone < held/2 {
		t.Errorf("the host has only %d MiB less although it holds %d: nothing was measured", gone>>20, held>>20)
	}
	if gone > charged+noise {
		t.Errorf("the host has %d MiB less, of which %d are charged", gone>>20, charged>>20)
	}
}

// free is the memory of the host that nobody has, or that it could have back at once, in bytes: what
// processors have put aside for themselves, which MemFree does not count, is much of it.
func free(t *testing.T) int64 {
	t.Helper()
	number := func(file, pattern string) (sum int64) {
		for _, found := range regexp.MustCompile(`(?m)^`+pattern+`\s+(\d+)`).FindAllStringSubmatch(text(file), -1) {
			n, err := strconv.ParseInt(found[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		return sum
	}
	return number("/proc/meminfo", "(?:MemFree|Buffers|Cached|SReclaimable):")<<10 + number("/proc/zoneinfo", `\s+count:`)*int64(os.Getpagesize())
}
