package bench

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
)

var (
	clients = flag.String("clients", "", "numbers of clients of TestThroughput, with commas between; make bench has 1,2,4,16; empty: two, and one program alone")
	slice   = flag.Duration("slice", 200*time.Millisecond, "how long the bare program and the server are saturated in turn")
	turns   = flag.Int("slices", 1, "turns of each")
)

// mostLate is how many times p50 the p99 may be at 70 % of the load that saturates.
const mostLate = 4

// TestThroughput is how many runs a second there are when clients send one after the other,
// beside as many workers that call the bare program, and how long runs take at 70 % of that.
func TestThroughput(t *testing.T) {
	server := start(t)
	var table strings.Builder
	table.WriteString("| program | clients | bare /s | http /s | ratio | of any turn | at least | CPU of a bare run, ms | of one over http | p50 ms | p99 ms | at 70 %: p50 ms | p99 ms | p99/p50 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	all, numbers := programs(t), *clients
	if numbers == "" {
		all, numbers = all[:1], "2"
	}
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			tc := toolchain(t, p)
			through := bench.Contender{Name: "http", Do: func(ctx context.Context, n int64) error {
				_, err := execute(ctx, server, p, n)
				return err
			}}
			var workers int
			lines := [2]bench.Line{{Name: "bare"}, {Name: "sandbox-server"}}
			waits := [4]bench.Line{{Name: "bare p50"}, {Name: "sandbox-server p50"}, {Name: "bare p99"}, {Name: "sandbox-server p99"}}
			for field := range strings.SplitSeq(numbers, ",") {
				if _, err := fmt.Sscan(field, &workers); err != nil || workers < 1 {
					t.Fatalf("-clients %s", *clients)
				}
				bare, err := p.BareWorkers(tc, t.TempDir(), workers)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := through.Saturate(t.Context(), workers, *slice); err != nil { // until enough is ready
					t.Fatal(err)
				}
				loads, err := bench.SaturateInTurns(t.Context(), workers, *turns, *slice, bare, through)
				if err != nil {
					t.Fatal(err)
				}
				outside, inside := loads[0], loads[1]
				calm, err := through.Arrive(t.Context(), 0.7*inside.Rate(), max(time.Duration(*turns)**slice, time.Second))
				if err != nil {
					t.Fatal(err)
				}
				add := func(l *bench.Line, y float64) { l.X, l.Y = append(l.X, float64(workers)), append(l.Y, y) }
				for i, l := range loads {
					add(&lines[i], l.Rate())
					add(&waits[i], milliseconds(l.Quantile(0.5)))
					add(&waits[i+2], milliseconds(l.Quantile(0.99)))
				}
				ratio, low, high := inside.Ratio(outside)
				least, late := 0.0, "–"
				if workers == 4 {
					least = leastOfBare[p.Name]
				}
				if calm.Tells(0.99) {
					late = fmt.Sprintf("%.1f", float64(calm.Quantile(0.99))/float64(calm.Quantile(0.5)))
					if calm.Quantile(0.99) > mostLate*calm.Quantile(0.5) {
						late += ", **not met**"
					}
				}
				fmt.Fprintf(&table, "| %s | %d | %.1f | %.1f | %.2f | %.2f to %.2f | %s | %.2f | %.2f | %s | %s | %s | %s | %s |\n", p.Name, workers, outside.Rate(), inside.Rate(),
					ratio, low, high, wanted(least, ratio >= least), milliseconds(outside.CPUEach()), milliseconds(inside.CPUEach()),
					quantile(inside.Series, 0.5), quantile(inside.Series, 0.99), quantile(calm.Series, 0.5), quantile(calm.Series, 0.99), late)
			}
			name := strings.ReplaceAll(p.Name, " ", "-")
			title := p.Name + ", each with a source of its own"
			draw(t, "throughput-"+name, bench.Plot{Title: title, X: "clients", Y: "runs a second", Lines: lines[:], LogX: true})
			draw(t, "latency-"+name, bench.Plot{Title: title, X: "clients that saturate the machine", Y: "ms", Lines: waits[:], LogX: true})
		})
	}
	report(t, fmt.Sprintf("Runs a second, %d turns of %v, cpus %v, SANDBOX_QUEUE=10000; p99 at 70 %% of that is to be at most %d times p50", *turns, *slice, cores(), mostLate), table.String())
}

// draw writes a figure into the directory that -plots names.
func draw(t *testing.T, name string, p bench.Plot) {
	t.Helper()
	if *plots == "" {
		return
	}
	if err := errors.Join(os.MkdirAll(*plots, 0o755), os.WriteFile(filepath.Join(*plots, name+".svg"), []byte(p.SVG()), 0o644)); err != nil {
		t.Fatal(err)
	}
}

var (
	reporting sync.Mutex
	reported  = time.Now()
	stolen, _ = bench.Stolen()
)

// report shows a table with when, where and of what it is, and appends it to the file that -report
// names.
func report(t *testing.T, title, table string) {
	t.Helper()
	reporting.Lock()
	defer reporting.Unlock()
	lost, _ := bench.Stolen()
	now := time.Now()
	share := 100 * (lost - stolen).Seconds() / now.Sub(reported).Seconds() / float64(runtime.NumCPU())
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output() // of an archive there is none
	table = fmt.Sprintf("%s; commit %s; %s UTC; %.1f %% of the processors' time was stolen.\n\n%s", bench.Host(), bytes.TrimSpace(commit), now.UTC().Format("2 January 2006 15:04"), share, table)
	reported, stolen = now, lost
	t.Logf("%s\n%s", title, table)
	if *reportFile == "" {
		return
	}
	f, err := os.OpenFile(*reportFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "\n## %s\n\n%s", title, table); err != nil {
		t.Error(err)
	}
}
