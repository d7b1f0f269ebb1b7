package local

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What a child has written to when it has ended its ancestor's later children have copied before
// their work, by the fork or, where no memory may be pinned, by themselves. They are the same for
// all that, and have it counted.
func TestRehearsal(t *testing.T) {
	for name, pins := range map[string]bool{"pinned": true, "foreseen": false} {
		t.Run(name, func(t *testing.T) { testRehearsal(t, pins) })
	}
}

func testRehearsal(t *testing.T, pins bool) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one").(*ancestor)
	if pins && !grantsRings(t) {
		t.Skip("this host allows no rings")
	}
	own := func(r sandbox.Running) (bytes int64) {
		pids, err := r.(*process).group.cg.Processes()
		if err != nil || len(pids) != 1 {
			t.Fatalf("processes %v, %v", pids, err)
		}
		has := footprint{}
		if err := has.look(pids[0], a.pid); err != nil {
			t.Fatal(err)
		}
		written, _ := has.spans()
		return int64(bytesOf(written))
	}
	ends := func(r sandbox.Running, in *io.PipeWriter) {
		in.Close()
		exit, err := r.Wait()
		if err != nil || exit.Code != 7 {
			t.Errorf("%+v, %v", exit, err)
		}
		if peak := exit.Metrics.MemoryPeakBytes; a.group.held.memory && (peak == nil || *peak < 1<<20) {
			t.Errorf("a child has had %v bytes of memory", peak)
		}
	}
	first, in, want := descendantOf(t, rt, a)
	before := own(first)
	began := false
	var files unix.Rlimit // with none left it can have no ring
	err := unix.Prlimit(a.pid, unix.RLIMIT_NOFILE, nil, &files)
	if !pins {
		err = errors.Join(err, unix.Prlimit(a.pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: files.Max}, nil))
	}
	err = errors.Join(err, a.Rehearse(first, func() { began = true; in.Close() }), unix.Prlimit(a.pid, unix.RLIMIT_NOFILE, &files, nil))
	if err != nil {
		t.Fatal(err)
	}
	if !began {
		in.Close()
		t.Skip("nobody may be traced here")
	}
	ends(first, in)
	foreseen, carried := a.foreseen.Load(), a.carried.Load()
	switch {
	case pins && (foreseen != nil && slices.ContainsFunc(*foreseen, func(s span) bool { return !s.ofFile }) || carried < 1<<20 && a.group.held.memory):
		t.Fatalf("where memory may be pinned %d bytes are carried, and foreseen is %v", carried, foreseen)
	case !pins && (carried != 0 || foreseen == nil || !slices.ContainsFunc(*foreseen, func(s span) bool { return !s.ofFile }) || !inOrder(*foreseen)):
		t.Fatalf("where no memory may be pinned %d bytes are carried, and foreseen is %v", carried, foreseen)
	}
	next, in, got := descendantOf(t, rt, a)
	after := own(next)
	if after < 2*before {
		t.Errorf("a child that waits has %d KiB of its own, before that was foreseen %d", after>>10, before>>10)
	}
	if m, err := next.Metrics(); err != nil || a.group.held.memory && *m.MemoryBytes < after {
		t.Errorf("a child with %d bytes of its own is counted %v, %v", after, *m.MemoryBytes, err)
	}
	ends(next, in)
	if got.String() != want.String() {
		t.Errorf("before and after:\n%s\n%s", want, got)
	}
	t.Logf("%d KiB of its own while it waits, and then %d", before>>10, after>>10)

	// One that is killed meanwhile teaches nothing, and holds nothing up.
	killed, in, _ := descendantOf(t, rt, a)
	defer in.Close()
	if err := a.Rehearse(killed, func() { _ = killed.Kill() }); err == nil && a.carried.Load() == 0 && a.foreseen.Load() == nil {
		t.Error("it has learned that nothing is written to")
	}
	if exit, err := killed.Wait(); err != nil || exit.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v, %v", exit, err)
	}
}

// inOrder tells whether those that are written to come first, and each kind by its addresses.
func inOrder(spans []span) bool {
	return slices.IsSortedFunc(spans, func(x, y span) int {
		if x.read != y.read {
			return map[bool]int{true: 1, false: -1}[x.read]
		}
		return cmp.Compare(x.at, y.at)
	})
}

// What a child carries is within its limit.
func TestDescendantCarries(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one").(*ancestor)
	if !a.group.held.memory {
		t.Skip("the control groups here do not hold memory")
	}
	const carried = 40 << 20
	a.carried.Store(carried)
	p := interprets(false)
	p.Stdin, p.Stdout, p.Stderr, p.Limits.MemoryBytes = strings.NewReader("hoard"), io.Discard, io.Discard, carried
	if _, err := a.Start(t.Context(), smallOf(t, rt, "one"), p); err == nil || !strings.Contains(err.Error(), "past its limit") {
		t.Errorf("with a limit of no more than it carries: %v", err)
	}
	p.Limits.MemoryBytes = 220 << 20 // of which it wants 200
	r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := r.Wait()
	if err != nil || exit.OOMKills == 0 || exit.HostOOM {
		t.Errorf("past its limit with what it carries: %+v, %v", exit, err)
	}
	if peak := exit.Metrics.MemoryPeakBytes; peak == nil || *peak > p.Limits.MemoryBytes || *peak < p.Limits.MemoryBytes-2<<20 {
		t.Errorf("at a limit of %d it had %v", p.Limits.MemoryBytes, *peak)
	}
}

// descendantOf starts a child of an ancestor, which waits for the end of its input.
func descendantOf(t *testing.T, rt *Runtime, a *ancestor) (r sandbox.Running, in *io.PipeWriter, out *strings.Builder) {
	t.Helper()
	p, out := interprets(false), &strings.Builder{}
	var from *io.PipeReader
	from, in = io.Pipe()
	p.Stdin, p.Stdout, p.Stderr = from, out, io.Discard
	r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
	if err != nil {
		t.Fatal(err)
	}
	return r, in, out
}

// grantsRings tells whether this host lets us have io_uring.
func grantsRings(t *testing.T) bool {
	t.Helper()
	var params [120]byte
	ring, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno == 0 {
		unix.Close(int(ring))
	}
	return errno == 0
}

// A child that is killed on its way, for the memory that it copies, says nothing of it, and its
// ancestor has others.
func TestDescendantThatIsKilled(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one").(*ancestor)
	if !a.group.held.memory {
		t.Skip("the control groups here do not hold memory")
	}
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(page) }()
	if unix.Madvise(page, unix.MADV_POPULATE_WRITE) != nil {
		t.Skip("before Linux 5.14 no page is copied ahead")
	}
	everything := writable(t, a.pid)
	a.foreseen.Store(&everything)
	p := interprets(false)
	p.Stdin, p.Stdout, p.Stderr, p.Limits.MemoryBytes = strings.NewReader(""), io.Discard, io.Discard, 4<<20
	if _, err := a.Start(t.Context(), smallOf(t, rt, "one"), p); err == nil || !strings.Contains(err.Error(), "ended on its way") {
		t.Errorf("a child without the memory to come back: %v", err)
	}
	p.Limits = interprets(false).Limits
	r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := r.Wait(); err != nil || exit.Code != 7 {
		t.Errorf("after a child that was killed: %+v, %v", exit, err)
	}
}

// writable is all of a process's memory that a child of its would have a copy of.
func writable(t *testing.T, pid int) (spans []span) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n == 3 && mode == "rw-p" {
			spans = append(spans, span{at: from, size: to - from})
		}
	}
	return spans
}

// What a child gives back before its end is seen where it says so, which nobody else hears of.
func TestRehearsalIsSeenOnItsWay(t *testing.T) {
	rt := opened(t)
	const program = `
import mmap, os, signal, sys
BECOME
sys.stdin.read()
held[:] = b"x" * (2 << 20)
SAY
held.close()
`
	learned := map[string]uint64{}
	for _, say := range []string{"", "os.kill(os.getpid(), signal.SIGALRM)"} {
		written := "import mmap; held = mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); held[:] = b'y' * (2 << 20)\n"
		p := running(64<<20, pythonPath, "-S", "-c", written+strings.NewReplacer("BECOME", becomesOne, "SAY", say).Replace(program))
		an, err := asAncestor(t, rt, "one", p)
		if err != nil {
			t.Fatal(err)
		}
		a := an.(*ancestor)
		from, in := io.Pipe()
		p.Stdin, p.Stdout, p.Stderr = from, io.Discard, io.Discard
		r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := r.(*process).onlyPID()
		if err != nil {
			t.Fatal(err)
		}
		has, err := footprintAtEnd(pid, a.pid, func() { in.Close() })
		if errors.Is(err, unix.EPERM) {
			t.Skip("nobody may be traced here")
		}
		if exit, waitErr := r.Wait(); err != nil || waitErr != nil || exit.Code != 0 {
			t.Fatal(err, waitErr, exit.Code, exit.Signal)
		}
		list, read := has.spans()
		learned[say] = bytesOf(list)
		if bytesOf(read) == 0 || slices.ContainsFunc(read, func(s span) bool { return !s.ofFile }) || slices.ContainsFunc(list, func(s span) bool { return s.read }) {
			t.Errorf("read is %v, written %v", read, list)
		}
	}
	if silent, says := learned[""], learned["os.kill(os.getpid(), signal.SIGALRM)"]; says < silent+2<<20-64<<10 {
		t.Errorf("%d KiB are its own at its end, and %d if it says so before", silent>>10, says>>10)
	}
}
