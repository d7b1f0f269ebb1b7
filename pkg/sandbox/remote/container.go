package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// deleteTimeout is how long the other server may take to say that a container is
// gone. It goes with its connection in any case.
const deleteTimeout = 30 * time.Second

// container is one on another server.
type container struct {
	runtime   *Runtime
	endpoint  *endpoint
	id        string
	spec      sandbox.Spec
	session   *tunnel.Session
	isolation sandbox.Isolation

	starting sync.Mutex // one start at a time

	mu      sync.Mutex
	deleted bool
	running *process
}

// ID implements [sandbox.Container].
func (c *container) ID() string { return c.id }

// Isolation implements [sandbox.Container].
func (c *container) Isolation() sandbox.Isolation { return c.isolation }

// Files implements [sandbox.Container].
func (c *container) Files(dir string) (sandbox.FileTree, error) {
	if !slices.Contains(writable(c.spec), dir) {
		return nil, fmt.Errorf("container %s has no writable directory %s", c.id, dir)
	}
	return &fileTree{c: c, dir: dir}, nil
}

// failed says of an error whether it is the connection's.
func (c *container) failed(err error) error {
	if broken := c.session.Err(); broken != nil {
		c.mu.Lock()
		deleted := c.deleted
		c.mu.Unlock()
		if deleted {
			return fmt.Errorf("container %s is deleted", c.id)
		}
		return &LostError{Server: c.endpoint.URL, Err: broken}
	}
	return err
}

// do is a request that is answered at once.
func (c *container) do(ctx context.Context, r tunnel.Request) (tunnel.Answer, error) {
	answer, err := c.session.Do(ctx, r)
	if err != nil {
		return answer, c.failed(err)
	}
	return answer, nil
}

// Start implements [sandbox.Container].
func (c *container) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := c.mayStart(p); err != nil {
		return nil, err
	}
	call, err := c.session.Start(ctx, tunnel.Request{Op: tunnel.OpStart, Process: tunnel.NewProcess(p)})
	if errors.Is(err, tunnel.ErrTooLong) {
		return nil, &sandbox.StartError{Program: p.Args[0], Err: err}
	}
	if err != nil {
		return nil, c.failed(err)
	}
	_, begun, err := call.WaitBegun(ctx)
	if err == nil && !begun {
		err = errors.New("the other server says neither that the program runs nor that it does not")
	}
	if err != nil {
		return nil, c.failed(err)
	}
	pr := newProcess(c, call, p)
	c.mu.Lock()
	c.running = pr
	c.mu.Unlock()
	return pr, nil
}

func (c *container) mayStart(p sandbox.Process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(p.Args) == 0:
		return errors.New("there is no program to start")
	case c.deleted:
		return fmt.Errorf("container %s is deleted", c.id)
	case c.running != nil && !c.running.Ended():
		return fmt.Errorf("a process runs in container %s already", c.id)
	}
	return nil
}

// Delete implements [sandbox.Container]. Where the connection is gone, the container
// goes without being asked: then there is nobody to wait for.
func (c *container) Delete(ctx context.Context) error {
	c.mu.Lock()
	again := c.deleted
	c.deleted = true
	c.mu.Unlock()
	if again {
		<-c.session.Done()
		return nil
	}
	defer c.runtime.alive.Forget(c)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	_, err := c.session.Do(ctx, tunnel.Request{Op: tunnel.OpDelete})
	lost := c.session.Err() != nil
	c.session.Close()
	if err != nil && !lost {
		return fmt.Errorf("delete container %s on %s: %w", c.id, c.endpoint.URL, err)
	}
	return nil
}
