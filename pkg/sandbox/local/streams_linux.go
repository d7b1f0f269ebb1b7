package local

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/stdio"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// streams are the pipes between a program and its caller. The program never
// gets a descriptor of the caller's own: through one it could reopen a file for
// writing, lock it, or type into a terminal.
type streams struct {
	theirs [3]int // descriptors for the program, -1: /dev/null
	stdin  *os.File
	stdout *os.File // or the terminal
	stderr *os.File
	output stdio.Output
}

// openStreams makes the pipes that the process needs.
func openStreams(p sandbox.Process, owner int) (_ *streams, err error) {
	s := &streams{theirs: [3]int{-1, -1, -1}}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if p.TTY != nil {
		return s, nil // the container makes the terminal
	}
	if p.Stdin != nil {
		if s.theirs[0], s.stdin, err = pipe(1, owner); err != nil {
			return nil, err
		}
	}
	if p.Stdout != nil {
		if s.theirs[1], s.stdout, err = pipe(0, owner); err != nil {
			return nil, err
		}
	}
	if p.Stderr != nil {
		if s.theirs[2], s.stderr, err = pipe(0, owner); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// pipe makes a pipe of which end `ours` is non-blocking and stays here.
func pipe(ours, owner int) (theirs int, file *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, nil, fmt.Errorf("make a pipe: %w", err)
	}
	if owner > 0 {
		// So that the program may open /dev/stdout.
		_ = unix.Fchown(fds[1-ours], owner, owner)
	}
	if err := unix.SetNonblock(fds[ours], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return -1, nil, fmt.Errorf("set O_NONBLOCK on a pipe: %w", err)
	}
	return fds[1-ours], os.NewFile(uintptr(fds[ours]), "pipe"), nil
}

// without gives up the pipes that p has no use for. It tells which those are, and how to close our
// ends of them.
func (s *streams) without(p sandbox.Process) (missing []int, closeOurs func()) {
	var ours []*os.File
	for i, stream := range []struct {
		wanted bool
		pipe   **os.File
	}{{p.Stdin != nil, &s.stdin}, {p.Stdout != nil, &s.stdout}, {p.Stderr != nil, &s.stderr}} {
		if !stream.wanted {
			ours = append(ours, *stream.pipe)
			*stream.pipe = nil
			missing = append(missing, i)
		}
	}
	return missing, func() { closeFiles(ours) }
}

// closeTheirs closes our copies of the program's ends.
func (s *streams) closeTheirs() {
	for i, fd := range s.theirs {
		if fd >= 0 {
			unix.Close(fd)
			s.theirs[i] = -1
		}
	}
}

func (s *streams) close() {
	s.closeTheirs()
	for _, f := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if f != nil {
			f.Close()
		}
	}
}

// start begins to copy. fail is called once when a writer fails.
func (s *streams) start(p sandbox.Process, fail func()) {
	s.output.Fail, s.output.Terminal = fail, p.TTY != nil
	if s.stdin != nil {
		s.output.Feed(s.stdin, p.Stdin)
	}
	if s.stdout != nil && p.Stdout != nil {
		s.output.Copy(p.Stdout, s.stdout)
	}
	if s.stderr != nil {
		s.output.Copy(p.Stderr, s.stderr)
	}
}

// finish waits until everything that was written has been copied. Every writer
// must be dead by then, or held, and gets no more input. lost is what a pipe failed to carry. Who calls it
// closes the rest.
func (s *streams) finish(held bool) (failed, lost error) {
	if held {
		s.output.Held()
	}
	failed, lost = s.output.Wait(), s.output.Lost()
	if s.stdin != nil && s.stdin != s.stdout {
		s.stdin.Close()
	}
	return failed, lost
}

var errRunning = errors.New("a process is running in this container")
