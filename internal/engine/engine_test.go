package engine

import (
	"os"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What the operator decides reaches the executor, each in its place.
func TestExecutorConfig(t *testing.T) {
	cfg := config.Default()
	cfg.MaxTimeout, cfg.MaxDiskBytes, cfg.DataDir = time.Minute, 1<<30, "/data"
	var told string
	got := Executor(cfg, "local", os.Getenv, nil, func(s string) { told = s })
	got.Notify("slow")
	for what, ok := range map[string]bool{
		"timeout":         got.Defaults.WallTime == 33*time.Second,
		"memory":          got.Defaults.MemoryBytes == 512<<20,
		"cpus":            got.Defaults.CPUs == 1,
		"processes":       got.Defaults.Processes == 128,
		"open files":      got.Defaults.OpenFiles == 256,
		"disk":            got.DefaultDiskBytes == 256<<20,
		"ceilings":        got.Ceilings.WallTime == time.Minute && got.MaxDiskBytes == 1<<30,
		"no ceiling":      got.Ceilings.MemoryBytes == 0,
		"compile":         got.Compile.WallTime == time.Minute && got.Compile.MemoryBytes == 2<<30 && got.CompileDiskBytes == 1<<30,
		"install":         got.InstallTimeout == 2*time.Minute,
		"output":          got.MaxOutputBytes == 20<<10 && got.MaxStreamBytes == 64<<20,
		"data":            got.DataDir == "/data",
		"host":            len(got.Host.Path) > 0 && got.Host.Home != "",
		"notices":         told == "slow",
		"nothing by name": len(got.Defaults.Strict) == 0,
	} {
		if !ok {
			t.Errorf("%s does not reach the executor: %+v", what, got)
		}
	}
}

// What an engine's containers get at most is a ceiling of requests, and of compilers.
func TestDockerCeilings(t *testing.T) {
	cfg := config.Default()
	cfg.Docker.MemoryLimitBytes, cfg.Docker.CPULimit, cfg.MaxMemoryBytes = 64<<20, 1.5, 32<<20
	notify := func(string) {}
	for runtime, want := range map[string]sandbox.Limits{
		"docker": {WallTime: cfg.MaxTimeout, MemoryBytes: 32 << 20, CPUs: 1.5},
		"local":  {WallTime: cfg.MaxTimeout, MemoryBytes: 32 << 20},
	} {
		if got := Executor(cfg, runtime, os.Getenv, nil, notify).Ceilings; got.MemoryBytes != want.MemoryBytes || got.CPUs != want.CPUs {
			t.Errorf("%s: ceilings %+v, want %+v", runtime, got, want)
		}
	}
	if got := Executor(cfg, "docker", os.Getenv, nil, notify).Compile; got.MemoryBytes != 64<<20 || got.CPUs != 1.5 {
		t.Errorf("compilers get %+v", got)
	}
}
