package cgroup

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func scope(t testing.TB, h *Hierarchy, name, share string) *Scope {
	t.Helper()
	s, err := h.Scope(name, share, -1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// On one core, three busy groups of one share and one group without a share get
// the same. Without the share it would be three to one. Linux 6.18 leaves a group that is
// new to a busy core, and may go to no other, without it for half a minute, one time in ten: so
// the best of a few tries counts.
func TestShareIsOneAmongOthers(t *testing.T) {
	h := live(t)
	for range 5 {
		many, one := againstThree(t, h)
		t.Logf("three of one share: %v; one without: %v", many, one)
		if 3*many <= 5*one && 3*one <= 5*many {
			return
		}
	}
	t.Error("they never got the same")
}

// againstThree has three groups of one share and one group without spin, and tells what they
// got of two seconds.
func againstThree(t *testing.T, h *Hierarchy) (many, one time.Duration) {
	t.Helper()
	var groups []*Group
	var ends []func()
	defer func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}()
	for i, share := range []string{"many", "many", "many", ""} {
		name := fmt.Sprintf("spin-%d", i)
		s := scope(t, h, name, share)
		g, err := s.Create(name+"-1", Limits{CPUs: 1})
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, func() {
			if err := errors.Join(g.Delete(), s.Delete()); err != nil {
				t.Error(err)
			}
		})
		groups = append(groups, g)
	}
	for _, g := range groups {
		cmd := again("spin")
		startIn(t, g, cmd)
		ends = append(ends, func() {
			_ = g.Kill()
			_ = cmd.Wait()
		})
	}
	var began [4]time.Duration
	for deadline := time.Now().Add(5 * time.Second); slices.Min(began[:]) < 100*time.Millisecond && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for i, g := range groups {
			began[i] = used(t, g)
		}
	}
	for many+one < 2*time.Second {
		time.Sleep(10 * time.Millisecond)
		many, one = -began[0]-began[1]-began[2], used(t, groups[3])-began[3]
		for _, g := range groups[:3] {
			many += used(t, g)
		}
	}
	return many, one
}

// used is the CPU time of a group.
func used(t *testing.T, g *Group) time.Duration {
	t.Helper()
	s := stats(t, g)
	return time.Duration(s.CPUUser.Value + s.CPUSystem.Value)
}

// A share is a directory in the tree that shares the CPU, for as long as it has a
// scope.
func TestShareLivesAsLongAsItsScopes(t *testing.T) {
	h := live(t)
	cpu := h.treeOf(CPU)
	exists := func() bool { return cpu.base.exists(cpu.parent + "/tenant") }
	a, b := scope(t, h, "a", "tenant"), scope(t, h, "b", "tenant")
	flat := scope(t, h, "c", "")
	g, err := a.Create("a-1", Limits{MemoryBytes: 64 * mib, CPUs: 1, Processes: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range h.trees {
		want := tr.parent + "/a-1"
		if tr == cpu {
			want = tr.parent + "/tenant/a-1"
		}
		if !tr.base.exists(want) {
			t.Errorf("no group %s", tr.base.path(want))
		}
		if tr != cpu && tr.base.exists(tr.parent+"/tenant") {
			t.Errorf("a share in %s", tr.base.path(tr.parent))
		}
	}
	if s := stats(t, g); !s.CPUUser.Known() || !s.Processes.Known() {
		t.Errorf("figures %+v", s)
	}
	if err := errors.Join(g.Delete(), a.Delete(), a.Delete(), flat.Delete()); err != nil {
		t.Error(err)
	}
	if !exists() {
		t.Error("the share is gone before its last scope")
	}
	if err := b.Delete(); err != nil || exists() {
		t.Errorf("Delete: %v; the share is still there: %v", err, exists())
	}
	if _, err := h.Scope("a", "../a", -1); err == nil {
		t.Error("a share with a slash was taken")
	}
}

// What keeps a share from being removed is an error that comes at once, and no
// obstacle for the next scope.
func TestShareThatIsBusy(t *testing.T) {
	h := live(t)
	cpu := h.treeOf(CPU)
	left := cpu.parent + "/tenant/left"
	s := scope(t, h, "a", "tenant")
	if err := cpu.base.mkdir(left); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(); err == nil {
		t.Error("a share with a group in it was removed")
	}
	s = scope(t, h, "a", "tenant")
	if err := cpu.base.rmdir(left); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(); err != nil {
		t.Error(err)
	}
}

// What a dead process left is found by its name: the share, and what is in it.
func TestReclaimTakesShares(t *testing.T) {
	h := live(t)
	s := scope(t, h, "dead-1", "dead-tenant")
	g, err := s.Create("dead-1-1", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := again("sleep")
	startIn(t, g, cmd)
	removed, err := h.Reclaim("dead-")
	if err != nil || !slices.Contains(removed, "dead-tenant") {
		t.Errorf("removed %v, %v", removed, err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("what was inside lived on")
	}
	if err := errors.Join(g.Delete(), s.Delete()); err != nil {
		t.Error(err)
	}
}

// Scopes come and go, while other processes remove the directory of all groups
// whenever they leave it empty.
func TestSharesAtOnce(t *testing.T) {
	h := live(t)
	parent := h.trees[0].parent
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if worker == 0 {
					other, err := Detect(Options{Parent: parent})
					if err != nil {
						t.Error(err)
						return
					}
					other.Close()
					continue
				}
				name := fmt.Sprintf("s-%d-%d", worker, i)
				s, err := h.Scope(name, fmt.Sprintf("tenant-%d", i%3), -1)
				if err != nil {
					t.Error(err)
					return
				}
				g, err := s.Create(name+"-1", Limits{MemoryBytes: 64 * mib, CPUs: 1})
				if err == nil {
					err = g.Delete()
				}
				if err := errors.Join(err, s.Delete()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(h.shares) > 0 {
		t.Errorf("shares %v", h.shares)
	}
}
