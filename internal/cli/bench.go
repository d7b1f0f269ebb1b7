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
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// benchFlags is the grammar of the verb bench.
type benchFlags struct {
	Languages []string `arg:"" optional:"" name:"language" help:"Languages to measure; all of them otherwise."`

	Rounds  *count    `placeholder:"N" help:"How often each is measured (20)."`
	Idle    *duration `placeholder:"D" help:"The rest before each measurement (60ms)."`
	CPUs    *cpus     `name:"cpus" placeholder:"N" help:"Cores' worth of CPU time for each run (1)."`
	Clients *uint8    `placeholder:"N" help:"How many call at once, one run after the other, for the runs each second (4); 0 leaves them out."`
	Slice   *duration `placeholder:"D" help:"How long they do, bare and in the sandbox, twice each (2s)."`
	Server  *string   `placeholder:"URL" help:"Measure the sandbox-server there, or with auto that of this machine, in the place of containers that this process has ready."`
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
	// Load is what came of many who call at once; nil where it was left out.
	Load *benchLoad `json:"load,omitempty"`
	// Commands are what was measured as bare.
	Commands [][]string `json:"commands"`
}

// benchLoad is how much is done when so many clients send one run after the other, beside as
// many workers that call the bare program.
type benchLoad struct {
	Clients int       `json:"clients"`
	Bare    benchRate `json:"bare"`
	Ready   benchRate `json:"ready"`
	OfBare  float64   `json:"of_bare"`
}

// benchRate is runs a second, and the CPU time of the whole machine for each.
type benchRate struct {
	PerSecond float64 `json:"per_second"`
	CPU       float64 `json:"cpu_ms"`
}

// benchFigures are quantiles in milliseconds.
type benchFigures struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms,omitzero"` // of 20 rounds, and more
	P99 float64 `json:"p99_ms,omitzero"` // of 100 rounds, and more
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
	return exitOK, a.print(b.table())
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

func (f *benchFlags) clients() int {
	if f.Clients == nil {
		return 4
	}
	return int(*f.Clients)
}

func (f *benchFlags) slice() time.Duration {
	if f.Slice == nil {
		return 2 * time.Second
	}
	return time.Duration(*f.Slice)
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
	walls  string // the runtime and level of the runs
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
	run := func(ctx context.Context, n int64) (*api.Result, error) {
		result, err := b.runner.Run(ctx, Job{Request: b.request(p, n)}, func(api.Event) error { return nil })
		switch {
		case err != nil:
			return nil, err
		case result.Status != api.StatusOK:
			return nil, fmt.Errorf("%s: %s", result.Status, result.Message)
		case result.Meta.CachedCompile:
			return nil, errors.New("it was compiled before: what is measured is to be new")
		}
		return result, p.Check(n, result.Stdout)
	}
	ready := bench.Contender{Name: b.where, Do: func(ctx context.Context, n int64) error {
		result, err := run(ctx, n)
		if err == nil {
			warm = append(warm, result.Meta.Warm)
			b.walls = result.Meta.Runtime + ", isolation " + result.Meta.IsolationLevel
		}
		return err
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
	row.Load, err = b.load(ctx, p, tc, dir, bench.Contender{Name: b.where, Do: func(ctx context.Context, n int64) error {
		_, err := run(ctx, n)
		return err
	}})
	return row, err
}

// load saturates the machine with one program, or does nothing without clients.
func (b *benchmark) load(ctx context.Context, p bench.Program, tc language.Toolchain, dir string, ready bench.Contender) (*benchLoad, error) {
	clients := b.flags.clients()
	if clients == 0 {
		return nil, nil
	}
	bare, err := p.BareWorkers(tc, dir, clients)
	if err != nil {
		return nil, err
	}
	if _, err := ready.Saturate(ctx, clients, b.flags.slice()/4); err != nil { // until enough is ready
		return nil, err
	}
	loads, err := bench.SaturateInTurns(ctx, clients, 2, b.flags.slice(), bare, ready)
	if err != nil {
		return nil, err
	}
	rate := func(l bench.Load) benchRate { return benchRate{l.Rate(), milliseconds(l.CPUEach())} }
	ofBare, _, _ := loads[1].Ratio(loads[0])
	return &benchLoad{clients, rate(loads[0]), rate(loads[1]), ofBare}, nil
}

// oneCall is this tool, as a person calls it.
func (b *benchmark) oneCall(p bench.Program, self, dir string) bench.Contender {
	args := []string{self, "--quiet", "--lang", p.Language}
	if b.flags.Server != nil {
		args = append(args, "--server", *b.flags.Server)
	}
	if b.flags.CPUs != nil {
		args = append(args, "--cpus", fmt.Sprint(float64(*b.flags.CPUs)))
	}
	if p.File == "" {
		args = slices.Concat(args, []string{"--"}, p.Args)
		return p.Through("one call", dir, func(int64) []string { return args })
	}
	return p.Through("one call", dir, func(n int64) []string {
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
	f := benchFigures{P50: milliseconds(s.Quantile(0.5))}
	if s.Tells(0.95) {
		f.P95 = milliseconds(s.Quantile(0.95))
	}
	if s.Tells(0.99) {
		f.P99 = milliseconds(s.Quantile(0.99))
	}
	return f
}

func compare(s, bare bench.Series) benchComparison {
	low, high := s.RatioInterval(bare)
	return benchComparison{figuresOf(s), s.Ratio(bare), low, high}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// told is a figure, or a dash where too few rounds tell none.
func told(ms float64) string {
	if ms == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", ms)
}

// table is what people read.
func (b *benchmark) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %d cores; %d rounds in turns, %v of rest before each; milliseconds\n\n",
		b.walls, runtime.NumCPU(), b.flags.rounds(), b.flags.idle())
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tbare p50\tp95\tready p50\tp95\tp99\tof bare\twarm\tone call p50\tof bare\t")
	for _, r := range b.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.0f%%\t%s\t%.2f\t\n", r.Program, told(r.Bare.P50), told(r.Bare.P95),
			told(r.Ready.P50), told(r.Ready.P95), told(r.Ready.P99), r.Ready.OfBare, 100*r.Warm, told(r.OneCall.P50), r.OneCall.OfBare)
	}
	w.Flush()
	if clients := b.flags.clients(); clients > 0 {
		fmt.Fprintf(&out, "\n%d clients, one run after the other, twice %v each:\n\n", clients, b.flags.slice())
		fmt.Fprintln(w, "\tbare runs/s\tready runs/s\tof bare\tCPU ms of a bare run\tof a ready one\t")
		for _, r := range b.rows {
			fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.2f\t%.1f\t%.1f\t\n", r.Program, r.Load.Bare.PerSecond, r.Load.Ready.PerSecond, r.Load.OfBare, r.Load.Bare.CPU, r.Load.Ready.CPU)
		}
		w.Flush()
	}
	fmt.Fprintf(&out, "\nbare: the programs of the toolchains themselves, by their paths:\n")
	for _, r := range b.rows {
		var commands []string
		for _, c := range r.Commands {
			commands = append(commands, strings.Join(append([]string{c[0]}, short(c[1:])...), " "))
		}
		fmt.Fprintf(&out, "  %s: %s\n", r.Program, printable(strings.Join(commands, " && ")))
	}
	oneCall := "a container that it makes"
	if b.flags.Server != nil {
		oneCall = "one of the server's"
	}
	fmt.Fprintf(&out, "ready: %s, each container for one run; one call: sandbox-run, with %s. Each run has a source of its own.\n", b.where, oneCall)
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
