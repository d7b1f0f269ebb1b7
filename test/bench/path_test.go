package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestPath is where the time of one run of true goes, by what takes less than all of it: a
// process of the host's, one in a container that is ready, and a request without a run. Once
// as fast as it can, and once after a rest each.
func TestPath(t *testing.T) {
	server := start(t)
	m := manager(t, sandbox.PoolOptions{Containers: 16, MemoryBytes: 1 << 30})
	var removals sync.WaitGroup
	t.Cleanup(removals.Wait) // before the manager's own
	want := idler(t, "")
	process := *want.First
	m.Prepare(want, 8)
	program := bench.Programs()[0]
	cold := 0
	contenders := []bench.Contender{
		program.Bare(toolchain(t, program), t.TempDir()),
		{Name: "a process in a container that is ready", Do: func(ctx context.Context, _ int64) error {
			c, warm, err := m.Take(ctx, want)
			if err != nil {
				return err
			}
			if !warm {
				cold++
			}
			p := process
			p.Args = program.Args
			_, err = m.Run(ctx, c.ID(), p, nil)
			removals.Go(func() {
				if err := m.Delete(context.WithoutCancel(ctx), c.ID()); err != nil {
					t.Error(err)
				}
			})
			return err
		}},
		{Name: "`GET /livez`", Do: func(ctx context.Context, _ int64) error {
			get, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/livez", nil)
			if err != nil {
				return err
			}
			resp, err := caller.Do(get)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}},
		{Name: "`POST /execute`", Do: func(ctx context.Context, n int64) error {
			result, err := execute(ctx, server, program, n)
			if err == nil && !result.Meta.Warm {
				cold++
			}
			return err
		}},
	}
	contenders[0].Name = "fork and exec on the host"
	table := "| | p50 ms | p95 | p99 | after a rest: p50 ms | p95 | p99 |\n|---|---|---|---|---|---|---|\n"
	var rows [4]string
	for _, rest := range []time.Duration{0, max(*idle, time.Millisecond)} {
		s, err := bench.Turns{Rounds: *rounds, WarmUp: 3, Idle: rest}.Measure(t.Context(), contenders...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s {
			rows[i] += " | " + figures(s[i])
		}
	}
	for i, row := range rows {
		table += fmt.Sprintf("| %s%s |\n", contenders[i].Name, row)
	}
	report(t, fmt.Sprintf("The path of true, %d rounds; %d runs found no container ready", *rounds, cold), table)
}
