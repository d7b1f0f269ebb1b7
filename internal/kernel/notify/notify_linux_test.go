package notify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestReturnAndFail(t *testing.T) {
	p := start(t, "ask 1 2 3")
	call := p.receive()
	if call.Thread != p.cmd.Process.Pid && !isThread(p.cmd.Process.Pid, call.Thread) || call.Number != unix.SYS_CONNECT || call.Args != [6]uint64{1, 2, 3} {
		t.Errorf("%+v of process %d", call, p.cmd.Process.Pid)
	}
	if err := p.listener.Return(call, 42); err != nil {
		t.Error(err)
	}
	p.hears(42, 0)
	if err := p.listener.Return(call, 43); err != nil {
		t.Errorf("an answer to a call that was answered: %v", err)
	}
	p = start(t, "ask")
	if err := p.listener.Fail(p.receive(), unix.EHOSTUNREACH); err != nil {
		t.Error(err)
	}
	p.hears(uint(1<<64-1), int(unix.EHOSTUNREACH))
}

func isThread(pid, tid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, tid))
	return err == nil
}

// A call is its thread's, and so is what is read of it.
func TestThread(t *testing.T) {
	p := start(t, "threads")
	call := p.receive()
	if call.Thread != int(call.Args[0]) {
		t.Errorf("thread %d, want %d", call.Thread, call.Args[0])
	}
	if _, err := p.listener.Descriptor(call, 0); err != nil {
		t.Error(err)
	}
	_ = p.listener.Return(call, 0)
	p.hears(true)
	p.hears(0, 0)
}

func TestInstall(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		for _, cloexec := range []bool{true, false} {
			p := start(t, "replace "+map[bool]string{true: "0", false: "1"}[inPlace])
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			call, at := p.receive(), -1
			if inPlace {
				at = int(call.Args[0])
			}
			n, err := p.listener.Install(call, int(w.Fd()), at, cloexec)
			w.Close()
			if err != nil || inPlace && n != at {
				t.Errorf("descriptor %d in place of %d, %v", n, at, err)
			}
			if err := p.listener.Return(call, int64(n)); err != nil {
				t.Error(err)
			}
			p.hears(inPlace, cloexec, nil)
			if line, err := bufio.NewReader(r).ReadString('\n'); line != "hello\n" {
				t.Errorf("what was installed says %q, %v", line, err)
			}
			r.Close()
		}
	}
}

// What a program has no room for is its own fault.
func TestInstallHasNoRoom(t *testing.T) {
	p := start(t, "ask")
	call := p.receive()
	none := &unix.Rlimit{Cur: 3, Max: 3}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, none, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.listener.Install(call, 0, -1, true); err != unix.EMFILE {
		t.Errorf("error %v, want %v", err, unix.EMFILE)
	}
	if _, err := p.listener.Install(call, 1<<20, -1, true); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("a descriptor that we do not have: %v", err)
	}
	_ = p.listener.Return(call, 0)
	p.hears(0, 0)
}

func TestRead(t *testing.T) {
	p := start(t, "memory")
	const text = "what the program says"
	for i, want := range []struct {
		n    int
		err  error
		text string
	}{
		{len(text), nil, text}, {2, unix.EFAULT, ""}, {1, unix.EFAULT, ""}, {1, unix.EFAULT, ""}, {1, unix.EFAULT, ""},
	} {
		call := p.receive()
		b := make([]byte, want.n)
		err := p.listener.Read(call, call.Args[1], b)
		if err != want.err || err == nil && string(b) != want.text {
			t.Errorf("address %d: %q, %v", i, b, err)
		}
		if err := p.listener.Return(call, 0); err != nil {
			t.Error(err)
		}
	}
}

func TestReadString(t *testing.T) {
	p := start(t, "strings")
	for i, want := range []struct {
		text string
		size int
		err  error
	}{
		{"one", 100, nil}, {"", 1, nil}, {"", 3, unix.ENAMETOOLONG}, {"across", 7, nil}, {"", 100, unix.EFAULT},
	} {
		call := p.receive()
		if text, err := p.listener.ReadString(call, call.Args[1], want.size); text != want.text || err != want.err {
			t.Errorf("string %d: %q, %v, want %q, %v", i, text, err, want.text, want.err)
		}
		_ = p.listener.Return(call, 0)
	}
}

func TestOpen(t *testing.T) {
	p := start(t, "files")
	for i, want := range []struct {
		path string
		err  error
	}{
		{"/", nil}, {"/proc", nil}, {"", unix.EBADF}, {"", unix.EBADF},
	} {
		call := p.receive()
		f, err := p.listener.Open(call, int(int32(call.Args[0])))
		path := ""
		if err == nil {
			path, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
			f.Close()
		}
		if err != want.err || path != want.path {
			t.Errorf("file %d: %q, %v, want %q, %v", i, path, err, want.path, want.err)
		}
		_ = p.listener.Return(call, 0)
	}
}

func TestDescriptor(t *testing.T) {
	p := start(t, "descriptor")
	for i, want := range []struct {
		flags int
		err   error
	}{
		{unix.O_WRONLY | unix.O_APPEND | unix.O_CLOEXEC, nil},
		{unix.O_RDWR | unix.O_NONBLOCK | unix.O_CLOEXEC, nil}, {unix.O_RDWR | unix.O_NONBLOCK | unix.O_CLOEXEC, nil}, {unix.O_RDWR, nil},
		{0, unix.EBADF}, {0, unix.EBADF},
	} {
		call := p.receive()
		d, err := p.listener.Descriptor(call, int(int32(call.Args[0])))
		const shown = unix.O_ACCMODE | unix.O_APPEND | unix.O_NONBLOCK | unix.O_CLOEXEC
		if err != want.err || d.Flags&shown != want.flags || d.Inode != call.Args[1] {
			t.Errorf("descriptor %d: %+v, %v, want flags %#o and inode %d, %v", i, d, err, want.flags, call.Args[1], want.err)
		}
		_ = p.listener.Return(call, 0)
	}
}

// A caller that is killed while its call is looked at takes nothing with it.
func TestCallerIsGone(t *testing.T) {
	p := start(t, "ask")
	call := p.receive()
	p.kill()
	if err := p.listener.Read(call, 8, make([]byte, 1)); err != ErrGone {
		t.Errorf("memory: %v", err)
	}
	if _, err := p.listener.Descriptor(call, 0); err != ErrGone {
		t.Errorf("a descriptor: %v", err)
	}
	if _, err := p.listener.Install(call, 0, -1, true); err != ErrGone {
		t.Errorf("a descriptor for it: %v", err)
	}
	if err := errors.Join(p.listener.Return(call, 0), p.listener.Fail(call, unix.EPERM)); err != nil {
		t.Error(err)
	}
	if _, err := p.listener.Receive(); err != io.EOF {
		t.Errorf("the next call: %v", err)
	}
}

// One that is killed before its call is received is nobody's caller, and the
// next call is not held up.
func TestCallerIsGoneBefore(t *testing.T) {
	p := start(t, "ask")
	await(t, "a call", func() bool { return pending(t, p.listener) })
	p.kill()
	if call, err := p.listener.Receive(); err != io.EOF {
		t.Errorf("%+v, %v", call, err)
	}
	p = start(t, "offspring")
	_ = p.number()
	await(t, "a call", func() bool { return pending(t, p.listener) })
	fmt.Fprintln(p.words, "kill it")
	p.hears("gone")
	call := p.receive()
	if call.Args[0] != 2 {
		t.Errorf("%+v", call)
	}
	_ = p.listener.Return(call, 7)
	p.hears(7, 0)
}

func TestEnd(t *testing.T) {
	p := start(t, "quit")
	go p.end()
	if call, err := p.listener.Receive(); err != io.EOF {
		t.Errorf("%+v, %v", call, err)
	}
}

// Close ends a Receive that waits, and calls fail that nobody answers any more.
func TestClose(t *testing.T) {
	p := start(t, "offspring")
	_ = p.number()
	first := p.receive()
	received := make(chan error)
	go func() {
		_, err := p.listener.Receive()
		received <- err
	}()
	if err := p.listener.Close(); err != nil {
		t.Error(err)
	}
	if err := <-received; !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if _, err := p.listener.Receive(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("once more: %v", err)
	}
	if err := p.listener.Return(first, 0); err == nil {
		t.Error("an answer through a closed listener")
	}
	fmt.Fprintln(p.words, "go on")
	p.hears("gone")
	p.hears(uint(1<<64-1), int(unix.ENOSYS))
}

// double answers with twice the question until nobody asks any more.
func double(l *Listener, after time.Duration, gone *int) error {
	for {
		call, err := l.Receive()
		if err != nil {
			return err
		}
		time.Sleep(after)
		if _, err := l.Install(call, 0, 0, false); err == ErrGone {
			*gone++
			continue
		} else if err != nil {
			return err
		}
		if err := l.Return(call, int64(2*call.Args[0])); err != nil {
			return err
		}
	}
}

func TestCrowd(t *testing.T) {
	p := start(t, "crowd 64 50")
	answered := make(chan error)
	gone := 0
	go func() { answered <- double(p.listener, 0, &gone) }()
	p.hears("done")
	p.end()
	if err := <-answered; err != io.EOF || gone > 0 {
		t.Errorf("error %v, %d callers gone", err, gone)
	}
}

// Signals do not tear a call from whoever decides about it, however long that
// takes.
func TestSignalStorm(t *testing.T) {
	if flags, _ := FilterFlags(); flags&unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV == 0 {
		t.Skip("this kernel has calls made again that a signal interrupts")
	}
	for _, part := range []string{"storm 0 100", "storm 1 100"} {
		if gone := weather(t, part, 100*time.Microsecond); gone > 0 {
			t.Errorf("%s: %d calls were made again", part, gone)
		}
	}
}

// Where a kernel cannot hold signals back, a call is made again and answered
// again.
func TestSignalsOnAnOlderKernel(t *testing.T) {
	t.Setenv(olderEnv, "yes")
	for _, part := range []string{"storm 0 5000 500", "storm 1 5000 500"} { // heavier, and no call ever gets through
		t.Logf("%s: %d calls were made again", part, weather(t, part, 0))
	}
}

// weather answers a storm, each call after a while, and counts those that were
// torn away.
func weather(t *testing.T, part string, after time.Duration) int {
	t.Helper()
	p := start(t, part)
	answered, gone := make(chan error, 1), 0
	go func() {
		err := double(p.listener, after, &gone)
		if err != io.EOF {
			_ = p.cmd.Process.Kill() // nobody answers it any more
		}
		answered <- err
	}()
	p.hears("done")
	p.end()
	if err := <-answered; err != io.EOF {
		t.Errorf("%s: %v", part, err)
	}
	return gone
}

// New takes over a descriptor, and closes it when it is none.
func TestNew(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := New(f); err == nil || !strings.Contains(err.Error(), "listen for system calls") {
		t.Errorf("error %v", err)
	}
}

func TestParseDescriptor(t *testing.T) {
	for text, want := range map[string]int{
		"pos:\t0\nflags:\t02004002\nmnt_id:\t8\nino:\t1234\n": unix.O_RDWR | unix.O_NONBLOCK | unix.O_CLOEXEC,
		"flags:\t0100001":            unix.O_WRONLY | 0o100000,
		"pos:\t0\nflags:\t0\nlock:x": 0,
		"":                           -1, "pos:\t0\n": -1, "flags:\n": -1, "flags:\t9\n": -1, "flags:\t-1\n": -1, "flags:\t777777777777\n": -1,
	} {
		flags, err := parseDescriptor(text)
		if (err != nil) != (want < 0) || err == nil && flags != want {
			t.Errorf("%q: %#o, %v", text, flags, err)
		}
	}
}

func FuzzParseDescriptor(f *testing.F) {
	f.Add("pos:\t0\nflags:\t02004002\nmnt_id:\t8\nino:\t1234\n")
	f.Add("flags: 0")
	f.Fuzz(func(t *testing.T, text string) {
		if flags, err := parseDescriptor(text); err == nil && (flags < 0 || !strings.Contains(text, "flags:")) {
			t.Errorf("%q has flags %#o", text, flags)
		}
	})
}

func FuzzParseSocket(f *testing.F) {
	f.Add("socket:[1234]")
	f.Add("/dev/null")
	f.Add("socket:[20000000000000000000]")
	f.Fuzz(func(t *testing.T, link string) {
		inode := parseSocket(link)
		if is := inode != 0; is && link != fmt.Sprintf("socket:[%d]", inode) && !strings.HasPrefix(link, "socket:[0") {
			t.Errorf("%q is socket %d", link, inode)
		}
	})
}

// Whether a filter can be installed is never tried in the main thread, which does not end with
// what was done in it.
func TestMainThreadIsLeftAlone(t *testing.T) {
	before := ownFilter(t)
	for range 200 {
		if err := tryFilter(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER); err != nil {
			t.Skip(err)
		}
	}
	if after := ownFilter(t); after != before {
		t.Errorf("the main thread says %q, and said %q", after, before)
	}
}

// ownFilter is what the main thread's status says of filters.
func ownFilter(t *testing.T) (lines string) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Seccomp") || strings.HasPrefix(line, "NoNewPrivs") {
			lines += line
		}
	}
	return lines
}
