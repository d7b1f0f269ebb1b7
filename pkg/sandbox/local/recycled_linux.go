package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A network namespace is what costs the kernel most of all that a container has: to make and
// to remove one takes longer than everything else together. Where nothing leads out of it, and it
// belongs to root's user namespace, so that no program has a right to anything in it, all that a
// program can leave there are sockets. One without any is like a new one, and is the next
// container's of the same owner ([sandbox.Spec.Recycle]).

const (
	// recycledFor is how long one waits for its next container.
	recycledFor = 10 * time.Second
	// maxRecycled is how many wait, each of which is some 200 KiB of the kernel's.
	maxRecycled = 128
)

// emptyNetworks are network namespaces in which nothing is left. The zero value is ready to use.
type emptyNetworks struct {
	mu      sync.Mutex
	waiting []emptyNetwork // the oldest first
	expiry  *time.Timer    // while some wait
	closed  bool
}

type emptyNetwork struct {
	owner string
	ns    *os.File
	since time.Time
}

// take returns the one of an owner that has waited least, or nil.
func (e *emptyNetworks) take(owner string) *os.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.waiting) - 1; i >= 0; i-- {
		if w := e.waiting[i]; w.owner == owner {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			fault.Point("network namespace taken")
			return w.ns
		}
	}
	return nil
}

// give has one wait for the next container of its owner.
func (e *emptyNetworks) give(owner string, ns *os.File) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		ns.Close()
		return
	}
	if len(e.waiting) >= maxRecycled {
		e.waiting[0].ns.Close()
		e.waiting = e.waiting[1:]
	}
	e.waiting = append(e.waiting, emptyNetwork{owner, ns, time.Now()})
	fault.Point("network namespace kept")
	if e.expiry == nil {
		e.expiry = time.AfterFunc(recycledFor, e.expire)
	}
}

// expire closes those that nobody wanted for some time.
func (e *emptyNetworks) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 && time.Since(e.waiting[0].since) >= recycledFor {
		e.waiting[0].ns.Close()
		e.waiting = e.waiting[1:]
	}
	e.expiry = nil
	if len(e.waiting) > 0 {
		e.expiry = time.AfterFunc(recycledFor-time.Since(e.waiting[0].since), e.expire)
	}
}

// enterNetwork is the step by which a container enters one.
const enterNetwork = "enter the network namespace"

// failed has no container enter one any more if this one was not let in.
func (e *emptyNetworks) failed(err error) {
	var step *spawn.StepError
	if errors.As(err, &step) && step.Step == enterNetwork {
		e.close()
	}
}

func (e *emptyNetworks) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.waiting {
		w.ns.Close()
	}
	e.waiting, e.closed = nil, true
}

// recycles tells whether the container may have the network namespace of another, and leave its
// own to the next.
func (c *container) recycles() bool {
	return c.spec.Recycle != "" && c.walls.namespaces && c.identity.root && c.spec.Network.Mode == sandbox.NetworkNone && !fault.Off("namespace", "net")
}

// network is a container's network namespace on its way out. The zero value is none.
type network struct{ ns, sockets *os.File }

// lastNetwork is the network namespace if the next container may have it. The init must not have
// been killed yet: what it is in is open then, and looked at when it is gone.
func (c *container) lastNetwork() (n network) {
	defer func() {
		if n.sockets == nil && n.ns != nil {
			n.ns.Close()
			n.ns = nil
		}
	}()
	n.ns, c.netns = c.netns, nil
	if c.init == nil || !c.recycles() {
		return n
	}
	if n.ns == nil {
		n.ns = c.openOwn("ns/net")
	}
	if n.ns == nil || sameNetwork(n.ns) {
		return n
	}
	n.sockets = c.openOwn("net/sockstat")
	// As long as there is an init the number is its own, and what was opened is, too.
	if n.sockets != nil && unix.PidfdSendSignal(int(c.init.Pidfd.Fd()), 0, nil, 0) != nil {
		n.sockets.Close()
		n.sockets = nil
	}
	return n
}

// openOwn opens a file of init's, or gives nil.
func (c *container) openOwn(name string) *os.File {
	path := fmt.Sprintf("/proc/%d/%s", c.init.PID, name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// sameNetwork tells whether a network namespace is our own, or may be.
func sameNetwork(ns *os.File) bool {
	theirs, err := ns.Stat()
	ours, ourErr := os.Stat("/proc/self/ns/net")
	return err != nil || ourErr != nil || os.SameFile(theirs, ours)
}

// release gives the network namespace of a container whose processes are all gone to the next of
// its owner, if nothing is left in it. The kernel counts sockets of all families, and what is on its
// way through another one; with nobody there they can only become fewer.
func (n network) release(to *emptyNetworks, owner string, gone bool) {
	if n.ns == nil {
		return
	}
	var text [64]byte
	count, err := n.sockets.Read(text[:])
	n.sockets.Close()
	if gone && err == nil && bytes.HasPrefix(text[:count], []byte("sockets: used 0\n")) {
		to.give(owner, n.ns)
		return
	}
	n.ns.Close()
}
