package crash

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// foreign is what must not be touched: processes of ours that live, with containers in
// which something runs, and what only looks like ours.
type foreign struct {
	alive   []living
	planted []string
	with    map[string]bool // what they have, as [seen.ours]
	hidden  map[string]bool // and what of it the test has taken away
}

// living is a sandbox-run whose program waits for a line.
type living struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// live starts and plants it. It goes with the test.
func live(t *testing.T, u user) *foreign {
	t.Helper()
	f := &foreign{}
	f.plant(t)
	f.start(t, u)
	return f
}

// start starts what lives, at every level.
func (f *foreign) start(t *testing.T, u user) {
	t.Helper()
	before := look(t)
	levels := []string{"--isolation=full", "--isolation=restricted"}
	if _, err := exec.LookPath("crun"); err == nil {
		levels = append(levels, "--runtime=oci")
	}
	for _, level := range levels {
		f.alive = append(f.alive, wait(t, u, level))
	}
	f.with = map[string]bool{}
	for what := range settled(t).ours {
		if !before.ours[what] {
			f.with[what] = true
		}
	}
}

// wait starts a program that waits.
func wait(t *testing.T, u user, option string) (l living) {
	t.Helper()
	l.cmd = u.command([]string{option, "--quiet", "--lang", "bash", "--interactive", "--timeout", "1h", "--env", marker, "--code", "echo waits; read line; echo $line"}, nil)
	in, err := l.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l.cmd.ProcessState == nil {
			_ = l.cmd.Process.Signal(os.Interrupt)
			_ = l.cmd.Wait()
		}
	})
	l.in, l.out = in, bufio.NewReader(out)
	if line, err := l.out.ReadString('\n'); line != "waits\n" {
		t.Fatalf("what shall live says %q, %v", line, err)
	}
	return l
}

// trees are some of the trees of control groups, which are all that there are on a host
// of version 2 alone.
func trees() []string {
	return slices.DeleteFunc([]string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu"}, func(tree string) bool {
		_, err := os.Stat(tree + "/cgroup.procs")
		return err != nil
	})
}

// plant makes what looks like ours and is not.
func (f *foreign) plant(t *testing.T) {
	t.Helper()
	places := []string{
		filepath.Join(os.TempDir(), "sandbox-run-i12"), filepath.Join(os.TempDir(), "sandbox-run-i1234-foreign"),
		filepath.Join(os.TempDir(), "sandbox-run-of-somebody"), "/run/sandbox-run/i12", "/run/sandbox-run/i1234-not",
	}
	for _, tree := range trees() {
		for _, name := range []string{
			"sandbox-run-foreign", "sandbox-run-i1234", "sandbox-run.other", "sandbox-run/foreign", "sandbox-run/i1234", "sandbox-run/i1234-0123456789abcde",
			"sandbox-run/xi1234-0123456789abcdef-1", "sandbox-run/i1234-0123456789ABCDEF-1",
		} {
			places = append(places, filepath.Join(tree, name))
		}
	}
	for _, dir := range places {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		f.planted = append(f.planted, dir)
	}
	t.Cleanup(func() {
		for _, dir := range slices.Backward(f.planted) {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
			_ = os.Remove(filepath.Dir(dir)) // if it is sandbox-run, and the last
		}
	})
}

// complete looks that what lives has all that it had, but for files of the runtime
// directory that the test has taken away.
func (f *foreign) complete(t *testing.T, by string) {
	t.Helper()
	now := look(t)
	for what := range f.with {
		if !now.ours[what] && !f.hidden[what] {
			t.Errorf("%s has taken from a process that lives: %s", by, what)
		}
	}
	for _, dir := range f.planted {
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("%s has taken from a stranger: %v", by, err)
		}
	}
}

// untouched looks that all of it is as it was, and that what lives can go on.
func (f *foreign) untouched(t *testing.T) {
	t.Helper()
	f.complete(t, "something")
	for _, l := range f.alive {
		if _, err := io.WriteString(l.in, "goes on\n"); err != nil {
			t.Error(err)
		}
		if line, err := l.out.ReadString('\n'); line != "goes on\n" {
			t.Errorf("%q says %q, %v", l.cmd.Args, line, err)
		}
		if err := l.cmd.Wait(); err != nil {
			t.Errorf("%q: %v", l.cmd.Args, err)
		}
	}
}
