package e2b

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// process is one program of a container and all that it starts.
type process struct {
	alive.Ending

	c      *container
	spec   sandbox.Process
	stream *messages
	ctx    context.Context //nolint:containedctx // the life of its streams
	cancel context.CancelCauseFunc

	began   time.Time
	startup chan error    // what launchScript says; buffered, sent once
	noted   chan struct{} // closed when the watcher has seen its end
	dead    atomic.Bool   // everything has been killed
	read    chan struct{} // closed when the stream is over and last is set
	last    endEvent
	readErr error

	mu       sync.Mutex // guards the fields below
	pid      uint32
	metrics  sandbox.Metrics
	writeErr error

	killing sync.WaitGroup // kills for an error of a writer
	killed  atomic.Pointer[time.Time]
}

// Start implements [sandbox.Container].
func (c *container) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := c.mayStart(p); err != nil {
		return nil, err
	}
	r, err := c.narrowed(p.Network)
	if err != nil {
		return nil, err
	}
	if err := c.setRules(ctx, r); err != nil {
		return nil, err
	}
	if err := c.seal(ctx, p.ReadOnly); err != nil {
		return nil, err
	}
	pr := &process{
		c: c, spec: p, startup: make(chan error, 1), noted: make(chan struct{}),
		read: make(chan struct{}), Ending: alive.NewEnding(),
	}
	if err := pr.launch(ctx); err != nil {
		return nil, err
	}
	return pr, nil
}

var errRunning = errors.New("a process is running in this container")

func (c *container) mayStart(p sandbox.Process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.deleted:
		return fmt.Errorf("container %s is deleted", c.envd.id)
	case c.broken != nil:
		return c.broken
	case c.running != nil && !c.running.Ended():
		return errRunning
	case len(p.Args) == 0:
		return errors.New("no program to start")
	case p.TTY == nil && p.Stdin != nil && !c.envd.version.has(versionCloseStdin):
		return &sandbox.UnsupportedError{What: "standard input", Reason: fmt.Sprintf("envd %v in the template cannot tell a program where its input ends", c.envd.version), Mend: fmt.Sprintf("Build the template again, with envd %v or later", versionCloseStdin)}
	case strings.Contains(p.Args[0], "="):
		return &sandbox.StartError{Program: p.Args[0], Err: errors.New("no program with = in its name can be started in E2B")}
	}
	if err := p.Limits.Validate(); err != nil {
		return err
	}
	return c.stands.CheckStrict(p.Limits)
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// seal makes the container's own directories read-only for the next process, or
// writable again.
func (c *container) seal(ctx context.Context, readOnly []string) error {
	want := map[string]bool{}
	for _, name := range readOnly {
		want[path.Clean(name)] = true
	}
	var args []string
	var sealed []string
	for _, dir := range c.writable {
		switch now := slices.Contains(c.sealed, dir); {
		case want[dir] && !now:
			args = append(args, "ro", dir)
		case !want[dir] && now:
			args = append(args, "rw", dir)
		}
		if want[dir] {
			sealed = append(sealed, dir)
		}
	}
	if len(args) == 0 || !c.facts.tmpfs { // without mounts nothing can be sealed
		return nil
	}
	if err := c.envd.must(ctx, "seal directories", rootUser, sealScript, args...); err != nil {
		return err
	}
	c.sealed = sealed
	return nil
}

// launch starts the program and returns when it was executed.
func (pr *process) launch(ctx context.Context) (err error) {
	pr.ctx, pr.cancel = context.WithCancelCause(pr.c.alive)
	stop := context.AfterFunc(ctx, func() { pr.cancel(context.Cause(ctx)) })
	pr.stream, err = pr.c.envd.stream(pr.ctx, "start "+pr.spec.Args[0], startMethod, sandbox.UserName, pr.request())
	if err != nil {
		stop()
		pr.cancel(nil)
		if errors.As(err, new(*TransientError)) || ctx.Err() != nil { // it may run all the same
			_ = pr.c.sweepOrBreak() // whose error the next start has
		}
		return err
	}
	pr.c.occupy(pr)
	go pr.readAll()
	mute := time.AfterFunc(pr.c.rt.idle, func() { pr.cancel(errSilent) }) // whatever else comes
	defer mute.Stop()
	select {
	case err = <-pr.startup:
		if err != nil { // then the launcher ends, too
			late := time.AfterFunc(10*time.Second, func() { pr.cancel(errSlow) })
			<-pr.read
			late.Stop()
		}
	case <-pr.read:
		err = pr.startEnded()
	}
	if !stop() { // called off, perhaps at the last moment
		err = fmt.Errorf("E2B: start %s: %w", pr.spec.Args[0], ctx.Err())
	}
	if err != nil {
		pr.abandon()
		return err
	}
	pr.began = time.Now()
	if pr.spec.Stdin != nil {
		go pr.feed()
	}
	go pr.watch()
	go pr.finish()
	return nil
}

// occupy makes the container this process's.
func (c *container) occupy(pr *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = pr
	c.starts++
}

// startEnded is the error of a launch whose stream ended before it said anything.
func (pr *process) startEnded() error {
	select {
	case err := <-pr.startup: // it had said it
		return err
	default:
	}
	if pr.readErr != nil {
		return pr.readErr
	}
	return &TransientError{Op: "start " + pr.spec.Args[0], Err: fmt.Errorf("the launcher ended by itself: %s", where{}.clean(pr.last.Status))}
}

// abandon ends a launch that failed. Something of it may run, unless the launcher
// itself has ended.
func (pr *process) abandon() {
	ended := isDone(pr.read) && pr.readErr == nil
	pr.cancel(nil)
	<-pr.read
	if !ended && !isDone(pr.c.alive.Done()) {
		_ = pr.c.sweepOrBreak() // whose error the next start has
	}
	pr.killing.Wait()
	pr.End()
}

// request is what envd starts: the launch script, which becomes the program.
func (pr *process) request() startRequest {
	p, c := pr.spec, pr.c
	dir := p.Dir
	if dir == "" {
		dir = sandbox.WorkspaceDir
	} else if !path.IsAbs(dir) {
		dir = path.Join(sandbox.WorkspaceDir, dir)
	}
	stdin := "no"
	if p.Stdin != nil || p.TTY != nil {
		stdin = "yes"
	}
	search, env := "", []string{"env", "-i"}
	for _, kv := range p.Env {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" && !strings.Contains(kv, "\x00") {
			env = append(env, kv)
			if name == "PATH" {
				search = value
			}
		}
	}
	l := p.Limits
	args := []string{number(l.OpenFiles), number(l.Processes), number(blocks(l.FileSizeBytes)), number(backstop(l.CPUTime)), dir, search, p.Args[0], stdin}
	if c.facts.setsid && p.TTY == nil { // a terminal has a session already
		args = append(args, "setsid")
	}
	if c.facts.setpriv {
		args = append(args, "setpriv", "--no-new-privs")
	}
	req := startRequest{Process: shellProcess(launchScript, append(append(args, env...), p.Args...)...), Stdin: p.Stdin != nil && p.TTY == nil}
	if p.TTY != nil {
		req.PTY = &ptyConfig{Size: ptySize{Cols: uint32(p.TTY.Cols), Rows: uint32(p.TTY.Rows)}}
	}
	return req
}

// blocks is a file's size in the unit of ulimit -f.
func blocks(bytes int64) int64 { return (bytes + 511) / 512 }

// backstop is RLIMIT_CPU, in seconds, for each process of a program whose CPU time
// is sampled: late enough that the sample ends it first and gives it its name.
func backstop(cpu time.Duration) int64 {
	if cpu <= 0 {
		return 0
	}
	return int64(cpu/time.Second) + 3
}

// finish waits for the end and gathers what is known about it. Either the stream
// says so, or, where envd waits for everybody who holds the output open, the
// watcher.
func (pr *process) finish() {
	select {
	case <-pr.read:
	case <-pr.noted:
	}
	pr.Exit.Duration = time.Since(pr.began)
	if !isDone(pr.c.alive.Done()) {
		pr.sweep()
	}
	pr.dead.Store(true)
	pr.hurry()
	<-pr.read
	pr.killing.Wait()
	pr.cancel(nil)
	pr.mu.Lock()
	pr.Exit.Metrics, pr.Exit.WriteError = pr.metrics, pr.writeErr
	pr.mu.Unlock()
	pr.conclude()
	pr.End()
}

// conclude reads how the program ended out of its last message.
func (pr *process) conclude() {
	switch {
	case isDone(pr.c.alive.Done()):
		pr.Err = errDeleted
	case pr.readErr != nil:
		pr.Err = errors.Join(pr.readErr, pr.Err)
	default:
		code, signal, err := pr.last.outcome()
		pr.Exit.Code, pr.Exit.Signal = code, signal
		pr.Err = errors.Join(pr.Err, err)
	}
}

// sweep ends what is left and takes the figures of the end.
func (pr *process) sweep() {
	c := pr.c
	c.mu.Lock()
	before := c.oom
	c.mu.Unlock()
	if pr.Err = c.sweepOrBreak(); pr.Err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pr.Exit.Disk, pr.Exit.BuildDisk = c.disk, c.build
	pr.Exit.OOMKills = max(0, c.oom-before)
}

// Signal implements [sandbox.Running].
func (pr *process) Signal(sig syscall.Signal) error {
	if !portable(sig) {
		return &sandbox.UnsupportedError{What: fmt.Sprintf("signal %d", int(sig)), Reason: "its number is another one in the sandbox"}
	}
	if pr.Ended() || isDone(pr.read) {
		return nil
	}
	return pr.c.envd.must(pr.c.alive, "send a signal", sandbox.UserName, signalScript, number(int64(sig)), number(int64(pr.number())))
}

// Kill implements [sandbox.Running].
func (pr *process) Kill() error {
	if pr.Ended() || isDone(pr.c.alive.Done()) {
		return nil
	}
	defer pr.hurry()
	return pr.c.sweepOrBreak()
}

// hurry bounds how long the stream of a program may go on that has ended: whoever waits for the run
// would wait for ever.
func (pr *process) hurry() {
	now := time.Now()
	pr.killed.CompareAndSwap(nil, &now)
}

// Metrics implements [sandbox.Running].
func (pr *process) Metrics() (sandbox.Metrics, error) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	return pr.metrics, nil
}

// Resize implements [sandbox.Running].
func (pr *process) Resize(rows, cols uint16) error {
	if pr.spec.TTY == nil {
		return errors.New("the process has no terminal")
	}
	body := struct {
		Process selector  `json:"process"`
		PTY     ptyConfig `json:"pty"`
	}{selector{pr.number()}, ptyConfig{ptySize{Cols: uint32(cols), Rows: uint32(rows)}}}
	return pr.c.envd.unary(pr.c.alive, "resize the terminal", "/process.Process/Update", body, nil)
}

// selector names a process of envd's.
type selector struct {
	PID uint32 `json:"pid"`
}
