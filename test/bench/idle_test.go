package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
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
// machine, which is also what no control group is charged with, and CPU time, that of the kernel and
// of who holds them too.
func TestIdle(t *testing.T) {
	table := "| containers | each, MiB of the machine | without the interpreter's own pages | nor their tables and its threads' stacks | CPU of their processes, % of one core | with the kernel and who holds them, beside one of them |\n|---|---|---|---|---|---|\n"
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
			alone := calmest(t)
			before := unused(t)
			pages, tables := interpreters()
			n := min(*idlers, fitting(pages))
			hold(1 + n)
			each := (before - unused(t)) / float64(n)
			allPages, allTables := interpreters()
			beside := each - (allPages-pages)/float64(n)
			rest := beside - (allTables-tables)/float64(n)
			all := calmest(t) - alone
			used := watched(ours)
			table += fmt.Sprintf("| %d %s | %.2f | %.2f | %.2f | %.2f | %.2f |\n", n, name, each, beside, rest, used, all)
			if n >= enoughIdlers && (beside > idleMiB || max(used, all) > idleCPU) {
				t.Errorf("each takes %.2f MiB beside its interpreter, where %d are allowed, and all of them %.2f %% of a core and with the kernel's work %.2f %%, where %d are", beside, idleMiB, used, all, idleCPU)
			}
		})
	}
	report(t, fmt.Sprintf("Idle containers, over %v", *watch), table)
}

// fitting is how many containers fit into half of what the machine has, with so many MiB in each.
func fitting(each float64) int {
	return int(field("/proc/meminfo", "MemAvailable:") / 1024 / 2 / (each + idleMiB))
}

// watched is how much CPU time some processes use in a while, in % of a core. What has ended by then
// does not count. The last of them are looked at last, and then first: what a look costs is not theirs.
func watched(processes ...func() []int) float64 {
	before, after := map[string]time.Duration{}, map[string]time.Duration{}
	for _, pids := range processes {
		maps.Copy(before, threadTimes(pids()))
	}
	time.Sleep(*watch)
	for _, pids := range slices.Backward(processes) {
		maps.Copy(after, threadTimes(pids()))
	}
	var used time.Duration
	for thread, spent := range after {
		used += max(0, spent-before[thread])
	}
	return 100 * used.Seconds() / watch.Seconds()
}

// calmest is what the kernel, this process and those below it work while nobody asks for anything,
// in % of a core: the least of some looks, for the kernel works for others too. It is not what all
// processors do, since others may look at each process there is: a machine's own agent took 5 % of
// a core for a look at a thousand.
func calmest(t *testing.T) float64 {
	t.Helper()
	least := math.Inf(1)
	for range 3 {
		before := interrupts(t)
		used := watched(ours, kernel, func() []int { return []int{os.Getpid()} })
		least = min(least, used+100*(interrupts(t)-before).Seconds()/watch.Seconds())
	}
	return least
}

// interrupts is how long processors have served them.
func interrupts(t *testing.T) time.Duration {
	t.Helper()
	spent, err := bench.Interrupts()
	if err != nil {
		t.Fatal(err)
	}
	return spent
}

// manager is one of this process's own, with a pool, until the test ends.
func manager(t *testing.T, opts sandbox.PoolOptions) *sandbox.Manager {
	t.Helper()
	rt, err := local.New(local.Options{Many: true})
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
// a container hold. Pages that the processors keep at hand, to be given out, are not in MemFree:
// up to a hundredth of the memory that comes back within a minute or so.
func unused(t *testing.T) float64 {
	t.Helper()
	in := func(word string) float64 { return field("/proc/meminfo", word) / 1024 }
	free := in("MemFree:")
	if free == 0 {
		t.Fatal("/proc/meminfo does not tell MemFree")
	}
	return free + atHand() + in("Buffers:") + in("Cached:") - in("Shmem:")
}

// atHand is what the processors have in their lists of free pages, in MiB.
func atHand() (mib float64) {
	text, _ := os.ReadFile("/proc/zoneinfo")
	for line := range strings.Lines(string(text)) {
		if count, found := strings.CutPrefix(strings.TrimSpace(line), "count:"); found {
			var pages float64
			_, _ = fmt.Sscan(count, &pages)
			mib += pages * float64(os.Getpagesize()) / (1 << 20)
		}
	}
	return mib
}

// initProgram is what the kernel calls the program of our init, whose memory is ours to answer for.
const initProgram = "/memfd:sandbox-init (deleted)"

// interpreters is what all of them below this process take, in MiB: pages that are no file's, and
// what the kernel has for these wherever they run, the tables of their pages and 16 KiB of stack for
// each thread (THREAD_SIZE of amd64 and arm64).
func interpreters() (pages, tables float64) {
	for _, p := range testenv.Below(os.Getpid()) {
		if program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID)); program == "" || program == initProgram {
			continue
		}
		status := fmt.Sprintf("/proc/%d/status", p.PID)
		pages += field(status, "RssAnon:") / 1024
		tables += (field(status, "VmPTE:") + 16*field(status, "Threads:")) / 1024
	}
	return pages, tables
}

// ours are this process's children and theirs, all of them.
func ours() (pids []int) {
	for _, p := range testenv.Below(os.Getpid()) {
		pids = append(pids, p.PID)
	}
	return pids
}

// kernel are the kernel's own threads, kthreadd and its children, but those that look at memory for
// whoever has set DAMON up: some hosts of virtual machines have, and 4 GiB in use are 1 % of a core.
func kernel() []int {
	const kthreadd = 2
	pids := []int{kthreadd}
	for _, p := range testenv.Below(kthreadd) {
		if !strings.HasPrefix(p.Name, "kdamond") {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// threadTimes is how long each thread of some processes has had a core, by the file that tells it.
func threadTimes(pids []int) map[string]time.Duration {
	times := map[string]time.Duration{}
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread)
			var ns int64
			_, _ = fmt.Sscan(string(text), &ns)
			times[thread] = time.Duration(ns)
		}
	}
	return times
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
