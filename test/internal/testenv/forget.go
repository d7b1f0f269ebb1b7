package testenv

import (
	"os"
	"syscall"
	"testing"
)

// Forget takes a file out of the page cache: whoever reads it next is charged with it.
func Forget(t testing.TB, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const dontNeed = 4 // POSIX_FADV_DONTNEED, linux/fadvise.h
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		t.Fatalf("forget %s: %v", name, errno)
	}
}
