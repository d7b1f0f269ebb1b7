package faults

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// fault is one way in which one system call does not work.
type fault struct {
	call  string
	how   string // as strace has it, such as error=EIO
	which string // of the calls that each thread makes: 3, or 2+ for all from there on
}

func (f fault) String() string { return f.call + " " + f.how + " " + f.which }

// injection is a tracer at work.
type injection struct {
	strace *exec.Cmd
	log    string
}

// inject has calls of a process, of all its threads and of those that it forks from now
// on fail.
func inject(t *testing.T, pid int, f fault) *injection {
	t.Helper()
	i := &injection{log: filepath.Join(t.TempDir(), "trace")}
	i.strace = exec.Command("strace", "-f", "-yy", "-s", "80", "-o", i.log, "-e", "trace=execve,"+f.call,
		"-e", "inject="+f.call+":"+f.how+":when="+f.which, "-p", fmt.Sprint(pid))
	i.strace.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := i.strace.StderrPipe()
	if err == nil {
		err = i.strace.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	attached := make(chan string, 1)
	go func() {
		for lines.Scan() {
			select {
			case attached <- lines.Text():
			default: // the rest says who was let go
			}
		}
		close(attached)
	}()
	select {
	case line, ok := <-attached:
		if !ok || !strings.Contains(line, "attached") {
			t.Fatalf("strace: %s", line)
		}
	case <-time.After(20 * time.Second):
		_ = i.strace.Process.Kill()
		t.Fatal("strace does not attach")
	}
	return i
}

// stop lets the process go, and returns the lines of calls that failed.
func (i *injection) stop(t *testing.T) trace {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = i.strace.Wait() // it says by which signal it ended
		close(ended)
	}()
	// A signal that comes right before it waits for its tracees is lost on it.
	if !testenv.Within(2*time.Second, func() bool {
		_ = i.strace.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}) {
		_ = i.strace.Process.Kill() // the kernel lets go then
		<-ended
	}
	content, err := os.ReadFile(i.log)
	if err != nil {
		t.Fatal(err)
	}
	return readTrace(string(content))
}

// trace is what a tracer has seen.
type trace struct {
	failed   []string // calls that were made to fail
	programs int      // of these, those of programs in containers, who may do with it what they like
}

var traceLine = regexp.MustCompile(`^(\d+) +(.*)$`)

func readTrace(text string) (tr trace) {
	executed, begun := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(text) {
		m := traceLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if call, ok := strings.CutSuffix(m[2], "<unfinished ...>"); ok {
			begun[m[1]] = call
		}
		if _, rest, ok := strings.Cut(m[2], "resumed>"); ok {
			m[2] = begun[m[1]] + rest
		}
		switch {
		case strings.Contains(m[2], "(INJECTED)"):
			tr.failed = append(tr.failed, m[2])
			if executed[m[1]] {
				tr.programs++
			}
		case strings.Contains(m[2], "execve") && strings.HasSuffix(m[2], "= 0"):
			executed[m[1]] = true
		}
	}
	return tr
}

// broke tells whether a call failed that leads to the caller: then there may be no answer.
func (tr trace) broke() bool {
	return slices.ContainsFunc(tr.failed, func(line string) bool {
		return strings.Contains(line, "<TCP:") || strings.Contains(line, "<TCPv6:") || strings.Contains(line, "accept4")
	})
}
