package local

import (
	"bytes"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A process whose first thread has ended has its memory all the same.
func TestMemoryOfTheOtherThreads(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
	const script = `
import ctypes, os, threading, time
def fill():
    time.sleep(0.2)
    mine = b"x" * (40 << 20)
    time.sleep(20)
for _ in range(3):
    if os.fork() == 0:
        threading.Thread(target=fill).start()
        ctypes.CDLL(None).syscall(ctypes.c_long(EXIT), 0)
time.sleep(20)`
	out := new(bytes.Buffer)
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: []string{"/usr/bin/python3", "-S", "-c", fmt.Sprintf("EXIT = %d", unix.SYS_EXIT) + script}, Stdout: out, Stderr: out,
		Limits: sandbox.Limits{MemoryBytes: 80 << 20, Processes: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	if end, err := running.Wait(); err != nil || !end.MemoryKill || out.Len() > 0 {
		t.Errorf("%+v, %v, said %q", end, err, out)
	}
}
