package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// TestSoak sends four ordinary programs and a hostile one in turn, from twice as many
// clients as the server runs programs at a time. Each gets what it should, and whenever
// the server is at rest it looks as it did before.
func TestSoak(t *testing.T) {
	s := start(t)
	m := mixFor(t, s)
	log := kernelLog(t)
	var after []int
	var samples []sample
	var open map[string]int // at the first rest
	begun := time.Now()
	m.each(t)
	done, every := 0, max(30, min(200, *runs/50))
	if long() {
		every = max(every, 100)
		if *warm != "off" {
			every = 1000 // a rest takes minutes
		}
		// Until what grows to its size has done so: the database keeps the lines of the first
		// 8,000 runs in memory.
		warmUp := 500
		if *runs >= 10_000 {
			warmUp = 8500
		}
		m.batch(t, warmUp)
	}
	for {
		samples, after = append(samples, s.rest(t)), append(after, done)
		if open == nil {
			open = s.open
		}
		if done >= *runs && *period == 0 || *period > 0 && time.Since(begun) > *period {
			break
		}
		m.batch(t, every)
		done += every
	}
	table, growing := judge(after, samples)
	write(t, fmt.Sprintf("%d runs after the warm-up, %d places and %d clients, %v in all, seed %d; at rest %d times.\n\n%s\n%s",
		done, m.places, 2*m.places, time.Since(begun).Round(time.Second), *seed, len(samples), table, s.verdicts()))
	t.Logf("descriptors that are more than at the first rest: %q", opened(open, s.open))
	for _, g := range growing {
		t.Error(g)
	}
	s.failed(t)
	if n := s.Metric("sandbox_runs_total", `status="sandbox_error"`); n > 0 {
		t.Errorf("the server counts %g runs that failed through its own fault", n)
	}
	for _, line := range log.BadNews() {
		t.Errorf("the kernel says: %s", line)
	}
}

// long tells whether there is time for what is dear.
func long() bool { return *runs >= 1000 || *period > 0 }

// mix is who sends what.
type mix struct {
	*instance
	places            int
	sent              int
	ordinary, hostile []program
}

func mixFor(t *testing.T, s *instance) *mix {
	t.Helper()
	health, err := s.client.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := &mix{instance: s, places: health.Capacity, ordinary: ordinaryPrograms()}
	if m.hostile, err = hostilePrograms(); err != nil {
		t.Fatal(err)
	}
	for _, list := range []*[]program{&m.ordinary, &m.hostile} {
		*list = slices.DeleteFunc(*list, func(p program) bool {
			return health.Languages[p.request.Language] == "" || p.weight == 0 && !long()
		})
		for i := range *list {
			(*list)[i].weight = max(1, (*list)[i].weight)
		}
	}
	return m
}

// each has every program run once, so that what is made at the first run is there.
func (m *mix) each(t *testing.T) {
	t.Helper()
	m.work(t, slices.Concat(m.ordinary, m.hostile))
}

// batch has so many run, and waits for all of them.
func (m *mix) batch(t *testing.T, n int) {
	t.Helper()
	var chosen []program
	for range n {
		list := m.ordinary
		if m.sent%5 == 4 {
			list = m.hostile
		}
		chosen = append(chosen, choose(list, rand.New(rand.NewPCG(*seed, uint64(m.sent)))))
		m.sent++
	}
	m.work(t, chosen)
}

// choose picks a program by weight.
func choose(list []program, by *rand.Rand) program {
	total := 0
	for _, p := range list {
		total += p.weight
	}
	at := by.IntN(total)
	for _, p := range list {
		if at -= p.weight; at < 0 {
			return p
		}
	}
	panic("the weights add up to more than their sum")
}

// work has clients send programs, one after the other.
func (m *mix) work(t *testing.T, programs []program) {
	t.Helper()
	todo := make(chan program)
	var clients sync.WaitGroup
	for range 2 * m.places {
		clients.Go(func() {
			for p := range todo {
				m.send(t.Context(), p)
			}
		})
	}
	for _, p := range programs {
		todo <- p
	}
	close(todo)
	clients.Wait()
}

// send sends a program until there is a place for it, and judges what comes.
func (s *instance) send(ctx context.Context, p program) {
	token := fmt.Sprintf("t%dx", rand.Uint64())
	var refused *client.Error
	for {
		r, err := s.attempt(ctx, p, token)
		switch {
		case errors.As(err, &refused) && refused.Problem.Type == client.TypeCapacity:
			s.count("(refused: no place)", "429")
			if refused.RetryAfter <= 0 {
				s.fault("%s: refused without a word about when to come back", p.name)
			}
			time.Sleep(50 * time.Millisecond)
			continue
		case p.leaves > 0 && (err == nil || errors.Is(err, context.DeadlineExceeded)):
			s.count(p.name, "left")
		case err != nil:
			s.fault("%s: %v", p.name, err)
			s.count(p.name, "no result")
		default:
			s.count(p.name, string(r.Status))
			if wrong := p.judge(r, token); wrong != "" {
				s.fault("%s: %s; message %q, exit code %d, after %.2f s, stdout %.300q, stderr %.300q",
					p.name, wrong, r.Message, r.ExitCode, r.ExecutionTime, r.Stdout, r.Stderr)
			}
		}
		return
	}
}

// attempt sends a program once: one in three as a stream.
func (s *instance) attempt(ctx context.Context, p program, token string) (*api.Result, error) {
	if p.leaves > 0 {
		var leave context.CancelFunc
		ctx, leave = context.WithTimeout(ctx, rand.N(p.leaves))
		defer leave()
	}
	if rand.IntN(3) == 0 {
		return s.client.Stream(ctx, p.asked(token), func(api.Event) error { return nil })
	}
	return s.client.Execute(ctx, p.asked(token))
}

// verdicts is the table of what came of the programs.
func (s *instance) verdicts() string {
	var b strings.Builder
	b.WriteString("| program | what came of it |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(s.ended)) {
		var words []string
		for _, what := range slices.Sorted(maps.Keys(s.ended[name])) {
			words = append(words, fmt.Sprintf("%d %s", s.ended[name][what], what))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(words, ", "))
	}
	return b.String()
}

// kernelLog begins to listen to the kernel, where that is allowed.
func kernelLog(t *testing.T) *testenv.KernelLog {
	t.Helper()
	log, err := testenv.ListenToKernel()
	if err != nil {
		t.Logf("what the kernel says is not heard: %v", err)
		return nil
	}
	t.Cleanup(func() { log.Close() })
	return log
}
