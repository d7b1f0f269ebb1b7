package guest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/stdio"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// process is one program of a container and all that it starts.
type process struct {
	alive.Ending

	c       *Container
	pid     int
	tty     bool
	started time.Time
	before  counters // of the container, when it started

	out    Connection     // nil where nothing leads out
	stdin  io.WriteCloser // nil when it reads nothing
	screen *spawn.Reader  // what a terminal shows; nil without one
	output stdio.Output
	kill   sync.Once

	mu   sync.Mutex
	peak int64 // bytes of memory that were seen in use
	most int64 // processes that were seen
}

// Start implements [sandbox.Container].
func (c *Container) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := c.mayStart(p); err != nil {
		return nil, err
	}
	if c.opts.SetLimits != nil {
		if err := c.opts.SetLimits(ctx, p.Limits); err != nil {
			return nil, err
		}
	}
	p.Env = environment(c.opts.Environment, p.Env)
	if p.Dir == "" {
		p.Dir = sandbox.WorkspaceDir
	}
	pr := &process{c: c, tty: p.TTY != nil, Ending: alive.NewEnding()}
	pr.before, _ = c.count()
	pr.started = time.Now()
	if err := pr.launch(ctx, p); err != nil {
		c.within(c.killRest)
		if pr.out != nil {
			pr.out.Abandon()
		}
		return nil, err
	}
	c.mu.Lock()
	c.running = pr
	c.mu.Unlock()
	go pr.watch(p.Awake)
	go pr.finish()
	return pr, nil
}

// environment is that of a container as far as the process has no other value: of
// two, programs differ in which they take.
func environment(container, process []string) []string {
	own := map[string]bool{}
	for _, kv := range process {
		name, _, _ := strings.Cut(kv, "=")
		own[name] = true
	}
	var all []string
	for _, kv := range container {
		if name, _, _ := strings.Cut(kv, "="); !own[name] {
			all = append(all, kv)
		}
	}
	return append(all, process...)
}

// launch has init fork the program, returns when it was executed, and begins to
// copy its streams.
func (pr *process) launch(ctx context.Context, p sandbox.Process) error {
	var program spawn.Program
	filter, err := pr.c.filter(p)
	if err != nil {
		return err
	}
	if err := pr.connect(ctx, p); err != nil {
		return err
	}
	l := launcher{p: &program, calls: pr.c.calls, process: p, filter: filter}
	if p.TTY != nil {
		if l.slave, err = pr.c.openTerminal(*p.TTY); err != nil {
			return fmt.Errorf("start %s: %w", p.Args[0], err)
		}
	}
	l.build()
	reply, err := pr.c.do(&program)
	if err != nil {
		return startError(p, err)
	}
	pr.pid = reply.PID
	pr.carry(p)
	return nil
}

// connect starts what leads the process out.
func (pr *process) connect(ctx context.Context, p sandbox.Process) (err error) {
	if pr.c.opts.Connect == nil {
		return nil
	}
	own := p.Network
	if own != nil {
		normal := own.Normal()
		own = &normal
	}
	pr.out, err = pr.c.opts.Connect(ctx, own)
	return err
}

// carry begins to copy what the process reads and writes.
func (pr *process) carry(p sandbox.Process) {
	pr.output.Fail = pr.killOnce
	if !pr.tty { // whose end is told otherwise
		pr.output.Late = pr.c.endPipes
	}
	if p.Stdin != nil {
		pr.stdin = pr.c.init.Writer()
		go func() { _ = stdio.Feed(pr.stdin, p.Stdin, pr.tty) }() // what fails is the channel, which says so itself
	}
	for stream, to := range map[int]io.Writer{1: p.Stdout, 2: p.Stderr} {
		if to == nil && (stream == 2 || !pr.tty) || stream == 2 && pr.tty {
			continue
		}
		from := pr.c.init.Reader(stream)
		if pr.tty {
			pr.screen = from
		}
		pr.output.Copy(to, from)
	}
}

// startError tells a program that cannot be executed from a failure of ours.
func startError(p sandbox.Process, err error) error {
	var step *spawn.StepError
	if errors.As(err, &step) {
		switch step.Step {
		case spawn.ExecStep:
			if step.Scarce() {
				break
			}
			return &sandbox.StartError{Program: p.Args[0], Err: step.Errno}
		case spawn.ChdirStep:
			return &sandbox.StartError{Program: p.Args[0], Err: fmt.Errorf("the working directory %s: %w", p.Dir, step.Errno)}
		}
	}
	if errors.Is(err, syscall.E2BIG) {
		return &sandbox.StartError{Program: p.Args[0], Err: err}
	}
	return fmt.Errorf("start %s: %w", p.Args[0], err)
}

// watchEvery is how often the container's counters are looked at: what a program
// may go on after the kernel has killed one of its processes for memory.
const watchEvery = 50 * time.Millisecond

// watch ends the whole process tree when the kernel has killed one of it for the
// memory of all, and remembers what no counter does.
func (pr *process) watch(awake <-chan struct{}) {
	if awake != nil {
		select {
		case <-awake:
		case <-pr.Done():
		}
	}
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-pr.Done():
			return
		case <-ticker.C:
			pr.look()
		}
	}
}

func (pr *process) look() counters {
	now, known := pr.c.count()
	if !known {
		return now
	}
	pr.mu.Lock()
	pr.peak, pr.most = max(pr.peak, now.memory.value), max(pr.most, now.processes.value-1) // without init
	pr.mu.Unlock()
	if now.oomKills.since(pr.before.oomKills) > 0 {
		pr.killOnce()
	}
	return now
}

func (pr *process) killOnce() { pr.kill.Do(func() { _ = pr.Kill() }) }

// finish waits for the end and gathers what is known about it.
func (pr *process) finish() {
	defer pr.End()
	exit, err := pr.c.init.Wait(pr.pid)
	pr.Exit.Ended = time.Now()
	pr.Exit.Duration = pr.Exit.Ended.Sub(pr.started)
	if err != nil {
		pr.gone()
		pr.disconnect()
		return
	}
	pr.c.within(func() {
		pr.c.killRest()
		if pr.stdin != nil {
			_ = pr.stdin.Close()
		}
		if pr.screen != nil {
			pr.screen.Close(pr.c.restOfTerminal())
		}
	})
	if pr.c.opts.Lift != nil {
		pr.c.opts.Lift()
	}
	pr.disconnect()
	pr.Exit.WriteError = pr.output.Wait()
	pr.Exit.Code = exit.Status.ExitStatus()
	if exit.Status.Signaled() {
		pr.Exit.Signal = int(exit.Status.Signal())
		pr.Exit.Code = 128 + pr.Exit.Signal
	}
	pr.gather(exit.Usage)
}

// disconnect ends what led the process out, once nothing of it runs any more.
func (pr *process) disconnect() {
	if pr.out == nil {
		return
	}
	pr.out.Settle()
	pr.out.End(&pr.Exit)
}

// gone is the end of a process whose init has ended.
func (pr *process) gone() {
	ended, duration := pr.Exit.Ended, pr.Exit.Duration
	_ = pr.output.Wait() // it matters no more
	switch {
	case pr.c.isDeleted():
		pr.Exit = sandbox.Exit{Code: 128 + sigkill, Signal: sigkill}
	case pr.c.opts.Ended != nil:
		pr.Exit, pr.Err = pr.c.opts.Ended()
	default:
		pr.Err = spawn.ErrGone
	}
	pr.Exit.Ended, pr.Exit.Duration = ended, duration
	pr.Exit.Metrics.Sources = map[string]string{}
	if pr.Err != nil {
		pr.Err = fmt.Errorf("container %s: %w", pr.c.opts.ID, pr.Err)
	}
}

// outOfMemory fills in what the kernel has killed for want of memory, and whose want it
// was. Where that cannot be told it was the program's: nobody tries that again.
func (pr *process) outOfMemory(now counters) {
	pr.Exit.OOMKills = now.oomKills.since(pr.before.oomKills)
	if pr.Exit.OOMKills == 0 || !pr.c.opts.OwnLimit {
		return
	}
	reached, known := now.ownLimit(pr.before, pageBytes(pr.c.opts.Arch))
	pr.Exit.HostOOM = known && !reached
}

// gather reads the figures; the process is dead.
func (pr *process) gather(usage spawn.Usage) {
	now, known := pr.c.count()
	pr.Exit.Metrics = pr.metrics(now, known, &usage)
	if known {
		pr.outOfMemory(now)
		pr.Exit.ProcessDenials = now.denials.since(pr.before.denials)
	} else if _, err := pr.c.do(&spawn.Program{}); errors.Is(err, sandbox.ErrOutOfMemory) { // init was next
		pr.Exit.OOMKills = 1
	}
	pr.Exit.Disk = pr.c.fullest()
	pr.Exit.BuildDisk = pr.c.usage(sandbox.BuildDir)
}

// restOfTerminal reads what a terminal still holds when everybody who wrote to it
// is dead: no more than a kernel's buffer. Init stops to pass it on first, or parts
// of it would come in between, or behind its end: a stream that is not asked for
// takes its place, and one of which nothing ever comes that of the other.
func (c *Container) restOfTerminal() (rest []byte) {
	const most = 64 << 10
	var take spawn.Program
	silent := take.Call("eventfd2", c.calls.eventfd2, spawn.Value(0), spawn.Value(oCLOEXEC)).Save()
	take.Carry(2, spawn.FD(spawn.StreamFD(1)))
	take.Carry(1, silent)
	if _, err := c.init.Do(&take); err != nil {
		return nil
	}
	for len(rest) < most {
		var p spawn.Program
		size, content := p.Answer(4), p.Answer(4<<10)
		p.Call(stepRead, c.calls.read, spawn.FD(spawn.StreamFD(2)), content, spawn.Value(4<<10)).Allow(eAGAIN).SaveAt(size, 0)
		reply, err := c.init.Do(&p)
		if err != nil {
			return rest // EIO: nobody has it open
		}
		n := int32(binary.NativeEndian.Uint32(size.Of(reply, 4)))
		if n <= 0 || n > 4<<10 {
			return rest
		}
		rest = append(rest, content.Of(reply, int(n))...)
	}
	return rest
}

// endPipesEvery is how often pipes are looked at that have no end yet.
const endPipesEvery = 200 * time.Millisecond

// endPipes has the pipes of a process end, of which somebody holds the other side who is dead,
// until they have ended.
func (c *Container) endPipes(ended <-chan struct{}) {
	for left := []int{1, 2}; ; {
		c.within(func() { left = slices.DeleteFunc(left, c.endPipe) })
		if len(left) == 0 {
			return
		}
		select {
		case <-ended:
			return
		case <-time.After(endPipesEvery):
		}
	}
}

// endPipe has a pipe of which everything was read give its place to another, of which nobody has the
// other side: so it has an end. It tells whether it has; what is still in it is read first, and where
// there are no files to be had there are some later.
func (c *Container) endPipe(stream int) bool {
	fd := spawn.FD(spawn.StreamFD(stream))
	var look, p spawn.Program
	held := look.Answer(4)
	look.Call("FIONREAD", c.calls.ioctl, fd, spawn.Value(fIONREAD), held).AllowAny() // an error of one that has ended
	reply, err := c.init.Do(&look)
	if err != nil {
		return ignoreGone(err) == nil // what an init has that is gone has ended
	}
	if binary.NativeEndian.Uint32(held.Of(reply, 4)) > 0 {
		return false
	}
	ends := p.Bytes(make([]byte, 8))
	read := p.Cell(ends, 0)
	p.Call("pipe2", c.calls.pipe2, ends, spawn.Value(oCLOEXEC|oNONBLOCK))
	p.Call("close", c.calls.close, p.Cell(ends, 4))
	p.Call("dup3", c.calls.dup3, read, fd, spawn.Value(oCLOEXEC))
	p.Call("close", c.calls.close, read)
	return c.tell(&p) == nil
}

// killRest kills what is left in the container and waits until it is gone. What is
// born while we kill dies of the next round.
func (c *Container) killRest() {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.init.WaitIdle()
	}()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if c.killAll(0) != nil {
			return // init is gone, and with it all
		}
		select {
		case <-idle:
			return
		case <-time.After(wait):
		}
	}
}

// killAll kills every process but init, which is the first of its pid namespace
// and exempt. The main one is killed first: not every kernel kills all before the
// first has died, whose death may be another one's signal.
func (c *Container) killAll(main int) error {
	var p spawn.Program
	if main > 0 {
		p.Call("kill", c.calls.kill, spawn.Value(main), spawn.Value(sigkill)).Allow(eSRCH)
	}
	p.Call("kill", c.calls.kill, spawn.Value(-1), spawn.Value(sigkill)).Allow(eSRCH)
	_, err := c.init.Do(&p)
	return err
}

// Signal implements [sandbox.Running]. Init sends it, so that the number means the
// process that init has not reaped yet.
func (pr *process) Signal(sig syscall.Signal) error {
	if pr.Ended() {
		return nil
	}
	var p spawn.Program
	for _, target := range []int{-pr.pid, pr.pid} {
		p.Call("kill", pr.c.calls.kill, spawn.Value(target), spawn.Value(int(sig))).Allow(eSRCH)
	}
	return pr.c.tell(&p)
}

// Kill implements [sandbox.Running]. It kills whatever there is, so that no process
// may start meanwhile that is not meant.
func (pr *process) Kill() error {
	pr.c.starting.Lock()
	defer pr.c.starting.Unlock()
	if pr.Ended() {
		return nil
	}
	var err error
	pr.c.within(func() { err = ignoreGone(pr.c.killAll(pr.pid)) })
	return err
}

// tell has a program carried out; an init that is gone is no error: so is what it
// was about.
func (c *Container) tell(p *spawn.Program) error {
	_, err := c.init.Do(p)
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, spawn.ErrGone) {
		return nil
	}
	return err
}

// Metrics implements [sandbox.Running].
func (pr *process) Metrics() (sandbox.Metrics, error) {
	now, known := pr.c.count()
	return pr.metrics(now, known, nil), nil
}

// Resize implements [sandbox.Running]. A terminal that is gone with its process is
// no error.
func (pr *process) Resize(rows, cols uint16) error {
	if !pr.tty {
		return errors.New("the process has no terminal")
	}
	if pr.Ended() {
		return nil
	}
	var p spawn.Program
	p.SetWindowSize(pr.c.calls.ioctl, spawn.FD(spawn.StreamFD(1)), rows, cols).Allow(eNOTTY)
	return pr.c.tell(&p)
}
