package stdio_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/stdio"
)

// Everybody who could write is dead, and the other end of a pipe or a terminal is open
// still: what was written is all there is.
func TestOutputWithoutAnEnd(t *testing.T) {
	r, w := nonBlocking(t)
	master, slave := terminal(t)
	for _, c := range []struct {
		name string
		from *os.File
		to   io.Writer
		n    int
	}{
		{"a pipe", r, w, 60_000},
		{"a terminal", master, slave, 9000}, // more than it passes on at a time
	} {
		t.Run(c.name, func(t *testing.T) {
			said := bytes.Repeat([]byte("out\n"), c.n/4)
			var got bytes.Buffer
			o := stdio.Output{Fail: func() { t.Error("no writer has failed") }, Terminal: c.from == master}
			o.Copy(&got, c.from)
			if _, err := c.to.Write(said); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(o.Wait(), o.Lost()); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(got.Bytes(), said) {
				t.Errorf("%d bytes of %d", got.Len(), len(said))
			}
		})
	}
}

// What is no file of ours is seen to by who has it.
func TestOutputThatIsLate(t *testing.T) {
	r, w := io.Pipe()
	o := stdio.Output{Fail: func() {}, Late: func(<-chan struct{}) { w.Close() }}
	o.Copy(io.Discard, r)
	if err := o.Wait(); err != nil {
		t.Error(err)
	}
}

func nonBlocking(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// terminal is a terminal that changes nothing of what is written to it.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "terminal")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		t.Fatal(errno)
	}
	slave = os.NewFile(n, "terminal")
	t.Cleanup(func() { slave.Close() })
	modes, err := unix.IoctlGetTermios(int(n), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	modes.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(n), unix.TCSETS, modes); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// slow is a writer that takes long.
type slow struct{ bytes.Buffer }

func (s *slow) Write(b []byte) (int, error) {
	<-time.After(150 * time.Millisecond)
	return s.Buffer.Write(b)
}

// What was written by who is held now is all there is, at once, and all of it, even for one who takes long.
func TestOutputHeld(t *testing.T) {
	r, w := nonBlocking(t)
	empty, _ := nonBlocking(t)
	said := bytes.Repeat([]byte("out\n"), 15_000)
	var none bytes.Buffer
	var got slow
	o := stdio.Output{Fail: func() { t.Error("no writer has failed") }}
	o.Copy(&got, r)
	o.Copy(&none, empty)
	if _, err := w.Write(said); err != nil {
		t.Fatal(err)
	}
	o.Held()
	if err := errors.Join(o.Wait(), o.Lost()); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got.Bytes(), said) || none.Len() > 0 {
		t.Errorf("%d bytes of %d, and %d of none", got.Len(), len(said), none.Len())
	}
}
