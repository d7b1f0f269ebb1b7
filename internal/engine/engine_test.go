package engine

import (
	"os"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// What the operator decides reaches the executor, each in its place.
func TestExecutorConfig(t *testing.T) {
	cfg := config.Default()
	cfg.MaxTimeout, cfg.MaxDiskBytes, cfg.DataDir = time.Minute, 1<<30, "/data"
	var told string
	got := Executor(cfg, os.Getenv, nil, func(s string) { told = s })
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
