package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// seen is what is on the machine, as words that can be compared. Of what comes and goes
// with other processes, such as namespaces, it only matters that nothing is new.
type seen struct{ ours, anybodys map[string]bool }

// look finds what sandboxes are made of, and leave: in every hierarchy of control
// groups, in the table of mounts, among processes, loop devices and namespaces, and in
// the directories of temporary, running and kept files.
func look(t *testing.T) seen {
	t.Helper()
	s := seen{map[string]bool{}, map[string]bool{}}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "/sandbox-run") {
			s.ours["group "+path] = true
		}
		return nil
	})
	for _, pattern := range []string{
		filepath.Join(os.TempDir(), "sandbox-run-*"), "/run/sandbox-run/*", work + "/*/run/sandbox-run/*", "/sys/block/loop*/loop/backing_file",
		work + "/*/data*/cache/toolchains-*", work + "/*/data*/*/tmp-*", work + "/*/data*/cache/*/tmp-*", work + "/*/data*/images/tmp/*",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			s.ours["file "+path] = true
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		s.ours["mount "+line] = true
	}
	processes(s)
	s.containers(t)
	return s
}

// processes looks at all of them. The dead whom pid 1 has not buried yet hold nothing.
func processes(s seen) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			continue
		}
		spaces, _ := filepath.Glob(dir + "/ns/*")
		for _, space := range spaces {
			if target, err := os.Readlink(space); err == nil {
				s.anybodys["namespace "+target] = true
			}
		}
		environ, _ := os.ReadFile(dir + "/environ")
		line, _ := os.ReadFile(dir + "/cmdline")
		ours := strings.Contains(string(stat), "(sandbox-init)") || slices.Contains(strings.Split(string(environ), "\x00"), marker) ||
			strings.Contains(string(environ)+string(line), "/sandbox-run-i")
		if ours && dir != fmt.Sprintf("/proc/%d", os.Getpid()) {
			s.ours[fmt.Sprintf("process %s %.60q", filepath.Base(dir), line)] = true
		}
	}
}

// changes are what is there and was not before, and what is gone of ours.
func (s seen) changes(before seen) (list []string) {
	for what := range s.ours {
		if !before.ours[what] {
			list = append(list, "left: "+what)
		}
	}
	for what := range before.ours {
		if !s.ours[what] && !parent(what) {
			list = append(list, "gone: "+what)
		}
	}
	for what := range s.anybodys {
		if !before.anybodys[what] {
			list = append(list, "left: "+what)
		}
	}
	slices.Sort(list)
	return list
}

// parent tells whether something is the directory of all control groups, which the last
// of us removes.
func parent(what string) bool { return filepath.Base(what) == "sandbox-run" }

// soon is how long what was killed may take to be gone.
const soon = 10 * time.Second

// asBefore waits until the machine is what it was, and has gc tidy up again every now and
// then: a child of the dead that has not got as far as execve still holds its locks.
func asBefore(t *testing.T, before seen, gc func()) bool {
	t.Helper()
	var list []string
	for begin := time.Now(); time.Since(begin) < soon; time.Sleep(5 * time.Millisecond) {
		if list = look(t).changes(before); len(list) == 0 {
			return true
		}
		if time.Since(begin) > patience {
			gc()
		}
	}
	t.Errorf("%d changes of the machine:\n\t%s", len(list), strings.Join(list, "\n\t"))
	return false
}

// patience is how long what was killed may take to die before gc is called again.
const patience = 300 * time.Millisecond

// settled is what the machine looks like when nothing changes any more.
func settled(t *testing.T) seen {
	t.Helper()
	now := look(t)
	for deadline := time.Now().Add(soon); time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
		next := look(t)
		if maps.Equal(now.ours, next.ours) {
			return next
		}
		now = next
	}
	return now
}
