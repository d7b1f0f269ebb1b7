package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Options say what a container is made of.
type Options struct {
	ID        string
	Isolation sandbox.Isolation
	// Arch is the architecture of the container, as Go names it.
	Arch string
	// Trees are the directories that [sandbox.Container.Files] gives access to.
	// They must exist and be the sandbox user's.
	Trees []string
	// Layers are made before the first process.
	Layers []Layer
	// CgroupDir is where the container sees its own control groups, such as
	// /sys/fs/cgroup; empty when it does not.
	CgroupDir string
	// ReadGroups reads the container's own control groups from outside: files by
	// their names below the container's group, with version 1 behind the name of the
	// controller (memory/memory.stat). Nil has init read them in CgroupDir.
	ReadGroups func(names []string) (contents []string, err error)
	// OwnLimit tells that these groups hold the limit of memory themselves, and not one
	// above them: only then can a program's want of memory be told from the host's.
	OwnLimit bool
	// Network is that of the container; a process may have less.
	Network sandbox.NetworkPolicy
	// Connect leads a process out that is about to start, as far as its own normal
	// policy lets it, or that of the container where it is nil. It refuses one that
	// is wider than the container's. Nil leads no process out.
	Connect func(ctx context.Context, own *sandbox.NetworkPolicy) (Connection, error)
	// Filter adapts the seccomp filter of every process to what else stands around
	// it. Sockets are the network's business.
	Filter seccomp.Options
	// Environment is put before that of every process, which wins.
	Environment []string
	// MayStart refuses a process that the container cannot run as it asks; nil
	// refuses none.
	MayStart func(sandbox.Process) error
	// SetLimits has the container's control groups hold the limits of the next
	// process; nil where nothing can be changed.
	SetLimits func(context.Context, sandbox.Limits) error
	// Lift takes the memory limit away when every program is dead: what init does then
	// is ours. It may be nil.
	Lift func()
	// Hurry takes the CPU limit away until the next process starts: what is killed
	// needs time to die. It may be nil, and be called at any time.
	Hurry func()
	// Ended asks why init has ended although nobody ended it. It returns how that
	// looks for the process that ran, or an error that is ours; nil knows nothing. It is
	// called once.
	Ended func() (sandbox.Exit, error)
	// Remove removes the container, whatever runs in it.
	Remove func(context.Context) error
}

// Connection is what leads one process out of its container.
type Connection interface {
	// Settle waits until what the process has sent is on its way. Nothing of it runs
	// any more.
	Settle()
	// End ends the connection and tells what went through it.
	End(*sandbox.Exit)
	// Abandon ends that of a process which did not start.
	Abandon()
}

// Container implements [sandbox.Container].
type Container struct {
	opts   Options
	calls  calls
	init   *spawn.Server
	groups groupFiles

	starting sync.Mutex // one Start at a time
	mu       sync.Mutex
	running  *process // the last one
	filters  map[seccomp.Options][]byte
	deleted  bool
	removing sync.Once
	removed  error
}

// Alive implements [sandbox.Living].
func (c *Container) Alive() bool { return !c.init.Gone() }

// New takes over a container whose init speaks through conn. Deleting the
// container closes conn. When New fails, the container is the caller's to remove.
func New(conn io.ReadWriteCloser, opts Options) (*Container, error) {
	calls, err := callsOf(opts.Arch)
	if err != nil {
		return nil, err
	}
	if opts.Ended != nil {
		opts.Ended = sync.OnceValues(opts.Ended)
	}
	c := &Container{opts: opts, calls: calls, init: spawn.Stream(conn), filters: map[seccomp.Options][]byte{}}
	if err := c.prepare(); err != nil {
		_ = c.init.Close()
		return nil, fmt.Errorf("prepare container %s: %w", opts.ID, err)
	}
	return c, nil
}

// prepare makes init unreachable for programs, and finds the files that count.
func (c *Container) prepare() error {
	var p spawn.Program
	p.Call("prctl PR_SET_DUMPABLE", c.calls.prctl, spawn.Value(prSETDumpable), spawn.Value(0), spawn.Value(0), spawn.Value(0), spawn.Value(0))
	if _, err := c.init.Do(&p); err != nil {
		return err
	}
	c.groups = c.findGroups()
	for _, l := range c.opts.Layers {
		if err := c.makeLayer(l, maxLinks); err != nil {
			return err
		}
	}
	return nil
}

// ID implements [sandbox.Container].
func (c *Container) ID() string { return c.opts.ID }

// Isolation implements [sandbox.Container].
func (c *Container) Isolation() sandbox.Isolation { return c.opts.Isolation }

// Files implements [sandbox.Container].
func (c *Container) Files(dir string) (sandbox.FileTree, error) {
	for _, tree := range c.opts.Trees {
		if tree == path.Clean(dir) {
			return &fileTree{c: c, dir: tree}, nil
		}
	}
	return nil, fmt.Errorf("container %s has no file tree %s", c.opts.ID, dir)
}

// Delete implements [sandbox.Container].
func (c *Container) Delete(ctx context.Context) error {
	c.mu.Lock()
	c.deleted = true
	running := c.running
	c.mu.Unlock()
	err := c.remove(ctx)
	if running != nil {
		<-running.Done()
	}
	return err
}

// remove removes the container, once.
func (c *Container) remove(ctx context.Context) error {
	c.removing.Do(func() {
		c.hurry()
		// Init ends when its stream does, and all that it holds with it: the
		// engine has nothing left to kill.
		_ = c.init.Close()
		c.removed = c.opts.Remove(ctx)
	})
	return c.removed
}

// InitMemory is what init takes of the container's group, which the programs' limit
// is not to pay for: its pages, what it carries of streams and files, and what the
// kernel has for it, in bytes.
const InitMemory = 1 << 20

// patience is how long init may take to kill, with the little CPU time that programs
// leave it. None has a hold of it; one that had found a way would gain no more.
const patience = 15 * time.Second

func (c *Container) hurry() {
	if c.opts.Hurry != nil {
		c.opts.Hurry()
	}
}

// within has programs killed, and gives the container up when that takes too long.
func (c *Container) within(do func()) {
	c.hurry()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-done:
		return
	case <-timeout.C:
	}
	c.mu.Lock()
	c.deleted = true
	c.mu.Unlock()
	_ = c.remove(context.Background()) // Delete tells
	<-done
}

// do has init carry a program out. Where it has ended by itself, its error says why, and is
// [sandbox.ErrOutOfMemory] too where that was it.
func (c *Container) do(p *spawn.Program) (spawn.Reply, error) {
	reply, err := c.init.Do(p)
	if !errors.Is(err, spawn.ErrGone) || c.opts.Ended == nil || c.isDeleted() {
		return reply, err
	}
	exit, why := c.opts.Ended()
	if why == nil && exit.OOMKills > 0 {
		why = sandbox.ErrOutOfMemory
	}
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return reply, err
}

func (c *Container) isDeleted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deleted
}

// filter is the seccomp program of a process. A process has no more of a network
// than its container; where that leads out, who leads it holds the one against the
// other.
func (c *Container) filter(p sandbox.Process) ([]byte, error) {
	network := c.opts.Network.Normal()
	if p.Network != nil {
		own := p.Network.Normal()
		if err := own.Validate(); err != nil {
			return nil, err
		}
		if own.Mode != sandbox.NetworkNone && own.Mode != network.Mode && c.opts.Connect == nil {
			return nil, fmt.Errorf("a process of a container with network %s cannot have network %s", network.Mode, own.Mode)
		}
		network = own
	}
	opts := c.opts.Filter
	opts.Inet = network.Mode != sandbox.NetworkNone
	opts.NoUDP, opts.OneUser = opts.Inet && opts.NoUDP, true
	// A compiler's program is in its IPC namespace, where init has no right to make another.
	opts.NoIPC = slices.Contains(c.opts.Trees, sandbox.BuildDir) && p.MayWrite(sandbox.BuildDir)
	arch, err := seccomp.ArchOf(c.opts.Arch)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.filters[opts]; ok {
		return f, nil
	}
	program, err := seccomp.Compile(seccomp.Default(opts), arch)
	if err != nil {
		return nil, fmt.Errorf("compile the seccomp filter: %w", err)
	}
	c.filters[opts] = seccomp.Marshal(program)
	return c.filters[opts], nil
}

var errRunning = errors.New("a process is running in this container")

func (c *Container) mayStart(p sandbox.Process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted {
		return fmt.Errorf("container %s is deleted", c.opts.ID)
	}
	if c.running != nil && !c.running.Ended() {
		return errRunning
	}
	if len(p.Args) == 0 {
		return errors.New("no program to start")
	}
	if c.opts.MayStart != nil {
		if err := c.opts.MayStart(p); err != nil {
			return err
		}
	}
	if err := c.opts.Isolation.CheckStrict(p.Limits); err != nil {
		return err
	}
	return p.Limits.Validate()
}
