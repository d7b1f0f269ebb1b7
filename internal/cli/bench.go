package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// benchFlags is the grammar of the verb bench.
type benchFlags struct {
	Languages []string `arg:"" optional:"" name:"language" help:"Languages to measure; all of them otherwise."`

	Rounds *count    `placeholder:"N" help:"How often each is measured (20)."`
	Idle   *duration `placeholder:"D" help:"The rest before each measurement (60ms)."`
	CPUs   *cpus     `name:"cpus" placeholder:"N" help:"Cores' worth of CPU time for each run (1)."`
	Server *string   `placeholder:"URL" help:"Measure the sandbox-server there, or with auto that of this machine, in the place of containers that this process has ready."`
	listFlags
}

// benchRow is one program, as JSON prints it.
type benchRow struct {
	Program  string          `json:"program"`
	Language string          `json:"language"`
	Version  string          `json:"version,omitempty"`
	Bare     benchFigures    `json:"bare"`
	Ready    benchComparison `json:"ready"`
	OneCall  benchComparison `json:"one_call"`
	// Warm is the share of the runs that had a container that was ready.
	Warm float64 `json:"warm"`
	// Commands are what was measured as bare.
	Commands [][]string `json:"commands"`
}

// benchFigures are quantiles in milliseconds.
type benchFigures struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

// benchComparison is how one way compares with the bare program: the ratio of the medians,
// and the bounds of its 95 % confidence interval.
type benchComparison struct {
	benchFigures
	OfBare float64 `json:"of_bare"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// bench measures small programs on this machine: bare, in containers that are ready, and by
// one call of this tool.
func (a *app) bench(args []string) (int, error) {
	f := benchFlags{}
	help, err := a.parseVerb("bench", &f, args)
	if err != nil || help {
		return exitOK, err
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	wanted, err := f.programs()
	if err != nil {
		return 0, usageError{err}
	}
	stop := newStopper()
	defer stop.release()
	notify := func(message string) { fmt.Fprintf(a.stderr, "sandbox-run: %s\n", printable(message)) }
	engine, err := a.deps.OpenReady(cfg, notify)
	if err != nil {
		return 0, err
	}
	defer a.close(engine)
	b := &benchmark{flags: &f, runner: engine, where: "ready in this process", rows: []benchRow{}, notify: notify}
	if f.Server != nil {
		server, err := a.deps.OpenServer(*f.Server, cfg.Server.APIKey, notify)
		if err != nil {
			return 0, err
		}
		if server == nil {
			return 0, errors.New("no server of this machine answers: start sandbox-server, or leave --server out")
		}
		defer closeRunner(server, notify)
		b.runner, b.where = server, "the server "+*f.Server
	}
	if err := b.measure(stop.ctx, engine, wanted); err != nil {
		return 0, err
	}
	if f.JSON {
		return exitOK, a.printJSON(map[string]any{"rounds": f.rounds(), "idle_ms": milliseconds(f.idle()), "programs": b.rows})
	}
	return exitOK, a.print(b.table(cfg))
}

func (f *benchFlags) rounds() int {
	if f.Rounds == nil {
		return 20
	}
	return int(*f.Rounds)
}

func (f *benchFlags) idle() time.Duration {
	if f.Idle == nil {
		return 60 * time.Millisecond
	}
	return time.Duration(*f.Idle)
}

// programs are those of the languages that were named.
func (f *benchFlags) programs() ([]bench.Program, error) {
	all := bench.Programs()
	if len(f.Languages) == 0 {
		return all, nil
	}
	var chosen []bench.Program
	for _, word := range f.Languages {
		lang, _, err := language.Lookup(word)
		if err != nil {
			return nil, err
		}
		n := len(chosen)
		for _, p := range all {
			if p.Language == lang.Info().Name {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("there is no program in %s to measure", lang.Info().Title)
		}
	}
	return chosen, nil
}

// benchmark is one call of the verb.
type benchmark struct {
	flags  *benchFlags
	runner Runner
	where  string
	notify func(string)
	rows   []benchRow
}

// measure measures every program whose language is here.
func (b *benchmark) measure(ctx context.Context, engine Engine, programs []bench.Program) error {
	found, _ := engine.Toolchains(ctx)
	for _, p := range programs {
		at := slices.IndexFunc(found, func(tc language.Toolchain) bool { return tc.Language == p.Language })
		switch {
		case at >= 0:
		case p.File != "":
			b.notify(p.Name + ": " + p.Language + " is not here; sandbox-run languages tells how to get it")
			continue
		default:
			found, at = append(found, language.Toolchain{Language: p.Language}), len(found)
		}
		b.notify("measuring " + p.Name)
		row, err := b.program(ctx, p, found[at])
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		b.rows = append(b.rows, row)
	}
	return nil
}

// program measures one program, in turns.
func (b *benchmark) program(ctx context.Context, p bench.Program, tc language.Toolchain) (row benchRow, err error) {
	dir, err := os.MkdirTemp("", "sandbox-run-bench-")
	if err != nil {
		return row, err
	}
	defer os.RemoveAll(dir) //nolint:forbidigo // the caller's own, and only the host's toolchains write there
	self, err := os.Executable()
	if err != nil {
		return row, err
	}
	var warm []bool
	ready := bench.Contender{Name: b.where, Do: func(ctx context.Context, n int64) error {
		result, err := b.runner.Run(ctx, Job{Request: b.request(p, n)}, func(api.Event) error { return nil })
		if err != nil {
			return err
		}
		if result.Status != api.StatusOK {
			return fmt.Errorf("%s: %s", result.Status, result.Message)
		}
		warm = append(warm, result.Meta.Warm)
		return nil
	}}
	turns := bench.Turns{Rounds: b.flags.rounds(), WarmUp: 3, Idle: b.flags.idle()}
	series, err := turns.Measure(ctx, p.Bare(tc, dir), ready, b.oneCall(p, self, dir))
	if err != nil {
		return row, err
	}
	row = benchRow{
		Program: p.Name, Language: p.Language, Version: tc.Version, Commands: p.Commands(tc, dir),
		Bare: figuresOf(series[0]), Ready: compare(series[1], series[0]), OneCall: compare(series[2], series[0]),
	}
	for _, was := range warm[turns.WarmUp:] {
		if was {
			row.Warm += 1 / float64(turns.Rounds)
		}
	}
	return row, nil
}

// oneCall is this tool, as a person calls it.
func (b *benchmark) oneCall(p bench.Program, self, dir string) bench.Contender {
	args := []string{self, "--quiet", "--lang", p.Language}
	if b.flags.CPUs != nil {
		args = append(args, "--cpus", fmt.Sprint(float64(*b.flags.CPUs)))
	}
	if p.File == "" {
		args = slices.Concat(args, []string{"--"}, p.Args)
		return bench.Command("one call", dir, func(int64) []string { return args })
	}
	return bench.Command("one call", dir, func(n int64) []string {
		return append(slices.Clip(args), "--code", p.Source(n))
	})
}

func (b *benchmark) request(p bench.Program, n int64) executor.Request {
	req := executor.Request{Language: p.Language, Args: p.Args}
	if p.File != "" {
		req.Code = []byte(p.Source(n))
	}
	if b.flags.CPUs != nil {
		req.Limits = sandbox.Limits{CPUs: float64(*b.flags.CPUs)}
	}
	return req
}

func figuresOf(s bench.Series) benchFigures {
	return benchFigures{milliseconds(s.Quantile(0.5)), milliseconds(s.Quantile(0.95)), milliseconds(s.Quantile(0.99))}
}

func compare(s, bare bench.Series) benchComparison {
	low, high := s.RatioInterval(bare)
	return benchComparison{figuresOf(s), s.Ratio(bare), low, high}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table is what people read.
func (b *benchmark) table(cfg config.Config) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, isolation %s, %d cores; %d rounds in turns, %v of rest before each; milliseconds\n\n",
		cfg.Runtime, cfg.Isolation, runtime.NumCPU(), b.flags.rounds(), b.flags.idle())
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tbare p50\tp95\tready p50\tp95\tp99\tof bare\tone call p50\tof bare\t")
	for _, r := range b.rows {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.1f\t%.2f\t\n", r.Program, r.Bare.P50, r.Bare.P95,
			r.Ready.P50, r.Ready.P95, r.Ready.P99, r.Ready.OfBare, r.OneCall.P50, r.OneCall.OfBare)
	}
	w.Flush()
	fmt.Fprintf(&out, "\nbare: the programs of the toolchains themselves, by their paths:\n")
	for _, r := range b.rows {
		var commands []string
		for _, c := range r.Commands {
			commands = append(commands, strings.Join(append([]string{c[0]}, short(c[1:])...), " "))
		}
		fmt.Fprintf(&out, "  %s: %s\n", r.Program, printable(strings.Join(commands, " && ")))
	}
	fmt.Fprintf(&out, "ready: %s, each container for one run; one call: sandbox-run, with a container that it makes. Each run has a source of its own.\n", b.where)
	return out.String()
}

// short leaves the directories of temporary files out.
func short(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if filepath.IsAbs(w) {
			out[i] = filepath.Base(w)
		}
	}
	return out
}
