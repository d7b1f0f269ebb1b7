package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// warmRuntime makes containers whose programs are Go functions with streams.
type warmRuntime struct {
	program func(p Process) Exit

	mu        sync.Mutex
	made      int
	alive     map[string]*warmContainer
	createErr error
	deleteErr error         // of the next one that is removed
	slow      time.Duration // that making one takes
	slowEnd   time.Duration // that removing one takes
	ending    int           // how many are being removed
	mostEnd   int           // at a time
	isolation Isolation
	frugal    bool // its programs use no CPU time that a clock shows

	ancestral              bool
	ancestors, forks, calm int
	forkErr                error
	rehearsals             int
	expectKills            atomic.Bool // a container that is told what it is for
	rehearseErr            error
	attended               int // of those that were started, would have their end told soon
}

func (*warmRuntime) Name() string                                { return "warm" }
func (*warmRuntime) Image(context.Context, Spec) (Image, error)  { return Image{}, nil }
func (*warmRuntime) Probe(context.Context) (Capabilities, error) { return Capabilities{}, nil }
func (*warmRuntime) Close() error                                { return nil }
func (rt *warmRuntime) Create(ctx context.Context, spec Spec) (Container, error) {
	rt.mu.Lock()
	slow := rt.slow
	rt.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.createErr != nil {
		return nil, rt.createErr
	}
	rt.made++
	c := &warmContainer{rt: rt, id: strconv.Itoa(rt.made), spec: spec, files: map[string]string{}}
	if rt.alive == nil {
		rt.alive = map[string]*warmContainer{}
	}
	rt.alive[c.id] = c
	return c, nil
}

// change changes what is as yet to be made.
func (rt *warmRuntime) change(slow time.Duration, createErr error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.slow, rt.createErr = slow, createErr
}

func (rt *warmRuntime) count() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.alive)
}

type warmContainer struct {
	FileTree
	rt     *warmRuntime
	id     string
	spec   Spec
	files  map[string]string
	starts int
	last   *warmRunning

	expected Process
	forked   bool
	dead     atomic.Bool
}

func (c *warmContainer) ID() string { return c.id }
func (c *warmContainer) Isolation() Isolation {
	i := c.rt.isolation
	i.Level = cmp.Or(i.Level, LevelFull)
	return i
}
func (c *warmContainer) Expect(_ context.Context, p Process) error {
	c.expected = p
	c.dead.Store(c.rt.expectKills.Load())
	return nil
}
func (c *warmContainer) Alive() bool                    { return !c.dead.Load() }
func (c *warmContainer) Files(string) (FileTree, error) { return c, nil }
func (c *warmContainer) WriteFile(name string, content io.Reader, _ fs.FileMode) error {
	b, err := io.ReadAll(content)
	c.files[name] = string(b)
	return err
}
func (c *warmContainer) Start(_ context.Context, p Process) (Running, error) {
	c.starts++
	r := &warmRunning{rt: c.rt, began: time.Now(), killed: make(chan struct{}), done: make(chan struct{}), frugal: c.rt.frugal}
	c.last = r
	ended := make(chan Exit, 1)
	go func() { ended <- c.rt.program(p) }()
	go func() {
		defer close(r.done)
		select {
		case r.exit = <-ended:
		case <-r.killed:
			r.exit = Exit{Code: 137, Signal: 9}
		}
		r.exit.Ended = time.Now()
		r.over.Store(true)
		r.exit.Duration = r.exit.Ended.Sub(r.began)
		used, _ := r.Metrics()
		r.exit.Metrics = used
	}()
	return r, nil
}
func (c *warmContainer) Delete(context.Context) error {
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	c.rt.ending++
	c.rt.mostEnd = max(c.rt.mostEnd, c.rt.ending)
	c.rt.mu.Unlock()
	time.Sleep(c.rt.slowEnd)
	c.rt.mu.Lock()
	c.rt.ending--
	delete(c.rt.alive, c.id)
	if c.last != nil {
		_ = c.last.Kill()
	}
	err := c.rt.deleteErr
	c.rt.deleteErr = nil
	return err
}

type warmRunning struct {
	rt     *warmRuntime
	began  time.Time
	once   sync.Once
	killed chan struct{}
	done   chan struct{}
	over   atomic.Bool
	frugal bool
	exit   Exit
}

func (r *warmRunning) Wait() (Exit, error)         { <-r.done; return r.exit, nil }
func (r *warmRunning) Signal(syscall.Signal) error { return r.Kill() }
func (r *warmRunning) Kill() error                 { r.once.Do(func() { close(r.killed) }); return nil }
func (r *warmRunning) Resize(uint16, uint16) error { return nil }

func (r *warmRunning) Attend() {
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	r.rt.attended++
}

// Metrics are those of a program that has burnt one core, but when it waited.
func (r *warmRunning) Metrics() (Metrics, error) {
	used, none, memory := 2*time.Second, time.Duration(0), int64(8<<20)
	if r.over.Load() {
		used += time.Second
	}
	if r.frugal {
		used = 0
	}
	return Metrics{CPUUser: &used, CPUSystem: &none, MemoryBytes: &memory}, nil
}

// readWork is the other end of [Work.Encode].
func readWork(from io.Reader) (words []string, err error) {
	header := make([]byte, workHeader)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	size, err := strconv.ParseUint(string(header), 16, 32)
	if err != nil {
		return nil, err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(from, body); err != nil {
		return nil, err
	}
	words = strings.Split(string(body), "\x00")
	return words[:len(words)-1], nil
}

// interpreter is a program that may be started ahead: it is started for two seconds, and
// then writes what it is told and reads.
func interpreter(p Process) Exit {
	time.Sleep(2 * time.Second)
	told := p.Args[1:]
	if p.Args[0] == "ahead" {
		if _, err := p.Stdout.Write([]byte{Waiting}); err != nil {
			return Exit{WriteError: err}
		}
		words, err := readWork(p.Stdin)
		if err != nil {
			return Exit{Code: 99}
		}
		told = words
	}
	time.Sleep(time.Second) // its work
	fmt.Fprint(p.Stderr, "worked")
	fmt.Fprint(p.Stdout, told)
	if p.Stdin != nil {
		_, _ = io.Copy(p.Stdout, p.Stdin)
	}
	return Exit{Code: 7}
}

func python() Want {
	return Want{Spec: Spec{Language: "python", Disk: DiskLimit{1 << 20, 10}}, Ahead: &Ahead{
		Process: Process{Args: []string{"ahead"}, Limits: Limits{MemoryBytes: 64 << 20}}, Files: map[string][]byte{"hook": []byte("wait")},
	}}
}

// keeps is a manager that has containers ready.
func keeps(t *testing.T, rt *warmRuntime, opts PoolOptions) *Manager {
	t.Helper()
	if opts.Containers == 0 {
		opts.Containers = 8
	}
	if opts.MemoryBytes == 0 {
		opts.MemoryBytes = 1 << 40
	}
	if failed := opts.Failed; failed != nil { // which several call at once
		var mu sync.Mutex
		opts.Failed = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			failed(err)
		}
	}
	m := NewManager(rt, 0)
	m.KeepReady(opts)
	t.Cleanup(func() {
		if err := m.Close(); err != nil || rt.count() != 0 {
			t.Errorf("closed with %d containers left: %v", rt.count(), err)
		}
		time.Sleep(2 * time.Hour) // for programs that do not know that they are dead
	})
	return m
}

// settle lets time pass, and what others do in it come before what follows, for the race detector too.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// runIn takes a container and runs a process in it.
func runIn(t *testing.T, m *Manager, w Want, p Process) (out Outcome, warm bool, err error) {
	t.Helper()
	c, warm, err := m.Take(t.Context(), w)
	if err != nil {
		return out, warm, err
	}
	out, err = m.Run(t.Context(), c.ID(), p, nil)
	if err := m.Delete(t.Context(), c.ID()); err != nil {
		t.Error(err)
	}
	return out, warm, err
}

// What waits becomes the run: with its words, its streams, and clocks of its own.
func TestWaitingProgramBecomesTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(python(), 1)
		time.Sleep(10 * time.Second)
		if ready := m.Ready(); ready["python"] != 1 {
			t.Fatalf("ready: %v", ready)
		}
		var stdout, stderr bytes.Buffer
		p := Process{
			Args: []string{"cold", "x"}, Stdin: strings.NewReader("input"), Stdout: &stdout, Stderr: &stderr,
			Limits: Limits{MemoryBytes: 64 << 20, WallTime: 2 * time.Second, Strict: []string{}},
			Work:   &Work{Args: []string{"a b", ""}, Env: []string{"K=V"}},
		}
		out, warm, err := runIn(t, m, python(), p)
		if err != nil || !warm || !out.Ahead || out.Code != 7 || out.Duration != time.Second {
			t.Errorf("warm %v, outcome %+v, %v", warm, out, err)
		}
		if used, _ := out.Metrics.CPU(); used != time.Second {
			t.Errorf("it used %v of CPU", used)
		}
		if stdout.String() != "[aa b a eK=V]input" || stderr.String() != "worked" {
			t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
		}
	})
}

// Without input it is told so; and a wall clock of a second has not begun with the start.
func TestWaitingProgramWithoutInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: interpreter}, PoolOptions{})
		m.Prepare(python(), 1)
		time.Sleep(10 * time.Second)
		var stdout bytes.Buffer
		out, _, err := runIn(t, m, python(), Process{Args: []string{"cold"}, Stdout: &stdout, Work: &Work{},
			Limits: Limits{MemoryBytes: 64 << 20, WallTime: 1500 * time.Millisecond}})
		if err != nil || out.Cause != CauseNone || stdout.String() != "[n]" {
			t.Errorf("%+v, %v, %q", out, err, &stdout)
		}
	})
}

// A process that what waits was not started for is started.
func TestWaitingProgramThatDoesNotFit(t *testing.T) {
	fits := Process{Args: []string{"cold"}, Limits: Limits{MemoryBytes: 64 << 20}, Work: &Work{}}
	for name, change := range map[string]func(p *Process){
		"no work":          func(p *Process) { p.Work = nil },
		"too much work":    func(p *Process) { p.Work = &Work{Args: []string{strings.Repeat("x", MaxWork)}} },
		"another limit":    func(p *Process) { p.Limits.MemoryBytes++ },
		"a terminal":       func(p *Process) { p.TTY = &TTY{Rows: 24, Cols: 80} },
		"traced":           func(p *Process) { p.TraceDenied = true },
		"elsewhere":        func(p *Process) { p.Dir = "/tmp" },
		"network":          func(p *Process) { p.Network = &NetworkPolicy{Mode: NetworkFull} },
		"read-only places": func(p *Process) { p.ReadOnly = []string{BuildDir} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: interpreter}
				m := keeps(t, rt, PoolOptions{})
				m.Prepare(python(), 1)
				time.Sleep(10 * time.Second)
				p := fits
				change(&p)
				var stdout, stderr bytes.Buffer
				p.Stdout, p.Stderr = &stdout, &stderr
				out, warm, err := runIn(t, m, python(), p)
				if err != nil || !warm || out.Ahead || out.Code != 7 || stdout.String() != "[]" {
					t.Errorf("warm %v, %+v, %v, %q", warm, out, err, &stdout)
				}
			})
		})
	}
}

// Where the paths of the world have other names, nothing waits that would be told of them.
func TestNothingWaitsWithoutItsOwnRoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &warmRuntime{program: interpreter, isolation: Isolation{Level: LevelRestricted}}
		m := keeps(t, rt, PoolOptions{})
		m.Prepare(python(), 1)
		time.Sleep(10 * time.Second)
		out, warm, err := runIn(t, m, python(), Process{Args: []string{"cold"}, Stdout: io.Discard, Stderr: io.Discard, Work: &Work{}, Limits: Limits{MemoryBytes: 64 << 20}})
		if err != nil || !warm || out.Ahead || out.Code != 7 {
			t.Errorf("warm %v, %+v, %v", warm, out, err)
		}
	})
}

// A limit that was asked for by name is not passed over because something waits.
func TestWaitingProgramAndStrictLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keeps(t, &warmRuntime{program: interpreter, isolation: Isolation{Limits: map[string]string{LimitMemory: api.Absent}}}, PoolOptions{})
		m.Prepare(python(), 1)
		time.Sleep(10 * time.Second)
		_, warm, err := runIn(t, m, python(), Process{Args: []string{"cold"}, Work: &Work{},
			Limits: Limits{MemoryBytes: 64 << 20, Strict: []string{LimitMemory}}})
		var unsupported *UnsupportedError
		if !warm || !errors.As(err, &unsupported) {
			t.Errorf("warm %v, %v", warm, err)
		}
	})
}

// What does not wait is not used, and not tried all the time.
func TestProgramsThatDoNotWait(t *testing.T) {
	for name, program := range map[string]func(Process) Exit{
		"ends":            func(Process) Exit { return Exit{Code: 1} },
		"says another":    func(p Process) Exit { _, err := p.Stdout.Write([]byte("x")); return Exit{WriteError: err} },
		"says more":       func(p Process) Exit { _, err := p.Stdout.Write([]byte{Waiting, '!'}); return Exit{WriteError: err} },
		"complains":       func(p Process) Exit { _, err := p.Stderr.Write([]byte("oh")); return Exit{WriteError: err} },
		"is never so far": func(p Process) Exit { time.Sleep(time.Hour); return Exit{} },
		"does not wait":   func(p Process) Exit { _, _ = p.Stdout.Write([]byte{Waiting}); return Exit{} },
		"speaks, waiting": func(p Process) Exit {
			_, _ = p.Stdout.Write([]byte{Waiting})
			_, err := p.Stdout.Write([]byte("x"))
			return Exit{WriteError: err}
		},
		"complains, later": func(p Process) Exit {
			_, _ = p.Stdout.Write([]byte{Waiting})
			_, err := p.Stderr.Write([]byte("x"))
			return Exit{WriteError: err}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &warmRuntime{program: func(p Process) Exit {
					if p.Args[0] == "cold" {
						return Exit{Code: 7}
					}
					return program(p)
				}}
				m := keeps(t, rt, PoolOptions{})
				m.Prepare(python(), 1)
				settle(time.Hour)
				made := rt.made
				out, _, err := runIn(t, m, python(), Process{Args: []string{"cold"}, Work: &Work{}, Limits: Limits{MemoryBytes: 64 << 20}})
				if err != nil || out.Ahead || out.Code != 7 {
					t.Errorf("%+v, %v", out, err)
				}
				if made > 100 {
					t.Errorf("it was tried %d times in an hour", made)
				}
			})
		})
	}
}

func TestWork(t *testing.T) {
	for _, w := range []Work{{}, {Args: []string{"a", "", "ü\n"}}, {Env: []string{"A=", "B=c=d"}, NoInput: true}} {
		words, err := readWork(bytes.NewReader(w.Encode()))
		var got Work
		for _, word := range words {
			switch word[0] {
			case 'a':
				got.Args = append(got.Args, word[1:])
			case 'e':
				got.Env = append(got.Env, word[1:])
			case 'n':
				got.NoInput = true
			}
		}
		if err != nil || !reflect.DeepEqual(got, w) {
			t.Errorf("%+v became %+v, %v", w, got, err)
		}
	}
}
