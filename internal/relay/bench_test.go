package relay

import (
	"io"
	"net"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	policy := mustParse(b, Rules{Allow: []string{"server.test"}})
	b.ReportAllocs()
	for b.Loop() {
		New(b.Context(), Config{Policy: policy}).Close()
	}
}

func BenchmarkAnswer(b *testing.B) {
	r := New(b.Context(), Config{Policy: mustParse(b, Rules{Allow: []string{"*.test"}}), Resolver: &book{names: zone}})
	defer r.Close()
	packet := question(b, "a.test.", 1, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.answer(b.Context(), packet)
	}
}

// A connection through the relay beside one without.
func BenchmarkConnect(b *testing.B) {
	server := serve(b, func(conn *net.TCPConn) { conn.Write([]byte("x")) })
	for _, c := range []struct {
		name    string
		address func(b *testing.B) string
	}{
		{"direct", func(*testing.B) string { return server.Addr().String() }},
		{"relay", func(b *testing.B) string {
			t := newRig(b, open(b, server))
			t.r.connPace.SetLimit(1e9)
			t.dial("server.test", portOf(server))
			return t.l.Addr().String()
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			address := c.address(b)
			for b.Loop() {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					b.Fatal(err)
				}
				io.ReadFull(conn, make([]byte, 1))
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		})
	}
}
