package spawn_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// withoutDescriptors calls do while this process can have no more of them.
func withoutDescriptors(t *testing.T, do func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	next, err := os.Open(os.DevNull) // the lowest number that is free
	if err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(next.Fd()), Max: before.Max}
	next.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
}

// The kernel drops descriptors for which the receiver has no room. That is the end of the
// program that has sent them, and not of the init with everything that it holds.
func TestNoRoomForDescriptors(t *testing.T) {
	s := start(t)
	sends := func() (spawn.Reply, error) {
		var p spawn.Program
		p.SendFiles(p.Call("open", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(os.DevNull), spawn.Value(unix.O_RDONLY)).Save())
		return s.Do(&p)
	}
	var err error
	withoutDescriptors(t, func() { _, err = sends() })
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("without room: %v", err)
	}
	reply, err := sends()
	if err != nil || len(reply.Files) != 1 {
		t.Fatalf("with room again: %v, %d files", err, len(reply.Files))
	}
	reply.Files[0].Close()
}
