package tunnel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// connected are the two ends of a connection.
func connected(t *testing.T) (near, far *websocket.Conn) {
	t.Helper()
	accepted := make(chan *websocket.Conn, 1)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
		<-release
	}))
	near, _, err := websocket.Dial(t.Context(), s.URL, nil) //nolint:bodyclose // the library has it
	if err != nil {
		t.Fatal(err)
	}
	near.SetReadLimit(-1)
	t.Cleanup(func() { near.CloseNow(); close(release); s.Close() })
	return near, <-accepted
}

// pair are two sessions.
func pair(t *testing.T, serve func(*Call) Answer) (near, far *Session) {
	t.Helper()
	a, b := connected(t)
	near, far = Near(t.Context(), a, nil), Far(t.Context(), b, serve)
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestCalls(t *testing.T) {
	near, _ := pair(t, func(c *Call) Answer {
		r, err := c.Request()
		if err != nil {
			return Failed(err)
		}
		switch r.Op {
		case OpUsage:
			return Answer{Usage: &sandbox.DiskUsage{BytesUsed: 42}}
		case OpMkdir:
			return Failed(&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOSPC})
		}
		_ = c.Begun(Answer{})
		n, err := io.Copy(c.Writer(1), c.Reader(0))
		if err != nil {
			return Failed(err)
		}
		return Answer{Usage: &sandbox.DiskUsage{BytesUsed: n}}
	})
	if a, err := near.Do(t.Context(), Request{Op: OpUsage}); err != nil || a.Usage.BytesUsed != 42 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := near.Do(t.Context(), Request{Op: OpMkdir}); !errors.Is(err, syscall.ENOSPC) || err.Error() != "mkdir x: no space left on device" {
		t.Errorf("an error is %v", err)
	}
	c, err := near.Start(t.Context(), Request{Op: OpStart})
	if err != nil {
		t.Fatal(err)
	}
	const size = 5 << 20 // many times the window, both ways at once
	go func() {
		_, _ = io.Copy(c.Writer(0), io.LimitReader(zeros{}, size))
		_ = c.Writer(0).Close()
	}()
	if _, begun, err := c.WaitBegun(t.Context()); !begun || err != nil {
		t.Fatal(begun, err)
	}
	if n, err := io.Copy(io.Discard, c.Reader(1)); n != size || err != nil {
		t.Errorf("%d bytes came back, %v", n, err)
	}
	if a, err := c.Wait(t.Context()); err != nil || a.Usage.BytesUsed != size {
		t.Errorf("%+v, %v", a, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A call whose output nobody reads holds up no other.
func TestOneSlowReader(t *testing.T) {
	near, _ := pair(t, func(c *Call) Answer {
		if r, _ := c.Request(); r.Op == OpUsage {
			return Answer{Usage: &sandbox.DiskUsage{}}
		}
		_, err := io.Copy(c.Writer(1), io.LimitReader(zeros{}, 10*Window))
		return Failed(err)
	})
	slow, err := near.Start(t.Context(), Request{Op: OpStart})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := near.Do(t.Context(), Request{Op: OpUsage}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.Copy(io.Discard, slow.Reader(1)); n != 10*Window || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestCancelReachesTheFarSide(t *testing.T) {
	near, _ := pair(t, func(c *Call) Answer { <-c.Context().Done(); return Failed(c.Context().Err()) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { time.Sleep(10 * time.Millisecond); cancel() }()
	if _, err := near.Do(ctx, Request{Op: OpUsage}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 3 * maxCalls { // no place is lost by it
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = near.Do(ctx, Request{Op: OpUsage})
	}
}

// What a hostile side sends ends its connection, and nothing else.
func TestHostileNear(t *testing.T) {
	open := message(kindOpen, 0, 1, `{"op":"start"}`)
	for name, messages := range map[string][][]byte{
		"no frame":                  {{1}},
		"a huge message":            {message(kindOpen, 0, 1, strings.Repeat(" ", MaxText+100))},
		"the same call twice":       {open, open},
		"data of no call":           {message(kindData, 0, 9, "x")},
		"data of our channel":       {open, message(kindData, 1, 1, "x")},
		"more than its credit":      append([][]byte{open}, flood(kindData, 0)...),
		"bytes behind the end":      {open, message(kindEnd, 0, 1, ""), message(kindData, 0, 1, "x")},
		"credit without end":        {open, creditFrame(1, 1, Window).bytes()},
		"an answer of its own":      {open, message(kindDone, 0, 1, "{}")},
		"more calls than there are": opens(),
	} {
		near, conn := connected(t)
		far := Far(t.Context(), conn, func(c *Call) Answer { <-c.Context().Done(); return Answer{} })
		for _, m := range messages {
			_ = near.Write(t.Context(), websocket.MessageBinary, m)
		}
		ends(t, name, far)
	}
	near, conn := connected(t)
	far := Far(t.Context(), conn, func(*Call) Answer { return Answer{} })
	_ = near.Write(t.Context(), websocket.MessageText, []byte("hello"))
	ends(t, "text", far)
}

func TestHostileFar(t *testing.T) {
	for name, messages := range map[string][][]byte{
		"a huge message":        {message(kindDone, 0, 1, strings.Repeat(" ", MaxText+100))},
		"a call":                {message(kindOpen, 0, 2, "{}")},
		"an answer to no call":  {message(kindDone, 0, 7, "{}")},
		"two beginnings":        {message(kindBegun, 0, 1, "{}"), message(kindBegun, 0, 1, "{}")},
		"more than its credit":  flood(kindData, 1),
		"data of our channel":   {message(kindData, 0, 1, "x")},
		"a cancel":              {message(kindCancel, 0, 1, "")},
		"credit that is absurd": {creditFrame(1, 0, 1<<31).bytes()},
	} {
		a, conn := connected(t)
		near := Near(t.Context(), a, nil)
		c, err := near.Start(t.Context(), Request{Op: OpStart})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			_ = conn.Write(t.Context(), websocket.MessageBinary, m)
		}
		ends(t, name, near)
		if _, err := c.Wait(t.Context()); err == nil {
			t.Errorf("%s: the call has no error", name)
		}
	}
}

func TestLies(t *testing.T) {
	for name, answer := range map[string]string{
		"no JSON":            `{"exit"`,
		"a negative code":    `{"exit":{"Code":-7}}`,
		"a negative disk":    `{"exit":{"Disk":{"BytesUsed":-1}}}`,
		"negative figures":   `{"metrics":{"MemoryPeakBytes":-1}}`,
		"negative time":      `{"metrics":{"CPUUser":-1}}`,
		"a negative file":    `{"file":{"size":-1}}`,
		"a level of its own": `{"created":{"isolation":{"Level":"perfect"}}}`,
		"negative memory":    `{"created":{"isolation":{"Level":"full","LeastMemoryBytes":-1}}}`,
		"a state of its own": `{"created":{"isolation":{"Level":"full","Limits":{"memory":"yes"}}}}`,
	} {
		if a, err := parseAnswer([]byte(answer), nil); err == nil {
			t.Errorf("%s is believed: %+v", name, a)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a//b", "a/../../b"} {
		if info, err := (FileInfo{Path: []byte(name)}).Info(); err == nil {
			t.Errorf("%q is believed: %+v", name, info)
		}
	}
	_, err := parseAnswer([]byte(`{"error":{"message":"\u001b[2Jred\nalert"}}`), nil)
	if err == nil || err.Error() != " [2Jred alert" {
		t.Errorf("what is shown is %q", err)
	}
}

func flood(k kind, channel byte) [][]byte {
	var all [][]byte
	for range Window/maxData + 1 {
		all = append(all, message(k, channel, 1, strings.Repeat("x", maxData)))
	}
	return all
}

func opens() [][]byte {
	var all [][]byte
	for i := range maxCalls + 1 {
		all = append(all, message(kindOpen, 0, uint32(i+1), `{"op":"start"}`))
	}
	return all
}

// ends waits for the end of a session, by the other side's fault.
func ends(t *testing.T, name string, s *Session) {
	t.Helper()
	select {
	case <-s.Done():
		if errors.Is(s.Err(), ErrClosed) {
			t.Errorf("%s: %v", name, s.Err())
		}
	case <-time.After(10 * time.Second):
		t.Errorf("%s: the connection goes on", name)
	}
	s.Close()
}
