package spawn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakeInit is the other end of a server: it says what a test wants.
type fakeInit struct {
	t      testing.TB
	server *Server
	fd     int
}

func newFakeInit(t testing.TB) *fakeInit {
	t.Helper()
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeInit{t, newServer(ours, 0), theirs}
	t.Cleanup(func() {
		f.server.Close()
		unix.Close(theirs)
	})
	return f
}

func recordBytes(kind, seq uint32, a, b int32) []byte {
	r := make([]byte, recordSize)
	for i, v := range []uint32{kind, seq, uint32(a), uint32(b)} {
		binary.NativeEndian.PutUint32(r[4*i:], v)
	}
	return r
}

func (f *fakeInit) say(b []byte, fds ...int) {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	if err := unix.Sendmsg(f.fd, b, rights, nil, unix.MSG_NOSIGNAL); err != nil && !errors.Is(err, unix.EPIPE) {
		f.t.Fatal(err)
	}
}

// hear waits for a message, so that a test knows that Do was called.
func (f *fakeInit) hear() {
	if _, err := unix.Read(f.fd, make([]byte, maxMessage)); err != nil {
		f.t.Error(err)
	}
}

// do has a program of one fork, which sends one descriptor, carried out, while
// says are the answers.
func (f *fakeInit) do(says func()) (Reply, error) {
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		f.hear()
		says()
	}()
	var p Program
	p.Call("before", 1)
	p.Fork("fork", 2, nil, func() { p.Call("inside", 3) })
	p.Call("after", 4)
	p.SendFiles(FD(1))
	reply, err := f.server.Do(&p)
	<-heard
	return reply, err
}

func TestReplies(t *testing.T) {
	for _, tc := range []struct {
		name string
		says func(f *fakeInit)
		pid  int
		want string // of the error
	}{
		{"done", func(f *fakeInit) { f.say(recordBytes(recordDone, 1, 42, 0)) }, 42, ""},
		{"of another message", func(f *fakeInit) {
			f.say(recordBytes(recordDone, 0, 7, 0))
			f.say(recordBytes(recordFailed, 9, 0, 1))
			f.say(recordBytes(recordDone, 1, 42, 0))
		}, 42, ""},
		{"failed", func(f *fakeInit) { f.say(recordBytes(recordFailed, 1, 0, int32(unix.EPERM))) }, 0, "before: operation not permitted"},
		{"the fork failed", func(f *fakeInit) { f.say(recordBytes(recordFailed, 1, 1, int32(unix.EAGAIN))) }, 0, "fork: resource temporarily unavailable"},
		{"the child failed", func(f *fakeInit) {
			f.say(recordBytes(recordFailed, 1, 2, int32(unix.ENOENT)))
			f.say(recordBytes(recordDone, 1, 42, 0))
		}, 42, "inside: no such file or directory"},
		{"failed after the fork", func(f *fakeInit) { f.say(recordBytes(recordFailed, 1, 3, int32(unix.EIO))) }, 0, "after: input/output error"},
		{"a step that is not there", func(f *fakeInit) { f.say(recordBytes(recordFailed, 1, 1<<30, int32(unix.EIO))) }, 0, "read the message: input/output error"},
		{"a step before the first", func(f *fakeInit) { f.say(recordBytes(recordFailed, 1, -1, int32(unix.EINVAL))) }, 0, "read the message: invalid argument"},
		{"a record that is no record", func(f *fakeInit) { f.say([]byte("hello")) }, 0, ErrGone.Error()},
		{"more than a record", func(f *fakeInit) { f.say(append(recordBytes(recordDone, 1, 42, 0), 0)) }, 0, ErrGone.Error()},
		{"half a record", func(f *fakeInit) { f.say(recordBytes(recordDone, 1, 42, 0)[:recordSize/2]) }, 0, ErrGone.Error()},
		{"a kind that is not there", func(f *fakeInit) { f.say(recordBytes(77, 1, 42, 0)) }, 0, ErrGone.Error()},
		{"the end", func(f *fakeInit) { f.end() }, 0, ErrGone.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeInit(t)
			reply, err := f.do(func() { tc.says(f) })
			if got := text(err); got != tc.want || reply.PID != tc.pid {
				t.Errorf("pid %d, error %q; want %d, %q", reply.PID, got, tc.pid, tc.want)
			}
		})
	}
}

// end is end of file, as of an init that died.
func (f *fakeInit) end() { _ = unix.Shutdown(f.fd, unix.SHUT_RDWR) }

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestExitsAreKept(t *testing.T) {
	f := newFakeInit(t)
	if _, err := f.do(func() { f.say(recordBytes(recordDone, 1, 42, 0)) }); err != nil {
		t.Fatal(err)
	}
	exit := recordBytes(recordExit, 0, 42, int32(3<<8))
	for i := range 9 {
		binary.NativeEndian.PutUint64(exit[16+8*i:], uint64(i+1))
	}
	f.say(exit)
	got, err := f.server.Wait(42)
	want := Exit{PID: 42, Status: WaitStatus(3 << 8), Usage: Usage{User: time.Microsecond, System: 2 * time.Microsecond,
		MaxRSSBytes: 3 << 10, MinorFaults: 4, MajorFaults: 5, InBlocks: 6, OutBlocks: 7, VoluntarySwitches: 8, Switches: 9}}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	f.end()
	if _, err := f.server.Wait(42); !errors.Is(err, ErrGone) {
		t.Errorf("the second Wait: %v", err)
	}
	if _, err := f.server.Do(&Program{}); !errors.Is(err, ErrGone) {
		t.Errorf("Do: %v", err)
	}
}

// WaitIdle follows what was forked in fact, not what was meant to be.
func TestWaitIdleAfterAFailure(t *testing.T) {
	for name, step := range map[string]int32{"before the fork": 0, "of the fork": 1} {
		t.Run(name, func(t *testing.T) {
			f := newFakeInit(t)
			_, err := f.do(func() { f.say(recordBytes(recordFailed, 1, step, int32(unix.EAGAIN))) })
			if !errors.Is(err, unix.EAGAIN) {
				t.Fatal(err)
			}
			f.server.WaitIdle() // would never return if it waited for a child that is not there
		})
	}
}

func TestWaitIdleWaits(t *testing.T) {
	for name, answer := range map[string][]byte{
		"for the child":                     recordBytes(recordDone, 1, 42, 0),
		"for the child of a failed program": recordBytes(recordFailed, 1, 3, int32(unix.EIO)),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeInit(t)
			_, _ = f.do(func() { f.say(answer) })
			idle := make(chan struct{})
			go func() { f.server.WaitIdle(); close(idle) }()
			if f.server.Idle() {
				t.Error("a child lives and the server is idle")
			}
			f.say(recordBytes(recordIdle, 0, 0, 0))
			<-idle
		})
	}
}

// The last child's end says that none is left; another's says nothing of the rest.
func TestIdleAfterTheLast(t *testing.T) {
	f := newFakeInit(t)
	if _, err := f.do(func() { f.say(recordBytes(recordDone, 1, 42, 0)) }); err != nil {
		t.Fatal(err)
	}
	f.say(recordBytes(recordExit, 0, 42, 0))
	if _, err := f.server.Wait(42); err != nil || f.server.Idle() {
		t.Errorf("error %v, and what the child has left is forgotten", err)
	}
	if _, err := f.do(func() { f.say(recordBytes(recordDone, 2, 43, 0)) }); err != nil {
		t.Fatal(err)
	}
	f.say(recordBytes(recordExit, exitLast, 43, 0))
	if _, err := f.server.Wait(43); err != nil || !f.server.Idle() {
		t.Errorf("error %v, and the last child is not the last", err)
	}
}

func TestDescriptorsOfFailedProgramsAreClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := newFakeInit(t)
	files := recordBytes(recordFiles, 0, 0, 0)
	if _, err := f.do(func() {
		f.say(files, int(w.Fd()))
		w.Close()
		f.say(recordBytes(recordFailed, 1, 0, int32(unix.EIO)))
	}); err == nil {
		t.Fatal("no error")
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d, %v; a copy of the descriptor is still open", n, err)
	}
}

// fill makes an init say the same until it is given up, or for long enough that
// what it fills would be seen.
func (f *fakeInit) fill(says func(i int32)) {
	for i := range int32(2000) {
		says(i)
	}
	f.end()
	_, _ = f.server.Wait(-1) // until all of it was heard
}

// An init that makes up the ends of children fills nothing.
func TestExitsOfStrangers(t *testing.T) {
	f := newFakeInit(t)
	if _, err := f.do(func() { f.say(recordBytes(recordDone, 1, 42, 0)) }); err != nil {
		t.Fatal(err)
	}
	f.fill(func(i int32) { f.say(recordBytes(recordExit, 0, i-1000, 0)) })
	if n := len(f.server.children); n != 1 {
		t.Errorf("%d children of one program", n)
	}
}

// A number that comes again takes no end from who has not waited for the first one yet.
func TestNumbersThatComeAgain(t *testing.T) {
	f := newFakeInit(t)
	for seq := range uint32(2) {
		if _, err := f.do(func() { f.say(recordBytes(recordDone, seq+1, 42, 0)) }); err != nil {
			t.Fatal(err)
		}
		f.say(recordBytes(recordExit, 0, 42, 0))
	}
	for range 2 {
		if exit, err := f.server.Wait(42); err != nil || exit.PID != 42 {
			t.Errorf("%+v, %v", exit, err)
		}
	}
	f.end()
	if exit, err := f.server.Wait(42); !errors.Is(err, ErrGone) {
		t.Errorf("a third end: %+v, %v", exit, err)
	}
}

// An init that answers although nothing was asked fills nothing either.
func TestAnswersToNothing(t *testing.T) {
	f := newFakeInit(t)
	if _, err := f.do(func() { f.say(recordBytes(recordDone, 1, 42, 0)) }); err != nil {
		t.Fatal(err)
	}
	f.fill(func(i int32) { f.say(recordBytes(recordDone, uint32(i%3), i+100, 0)) })
	if n := len(f.server.children); n != 1 {
		t.Errorf("%d children of one program", n)
	}
}

// Descriptors that nobody waits for are closed, and the init that sends them is
// given up.
func TestUnwantedDescriptors(t *testing.T) {
	done := func(f *fakeInit) { f.say(recordBytes(recordDone, 1, 42, 0)) }
	for name, tc := range map[string]struct {
		says func(f *fakeInit, w int)
		want string // of the error of the program before
	}{
		"more than the program sends": {func(f *fakeInit, w int) { f.say(recordBytes(recordFiles, 0, 0, 0), w, w); done(f) }, ErrGone.Error()},
		"one by one": {func(f *fakeInit, w int) {
			f.say(recordBytes(recordFiles, 0, 0, 0), w)
			f.say(recordBytes(recordFiles, 0, 0, 0), w)
			done(f)
		}, ErrGone.Error()},
		"more than there is room for": {func(f *fakeInit, w int) {
			f.say(recordBytes(recordFiles, 0, 0, 0), slices.Repeat([]int{w}, maxFiles+1)...)
			done(f)
		}, ErrGone.Error()},
		"when nothing was sent":   {func(f *fakeInit, w int) { done(f); f.say(recordBytes(recordFiles, 0, 0, 0), w) }, ""},
		"with the end of a child": {func(f *fakeInit, w int) { done(f); f.say(recordBytes(recordExit, 0, 42, 0), w) }, ""},
		"with an answer":          {func(f *fakeInit, w int) { f.say(recordBytes(recordDone, 1, 42, 0), w) }, ErrGone.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f := newFakeInit(t)
			reply, err := f.do(func() { tc.says(f, int(w.Fd())); w.Close() })
			if text(err) != tc.want || len(reply.Files) > 0 {
				t.Errorf("%d descriptors, error %v; want %q", len(reply.Files), err, tc.want)
			}
			if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("read %d, %v; a copy of the descriptor is still open", n, err)
			}
			if _, err := f.server.Do(&Program{}); !errors.Is(err, ErrGone) {
				t.Errorf("the init is still heard: %v", err)
			}
		})
	}
}

// Who is given up is not waited for, though it does not read what we send.
func TestGivenUpInitBlocksNobody(t *testing.T) {
	f := newFakeInit(t)
	f.say([]byte("hello"))
	if _, err := f.server.Wait(1); !errors.Is(err, ErrGone) {
		t.Fatal(err)
	}
	var p Program
	p.Bytes(make([]byte, 100<<10))
	for range 20 { // more than the socket holds
		if _, err := f.server.Do(&p); !errors.Is(err, ErrGone) {
			t.Fatal(err)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Do(&Program{}); !errors.Is(err, ErrGone) {
		t.Errorf("Do after Close: %v", err)
	}
	if err := unix.Kill(s.conn.(*socket).pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the spawner after Close: %v", err)
	}
}

// FuzzRecords lets an init say anything, in packets of any size: the host must
// survive, come back when the init is gone, and keep nothing of it.
func FuzzRecords(f *testing.F) {
	f.Add(recordBytes(recordDone, 1, 42, 0), uint8(0))
	f.Add(recordBytes(recordFailed, 1, -5, -5), uint8(1))
	f.Add(append(recordBytes(recordExit, 1, -1, -1), recordBytes(recordIdle, 0, 0, 0)...), uint8(0))
	f.Add(append(recordBytes(recordFiles, 1, 0, 0), recordBytes(recordDone, 1, 42, 0)...), uint8(1))
	f.Add(recordBytes(recordFiles, 1, 0, 0), uint8(3))
	absurd := append(recordBytes(recordExit, 0, 42, 0)[:16], bytes.Repeat([]byte{0x7f}, recordSize-16)...)
	f.Add(append(recordBytes(recordDone, 1, 42, 0), absurd...), uint8(0))
	f.Add([]byte("short"), uint8(0))
	f.Add(recordBytes(1<<31, 1, 1, 1), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, files uint8) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		fake := newFakeInit(t)
		reply, err := fake.do(func() {
			fds := slices.Repeat([]int{int(w.Fd())}, int(files%8))
			for i := 0; i < 16 && len(stream) > 0; i++ {
				n := min(len(stream), recordSize)
				_ = unix.Sendmsg(fake.fd, stream[:n], unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
				stream = stream[n:]
			}
			w.Close()
			fake.end()
		})
		if len(reply.Files) > 1 || err != nil && len(reply.Files) > 0 {
			t.Errorf("%d descriptors of a program that sends one, error %v", len(reply.Files), err)
		}
		closeAll(reply.Files)
		fake.server.WaitIdle()
		if _, err := fake.server.Wait(-1); !errors.Is(err, ErrGone) {
			t.Error(err)
		}
		if n := len(fake.server.children); n > 1 {
			t.Errorf("%d children of one program", n)
		}
		for pid, lives := range fake.server.children {
			if e := lives[0].exit; lives[0].err == nil && (e.PID != pid || e.Usage.User < 0 || e.Usage.MaxRSSBytes < 0) {
				t.Errorf("%d ended with %+v", pid, e)
			}
		}
		fake.server.Close() // and with the socket what was not read
		writers := []unix.PollFd{{Fd: int32(r.Fd())}}
		if n, err := unix.Poll(writers, 0); n != 1 || writers[0].Revents&unix.POLLHUP == 0 {
			t.Errorf("a copy of the descriptor is still open (%v)", err)
		}
	})
}

// TestDamagedMessages: a real init refuses what is not whole, and goes on.
func TestDamagedMessages(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var p Program
	p.Call("getpid", unix.SYS_GETPID)
	good, err := p.encode(5)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(word int, value uint32) []byte {
		m := append([]byte(nil), good...)
		binary.NativeEndian.PutUint32(m[4*word:], value)
		return m
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, m := range map[string]struct {
		message []byte
		files   []int
	}{
		"magic":                         {damage(0, 0), nil},
		"files that are not":            {damage(4, 1), nil},
		"files that were not announced": {good, []int{int(null.Fd())}},
		"size":                          {damage(5, uint32(len(good)+1)), nil},
		"cut off":                       {good[:len(good)-1], nil},
		"less than a header":            {good[:7], nil},
	} {
		d := s.begin(&p, 5, nil)
		if err := s.send(m.message, m.files); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if <-d.done; text(d.err) != "read the message: invalid argument" {
			t.Errorf("%s: %v, want a refusal", name, d.err)
		}
	}
	if _, err := s.Do(&p); err != nil {
		t.Errorf("after the damage: %v", err)
	}
}

func TestNoInitForThisArchitecture(t *testing.T) {
	if _, err := sealedCopy(nil); err != nil {
		t.Errorf("an empty program: %v", err)
	}
	fd, err := sealedCopy([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.Pwrite(fd, []byte("y"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("writing to the sealed copy: %v", err)
	}
	if err := unix.Ftruncate(fd, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("cutting the sealed copy: %v", err)
	}
	if !strings.HasPrefix(string(initProgram), "\x7fELF") {
		t.Error("the init is no program")
	}
}
