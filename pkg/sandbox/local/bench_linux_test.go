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
