package local

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// crowd is a program that makes threads which wait, with tables of their own or not, after it has
// opened as many files as they are to have each.
const crowd = `
def crowd(threads, files, flags):
    for i in range(files): os.dup(0)
    global stacks, below # which outlive this
    stacks = mmap.mmap(-1, 4096 * (threads + 1))
    below = ctypes.addressof(ctypes.c_char.from_buffer(stacks))
    for i in range(threads):
        # VM, SIGHAND and THREAD
        if libc.clone(libc.pause, ctypes.c_void_p(below + 4096 * (i + 1)), 0x100 | 0x800 | 0x10000 | flags, None) < 0:
            sys.exit("clone: %d" % ctypes.get_errno())
`

func startCrowd(t *testing.T, c *container, script string, readOnly ...string) (sandbox.Running, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: []string{"/usr/bin/python3", "-S", "-c", hoarders + crowd + script, sandbox.BuildDir}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: out, Stderr: out, ReadOnly: readOnly,
		Limits: sandbox.Limits{OpenFiles: 4096, Processes: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	return running, out
}

// A program has no more tables of descriptors than a look has time for, or the look ends and what
// the file system loses is the program's.
func TestDiskOfManyTables(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
	running, out := startCrowd(t, c, `
crowd(900, 4000, 0)
def one(i):
    fill(create())
    os.unlink("f")
hoard(one)`)
	exit, err := running.Wait()
	if err != nil || !exit.DiskKill || out.Len() > 0 {
		t.Errorf("%+v, %v, said %q", exit, err, out)
	}
}

// What is hidden is on no disk that is closed to who hides it, however roomy that is.
func TestDiskHiddenBesideAClosedOne(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}, BuildDisk: sandbox.DiskLimit{Bytes: 8 << 30, Inodes: 2000}})
	running, out := startCrowd(t, c, `
libc.prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE
def one(i):
    fill(create())
    os.unlink("f")
hoard(one)`, sandbox.BuildDir)
	exit, err := running.Wait()
	if d := exit.Disk; err != nil || !exit.DiskKill || d.BytesUsed <= d.BytesTotal || out.Len() > 0 {
		t.Errorf("%+v, %v, said %q", exit, err, out)
	}
}

// What compilers have hidden is not the program's, which cannot write where they could.
func TestDiskHiddenBefore(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 512 << 20, Inodes: 2000}, BuildDisk: sandbox.DiskLimit{Bytes: 8 << 30, Inodes: 2000}})
	for _, readOnly := range [][]string{nil, {sandbox.BuildDir}} {
		running, out := startCrowd(t, c, `
os.chdir(sys.argv[1])
try:
    os.mkdir("d")
    for i in range(70): fill(create("d/f%d" % i)) # more than others write here meanwhile
    time.sleep(0.3)
    os.chmod("d", 0)
except OSError: pass # the first has made it
time.sleep(0.3)
print("done")`, readOnly...)
		if exit, err := running.Wait(); err != nil || exit.DiskKill || out.String() != "done\n" {
			t.Errorf("%+v, %v, said %q", exit, err, out)
		}
	}
}

// One table is looked at once, whatever the number of threads that have it.
func TestOneTableOfManyThreads(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
	const threads = 900
	running, out := startCrowd(t, c, fmt.Sprintf(`
crowd(%d, 4000, 0x400) # FILES
time.sleep(1000)`, threads))
	defer func() {
		_ = running.(*process).Kill()
		_, _ = running.Wait()
	}()
	pid := running.(*process).pid
	if !sameTable(pid, pid) {
		t.Skip("nobody lets us compare tables here")
	}
	for deadline := time.Now().Add(time.Minute); len(threadsIn(tasksOf(pid))) <= threads; time.Sleep(time.Millisecond) {
		if running.(*process).Ended() || time.Now().After(deadline) {
			t.Fatalf("it has not come so far, and said %q", out)
		}
	}
	for range 3 {
		s := newDiskSample(c)
		if err := asUser(c.identity.programUser(), func() error { s.take(); return nil }); err != nil || s.hides {
			t.Errorf("something was hidden, %v", err)
		}
	}
}
