package outlet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// NewNamespace makes a network namespace that belongs to our own user namespace, so
// that no capability of a container's reaches it. It lives as long as somebody has it
// open, or lives in it. It takes root.
func NewNamespace() (*os.File, error) {
	var ns *os.File
	err := elsewhere(func() error {
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			ns, err = os.Open(ownNamespace)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return ns, nil
}

// ownNamespace is that of the thread that opens it.
const ownNamespace = "/proc/thread-self/ns/net"

// elsewhere calls do on a thread that may go to another network namespace. It comes
// back, or ends.
func elsewhere(do func() error) error {
	done := make(chan error)
	go func() { done <- thereAndBack(do) }()
	return <-done
}

func thereAndBack(do func() error) error {
	runtime.LockOSThread()
	home, err := os.Open(ownNamespace)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // the thread stays locked, and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// openIn makes the sockets in a container's network namespace and leads every address
// there to them. Nothing else may lead out of it, and no program run in it yet. It
// takes root.
func (o *Outlet) openIn(ns *os.File) error {
	list, err := o.Sockets()
	if err != nil {
		return err
	}
	var files []*os.File
	err = elsewhere(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the container's network namespace: %w", err)
		}
		if err := leadsNowhere(); err != nil {
			return err
		}
		files, err = furnish(list)
		return err
	})
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return err
	}
	return o.Open(files)
}

// leadsNowhere looks that this thread's namespace has no interface but its loopback
// that could carry anything: so it is not the host's, of which every address would
// else be led to us. Kernels put tunnels into each namespace, which are down.
func leadsNowhere() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the container's network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the container has a network interface, %s, that leads past the relay", i.Name)
		}
	}
	return nil
}

// furnish makes the settings and the sockets of this thread's namespace.
func furnish(list []netns.Socket) (files []*os.File, err error) {
	for _, s := range netns.Sysctls() {
		if err := os.WriteFile(s.Path, []byte(s.Value), 0); err != nil {
			return nil, fmt.Errorf("set up the container's network: %w", err)
		}
	}
	for _, s := range list {
		f, err := s.Make()
		if errors.Is(err, unix.EPROTONOSUPPORT) && s.Name == netns.FilterSocket().Name {
			err = &NoRedirectError{err}
		}
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Maker makes outlets in namespaces that it can enter, and knows what this kernel can
// redirect. It is safe for concurrent use.
type Maker struct {
	Options Options

	mu     sync.Mutex
	tried  bool
	whyNot error // to redirect; nil where that works
}

// Open makes the outlet of a normal policy that leads out, in a container's network
// namespace.
func (m *Maker) Open(p sandbox.NetworkPolicy, ns *os.File) (*Outlet, error) {
	o, err := New(p, false, m.Options)
	if err != nil {
		return nil, err
	}
	if o.redirect, err = m.redirects(); err != nil {
		return nil, err
	}
	if err := o.openIn(ns); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// redirects tells whether this kernel redirects connections. The first one who asks
// has it tried, in a namespace that nobody else uses.
func (m *Maker) redirects() (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tried {
		return m.whyNot == nil, nil
	}
	ns, err := NewNamespace()
	if err != nil {
		return false, err
	}
	defer ns.Close()
	o, err := New(sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, true, m.Options)
	if err != nil {
		return false, err
	}
	defer o.Close()
	err = o.openIn(ns)
	var no *NoRedirectError
	if err != nil && !errors.As(err, &no) {
		return false, err
	}
	m.tried, m.whyNot = true, err
	return err == nil, nil
}

// Probe tells why no network can lead out of containers here, or nil.
func (m *Maker) Probe() error {
	_, err := m.redirects()
	return err
}

// Degrade says in a container's isolation what is weaker than it should be.
func (m *Maker) Degrade(i *sandbox.Isolation, o *Outlet) {
	if o == nil || o.Redirects() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i.Mechanisms["network"] = api.Degraded
	i.Warnings = append(i.Warnings, o.Warnings(m.whyNot)...)
}

// Mechanism is the wall as probed.
func (m *Maker) Mechanism() sandbox.Mechanism {
	wall := sandbox.Mechanism{Name: "network", State: api.Enforced, Detail: "connections and names go through a relay that holds them against the allow-list"}
	_, err := m.redirects()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err != nil:
		wall.State, wall.Detail = api.Degraded, "nothing leads out: "+err.Error()
	case m.whyNot != nil:
		wall.State, wall.Detail, wall.Mend = api.Degraded, "the ports that an allow-list names lead to the relay; "+m.whyNot.Error(), MendRedirect
	}
	return wall
}
