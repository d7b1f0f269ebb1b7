package local

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func needRoot(t *testing.T) {
	t.Helper()
	if !isRoot(capabilities()) {
		t.Skip("only root can be another user")
	}
}

// Another user's are the rights and the files, and afterwards they are ours again.
func TestAsUser(t *testing.T) {
	needRoot(t)
	const user = instance.FirstID + 1
	dir := t.TempDir()
	open := func(name string) *os.Root {
		root, err := os.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}
	root := open(dir)
	if err := errors.Join(root.Chmod(".", 0o777), root.WriteFile("ours", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	err := asUser(user, func() error {
		if _, err := root.Open("ours"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a file of ours: %v", err)
		}
		return root.WriteFile("theirs", nil, 0o600)
	})
	if err != nil {
		t.Error(err)
	}
	info, err := root.Stat("theirs")
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != user || st.Gid != user {
		t.Errorf("a file of theirs belongs to %d:%d", st.Uid, st.Gid)
	}
	offMainThread(func() {
		_ = asUser(user, func() error {
			if err := asUser(user, func() error { return nil }); err != nil || idForFiles(unix.SYS_SETFSUID) != user {
				t.Errorf("after one in another it is %d, %v", idForFiles(unix.SYS_SETFSUID), err)
			}
			return nil
		})
		if uid, gid := idForFiles(unix.SYS_SETFSUID), idForFiles(unix.SYS_SETFSGID); uid != os.Geteuid() || gid != os.Getegid() {
			t.Errorf("afterwards it is %d:%d", uid, gid)
		}
	})
}

// Groups that we are in beside our own are not another user's.
func TestAsUserHasNoGroupsOfOurs(t *testing.T) {
	needRoot(t)
	const user, group = instance.FirstID + 1, instance.FirstID + 3
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Chmod(".", 0o777), root.WriteFile("theirs", nil, 0o600), root.Chown("theirs", 0, group), root.Chmod("theirs", 0o660)); err != nil {
		t.Fatal(err)
	}
	offMainThread(func() {
		before, err := unix.Getgroups()
		if err != nil {
			t.Error(err)
		}
		if err := unix.Setgroups([]int{group}); err != nil {
			t.Error(err)
		}
		defer func() { _ = unix.Setgroups(before) }()
		if err := asUser(user, func() error { _, err := root.Open("theirs"); return err }); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a file of a group of ours: %v", err)
		}
		if now, err := unix.Getgroups(); err != nil || !slices.Equal(now, []int{group}) {
			t.Errorf("afterwards the groups are %v, %v", now, err)
		}
	})
}

// Who keeps root's capabilities as another user is not taken for root: what signals
// everything of a program's user would signal everything that there is.
func TestRootWithoutFixup(t *testing.T) {
	needRoot(t)
	var err error
	offMainThread(func() {
		var before int
		if before, err = unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0); err != nil {
			return
		}
		if err = unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(before|keepsCapabilities), 0, 0, 0); err != nil {
			return
		}
		defer func() { _ = unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(before), 0, 0, 0) }()
		if isRoot(capabilities()) {
			t.Error("it is taken for root")
		}
	})
	if err != nil {
		t.Skipf("the bits of a thread cannot be set: %v", err)
	}
}

// offMainThread calls f on one thread that is not the main one.
func offMainThread(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		offMainThread(f)
	}()
	<-done
}

// What the main thread has, its signal for the parent's death, is the process's.
func TestAsUserKeepsTheMainThread(t *testing.T) {
	needRoot(t)
	found, stop := make(chan bool), make(chan struct{})
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer close(stop)
	tried := func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() != unix.Getpid() {
			found <- false
			<-stop // so that the next one is on another thread
			return
		}
		set := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0)
		err := asUser(instance.FirstID+1, func() error {
			if unix.Gettid() == unix.Getpid() {
				t.Error("on the main thread")
			}
			return nil
		})
		signal := int32(0)
		_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0)
		if set != nil || err != nil || errno != 0 || signal != int32(unix.SIGCONT) {
			t.Errorf("its signal is %d; %v, %v, %v", signal, set, err, errno)
		}
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
		found <- true
	}
	for range 100 {
		waiting.Go(tried)
		if <-found {
			return
		}
	}
	t.Skip("the main thread is busy")
}

// ownUser says that a program has to have a user id of its own.
const ownUser = "SANDBOX_TEST_OWN_USER"

// Whatever modes a program gives to its files, we collect what its user may read,
// write beside it, and remove everything.
func TestOwnFiles(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) { collectAndRemove(t, level) })
	}
}

func collectAndRemove(t *testing.T, level sandbox.Level) {
	rt, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	disk := sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}
	c, err := rt.Create(t.Context(), sandbox.Spec{Level: level, Disk: disk, BuildDisk: disk, Mounts: []sandbox.Mount{{Target: "/made", Overlay: true}}})
	if errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if uid := c.Isolation().Mechanisms["uid"]; os.Getenv(ownUser) != "" && uid != api.Enforced {
		t.Errorf("a user id of its own is %s", uid)
	}
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/file", "in/replaced"} {
		if err := tree.WriteFile(name, strings.NewReader("ours\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, c, `cat in/file && echo more >>in/file && umask 077 &&
echo theirs >private && mkdir closed && echo theirs >closed/file && rm -r in/replaced && mkfifo in/replaced &&
echo theirs >none && chmod 0 none && mkdir shut && echo theirs >shut/file && chmod 0 shut && chmod 700 . &&
cd "$1" && mkdir closed shut && echo theirs >closed/file && chmod 0 closed/file shut`, "/made")
	if err := tree.WriteFile("in/replaced", strings.NewReader("again"), 0o400); err != nil {
		t.Error(err)
	}
	if tree, err = c.Files(sandbox.WorkspaceDir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"in/file": "ours\nmore\n", "in/replaced": "again", "private": "theirs\n", "closed/file": "theirs\n", "none": "", "shut/file": ""} {
		content, err := readAll(tree, name)
		if content != want || want == "" && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s is %q, want %q: %v", name, content, want, err)
		}
	}
	if got, want := namesOf(t, tree), "closed closed/file in in/file in/replaced none private shut"; got != want {
		t.Errorf("it holds %s, want %s", got, want)
	}
	shell(t, c, "chmod 0 .")
	if got := namesOf(t, tree); got != "" {
		t.Errorf("closed, it holds %s", got)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(rt.instance.Dir)
	if len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func namesOf(t *testing.T, tree sandbox.FileTree) string {
	t.Helper()
	var names []string
	if err := tree.Walk(100, func(f sandbox.FileInfo) error { names = append(names, f.Path); return nil }); err != nil {
		t.Error(err)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func shell(t *testing.T, c sandbox.Container, script string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	p := sandbox.Process{Args: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, Stderr: &out}
	running, err := c.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v: %s", exit, err, out.String())
	}
}

func readAll(tree sandbox.FileTree, name string) (string, error) {
	f, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	return string(content), err
}

// What root has in a container that is given no more than it takes is enough for
// all that a runtime promises.
func TestFourCapabilities(t *testing.T) {
	fewCapabilities(t, "^(TestConformance|TestOwnFiles|TestAsUser)$/^restricted$", "")
}

// fewCapabilities runs tests again as root with CHOWN, KILL, SETGID and SETUID
// alone.
func fewCapabilities(t *testing.T, run, skip string) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("there is no root, or no setpriv to make less of it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), setpriv, "--bounding-set=-all,+chown,+kill,+setgid,+setuid", "--inh-caps=-all",
		self, "-test.v", "-test.timeout=5m", "-test.run="+run, "-test.skip="+skip)
	cmd.Env = append(cmd.Environ(), ownUser+"=yes")
	cmd.ExtraFiles = []*os.File{os.Stdin} // the spawner does not start where its own program would be descriptor 3
	out, err := cmd.CombinedOutput()
	if passed := strings.Count(string(out), "--- PASS"); err != nil || passed == 0 {
		t.Errorf("%d passed, %v\n%s", passed, err, out)
	}
}
