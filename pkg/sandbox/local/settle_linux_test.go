package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const nodePath = "/usr/bin/node"

// becomesOne is how each of them becomes an ancestor, and goes on as a child of one.
const becomesOne = `
import _imp
try:
    _imp.create_dynamic(type(sys.__spec__)("ancestor", None, origin="/workspace/ancestor.so"))
except ImportError:
    pass
`

// asAncestor starts what may become an ancestor, in a container of its own.
func asAncestor(t *testing.T, rt *Runtime, tenant string, p sandbox.Process) (sandbox.Ancestor, error) {
	t.Helper()
	if _, err := os.Stat(p.Args[0]); err != nil {
		t.Skipf("there is no %s to fork", p.Args[0])
	}
	if !rt.host.root || !rt.host.grantsGroups() {
		t.Skip("only root has ancestors, and with control groups")
	}
	a, err := smallOf(t, rt, tenant).Ancestor(t.Context(), p, sandbox.Ancestry{Library: "ancestor.so", HasRings: p.Args[0] == nodePath})
	if err == nil {
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return a, err
}

// saidBy runs a child of an ancestor to its end, and gives what it has written.
func saidBy(t *testing.T, rt *Runtime, a sandbox.Ancestor, p sandbox.Process) string {
	t.Helper()
	var out, errs strings.Builder
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &out, &errs
	r, err := a.Start(t.Context(), smallOf(t, rt, "one"), p)
	if err != nil {
		t.Error(err)
		return ""
	}
	late := time.AfterFunc(20*time.Second, func() { _ = r.Kill() })
	defer late.Stop()
	if exit, err := r.Wait(); err != nil || exit.Code != 0 || errs.Len() > 0 {
		t.Errorf("%+v, %v, %s", exit, err, errs.String())
	}
	return out.String()
}

func running(memory int64, args ...string) sandbox.Process {
	return sandbox.Process{
		Args: args, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/tmp",
		Limits: sandbox.Limits{MemoryBytes: memory, Processes: 40, CPUs: 1, OpenFiles: 100},
	}
}

// What an interpreter with threads has forked has as many, each of which does what it is there for.
func TestDescendantsHaveThreads(t *testing.T) {
	const program = `
const fs = require('fs'), zlib = require('zlib'), { spawnSync } = require('child_process');
if (ANCESTOR) process.dlopen({ exports: {} }, '/workspace/ancestor.so');
fs.readFileSync(0); // as what waits
console.log(fs.readdirSync('/proc/self/task').length, Math.random());
process.on('SIGUSR2', () => console.error(console.log('a signal')));
process.removeAllListeners('SIGUSR2');
process.once('SIGUSR2', () => console.log('a signal'));
process.kill(Number(fs.readlinkSync('/proc/self')), 'SIGUSR2');
const done = setTimeout(() => console.log('too late'), 10000);
setTimeout(() => zlib.gzip(Buffer.alloc(1 << 16), () => {
  let sum = 0;
  for (let i = 0; i < 5e6; i++) sum = (sum * 31 + i) | 0; // compiled by another thread
  console.log(sum, spawnSync('/bin/true').status);
  clearTimeout(done);
}), 5);`
	as := func(who string) sandbox.Process {
		return running(256<<20, nodePath, "-e", strings.Replace(program, "ANCESTOR", who, 1))
	}
	rt := opened(t)
	a, err := asAncestor(t, rt, "one", as("true"))
	if err != nil {
		t.Fatal(err)
	}
	var started strings.Builder
	p := as("false")
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &started, io.Discard
	r, err := smallOf(t, rt, "one").Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	without := func(said string) (drawn, rest string) {
		drawn, rest, _ = strings.Cut(said, "\n")
		threads, drawn, _ := strings.Cut(drawn, " ")
		return drawn, threads + "\n" + rest
	}
	_, want := without(started.String())
	if !strings.Contains(want, "a signal\n") || strings.Contains(want, "too late") || strings.HasPrefix(want, "1\n") {
		t.Fatalf("one that was started says %q", want)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range 8 {
		all.Go(func() {
			drawn, rest := without(saidBy(t, rt, a, as("false")))
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(want, rest); diff != "" || seen[drawn] {
				t.Errorf("drawn %q, before: %v; started, and + forked:\n%s", drawn, seen[drawn], diff)
			}
			seen[drawn] = true
		})
	}
	all.Wait()
}

// A child of one with threads needs no more descriptors than one that was started, and says so where
// there may not be as many threads.
func TestDescendantsWithThreadsHaveLimits(t *testing.T) {
	as := func(who string) sandbox.Process {
		p := running(256<<20, nodePath, "-e", "if ("+who+") process.dlopen({ exports: {} }, '/workspace/ancestor.so'); require('fs').readFileSync(0); console.log('hello')")
		p.Limits.OpenFiles = 24
		return p
	}
	rt := opened(t)
	a, err := asAncestor(t, rt, "one", as("true"))
	if err != nil {
		t.Fatal(err)
	}
	if said := saidBy(t, rt, a, as("false")); said != "hello\n" {
		t.Errorf("it says %q", said)
	}
	p := as("false")
	p.Limits.Processes = 3
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), io.Discard, io.Discard
	_, err = a.Start(t.Context(), smallOf(t, rt, "one"), p)
	var step *spawn.StepError
	if !errors.As(err, &step) || !errors.Is(err, unix.EAGAIN) || !strings.Contains(err.Error(), "threads") {
		t.Errorf("with room for three it fails with %v", err)
	}
}

// Each child has its own files where its ancestor has opened some for itself, as they were.
func TestDescendantsHaveTheirOwnFiles(t *testing.T) {
	const program = `
import os, select, sys
out, into = os.pipe()
os.set_blocking(out, False)
os.set_blocking(into, False)
os.write(into, b"kept")
counter = os.eventfd(7, SEMAPHORE | os.EFD_CLOEXEC)
watch = select.epoll()
watch.register(out, select.EPOLLIN | select.EPOLLET)
watch.register(counter, select.EPOLLIN)
null = os.open(os.devnull, os.O_RDONLY)
before = {fd: (os.readlink("/proc/%s/fd/%d" % (ME, fd)) if ME == "self" else "") for fd in (out, into, counter, watch.fileno(), null)}
BECOME
sys.stdin.read() # as what waits
print(sorted((fd == out, event) for fd, event in watch.poll(0)), os.read(out, 99), [os.eventfd_read(counter) for n in range(7 if SEMAPHORE else 1)], watch.poll(0))
for fd in out, into, counter, watch.fileno(), null:
    print(os.get_inheritable(fd), os.get_blocking(fd), os.readlink("/proc/self/fd/%d" % fd).rstrip("0123456789]"), [l for l in open("/proc/self/fdinfo/%d" % fd) if l.startswith("flags")])
os.write(into, b"x")
print([fd == out for fd, event in watch.poll(0)], len(os.listdir("/proc/self/fd")), [os.fstat(fd).st_ino for fd in (out, into)])
`
	semaphore := "0"
	if tellsSemaphores(t) {
		semaphore = "os.EFD_SEMAPHORE"
	}
	rt := opened(t)
	a, err := asAncestor(t, rt, "one", running(64<<20, pythonPath, "-S", "-c", strings.NewReplacer("BECOME", becomesOne, "ME", `"other"`, "SEMAPHORE", semaphore).Replace(program)))
	if err != nil {
		t.Fatal(err)
	}
	plain := running(64<<20, pythonPath, "-S", "-c", strings.NewReplacer("BECOME", "", "ME", `"self"`, "SEMAPHORE", semaphore).Replace(program))
	var started strings.Builder
	p := plain
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &started, &started
	r, err := smallOf(t, rt, "one").Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := r.Wait(); err != nil || exit.Code != 0 {
		t.Fatal(exit.Code, err, started.String())
	}
	cut := func(said string) (rest, pipe string) {
		at := max(strings.LastIndex(said, "["), 0)
		return said[:at], said[at:]
	}
	want, _ := cut(started.String())
	seen := map[string]bool{}
	for range 3 {
		got, pipe := cut(saidBy(t, rt, a, plain))
		if diff := cmp.Diff(want, got); diff != "" || seen[pipe] {
			t.Errorf("pipe %s, a sibling's: %v; started, and + forked:\n%s", pipe, seen[pipe], diff)
		}
		seen[pipe] = true
	}
}

// tellsSemaphores tells whether the kernel tells which counters are semaphores.
func tellsSemaphores(t *testing.T) bool {
	t.Helper()
	fd, err := unix.Eventfd(0, unix.EFD_SEMAPHORE|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(info), "eventfd-semaphore: 1")
}

// An interpreter whose children would have something in common, or lack it, is no ancestor.
func TestUnsettled(t *testing.T) {
	for name, before := range map[string]string{
		"a socket":                "import socket; one = socket.socket(socket.AF_UNIX)",
		"a file":                  "one = open('/etc/passwd')",
		"half a pipe":             "out, into = os.pipe(); os.close(into)",
		"a watch on its streams":  "import select; one = select.epoll(); one.register(0, select.EPOLLIN)",
		"a watch on a watch":      "import select; one = select.epoll(); other = select.epoll(); one.register(other, select.EPOLLIN)",
		"memory in common":        "import mmap; one = mmap.mmap(-1, 4096)",
		"no such interpreter":     "os._exit(126)",
		"one that fails":          "os._exit(1)",
		"a thread of CPython's":   "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
		"a descriptor far behind": "os.dup2(os.open(os.devnull, os.O_RDONLY), 70)",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := asAncestor(t, opened(t), "one", running(64<<20, pythonPath, "-S", "-c", "import os, sys\n"+before+"\n"+becomesOne))
			if err == nil {
				t.Fatal("it is one")
			}
			if never := errors.Is(err, sandbox.ErrNoAncestor); never == (name == "one that fails") { // another time it may not
				t.Errorf("no ancestor for good: %v; %v", never, err)
			}
		})
	}
}

// Who knows its place by its name is none by a link to it, which others may be.
func TestNoAncestorByALink(t *testing.T) {
	if to, err := os.Readlink(pythonPath); err != nil || to == "" {
		t.Skip("python3 is no link here")
	}
	rt := opened(t)
	ancestorOf(t, rt, "one")
	_, err := smallOf(t, rt, "one").Ancestor(t.Context(), interprets(true), sandbox.Ancestry{Library: "ancestor.so", ByName: true})
	if !errors.Is(err, sandbox.ErrNoAncestor) {
		t.Errorf("by %s: %v", pythonPath, err)
	}
}

func TestLeftOut(t *testing.T) {
	const smaps = `1000-3000 rw-p 00000000 00:00 0 [a-name: it is odd]
AnonHugePages:         0 kB
VmFlags: rd wr mr mw me dc ac
7000-8000 r--p 00000000 00:00 0  [vvar]
VmFlags: rd mr pf io de dc
9000-a000 rw-p 00000000 fe:00 247260                     /usr/bin/x
VmFlags: rd wr mr mw me ac
`
	got, err := leftOut(strings.NewReader(smaps))
	if want := []span{{at: 0x1000, size: 0x2000}}; err != nil || len(got) != 1 || got[0] != want[0] {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := leftOut(strings.NewReader("1000-2000 rw-s 0 00:01 2 /dev/zero\nVmFlags: rd wr sh mr mw me ms\n")); !errors.Is(err, sandbox.ErrNoAncestor) {
		t.Errorf("of memory in common: %v", err)
	}
	if _, err := leftOut(strings.NewReader("odd-line\n")); err == nil {
		t.Error("an odd line is none")
	}
}

func TestReadOpenFile(t *testing.T) {
	got, err := readOpenFile(9, []byte("pos:\t0\nflags:\t02000002\nmnt_id:\t17\neventfd-count:               1f\neventfd-semaphore: 1\n"+
		"tfd:       13 events:       19 data:        100000000d  pos:0 ino:11 sdev:10\n"))
	want := openFile{fd: 9, flags: 0o2000002, count: 0x1f, semaphore: 1, watched: []watching{{13, 0x19, 0x100000000d}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(openFile{}, watching{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, info := range []string{"flags:\t9\n", "eventfd-count: x\n", "eventfd-semaphore:\n", "tfd: here\n"} {
		if _, err := readOpenFile(3, []byte(info)); err == nil {
			t.Errorf("%q is no error", info)
		}
	}
}
