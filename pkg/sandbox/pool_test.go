package sandbox

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// A pool has as many ready as are wanted at a time, and lets them go when nobody wants
// them any more.
func TestPoolFollowsTheDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, slow: time.Millisecond}
		m := keeps(t, rt, PoolOptions{Makers: 2})
		w := Want{Spec: Spec{Language: "go"}}
		burst := func(n int) (warm int) {
			var all sync.WaitGroup
			var mu sync.Mutex
			for range n {
				all.Go(func() {
					c, ready, err := m.Take(t.Context(), w)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if ready {
						warm++
					}
					time.AfterFunc(time.Second, func() { _ = m.Delete(context.Background(), c.ID()) })
				})
			}
			all.Wait()
			time.Sleep(5 * time.Second)
			return warm
		}
		if warm := burst(1); warm != 0 || rt.count() != 0 {
			t.Errorf("the first: %d warm, %d are kept for one that may never come", warm, rt.count())
		}
		burst(1)
		if warm := burst(1); warm != 1 {
			t.Error("the third was not expected")
		}
		burst(5)
		if warm := burst(5); warm != 5 || m.Ready()["go"] != 5 {
			t.Errorf("%d of five were warm, %v are ready", warm, m.Ready())
		}
		time.Sleep(10 * time.Minute)
		if rt.count() != 0 || len(m.Ready()) != 0 {
			t.Errorf("%d are left, ready %v", rt.count(), m.Ready())
		}
	})
}

// Who asks for something else each time has what anything can begin in: ready, or forked for
// who asks for much.
func TestPoolOfKindsThatDoNotComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, ancestral: true, slow: time.Millisecond}
		m := keeps(t, rt, PoolOptions{Containers: 16, Makers: 2, OneTenant: true})
		kinds := 0
		take := func() (*warmContainer, bool) {
			kinds++
			named, plain := python(), python()
			named.Ahead.Files = map[string][]byte{"hook": []byte(strconv.Itoa(kinds))}
			named.Ahead.Ancestor, plain.Ahead.Ancestor = &Ancestry{Library: "library"}, &Ancestry{Library: "library"}
			c, warm, err := m.Take(t.Context(), named, plain)
			if err != nil {
				t.Fatal(err)
			}
			return c.(*warmContainer), warm
		}
		gone := func(c *warmContainer) {
			if err := m.Delete(t.Context(), c.ID()); err != nil {
				t.Error(err)
			}
		}
		for i := range 5 {
			c, warm := take()
			if warm != (i > 1) || warm && c.files["hook"] != "wait" {
				t.Errorf("request %d: warm %t, with %v", i, warm, c.files)
			}
			gone(c)
			time.Sleep(5 * time.Second)
		}
		for range 20 {
			c, _ := take()
			gone(c)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		var taken []*warmContainer
		for range 10 { // more than are ready
			c, _ := take()
			if taken = append(taken, c); !c.forked {
				t.Error("one who asks for much has what was not forked")
			}
		}
		for _, c := range taken {
			gone(c)
		}
		time.Sleep(10 * time.Minute)
		if n, _ := rt.kin(); n != 0 || rt.count() != 0 {
			t.Errorf("%d ancestors and %d containers are left", n, rt.count())
		}
	})
}

// Where a run's limit of processes counts all that the server's user has, none wait: each would be
// one less that a run may have.
func TestPoolTakesNoProcessesOfRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, isolation: Isolation{Level: LevelRestricted, Limits: map[string]string{LimitProcesses: api.Degraded}}}
		m := keeps(t, rt, PoolOptions{Failed: func(err error) { t.Error(err) }})
		w := Want{Spec: Spec{Language: "go"}}
		m.Prepare(w, 3)
		for range 5 {
			c, warm, err := m.Take(t.Context(), w)
			if err != nil || warm {
				t.Fatalf("warm %v, error %v", warm, err)
			}
			if err := m.Delete(t.Context(), c.ID()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if rt.count() != 0 {
				t.Errorf("%d wait", rt.count())
			}
		}
	})
}

// What was asked for last is expected next.
func TestPoolExpectsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{}
		m := keeps(t, rt, PoolOptions{})
		few, many := Limits{Processes: 1}, Limits{Processes: 2}
		m.Prepare(Want{Spec: Spec{Language: "go"}, First: &Process{Limits: few}}, 1)
		time.Sleep(time.Second)
		for _, expected := range []Limits{few, many} {
			c, warm, err := m.Take(t.Context(), Want{Spec: Spec{Language: "go"}, First: &Process{Limits: many}})
			if err != nil || !warm || !reflect.DeepEqual(c.(*warmContainer).expected.Limits, expected) {
				t.Errorf("%+v, warm %v, error %v; want limits %+v", c, warm, err, expected)
			}
			if err := m.Delete(t.Context(), c.ID()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
	})
}

// A short run is not held up by the making of what the next will need.
func TestPoolRefillsBehindTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{}
		m := keeps(t, rt, PoolOptions{})
		w := Want{Spec: Spec{Language: "go"}}
		m.Prepare(w, 1)
		settle(time.Second)
		c, _, _ := m.Take(t.Context(), w)
		settle(refillAfter / 2)
		if rt.made != 1 {
			t.Error("another was made while the run was going on")
		}
		if err := m.Delete(t.Context(), c.ID()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if rt.made != 2 || m.Ready()["go"] != 1 {
			t.Errorf("%d were made, ready %v", rt.made, m.Ready())
		}
		c, _, _ = m.Take(t.Context(), w) // and a long one does not hold up that
		settle(2 * refillAfter)
		if rt.made != 3 || m.Ready()["go"] != 1 {
			t.Errorf("%d were made, ready %v", rt.made, m.Ready())
		}
		if err := m.Delete(t.Context(), c.ID()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if rt.made != 3 || m.Ready()["go"] != 1 {
			t.Errorf("%d were made, ready %v", rt.made, m.Ready())
		}
	})
}

// What takes long to make, or never waits, holds up nobody else's.
func TestPoolWithSlowMakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: func(Process) Exit {
			time.Sleep(time.Hour)
			return Exit{}
		}}, PoolOptions{Makers: 2, Containers: 4})
		m.Prepare(python(), 2)
		time.Sleep(patience / 2)
		m.Prepare(Want{Spec: Spec{Language: "go"}}, 1)
		settle(patience / 4)
		if ready := m.Ready(); ready["go"] != 0 {
			t.Errorf("more are made at a time than there are makers: ready %v", ready)
		}
		settle(patience)
		if ready := m.Ready(); ready["go"] != 1 {
			t.Errorf("ready: %v", ready)
		}
		settle(2 * makeTimeout) // they have given up, and are tried again
		m.Prepare(Want{Spec: Spec{Language: "c"}}, 1)
		settle(2 * patience)
		if ready := m.Ready(); ready["go"] != 1 || ready["c"] != 1 {
			t.Errorf("ready: %v", ready)
		}
	})
}

func TestPoolBounds(t *testing.T) {
	for name, opts := range map[string]PoolOptions{
		"containers": {Containers: 3, Makers: 4},
		"memory":     {Containers: 100, Makers: 1, MemoryBytes: 3 * (8<<20 + baseBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter}
				m := keeps(t, rt, opts)
				m.Prepare(python(), 50)
				time.Sleep(time.Minute)
				if n := m.Ready()["python"]; n != 3 {
					t.Errorf("%d are ready", n)
				}
			})
		})
	}
}

// However many are not wanted any more, few are removed at a time: what ends in them needs a core.
func TestPoolRemovesAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{slowEnd: time.Second}
		m := NewManager(rt, 0)
		m.KeepReady(PoolOptions{Containers: 100, Makers: 2, MemoryBytes: 1 << 40})
		m.Prepare(Want{Spec: Spec{Language: "go"}}, 50)
		time.Sleep(time.Second)
		began := time.Now()
		if err := m.Close(); err != nil || rt.count() != 0 {
			t.Errorf("closed with %d left: %v", rt.count(), err)
		}
		if took := time.Since(began); rt.made != 50 || rt.mostEnd != maxRemoving || took != 4*time.Second {
			t.Errorf("of %d made, %d were removed at a time, in %v", rt.made, rt.mostEnd, took)
		}
	})
}

// One that was made for nobody is a tenant's only one at most: cores are divided by it.
func TestPoolAndTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{}, PoolOptions{})
		w := Want{Spec: Spec{Language: "go"}}
		m.Prepare(w, 4)
		time.Sleep(time.Second)
		w.Spec.Tenant = "a"
		take := func() *warmContainer {
			c, warm, err := m.Take(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			made := c.(*warmContainer)
			if warm == (made.spec.Tenant == "a") {
				t.Errorf("warm %v, made for %q", warm, made.spec.Tenant)
			}
			return made
		}
		first := take()
		if first.spec.Tenant != "" {
			t.Error("the first was not one of those that are ready")
		}
		if second := take(); second.spec.Tenant != "a" {
			t.Error("the second is no tenant's")
		}
		w.Spec.Tenant = "b"
		if other := take(); other.spec.Tenant != "" {
			t.Error("another tenant's first was not one of those that are ready")
		}
	})
}

// A failure is told, and made up for when it is over.
func TestPoolAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		rt := &warmRuntime{createErr: broken}
		var told []error
		m := keeps(t, rt, PoolOptions{Failed: func(err error) { told = append(told, err) }})
		m.Prepare(Want{Spec: Spec{Language: "go"}}, 1)
		settle(10 * time.Second)
		if len(told) < 2 || len(told) > 5 || !errors.Is(told[0], broken) {
			t.Errorf("told %v", told)
		}
		rt.mu.Lock()
		rt.createErr = nil
		rt.mu.Unlock()
		settle(pauseMost)
		if m.Ready()["go"] != 1 {
			t.Errorf("ready: %v", m.Ready())
		}
	})
}

// Whatever a container is made of, or was started in it with, makes it another's: a field
// that is added later as well.
func TestWantKey(t *testing.T) {
	key := func(change func(spec *Spec, p *Process)) string {
		w := python()
		change(&w.Spec, &w.Ahead.Process)
		k, _ := w.key()
		return k
	}
	same := key(func(*Spec, *Process) {})
	spec, process := reflect.TypeFor[Spec](), reflect.TypeFor[Process]()
	for i := range spec.NumField() {
		if spec.Field(i).Name != "MemoryBytes" && key(func(s *Spec, _ *Process) { touch(t, reflect.ValueOf(s).Elem().Field(i)) }) == same {
			t.Errorf("Spec.%s is not in the key", spec.Field(i).Name)
		}
	}
	late := map[string]bool{"Limits": true, "Stdin": true, "Stdout": true, "Stderr": true, "TTY": true, "Work": true, "Awake": true, "Calm": true, "TraceDenied": true}
	for i := range process.NumField() {
		if !late[process.Field(i).Name] && key(func(_ *Spec, p *Process) { touch(t, reflect.ValueOf(p).Elem().Field(i)) }) == same {
			t.Errorf("Process.%s is not in the key", process.Field(i).Name)
		}
	}
	limits := reflect.TypeFor[Limits]()
	for i := range limits.NumField() {
		name := limits.Field(i).Name
		begun := name == "WallTime" || name == "Strict"
		if begun != (key(func(_ *Spec, p *Process) { touch(t, reflect.ValueOf(&p.Limits).Elem().Field(i)) }) == same) {
			t.Errorf("Limits.%s", name)
		}
	}
	w := python()
	w.Ahead.Files["hook"] = []byte("do not wait")
	if k, _ := w.key(); k == same {
		t.Error("the files are not in the key")
	}
	w = python()
	w.Ahead.BuildDirs = []string{"classes"}
	if k, _ := w.key(); k == same {
		t.Error("the directories are not in the key")
	}
	w.Ahead = nil
	if k, _ := w.key(); k == same {
		t.Error("what waits is not in the key")
	}
	w.Ahead = &Ahead{Process: Process{Limits: Limits{CPUs: math.NaN()}}}
	if _, ok := w.key(); ok {
		t.Error("what cannot be told from others has a key")
	}
}

// touch changes a value.
func touch(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		touch(t, v.Field(0))
	default:
		t.Fatalf("no other %v is known", v.Type())
	}
}
