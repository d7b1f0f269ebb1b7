package testenv

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"syscall"
)

// KernelLog is what the kernel has said since [ListenToKernel]. That of a machine to which
// nobody listens is nil.
type KernelLog struct{ fd int }

// ListenToKernel begins to listen; only root may.
func ListenToKernel() (*KernelLog, error) {
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_, err = syscall.Seek(fd, 0, io.SeekEnd)
	return &KernelLog{fd}, err
}

// Close stops listening.
func (l *KernelLog) Close() error { return syscall.Close(l.fd) }

// badNews are lines that a program must not be able to cause: of faults of the kernel's, and
// of memory that the whole machine ran out of.
var badNews = regexp.MustCompile(`(?i)\bBUG:|\bOops|WARNING: CPU|hung task|blocked for more than|general protection fault in|CONSTRAINT_NONE|page allocation failure|soft lockup|rcu.*stall`)

// BadNews are such lines since the last call.
func (l *KernelLog) BadNews() (found []string) {
	if l == nil {
		return nil
	}
	record := make([]byte, 8<<10)
	for {
		n, err := syscall.Read(l.fd, record)
		switch {
		case errors.Is(err, syscall.EPIPE): // overwritten before we came
			continue
		case err != nil || n <= 0:
			return found
		}
		if badNews.Match(record[:n]) {
			found = append(found, strings.TrimSpace(string(record[:n])))
		}
	}
}
