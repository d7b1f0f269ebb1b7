package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A process whose first thread has ended has its memory all the same.
func TestMemoryOfTheOtherThreads(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
	const script = `
import ctypes, os, threading, time
def fill():
    time.sleep(0.2)
    mine = b"x" * (40 << 20)
    time.sleep(20)
for _ in range(3):
    if os.fork() == 0:
        threading.Thread(target=fill).start()
        ctypes.CDLL(None).syscall(ctypes.c_long(EXIT), 0)
time.sleep(20)`
	out := new(bytes.Buffer)
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: []string{"/usr/bin/python3", "-S", "-c", fmt.Sprintf("EXIT = %d", unix.SYS_EXIT) + script}, Stdout: out, Stderr: out,
		Limits: sandbox.Limits{MemoryBytes: 80 << 20, Processes: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	if end, err := running.Wait(); err != nil || !end.MemoryKill || out.Len() > 0 {
		t.Errorf("%+v, %v, said %q", end, err, out)
	}
}

// A child of vfork has its parent's memory, which counts once. A program that makes
// up such a family has no more than half of its memory overlooked.
func TestBorrowedBytes(t *testing.T) {
	page := int64(os.Getpagesize())
	type seen struct{ statm, stat, thread string }
	for name, tc := range map[string]struct {
		processes map[int]seen
		want      int64 // pages
	}{
		"vfork":            {map[int]seen{2: {"9 7 1", "2 (a) D 1", "2 (a) D 1"}, 3: {"9 7 1", "3 (a) R 2", "3 (a) R 2"}}, 7},
		"a name that lies": {map[int]seen{2: {"9 7 1", "2 () D) D 1", "2 () D) D 1"}, 3: {"9 7 1", "3 () S 8) R 2", "3 (a) R 2"}}, 7},
		"a thread's":       {map[int]seen{2: {"9 7 1", "2 (a) S 1", "4 (a) D 1"}, 3: {"9 7 1", "3 (a) R 2", "3 (a) R 2"}}, 7},
		"fork":             {map[int]seen{2: {"9 7 1", "2 (a) S 1", "2 (a) S 1"}, 3: {"9 7 1", "3 (a) R 2", "3 (a) R 2"}}, 0},
		"it has executed":  {map[int]seen{2: {"9 7 1", "2 (a) D 1", "2 (a) D 1"}, 3: {"9 6 1", "3 (a) R 2", "3 (a) R 2"}}, 0},
		"two children": {map[int]seen{2: {"9 7 1", "2 (a) D 1", "2 (a) D 1"}, 3: {"9 7 1", "3 (a) R 2", "3 (a) R 2"},
			4: {"9 7 1", "4 (a) R 2", "4 (a) R 2"}}, 7},
		"a chain": {map[int]seen{2: {"9 7 1", "2 (a) D 1", "2 (a) D 1"}, 3: {"9 7 1", "3 (a) D 2", "3 (a) D 2"},
			4: {"9 7 1", "4 (a) D 3", "4 (a) D 3"}, 5: {"9 7 1", "5 (a) R 4", "5 (a) R 4"}}, 7},
		"gone": {map[int]seen{2: {"", "", ""}, 3: {"", "3 (a) R 2", ""}}, 0},
	} {
		files := map[string]string{}
		var pids []int
		for pid, p := range tc.processes {
			pids = append(pids, pid)
			dir := fmt.Sprint(pid)
			files[dir+"/statm"], files[dir+"/stat"], files[dir+"/task/"+dir+"/stat"] = p.statm, p.stat, p.thread
		}
		dir := t.TempDir()
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		proc, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { proc.Close() })
		if got := borrowedBytes(proc, pids); got != tc.want*page {
			t.Errorf("%s: %d pages, want %d", name, got/page, tc.want)
		}
	}
}

// A family of many threads and as many children, which have one memory, is not gone through for
// each child.
func TestBorrowedBytesAsksOnce(t *testing.T) {
	const family = 100
	dir, pids := t.TempDir(), []int{2}
	file := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	file("2/statm", "9 7 1")
	file("2/stat", "2 (a) S 1")
	for i := range family {
		child := 1000 + i
		pids = append(pids, child)
		file(fmt.Sprintf("2/task/%d/stat", 2+i), "2 (a) S 1")
		file(fmt.Sprintf("%d/statm", child), "9 7 1")
		file(fmt.Sprintf("%d/stat", child), "3 (a) S 2")
	}
	proc, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	// Each file that is read is something made.
	if made := testing.AllocsPerRun(1, func() { borrowedBytes(proc, pids) }); made > 20*family {
		t.Errorf("%v allocations for %d threads and as many children", made, family)
	}
}
