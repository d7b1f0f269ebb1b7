package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// sharesUser tells whether runs have the server's user, so that what is counted for a
// user is counted for all of them together, as docs/SECURITY.md says.
func (c *combination) sharesUser() bool { return c.level == "restricted" && c.user == "ordinary" }

// TestA29 has programs write lines like the server's, and what terminals obey, wherever
// it might be logged: each line of the log stays the server's own, and there are few.
func TestA29(t *testing.T) {
	const forged = "\n{\"level\":\"ERROR\",\"msg\":\"forged\",\"key\":\"forged\"}\n\x1b[2J\x1b]0;forged\a\r\u2028"
	on(t, combinations(), "A29", "Lines like the server's, and what terminals obey, wherever it might be logged; a gigabyte on one line.", func(t *testing.T, c *combination) {
		before := len(c.server.Logged())
		const runs = 10
		for range runs {
			_, err := c.client.Execute(t.Context(), api.Request{
				Language: "bash", Code: "printf '%s' \"$1\" >&2; printf \"$FORGED%.0s\" {1..2000}; \"$1\"; kill -9 $$",
				Args: []string{forged}, Env: map[string]string{"FORGED": forged}, Stdin: forged,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, req := range []api.Request{
				{Language: "bash" + forged, Code: "x"}, {Language: "bash", Code: "x", Entry: forged},
				{Language: "bash", Code: "x", Files: map[string]api.InputFile{forged: {Content: "x"}}},
			} {
				if r, err := c.client.Execute(t.Context(), req); err == nil && r.Status == api.StatusSandboxError {
					t.Errorf("%+v: %s", req, r.Message)
				}
			}
		}
		r, err := c.client.Execute(t.Context(), api.Request{Language: "bash", Code: "tr '\\0' x </dev/zero | head -c 1000000000 >&2", TimeoutSeconds: 20})
		if err != nil || r.Status != api.StatusOutputLimit {
			t.Errorf("a gigabyte on one line: %+v, %v", r, err)
		}
		log := c.server.Logged()[before:]
		for line := range strings.Lines(log) {
			var entry struct{ Msg string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "forged" || strings.ContainsAny(line, "\x1b\a\r\u2028") {
				t.Errorf("a line of the log is %.300q", line)
			}
		}
		if most := runs * 4 * 2000; len(log) > most {
			t.Errorf("%d bytes of log, more than %d", len(log), most)
		}
	})
}

// TestA39 has several fork bombs at once: each is held by itself, and others go on.
func TestA39(t *testing.T) {
	each(t, "A39", "Several fork bombs at once.", func(t *testing.T, c *combination) {
		if c.sharesUser() {
			t.Skip("runs share the limit with their user")
		}
		neighbour := c.neighbour(t)
		var bombs sync.WaitGroup
		for range 6 {
			bombs.Go(func() {
				r, err := c.client.Execute(t.Context(), api.Request{
					Language: "bash", Code: "bomb() { bomb & bomb & wait; }\nwhile :; do bomb & done", TimeoutSeconds: 2,
					Limits: &api.RequestLimits{Processes: 60},
				})
				if want := []api.Status{api.StatusProcessLimit, api.StatusTimeout}; err != nil || !slices.Contains(want, r.Status) {
					t.Errorf("a fork bomb among others: %+v, %v", r, err)
				}
			})
		}
		bombs.Wait()
		neighbour()
	})
}

// quotas takes what the kernel counts for each user, all of it or one of each.
const quotas = `
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
many = sys.argv[1] == "all"
def take(what, most, make):
    for n in range(most if many else 1):
        if make() < 0:
            if not many: print(what, os.strerror(ctypes.get_errno()), flush=True)
            return
def pipe():
    try: r, w = os.pipe()
    except OSError: return -1
    return libc.fcntl(w, 1031, 1 << 20 if many else 1 << 18)
timer, instances, directories = ctypes.c_void_p(), [], [b"/tmp"]
def instance():
    instances.append(libc.inotify_init1(0))
    return instances[-1]
def watch(): # an instance has one watch on a directory, however often it asks
    nth = watch.n = getattr(watch, "n", -1) + 1
    return libc.inotify_add_watch(instances[nth // len(directories) % len(instances)], directories[nth % len(directories)], 2)
take("a timer", 200000, lambda: libc.timer_create(1, None, ctypes.byref(timer)))
if "watches" in sys.argv:
    take("an inotify instance", 200, instance)
    for n in range(1000 if many else 0):
        os.mkdir(f"d{n}")
        directories.append(b"d%d" % n)
    take("a watch", 100000, watch)
if "pipes" in sys.argv:
    take("a large pipe", 100, pipe)
print("taken", flush=True)
if many: time.sleep(60)
`

// TestA40 has one run take all that the kernel grants a user, of signals, watches and
// pipes: the next still gets its own.
func TestA40(t *testing.T) {
	some := combinations()
	if !*allOf {
		some = inTurn(t, slices.DeleteFunc(slices.Clone(some), (*combination).sharesUser))
	}
	on(t, some, "A40", "One run takes all that the kernel grants a user.", func(t *testing.T, c *combination) {
		if c.sharesUser() || c.runtime == "docker" {
			t.Skip("runs share what their user is granted")
		}
		var args []string
		if c.level == "full" && c.user == "root" { // at restricted there are none, and others share what the server's user is granted
			args = []string{"watches"}
		}
		if c.user == "root" { // pipes are granted to a user as the host knows it, which is the server's elsewhere
			args = append(args, "pipes")
		}
		c.warm(t, "python")
		taken := make(chan struct{})
		var hog sync.WaitGroup
		hog.Go(func() {
			req := api.Request{Language: "python", Code: quotas, Args: append([]string{"all"}, args...), TimeoutSeconds: 4}
			r, err := c.client.Stream(t.Context(), req, func(e api.Event) error {
				if e.Type == api.EventStdout {
					close(taken)
				}
				return nil
			})
			if err != nil || r.Status != api.StatusTimeout || r.Stdout != "taken\n" {
				t.Errorf("who takes all: %+v, %v", r, err)
			}
		})
		select {
		case <-taken:
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: quotas, Args: append([]string{"one"}, args...)})
			if err != nil || r.Status != api.StatusOK || r.Stdout != "taken\n" {
				t.Errorf("who wants one: %+v, %v", r, err)
			}
		case <-time.After(10 * time.Second):
			t.Error("it has not taken all in ten seconds")
		}
		hog.Wait()
	})
}

// TestW11 has runs read files that are not in memory: a memory control group of
// version 1 lives on as long as a page is charged to it. What a run leaves in the cache is dropped
// once the kernel holds kept dead groups more than it did (maxDead of internal/kernel/cgroup), so more
// runs than that read.
func TestW11(t *testing.T) {
	const kept, runs = 128, 256
	files, err := filepath.Glob("/usr/lib/python3*/*.py")
	below, _ := filepath.Glob("/usr/lib/python3*/*/*.py")
	files = slices.DeleteFunc(append(files, below...), func(name string) bool { // links may lead to what no run sees
		info, err := os.Lstat(name)
		return err != nil || !info.Mode().IsRegular()
	})
	if err != nil || len(files) < runs {
		t.Skipf("needs %d files that a run can read, there are %d", runs, len(files))
	}
	grouped := slices.DeleteFunc(slices.Clone(combinations()), func(c *combination) bool { return c.user != "root" || c.runtime != "local" }) // others have no control groups
	on(t, grouped, "W11", "Runs read files that are not in memory.", func(t *testing.T, c *combination) {
		before := memoryGroups(t) - c.waiting(t)
		for _, name := range files[:runs] {
			testenv.Forget(t, name)
			r, err := c.client.Execute(t.Context(), api.Request{Language: "bash", Code: "cat " + name + " >/dev/null"})
			if err != nil || r.Status != api.StatusOK {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		// Other programs of the machine make groups as well.
		now := 0
		if !testenv.Within(5*time.Second, func() bool { now = memoryGroups(t) - c.waiting(t); return now < before+kept+runs/4 }) {
			t.Errorf("%d memory control groups after %d runs, before %d", now, runs, before)
		}
	})
}

// waiting is how many containers wait for a run.
func (c *combination) waiting(t *testing.T) (n int) {
	t.Helper()
	h, err := c.client.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range h.Warm {
		n += of
	}
	return n
}

// memoryGroups counts the memory control groups of version 1, the dead ones too.
func memoryGroups(t *testing.T) int {
	t.Helper()
	for line := range strings.Lines(text("/proc/cgroups")) {
		var name string
		var hierarchy, n int
		if _, err := fmt.Sscan(line, &name, &hierarchy, &n); err == nil && name == "memory" && hierarchy > 0 {
			return n
		}
	}
	t.Skip("there are no control groups of version 1 for memory")
	return 0
}

// kernelThreads are those that make pages huge, or equal ones one: for whoever asks, and on nobody's account.
var kernelThreads = []string{"khugepaged", "ksmd"}

// TestKernelThreads is the other half of A19: a run asks for as much of that work as it can, and the kernel's
// threads are busy for less than a twentieth of its time.
func TestKernelThreads(t *testing.T) {
	const ask = `import mmap, time
pages = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(pages), 4096): pages[at] = 1
for advice in mmap.MADV_HUGEPAGE, mmap.MADV_MERGEABLE:
    try: pages.madvise(advice)
    except OSError: pass
end = time.monotonic() + 4
while time.monotonic() < end:
    for at in range(0, len(pages), 2 << 20): # taken apart, so that there is always something to do
        pages.madvise(mmap.MADV_DONTNEED, at, 4096)
        pages[at] = 1
    time.sleep(0.1)
print("done")`
	if !slices.ContainsFunc(kernelThreads, func(name string) bool { return len(testenv.Processes(name)) > 0 }) {
		t.Skip("this kernel has no such threads, or they are not in sight")
	}
	each(t, "A19", "A run asks for huge and equal pages, which the kernel's own threads make.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		before, begin := busyThreads(t), time.Now()
		r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: ask, TimeoutSeconds: 20})
		if err != nil {
			t.Fatal(err)
		}
		took, busy := time.Since(begin), busyThreads(t)-before
		if r.Status != api.StatusOK || r.Stdout != "done\n" {
			t.Errorf("status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
		}
		if busy > took/20 {
			t.Errorf("the kernel's threads were busy for %v of %v", busy, took)
		}
	})
}

// busyThreads is the CPU time that those threads have had.
func busyThreads(t *testing.T) (sum time.Duration) {
	t.Helper()
	const tick = time.Second / 100 // USER_HZ
	for _, name := range kernelThreads {
		for _, dir := range testenv.Processes(name) {
			_, stat, _ := strings.Cut(text(dir+"/stat"), ") ") // from the third field on
			fields := strings.Fields(stat)
			for _, at := range []int{14 - 3, 15 - 3} { // utime, stime
				n, err := strconv.Atoi(fields[at])
				if err != nil {
					t.Fatal(err)
				}
				sum += time.Duration(n) * tick
			}
		}
	}
	return sum
}

// TestDeepestTree is A21: a tree of a hundred thousand directories, each in the other, is looked through and
// removed within five seconds. On the host's own file system it is of a fifth: there rm -rf takes six seconds.
func TestDeepestTree(t *testing.T) {
	// Landlock walks from a directory to the top at each call: whoever digs down spends a minute, and whoever
	// puts each tree below the next does not.
	const dig = `import os, sys
top = os.open(".", os.O_RDONLY)
for n in range(int(sys.argv[1])):
    os.fchdir(top)
    os.mkdir(f"tree{n}")
    os.chdir(f"tree{n}")
    for _ in range(998):
        os.mkdir("d")
        os.chdir("d")
    if n: os.rename(f"tree{n - 1}", "d", src_dir_fd=top)
print("done")`
	each(t, "A21", "A tree of a hundred thousand directories, each in the other.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		trees := "100"
		if c.level == "restricted" || !*allOf {
			trees = "20"
		}
		begin := time.Now()
		r, err := c.client.Execute(t.Context(), api.Request{
			Language: "python", Code: dig, Args: []string{trees}, TimeoutSeconds: 60, Limits: &api.RequestLimits{DiskMB: 1024, MemoryMB: 1024},
		})
		if err != nil {
			t.Fatal(err)
		}
		rest := time.Since(begin)
		for _, p := range r.Phases {
			rest -= time.Duration(*p.Metrics.WallTimeS * float64(time.Second))
		}
		if r.Status != api.StatusOK || r.Stdout != "done\n" {
			t.Errorf("status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
		}
		if rest > 5*time.Second {
			t.Errorf("what is around the program took %v", rest)
		}
	})
}
