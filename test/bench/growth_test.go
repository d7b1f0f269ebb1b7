package bench

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

var most = flag.Int("most", 10, "how many KiB of source, files and idle containers TestGrowth and TestCrowd go up to, by factors of ten")

// TestGrowth is how long a caller waits as there is more to bring: source, and files.
func TestGrowth(t *testing.T) {
	server := start(t)
	for _, of := range []struct {
		what, unit string
		request    func(n int, unique int64) api.Request
	}{
		{"source", "KiB", func(n int, unique int64) api.Request {
			return api.Request{Code: fmt.Sprintf("print(%d)\n", unique) + strings.Repeat("# a comment of thirty-two bytes.\n", n*1024/33)}
		}},
		{"files", "files of 1 KiB", func(n int, unique int64) api.Request {
			req := api.Request{Code: fmt.Sprintf("print(%d)\n", unique), Files: map[string]api.InputFile{}}
			for i := range n {
				req.Files[fmt.Sprintf("data/%d.txt", i)] = api.InputFile{Content: strings.Repeat("x", 1024)}
			}
			return req
		}},
	} {
		t.Run(of.what, func(t *testing.T) {
			grows(t, "growth-"+of.what, "More "+of.what, "A hello in Python with more "+of.what, of.unit, func(n int) bench.Contender {
				return bench.Contender{Do: func(ctx context.Context, unique int64) error {
					_, err := send(ctx, server, of.request(n, unique))
					return err
				}}
			})
		})
	}
}

// grows measures what is made of 1, 10 and so on, up to the most.
func grows(t *testing.T, name, head, title, unit string, made func(n int) bench.Contender) {
	t.Helper()
	line := bench.Line{Name: "p50"}
	table := "| " + unit + " | p50 ms | p95 | p99 |\n|---|---|---|---|\n"
	for n := 1; n <= *most; n *= 10 {
		s, err := bench.Turns{Rounds: *rounds, WarmUp: 3, Idle: *idle}.Measure(t.Context(), made(n))
		if err != nil {
			t.Fatal(err)
		}
		table += fmt.Sprintf("| %d | %s |\n", n, figures(s[0]))
		line.X, line.Y = append(line.X, float64(n)), append(line.Y, float64(s[0].Quantile(0.5))/float64(time.Millisecond))
	}
	report(t, fmt.Sprintf("%s, %d rounds", head, *rounds), table)
	draw(t, name, bench.Plot{Title: title, X: unit, Y: "ms", LogX: true, Lines: []bench.Line{line}})
}
