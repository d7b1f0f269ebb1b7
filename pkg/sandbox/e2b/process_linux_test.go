package e2b_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
)

// buffer may be written while it is read.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// The world is the contract's, and the program cannot become anybody else.
func TestWorld(t *testing.T) {
	_, _, c := start(t, sandbox.Spec{Disk: small.Disk, BuildDisk: small.Disk, Mounts: []sandbox.Mount{{Target: "/mnt/empty", Overlay: true}, {Target: "/mnt/closed"}}})
	mustPrint(t, c, "id -un; id -gn; id -G | wc -w; hostname; pwd; echo $HOME", "sandbox\nsandbox\n1\nsandbox\n/workspace\n/workspace\n")
	mustPrint(t, c, "env | sort", "HOME=/workspace\nPATH=/usr/bin:/bin\nPWD=/workspace\n")
	mustPrint(t, c, "grep NoNewPrivs /proc/self/status | cut -f2; ulimit -c; umask", "1\n0\n0022\n")
	mustPrint(t, c, "touch a /tmp/a /dev/shm/a /build/a /mnt/empty/a && echo written", "written\n")
	mustPrint(t, c, "touch /etc/x /usr/x /mnt/closed/x 2>/dev/null || echo refused; ls /etc/x /usr/x /mnt/closed/x 2>/dev/null", "refused\n")
	mustPrint(t, c, "cat /proc/1/cmdline 2>/dev/null; ls -d /proc/1 2>/dev/null; echo hidden", "hidden\n")
	sealed := shell("touch /build/b 2>/dev/null || echo sealed; cat /build/a && touch /workspace/b")
	var out buffer
	sealed.ReadOnly, sealed.Stdout = []string{"/build"}, &out
	if exit, err := run(t, c, sealed); err != nil || exit.Code != 0 || out.String() != "sealed\n" {
		t.Errorf("%q %+v %v", out.String(), exit, err)
	}
	mustPrint(t, c, "touch /build/b && echo open again", "open again\n")
	i := c.Isolation()
	if i.Level != sandbox.LevelFull || i.Mechanisms["seccomp"] != api.Absent || i.Limits[sandbox.LimitDisk] != api.Enforced || i.Limits[sandbox.LimitCPUs] != api.Absent || i.Limits[sandbox.LimitMemory] != api.Degraded {
		t.Errorf("%+v", i)
	}
}

// An empty mount is a compiler's cache: it takes nothing of the program's disk.
func TestEmptyMount(t *testing.T) {
	_, _, c := start(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}, BuildDisk: small.Disk, Mounts: []sandbox.Mount{
		{Target: "/cache/own", Overlay: true}, {Target: "/mnt/in/it", Overlay: true},
	}})
	mustPrint(t, c, "head -c 3m /dev/zero >/cache/own/big && head -c 1m /dev/zero >/mnt/in/it/big && head -c 900k /dev/zero >own && echo both", "both\n")
}

// A program says what a launcher would say, and nobody is fooled; output that
// comes before the launcher's line on the other stream is not lost.
func TestLauncherCannotBeForged(t *testing.T) {
	_, _, c := start(t, small)
	var out, errOut buffer
	p := shell(`printf -- '-none\n' >&2; echo out; printf -- '+\n' >&2; exit 127`)
	p.Stdout, p.Stderr = &out, &errOut
	exit, err := run(t, c, p)
	if err != nil || exit.Code != 127 || out.String() != "out\n" || errOut.String() != "-none\n+\n" {
		t.Errorf("%q %q %+v %v", out.String(), errOut.String(), exit, err)
	}
	for name, want := range map[string]error{"/no/such": syscall.ENOENT, "/etc/passwd": syscall.EACCES, "a=b": nil} {
		_, err := run(t, c, sandbox.Process{Args: []string{name}})
		if !errors.As(err, new(*sandbox.StartError)) || want != nil && !errors.Is(err, errorOf(want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p = shell("true")
	p.Dir = "/no/such"
	if _, err := run(t, c, p); !errors.As(err, new(*sandbox.StartError)) || !strings.Contains(err.Error(), "/no/such") {
		t.Error(err)
	}
}

// errorOf is what a StartError holds on every system.
func errorOf(err error) error {
	if errors.Is(err, syscall.ENOENT) {
		return errNotExist
	}
	return errPermission
}

// A program that kills whatever it can reach does not outlive its end.
func TestKillersAreKilled(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		_, _, c := start(t, small, func(s *e2btest.Server) { s.EndsAtOnce = atOnce })
		const killers = `for i in 1 2 3; do setsid sh -c 'trap "" TERM; while :; do kill -9 -1; done' & done; sleep 0.3; echo last`
		for range 2 {
			var out buffer
			p := shell(killers)
			p.Stdout = &out
			if _, err := run(t, c, p); err != nil {
				t.Errorf("at once %v: %v", atOnce, err)
			}
		}
		mustPrint(t, c, "sleep 0.2; set -- /proc/[0-9]*; echo $#", "1\n")
	}
}

// Signals reach the group, and what the program writes after one arrives.
func TestSignals(t *testing.T) {
	_, _, c := start(t, small)
	var out buffer
	p := shell(`trap 'wait; echo caught; exit 3' USR1; sh -c 'trap "echo group; exit" USR1; echo ready; while :; do sleep 0.02; done' & wait`)
	p.Stdout = &out
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return out.String() == "ready\n" })
	if err := running.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Code != 3 || out.String() != "ready\ngroup\ncaught\n" {
		t.Errorf("%q %+v %v", out.String(), exit, err)
	}
	if err := running.Signal(999); !unsupported(err) {
		t.Error(err)
	}
	for sig, script := range map[int]string{15: "kill -TERM $$", 11: "kill -SEGV $$", 6: "kill -ABRT $$"} {
		if exit, err := run(t, c, shell(script)); err != nil || exit.Signal != sig || exit.Code != 128+sig {
			t.Errorf("%s: %+v %v", script, exit, err)
		}
	}
	if exit, err := run(t, c, shell("exit 137")); err != nil || exit.Signal != 0 || exit.Code != 137 {
		t.Errorf("%+v %v", exit, err)
	}
}

// await waits for what has to come.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}

// Input is streamed, in more pieces than one, and its end is told; what is not
// read holds nothing up.
func TestInput(t *testing.T) {
	_, _, c := start(t, small)
	var out buffer
	p := shell("wc -c")
	p.Stdin, p.Stdout = io.LimitReader(zeros{}, 300_000), &out
	if _, err := run(t, c, p); err != nil || strings.TrimSpace(out.String()) != "300000" {
		t.Errorf("%q %v", out.String(), err)
	}
	p = shell("exec true")
	p.Stdin = zeros{}
	if exit, err := run(t, c, p); err != nil || exit.Code != 0 {
		t.Errorf("%+v %v", exit, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// An envd that cannot close input is refused where input is asked for, and a
// program without input gets an empty one all the same.
func TestOldEnvd(t *testing.T) {
	_, _, c := start(t, small, func(s *e2btest.Server) { s.EnvdVersion = "0.2.0" })
	mustPrint(t, c, "cat; echo end", "end\n")
	p := shell("cat")
	p.Stdin = strings.NewReader("x")
	if _, err := run(t, c, p); !unsupported(err) || !strings.Contains(err.Error(), "0.2.0") {
		t.Error(err)
	}
	tree, err := c.Files("/workspace")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile("form", strings.NewReader("of a form"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustPrint(t, c, "cat form", "of a form")
}

func TestTerminal(t *testing.T) {
	_, _, c := start(t, small)
	var out buffer
	p := shell("stty size; read -r line; echo got $line; stty size; read -r line || echo end")
	r, w := io.Pipe()
	p.Stdin, p.Stdout, p.TTY = r, &out, &sandbox.TTY{Rows: 20, Cols: 70}
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return strings.Contains(out.String(), "20 70\r\n") })
	if err := running.Resize(21, 71); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(w, "line\n"); err != nil {
		t.Error(err)
	}
	await(t, func() bool {
		return strings.Contains(out.String(), "21 71\r\n") && strings.Contains(out.String(), "got line\r\n")
	})
	w.Close()
	if exit, err := running.Wait(); err != nil || exit.Code != 0 || !strings.Contains(out.String(), "end\r\n") {
		t.Errorf("%q %+v %v", out.String(), exit, err)
	}
	if strings.Contains(out.String(), "+") {
		t.Errorf("the launcher's line shows: %q", out.String())
	}
}

// While a writer blocks, the program waits: what is on its way is bounded.
func TestBackPressure(t *testing.T) {
	_, _, c := start(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}})
	gate := make(chan struct{})
	var n atomic.Int64
	p := shell("i=0; while [ $i -lt 1000 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >/workspace/n; done")
	p.Stdout = writer(func(b []byte) (int, error) { <-gate; n.Add(int64(len(b))); return len(b), nil })
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := c.Files("/workspace")
	if err != nil {
		t.Fatal(err)
	}
	var before, now string
	await(t, func() bool { // until it stands still
		before, now = now, readFile(t, tree, "n")
		time.Sleep(300 * time.Millisecond)
		return now != "" && now == before
	})
	if pieces, err := strconv.Atoi(strings.TrimSpace(now)); err != nil || pieces > 256 { // which are 16 MiB
		t.Errorf("%s pieces were written while nobody read", now)
	}
	close(gate)
	if _, err := running.Wait(); err != nil || n.Load() != 1000*65536 {
		t.Errorf("%d bytes, %v", n.Load(), err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func readFile(t *testing.T, tree sandbox.FileTree, name string) string {
	t.Helper()
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Error(err)
	}
	return string(content)
}

// A start that is called off is one that did not happen.
func TestStartCalledOff(t *testing.T) {
	s, rt, c := start(t, small)
	ctx, cancel := context.WithCancel(t.Context())
	s.Fail(e2btest.On("POST", "/process.Process/Start", 1, func(w httpWriter, r *httpRequest, next httpHandler) bool {
		cancel()
		return e2btest.Slow(time.Second)(w, r, next)
	}))
	if _, err := c.Start(ctx, shell("sleep 1000")); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	mustPrint(t, c, "set -- /proc/[0-9]*; echo $#", "1\n")
	s.Fail(e2btest.On("POST", "/sandboxes", 1, func(w httpWriter, r *httpRequest, next httpHandler) bool {
		next.ServeHTTP(discard{w: w}, r) // it was made, but the answer is late
		<-r.Context().Done()
		return true
	}))
	ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := rt.Create(ctx, small); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("create: %v", err)
	}
	if left := s.Alive(); len(left) != 1 || left[0] != c.ID() {
		t.Errorf("left: %q", left)
	}
}

// Limits that were asked for by name are held or refused.
func TestLimits(t *testing.T) {
	_, _, c := start(t, small)
	try := func(l sandbox.Limits) error {
		p := shell("true")
		p.Limits = l
		_, err := run(t, c, p)
		return err
	}
	if err := try(sandbox.Limits{MemoryBytes: 64 << 20, CPUs: 0.5}); err != nil {
		t.Error(err)
	}
	if err := try(sandbox.Limits{MemoryBytes: 512 << 20, Strict: []string{sandbox.LimitMemory}}); err != nil {
		t.Error(err)
	}
	for _, l := range []sandbox.Limits{
		{MemoryBytes: 64 << 20, Strict: []string{sandbox.LimitMemory}},
		{CPUs: 1, Strict: []string{sandbox.LimitCPUs}},
	} {
		if err := try(l); !unsupported(err) {
			t.Errorf("%+v: %v", l, err)
		}
		if err := c.Isolation().CheckStrict(l); !unsupported(err) { // as soon as there is a container
			t.Errorf("%+v is found to be enforced: %v", l, err)
		}
	}
	p := shell("head -c 100000 /dev/zero >big")
	p.Limits.FileSizeBytes = 1000
	if exit, err := run(t, c, p); err != nil || exit.Signal == 0 && exit.Code == 0 {
		t.Errorf("a file is too large: %+v %v", exit, err)
	}
	p = shell("ulimit -n; ulimit -p; ulimit -t")
	p.Limits = sandbox.Limits{OpenFiles: 33, Processes: 44, CPUTime: 5 * time.Second}
	var out buffer
	p.Stdout = &out
	if _, err := run(t, c, p); err != nil || out.String() != "33\n44\n8\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}
