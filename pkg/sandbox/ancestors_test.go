package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// Ancestor has a container of warmRuntime wait to be forked, if its runtime can.
func (c *warmContainer) Ancestor(_ context.Context, p Process, from Ancestry) (Ancestor, error) {
	if !c.rt.ancestral {
		return nil, fmt.Errorf("%w of these", ErrNoAncestor)
	}
	if c.files["hook"] == "" || from.Library != "library" || len(p.Args) != 1 {
		return nil, fmt.Errorf("files %v, %v, %v", c.files, from, p.Args)
	}
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	c.rt.ancestors++
	return &warmAncestor{in: c}, nil
}

// warmAncestor forks in no time what takes two seconds to start.
type warmAncestor struct{ in *warmContainer }

func (a *warmAncestor) Start(ctx context.Context, c Container, p Process) (Running, error) {
	rt := a.in.rt
	rt.mu.Lock()
	err := rt.forkErr
	rt.mu.Unlock()
	to := c.(*warmContainer)
	switch {
	case err != nil:
		return nil, err
	case to.spec.Tenant != a.in.spec.Tenant || len(to.files) > 0:
		return nil, fmt.Errorf("an ancestor of %s has a child in a container of %s with %v", a.in.spec.Tenant, to.spec.Tenant, to.files)
	}
	rt.mu.Lock()
	rt.forks++
	if p.Calm {
		rt.calm++
	}
	to.forked = true
	rt.mu.Unlock()
	return c.Start(ctx, p)
}

// Rehearse notes what a child has found, and fails when it is told to.
func (a *warmAncestor) Rehearse(child Running, begin func()) error {
	begin()
	exit, err := child.Wait()
	if exit.Code != 7 {
		return errors.Join(fmt.Errorf("a rehearsal ended with %+v", exit), err)
	}
	rt := a.in.rt
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.rehearsals++
	return rt.rehearseErr
}

func (a *warmAncestor) Close() error {
	a.in.rt.mu.Lock()
	defer a.in.rt.mu.Unlock()
	a.in.rt.ancestors--
	return nil
}

func (rt *warmRuntime) kin() (ancestors, forks int) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.ancestors, rt.forks
}

// Who asks for much has an ancestor of their own, as long as they do.
func TestPoolHasAncestors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		rt := &warmRuntime{program: interpreter, ancestral: true}
		m := keeps(t, rt, PoolOptions{Containers: 16, Makers: 4, Failed: func(err error) { failed = append(failed, err) }})
		want := func(tenant string) Want {
			w := python()
			w.Spec.Tenant, w.Ahead.Ancestor = tenant, &Ancestry{Library: "library"}
			return w
		}
		holds := func(tenant string) string { // or else it may have what was made for nobody
			c, err := m.Create(t.Context(), Spec{Language: "bash", Tenant: tenant})
			if err != nil {
				t.Fatal(err)
			}
			return c.ID()
		}
		first, second := holds("a"), holds("b")
		runs := func(tenant string, n int, every time.Duration) {
			for range n {
				if _, _, err := runIn(t, m, want(tenant), Process{Args: []string{"python", "x"}, Limits: Limits{MemoryBytes: 64 << 20}, Stdout: io.Discard, Stderr: io.Discard, Work: &Work{Args: []string{"x"}}}); err != nil {
					t.Error(err)
				}
				time.Sleep(every)
			}
		}
		runs("a", 10, 5*time.Second)
		if n, _ := rt.kin(); n != 0 {
			t.Fatalf("%d ancestors of one who asks every eight seconds", n)
		}
		burst := func(tenant string) {
			for range 4 {
				go runs(tenant, 4, 0)
			}
			time.Sleep(30 * time.Second)
		}
		burst("a")
		_, forks := rt.kin()
		if forks == 0 {
			t.Error("nothing was forked for one who asks for much")
		}
		runs("b", 3, 5*time.Second)
		if _, more := rt.kin(); more != forks {
			t.Error("another tenant was given children of that ancestor")
		}
		time.Sleep(10 * time.Minute)
		if n, _ := rt.kin(); n != 0 {
			t.Errorf("%d ancestors of nobody", n)
		}

		// One that fails is given up, and runs go on without it.
		rt.mu.Lock()
		rt.forkErr = errors.New("no fork")
		rt.mu.Unlock()
		burst("b")
		if n, more := rt.kin(); n != 0 || more != forks || len(failed) == 0 {
			t.Errorf("%d ancestors that fail, %d forks, told %v", n, more-forks, failed)
		}
		for _, err := range failed {
			if err.Error() != "no fork" {
				t.Error(err)
			}
		}
		for _, id := range []string{first, second} {
			if err := m.Delete(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
	})
}

// An ancestor is followed by another before it goes: who asks for much is never without.
func TestPoolHasHeirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, ancestral: true, slow: 200 * time.Millisecond}
		m := keeps(t, rt, PoolOptions{Containers: 4, Makers: 2, Failed: func(err error) { t.Error(err) }})
		w := python()
		w.Spec.Tenant, w.Ahead.Ancestor = "a", &Ancestry{Library: "library"}
		if _, err := m.Create(t.Context(), Spec{Language: "bash", Tenant: "a"}); err != nil { // or else it may have what was made for nobody
			t.Fatal(err)
		}
		began := time.Now()
		for time.Since(began) < 5*time.Minute {
			c, _, err := m.Take(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(began) > 20*time.Second && !c.(*warmContainer).forked {
				t.Fatalf("after %v a run has what was not forked", time.Since(began))
			}
			if n, _ := rt.kin(); n > 2 {
				t.Fatalf("%d ancestors", n)
			}
			time.Sleep(20 * time.Millisecond)
			if err := m.Delete(t.Context(), c.ID()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The first child of an ancestor rehearses. What is not learned by that changes nothing.
func TestPoolRehearses(t *testing.T) {
	for _, refuses := range []error{nil, errors.New("no rehearsal")} {
		synctest.Test(t, func(t *testing.T) {
			var failed error
			rt := &warmRuntime{program: interpreter, ancestral: true, rehearseErr: refuses}
			m := keeps(t, rt, PoolOptions{Containers: 16, Makers: 4, OneTenant: true, Failed: func(err error) { failed = errors.Join(failed, err) }})
			w := python()
			w.Ahead.Ancestor = &Ancestry{Library: "library", Rehearsal: map[string][]byte{"main": nil}}
			for range 4 {
				go func() {
					for range 4 {
						if _, _, err := runIn(t, m, w, Process{Args: []string{"python", "x"}, Limits: Limits{MemoryBytes: 64 << 20}, Stdout: io.Discard, Stderr: io.Discard, Work: &Work{Args: []string{"x"}}}); err != nil {
							t.Error(err)
						}
					}
				}()
			}
			time.Sleep(time.Minute)
			if _, forks := rt.kin(); forks < 2 || rt.rehearsals != 1 || !errors.Is(failed, refuses) {
				t.Errorf("%d forks, %d rehearsals, told %v", forks, rt.rehearsals, failed)
			}
		})
	}
}

// What is forked for who asks without a tenant, where that is one, is for no other; and where it may be
// anybody, nothing is forked for them, nor used again.
func TestPoolSharesNoAncestor(t *testing.T) {
	for name, one := range map[string]bool{"one tenant": true, "anybody": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter, ancestral: true}
				m := keeps(t, rt, PoolOptions{Containers: 16, Makers: 4, OneTenant: one, Failed: func(err error) { t.Error(err) }})
				forked := 0
				take := func(tenant string) {
					w := python()
					w.Ahead.Ancestor, w.Spec.Tenant = &Ancestry{Library: "library"}, tenant
					taken, _, err := m.Take(t.Context(), w)
					if err != nil {
						t.Fatal(err)
					}
					c := taken.(*warmContainer)
					if c.forked {
						forked++
					}
					if personal := c.forked || c.spec.Recycle == "tenant "; personal && (tenant != "" || !one) {
						t.Fatalf("tenant %q has what may be of another: forked %t, used before by %q", tenant, c.forked, c.spec.Recycle)
					}
					time.AfterFunc(time.Second, func() { _ = m.Delete(context.Background(), c.ID()) })
					time.Sleep(200 * time.Millisecond)
				}
				for range 20 {
					take("")
				}
				time.Sleep(3 * time.Second)
				before := forked
				for i := range 20 {
					take(fmt.Sprint("tenant ", i))
					take("")
				}
				time.Sleep(1500 * time.Millisecond) // until the last is deleted: to close would not wait for that
				if n, _ := rt.kin(); (n == 1) != one || (forked > before) != one || m.Ready()["python"] == 0 {
					t.Errorf("%d ancestors, %d more who have what was forked, ready %v", n, forked-before, m.Ready())
				}
			})
		})
	}
}

// Time is taken for what is forked while nobody waits, and the last two who asked were not close behind
// each other.
func TestPoolForksCalmly(t *testing.T) {
	for name, every := range map[string]time.Duration{"at rest": 60 * time.Millisecond, "busy": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter, ancestral: true}
				m := keeps(t, rt, PoolOptions{Containers: 64, Makers: 4, Failed: func(err error) { t.Error(err) }})
				w := python()
				w.Spec.Tenant, w.Ahead.Ancestor = "a", &Ancestry{Library: "library"}
				if _, err := m.Create(t.Context(), Spec{Language: "bash", Tenant: "a"}); err != nil { // or else it may have what was made for nobody
					t.Fatal(err)
				}
				count := func() (calm, forks int) {
					rt.mu.Lock()
					defer rt.mu.Unlock()
					return rt.calm, rt.forks
				}
				ask := func() {
					c, _, err := m.Take(t.Context(), w)
					if err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(time.Millisecond, func() { _ = m.Delete(context.Background(), c.ID()) })
					time.Sleep(every)
				}
				for range 500 { // until there is an ancestor, and as many are ready as are wanted
					ask()
				}
				calm, forks := count()
				for range 50 {
					ask()
				}
				time.Sleep(time.Second)
				calmAfter, forksAfter := count()
				if calm, forks = calmAfter-calm, forksAfter-forks; forks < 40 || (name == "at rest") != (calm > forks/2) {
					t.Errorf("%d of %d were calm", calm, forks)
				}
			})
		})
	}
}

// Where there can be none, that is no failure, and not tried again.
func TestPoolWithoutAncestors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter}
		m := keeps(t, rt, PoolOptions{Failed: func(err error) { t.Error(err) }})
		w := python()
		w.Spec.Tenant, w.Ahead.Ancestor = "a", &Ancestry{Library: "library"}
		for range 20 {
			go func() {
				c, _, err := m.Take(t.Context(), w)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				if err := m.Delete(t.Context(), c.ID()); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if n, forks := rt.kin(); n+forks != 0 {
			t.Errorf("%d ancestors, %d forks", n, forks)
		}
	})
}

// What can be forked is not passed over for another kind that is ready.
func TestForkGoesBeforeAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, ancestral: true}
		m := keeps(t, rt, PoolOptions{Containers: 16, Makers: 4})
		const other = "wait for anything"
		named, plain := python(), python()
		named.Spec.Tenant, plain.Spec.Tenant = "a", "a"
		named.Ahead.Ancestor, plain.Ahead.Files = &Ancestry{Library: "library"}, map[string][]byte{"hook": []byte(other)}
		if _, err := m.Create(t.Context(), Spec{Language: "bash", Tenant: "a"}); err != nil { // or else it may have what was made for nobody
			t.Fatal(err)
		}
		m.Prepare(plain, 3)
		for range 3 { // for a while each second one more than are ready
			for range 5 {
				go func() {
					c, _, err := m.Take(t.Context(), named)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(100 * time.Millisecond)
					if err := m.Delete(t.Context(), c.ID()); err != nil {
						t.Error(err)
					}
				}()
			}
			time.Sleep(time.Second)
		}
		if n, _ := rt.kin(); n != 1 {
			t.Fatalf("%d ancestors", n)
		}
		for range 10 {
			c, _, err := m.Take(t.Context(), named, plain)
			if err != nil {
				t.Fatal(err)
			}
			if made := c.(*warmContainer); made.files["hook"] == other {
				t.Fatal("it has the other kind")
			}
		}
		rt.mu.Lock()
		rt.forkErr = ErrAncestorBusy
		rt.mu.Unlock()
		c, warm, err := m.Take(t.Context(), named, plain)
		for err == nil && warm && c.(*warmContainer).files["hook"] != other { // made before
			c, warm, err = m.Take(t.Context(), named, plain)
		}
		if err != nil || !warm || c.(*warmContainer).files["hook"] != other {
			t.Errorf("nothing can be forked, and it has %v, warm %t: %v", c, warm, err)
		}
	})
}

// What a container may have of another is another's of the same tenant.
func TestPoolRecyclesWithinTenants(t *testing.T) {
	for name, tc := range map[string]struct {
		opts   PoolOptions
		tenant string
		want   string
	}{
		"a tenant":                       {PoolOptions{}, "a", "tenant a"},
		"for nobody":                     {PoolOptions{}, "", ""},
		"where all are one tenant":       {PoolOptions{OneTenant: true}, "", "tenant "},
		"where nothing is used again":    {PoolOptions{SingleUse: true}, "a", ""},
		"nor of what all are one tenant": {PoolOptions{SingleUse: true, OneTenant: true}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter}
				m := keeps(t, rt, tc.opts)
				w := python()
				w.Spec.Tenant = tc.tenant
				m.Prepare(w, 1)
				time.Sleep(time.Minute)
				rt.mu.Lock()
				defer rt.mu.Unlock()
				for _, c := range rt.alive {
					if c.spec.Recycle != tc.want {
						t.Errorf("it has what was of %q, not %q", c.spec.Recycle, tc.want)
					}
				}
				if len(rt.alive) != 1 {
					t.Errorf("%d containers", len(rt.alive))
				}
			})
		})
	}
}

// Who has a container that was made for whoever comes has nothing of those who came before, nor
// they of him.
func TestNothingIsRecycledOfWhatIsShared(t *testing.T) {
	for name, forked := range map[string]bool{"started": false, "forked": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter, ancestral: forked}
				m := keeps(t, rt, PoolOptions{Containers: 16, OneTenant: true})
				w := python()
				m.Prepare(w, 2)
				time.Sleep(time.Minute)
				w.Spec.Tenant = "uid:1000"
				for range 3 {
					c, _, err := m.Take(t.Context(), w)
					if err != nil {
						t.Fatal(err)
					}
					if of := c.(*warmContainer).spec.Recycle; of == "tenant " {
						t.Errorf("one of several tenants has what may be of another: %q", of)
					}
					if err := m.Delete(t.Context(), c.ID()); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Minute)
				}
			})
		})
	}
}

// Who asks without a tenant, where that is one, keeps what is made for him when others come, and
// so do they what is made beside it.
func TestNothingIsLostToTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter}
		m := keeps(t, rt, PoolOptions{Containers: 16, OneTenant: true})
		w := python()
		m.Prepare(w, 1)
		time.Sleep(time.Minute)
		for _, take := range []struct {
			tenant string
			warm   bool
		}{{"", true}, {"uid:1000", false}, {"", true}, {"uid:1000", true}, {"uid:1001", true}, {"", true}} {
			w.Spec.Tenant = take.tenant
			c, warm, err := m.Take(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			own := c.(*warmContainer).spec.Recycle == "tenant "
			if warm != take.warm || own != (take.tenant == "") {
				t.Errorf("tenant %q: ready %t, with what was of who has none %t", take.tenant, warm, own)
			}
			if err := m.Delete(t.Context(), c.ID()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		}
	})
}
