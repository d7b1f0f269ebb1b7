package main

import (
	"context"
	"errors"
	"os"
	"runtime"

	"github.com/sandbox-run/sandbox-run/internal/cli"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/engine"
	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// door is an executor on a runtime, as the command line wants it.
type door struct {
	*executor.Executor
	runtime sandbox.Runtime
}

// opener opens the engine.
type opener struct {
	early *early // nil when nothing was opened ahead
}

// prepare begins to open the runtime, unless the environment names another one. A
// configuration that does so wins later.
func (o *opener) prepare() {
	if name := os.Getenv("SANDBOX_TYPE"); name == "" || name == "local" || name == config.RuntimeAuto {
		o.early = openEarly()
	}
}

// drop closes what was prepared for nothing.
func (o *opener) drop() {
	if o.early != nil {
		o.early.drop()
	}
}

// open opens the runtime that the configuration names.
func (o *opener) open(cfg config.Config, notify func(string)) (cli.Engine, error) {
	return o.openWith(cfg, notify, sandbox.PoolOptions{})
}

// openReady is open for who runs many programs, one after the other.
func (o *opener) openReady(cfg config.Config, notify func(string)) (cli.Engine, error) {
	return o.openWith(cfg, notify, sandbox.PoolOptions{
		Containers: readyContainers, MemoryBytes: readyMemory, Makers: runtime.GOMAXPROCS(0), OneTenant: true,
		Failed: func(err error) { notify("a container could not be made ahead: " + err.Error()) },
	})
}

// readyContainers and readyMemory, in bytes, are enough for one program after the other.
const readyContainers, readyMemory = 8, 1 << 30

func (o *opener) openWith(cfg config.Config, notify func(string), warm sandbox.PoolOptions) (cli.Engine, error) {
	f := engine.Runtimes(context.Background(), cfg, engine.Options{Getenv: os.Getenv, PullImages: true, Notify: notify})
	if o.early != nil && cfg.Image == "" && !cfg.StrictVersions {
		f["local"] = o.early.take
	}
	rt, warnings, err := engine.Open(context.Background(), cfg, f)
	if err != nil {
		return nil, err
	}
	conf := engine.Executor(cfg, rt.Name(), os.Getenv, warnings, notify)
	conf.Warm = warm
	return door{executor.New(rt, conf), rt}, nil
}

// reclaim is [engine.Reclaim] with this process's environment.
func reclaim(ctx context.Context, cfg config.Config) ([]string, error) {
	return engine.Reclaim(ctx, cfg, os.Getenv)
}

func (d door) Run(ctx context.Context, job cli.Job, sink executor.Sink) (*api.Result, error) {
	if job.Resize != nil {
		job.OnStart = func(running sandbox.Running) { go resize(ctx, running, job.Resize) }
	}
	return d.Executor.Run(ctx, job.Request, sink)
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

func (d door) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	return d.runtime.Probe(ctx)
}

func (d door) Posture(ctx context.Context, level sandbox.Level) (*posture.Posture, error) {
	return posture.Take(ctx, d.runtime, level)
}

func (d door) Close() error { return errors.Join(d.Executor.Close(), d.runtime.Close()) }
