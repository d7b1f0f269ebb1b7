package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/internal/cli"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// engine is an executor on a runtime.
type engine struct {
	*executor.Executor
	runtime sandbox.Runtime
}

// opener opens the engine.
type opener struct {
	early *early // nil when nothing was opened ahead
}

// prepare begins to open the runtime. A configuration that names another one
// wins later.
func (o *opener) prepare() { o.early = openEarly() }

// drop closes what was prepared for nothing.
func (o *opener) drop() {
	if o.early != nil {
		o.early.drop()
	}
}

// open opens the runtime that the configuration names.
func (o *opener) open(cfg config.Config, notify func(string)) (cli.Engine, error) {
	local := openRuntime
	if o.early != nil {
		local = o.early.take
	}
	rt, err := sandbox.Factory{"local": local}.Open(cfg.Runtime)
	if err != nil {
		return nil, err
	}
	return engine{executor.New(rt, executorConfig(cfg, notify)), rt}, nil
}

func (e engine) Run(ctx context.Context, job cli.Job, sink executor.Sink) (*api.Result, error) {
	if job.Resize != nil {
		job.OnStart = func(running sandbox.Running) { go resize(ctx, running, job.Resize) }
	}
	return e.Executor.Run(ctx, job.Request, sink)
}

// resize passes the sizes of our terminal on to the program's.
func resize(ctx context.Context, running sandbox.Running, sizes <-chan sandbox.TTY) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			_ = running.Resize(size.Rows, size.Cols) // a program that has ended needs none
		}
	}
}

func (e engine) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	return e.runtime.Probe(ctx)
}

func (e engine) Close() error { return e.runtime.Close() }

// executorConfig is the operator's decisions in the executor's terms.
func executorConfig(cfg config.Config, notify func(string)) executor.Config {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	compile := executor.DefaultConfig().Compile
	return executor.Config{
		Defaults: sandbox.Limits{
			WallTime: cfg.Timeout, MemoryBytes: cfg.MemoryBytes, CPUs: cfg.CPUs,
			Processes: cfg.Processes, OpenFiles: cfg.OpenFiles,
		},
		Ceilings: sandbox.Limits{
			WallTime: cfg.MaxTimeout, MemoryBytes: cfg.MaxMemoryBytes, CPUs: cfg.MaxCPUs, Processes: cfg.MaxProcesses,
		},
		DefaultDiskBytes: cfg.DiskBytes,
		MaxDiskBytes:     cfg.MaxDiskBytes,
		Compile: sandbox.Limits{
			WallTime: cfg.CompileTimeout, MemoryBytes: cfg.CompileMemoryBytes, CPUs: cfg.CompileCPUs,
			Processes: compile.Processes, OpenFiles: compile.OpenFiles,
		},
		CompileDiskBytes: cfg.CompileDiskBytes,
		InstallTimeout:   cfg.InstallTimeout,
		MaxOutputBytes:   cfg.MaxOutputBytes,
		MaxStreamBytes:   cfg.MaxStreamBytes,
		DataDir:          cfg.DataDir,
		Host:             language.Host{Path: filepath.SplitList(os.Getenv("PATH")), Home: home, Getenv: os.Getenv, Named: cfg.Toolchains},
		Notify:           notify,
	}
}
