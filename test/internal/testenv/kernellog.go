package testenv

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// KernelLog is what the kernel has said since [ListenToKernel]. That of a machine to which
// nobody listens is nil.
type KernelLog struct {
	fd  int
	end chan struct{}

	mu  sync.Mutex
	bad []string
}

// ListenToKernel begins to listen; only root may.
func ListenToKernel() (*KernelLog, error) {
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if _, err = syscall.Seek(fd, 0, io.SeekEnd); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	l := &KernelLog{fd: fd, end: make(chan struct{})}
	go l.follow()
	return l, nil
}

// follow reads on, so that a thousand lines about programs without memory do not overwrite
// what nobody has read yet.
func (l *KernelLog) follow() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-l.end:
			_ = syscall.Close(l.fd)
			return
		case <-tick.C:
			l.mu.Lock()
			l.read()
			l.mu.Unlock()
		}
	}
}

// Close stops listening.
func (l *KernelLog) Close() { close(l.end) }

// badNews are lines that a program must not be able to cause: of faults of the kernel's, and
// of memory that the whole machine ran out of.
var badNews = regexp.MustCompile(`(?i)\bBUG:|\bOops|WARNING: CPU|hung task|blocked for more than|general protection fault in|CONSTRAINT_NONE|page allocation failure|soft lockup|rcu.*stall`)

// BadNews are such lines since the last call.
func (l *KernelLog) BadNews() (found []string) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read()
	found, l.bad = l.bad, nil
	return found
}

// read reads what there is. The caller holds mu.
func (l *KernelLog) read() {
	record := make([]byte, 8<<10)
	for {
		n, err := syscall.Read(l.fd, record)
		switch {
		case errors.Is(err, syscall.EPIPE):
			l.bad = append(l.bad, "some of its lines were overwritten before anybody had read them")
		case err != nil || n <= 0:
			return
		case badNews.Match(record[:n]):
			l.bad = append(l.bad, strings.TrimSpace(string(record[:n])))
		}
	}
}
