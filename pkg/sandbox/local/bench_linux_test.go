package local_test

import (
	"context"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

// BenchmarkOneShot is what one call of the command line pays for its sandbox:
// the runtime opened, a container made, /bin/true run in it, all of it removed.
// The parts are reported beside the whole.
func BenchmarkOneShot(b *testing.B) {
	dir := b.TempDir()
	var open, create, run, remove, closing time.Duration
	for b.Loop() {
		t0 := time.Now()
		rt, err := local.New(local.Options{RuntimeDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		c, err := rt.Create(context.Background(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
		if err != nil {
			b.Fatal(err)
		}
		t2 := time.Now()
		p, err := c.Start(context.Background(), sandbox.Process{
			Args: []string{"/bin/true"}, Limits: sandbox.Limits{MemoryBytes: 64 << 20, Processes: 20, CPUs: 1},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
		t3 := time.Now()
		if err := c.Delete(context.Background()); err != nil {
			b.Fatal(err)
		}
		t4 := time.Now()
		if err := rt.Close(); err != nil {
			b.Fatal(err)
		}
		t5 := time.Now()
		open, create, run, remove, closing = open+t1.Sub(t0), create+t2.Sub(t1), run+t3.Sub(t2), remove+t4.Sub(t3), closing+t5.Sub(t4)
	}
	for name, d := range map[string]time.Duration{"open": open, "create": create, "run": run, "delete": remove, "close": closing} {
		b.ReportMetric(float64(d.Microseconds())/float64(b.N), name+"-µs/op")
	}
}

// BenchmarkNetworks is what a network costs, in turns: a container made, a
// program run in it, all of it removed.
func BenchmarkNetworks(b *testing.B) {
	rt, err := local.New(local.Options{RuntimeDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	networks := []sandbox.NetworkPolicy{{Mode: sandbox.NetworkNone}, {Mode: sandbox.NetworkLocalhost}, {Allow: []string{"example.org:443"}}}
	var create, run, remove [3]time.Duration
	for b.Loop() {
		for i, network := range networks {
			time.Sleep(20 * time.Millisecond) // as on a machine that is not in a tight loop
			t0 := time.Now()
			c, err := rt.Create(b.Context(), sandbox.Spec{Network: network, Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
			if err != nil {
				b.Fatal(err)
			}
			t1 := time.Now()
			p, err := c.Start(b.Context(), sandbox.Process{Args: []string{"/bin/true"}})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Wait(); err != nil {
				b.Fatal(err)
			}
			t2 := time.Now()
			if err := c.Delete(b.Context()); err != nil {
				b.Fatal(err)
			}
			create[i], run[i], remove[i] = create[i]+t1.Sub(t0), run[i]+t2.Sub(t1), remove[i]+time.Since(t2)
		}
	}
	for i, name := range []string{"none", "localhost", "allowlist"} {
		b.ReportMetric(float64(create[i].Microseconds())/float64(b.N), name+"-create-µs/op")
		b.ReportMetric(float64(run[i].Microseconds())/float64(b.N), name+"-run-µs/op")
		b.ReportMetric(float64(remove[i].Microseconds())/float64(b.N), name+"-delete-µs/op")
	}
}
