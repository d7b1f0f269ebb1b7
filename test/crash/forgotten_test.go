package crash

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// numbers are the files by which processes of a user tell that they are alive, and the
// names that they have written there.
func numbers(t *testing.T, u user) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, err := filepath.Glob(u.runtimeDir() + "/i????")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var record struct{ Name string }
		if err := json.Unmarshal(content, &record); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found[path] = record.Name
	}
	return found
}

// crashed has a sandbox-run die while its program runs, and finds its number.
func crashed(t *testing.T, u user, args ...string) (path, name string) {
	t.Helper()
	before := numbers(t, u)
	if err := u.command(append(args, program1...), []string{"FAULT_POINT=container made"}).Run(); !killed(err) {
		t.Fatal(err)
	}
	for p, n := range numbers(t, u) {
		if _, old := before[p]; !old {
			path, name = p, n
		}
	}
	if path == "" {
		t.Fatal("it has left no number")
	}
	return path, name
}

// groupsOf are the control groups that have a name, and a place beside one of them.
func groupsOf(t *testing.T, name string) (found []string, beside string) {
	t.Helper()
	for what := range look(t).ours {
		path, ok := strings.CutPrefix(what, "group ")
		if ok && strings.Contains(filepath.Base(path), name) {
			found = append(found, path)
			before, _, _ := strings.Cut(filepath.Base(path), name)
			beside = filepath.Join(filepath.Dir(path), before+name+"-999")
		}
	}
	return found, beside
}

// leaveGroup leaves what an OCI runtime does that is killed, too.
func leaveGroup(t *testing.T, name string) {
	t.Helper()
	if err := os.Mkdir(trees()[0]+"/sandbox-run-"+name+"-1", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

// gone has gc tidy up.
func gone(t *testing.T, u user, before seen) {
	t.Helper()
	gc := func() { u.does(t, "gc") }
	gc()
	asBefore(t, before, gc)
}

// Where the file of a dead process has gone from the runtime directory, as with a
// session of systemd's, its control groups are known by the lock that nobody holds.
func TestForgotten(t *testing.T) {
	root, _ := users(t)
	for _, runtime := range []string{"local", "oci"} {
		t.Run(runtime, func(t *testing.T) {
			if _, err := exec.LookPath("crun"); err != nil && runtime == "oci" {
				t.Skip("crun is not installed")
			}
			before := settled(t)
			path, name := crashed(t, root, "--runtime", runtime)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if runtime == "oci" { // of which the directory would tell as well
				if err := os.RemoveAll(filepath.Join(os.TempDir(), "sandbox-run-"+name)); err != nil {
					t.Fatal(err)
				}
				leaveGroup(t, name)
			}
			if groups, _ := groupsOf(t, name); len(groups) == 0 {
				t.Error("it has left no control groups")
			}
			gone(t, root, before)
		})
	}
}

// Where the directory has gone and the file is there, that has all that it takes.
func TestDirectoryIsGone(t *testing.T) {
	root, ordinary := users(t)
	for _, c := range []struct {
		u    user
		args []string
	}{{root, []string{"--isolation", "restricted"}}, {ordinary, []string{"--isolation", "restricted"}}, {root, []string{"--runtime", "oci"}}} {
		if _, err := exec.LookPath("crun"); err != nil && c.args[1] == "oci" {
			continue
		}
		before := settled(t)
		_, name := crashed(t, c.u, c.args...)
		if err := os.RemoveAll(filepath.Join(os.TempDir(), "sandbox-run-"+name)); err != nil {
			t.Fatal(err)
		}
		if c.args[1] == "oci" {
			leaveGroup(t, name)
		}
		gone(t, c.u, before)
	}
}

// A process that lives is not forgotten, although its file is gone: not by its own user,
// and not in other namespaces, where there are other directories. Not even an empty
// group of its own is removed, which it may be about to use.
func TestAliveAndForgotten(t *testing.T) {
	root, _ := users(t)
	other := &foreign{hidden: map[string]bool{}}
	other.plant(t)
	before, others := settled(t), numbers(t, root) // such as a server's that somebody else runs here
	other.start(t, root)
	hidden, err := os.MkdirTemp(filepath.Dir(root.runtimeDir()), "crash-test-") //nolint:usetesting // on the same file system
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(hidden) })
	var empty []string
	for path, name := range numbers(t, root) {
		if others[path] == name {
			continue
		}
		_, beside := groupsOf(t, name)
		if beside == "" { // that which was opened for --runtime local, before the flags were read
			continue
		}
		if err := os.Mkdir(beside, 0o755); err != nil {
			t.Fatal(err)
		}
		empty = append(empty, beside)
		other.hidden["file "+path] = true
		away := filepath.Join(hidden, filepath.Base(path))
		if err := os.Rename(path, away); err != nil {
			t.Fatal(err)
		}
	}
	untouched := func(by string) {
		other.complete(t, by)
		for _, dir := range empty {
			if _, err := os.Lstat(dir); err != nil {
				t.Errorf("%s has removed a group of a process that lives: %v", by, err)
			}
		}
	}
	if len(empty) < len(other.alive) {
		t.Errorf("%d that live have control groups beside which one can be made: %q", len(other.alive), empty)
	}
	root.does(t, "gc")
	untouched("gc")
	apart := root.command(nil, nil)
	apart.Path, apart.Args = "/bin/sh", []string{"sh", "-c", "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /tmp && cp /proc/self/fd/3 /tmp/sandbox-run && exec /tmp/sandbox-run gc"}
	binary, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	apart.ExtraFiles = []*os.File{binary}
	apart.Dir = "/"
	apart.SysProcAttr.Cloneflags, apart.SysProcAttr.Unshareflags = syscall.CLONE_NEWPID, syscall.CLONE_NEWNS
	if out, err := apart.CombinedOutput(); err != nil {
		t.Errorf("gc in other namespaces: %v: %s", err, out)
	}
	untouched("gc in other namespaces")
	for _, l := range other.alive { // they die, and nobody knows of them
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	}
	gone(t, root, before)
}
