package relay

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// answering is a connection on which a proxy has answered.
type answering struct {
	net.Conn
	bytes.Reader
}

func (a *answering) Read(b []byte) (int, error) { return a.Reader.Read(b) }

// FuzzTunnelAnswer: what is taken for a tunnel is an answer that says so, and what comes
// behind it is all there.
func FuzzTunnelAnswer(f *testing.F) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\n\r\nhello", "HTTP/1.0 200\r\nVia: x\r\n\r\n", "HTTP/1.1 407 No\r\n\r\n", "HTTP/1.1 2", "SSH-2.0-x\r\n\r\n",
		"HTTP/1.1 200 OK\n\nhello", "HTTP/1.1 299 x\r\nA: b\r\n c\r\n\r\nrest", "", strings.Repeat("x", 20<<10),
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		conn := &answering{}
		conn.Reset(answer)
		if tunnelAnswer(conn) != nil {
			return
		}
		taken := answer[:len(answer)-conn.Len()]
		if !bytes.HasPrefix(bytes.TrimLeft(taken, " \t"), []byte("HTTP/1.")) || !bytes.HasSuffix(taken, []byte("\n")) || len(taken) > 16<<10 {
			t.Errorf("a tunnel after %q, of %q", taken, answer)
		}
		head, _, _ := bytes.Cut(taken, []byte("\n"))
		if _, status, _ := bytes.Cut(head, []byte(" ")); !bytes.HasPrefix(status, []byte("2")) {
			t.Errorf("a tunnel after %q", head)
		}
	})
}
