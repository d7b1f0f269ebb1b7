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

// Who sends requests is not told where the server has its files.
func TestTold(t *testing.T) {
	cfg := config.Default()
	cfg.DataDir = "/root/data//"
	home := func(name string) string { return map[string]string{"HOME": "/root/"}[name] }
	cases := map[string]string{
		"open /root/data/cache/x: not a directory":        "open $SANDBOX_DATA_DIR/cache/x: not a directory",
		"mkdir /root/data: read-only":                     "mkdir $SANDBOX_DATA_DIR: read-only",
		"in \"/root/data\", /root/data2 and /root/data.":  "in \"$SANDBOX_DATA_DIR\", $HOME/data2 and $SANDBOX_DATA_DIR.",
		"mkdir " + os.TempDir() + "/sandbox-run-i1-2/tmp": "mkdir $TMPDIR/sandbox-run-i1-2/tmp",
		"exec /root/.cargo/bin/rustc: permission denied":  "exec $HOME/.cargo/bin/rustc: permission denied",
		"mount /rootfs, /srv/root and " + os.TempDir():    "mount /rootfs, /srv/root and " + os.TempDir(),
	}
	if dir := runtimeDir(); dir != "" {
		cases["mkdir "+dir+"/i1-2: no space left"] = "mkdir $RUNTIME_DIR/i1-2: no space left"
	}
	for said, want := range cases {
		if got := Told(cfg, home)(said); got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
	cfg.DataDir = ""
	if got := Told(cfg, func(string) string { return "" })("open /x"); got != "open /x" {
		t.Errorf("without a home: %q", got)
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
