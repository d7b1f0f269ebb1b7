package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	idlers = flag.Int("idlers", 4, "idle containers of each kind in TestIdle")
	watch  = flag.Duration("watch", 200*time.Millisecond, "how long TestIdle looks at their CPU time")
)

// What an idle container may cost: MiB beside the interpreter's own pages, and % of a core for
// all of them. They are judged where there are enough of them to tell.
const (
	idleMiB, idleCPU = 1, 1
	enoughIdlers     = 100
)

// TestIdle is what containers cost that are ready and that nobody wants: memory of the whole
// machine, which is also what no control group is charged with, and CPU time, that of the machine
// too: timers of the kernel's and of whoever holds them are nobody's process below.
func TestIdle(t *testing.T) {
	table := "| containers | each, MiB of the machine | without the interpreter's own pages | CPU of their processes, % of one core | of the machine, beside one of them |\n|---|---|---|---|---|\n"
	for _, kind := range []string{"", "python", "javascript"} {
		t.Run(kind, func(t *testing.T) {
			name := kind
			if kind == "" {
				name = "empty"
			}
			ready := holder(t, *idlers+1, idler(t, kind))
			hold := func(n int) {
				ready(n)
				time.Sleep(*watch) // what was used to make them is given back
			}
			hold(1) // what they share is there
			n := min(*idlers, fitting(private()))
			alone := calmest(t)
			before, own := unused(t), private()
			hold(1 + n)
			each := (before - unused(t)) / float64(n)
			own = (private() - own) / float64(n)
			all := calmest(t) - alone
			used := watched(t, cpuOfBelow)
			table += fmt.Sprintf("| %d %s | %.2f | %.2f | %.2f | %.2f |\n", n, name, each, each-own, used, all)
			if n >= enoughIdlers && (each-own > idleMiB || max(used, all) > idleCPU) {
				t.Errorf("each takes %.2f MiB beside its interpreter, where %d are allowed, and all of them %.2f %% of a core and with the kernel's work %.2f %%, where %d are", each-own, idleMiB, used, all, idleCPU)
			}
		})
	}
	report(t, fmt.Sprintf("Idle containers, over %v", *watch), table)
}

// fitting is how many containers fit into half of what the machine has, with so many MiB in each.
func fitting(each float64) int {
	return int(field("/proc/meminfo", "MemAvailable:") / 1024 / 2 / (each + idleMiB))
}

// watched is how much more a clock of CPU time shows after a while, in % of a core.
func watched(t *testing.T, clock func() time.Duration) float64 {
	t.Helper()
	before := clock()
	time.Sleep(*watch)
	return 100 * (clock() - before).Seconds() / watch.Seconds()
}

// calmest is what the machine's processors work while nobody asks for anything, in % of a core:
// the least of some looks, for others have work of their own.
func calmest(t *testing.T) float64 {
	t.Helper()
	least := math.Inf(1)
	for range 3 {
		least = min(least, watched(t, func() time.Duration {
			used, err := bench.Busy()
			if err != nil {
				t.Fatal(err)
			}
			return used
		}))
	}
	return least
}

// manager is one of this process's own, with a pool, until the test ends.
func manager(t *testing.T, opts sandbox.PoolOptions) *sandbox.Manager {
	t.Helper()
	rt, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := sandbox.NewManager(rt, 0)
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), rt.Close()); err != nil {
			t.Error(err)
		}
	})
	opts.Makers, opts.Failed = 2, func(err error) { t.Error(err) }
	m.KeepReady(opts)
	return m
}

// holder has containers ready in this process, as many as it is told, until the test ends.
func holder(t *testing.T, most int, want sandbox.Want) (hold func(n int)) {
	t.Helper()
	m := manager(t, sandbox.PoolOptions{Containers: most, MemoryBytes: 1 << 40, OneTenant: true})
	return func(n int) {
		t.Helper()
		m.Prepare(want, n)
		if !testenv.Within(10*time.Minute, func() bool { return m.Ready()[want.Spec.Language] == n }) {
			t.Fatalf("%d are ready", m.Ready()[want.Spec.Language])
		}
	}
}

// TestCrowd is how long a caller waits on a machine with many idle containers.
func TestCrowd(t *testing.T) {
	server := start(t)
	hold := holder(t, *most, idler(t, ""))
	grows(t, "growth-idle", "More idle containers beside", "A hello in Python beside idle containers", "idle containers", func(n int) bench.Contender {
		hold(n)
		return bench.Contender{Do: func(ctx context.Context, unique int64) error {
			_, err := send(ctx, server, api.Request{Code: fmt.Sprintf("print(%d)\n", unique)})
			return err
		}}
	})
}

// idler is a container with what waits in it for a language, as the executor wants one.
func idler(t *testing.T, name string) sandbox.Want {
	t.Helper()
	w := sandbox.Want{Spec: sandbox.Spec{Language: name, Level: sandbox.LevelFull, Disk: sandbox.DiskLimit{Bytes: 256 << 20, Inodes: 1 << 16}}}
	limits := sandbox.Limits{MemoryBytes: 512 << 20, CPUs: 1, Processes: 128, OpenFiles: 256}
	network := sandbox.NetworkPolicy{Mode: sandbox.NetworkNone}
	if name == "" {
		w.First = &sandbox.Process{Limits: limits, Network: &network}
		return w
	}
	tc := toolchain(t, bench.Program{Language: name, File: "main"})
	lang, _, err := language.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lang.Plan(tc, language.Source{Code: []byte(" ")}, language.Resources{MemoryBytes: 512 << 20, CPUs: 1})
	if err != nil || len(plan.Ahead) == 0 {
		t.Fatalf("nothing of %s waits: %v", name, err)
	}
	a := plan.Ahead[0]
	w.Spec.Mounts = append(tc.Mounts, plan.Mounts...)
	w.Ahead = &sandbox.Ahead{Files: a.Files, BuildDirs: a.Dirs, Again: a.Again, Ancestor: a.Ancestor, Process: sandbox.Process{
		Args: a.Step.Args, Dir: a.Step.Dir, Env: append([]string{"HOME=" + sandbox.WorkspaceDir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, a.Step.Env...),
		Limits: limits, Network: &network,
	}}
	return w
}

// unused is the memory of the machine that nothing is in but pages of files on disks, in MiB.
// It is not MemAvailable, to which the kernel adds caches of names and inodes that the mounts of
// a container hold.
func unused(t *testing.T) float64 {
	t.Helper()
	in := func(word string) float64 { return field("/proc/meminfo", word) / 1024 }
	free := in("MemFree:")
	if free == 0 {
		t.Fatal("/proc/meminfo does not tell MemFree")
	}
	return free + in("Buffers:") + in("Cached:") - in("Shmem:")
}

// initProgram is what the kernel calls the program of our init, whose memory is ours to answer for.
const initProgram = "/memfd:sandbox-init (deleted)"

// private is the memory of all interpreters below this process that is no file's, in MiB.
func private() (sum float64) {
	for _, p := range testenv.Below(os.Getpid()) {
		if program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID)); program == "" || program == initProgram {
			continue
		}
		sum += field(fmt.Sprintf("/proc/%d/status", p.PID), "RssAnon:") / 1024
	}
	return sum
}

// cpuOfBelow is the CPU time that all processes below this one have used.
func cpuOfBelow() (sum time.Duration) {
	for _, p := range testenv.Below(os.Getpid()) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.PID))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread)
			var ns int64
			_, _ = fmt.Sscan(string(text), &ns)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// field is the number behind a word at the beginning of a line, or 0.
func field(file, word string) (n float64) {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, word); found {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}
