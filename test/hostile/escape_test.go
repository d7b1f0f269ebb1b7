package hostile

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// TestE10 plants everything but files where files are collected: what is no file of
// the workspace is named as skipped, is not followed, and holds nobody up.
func TestE10(t *testing.T) {
	const planted = `import os, socket
canary = os.environ["CANARY"]
for name, target in {"absolute": canary, "relative": "../" * 40 + canary, "environ": "/proc/self/environ", "init": "/proc/1/environ", "root": "/proc/1/root", "zero": "/dev/zero",
        "etc": "/etc", "fd": "/proc/self/fd/0", "magic": "/proc/self/exe", "loop": "loop", "up": "..", "tty": "/dev/tty", "dangling": "/nowhere"}.items():
    os.symlink(target, name)
os.symlink(canary, "chain40")
for n in range(40, 0, -1):
    os.symlink(f"chain{n}", f"chain{n - 1}")
os.mkfifo("fifo")
os.mknod("null.socket", 0o140666)
try: os.link(canary, "stolen")
except OSError: pass
os.mkdir("d"); os.symlink(canary, "d/below"); os.symlink("/etc", "d/etc")
open("real", "w").write("mine")
os.link("real", "hard")
open("line\nbreak", "w").write("mine")
open("closed", "w").write("mine"); os.chmod("closed", 0)
os.mkdir("locked"); open("locked/in", "w").write("mine"); os.chmod("locked", 0)
open(b"not\xffutf8", "w").write("mine")
print("done")`
	each(t, "E10", "Everything but files where files are collected.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		path, err := canary()
		if err != nil {
			t.Fatal(err)
		}
		for _, collect := range []*[]string{nil, {"**"}, {"*", "d/*", "etc/*", "root/etc/*", "up/*", "chain0", "absolute", "zero", "fifo"}} {
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: planted, Env: map[string]string{"CANARY": path}, Collect: collect})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != api.StatusOK || r.Stdout != "done\n" {
				t.Errorf("status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
			}
			for name, f := range r.Files {
				if name == "main.py" && strings.Contains(f.Content, "import os") {
					continue // which the caller has written
				}
				if f.Content != "mine" {
					t.Errorf("%q was collected: %.100q", name, f.Content)
				}
			}
			for _, name := range []string{"real", "hard"} {
				if r.Files[name].Content != "mine" {
					t.Errorf("%s is %+v", name, r.Files[name])
				}
			}
			skipped := map[string]string{}
			for _, s := range r.FilesSkipped {
				skipped[s.Path] = s.Reason
			}
			for _, name := range []string{"absolute", "relative", "environ", "root", "zero", "fifo", "loop", "chain0", "magic"} {
				if skipped[name] == "" {
					t.Errorf("nothing says that %s was skipped: %v", name, skipped)
				}
			}
		}
	})
}

// TestE11 has a process that outlives the program turn a name into a file, a link, a
// directory and a pipe until it is killed, in the middle of whatever it does: only then
// files are collected.
func TestE11(t *testing.T) {
	const swapper = `import mmap, os, time
turns = mmap.mmap(-1, 1)
canary = os.environ["CANARY"]
os.symlink(canary, "link"); os.symlink(os.path.dirname(canary), "above"); open("file", "w").write("mine"); os.mkfifo("fifo"); os.mkdir("dir"); open("dir/canary", "w").write("mine")
pid = os.fork()
if pid == 0:
    os.setsid()
    os.close(0), os.close(1), os.close(2)
    while True:
        for kind in "link", "file", "above", "fifo", "dir":
            os.rename(kind, "out"); os.rename("out", kind)
            turns[0] = (turns[0] + 1) % 256
def swaps(): # or this proves nothing
    seen, end = set(), time.time() + 2
    while len(seen) < 20 and time.time() < end: seen.add(turns[0])
    return len(seen) == 20
print("swapping" if swaps() and swaps() else "not swapping", flush=True)
os._exit(0)`
	each(t, "E11", "A process turns a name into a file, a link, a directory and a pipe until it is killed.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		path, err := canary()
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: swapper, Env: map[string]string{"CANARY": path}, Collect: &[]string{"out", "out/*", "*"}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != api.StatusOK || r.Stdout != "swapping\n" {
				t.Errorf("status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
			}
			for name, f := range r.Files {
				if name != "main.py" && f.Content != "mine" {
					t.Errorf("%q was collected: %.100q", name, f.Content)
				}
			}
		}
	})
}

// claimed is what a combination of local says of its walls.
func (c *combination) claimed() map[string]string {
	walls := map[string]string{}
	for _, wall := range []string{"namespaces", "root", "seccomp", "signals", "devices", "network", "uid"} {
		walls[wall] = api.Enforced
	}
	if c.level == "restricted" {
		walls["namespaces"], walls["root"], walls["devices"] = api.Absent, api.Absent, api.Absent
	}
	switch {
	case c.user == "root":
	case c.level == "full": // one id for init and programs, and the host's devices
		walls["uid"], walls["devices"] = api.Degraded, api.Degraded
	default:
		walls["uid"] = api.Absent
		delete(walls, "signals") // which are Landlock's, of one version or another
	}
	return walls
}

// TestE29 looks at what each combination says of its walls: nothing is left out, and
// nothing claims more than its level has.
func TestE29(t *testing.T) {
	each(t, "E29", "What each combination says of its walls.", func(t *testing.T, c *combination) {
		r, err := c.client.Execute(t.Context(), api.Request{Language: "bash", Code: "echo hello"})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Meta.IsolationLevel); got != c.level || r.Meta.Runtime != c.runtime {
			t.Errorf("the level is %s of %s, want %s", got, r.Meta.Runtime, c)
		}
		if c.runtime == "local" {
			for wall, state := range c.claimed() {
				if got := r.Meta.Isolation[wall]; got != state {
					t.Errorf("%s is said to be %q, want %q", wall, got, state)
				}
			}
		}
		if len(r.Meta.Isolation) < 5 {
			t.Errorf("of so few walls is anything said: %v", r.Meta.Isolation)
		}
		for mechanism, state := range r.Meta.Isolation {
			if !slices.Contains([]string{api.Enforced, api.Degraded, api.Absent}, state) {
				t.Errorf("%s is %q", mechanism, state)
			}
		}
		for _, weaker := range []string{"none", map[string]string{"full": "restricted", "restricted": "none"}[c.level]} {
			if r, err := c.client.Execute(t.Context(), api.Request{Language: "bash", Code: "echo hello", Isolation: weaker}); err == nil {
				t.Errorf("a caller has isolation %s: %+v", weaker, r.Meta)
			}
		}
	})
}

// TestE29None is about a server without walls: it claims none, runs nothing that is
// blocked, and holds what limits alone can hold.
func TestE29None(t *testing.T) {
	own := slices.DeleteFunc(slices.Clone(combinations()), func(c *combination) bool { return c.runtime != "local" || c.level != "full" })
	on(t, own, "E29", "A server without walls says so, blocks imports, and ends what it began.", func(t *testing.T, c *combination) {
		for _, blocks := range []bool{true, false} { // of which the first is how it comes
			settings := []string{"SANDBOX_ISOLATION=none"}
			if !blocks {
				settings = append(settings, "SANDBOX_BLOCK_DANGEROUS_IMPORTS=false")
			}
			c.withoutWalls(t, blocks, settings)
		}
	})
}

func (c *combination) withoutWalls(t *testing.T, blocks bool, settings []string) {
	t.Helper()
	other, stop := c.beside(t, settings...)
	defer stop()
	run := func(req api.Request) *api.Result {
		t.Helper()
		r, err := other.client.Execute(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(api.Request{Language: "python", Code: hello["python"]})
	if r.Status != api.StatusOK || r.Meta.IsolationLevel != "none" {
		t.Errorf("status %s, %s, level %s", r.Status, r.Message, r.Meta.IsolationLevel)
	}
	for mechanism, state := range r.Meta.Isolation {
		if state != api.Absent && mechanism != "cgroup" { // by which limits are held
			t.Errorf("%s is said to be %s", mechanism, state)
		}
	}
	if blocks {
		if r := run(api.Request{Language: "python", Code: "import socket\nprint('ran')"}); r.Status != api.StatusPolicyBlocked || r.Stdout != "" {
			t.Errorf("a program that imports: status %s, stdout %q", r.Status, r.Stdout)
		}
		if r, err := other.client.Execute(t.Context(), api.Request{Language: "bash", Code: "echo ran"}); err == nil {
			t.Errorf("a program whose imports nobody can read: %s", r.Status)
		}
		return
	}
	mark := fmt.Sprint(4000000 + os.Getpid())
	if r := run(api.Request{Language: "bash", Code: "setsid sleep " + mark + " & echo begun; while :; do :; done", TimeoutSeconds: 1}); r.Status != api.StatusTimeout || r.Stdout != "begun\n" {
		t.Errorf("a program without an end: status %s, stdout %q", r.Status, r.Stdout)
	}
	if left := testenv.Processes("sleep"); slices.ContainsFunc(left, func(dir string) bool { return strings.Contains(text(dir+"/cmdline"), mark) }) {
		t.Error("what it began goes on")
	}
	for _, network := range []string{"allowlist", "full"} {
		r, err := other.client.Execute(t.Context(), api.Request{Language: "bash", Code: "echo ran", Network: &api.RequestNetwork{Mode: network}})
		if err == nil || !strings.Contains(err.Error(), "network "+network) {
			t.Errorf("the network %s, which nobody could hold: %+v, %v", network, r, err)
		}
	}
}
