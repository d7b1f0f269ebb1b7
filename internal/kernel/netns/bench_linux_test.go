package netns_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
)

// What configuring a namespace costs, beside making it.
func BenchmarkSetUp(b *testing.B) {
	var route, redirect, refused time.Duration
	for b.Loop() {
		r := newRoom(b, append([]netns.Socket{netns.RouteSocket(), netns.FilterSocket()}, netns.ListenSockets()...)...)
		start := time.Now()
		if err := netns.RouteAll(r.files[0]); err != nil {
			b.Fatal(err)
		}
		routed := time.Now()
		if err := netns.Redirect(r.files[1]); err != nil {
			b.Fatal(err)
		}
		redirected := time.Now()
		if _, err := netns.Refused(r.files[1]); err != nil {
			b.Fatal(err)
		}
		route += routed.Sub(start)
		redirect += redirected.Sub(routed)
		refused += time.Since(redirected)
		r.conn.Close()
		r.cmd.Wait()
	}
	b.ReportMetric(float64(route.Microseconds())/float64(b.N), "µs/route")
	b.ReportMetric(float64(redirect.Microseconds())/float64(b.N), "µs/redirect")
	b.ReportMetric(float64(refused.Microseconds())/float64(b.N), "µs/refused")
}

// source is a server that sends so many bytes to whoever connects, and its port.
func source(b *testing.B, size int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		block := make([]byte, 1<<20)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for sent := int64(0); sent < size; {
					n, err := conn.Write(block[:min(size-sent, int64(len(block)))])
					sent += int64(n)
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return strings.TrimPrefix(l.Addr().String(), "127.0.0.1:")
}

// bare does on the host what a room does inside.
func bare(b *testing.B, args ...string) string {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = []string{deedEnv + "=1", "GOMAXPROCS=1"}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}

// inTurns runs a deed bare and in a room with the relay, once by name and once by
// the address that the name has inside, and gives what each says.
func inTurns(b *testing.B, port string, say func(what, out string), deed ...string) {
	c := connect(b, relay.Config{
		Policy:   policy(b, relay.Rules{Allow: []string{"source.test", "127.0.0.1:" + port}}),
		Resolver: relaytest.Names{"source.test": "127.0.0.1"},
	})
	for b.Loop() {
		say("direct", bare(b, append([]string{deed[0], "127.0.0.1:" + port}, deed[1:]...)...))
		say("relay-by-name", c.do(append([]string{deed[0], "source.test:" + port}, deed[1:]...)...))
		say("relay", c.do(append([]string{deed[0], "198.18.0.2:" + port}, deed[1:]...)...))
	}
}

func BenchmarkThroughput(b *testing.B) {
	const size = 1 << 30
	rates := map[string]float64{}
	inTurns(b, source(b, size), func(what, out string) {
		var n, ns int64
		if _, err := fmt.Sscan(out, &n, &ns); err != nil || n != size {
			b.Fatalf("%s: %q", what, out)
		}
		rates[what] += float64(n) / float64(ns)
	}, "transfer")
	for _, what := range []string{"direct", "relay"} {
		b.ReportMetric(rates[what]/float64(b.N), "GB/s-"+what)
	}
}

// The relay's pace allows what 50 connections a round take.
func BenchmarkConnect(b *testing.B) {
	times := map[string]float64{}
	inTurns(b, source(b, 1), func(what, out string) {
		ns, err := strconv.ParseFloat(out, 64)
		if err != nil {
			b.Fatalf("%s: %q", what, out)
		}
		times[what] += ns
	}, "connect", "50")
	for what, ns := range times {
		b.ReportMetric(ns/1000/float64(b.N), "µs-"+what)
	}
}
