// Package engine puts together what every door runs requests with: the runtime
// that a configuration names and an executor on it.
package engine

import (
	"os"
	"path/filepath"
	"strings"

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
		CompiledBytes:    cfg.CompileCacheBytes,
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

// Told takes paths of this host out of words for those who send requests. What stands for
// them its operator knows.
func Told(cfg config.Config, getenv func(string) string) func(string) string {
	known := []struct {
		path, name string
		begins     bool // what stands for all that begins like it
	}{
		{cfg.DataDir, "$SANDBOX_DATA_DIR", false}, {runtimeDir(), "$RUNTIME_DIR", false},
		{filepath.Join(os.TempDir(), "sandbox-run-"), "$TMPDIR/sandbox-run-", true}, {getenv("HOME"), "$HOME", false},
	}
	return func(text string) string {
		for _, k := range known {
			if path := filepath.Clean(k.path); filepath.IsAbs(path) && path != "/" {
				text = replacePath(text, path, k.name, k.begins)
			}
		}
		return text
	}
}

// replacePath puts a name in the place of a path, where that is no part of a longer name.
func replacePath(text, path, name string, begins bool) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, path)
		if !found {
			return out.String() + text
		}
		out.WriteString(before)
		within := before != "" && strings.ContainsAny(before[len(before)-1:], letters+"./")
		longer := after != "" && strings.ContainsAny(after[:1], letters) && !begins
		if within || longer {
			out.WriteString(path)
		} else {
			out.WriteString(name)
		}
		text = after
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
