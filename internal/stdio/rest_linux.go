package stdio

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// hurry ends a read that waits, and all that come: see [rest].
func hurry(from io.Reader) {
	if f, ok := from.(*os.File); ok {
		_ = f.SetReadDeadline(time.Unix(1, 0)) // closed, or nobody waits for it
	}
}

// restOf is what a pipe or a terminal still holds after [hurry], or nil if it is neither.
func restOf(from io.Reader, held bool) io.Reader {
	f, ok := from.(*os.File)
	if !ok || f.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return &rest{raw: raw, held: held}
}

// rest reads what there is and waits for nothing. A terminal has nothing now and then while
// the kernel moves on what was written to it: only one that has nothing for a while is at its
// end.
type rest struct {
	raw   syscall.RawConn
	empty int  // reads in a row
	held  bool // see [Output.Held]
}

const (
	emptyMost  = 10
	emptyPause = 20 * time.Millisecond
)

// Read implements [io.Reader].
func (r *rest) Read(b []byte) (n int, err error) {
	for {
		waited := r.raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), b)
			return true
		})
		switch {
		case waited != nil:
			return 0, waited
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			if r.empty++; r.held || r.empty > emptyMost {
				return 0, io.EOF
			}
			<-time.After(emptyPause)
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		r.empty = 0
		return n, nil
	}
}
