package sandboxtest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// hostServer answers every connection to the host's loopback with hello and
// what it was sent, up to the end of a line, and returns its port.
func (s *suite) hostServer() (port string, heard <-chan string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	lines := make(chan string, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			lines <- line
			fmt.Fprintf(conn, "hello %s", line)
			conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, lines
}

// client is a program that connects to HOST PORT, says a line and prints what
// comes back, or how that failed.
const client = `command -v python3 >/dev/null || exit 99
exec python3 -S - "$@" <<'END'
import socket, sys
for host, port in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        with socket.create_connection((host, int(port)), timeout=20) as conn:
            conn.sendall(b"you\n")
            print(conn.makefile().read().strip())
    except OSError as e:
        print(type(e).__name__)
END`

// connects runs the client in a container, with the network of the container or
// one for itself.
func (s *suite) connects(c sandbox.Container, network *sandbox.NetworkPolicy, hostsAndPorts ...string) ended {
	s.Helper()
	p := shell(client)
	p.Args = append(append(p.Args, "sh"), hostsAndPorts...)
	p.Network = network
	e := s.run(c, p)
	if e.Code == 99 {
		s.Skip("no python3 in the root to make connections with")
	}
	return e
}

// hostName is the host's loopback for programs.
const hostName = "host.docker.internal"

// allowed is a network in which the host's server alone may be reached.
func allowed(port string) sandbox.NetworkPolicy {
	return sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"localhost:" + port}}
}

// leadsOut makes a container with a network. At restricted it is degraded by
// what the container does not have: a loopback and UDP of its own.
func (s *suite) leadsOut(p sandbox.NetworkPolicy) sandbox.Container {
	s.Helper()
	spec := s.spec()
	spec.Network = p
	c := s.create(spec)
	i := c.Isolation()
	want := api.Enforced
	if i.Level == sandbox.LevelRestricted {
		want = api.Degraded
	}
	if state := i.Mechanisms["network"]; state != want {
		s.Skipf("the network is %s here: %q", state, i.Warnings)
	}
	return c
}

// ownLoopback tells whether 127.0.0.1 is the container's and not the host's.
func ownLoopback(c sandbox.Container) bool { return c.Isolation().Level == sandbox.LevelFull }

func (s *suite) allowList() {
	port, _ := s.hostServer()
	c := s.leadsOut(allowed(port))
	e := s.connects(c, nil, hostName, port, hostName, "1", "169.254.169.254", "80", "denied.example", port, "127.0.0.1", port)
	last, connections := "ConnectionRefusedError", int64(1)
	if !ownLoopback(c) { // it is the host's port, which is allowed
		last, connections = "hello you", 2
	}
	s.equal("stdout", e.stdout, "hello you\nConnectionResetError\nConnectionResetError\ngaierror\n"+last+"\n")
	s.violations(e, hostName+":1 refused", "169.254.169.254:80 refused", "denied.example refused")
	if n := e.Network; n.Connections != connections || n.BytesSent != 4*connections || n.BytesReceived != 10*connections || len(n.Failures)+len(n.Queries) > 0 {
		s.Errorf("the use of the network is %+v", n)
	}
	again := s.connects(c, nil, hostName, port)
	s.equal("stdout of the next one", again.stdout, "hello you\n")
	s.violations(again)
}

// violations holds what was denied, each once and in any order, against parts of
// lines.
func (s *suite) violations(e ended, want ...string) {
	s.Helper()
	left := slices.Clone(e.Violations)
	for _, part := range want {
		i := slices.IndexFunc(left, func(line string) bool { return strings.Contains(line, part) })
		if i < 0 {
			s.Errorf("no violation says %q: %q", part, e.Violations)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		s.Errorf("violations that nobody expects: %q", left)
	}
}

// fullNetwork: what is private is closed unless it is named, in this mode too.
func (s *suite) fullNetwork() {
	port, _ := s.hostServer()
	c := s.leadsOut(sandbox.NetworkPolicy{Mode: sandbox.NetworkFull, Allow: []string{"127.0.0.1:" + port}})
	e := s.connects(c, nil, hostName, port, hostName, "1", "10.0.0.1", "80", "169.254.169.254", "80")
	s.equal("stdout", e.stdout, "hello you\n"+strings.Repeat("ConnectionResetError\n", 3))
	s.violations(e, hostName+":1 refused", "10.0.0.1:80 refused", "169.254.169.254:80 refused")
}

// processNetwork: each process has its own, and none has more than the
// container.
func (s *suite) processNetwork() {
	port, _ := s.hostServer()
	c := s.leadsOut(allowed(port))
	none, own, wider := sandbox.NetworkPolicy{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}, allowed("1")
	nothing := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist}
	same := allowed(port)
	for range 2 {
		s.equal("stdout without a network", s.connects(c, &none, "127.0.0.1", "1", hostName, port).stdout, "OSError\ngaierror\n")
		if ownLoopback(c) {
			s.equal("stdout with a loopback", s.connects(c, &own, "127.0.0.1", "1").stdout, "ConnectionRefusedError\n")
		} else {
			s.refusesToStart(c, own)
		}
		e := s.connects(c, &nothing, hostName, port)
		s.equal("stdout with nothing allowed", e.stdout, "gaierror\n")
		s.violations(e, hostName+" refused")
		e = s.connects(c, &same, hostName, port)
		s.equal("stdout with all of it", e.stdout, "hello you\n")
		s.violations(e)
	}
	s.refusesToStart(c, wider, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, sandbox.NetworkPolicy{Mode: "everything"}, sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"://"}})
	closed := s.create(s.spec())
	s.refusesToStart(closed, same, own, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull})
	s.equal("stdout of the next one", s.sh(closed, "echo fine").stdout, "fine\n")
}

// refusesToStart: a container starts no process with these networks.
func (s *suite) refusesToStart(c sandbox.Container, networks ...sandbox.NetworkPolicy) {
	s.Helper()
	for _, p := range networks {
		process := shell("true")
		process.Network = &p
		if _, err := c.Start(s.Context(), process); err == nil {
			s.Errorf("a process got the network %+v", p)
		}
	}
}

// lastWords: what a program has sent when it ends arrives all the same, and what
// it has tried is told.
func (s *suite) lastWords() {
	const connections = 50
	port, heard := s.hostServer()
	c := s.leadsOut(allowed(port))
	e := s.sh(c, fmt.Sprintf(`command -v python3 >/dev/null || exit 99
exec python3 -S -c '
import os, socket
address = socket.gethostbyname("%s")
open = []
for i in range(%d):
    open += [socket.socket(), socket.socket()]
    open[-2].connect_ex(("169.254.169.254", i + 1)) # which may notice that it is refused
    open[-1].connect((address, %s))
    open[-1].sendall(b"last words\n")
os._exit(0)'`, hostName, connections, port))
	if e.Code == 99 {
		s.Skip("no python3 in the root to make connections with")
	}
	s.equal("exit code", e.Code, 0)
	s.equal("violations", len(e.Violations), connections)
	s.equal("connections", e.Network.Connections, int64(connections))
	late := time.After(20 * time.Second)
	for i := range connections {
		select {
		case line := <-heard:
			s.equal("what the server heard", line, "last words\n")
		case <-late:
			s.Fatalf("the server heard %d of %d", i, connections)
		}
	}
}

// networkErrors: a policy that cannot be meant is the request's fault.
func (s *suite) networkErrors() {
	for field, p := range map[string]sandbox.NetworkPolicy{
		"mode":      {Mode: "everything"},
		"allow":     {Mode: sandbox.NetworkNone, Allow: []string{"example.org"}},
		"allow_dns": {Mode: sandbox.NetworkLocalhost, AllowDNS: true},
	} {
		spec := s.spec()
		spec.Network = p
		_, err := s.rt.Create(s.Context(), spec)
		var fault *sandbox.NetworkError
		if !errors.As(err, &fault) || fault.Field != field {
			s.Errorf("%+v: %v, want a fault of %s", p, err, field)
		}
	}
	spec := s.spec()
	spec.Network.Allow = []string{"example.org", "http://example.org"}
	_, err := s.rt.Create(s.Context(), spec)
	var unsupported *sandbox.UnsupportedError
	if errors.As(err, &unsupported) {
		s.Skipf("this runtime says: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), `"http://example.org"`) {
		s.Errorf("error %v, want one that names the entry", err)
	}
}
