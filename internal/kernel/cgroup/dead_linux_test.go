package cgroup

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Removed groups must not pile up in the kernel, where page cache would keep each
// of them.
func TestCyclesLeaveNoGroups(t *testing.T) {
	h := live(t)
	before := deadAndAlive(t)
	for i := range 200 {
		g, err := h.Create("cycle", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 20})
		if err != nil {
			t.Fatal(err)
		}
		cmd := again("read " + coldFile(t, i)) // page cache of its own
		startIn(t, g, cmd)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := g.Delete(); err != nil {
			t.Fatal(err)
		}
	}
	// Up to maxDead may stay for the sake of their cache. The kernel frees the
	// rest in the background, and others may use groups meanwhile.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		after := deadAndAlive(t)
		if after < before+128+25 { // a number of its own: maxDead is what is tested; 200 would be all
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d memory groups in the kernel, before %d", after, before)
		}
	}
}

// What others have left in the kernel is no reason to have a run read its files again; thousands are.
func TestDeadOfOthers(t *testing.T) {
	h := detect(t, v2Host().with(fakeHost{"sys/fs/cgroup/cgroup.stat": ""}))
	memory := h.treeOf(Memory)
	look := func(dying int) bool {
		t.Helper()
		if err := os.WriteFile(memory.base.Name()+"/cgroup.stat", fmt.Appendf(nil, "nr_descendants 5\nnr_dying_descendants %d\n", dying), 0o600); err != nil {
			t.Fatal(err)
		}
		many := memory.dead.areMany(memory)
		for range lookAtDead - 1 {
			if memory.dead.areMany(memory) != many {
				t.Fatal("without a look it is known better")
			}
		}
		return many
	}
	for _, c := range []struct {
		dying int
		many  bool
	}{
		{1000, false}, // at the first removal
		{1000 + 127, false},
		{1000 + 128, true},
		{500, false}, // others' have gone
		{500 + 127, false},
		{500 + 128, true},
	} {
		if got := look(c.dying); got != c.many {
			t.Errorf("%d dead groups are many: %t", c.dying, got)
		}
	}
	memory.dead = new(dead)
	if !look(2048 + 128) {
		t.Error("thousands of dead groups are not many")
	}
}

// Groups that live are not taken for dead, however many there are.
func TestLivingGroupsAreNotDead(t *testing.T) {
	h := live(t)
	memory := h.treeOf(Memory)
	const many = 40
	before := memory.deadInKernel()
	for i := range many {
		create(t, h, fmt.Sprintf("crowd-%d", i), Limits{})
	}
	if after := memory.deadInKernel(); after > before+many/2 { // others come and go
		t.Errorf("%d dead groups, before %d of them were made there were %d", after, many, before)
	}
}

// coldFile makes a file that is on disk and in nobody's page cache.
func coldFile(t *testing.T, i int) string {
	t.Helper()
	f, err := os.Create(fmt.Sprintf("%s/cold%d", t.TempDir(), i))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write(make([]byte, 64<<10))
	if err := errors.Join(err, f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// deadAndAlive is how many memory groups the kernel holds, removed ones included.
func deadAndAlive(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/cgroups")
	if err != nil {
		t.Skip("this kernel does not count its control groups:", err)
	}
	for line := range strings.Lines(string(data)) {
		var hierarchy, n int
		if _, err := fmt.Sscanf(line, "memory %d %d", &hierarchy, &n); err == nil {
			return n
		}
	}
	t.Skip("/proc/cgroups does not list memory")
	return 0
}
