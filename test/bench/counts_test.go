package bench

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// bounds are what the server may do for a run: a tenth more calls than it makes, and a fifth more
// memory than it allocates, which what it does by the clock is a part of.
type bounds struct {
	objects, kib, calls, opened, moved float64
}

// TestCounts counts what the server does for a run in a container that is ready, without what
// its spawner and the inits of containers do: figures that are
// the same on every machine, however busy. They may be lower than what is written here, and that
// is then to be written here.
func TestCounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's containers are made otherwise")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace here")
	}
	programs := bench.Programs()
	for i, bound := range []bounds{
		{1400, 240, 285, 38, 60000}, // true
		{1600, 400, 385, 52, 72000}, // Python
	} {
		t.Run(programs[i].Name, func(t *testing.T) { counts(t, programs[i], bound) })
	}
}

func counts(t *testing.T, p bench.Program, bound bounds) {
	t.Helper()
	server := start(t)
	run := func(n int) {
		t.Helper()
		for range n {
			if _, err := execute(t.Context(), server, p, time.Now().UnixNano()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // for what is done behind it
		}
	}
	run(20) // until there is one for each
	const runs = 10
	// least is what the server allocates while do lasts, the least of three times: what it does by
	// the clock, for nobody, comes into one of them and not into another.
	least := func(do func()) (objects, bytes float64) {
		objects, bytes = math.Inf(1), math.Inf(1)
		for range 3 {
			objects0, bytes0 := server.Metric("go_memstats_mallocs_total"), server.Metric("go_memstats_alloc_bytes_total")
			do()
			objects = min(objects, server.Metric("go_memstats_mallocs_total")-objects0)
			bytes = min(bytes, server.Metric("go_memstats_alloc_bytes_total")-bytes0)
		}
		return objects, bytes
	}
	// What asking and waiting take is taken off.
	idleObjects, idleBytes := least(func() { time.Sleep(runs * 100 * time.Millisecond) })
	objects, bytes := least(func() { run(runs) })
	tracer, err := testenv.Trace(server.Cmd.Process.Pid, filepath.Join(t.TempDir(), "trace"))
	if err != nil {
		t.Fatal(err)
	}
	run(runs)
	trace, err := tracer.Stop()
	if err != nil {
		t.Fatal(err)
	}
	calls, moved := read(trace, runs)
	total, opened := 0., 0.
	for name, n := range calls {
		total += n
		if opens[name] {
			opened += n
		}
	}
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return int(1000 * (calls[b] - calls[a])) }) {
		list = append(list, fmt.Sprintf("%s %.1f", name, calls[name]))
	}
	t.Logf("calls: %s", strings.Join(list, ", "))
	table := "| of the server, for a run | | at most |\n|---|---|---|\n"
	for _, c := range []struct {
		what      string
		got, most float64
	}{
		{"objects allocated", (objects - idleObjects) / runs, bound.objects},
		{"KiB allocated", (bytes - idleBytes) / runs / 1024, bound.kib},
		{"system calls, without those of Go's scheduler", total, bound.calls},
		{"calls that open descriptors", opened, bound.opened},
		{"bytes that calls copied to the kernel or from it", moved, bound.moved},
	} {
		table += fmt.Sprintf("| %s | %.0f | %.0f |\n", c.what, c.got, c.most)
		if !(c.got > c.most/4 && c.got <= c.most) { // which NaN is not, either
			t.Errorf("%s: %.0f for each run, and at most %.0f were expected, and more than a quarter of that", c.what, c.got, c.most)
		}
	}
	report(t, "What a run of "+p.Name+" takes", table)
}

// read counts the calls of a trace, and the bytes that they have copied, for each of so many runs.
func read(trace string, runs float64) (calls map[string]float64, moved float64) {
	calls = map[string]float64{}
	for line := range strings.Lines(trace) {
		call := traced.FindStringSubmatch(line)
		if call == nil || scheduling[call[2]] {
			continue
		}
		if call[1] == "" {
			calls[call[2]] += 1 / runs
		}
		if number := returned.FindStringSubmatch(line); moves[call[2]] && number != nil {
			n, _ := strconv.ParseFloat(number[1], 64) // digits
			moved += n / runs
		}
	}
	return calls, moved
}

// scheduling are calls that Go makes as its threads come and go, however much there is to do.
var scheduling = map[string]bool{
	"futex": true, "nanosleep": true, "epoll_pwait": true, "sched_yield": true, "tgkill": true, "getpid": true, "rt_sigreturn": true,
	"madvise": true, "restart_syscall": true, "rt_sigprocmask": true, "clone": true, "clone3": true, "sigaltstack": true, "mmap": true, "munmap": true, "gettid": true,
}

// moves are the calls that return how many bytes they have copied.
var moves = map[string]bool{"read": true, "write": true, "pread64": true, "pwrite64": true, "readv": true, "writev": true,
	"sendto": true, "recvfrom": true, "sendmsg": true, "recvmsg": true, "getdents64": true}

// Lines of strace: a call, or the end of one that another thread's has interrupted; and what it returned.
var (
	traced   = regexp.MustCompile(`^\d+ +(<\.\.\. )?(\w+)`)
	returned = regexp.MustCompile(`(?m) = (\d+)$`)
)

// opens are the calls that make descriptors.
var opens = map[string]bool{"openat": true, "openat2": true, "open": true, "pipe2": true, "socket": true, "socketpair": true, "accept4": true, "memfd_create": true, "dup": true, "fcntl": false, "pidfd_open": true, "eventfd2": true, "fsopen": true, "fsmount": true}
