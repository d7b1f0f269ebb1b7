package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Ahead is a program that is started before its work is known: an interpreter that has
// come as far as it does without a source, inside the container and with everything in
// force that stands around the run.
//
// It says that it waits by one byte on standard output, [Waiting], having written nothing
// else, reads its [Work] from standard input to the last byte and not further, and goes on
// as the process that it was started to be. Its streams are the run's from then on.
//
// A program that knows nothing of that may be [Ahead.Quiet].
type Ahead struct {
	// Process is what is started. Its streams are the [Pool]'s.
	Process Process
	// Files are in the workspace when it starts. It removes them before it waits.
	Files map[string][]byte
	// BuildDirs are there when it starts, below [BuildDir].
	BuildDirs []string
	// Again is a program that waits again after its work, in the same container, for another
	// work of the same tenant. It ends its work by saying how it ended (again.go), reads one
	// byte, removes all that is in the workspace and in the build directories, and waits as
	// before.
	Again bool
	// Ancestor, if not nil, tells how it may become an [Ancestor], whose children have none of
	// the Files.
	Ancestor *Ancestry
	// Quiet is a program that waits because it reads its standard input, to the end, and
	// says nothing of it: it is taken to wait once it uses no CPU time. [Work.Input] is all
	// that it is told.
	Quiet bool
	// Sooner is a program that has done its work sooner than the plain command even if that is
	// known when it starts. A run that finds none waiting has one started for it.
	Sooner bool
}

// Waiting is what a program that was started ahead writes once it waits for its work.
const Waiting = '\x06' // ACK

// Work is what a program that was started ahead is told: what it could not know when it
// was started.
type Work struct {
	// Args are appended to its arguments.
	Args []string
	// Env, K=V, is its whole environment. It may be empty where that is as it was started.
	Env []string
	// Script, if not empty, is the absolute path of a file in the interpreter's own language
	// that it runs before the program.
	Script string
	// NoInput has it take /dev/null for its standard input. It is set where a process
	// has none.
	NoInput bool
	// Input, if not nil, is what a quiet program reads, in the place of all of this.
	Input []byte
}

// MaxWork is the most, in bytes, that a program is told: a pipe takes it whole, so that
// telling never waits for the program.
const MaxWork = 32 << 10

// workHeader is how many hexadecimal digits begin encoded work: how many bytes follow.
const workHeader = 8

// Encode writes the work as a program reads it: the number of bytes that follow, as eight
// hexadecimal digits, then words, each a letter and a text with a NUL behind it. The letter
// is a for an argument, e for a variable, s for a script, and n, without a text, for no
// input. A quiet program's is its input as it is.
func (w Work) Encode() []byte {
	if w.Input != nil {
		return w.Input
	}
	b := make([]byte, workHeader, 64)
	word := func(kind byte, text string) { b = append(append(append(b, kind), text...), 0) }
	for _, arg := range w.Args {
		word('a', arg)
	}
	for _, kv := range w.Env {
		word('e', kv)
	}
	if w.NoInput {
		word('n', "")
	}
	if w.Script != "" {
		word('s', w.Script)
	}
	copy(b, fmt.Appendf(nil, "%0*x", workHeader, len(b)-workHeader))
	return b
}

// waiting is a program that was started ahead of its run.
type waiting struct {
	process        Process
	quiet          bool
	again          *again // nil where it waits once
	running        Running
	stdin          *gate
	stdout, stderr late
	began          time.Time // when it was started
	cpu            Metrics   // what it had used when it began to wait
	memory         int64     // bytes that it took then, or 0

	ready chan struct{} // closed when it waits
	ended chan struct{} // closed when exit and err are set
	exit  Exit
	err   error
}

// errNotWaiting is a program that was to wait and did something else.
var errNotWaiting = errors.New("a program that was started ahead did not wait for its work")

// startFunc starts a process in a container, other than the container itself would.
type startFunc func(context.Context, Container, Process) (Running, error)

// lay writes the files that a program has when it starts.
func lay(c Container, files map[string][]byte) error {
	tree, err := c.Files(WorkspaceDir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := tree.WriteFile(name, bytes.NewReader(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// startAhead starts a program in a container and returns when it waits, or when it is told
// to give up. If start is not nil it is that of an ancestor of the program.
func startAhead(ctx context.Context, c Container, a Ahead, start startFunc, closed <-chan struct{}, late <-chan time.Time) (_ *waiting, err error) {
	if start == nil {
		if err := lay(c, a.Files); err != nil {
			return nil, err
		}
		start = func(ctx context.Context, c Container, p Process) (Running, error) { return c.Start(ctx, p) }
	}
	if err := makeBuildDirs(c, a.BuildDirs); err != nil {
		return nil, err
	}
	w := &waiting{process: a.Process, quiet: a.Quiet, stdin: newGate(), ready: make(chan struct{}), ended: make(chan struct{})}
	w.stdout.early = w.hear
	w.stderr.early = func([]byte) error { return errNotWaiting }
	p := a.Process
	p.Limits = kernelHeld(p.Limits)
	p.Stdin, p.Stdout, p.Stderr, p.Awake = w.stdin, &w.stdout, &w.stderr, w.stdin.opened
	if a.Again {
		w.again, p.Stdin = newAgain()
		w.ready, w.stdout.early = w.again.ready, w.again.hear
	}
	w.began = time.Now()
	if w.running, err = start(ctx, c, p); err != nil {
		w.leave()
		return nil, err
	}
	fault.Point("program started ahead")
	go func() {
		w.exit, w.err = w.running.Wait()
		close(w.ended)
	}()
	if w.quiet {
		go w.listen()
	}
	select {
	case <-w.ready:
	case <-w.ended:
		err = errNotWaiting
	case <-late:
		err = errNotWaiting
	case <-closed:
		err = context.Canceled
	}
	if err != nil {
		w.discard()
		return nil, err
	}
	if w.cpu, err = used(w.running); err == nil && w.cpu.MemoryBytes != nil {
		w.memory = *w.cpu.MemoryBytes
	}
	return w, nil
}

// hurry makes a container with what is ahead in it for a run that found none ready, and nil where
// the plain command is as good, or where nothing waits in the end: with too little memory an
// interpreter never comes so far, and that takes no longer than the run might have.
func (p *pool) hurry(ctx context.Context, w Want) (*prepared, error) {
	if p == nil || w.Ahead == nil || !w.Ahead.Sooner {
		return nil, nil
	}
	made, err := p.runtime.Create(ctx, w.Spec)
	if err != nil {
		return nil, err
	}
	r := &prepared{Container: made, made: time.Now()}
	if made.Isolation().Level != LevelFull {
		return r, nil
	}
	late := hurryTimeout
	if limit := w.Ahead.Process.Limits.WallTime; limit > 0 {
		late = min(late, limit)
	}
	timer := time.NewTimer(late)
	defer timer.Stop()
	if r.waiting, err = startAhead(ctx, made, *w.Ahead, nil, ctx.Done(), timer.C); err != nil {
		p.report(made.Delete(context.WithoutCancel(ctx)))
		return nil, nil // what the plain command says tells why
	}
	return r, nil
}

func makeBuildDirs(c Container, names []string) error {
	if len(names) == 0 {
		return nil
	}
	tree, err := c.Files(BuildDir)
	for _, name := range names {
		if err == nil {
			err = tree.MkdirAll(name)
		}
	}
	return err
}

// hear takes what the program writes before it is told anything: that it waits.
func (w *waiting) hear(b []byte) error {
	select {
	case <-w.ready:
		return errNotWaiting
	default:
	}
	if w.quiet || len(b) != 1 || b[0] != Waiting {
		return errNotWaiting
	}
	close(w.ready)
	return nil
}

// listenEvery is how long a quiet program may use no CPU time before it is taken to wait:
// longer than a clock of the kernel's that has ticks. One that seems to have used none at all may not
// have had a core yet, or less of one than such a clock shows, and is looked at so often.
const (
	listenEvery = 15 * time.Millisecond
	listenLooks = 10
)

// listen finds out when a quiet program waits. One that is told its work before that has
// only less of a start.
func (w *waiting) listen() {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	looks := 0 // in a row that saw as much as the one before
	for before := time.Duration(-1); ; {
		m, err := used(w.running)
		cpu, known := m.CPU()
		if looks++; cpu != before {
			looks = 0
		}
		if err != nil || !known || looks > 0 && cpu > 0 || looks >= listenLooks {
			close(w.ready)
			return
		}
		before = cpu
		select {
		case <-tick.C:
		case <-w.ended:
			return
		}
	}
}

// alive tells whether it still waits.
func (w *waiting) alive() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// leave tells it nothing any more: else who copies to it would wait for ever.
func (w *waiting) leave() {
	w.stdin.open(nil, nil)
	if w.again != nil {
		_ = w.again.input.Close() // which never fails
	}
}

// discard ends it and returns when it is gone.
func (w *waiting) discard() {
	_ = w.running.Kill()
	w.leave()
	<-w.ended
}

// work is what tells it to be p, and whether it can be: nothing around it was made for
// another.
func (w *waiting) work(p Process) ([]byte, bool) {
	if !w.alive() || p.Work == nil || p.TTY != nil || p.TraceDenied || w.quiet != (p.Work.Input != nil) ||
		!reflect.DeepEqual(around(p), around(w.process)) {
		return nil, false
	}
	work := *p.Work
	work.NoInput = p.Stdin == nil
	encoded := work.Encode()
	return encoded, len(encoded) <= MaxWork
}

// around is what a process was started in, without what its manager holds.
func around(p Process) Process {
	p.Limits = kernelHeld(p.Limits)
	if p.Network != nil {
		normal := p.Network.Normal()
		p.Network = &normal
	}
	return Process{Dir: cmp.Or(p.Dir, WorkspaceDir), Limits: p.Limits, Network: p.Network, ReadOnly: p.ReadOnly}
}

// kernelHeld are the limits that a process is born with. The others begin with its work,
// or are said of its container.
func kernelHeld(l Limits) Limits {
	l.WallTime, l.Strict = 0, nil
	return l
}

// resume tells it its work. From now on it is p.
func (w *waiting) resume(p Process, work []byte) Running {
	if w.again != nil {
		w.stdin.open(nil, nil) // who was to sleep until now wakes
		w.stderr.attach(w.again.words(p.Stderr))
		before, _ := w.running.Metrics()
		return &resumedTurn{Running: w.running, waiting: w, process: p, began: time.Now(), before: before, turn: w.again.begin(work)}
	}
	w.stdout.attach(p.Stdout)
	w.stderr.attach(p.Stderr)
	r := &resumed{Running: w.running, waiting: w, began: time.Now()}
	w.stdin.open(work, p.Stdin)
	return r
}

// resumed is a program that was told its work. Its clocks have begun with that.
type resumed struct {
	Running
	waiting *waiting
	began   time.Time
}

// Wait implements [Running].
func (r *resumed) Wait() (Exit, error) {
	<-r.waiting.ended
	exit := r.waiting.exit
	if exit.Ended.After(r.began) {
		exit.Duration = exit.Ended.Sub(r.began)
	} else {
		exit.Duration -= min(exit.Duration, r.began.Sub(r.waiting.began))
	}
	exit.Ahead = true
	exit.Metrics = exit.Metrics.since(r.waiting.cpu)
	return exit, r.waiting.err
}

// Metrics implements [Running].
func (r *resumed) Metrics() (Metrics, error) {
	m, err := r.Running.Metrics()
	return m.since(r.waiting.cpu), err
}

// Used implements [Sparing].
func (r *resumed) Used() (Metrics, error) {
	m, err := used(r.Running)
	return m.since(r.waiting.cpu), err
}

// PrepareFigures implements [Figuring].
func (r *resumed) PrepareFigures() {
	if f, can := r.Running.(Figuring); can {
		f.PrepareFigures()
	}
}

// since takes off the CPU time of a program that was used before.
func (m Metrics) since(before Metrics) Metrics {
	less := func(now, before *time.Duration) *time.Duration {
		if now == nil || before == nil {
			return now
		}
		d := max(*now-*before, 0)
		return &d
	}
	m.CPUUser, m.CPUSystem = less(m.CPUUser, before.CPUUser), less(m.CPUSystem, before.CPUSystem)
	return m
}

// without takes off all that was counted before, and the peaks, which may be of that time.
func (m Metrics) without(before Metrics) Metrics {
	less := func(now, before *int64) *int64 {
		if now == nil || before == nil {
			return nil
		}
		n := max(*now-*before, 0)
		return &n
	}
	m = m.since(before)
	m.IOReadBytes, m.IOWriteBytes = less(m.IOReadBytes, before.IOReadBytes), less(m.IOWriteBytes, before.IOWriteBytes)
	m.PageFaults, m.ContextSwitches = less(m.PageFaults, before.PageFaults), less(m.ContextSwitches, before.ContextSwitches)
	m.Sources = maps.Clone(m.Sources)
	seen := func(name string, now *int64) *int64 {
		delete(m.Sources, name)
		if now != nil && m.Sources != nil {
			m.Sources[name] = "runtime" // which has looked now
		}
		return now
	}
	m.MemoryPeakBytes, m.ProcessesPeak = seen("memory_peak_bytes", m.MemoryBytes), seen("processes_peak", m.Processes)
	return m
}

// gate is a standard input that says nothing until it is opened.
type gate struct {
	once   sync.Once
	opened chan struct{}
	from   io.Reader // set before opened is closed
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

// open has it say first, and then what rest does, which may be nil. It opens once.
func (g *gate) open(first []byte, rest io.Reader) {
	g.once.Do(func() {
		g.from = bytes.NewReader(first)
		if rest != nil {
			g.from = io.MultiReader(g.from, rest)
		}
		close(g.opened)
	})
}

// Read implements [io.Reader].
func (g *gate) Read(b []byte) (int, error) {
	<-g.opened
	return g.from.Read(b)
}

// WriteTo implements [io.WriterTo]: who copies holds no buffer while nothing comes.
func (g *gate) WriteTo(to io.Writer) (int64, error) {
	<-g.opened
	return io.Copy(to, g.from)
}

// late is a stream that belongs to nobody until it is attached.
type late struct {
	early func(b []byte) error // takes what is written before
	to    atomic.Pointer[io.Writer]
}

func (l *late) attach(to io.Writer) {
	if to == nil {
		to = io.Discard
	}
	l.to.Store(&to)
}

// Write implements [io.Writer].
func (l *late) Write(b []byte) (int, error) {
	if to := l.to.Load(); to != nil {
		return (*to).Write(b)
	}
	if err := l.early(b); err != nil {
		return 0, err
	}
	return len(b), nil
}
