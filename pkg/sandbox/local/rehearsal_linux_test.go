package local

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What a child has written to when it has ended its ancestor's later children have copied while
// they wait, and are the same for all that.
func TestRehearsal(t *testing.T) {
	rt := opened(t)
	a := ancestorOf(t, rt, "one").(*ancestor)
	start := func() (r sandbox.Running, in *io.PipeWriter, out *strings.Builder) {
		out = &strings.Builder{}
		p := interprets(false)
		var from *io.PipeReader
		from, in = io.Pipe()
		p.Stdin, p.Stdout, p.Stderr = from, out, io.Discard
		r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
		if err != nil {
			t.Fatal(err)
		}
		return r, in, out
	}
	own := func(r sandbox.Running) (bytes uint64) {
		pids, err := r.(*process).group.cg.Processes()
		if err != nil || len(pids) != 1 {
			t.Fatalf("processes %v, %v", pids, err)
		}
		spans, err := ownPages(pids[0], a.pid)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			bytes += s.size
		}
		return bytes
	}
	ends := func(r sandbox.Running, in *io.PipeWriter) {
		in.Close()
		if exit, err := r.Wait(); err != nil || exit.Code != 7 {
			t.Errorf("%+v, %v", exit, err)
		}
	}
	first, in, want := start()
	before := own(first)
	began := false
	if err := a.Rehearse(first, func() { began = true; in.Close() }); err != nil {
		t.Fatal(err)
	}
	if !began {
		in.Close()
		t.Skip("nobody may be traced here")
	}
	ends(first, in)
	foreseen := a.foreseen.Load()
	if foreseen == nil || len(*foreseen) == 0 || !slices.IsSortedFunc(*foreseen, func(x, y span) int { return int(int64(x.at) - int64(y.at)) }) {
		t.Fatalf("foreseen is %v", foreseen)
	}
	next, in, got := start()
	after := own(next)
	if after < 2*before {
		t.Errorf("a child that waits has %d KiB of its own, before that was foreseen %d", after>>10, before>>10)
	}
	ends(next, in)
	if got.String() != want.String() {
		t.Errorf("before and after:\n%s\n%s", want, got)
	}
	t.Logf("%d KiB of its own while it waits, and then %d in %d places", before>>10, after>>10, len(*foreseen))

	// One that is killed meanwhile teaches nothing, and holds nothing up.
	killed, in, _ := start()
	defer in.Close()
	if err := a.Rehearse(killed, func() { _ = killed.Kill() }); err == nil && len(*a.foreseen.Load()) == 0 {
		t.Error("it has learned that nothing is written to")
	}
	if exit, err := killed.Wait(); err != nil || exit.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v, %v", exit, err)
	}
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
			spans = append(spans, span{from, to - from})
		}
	}
	return spans
}
