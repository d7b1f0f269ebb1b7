package sandboxtest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// begun starts a script that says up, and waits until it has.
func (s *suite) begun(c sandbox.Container, script string) sandbox.Running {
	s.Helper()
	r, w := io.Pipe()
	p := shell(script)
	p.Stdout = w
	running, err := c.Start(s.Context(), p)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, len("up\n"))); err != nil {
		s.Fatal(err)
	}
	return running
}

// escapees are processes that do what they can to outlive their parent. One of them writes
// to the file beat as long as it lives, and has begun to.
func escapees(c sandbox.Container) string {
	const all = `
	setsid sh -c 'trap "" TERM HUP INT; while :; do echo x >> beat; sleep 0.02; done' &
	until test -s beat; do sleep 0.02; done
	sleep 1000 &
	setsid sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' &
	(setsid sh -c 'sleep 1000 & sleep 1000 &' &)
`
	if c.Isolation().Mechanisms["kernel"] == api.Enforced {
		return all // gVisor hangs up on a group with a stopped member, the parent included
	}
	return all + `sh -c 'kill -STOP $$' &
`
}

func (s *suite) leftovers() {
	c := s.create(s.spec())
	begin := time.Now()
	s.equal("stdout", s.sh(c, escapees(c)+"echo done").stdout, "done\n")
	if took := time.Since(begin); took > 100*time.Second {
		s.Errorf("the run took %v: it waited for what was left running", took)
	}
	s.nobodyIn(c)
}

// nobodyIn: the escapees of a container are dead.
func (s *suite) nobodyIn(c sandbox.Container) {
	s.Helper()
	var before, after int
	e := s.sh(c, "wc -c < beat; sleep 0.3; wc -c < beat")
	if _, err := fmt.Sscan(e.stdout, &before, &after); err != nil || before == 0 || after != before {
		s.Errorf("who has left the tree goes on writing: %q, %q, %v", e.stdout, e.stderr, err)
	}
	if c.Isolation().Level == sandbox.LevelFull {
		const count = "set -- /proc/[0-9]*; echo $#"
		s.equal("processes that are left", s.sh(c, count).stdout, s.sh(s.create(s.spec()), count).stdout)
	}
}

func (s *suite) killTree() {
	c := s.create(s.spec())
	running := s.begun(c, escapees(c)+"echo up; wait")
	if err := running.Kill(); err != nil {
		s.Error(err)
	}
	exit, err := running.Wait()
	if err != nil {
		s.Error(err)
	}
	s.equal("signal", exit.Signal, int(syscall.SIGKILL))
	if err := running.Kill(); err != nil {
		s.Errorf("killing what has ended: %v", err)
	}
	if err := running.Signal(syscall.SIGTERM); err != nil {
		s.Errorf("signalling what has ended: %v", err)
	}
	s.nobodyIn(c)
}

func (s *suite) deleteRunning() {
	c := s.create(s.spec())
	marked := fmt.Sprintf("sleep 1000.%d", time.Now().UnixNano())
	running := s.begun(c, escapees(c)+"setsid "+marked+" & echo up; wait")
	visible := false // which it never is on another machine, or on another kernel
	for deadline := time.Now().Add(2 * time.Second); !visible && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		visible = onHost(marked)
	}
	if err := c.Delete(s.Context()); err != nil {
		s.Error(err)
	}
	if visible && onHost(marked) {
		s.Error("a program of a deleted container is still there")
	}
	if exit, err := running.Wait(); err == nil && exit.Signal != int(syscall.SIGKILL) {
		s.Errorf("its program has ended with %+v", exit)
	}
	if err := c.Delete(s.Context()); err != nil {
		s.Errorf("deleting twice: %v", err)
	}
	if _, err := c.Start(s.Context(), shell("true")); err == nil {
		s.Error("a deleted container started a process")
	}
}

// onHost tells whether a process of this machine has this command line.
func onHost(command string) bool {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && strings.TrimSuffix(strings.ReplaceAll(string(line), "\x00", " "), " ") == command {
			return true
		}
	}
	return false
}
