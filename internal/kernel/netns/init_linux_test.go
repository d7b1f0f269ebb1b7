package netns_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/relay"
	"github.com/sandbox-run/sandbox-run/internal/relay/relaytest"
)

// appendSocket has an init make a socket.
func appendSocket(p *spawn.Program, s netns.Socket) spawn.Arg {
	fd := p.Call("make "+s.Name, unix.SYS_SOCKET, spawn.Value(s.Family), spawn.Value(s.Type|unix.SOCK_CLOEXEC), spawn.Value(s.Protocol)).Save()
	for _, o := range s.Options {
		value := p.Bytes(binary.NativeEndian.AppendUint32(nil, uint32(o.Value)))
		p.Call("set up "+s.Name, unix.SYS_SETSOCKOPT, fd, spawn.Value(o.Level), spawn.Value(o.Name), value, spawn.Value(4))
	}
	if s.Address != nil {
		p.Call("bind "+s.Name, unix.SYS_BIND, fd, p.Bytes(s.Address), spawn.Value(len(s.Address)))
	}
	if s.Backlog > 0 {
		p.Call("listen on "+s.Name, unix.SYS_LISTEN, fd, spawn.Value(s.Backlog))
	}
	return fd
}

// newInit is an init in a network namespace, and in a user namespace where we
// are an ordinary user.
func newInit(t *testing.T) *spawn.Init {
	t.Helper()
	spawner, err := spawn.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { spawner.Close() })
	flags := uintptr(unix.CLONE_NEWNET | unix.CLONE_NEWPID)
	if os.Geteuid() != 0 {
		flags |= unix.CLONE_NEWUSER
	}
	init, err := spawner.Fork(spawn.Namespaced{Flags: flags})
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) {
		t.Skipf("needs a network namespace: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { init.Kill(); init.Close(); init.Pidfd.Close() })
	if os.Geteuid() == 0 {
		return init
	}
	var p spawn.Program
	p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(1))
	if _, err := init.Do(&p); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct{ name, content string }{
		{"uid_map", fmt.Sprintf("0 %d 1", os.Geteuid())}, {"setgroups", "deny"}, {"gid_map", fmt.Sprintf("0 %d 1", os.Getegid())},
	} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", init.PID, f.name), []byte(f.content), 0); err != nil {
			t.Fatal(err)
		}
	}
	return init
}

// The order of things in a container: sockets and settings first, then the
// programs' own user namespace. What was made before keeps its rights.
func TestThroughInit(t *testing.T) {
	port := relaytest.NewGreeter(t).Port
	init := newInit(t)
	var p spawn.Program
	var fds []spawn.Arg
	for _, s := range append([]netns.Socket{netns.RouteSocket(), netns.FilterSocket()}, netns.ListenSockets()...) {
		fds = append(fds, appendSocket(&p, s))
	}
	p.SendFiles(fds...)
	for _, fd := range fds {
		p.Call("close", unix.SYS_CLOSE, fd)
	}
	p.Call("create the inner user namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWUSER))
	reply, err := init.Do(&p)
	if err != nil || len(reply.Files) != len(fds) {
		t.Fatal(len(reply.Files), err)
	}
	defer reply.Files[0].Close()
	defer reply.Files[1].Close()
	if err := netns.RouteAll(reply.Files[0]); err != nil {
		t.Fatal(err)
	}
	mustRedirect(t, reply.Files[1])
	r := relay.New(t.Context(), allowed(t, port))
	defer r.Close()
	udp, err := netns.UDPConn(reply.Files[2])
	if err != nil {
		t.Fatal(err)
	}
	r.ServeUDP(udp)
	l, err := netns.Listener(reply.Files[3])
	if err != nil {
		t.Fatal(err)
	}
	r.Serve(l)
	if got := runIn(t, init, "ask", "udp", "198.18.0.1:53", "1", "allowed.test"); got != "Success 198.18.0.2" {
		t.Error(got)
	}
	if got := runIn(t, init, "get", "http://198.18.0.2:"+port); got != "hello 198.18.0.2:"+port {
		t.Error(got)
	}
	if got := runIn(t, init, "udp", "1.1.1.1:443"); got != "EPERM" {
		t.Error(got)
	}
	mustRefuse(t, reply.Files[1], "udp to 1.1.1.1:443")
}

// runIn has an init start a copy of this test's binary and returns its output.
func runIn(t *testing.T, init *spawn.Init, args ...string) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var p spawn.Program
	program, out := p.File(int(self.Fd())), p.File(int(w.Fd()))
	p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(uintptr(unix.CLONE_VFORK) | uintptr(unix.SIGCHLD)), spawn.Value(0)}, func() {
		p.Call("dup3", unix.SYS_DUP3, out, spawn.FD(1), spawn.Value(0))
		p.Call("execveat", unix.SYS_EXECVEAT, program, p.String(""), p.Strings(append([]string{"deed"}, args...)),
			p.Strings([]string{deedEnv + "=1", "GOMAXPROCS=1"}), spawn.Value(unix.AT_EMPTY_PATH))
	})
	reply, err := init.Do(&p)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := init.Wait(reply.PID); err != nil || exit.Status != 0 {
		t.Errorf("%q: %+v, %v", args, exit, err)
	}
	return string(b)
}
