package testenv

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Tracer is strace at work on a process, on all its threads and on what it forks.
type Tracer struct {
	strace *exec.Cmd
	log    string
}

// Trace attaches strace to a process, with further arguments; what it sees goes to a file of
// that name.
func Trace(pid int, log string, args ...string) (*Tracer, error) {
	tr := &Tracer{log: log}
	tr.strace = exec.Command("strace", append([]string{"-f", "-o", log, "-p", fmt.Sprint(pid)}, args...)...)
	tr.strace.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := tr.strace.StderrPipe()
	if err == nil {
		err = tr.strace.Start()
	}
	if err != nil {
		return nil, err
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
			return nil, fmt.Errorf("strace: %s", line)
		}
	case <-time.After(20 * time.Second):
		_ = tr.strace.Process.Kill()
		return nil, errors.New("strace does not attach")
	}
	return tr, nil
}

// Stop lets the process go, and returns what strace has written.
func (tr *Tracer) Stop() (string, error) {
	ended := make(chan struct{})
	go func() {
		_ = tr.strace.Wait() // it says by which signal it ended
		close(ended)
	}()
	// A signal that comes right before it waits for its tracees is lost on it.
	if !Within(2*time.Second, func() bool {
		_ = tr.strace.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}) {
		_ = tr.strace.Process.Kill() // the kernel lets go then
		<-ended
	}
	content, err := os.ReadFile(tr.log)
	return string(content), err
}
