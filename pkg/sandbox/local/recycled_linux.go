package local

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
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
			return w.ns
		}
	}
	return nil
}

// give has one wait for the next container of its owner.
func (e *emptyNetworks) give(owner string, ns *os.File) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.waiting) >= maxRecycled {
		ns.Close()
		return
	}
	e.waiting = append(e.waiting, emptyNetwork{owner, ns, time.Now()})
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
	return c.spec.Recycle != "" && c.identity.root && c.spec.Network.Mode == sandbox.NetworkNone && !fault.Off("namespace", "net")
}

// leavesNetwork tells whether the network namespace is like a new one, and holds it. Init must be
// alive. With a process beside it there could be a socket in the next moment.
func (c *container) leavesNetwork() bool {
	if c.init == nil || !c.recycles() || !c.init.Idle() {
		return false
	}
	// Of all families, and what is on its way through another socket.
	sockets, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/sockstat", c.init.PID))
	if err != nil || !bytes.HasPrefix(sockets, []byte("sockets: used 0\n")) {
		return false
	}
	if c.netns == nil {
		path := fmt.Sprintf("/proc/%d/ns/net", c.init.PID)
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		c.netns = os.NewFile(uintptr(fd), path)
	}
	return true
}

// releaseNetwork gives up what the container has of its network namespace: to the next one, if it
// may have it.
func (c *container) releaseNetwork(clean bool) {
	switch {
	case c.netns == nil:
	case clean:
		c.rt.networks.give(c.spec.Recycle, c.netns)
	default:
		c.netns.Close()
	}
	c.netns = nil
}
