package daemon

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Nobody takes the socket of a server that lives; that of one that was killed is taken over.
func TestSocketIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	first, err := unixListener(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, ctx := range map[string]context.Context{"while it lives": t.Context(), "by one that is told to stop": stopped} {
		if l, err := unixListener(ctx, path); err == nil {
			t.Errorf("%s: taken", name)
			l.Close()
		}
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		conn.Close()
	}
	first.(peers).Listener.(*net.UnixListener).SetUnlinkOnClose(false) // as when it is killed
	first.Close()
	second, err := unixListener(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	if err := os.WriteFile(path, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := unixListener(t.Context(), path); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, err := os.ReadFile(path); string(text) != "a file" {
		t.Errorf("%q, %v", text, err)
	}
}
