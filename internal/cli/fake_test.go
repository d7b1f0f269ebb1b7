package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func itoa(n int) string { return strconv.Itoa(n) }

// fakeEngine plays the file that FAKE_SCRIPT names, a JSON object a line.
type fakeEngine struct {
	cfg    config.Config
	notify func(string)
	seq    int64
}

// openFakeServer is the same at another place: FAKE_SERVER says what auto finds.
func openFakeServer(url, key string, notify func(string)) (Runner, error) {
	if url == AutoServer && os.Getenv("FAKE_SERVER") == "" {
		return nil, nil
	}
	if url == "" {
		return nil, &executor.InputError{Detail: "no URL"}
	}
	err := os.WriteFile("server", []byte(fmt.Sprintf("url %s\nkey %s\n", url, key)), 0o600)
	return &fakeEngine{notify: notify}, err
}

// step is one line of a script.
type step struct {
	api.Event
	// Do is event (the default), flood, echo, wait, linger, file, refuse, forbid, notify.
	Do string `json:"do"`
	// Bytes is how much flood writes, Path and Text what file and notify take.
	Bytes int    `json:"bytes"`
	Path  string `json:"path"`
	Text  string `json:"text"`
	Kind  int    `json:"kind"`
}

func (f *fakeEngine) Run(ctx context.Context, job Job, sink executor.Sink) (*api.Result, error) {
	dumpJob(f.cfg, job)
	script, err := os.Open(os.Getenv("FAKE_SCRIPT"))
	if err != nil {
		return nil, err
	}
	defer script.Close()
	lines := bufio.NewScanner(script)
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		r, err := f.play(ctx, s, job, sink)
		if r != nil || err != nil {
			return r, err
		}
	}
	return nil, fmt.Errorf("the script has no result")
}

func (f *fakeEngine) play(ctx context.Context, s step, job Job, sink executor.Sink) (*api.Result, error) {
	send := func(e api.Event) (*api.Result, error) {
		f.seq++
		e.Seq = f.seq
		if sink(e) != nil {
			return cancelled(), os.WriteFile("told", nil, 0o600)
		}
		return e.Result, nil
	}
	switch s.Do {
	case "flood":
		for range s.Bytes / 4096 {
			if r, err := send(api.Event{Type: api.EventStdout, Data: strings.Repeat("y\n", 2048)}); r != nil || err != nil {
				return r, err
			}
		}
		return nil, nil
	case "echo":
		data, err := io.ReadAll(job.Stdin)
		if err != nil {
			return nil, err
		}
		return send(api.Event{Type: api.EventStdout, Data: string(data)})
	case "wait":
		os.WriteFile("pid.new", []byte(itoa(os.Getpid())), 0o600)
		os.Rename("pid.new", "pid") // who waits for it finds it whole
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute): // of a session that failed, which nobody ends
			return nil, errors.New("nobody has ended this run")
		}
		os.WriteFile("stopped", nil, 0o600)
		return nil, nil
	case "linger":
		time.Sleep(stuckWait + 200*time.Millisecond)
		return nil, nil
	case "file":
		info := sandbox.FileInfo{Path: s.Path, Size: int64(len(s.Text)), Mode: 0o644}
		return nil, job.OnFile(info, strings.NewReader(s.Text))
	case "refuse":
		return nil, &executor.InputError{Kind: executor.InputKind(s.Kind), Detail: s.Text}
	case "forbid":
		return nil, &PolicyError{errors.New(s.Text)}
	case "notify":
		f.notify(s.Text)
		return nil, nil
	}
	return send(s.Event)
}

func cancelled() *api.Result {
	return &api.Result{Status: api.StatusCancelled, Message: "cancelled", ExitCode: 143, Signal: "SIGTERM"}
}

// dumpJob writes what was asked for, for the session to look at.
func dumpJob(cfg config.Config, job Job) {
	var b strings.Builder
	fmt.Fprintf(&b, "language %s\ncode %q\nargs %q\nenv %v\ndir %s\nentry %s\n", job.Language, job.Code, job.Args, job.Env, job.Dir, job.Entry)
	fmt.Fprintf(&b, "stdin %v\ntty %v\nisolation %s\n", job.Stdin != nil, job.TTY != nil, job.Isolation)
	fmt.Fprintf(&b, "imports %q block %q policy %q\n", job.Imports, job.BlockImports, cfg.Imports)
	fmt.Fprintf(&b, "network %q allow %q dns %v\nrequire %q\n", job.Network.Mode, job.Network.Allow, job.Network.AllowDNS, job.Requirements)
	l := job.Limits
	fmt.Fprintf(&b, "wall %v cpu %v cpus %v memory %d pids %d nofile %d disk %d strict %v\n", l.WallTime, l.CPUTime, l.CPUs, l.MemoryBytes, l.Processes, l.OpenFiles, job.DiskBytes, l.Strict)
	fmt.Fprintf(&b, "output %d stream %d compile %v install %v timeout %v\n", job.MaxOutputBytes, job.MaxStreamBytes, job.CompileTimeout, cfg.InstallTimeout, cfg.Timeout)
	fmt.Fprintf(&b, "collect %v\n", describe(job.Collect))
	for _, name := range slices.Sorted(maps.Keys(job.Files)) {
		fmt.Fprintf(&b, "file %s %q executable %v\n", name, job.Files[name].Content, job.Files[name].Executable)
	}
	if err := os.WriteFile("request", []byte(b.String()), 0o600); err != nil {
		panic(err)
	}
}

func describe(globs []string) string {
	if globs == nil {
		return "everything"
	}
	return fmt.Sprintf("%q", globs)
}

func (f *fakeEngine) Toolchains(context.Context) ([]language.Toolchain, []language.Missing) {
	return []language.Toolchain{{Language: "python", Version: "3.12.1", Program: "/usr/bin/python3.12", Origin: "PATH"}},
		[]language.Missing{{Language: "java", Reason: "no javac on PATH\x1b[2J"}, {Language: "python", Reason: "no 3.13"}}
}

// Check is told by the source: each word is an import.
func (f *fakeEngine) Check(_ context.Context, req executor.Request) (*api.Check, error) {
	mode := executor.ImportPolicy{Mode: f.cfg.Imports}.For(req.Imports, len(req.BlockImports) > 0, req.Isolation)
	c := &api.Check{Language: req.Language, Version: "1", Policy: string(mode), ImportsKnown: true, Syntax: api.SyntaxOK, Imports: []api.Import{}, BlockedImports: []string{}}
	for i, word := range strings.Fields(string(req.Code)) {
		c.Imports = append(c.Imports, api.Import{Module: word, File: "main", Line: i + 1, Blocked: word == "bad"})
		switch word {
		case "bad":
			c.BlockedImports = []string{word}
		case "odd":
			c.ImportsKnown = false
		case "wrong":
			c.Syntax, c.Message, c.Details = api.SyntaxError, "it is wrong\x1b[2J", "at line 1\nat line 2\n"
		}
	}
	return c, nil
}

func (f *fakeEngine) Posture(context.Context, sandbox.Level) (*posture.Posture, error) {
	return nil, errors.New("there are no containers here")
}

func (f *fakeEngine) Probe(context.Context) (sandbox.Capabilities, error) {
	caps := sandbox.Capabilities{
		Runtime: f.cfg.Runtime,
		Mechanisms: []sandbox.Mechanism{
			{Name: "seccomp", State: api.Enforced, Detail: "allow-list"},
			{Name: "limit:memory", State: api.Sampled, Detail: "no cgroup", Mend: "sudo loginctl enable-linger"},
		},
	}
	if os.Getenv("FAKE_UNUSABLE") != "" {
		return caps, nil
	}
	caps.Levels, caps.Networks = []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted}, []sandbox.NetworkMode{sandbox.NetworkNone}
	return caps, nil
}

func reclaimFake(context.Context, config.Config) ([]string, error) {
	return strings.Fields(os.Getenv("FAKE_LEFTOVERS")), nil
}

func (f *fakeEngine) Close() error {
	if problem := os.Getenv("FAKE_CLOSE"); problem != "" {
		return errors.New(problem)
	}
	return nil
}
