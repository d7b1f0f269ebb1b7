package hostile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// goneRequests take their time in each phase: where a compiler runs, where a program
// is deaf, where there is much to write before and much to collect afterwards.
func goneRequests() map[string]api.Request {
	files := map[string]api.InputFile{}
	for i := range 500 {
		files[fmt.Sprintf("in/%d", i)] = api.InputFile{Content: "x"}
	}
	return map[string]api.Request{
		"c":      {Language: "c", Code: "#include <unistd.h>\nint main(void) { if (fork() == 0) setsid(); for (;;) pause(); }"},
		"bash":   {Language: "bash", Code: "trap '' TERM INT HUP; setsid sleep 100 & while :; do sleep 100; done", Files: files},
		"python": {Language: "python", Code: "for n in range(3000): open(f'{n}', 'w').write('x' * 500)", Collect: &[]string{"**"}},
	}
}

// TestC17 has clients go away at every moment of a run: nobody is left who runs for
// them, and nothing of theirs.
func TestC17(t *testing.T) {
	requests := goneRequests()
	each(t, "C17", "Clients go away at every moment of a run.", func(t *testing.T, c *combination) {
		for _, lang := range slices.Sorted(maps.Keys(requests)) {
			t.Run(lang, func(t *testing.T) {
				c.warm(t, lang)
				neighbour := c.neighbour(t)
				for wait := time.Millisecond; wait < time.Second; wait *= 2 {
					ctx, cancel := context.WithTimeout(t.Context(), wait)
					_, err := c.client.Execute(ctx, requests[lang])
					cancel()
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("gone after %v: %v", wait, err)
					}
					c.runsAtMost(t, 1) // the one next door
				}
				neighbour()
				c.idles(t)
				c.greets(t, lang)
				c.check(t)
			})
		}
	})
}

// TestC17Crowd has many clients go away at once.
func TestC17Crowd(t *testing.T) {
	const clients = 24
	each(t, "C17", "Many clients go away at once.", func(t *testing.T, c *combination) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gone := make(chan error, clients)
		for range clients {
			go func() {
				_, err := c.client.Execute(ctx, api.Request{Language: "bash", Code: "trap '' TERM; while :; do sleep 100; done", TimeoutSeconds: 100})
				gone <- err
			}()
		}
		if !testenv.Within(20*time.Second, func() bool { h, err := c.client.Health(t.Context()); return err == nil && h.Load == clients }) {
			t.Error("the clients do not all run")
		}
		cancel()
		for range clients {
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Errorf("a client that went away: %v", err)
			}
		}
		c.idles(t)
	})
}

// TestC17Queue has clients go away while they wait for a place: nobody runs for them,
// and they take no place from those who wait behind them.
func TestC17Queue(t *testing.T) {
	const waiting = 8
	each(t, "C17", "Clients go away while they wait for a place.", func(t *testing.T, c *combination) {
		other, stop := c.beside(t, "SANDBOX_MAX_CONCURRENT=1", "SANDBOX_QUEUE=32")
		defer stop()
		for _, order := range []string{"who waits first", "who runs first"} {
			holder, leave := context.WithCancel(t.Context())
			gone, goAway := context.WithCancel(t.Context())
			defer goAway()
			defer leave()
			ended := make(chan error, 2*waiting+1)
			run := func(ctx context.Context, code string) {
				r, err := other.client.Execute(ctx, api.Request{Language: "bash", Code: code, TimeoutSeconds: 100})
				if err == nil && r.Stdout != "hello\n" {
					err = fmt.Errorf("status %s, %s, stdout %q", r.Status, r.Message, r.Stdout)
				}
				ended <- err
			}
			queued := func(running, n int) {
				t.Helper()
				var h *api.Health
				var err error
				if !testenv.Within(20*time.Second, func() bool {
					h, err = other.client.Health(t.Context())
					return err == nil && h.Load == running && h.Queued == n
				}) {
					t.Fatalf("%+v, %v, want %d who run and %d who wait", h, err, running, n)
				}
			}
			go run(holder, "sleep 100")
			queued(1, 0)
			for range waiting {
				go run(gone, "sleep 100")
			}
			queued(1, waiting)
			for range waiting {
				go run(t.Context(), hello["bash"])
			}
			queued(1, 2*waiting)
			if order == "who waits first" {
				goAway()
				queued(1, waiting)
				leave()
			} else {
				leave()
				goAway()
			}
			for range 2*waiting + 1 {
				if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", order, err)
				}
			}
			queued(0, 0)
		}
	})
}

// idles fails when the server has runs that nobody waits for.
func (c *combination) idles(t *testing.T) {
	t.Helper()
	c.runsAtMost(t, 0)
}

// runsAtMost fails when the server has more runs than there are callers who wait for them.
func (c *combination) runsAtMost(t *testing.T, most int) {
	t.Helper()
	var h *api.Health
	var err error
	if !testenv.Within(10*time.Second, func() bool { h, err = c.client.Health(t.Context()); return err == nil && h.Load <= most }) {
		t.Errorf("the server runs %+v, %v, and %d callers wait for it", h, err, most)
	}
}
