// Package sandboxtest is the conformance suite that every runtime passes. A
// runtime's own test is a few lines that call [Run].
//
// The programs are shell scripts of the root, so that the suite depends on no
// language. What a runtime cannot do, by its [sandbox.Capabilities] or by the
// [sandbox.Isolation] of its containers, is skipped with that reason.
package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Options say what to test.
type Options struct {
	// Open opens the runtime; the suite closes it.
	Open func(t *testing.T) sandbox.Runtime
	// Level is the isolation that every container asks for.
	Level sandbox.Level
	// Image tells that containers have the root of an image, and not the host's
	// toolchains.
	Image bool
	// Ask is the image that every container asks for by name, if it has to.
	Ask string
	// OwnNamespaces tells that a container has one of its own of each kind, that of time
	// included. A lock on the file of any other is seen by all who are in it.
	OwnNamespaces bool
}

// Run runs the whole suite.
func Run(t *testing.T, opts Options) {
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"streams and exit codes", (*suite).streams},
		{"arguments, environment and directory", (*suite).surroundings},
		{"a program that does not exist", (*suite).startError},
		{"a signal ends it", (*suite).signaled},
		{"output arrives as it is written", (*suite).streaming},
		{"a slow reader slows the program", (*suite).backPressure},
		{"a writer that fails ends the run", (*suite).writeError},
		{"much output", (*suite).flood},
		{"input is streamed", (*suite).interactive},
		{"a terminal", (*suite).terminal},
		{"one process after the other", (*suite).sequence},
		{"what is left running dies", (*suite).leftovers},
		{"kill ends the whole tree", (*suite).killTree},
		{"delete ends a running program", (*suite).deleteRunning},
		{"files in and out", (*suite).files},
		{"planted links are not followed", (*suite).planted},
		{"directories of the host", (*suite).mounts},
		{"layers of mounts", (*suite).layers},
		{"the world inside", (*suite).worldInside},
		{"the host is out of sight", (*suite).hostInvisible},
		{"containers do not see each other", (*suite).apart},
		{"no lock is seen elsewhere", (*suite).locks},
		{"no network", (*suite).noNetwork},
		{"its own loopback", (*suite).loopback},
		{"an allow-list", (*suite).allowList},
		{"the public network", (*suite).fullNetwork},
		{"a network for each process", (*suite).processNetwork},
		{"last words on the network", (*suite).lastWords},
		{"networks that cannot be meant", (*suite).networkErrors},
		{"memory limit", (*suite).memory},
		{"process limit", (*suite).processes},
		{"disk limit", (*suite).disk},
		{"a workspace on disk", (*suite).onDisk},
		{"open files limit", (*suite).openFiles},
		{"metrics", (*suite).metrics},
		{"sixteen at once", (*suite).concurrent},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rt := opts.Open(t)
			t.Cleanup(func() {
				if err := rt.Close(); err != nil {
					t.Errorf("close the runtime: %v", err)
				}
			})
			test.run(&suite{T: t, rt: rt, level: opts.Level, image: opts.Image, ask: opts.Ask, ownNamespaces: opts.OwnNamespaces})
		})
	}
}

// suite is one test of the suite.
type suite struct {
	*testing.T
	rt    sandbox.Runtime
	level sandbox.Level
	image bool
	ask   string
	// ownNamespaces is that of the options.
	ownNamespaces bool
}

// environment is what every program here gets.
var environment = []string{"PATH=/usr/bin:/bin", "HOME=" + sandbox.WorkspaceDir, "LANG=C.UTF-8"}

func (s *suite) spec() sandbox.Spec {
	return sandbox.Spec{Tenant: "conformance", Level: s.level, Image: s.ask, Disk: sandbox.DiskLimit{Bytes: 32 << 20, Inodes: 2000}}
}

func (s *suite) create(spec sandbox.Spec) sandbox.Container {
	s.Helper()
	c, err := s.rt.Create(s.Context(), spec)
	var unsupported *sandbox.UnsupportedError
	if errors.As(err, &unsupported) {
		s.Skipf("this runtime says: %v", err)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := c.Delete(context.Background()); err != nil {
			s.Errorf("delete: %v", err)
		}
	})
	return c
}

// held skips a test whose limit the runtime does not hold.
func (s *suite) held(c sandbox.Container, limit string, states ...string) {
	s.Helper()
	got := c.Isolation().Limits[limit]
	for _, state := range append(states, api.Enforced) {
		if got == state {
			return
		}
	}
	s.Skipf("the %s limit is %s here", limit, got)
}

func shell(script string) sandbox.Process {
	return sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Env: environment}
}

// ended is a process that has ended.
type ended struct {
	sandbox.Exit
	stdout, stderr string
}

func (s *suite) run(c sandbox.Container, p sandbox.Process) ended {
	s.Helper()
	var stdout, stderr bytes.Buffer
	if p.Stdout == nil {
		p.Stdout = &stdout
	}
	if p.Stderr == nil {
		p.Stderr = &stderr
	}
	running, err := c.Start(s.Context(), p)
	if err != nil {
		s.Fatalf("start: %v", err)
	}
	exit, err := running.Wait()
	if err != nil {
		s.Fatalf("wait: %v", err)
	}
	return ended{exit, stdout.String(), stderr.String()}
}

func (s *suite) sh(c sandbox.Container, script string) ended {
	s.Helper()
	return s.run(c, shell(script))
}

func (s *suite) equal(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Errorf("%s is %#v, want %#v", what, got, want)
	}
}

func (s *suite) streams() {
	e := s.sh(s.create(s.spec()), "echo out; echo err >&2; exit 7")
	s.equal("stdout", e.stdout, "out\n")
	s.equal("stderr", e.stderr, "err\n")
	s.equal("exit code", e.Code, 7)
	s.equal("signal", e.Signal, 0)
}

func (s *suite) surroundings() {
	c := s.create(s.spec())
	p := shell(`printf '%s|' "$@" "$GREETING"; pwd`)
	p.Args = append(p.Args, "sh", "a b", "", "--c", "héllo 🦀")
	p.Env = append(p.Env, "GREETING=grüß")
	p.Dir = sandbox.TempDir
	e := s.run(c, p)
	if !strings.HasPrefix(e.stdout, "a b||--c|héllo 🦀|grüß|") {
		s.Errorf("stdout is %q", e.stdout)
	}
	if c.Isolation().Level == sandbox.LevelFull {
		s.equal("environment", s.sh(c, "env | sort").stdout, "HOME=/workspace\nLANG=C.UTF-8\nPATH=/usr/bin:/bin\nPWD=/workspace\n")
	}
}

func (s *suite) startError() {
	c := s.create(s.spec())
	for _, program := range []string{"/no/such/program", "no-such-program", sandbox.WorkspaceDir} {
		_, err := c.Start(s.Context(), sandbox.Process{Args: []string{program}, Env: environment})
		var start *sandbox.StartError
		if !errors.As(err, &start) {
			s.Errorf("starting %s: %v, want a StartError", program, err)
		}
		if missing := program != sandbox.WorkspaceDir; errors.Is(err, fs.ErrNotExist) != missing {
			s.Errorf("starting %s: %v, and that there is no such program is %v", program, err, !missing)
		}
	}
	s.equal("stdout of the next one", s.sh(c, "echo fine").stdout, "fine\n")
}

func (s *suite) signaled() {
	e := s.sh(s.create(s.spec()), "echo before; kill -9 $$; echo after")
	s.equal("stdout", e.stdout, "before\n")
	s.equal("signal", e.Signal, int(syscall.SIGKILL))
	s.equal("exit code", e.Code, 128+int(syscall.SIGKILL))
	s.equal("OOM kills", e.OOMKills, int64(0))
}

func (s *suite) streaming() {
	c := s.create(s.spec())
	r, w := io.Pipe()
	p := shell("echo first; read line; echo second")
	stdin, feed := io.Pipe()
	p.Stdin, p.Stdout = stdin, w
	running, err := c.Start(s.Context(), p)
	if err != nil {
		s.Fatal(err)
	}
	buf := make([]byte, 100)
	n, _ := r.Read(buf) // the program waits for us: its output must be here
	s.equal("first read", string(buf[:n]), "first\n")
	go func() { fmt.Fprintln(feed, "go on"); feed.Close() }()
	n, _ = r.Read(buf)
	s.equal("second read", string(buf[:n]), "second\n")
	if _, err := running.Wait(); err != nil {
		s.Error(err)
	}
}

// gate is a writer that lets nothing through until it is opened.
type gate struct {
	open chan struct{}
	n    int64
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.n += int64(len(b))
	return len(b), nil
}

func (s *suite) backPressure() {
	c := s.create(s.spec())
	g := &gate{open: make(chan struct{})}
	// What the program says on stderr is written after its whole output.
	p := shell("head -c 4000000 /dev/zero; echo written >&2")
	var stderr syncBuffer
	p.Stdout, p.Stderr = g, &stderr
	running, err := c.Start(s.Context(), p)
	if err != nil {
		s.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	s.equal("stderr while nobody reads", stderr.String(), "")
	close(g.open)
	if _, err := running.Wait(); err != nil {
		s.Error(err)
	}
	s.equal("bytes", g.n, int64(4000000))
	s.equal("stderr in the end", stderr.String(), "written\n")
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// quota fails after some bytes.
type quota struct{ left int }

var errQuota = errors.New("that is enough")

func (q *quota) Write(b []byte) (int, error) {
	if q.left -= len(b); q.left < 0 {
		return 0, errQuota
	}
	return len(b), nil
}

func (s *suite) writeError() {
	p := shell("trap '' TERM PIPE; while :; do echo xxxxxxxxxxxxxxxxxxxxxx; done")
	p.Stdout = &quota{10_000}
	e := s.run(s.create(s.spec()), p)
	if !errors.Is(e.WriteError, errQuota) {
		s.Errorf("write error %v, want %v", e.WriteError, errQuota)
	}
}

// counter counts bytes.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

func (s *suite) flood() {
	var out counter
	const much = 128 << 20
	p := shell(fmt.Sprintf("head -c %d /dev/zero", much))
	p.Stdout = &out
	s.run(s.create(s.spec()), p)
	s.equal("bytes", out.n, int64(much))
}

func (s *suite) interactive() {
	p := shell(`while read -r line; do echo "<$line>"; done; echo end`)
	p.Stdin = strings.NewReader("one\ntwo\n")
	s.equal("stdout", s.run(s.create(s.spec()), p).stdout, "<one>\n<two>\nend\n")
	s.equal("stdout without input", s.sh(s.create(s.spec()), "cat; echo end").stdout, "end\n")
}

func (s *suite) terminal() {
	c := s.create(s.spec())
	p := shell(`test -t 0 && test -t 1 && test -t 2 && stty size && read line && echo "got $line" > "$1"`)
	p.Args = append(p.Args, "sh", "/dev/tty")
	if c.Isolation().Mechanisms["kernel"] == api.Enforced {
		p.Args[len(p.Args)-1] = "/dev/stdout" // gVisor has no /dev/tty before 2023
	}
	p.TTY = &sandbox.TTY{Rows: 33, Cols: 99}
	p.Stdin = strings.NewReader("hi\n")
	e := s.run(c, p)
	if !strings.Contains(e.stdout, "33 99\r\n") || !strings.Contains(e.stdout, "got hi\r\n") {
		s.Errorf("the terminal shows %q (exit code %d)", e.stdout, e.Code)
	}
}

func (s *suite) sequence() {
	c := s.create(s.spec())
	s.sh(c, "echo 1 > a; mkdir d")
	s.equal("stdout", s.sh(c, "cat a; test -d d && echo d").stdout, "1\nd\n")
	running, err := c.Start(s.Context(), shell("sleep 1000"))
	if err != nil {
		s.Fatal(err)
	}
	if _, err := c.Start(s.Context(), shell("true")); err == nil {
		s.Error("two processes at a time were allowed")
	}
	if err := running.Kill(); err != nil {
		s.Error(err)
	}
	if _, err := running.Wait(); err != nil {
		s.Error(err)
	}
}

func (s *suite) concurrent() {
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			c, err := s.rt.Create(s.Context(), s.spec())
			if err != nil {
				s.Error(err)
				return
			}
			defer c.Delete(context.Background())
			var out bytes.Buffer
			p := shell(fmt.Sprintf("echo %d > n; sleep 0.1; cat n; set -- *; echo $#", i))
			p.Stdout = &out
			running, err := c.Start(s.Context(), p)
			if err != nil {
				s.Error(err)
				return
			}
			if _, err := running.Wait(); err != nil {
				s.Error(err)
			}
			s.equal("stdout", out.String(), fmt.Sprintf("%d\n1\n", i))
		})
	}
	all.Wait()
}
