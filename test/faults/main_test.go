// Package faults makes what the built sandbox-server asks of its kernel and its host fail,
// and looks at what callers are told.
//
// Whatever fails, the answer is the right one, or a sandbox_error that names the step
// that failed. It is never a verdict about the program, and never a run with fewer walls.
// The run after it works, and nothing is left of either.
//
// System calls are made to fail by strace, which can do so in the server itself, or in
// what makes containers: the spawner, each init, and what an init has forked until it is
// the program. Left out is what the Go runtime itself cannot live without, so that a
// failure is the end of the process and no behaviour of ours: mmap, munmap, madvise,
// mprotect, futex, rt_sig*, sched_*, nanosleep, epoll_create1, epoll_pwait, gettid, tgkill
// and clone with CLONE_THREAD.
package faults

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	allOf = flag.Bool("all", false, "make every call fail in every way, in every scenario, and not a sample")
	only  = flag.String("call", "", "make this system call fail alone")
	what  = flag.String("scenario", "", "run this scenario alone")
	table = flag.String("table", "", "write what was answered to this file, a line for each message")
)

// binary is the server under test, and work a directory that every user can read.
var binary, work string

// reachable is a PATH of toolchains that a sandbox's user can reach at restricted, where nothing
// stands in for a private home.
const reachable = "PATH=/usr/local/bin:/usr/bin:/bin"

func TestMain(m *testing.M) {
	flag.Parse()
	testenv.Main(func(dir string) (code int, err error) {
		work = dir
		if binary, err = testenv.Program(dir, "sandbox-server", "SANDBOX_TEST_SERVER"); err != nil {
			return 0, err
		}
		code = m.Run()
		return code, report()
	})
}

// needTracer skips where no process can be traced.
func needTracer(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a server that holds the rights of another user cannot be traced")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: apt-get install strace")
	}
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be traced here: %v: %s", err, out)
	}
}
