// Package engine puts together what every door runs requests with: the runtime
// that a configuration names and an executor on it.
package engine

import (
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Executor is the operator's decisions in the executor's terms, for the runtime of that
// name. Toolchains are looked for as the environment says; warnings are said with every
// result; notify is told of slow preparations.
func Executor(cfg config.Config, runtime string, getenv func(string) string, warnings []string, notify func(string)) executor.Config {
	if runtime == "docker" {
		cfg = underDocker(cfg)
	}
	home := getenv("HOME")
	if home == "" {
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
		Imports:          executor.ImportPolicy{Mode: cfg.Imports, Rules: cfg.BlockedImports},
		PythonIndex:      cfg.PythonIndex,
		MaxOutputBytes:   cfg.MaxOutputBytes,
		MaxStreamBytes:   cfg.MaxStreamBytes,
		DataDir:          cfg.DataDir,
		Host:             language.Host{Path: filepath.SplitList(getenv("PATH")), Home: home, Getenv: getenv, Named: cfg.Toolchains},
		Images:           cfg.Images,
		Warnings:         warnings,
		Notify:           notify,
	}
}

// underDocker makes the most that an engine's containers get a ceiling of requests, so
// that a result never speaks of a limit that was not the one in force.
func underDocker(cfg config.Config) config.Config {
	d := cfg.Docker
	cfg.MaxMemoryBytes, cfg.MaxCPUs = least(cfg.MaxMemoryBytes, d.MemoryLimitBytes), least(cfg.MaxCPUs, d.CPULimit)
	cfg.CompileMemoryBytes, cfg.CompileCPUs = least(cfg.CompileMemoryBytes, d.MemoryLimitBytes), least(cfg.CompileCPUs, d.CPULimit)
	return cfg
}

// least is the lower of two bounds, of which 0 is none.
func least[T int64 | float64](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
