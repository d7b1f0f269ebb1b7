package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// outlets lead networks out of containers.
type outlets struct{ outlet.Maker }

func newOutlets(o Options) *outlets {
	return &outlets{outlet.Maker{Options: outlet.Options{Resolver: o.Resolver, Proxy: o.Proxy}}}
}

func (o *outlets) canLeadOut() error {
	if os.Geteuid() != 0 {
		return errors.New("it needs root, to put the relay into a container's network namespace")
	}
	return o.Probe()
}

// way leads out of one container; the zero value leads nowhere.
type way struct{ outlet *outlet.Outlet }

func (w way) close() { w.outlet.Close() }

// connect leads the container's processes out; nil where nothing does.
func (w way) connect() func(context.Context, *sandbox.NetworkPolicy) (guest.Connection, error) {
	if w.outlet == nil {
		return nil
	}
	return func(ctx context.Context, own *sandbox.NetworkPolicy) (guest.Connection, error) {
		return w.outlet.Connect(ctx, own)
	}
}

// degrade says what is weaker than it should be.
func (e *engine) degrade(i *sandbox.Isolation) { e.r.outlets.Degrade(i, e.way.outlet) }

// openNetwork leads the network of a container out, of which nothing runs yet but
// init.
func (e *engine) openNetwork(ctx context.Context, p sandbox.NetworkPolicy) error {
	if !p.LeadsOut() {
		return nil
	}
	ns, err := e.namespace(ctx, p)
	if err != nil {
		return err
	}
	defer ns.Close()
	e.way.outlet, err = e.r.outlets.Open(p, ns)
	return err
}

// namespace opens the container's network namespace: that of its first process, which
// must be in a control group that bears the container's name. So it is neither a
// process of another machine's, nor one that has the number by now.
func (e *engine) namespace(ctx context.Context, p sandbox.NetworkPolicy) (*os.File, error) {
	pid, err := e.pid(ctx)
	if err != nil {
		return nil, err
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, noOutlet(p, fmt.Errorf("the engine's process %d is none of this machine's: %w", pid, err))
	}
	defer unix.Close(pidfd)
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, fmt.Errorf("open the container's network namespace: %w", err)
	}
	if err = e.owns(pid); err == nil {
		if dead := unix.PidfdSendSignal(pidfd, 0, nil, 0); dead != nil { // so all this may be another's
			err = fmt.Errorf("the container has ended: %w", dead)
		}
	} else {
		err = noOutlet(p, err)
	}
	if err != nil {
		ns.Close()
		return nil, err
	}
	return ns, nil
}

// owns tells why a process is not the container's, or nil.
func (e *engine) owns(pid int) error {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return err
	}
	if !strings.Contains(string(groups), e.id) {
		return fmt.Errorf("the engine's process %d is not in a control group of its container on this machine; the engine may be in a virtual machine", pid)
	}
	return nil
}
