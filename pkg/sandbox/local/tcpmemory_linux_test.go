package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A kernel that does not tell of TCP sockets is a warning.
func TestUncountedTCP(t *testing.T) {
	var r Runtime
	if got := r.tcpWarning(nil); got != "" {
		t.Errorf("without a loopback: %q", got)
	}
	r.uncountedSet.Do(func() { r.uncounted = unix.ENOENT })
	if got := r.tcpWarning(&tcpMemory{}); !strings.HasPrefix(got, "the memory limit does not count the buffers of TCP sockets: ") {
		t.Errorf("warning %q", got)
	}
}

// Few sockets are not looked at, whatever they hold.
func TestTCPSockets(t *testing.T) {
	var m tcpMemory
	for name, content := range map[string]string{
		"sockstat":  "sockets: used 9\nTCP: inuse 4 orphan 1 tw 2 alloc 5 mem 6\nUDP: inuse 7 mem 8\n",
		"sockstat6": "TCP6: inuse 3\nUDP6: inuse 10\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		m.stats = append(m.stats, f)
		t.Cleanup(func() { f.Close() })
	}
	if got, err := m.sockets(); got != 7 || err != nil {
		t.Errorf("%d sockets, %v", got, err)
	}
	if got, err := m.bytes(7 * tcpMost); got != 0 || err != nil {
		t.Errorf("%d bytes, %v", got, err)
	}
	m.stats[0].Close()
	m.last = 7
	for range maxBlind - 1 {
		m.next = time.Time{}
		if got, err := m.bytes(0); got != 7 || err != nil {
			t.Fatalf("that could not be looked at: %d bytes, %v", got, err)
		}
	}
	m.next = time.Time{}
	if _, err := m.bytes(0); err == nil {
		t.Error("nobody can look for long, and it is no error")
	}
}

// A process that fills TCP's buffers is ended, also where a control group holds the
// rest of its memory; one that has as many sockets and leaves them empty is not.
func TestTCPMemoryIsCounted(t *testing.T) {
	r, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := r.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelFull, Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost},
		Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	if errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	const connections = `
import socket, sys, time
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(1000)
kept = []
for _ in range(400):
    s = socket.create_connection(l.getsockname()); s.setblocking(False); kept.append(s)
    try:
        while sys.argv[1] == "full": s.send(bytes(1 << 16))
    except BlockingIOError: pass
time.sleep(1 if sys.argv[1] == "empty" else 60)`
	for _, how := range []string{"empty", "full", "empty"} {
		running, err := c.Start(t.Context(), sandbox.Process{
			Args: []string{"/usr/bin/python3", "-S", "-c", connections, how}, Limits: sandbox.Limits{MemoryBytes: 48 << 20, Processes: 10, OpenFiles: 1000},
		})
		if err != nil {
			t.Fatal(err)
		}
		end, err := running.Wait()
		if killed := end.MemoryKill || end.OOMKills > 0; err != nil || killed != (how == "full") || !killed && end.Code != 0 {
			t.Errorf("%s: %+v, %v", how, end, err)
		}
	}
}
