package local

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	diskLimit = 32 << 20
	// hoarders are what hostile programs write with: 8 MiB at a time, many times the
	// limit in all, and slowly enough to be seen.
	hoarders = `
import ctypes, mmap, os, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def fill(fd, times=1): # not sparse
    for i in range(times): os.write(fd, b"x" * (8 << 20))
def create(name="f", dir_fd=None): return os.open(name, os.O_RDWR | os.O_CREAT, dir_fd=dir_fd)
def hoard(one):
    for i in range(40):
        one(i)
        time.sleep(0.05)
    time.sleep(10) # where processors are emulated, a look takes seconds
    print("it has all of it")
`
)

// restrictedDisk makes a container whose disk limit is sampled.
func restrictedDisk(t testing.TB, spec sandbox.Spec) *container {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no python3 to write with")
	}
	rt, err := New(Options{RuntimeDir: t.TempDir(), NoCgroups: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	if rt.host.landlockABI < minLandlock {
		t.Skip("this kernel has no Landlock")
	}
	spec.Level = sandbox.LevelRestricted
	c, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*container)
}

// write runs a program in Python.
func write(t testing.TB, c *container, script string, args ...string) (string, sandbox.Exit) {
	t.Helper()
	running, out := startWriting(t, c, script, args...)
	exit, err := running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

func startWriting(t testing.TB, c *container, script string, args ...string) (sandbox.Running, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	running, err := c.Start(t.Context(), sandbox.Process{
		Args: append([]string{"/usr/bin/python3", "-S", "-c", hoarders + script}, args...), Env: []string{"PATH=/usr/bin:/bin"}, Stdout: out, Stderr: out,
		Limits: sandbox.Limits{OpenFiles: 256, Processes: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	return running, out
}

// Whatever a program does to have more than its limit, it is seen and ended.
func TestDiskHoarders(t *testing.T) {
	for name, script := range map[string]string{
		"names":                 `hoard(lambda i: fill(create("f%d" % i)))`,
		"names of another tree": `hoard(lambda i: fill(create(sys.argv[1] + "/f%d" % i)))`,
		"open without a name": `
def one(i):
    fill(create())
    os.unlink("f")
hoard(one)`,
		"never a name": `hoard(lambda i: fill(os.open(".", os.O_RDWR | os.O_TMPFILE)))`,
		"open in a thread that has its own files": `
import signal
trampoline = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def inside(_):
    try: hoard(lambda i: (fill(create()), os.unlink("f")))
    except OSError: pass
    os._exit(0)
stack, entry = mmap.mmap(-1, 1 << 20), trampoline(inside)
top = ctypes.addressof(ctypes.c_char.from_buffer(stack)) + (1 << 20)
# VM, SIGHAND and THREAD without FILES; and VFORK: Python takes both for one thread.
libc.clone(entry, ctypes.c_void_p(top), 0x100 | 0x800 | 0x10000 | 0x4000, None)
sys.exit("clone: %d" % ctypes.get_errno())`,
		"open in a child": `
def one(i):
    has, tell = os.pipe()
    if os.fork() == 0:
        fill(create("f%d" % i))
        os.unlink("f%d" % i)
        os.write(tell, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(has, 1)
hoard(one)`,
		"open in a child that is always another": `
def one(i):
    fill(create())
    os.unlink("f")
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        if os.fork() > 0: os._exit(0)
if os.fork() == 0:
    hoard(one)
    os._exit(0)
time.sleep(4)`,
		"mapped": `
maps = []
def one(i):
    fd = create()
    fill(fd)
    libc.mmap.restype = ctypes.c_void_p
    maps.append(libc.mmap(None, 4096, 1, 1, fd, 0))
    os.unlink("f")
    os.close(fd)
hoard(one)`,
		"sent and not received": `
queues = []
def one(i):
    fd = create()
    fill(fd)
    os.unlink("f")
    queues.append(socket.socketpair())
    socket.send_fds(queues[-1][0], [b"x"], [fd])
    os.close(fd)
hoard(one)`,
		"open in a process that lets nobody look": `
libc.prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE
def one(i):
    fill(create())
    os.unlink("f")
hoard(one)`,
		"open in a program that may not be read": `
import shutil
shutil.copy("/bin/sleep", "closed")
os.chmod("closed", 0o111)
def one(i):
    fd = create()
    fill(fd)
    os.unlink("f")
    subprocess.Popen(["./closed", "60"], pass_fds=[fd])
    os.close(fd)
hoard(one)`,
		"a closed directory": `
os.mkdir("d", 0)
def one(i):
    os.chmod("d", 0o700)
    fd = create("d/f%d" % i)
    os.chmod("d", 0)
    fill(fd)
    os.close(fd)
hoard(one)`,
		"a directory that lists and does not open": `
os.mkdir("d", 0)
def one(i):
    os.chmod("d", 0o700)
    fd = create("d/f%d" % i)
    os.chmod("d", 0o400)
    fill(fd)
    os.close(fd)
hoard(one)`,
		"a directory that is always elsewhere": `
for d in "a", "b", "a/d": os.mkdir(d)
d = os.open("a/d", os.O_RDONLY)
if os.fork() == 0:
    while True:
        os.rename("a/d", "b/d")
        os.rename("b/d", "a/d")
hoard(lambda i: fill(create("f%d" % i, dir_fd=d)))`,
		"a deep tree": `
for i in range(200):
    os.mkdir("d")
    os.chdir("d")
hoard(lambda i: fill(create("f%d" % i)))`,
		"open at the end of a long path": `
for i in range(20):
    os.mkdir("d" * 240)
    os.chdir("d" * 240)
def one(i):
    fill(create())
    os.unlink("f")
hoard(one)`,
		"beyond the end": `
def one(i):
    fd = create("f%d" % i)
    if libc.fallocate(fd, 1, ctypes.c_long(0), ctypes.c_long(8 << 20)) < 0: # KEEP_SIZE
        fill(fd)
hoard(one)`,
		"many names": `
for i in range(60000): os.close(create("f%d" % i))
time.sleep(10)
print("it has all of them")`,
		"names in a directory that lists and does not open": `
for d in "a", "b":
    os.mkdir(d)
    for i in range(1500): os.close(create("%s/f%d" % (d, i)))
    os.chmod(d, 0o400)
time.sleep(10)
print("it has all of them")`,
		"many links": `
os.close(create("f"))
for i in range(60000): os.link("f", "l%d" % i)
time.sleep(10)
print("it has all of them")`,
	} {
		t.Run(name, func(t *testing.T) {
			c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
			out, exit := write(t, c, script, sandbox.BuildDir)
			if !exit.DiskKill || out != "" {
				t.Errorf("%+v, said %q", exit, out)
			}
			if d := exit.Disk; d.BytesUsed <= d.BytesTotal && d.InodesUsed <= d.InodesTotal {
				t.Errorf("ended for its disk with %+v", d)
			}
		})
	}
}

// A build directory has a limit of its own, and the upper layers of mounts count there.
func TestDiskOfBuilds(t *testing.T) {
	for _, dir := range []string{sandbox.BuildDir, "/mnt/layer", "/mnt/empty"} {
		t.Run(dir, func(t *testing.T) {
			layer := t.TempDir()
			if err := os.WriteFile(layer+"/big", make([]byte, diskLimit+1), 0o644); err != nil {
				t.Fatal(err)
			}
			limit := sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}
			c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 30, Inodes: 2000}, BuildDisk: limit, Mounts: []sandbox.Mount{
				{Source: layer, Target: "/mnt/layer", Overlay: true}, {Target: "/mnt/empty", Overlay: true},
			}})
			if _, exit := write(t, c, `time.sleep(0.2)`); exit.DiskKill || exit.Code != 0 {
				t.Fatalf("what the mounts have counts: %+v", exit)
			}
			out, exit := write(t, c, `hoard(lambda i: fill(create(sys.argv[1] + "/f%d" % i)))`, dir)
			if !exit.DiskKill || out != "" {
				t.Errorf("%+v, said %q", exit, out)
			}
			if d := exit.BuildDisk; d.BytesTotal != diskLimit || d.BytesUsed <= d.BytesTotal {
				t.Errorf("ended with %+v in the build directory", d)
			}
		})
	}
}

// Programs that stay below their limit are left alone, however they come by what
// they have.
func TestDiskOfTheHonest(t *testing.T) {
	for name, script := range map[string]string{
		"links": `
fill(create(), 2)
for i in range(50): os.link("f", "l%d" % i)
time.sleep(0.3)`,
		"files that are gone": `
for i in range(40):
    fd = create()
    fill(fd)
    os.unlink("f")
    os.close(fd)
    time.sleep(0.02)`,
		"files that move": `
fill(create("0"), 2)
for i in range(2000):
    os.rename(str(i), str(i + 1))
    time.sleep(0.0001)`,
		"zombies": `
for i in range(20):
    if os.fork() == 0: os._exit(0)
time.sleep(0.3)`,
	} {
		t.Run(name, func(t *testing.T) {
			c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
			running, out := startWriting(t, c, script+"\nprint('done')")
			ended := make(chan struct{})
			go func() { _, _ = running.Wait(); close(ended) }()
			looks, hiding := lookAt(c, ended)
			exit, err := running.Wait()
			if err != nil || exit.DiskKill || exit.Code != 0 || out.String() != "done\n" {
				t.Errorf("%+v, %v, said %q", exit, err, out)
			}
			if hiding > looks/2 { // init is closed too, in the moment in which it ends a program
				t.Errorf("%d of %d times something was hidden", hiding, looks)
			}
		})
	}
}

// lookAt samples a container's disk and tells how often something was hidden.
func lookAt(c *container, ended <-chan struct{}) (looks, hiding int) {
	for {
		s := newDiskSample(c)
		_ = asUser(c.identity.programUser(), func() error { s.take(); return nil })
		looks++
		if s.hides {
			hiding++
		}
		select {
		case <-ended:
			return looks, hiding
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A program that hides something and has little is left alone.
func TestDiskHidesLittle(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 8 << 30, Inodes: 2000}}) // others write here, too
	out, exit := write(t, c, `
os.mkdir("d")
fill(create("d/f"))
os.chmod("d", 0)
time.sleep(0.3)
os.chmod("d", 0o700)
libc.prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE
time.sleep(0.3)
print("done")`)
	if exit.DiskKill || exit.Code != 0 || out != "done\n" {
		t.Errorf("%+v, said %q", exit, out)
	}
}

// What one call has hidden counts for the next one.
func TestDiskHiddenBetweenCalls(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: diskLimit, Inodes: 2000}})
	for call := range 6 {
		out, exit := write(t, c, fmt.Sprintf(`
os.mkdir("d%[1]d")
fill(create("d%[1]d/f"))
time.sleep(0.3)
os.chmod("d%[1]d", 0)
time.sleep(0.3)
print("done")`, call))
		if exit.DiskKill {
			return
		}
		if out != "done\n" {
			t.Fatalf("%+v, said %q", exit, out)
		}
	}
	t.Error("six calls hid 48 MiB under a limit of 32")
}

// A look that takes long is not taken often, unless the file system loses what was
// left of a limit.
func TestDiskMeterIsDue(t *testing.T) {
	c := restrictedDisk(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 40, Inodes: 2000}})
	m := &c.meter
	m.measure()
	for _, tc := range []struct {
		rest time.Duration
		lost int64 // bytes
		want bool
	}{{0, 2 << 40, false}, {2 * time.Hour, 0, false}, {2 * time.Hour, 2 << 40, true}, {20 * time.Hour, 0, true}} {
		m.cost = time.Hour
		m.at = time.Now().Add(-tc.rest)
		m.free = m.left() + tc.lost
		if m.due() != tc.want {
			t.Errorf("due is %v after %v, with %d bytes lost", !tc.want, tc.rest, tc.lost)
		}
	}
}

// The same as an ordinary user, whose programs have his own id.
func TestDiskAsOrdinaryUser(t *testing.T) { asNobody(t, "^TestDisk", "TestDiskHoarders") }

// The same with what is left of root in many containers.
func TestDiskWithFewCapabilities(t *testing.T) {
	fewCapabilities(t, "^TestDisk", "AsOrdinaryUser|FewCapabilities")
}

// BenchmarkDiskSample is what one look at a container's disk costs.
func BenchmarkDiskSample(b *testing.B) {
	for _, files := range []int{1, 1000, 50_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			c := restrictedDisk(b, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 30, Inodes: 100_000}})
			if _, exit := write(b, c, fmt.Sprintf(`
for i in range(%d):
    if i %% 100 == 0: os.mkdir("d%%d" %% (i // 100))
    os.close(create("d%%d/f%%d" %% (i // 100, i)))`, files)); exit.Code != 0 {
				b.Fatal(exit)
			}
			running, _ := startWriting(b, c, "time.sleep(1000)")
			for b.Loop() {
				if c.meter.measure() {
					b.Fatal("over the limit")
				}
			}
			if u := c.meter.last(sandbox.WorkspaceDir); u.InodesUsed < int64(files) {
				b.Error(u)
			}
			_ = running.Signal(unix.SIGKILL)
			_, _ = running.Wait()
		})
	}
}
