package outlet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// namespace is one of the test's own, as of a container.
func namespace(t *testing.T) *os.File {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces of others are entered as root")
	}
	ns, err := NewNamespace()
	if errors.Is(err, unix.EPERM) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}

// inside does something on a thread in a namespace.
func inside(t *testing.T, ns *os.File, do func() error) {
	t.Helper()
	err := elsewhere(func() error {
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return do()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dial connects from a namespace and returns the first line, or how that failed.
func dial(t *testing.T, ns *os.File, address string) (line string) {
	t.Helper()
	inside(t, ns, func() error {
		conn, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err == nil {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			line, err = bufio.NewReader(conn).ReadString('\n')
		}
		var errno unix.Errno
		if errors.As(err, &errno) {
			line = unix.ErrnoName(errno)
		} else if err != nil {
			line = err.Error()
		}
		return nil
	})
	return line
}

// greeter says hello on this host's loopback.
func greeter(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(conn, "hello")
			conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func open(t *testing.T, m *Maker, ns *os.File, p sandbox.NetworkPolicy) *Outlet {
	t.Helper()
	o, err := m.Open(p.Normal(), ns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func connect(t *testing.T, o *Outlet, own *sandbox.NetworkPolicy) *Connection {
	t.Helper()
	c, err := o.Connect(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Abandon)
	return c
}

// TestOutlet: what is allowed is carried out, the rest is refused and told; each
// process has what is its own, and with none nothing leads out.
func TestOutlet(t *testing.T) {
	ns, m := namespace(t), &Maker{}
	o := open(t, m, ns, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	if !o.Redirects() {
		t.Skip("this kernel does not redirect connections")
	}
	c := connect(t, o, nil)
	const metadata = "169.254.169.254:80"
	if got := dial(t, ns, metadata); got != "ECONNRESET" {
		t.Error(got)
	}
	if got := dial(t, ns, "127.0.0.1:"+greeter(t)); got != "ECONNREFUSED" {
		t.Errorf("this host's loopback: %s", got)
	}
	var exit sandbox.Exit
	c.Settle()
	c.End(&exit)
	if len(exit.Violations) != 1 || !strings.Contains(exit.Violations[0], metadata+" refused") || exit.Network.Connections != 0 {
		t.Errorf("%+v", exit)
	}
	if _, err := o.Connect(t.Context(), &sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"10.0.0.1:80"}}); err == nil {
		t.Error("a process has more than its container")
	}
	c = connect(t, o, &sandbox.NetworkPolicy{Mode: sandbox.NetworkNone})
	if got := dial(t, ns, "93.184.216.34:80"); got != "ECONNRESET" {
		t.Errorf("a process without a network: %s", got)
	}
	exit = sandbox.Exit{}
	c.End(&exit)
	if len(exit.Violations) != 1 || !strings.Contains(exit.Violations[0], "93.184.216.34:80 refused") {
		t.Errorf("%+v", exit)
	}
	o.Close()
	if got := dial(t, ns, "93.184.216.34:80"); got != "ECONNREFUSED" {
		t.Errorf("with nobody there: %s", got)
	}
}

// TestWithoutRedirection: the ports that are named lead to the relay, the kernel
// refuses all others, and that is said.
func TestWithoutRedirection(t *testing.T) {
	ns, m := namespace(t), &Maker{Options: Options{NoRedirect: true}}
	o := open(t, m, ns, sandbox.NetworkPolicy{Allow: []string{"127.0.0.1:81"}})
	c := connect(t, o, nil)
	for port, want := range map[string]string{"81": "ECONNRESET", "82": "ECONNREFUSED"} {
		if got := dial(t, ns, "93.184.216.34:"+port); got != want {
			t.Errorf("port %s: %s, want %s", port, got, want)
		}
	}
	var exit sandbox.Exit
	c.End(&exit)
	i := sandbox.Isolation{Mechanisms: map[string]string{"network": api.Enforced}}
	m.Degrade(&i, o)
	if len(exit.Violations) != 1 || i.Mechanisms["network"] != api.Degraded || len(i.Warnings) != 1 || !strings.Contains(i.Warnings[0], "nftables are switched off") {
		t.Errorf("%q, %+v", exit.Violations, i)
	}
	if wall := m.Mechanism(); wall.State != api.Degraded || wall.Mend == "" {
		t.Errorf("%+v", wall)
	}
	m.Degrade(&i, nil)
	if len(i.Warnings) != 1 {
		t.Error("a container without an outlet is said to have a weak one")
	}
}

// TestNamespaceWithInterface: a namespace from which something leads past us, as the
// host's, is left as it is.
func TestNamespaceWithInterface(t *testing.T) {
	ns, m := namespace(t), &Maker{}
	why := ""
	inside(t, ns, func() error {
		// What a thread starts is where the thread is.
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "ip link add name past0 type veth peer name past1 && ip link set past0 up").CombinedOutput()
		if err != nil {
			why = fmt.Sprintf("no interface can be made: %v: %s", err, out)
		}
		return nil
	})
	if why != "" {
		t.Skip(why)
	}
	if _, err := m.Open(sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, ns); err == nil || !strings.Contains(err.Error(), "interface, past0, that leads past the relay") {
		t.Errorf("%v", err)
	}
	if got := dial(t, ns, "93.184.216.34:80"); got != "ENETUNREACH" {
		t.Errorf("a namespace that was refused was changed: %s", got)
	}
}

// TestNamespaceIsOurs: the namespace belongs to our own user namespace, so that no
// capability of a container's reaches it.
func TestNamespaceIsOurs(t *testing.T) {
	fd, err := unix.IoctlRetInt(int(namespace(t).Fd()), unix.NS_GET_USERNS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var owner, ours unix.Stat_t
	if err := errors.Join(unix.Fstat(fd, &owner), unix.Stat("/proc/self/ns/user", &ours)); err != nil || owner.Ino != ours.Ino {
		t.Errorf("the namespace's owner is %d, and we are in %d: %v", owner.Ino, ours.Ino, err)
	}
}

// TestNothingStays: no descriptor, which would keep the namespace, no goroutine, and
// no thread in another namespace.
func TestNothingStays(t *testing.T) {
	namespace(t).Close()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what was forgotten
	m := &Maker{}
	use := func() {
		ns, err := NewNamespace()
		if err != nil {
			t.Fatal(err)
		}
		o, err := m.Open(sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, ns)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.Connect(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		dial(t, ns, "169.254.169.254:80")
		if _, err := m.Open(sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, ns); err == nil {
			t.Error("a namespace has two outlets")
		}
		c.Settle()
		c.Abandon()
		o.Close()
		ns.Close()
	}
	use()
	files, goroutines := list(t, "/proc/self/fd"), runtime.NumGoroutine()
	for range 20 {
		use()
	}
	for range 200 {
		if len(list(t, "/proc/self/fd")) <= len(files) && runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := list(t, "/proc/self/fd"); len(now) > len(files) || runtime.NumGoroutine() > goroutines {
		t.Errorf("%d descriptors and %d goroutines, %d and %d before", len(now), runtime.NumGoroutine(), len(files), goroutines)
	}
	var spaces []string
	for _, thread := range list(t, "/proc/self/task") {
		if space, err := os.Readlink("/proc/self/task/" + thread + "/ns/net"); err == nil { // it may have ended
			spaces = append(spaces, space)
		}
	}
	slices.Sort(spaces)
	if spaces = slices.Compact(spaces); len(spaces) != 1 {
		t.Errorf("threads are in %q", spaces)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, _ := os.Readlink(dir + "/" + e.Name()); !strings.HasPrefix(target, "pipe:") { // of package net
			names = append(names, e.Name())
		}
	}
	return names
}
