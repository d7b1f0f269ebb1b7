package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A host that lets us make no container at all says so, and the runtime lives on.
func TestNoLevelWorks(t *testing.T) {
	r, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.host.landlockABI = 0
	spec := sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}}
	// No overlay goes over /proc: the kernel refuses isolation full.
	spec.Mounts = []sandbox.Mount{{Source: "/proc", Target: "/mnt"}}
	var unsupported *sandbox.UnsupportedError
	if _, err := r.Create(t.Context(), spec); !errors.As(err, &unsupported) || unsupported.What != "isolation restricted" {
		t.Errorf("error %v", err)
	}
	spec.Level, spec.Mounts = sandbox.LevelNone, nil
	c, err := r.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}

// What has the names of a record of another boot is somebody else's: control groups do not
// outlive one. Directories do.
func TestReclaimOfAnotherBoot(t *testing.T) {
	rt := opened(t)
	if !rt.host.grantsGroups() {
		t.Skip("this host grants no control groups")
	}
	const number = "i7abc"
	name := fmt.Sprintf("%s-%016x", number, rand.Uint64())
	group, err := rt.host.cgroups.Create(name+"-1", cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer group.Delete()
	program := exec.Command("sleep", "60")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	defer program.Process.Kill()
	join(t, group, program.Process.Pid)
	for _, test := range []struct {
		boot    string
		removed []string
	}{
		{"d57a4a8c-0d2b-4d6e-9a44-1f2f7e0b5c11", nil},
		{"", nil}, // where nobody told it
		{instance.BootID(), []string{name + "-1"}},
	} {
		dir, left := t.TempDir(), filepath.Join(t.TempDir(), "left")
		content, err := json.Marshal(instance.Record{Runtime: runtimeName, BootID: test.boot, PID: 1, Name: name, Dirs: []string{left}, Groups: rt.host.cgroups.Places()})
		if err := errors.Join(err, os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(dir, number), content, 0o600)); err != nil {
			t.Fatal(err)
		}
		removed, err := rt.reclaim(dir)
		if want := append(test.removed, left); err != nil || !slices.Equal(removed, want) {
			t.Errorf("of the boot %q: removed %q, want %q: %v", test.boot, removed, want, err)
		}
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of the boot %q the directory is left: %v", test.boot, err)
		}
		pids, err := group.Processes()
		if alive := len(pids) == 1 && err == nil; alive != (test.removed == nil) {
			t.Fatalf("of the boot %q: processes %v in the group, %v", test.boot, pids, err)
		}
	}
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process in the group of a dead instance of this boot: %v", err)
	}
}

// join moves a process into a group.
func join(t *testing.T, group *cgroup.Group, pid int) {
	t.Helper()
	for _, f := range group.TasksFiles() {
		if _, err := fmt.Fprint(f, pid); err != nil {
			t.Fatal(err)
		}
	}
	if dir, ok := group.V2Dir(); ok {
		if err := os.WriteFile(filepath.Join(dir.Name(), "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			t.Fatal(err)
		}
	}
}
