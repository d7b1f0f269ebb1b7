package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestSlowReader: what a program has written waits for its reader, however long.
func TestSlowReader(t *testing.T) {
	const size = 512<<10 + 50_000 // all that is on its way at a time, and the rest in the pipe
	got := 0
	w := start(t)
	p := shell(fmt.Sprintf("head -c %d /dev/zero", size))
	p.Stdout = writerFunc(func(b []byte) (int, error) {
		time.Sleep(3 * endPipesEvery / 2)
		got += len(b)
		return len(b), nil
	})
	if exit, err := w.start(p).Wait(); err != nil || exit.Code != 0 || got != size {
		t.Errorf("%d of %d bytes, %+v, %v", got, size, exit, err)
	}
}

// TestHurry: the CPU limit is taken away before anything is killed, not after.
func TestHurry(t *testing.T) {
	var w *world
	var alive []bool // whether programs were, at each call
	w = start(t, func(o *Options) {
		o.Hurry = func() {
			pid := strconv.Itoa(w.init.Process.Pid)
			children, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
			must(t, err)
			alive = append(alive, len(children) > 0)
		}
	})
	first := func(what string) {
		t.Helper()
		if len(alive) == 0 || !alive[0] {
			t.Errorf("%s: the limit was there while programs died: %v", what, alive)
		}
		alive = nil
	}
	running, _ := w.line(shell("echo ready; exec sleep 1000"))
	equal(t, "calls before the kill", len(alive), 0)
	must(t, running.Kill())
	_, err := running.Wait()
	must(t, err)
	first("a kill")
	w.sh("sleep 1000 & true")
	first("what is left behind")
	w.line(shell("echo ready; exec sleep 1000"))
	must(t, w.Delete(t.Context()))
	first("the container's end")
}

func TestExits(t *testing.T) {
	w := start(t)
	for script, want := range map[string]sandbox.Exit{
		"true":              {},
		"exit 7":            {Code: 7},
		"exit 255":          {Code: 255},
		"kill -9 $$":        {Code: 137, Signal: 9},
		"kill -TERM $$":     {Code: 143, Signal: 15},
		"kill -SEGV $$":     {Code: 139, Signal: 11},
		"sh -c 'kill $$'":   {Code: 143},
		"exec >&- 2>&- <&-": {},
	} {
		got := w.sh(script)
		equal(t, script+": code", got.Code, want.Code)
		equal(t, script+": signal", got.Signal, want.Signal)
	}
	got := w.sh("echo out; echo error >&2")
	equal(t, "stdout", got.stdout, "out\n")
	equal(t, "stderr", got.stderr, "error\n")
	// Nobody asks for its output.
	exit, err := w.start(shell("echo out; echo error >&2; read x || exit 3")).Wait()
	must(t, err)
	equal(t, "code without streams", exit.Code, 3)
}

func TestStartErrors(t *testing.T) {
	w := start(t)
	tree, _ := w.tree(sandbox.WorkspaceDir)
	must(t, tree.put("plain", "x"), tree.put("sub/plain", "x"))
	must(t, tree.WriteFile("garbage", strings.NewReader("\x00garbage"), 0o755))
	path := []string{"PATH=/usr/bin:/bin"}
	for _, test := range []struct {
		p    sandbox.Process
		want error
		says string
	}{
		{sandbox.Process{Args: []string{"/no/such"}}, syscall.ENOENT, "/no/such"},
		{sandbox.Process{Args: []string{"nosuch"}, Env: path}, syscall.ENOENT, "nosuch"},
		{sandbox.Process{Args: []string{"plain"}}, syscall.EACCES, "plain"},
		{sandbox.Process{Args: []string{sandbox.WorkspaceDir + "/plain"}}, syscall.EACCES, "plain"},
		{sandbox.Process{Args: []string{"./garbage"}}, syscall.ENOEXEC, "garbage"},
		{sandbox.Process{Args: []string{"./sub"}}, syscall.EACCES, "sub"},
		{sandbox.Process{Args: []string{"true"}, Env: path, Dir: "/no/dir"}, syscall.ENOENT, "/no/dir"},
		{sandbox.Process{Args: []string{"true"}, Env: path, Dir: "/workspace/plain"}, syscall.ENOTDIR, "/workspace/plain"},
	} {
		_, err := w.Start(t.Context(), test.p)
		var start *sandbox.StartError
		if !errors.As(err, &start) || !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: %v, want %v", test.p, err, test.want)
		}
		// A terminal changes nothing.
		test.p.TTY = &sandbox.TTY{Rows: 1, Cols: 1}
		if _, err := w.Start(t.Context(), test.p); !errors.Is(err, test.want) {
			t.Errorf("%v: %v, want %v", test.p, err, test.want)
		}
	}
	if _, err := w.Start(t.Context(), sandbox.Process{}); err == nil {
		t.Error("nothing was started")
	}
	var limit *sandbox.RangeError
	if _, err := w.Start(t.Context(), sandbox.Process{Args: []string{"/bin/true"}, Limits: sandbox.Limits{OpenFiles: -1}}); !errors.As(err, &limit) {
		t.Errorf("a limit that cannot be: %v", err)
	}
	huge := shell("true")
	huge.Env = append(huge.Env, "X="+strings.Repeat("x", 1<<20))
	if _, err := w.Start(t.Context(), huge); err == nil {
		t.Error("an environment that fits in no message was given")
	}
	equal(t, "after all that", w.sh("echo fine").stdout, "fine\n")
}

func TestRefusals(t *testing.T) {
	refused := errors.New("refused")
	var asked []sandbox.Limits
	w := start(t, func(o *Options) {
		o.Isolation.Limits = map[string]string{sandbox.LimitProcesses: api.Absent}
		o.MayStart = func(p sandbox.Process) error {
			if len(p.ReadOnly) > 0 {
				return refused
			}
			return nil
		}
		o.SetLimits = func(_ context.Context, l sandbox.Limits) error {
			asked = append(asked, l)
			if l.Processes == 13 {
				return refused
			}
			return nil
		}
	})
	p := shell("true")
	p.ReadOnly = []string{sandbox.BuildDir}
	if _, err := w.Start(t.Context(), p); !errors.Is(err, refused) {
		t.Error(err)
	}
	p = shell("true")
	p.Limits.Processes = 13
	if _, err := w.Start(t.Context(), p); !errors.Is(err, refused) {
		t.Error(err)
	}
	p.Limits.Processes = 14
	w.run(p)
	if len(asked) != 2 || asked[1].Processes != 14 {
		t.Errorf("asked for %+v", asked)
	}
	// An isolation that cannot hold what was asked for by name.
	p.Limits.Strict = []string{sandbox.LimitProcesses}
	var unsupported *sandbox.UnsupportedError
	if _, err := w.Start(t.Context(), p); !errors.As(err, &unsupported) {
		t.Error(err)
	}
}

func TestSurroundings(t *testing.T) {
	w := start(t, func(o *Options) { o.Environment = []string{"GIVEN=container", "BOTH=container", "PATH=/no/such"} })
	p := sandbox.Process{Args: []string{"printenv", "GIVEN", "BOTH", "OWN"}, Env: []string{"PATH=/nowhere:/usr/bin:/bin", "BOTH=process", "OWN=ü =\n"}}
	equal(t, "what C sees", w.run(p).stdout, "container\nprocess\nü =\n\n")
	p.Args = []string{"env"}
	if got := w.run(p).stdout; strings.Count(got, "BOTH=") != 1 || strings.Count(got, "PATH=") != 1 {
		t.Errorf("names that are there twice: %q", got)
	}
	p.Args = []string{"/bin/sh", "-c", `pwd; umask; printf '%s,' "$0" "$@"`, "zero", "", "a b", "$x\n*"}
	p.Dir = sandbox.BuildDir
	equal(t, "arguments and directory", w.run(p).stdout, "/build\n0022\nzero,,a b,$x\n*,")
	// Nothing of init's is a program's: no descriptor, no blocked signal.
	equal(t, "descriptors", w.sh("ls /proc/self/fd | wc -l").stdout, "4\n")
	p.Args = []string{"grep", "SigBlk", "/proc/self/status"}
	equal(t, "blocked signals", w.run(p).stdout, "SigBlk:\t0000000000000000\n")
}

func TestPathLookup(t *testing.T) {
	w := start(t)
	tree, _ := w.tree(sandbox.WorkspaceDir)
	for _, dir := range []string{"first", "second"} {
		must(t, tree.WriteFile(dir+"/prog", strings.NewReader("#!/bin/sh\necho "+dir+"\n"), 0o755))
	}
	p := sandbox.Process{Args: []string{"prog"}, Env: []string{"PATH=/none:/workspace/second:/workspace/first"}}
	equal(t, "the first one on PATH", w.run(p).stdout, "second\n")
}

func TestRlimits(t *testing.T) {
	w := start(t)
	p := shell("ulimit -n; ulimit -Hn; ulimit -t; ulimit -Hc; head -c 20000 /dev/zero >f; wc -c <f")
	p.Limits = sandbox.Limits{OpenFiles: 33, CPUTime: 1500 * time.Millisecond, FileSizeBytes: 10000}
	equal(t, "limits", w.run(p).stdout, "33\n33\n3\n0\n10000\n")
	equal(t, "timers and queued signals", w.run(shell("while read -r l; do case $l in *pending*) set -- $l; echo $4 $5;; esac; done </proc/self/limits")).stdout, "1024 1024\n")
	p = shell("while :; do :; done")
	p.Limits.CPUTime = time.Millisecond // the backstop is a second more
	got := w.run(p)
	equal(t, "signal", got.Signal, int(unix.SIGXCPU))
	if got.Metrics.CPUUser == nil || *got.Metrics.CPUUser == 0 || got.Metrics.Sources["cpu_user_s"] != "rusage" {
		t.Errorf("%+v", got.Metrics)
	}
}

func TestStreams(t *testing.T) {
	w := start(t)
	big := noise(3<<20 + 7)
	p := shell("cat")
	p.Stdin = bytes.NewReader(big)
	if got := w.run(p).stdout; got != string(big) {
		t.Errorf("%d bytes came back of %d", len(got), len(big))
	}
	p = shell("exit 5")
	p.Stdin = bytes.NewReader(big)
	equal(t, "code of one that reads nothing", w.run(p).Code, 5)
	// A reader that never gives anything does not hold the end up.
	r, in := io.Pipe()
	defer in.Close()
	p.Stdin = r
	equal(t, "code of one that gets nothing", w.run(p).Code, 5)
	p = shell("cat; cat >&2")
	p.Stdin = strings.NewReader("again")
	got := w.run(p)
	equal(t, "no stale input", got.stdout+got.stderr, "again")
	// A writer that fails ends the run.
	full := errors.New("full")
	p = shell("while :; do echo x; done")
	p.Stdout = writerFunc(func([]byte) (int, error) { return 0, full })
	exit, err := w.start(p).Wait()
	must(t, err)
	if !errors.Is(exit.WriteError, full) || exit.Signal != sigkill {
		t.Errorf("%+v", exit)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestOneAtATime: a process ends whole before the next one starts.
func TestOneAtATime(t *testing.T) {
	w := start(t)
	const escapees = `sleep 1000 &
setsid sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' &
(setsid sh -c 'sleep 1000 & sleep 1000 &' &)
sh -c 'kill -STOP $$' &
`
	running, _ := w.line(shell(escapees + "echo ready; sleep 1000"))
	if _, err := w.Start(t.Context(), shell("true")); !errors.Is(err, errRunning) {
		t.Errorf("a second process: %v", err)
	}
	must(t, running.Kill())
	exit, err := running.Wait()
	must(t, err)
	equal(t, "signal", exit.Signal, sigkill)
	const count = "set -- /proc/[0-9]*; echo $#"
	equal(t, "processes after a kill", w.sh(count).stdout, "2\n")
	equal(t, "code", w.sh(escapees+"exit 3").Code, 3)
	equal(t, "processes after an end", w.sh(count).stdout, "2\n")
	must(t, running.Kill(), running.Signal(unix.SIGTERM)) // it has ended: nobody is meant
	// Of many that are asked for at a time, one starts.
	var all sync.WaitGroup
	var mu sync.Mutex
	var started []sandbox.Running
	for range 8 {
		all.Go(func() {
			if r, err := w.Start(context.Background(), shell("sleep 1000")); err == nil {
				mu.Lock()
				started = append(started, r)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	equal(t, "processes at a time", len(started), 1)
	must(t, started[0].Kill())
}

func TestSignal(t *testing.T) {
	w := start(t)
	running, _ := w.line(shell(`trap : TERM
sh -c 'trap "echo >hit; exit" TERM; echo >ready; while :; do sleep 0.01; done' &
while [ ! -e ready ]; do sleep 0.01; done
echo ready
while [ ! -e hit ]; do sleep 0.01; done
exit 9`))
	must(t, running.Signal(unix.SIGTERM))
	exit, err := running.Wait()
	must(t, err)
	equal(t, "code", exit.Code, 9)
	running, _ = w.line(shell("trap '' INT; echo ready; sleep 1000"))
	must(t, running.Signal(unix.SIGINT), running.Signal(unix.SIGTERM))
	exit, err = running.Wait()
	must(t, err)
	equal(t, "signal", exit.Signal, int(unix.SIGTERM))
	if err := running.Resize(1, 1); err == nil {
		t.Error("what has no terminal was resized")
	}
}

func TestDelete(t *testing.T) {
	w := start(t)
	running, _ := w.line(shell("setsid sleep 1000 & echo ready; sleep 1000"))
	if removed := w.Delete(t.Context()); removed != nil {
		t.Error(removed)
	}
	exit, err := running.Wait()
	must(t, err)
	equal(t, "signal", exit.Signal, sigkill)
	equal(t, "code", exit.Code, 137)
	must(t, w.Delete(t.Context()), running.Kill(), running.Signal(unix.SIGTERM))
	if _, err := w.Start(t.Context(), shell("true")); err == nil || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("a process of a deleted container: %v", err)
	}
	tree, err := w.Files(sandbox.WorkspaceDir)
	must(t, err)
	if err := tree.MkdirAll("x"); !errors.Is(err, spawn.ErrGone) {
		t.Error(err)
	}
	if err := tree.Walk(10, func(sandbox.FileInfo) error { return nil }); !errors.Is(err, spawn.ErrGone) {
		t.Error(err)
	}
	metrics, err := running.Metrics()
	must(t, err)
	if metrics.Sources == nil {
		t.Error("metrics without sources")
	}
}

// TestInitGone: an engine that ends a container under a running process says how
// that looks; without one it is nobody's but our error.
func TestInitGone(t *testing.T) {
	why := errors.New("the engine went away")
	for _, test := range []struct {
		ended func() (sandbox.Exit, error)
		want  error
		code  int
	}{
		{nil, spawn.ErrGone, 0},
		{func() (sandbox.Exit, error) { return sandbox.Exit{}, why }, why, 0},
		{func() (sandbox.Exit, error) { return sandbox.Exit{Code: 137, Signal: 9, OOMKills: 1}, nil }, nil, 137},
	} {
		w := start(t, func(o *Options) { o.Ended = test.ended })
		running, _ := w.line(shell("echo ready; sleep 1000"))
		must(t, w.init.Process.Kill())
		exit, err := running.Wait()
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), "container test") {
			t.Errorf("%v, want %v", err, test.want)
		}
		equal(t, "code", exit.Code, test.code)
		if exit.Metrics.Sources == nil || exit.Duration <= 0 {
			t.Errorf("%+v", exit)
		}
		if _, err := w.Start(t.Context(), shell("true")); !errors.Is(err, spawn.ErrGone) {
			t.Errorf("the next process: %v", err)
		}
		must(t, running.Kill(), w.Delete(t.Context()))
	}
}

func TestInitThatNeverWas(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	w.Close()
	_, err = New(pipes{discard{}, r}, Options{ID: "nobody", Arch: "amd64"})
	if !errors.Is(err, spawn.ErrGone) || !strings.Contains(err.Error(), "nobody") {
		t.Error(err)
	}
	if _, err := New(pipes{discard{}, r}, Options{Arch: "riscv64"}); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Error(err)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func TestTerminal(t *testing.T) {
	w := start(t)
	terminal := func(script string, stdin io.Reader) sandbox.Process {
		p := shell(script)
		p.TTY, p.Stdin = &sandbox.TTY{Rows: 33, Cols: 77}, stdin
		return p
	}
	got := w.run(terminal("tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo three; echo error >&2; exit 4", nil))
	if !strings.Contains(got.stdout, "/dev/pts/") || !strings.Contains(got.stdout, "33 77\r\nthree\r\nerror\r\n") || got.Code != 4 {
		t.Errorf("%+v", got)
	}
	equal(t, "stderr", got.stderr, "")
	// It is the controlling one.
	equal(t, "through /dev/tty", w.run(terminal("echo hello >/dev/tty", nil)).stdout, "hello\r\n")
	// Its input ends, and nobody reads what is too much.
	if got := w.run(terminal("stty -echo; cat; echo end", strings.NewReader("line\n"))); !strings.HasSuffix(got.stdout, "end\r\n") || got.Code != 0 {
		t.Errorf("%+v", got)
	}
	equal(t, "code of one that reads nothing", w.run(terminal("exit 6", bytes.NewReader(make([]byte, 1<<20)))).Code, 6)

	// A terminal in raw mode that is full of what nobody reads takes no more, and its
	// end is that of the input.
	equal(t, "code of one that leaves it full", w.run(terminal("stty raw -echo; sleep 0.1; exit 5", bytes.NewReader(bytes.Repeat([]byte("q"), 1<<20)))).Code, 5)

	running, _ := w.line(terminal("trap 'stty size >size; exit 8' WINCH; echo ready; while :; do sleep 0.01; done", nil))
	must(t, running.Resize(11, 22))
	exit, err := running.Wait()
	must(t, err)
	equal(t, "code", exit.Code, 8)
	must(t, running.Resize(1, 1)) // it has ended: nothing is to be done
	equal(t, "size", w.sh("cat size").stdout, "11 22\n")
	// What runs on when the terminal's process has ended does not keep it.
	got = w.run(terminal("trap '' HUP; sleep 1000 & echo over", nil))
	equal(t, "with a leftover", got.stdout, "over\r\n")
}

// TestTerminalIsReadWhole: what a program has written last is there, once, and in
// its order, although the program is dead when it is read.
func TestTerminalIsReadWhole(t *testing.T) {
	w := start(t)
	for i := range 60 {
		last := 100 * i
		var want strings.Builder
		for line := range last {
			fmt.Fprintf(&want, "%d\r\n", line+1)
		}
		p := shell(fmt.Sprintf("seq 1 %d", last))
		p.TTY = &sandbox.TTY{Rows: 10, Cols: 80}
		if got := w.run(p).stdout; got != want.String() {
			t.Errorf("%d lines: %d bytes, want %d", last, len(got), want.Len())
		}
	}
}

// TestTerminalSlowReader: what is left when the program is dead comes in its place,
// although the reader begins to read just then.
func TestTerminalSlowReader(t *testing.T) {
	w := start(t)
	for i := range 20 {
		last := 65536 + 20*i // of 8 bytes each: a little more than is asked for ahead
		var got, want bytes.Buffer
		for line := range last {
			fmt.Fprintf(&want, "%06d\r\n", 100001+line)
		}
		idle := make(chan struct{})
		p := shell(fmt.Sprintf("exec seq 100001 %d", 100000+last))
		p.TTY = &sandbox.TTY{Rows: 10, Cols: 80}
		p.Stdout = writerFunc(func(b []byte) (int, error) {
			select {
			case <-idle:
			case <-time.After(2 * time.Second): // the kernel's buffer holds less than here
			}
			return got.Write(b)
		})
		running := w.start(p)
		go func() {
			defer close(idle)
			w.Container.init.WaitIdle()
		}()
		_, err := running.Wait()
		must(t, err)
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d lines: %d bytes that differ from the %d that were written", last, got.Len(), want.Len())
		}
	}
}
