package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// compiler is a program that waits again after its work, which takes a second; what it is
// told decides what becomes of it.
func compiler(p Process) Exit {
	if p.Args[0] != "ahead" {
		fmt.Fprint(p.Stdout, "started")
		return Exit{}
	}
	for turn := 1; ; turn++ {
		if _, err := p.Stdout.Write([]byte{Waiting}); err != nil {
			return Exit{WriteError: err}
		}
		words, err := readWork(p.Stdin)
		if err != nil {
			return Exit{Code: 99}
		}
		time.Sleep(time.Second)
		said, end := fmt.Sprintf("turn %d of %v", turn, words), fmt.Sprintf("%04x", turn%256) // as an exit code is
		switch words[0] {
		case "adie":
			return Exit{Code: 3}
		case "ahang":
			time.Sleep(time.Hour)
		case "alie":
			end = "-001"
		case "awarn":
			fmt.Fprint(p.Stderr, "warning; ")
		case "amore":
			end += "more"
		}
		frame := fmt.Sprintf("%08x%s%s", len(said), said, end)
		for _, part := range []string{frame[:5], frame[5:12], frame[12:]} { // as a pipe may give it
			if _, err := p.Stdout.Write([]byte(part)); err != nil {
				return Exit{Code: 98, WriteError: err}
			}
		}
		if _, err := io.ReadFull(p.Stdin, make([]byte, 1)); err != nil {
			return Exit{}
		}
		switch words[0] {
		case "adirty":
			time.Sleep(time.Hour)
		case "amutter":
			if _, err := fmt.Fprint(p.Stderr, "out of turn"); err != nil {
				return Exit{Code: 97, WriteError: err}
			}
		}
	}
}

func javac(tenant string) Want {
	w := python()
	w.Spec.Language, w.Spec.Tenant = "java", tenant
	w.Ahead.Again = true
	return w
}

// compiled has one thing compiled for a tenant and gives the container back.
func compiled(t *testing.T, m *Manager, tenant, what string) (id, said string, out Outcome, err error) {
	t.Helper()
	c, _, err := m.Take(t.Context(), javac(tenant))
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	out, err = m.Run(t.Context(), c.ID(), Process{Args: []string{"cold"}, Stdout: &stdout, Stderr: &stderr, Work: &Work{Args: []string{what}},
		Limits: Limits{MemoryBytes: 64 << 20, WallTime: time.Minute}}, nil)
	if err := m.Return(t.Context(), c.ID()); err != nil {
		t.Error(err)
	}
	time.Sleep(10 * time.Second)
	return c.ID(), stdout.String() + stderr.String(), out, err
}

// What has worked for a tenant works for it again, for nobody else, and says what it has to
// say each time.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: compiler}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(javac(""), 1)
		time.Sleep(10 * time.Second)
		first, said, out, err := compiled(t, m, "a", "x")
		if err != nil || said != "turn 1 of [ax n]" || out.Code != 1 || out.Duration != time.Second || !out.Ahead {
			t.Errorf("%q, %+v, %v", said, out, err)
		}
		other, said, _, _ := compiled(t, m, "b", "y")
		if other == first || said != "turn 1 of [ay n]" {
			t.Errorf("%s has the container of %s: %q", other, first, said)
		}
		if nobody, said, _, _ := compiled(t, m, "", "z"); nobody == first || nobody == other || said != "turn 1 of [az n]" {
			t.Errorf("nobody has %s: %q", nobody, said)
		} else if next, said, _, _ := compiled(t, m, "", "z"); next == nobody || said != "turn 1 of [az n]" {
			t.Errorf("the next, who may be anybody, has %s: %q", next, said)
		}
		if again, said, out, _ := compiled(t, m, "a", "w"); again != first || said != "turn 2 of [aw n]" || out.Code != 2 {
			t.Errorf("%s after %s: %q, %+v", again, first, said, out)
		}
		if len(m.Alive()) > 0 {
			t.Errorf("alive: %v", m.Alive())
		}
		time.Sleep(5 * time.Minute)
		if n := rt.count(); n != 1 { // the one that is always ready
			t.Errorf("%d containers when nobody wants any", n)
		}
	})
}

// What did not end as it should, or does not clean up, is not kept; nor is anything where
// each is for one use.
func TestNotAgain(t *testing.T) {
	for _, c := range []struct {
		what   string
		single bool
		fails  bool
	}{{"die", false, false}, {"hang", false, false}, {"lie", false, true}, {"more", false, true}, {"warn", false, false}, {"dirty", false, false}, {"mutter", false, false}, {"x", true, false}} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: compiler}
				m := keeps(t, rt, PoolOptions{SingleUse: c.single, Failed: func(error) {}})
				m.Prepare(javac(""), 1)
				time.Sleep(10 * time.Second)
				first, said, out, err := compiled(t, m, "a", c.what)
				if err != nil || out.WriteError != nil || c.fails && (out.Code != 1 || !strings.Contains(said, "turn 1 of")) {
					t.Errorf("%q, %+v, %v", said, out, err)
				}
				if c.what == "warn" && said != "warning; turn 1 of [awarn n]" || strings.Contains(said, "out of turn") {
					t.Errorf("%q", said)
				}
				if second, said, _, _ := compiled(t, m, "a", "x"); second == first || !strings.HasPrefix(said, "turn 1 ") {
					t.Errorf("%s again: %q", second, said)
				}
			})
		})
	}
}

// A container in which a program has run is nobody else's, and the compiler in it ends
// before.
func TestAgainAndThenAProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: compiler}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(javac(""), 1)
		time.Sleep(10 * time.Second)
		c, _, err := m.Take(t.Context(), javac("a"))
		if err != nil || m.Keeps(c.ID()) {
			t.Fatalf("kept before its work, or %v", err)
		}
		limits := Limits{MemoryBytes: 64 << 20}
		if _, err := m.Run(t.Context(), c.ID(), Process{Args: []string{"cold"}, Work: &Work{Args: []string{"x"}}, Limits: limits}, nil); err != nil || !m.Keeps(c.ID()) {
			t.Fatalf("not kept, or %v", err)
		}
		var stdout bytes.Buffer
		if _, err := m.Run(t.Context(), c.ID(), Process{Args: []string{"program"}, Stdout: &stdout, Limits: limits}, nil); err != nil || stdout.String() != "started" || m.Keeps(c.ID()) {
			t.Errorf("%v, %q", err, &stdout)
		}
		if err := m.Return(t.Context(), c.ID()); err != nil {
			t.Error(err)
		}
		if again, _, _, _ := compiled(t, m, "a", "x"); again == c.ID() {
			t.Error("it was kept")
		}
		if m.Keeps("nothing") || m.Return(t.Context(), "nothing") != nil {
			t.Error("what is not there is kept, or missed")
		}
	})
}

// A container that is given back may be another run's at once: it is not taken from that.
func TestReturnedContainerIsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: compiler}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(javac(""), 1)
		time.Sleep(10 * time.Second)
		limits := Limits{MemoryBytes: 64 << 20}
		run := func(id string) error {
			_, err := m.Run(t.Context(), id, Process{Args: []string{"cold"}, Work: &Work{Args: []string{"x"}}, Limits: limits}, nil)
			return err
		}
		for range 20 {
			c, _, err := m.Take(t.Context(), javac("a"))
			if err != nil {
				t.Fatal(err)
			}
			if err := run(c.ID()); err != nil {
				t.Fatal(err)
			}
			next := make(chan error, 1)
			go func() { // as soon as it is there
				for {
					if again := m.TakeReady(javac("a")); again != nil {
						next <- run(again.ID())
						_ = m.Return(t.Context(), again.ID())
						return
					}
					time.Sleep(time.Millisecond)
				}
			}()
			if err := m.Return(t.Context(), c.ID()); err != nil {
				t.Error(err)
			}
			if err := <-next; err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		if len(m.Alive()) > 0 {
			t.Errorf("alive: %v", m.Alive())
		}
	})
}

// What has not long to go is followed by one that is new, and is there while that is: who asks for much
// does not have to wait for the first turns of a new one.
func TestAgainHasAnHeir(t *testing.T) {
	for name, tc := range map[string]struct {
		every time.Duration
		ready bool // a new one, all the time
	}{
		"many turns": {0, true}, "a long time": {20 * time.Second, true}, "many turns, and nothing new": {},
		"a long time, and nothing new": {20 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := keeps(t, &warmRuntime{program: compiler}, PoolOptions{})
				m.Prepare(javac(""), 1)
				time.Sleep(time.Minute)
				take := func() Container {
					c, warm, err := m.Take(t.Context(), javac("a"))
					if err != nil || !warm {
						t.Fatalf("warm %t: %v", warm, err)
					}
					return c
				}
				turn := func(c Container) {
					if _, err := m.Run(t.Context(), c.ID(), Process{Args: []string{"cold"}, Work: &Work{Args: []string{"x"}}, Limits: Limits{MemoryBytes: 64 << 20}}, nil); err != nil {
						t.Error(err)
					}
					if err := m.Return(t.Context(), c.ID()); err != nil {
						t.Error(err)
					}
					time.Sleep(10*time.Millisecond + tc.every)
				}
				first := take()
				turn(first)
				if !tc.ready {
					m.Prepare(javac(""), 0)
					time.Sleep(40 * time.Second)
					if n := m.Ready()["java"]; n != 1 {
						t.Fatalf("%d wait, and not the kept one alone", n)
					}
				}
				turns, most, began := 1, maxTurns-heirTurns, time.Now()
				if !tc.ready {
					most++ // one is made
				}
				next := take()
				for ; next.ID() == first.ID(); next = take() {
					if turns++; turns > most || time.Since(began) > heirAfter {
						t.Fatalf("nothing follows it after %d turns and %v", turns, time.Since(began))
					}
					turn(next)
				}
				heir := next
				for range 50 {
					turn(next)
					if next = take(); next.ID() != heir.ID() {
						t.Fatalf("%s follows %s", next.ID(), heir.ID())
					}
					if tc.every > 0 {
						break
					}
				}
				if old := take(); old.ID() != first.ID() {
					t.Errorf("beside %s there is %s, and not %s", next.ID(), old.ID(), first.ID())
				}
			})
		})
	}
}

// What was told to end is not kept, whether or not it did before it was told.
func TestNotAgainAfterASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: compiler}, PoolOptions{})
		m.Prepare(javac(""), 1)
		time.Sleep(10 * time.Second)
		c, _, err := m.Take(t.Context(), javac("a"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(t.Context(), c.ID(), Process{Args: []string{"cold"}, Work: &Work{Args: []string{"x"}},
			Limits: Limits{MemoryBytes: 64 << 20, WallTime: time.Second}}, nil) // which is when it ends
		if err != nil || out.Cause == CauseNone && m.Keeps(c.ID()) != true || out.Cause != CauseNone && m.Keeps(c.ID()) {
			t.Errorf("%+v, %v, kept %v", out, err, m.Keeps(c.ID()))
		}
		if err := m.Return(t.Context(), c.ID()); err != nil {
			t.Error(err)
		}
	})
}
