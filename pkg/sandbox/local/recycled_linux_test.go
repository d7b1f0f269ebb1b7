package local

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// networkOf makes a container, runs a program in it that tells which network namespace it is in,
// and deletes it; meanwhile is called before that.
func networkOf(t *testing.T, rt *Runtime, spec sandbox.Spec, meanwhile func(*container)) string {
	t.Helper()
	spec.Disk, spec.Level = sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}, cmp.Or(spec.Level, sandbox.LevelFull)
	made, err := rt.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	c := made.(*container)
	shell(t, c, `readlink /proc/self/ns/net >net; exec 3<>/dev/null; grep -c . /proc/net/unix >unix`)
	files, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	told, err := readAll(files, "net")
	if sockets, _ := readAll(files, "unix"); err != nil || spec.Level == sandbox.LevelFull && sockets != "1\n" {
		t.Errorf("%q lines about sockets: %v", sockets, err)
	}
	if meanwhile != nil {
		meanwhile(c)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(told)
}

// The next container of the same owner has the network namespace of the one before, if nothing
// is left in it.
func TestNetworkIsRecycled(t *testing.T) {
	needRoot(t)
	rt := opened(t)
	mine := sandbox.Spec{Recycle: "mine"}
	first := networkOf(t, rt, mine, nil)
	host, err := os.Readlink("/proc/self/ns/net")
	if err != nil || first == host || !strings.HasPrefix(first, "net:[") {
		t.Fatalf("it is in %s, and the host in %s: %v", first, host, err)
	}
	if again := networkOf(t, rt, mine, nil); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
	// As long as that waits for the next of its owner nobody else has it.
	for name, spec := range map[string]sandbox.Spec{
		"another owner":  {Recycle: "another"},
		"nobody":         {},
		"with a network": {Recycle: "mine", Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}},
	} {
		if other := networkOf(t, rt, spec, nil); other == first || other == host {
			t.Errorf("%s has %s, which was used", name, other)
		}
	}
	if n := len(rt.networks.waiting); n != 2 {
		t.Errorf("%d wait, not that of mine and of another", n)
	}
	// Where there are no namespaces it is the host's.
	outside := func(c *container) {
		if n := c.lastNetwork(); c.recycles() || n.ns != nil {
			t.Error("the next container may have the host's")
		}
	}
	if other := networkOf(t, rt, sandbox.Spec{Recycle: "mine", Level: sandbox.LevelRestricted}, outside); other != host {
		t.Errorf("at restricted it is in %s, and the host in %s", other, host)
	}
	if n := len(rt.networks.waiting); n != 2 {
		t.Errorf("%d wait, and one may be the host's", n)
	}
	// Two at a time have one each, and both wait.
	var second string
	if other := networkOf(t, rt, mine, func(*container) { second = networkOf(t, rt, mine, nil) }); other != first || second == first {
		t.Errorf("%s, and %s beside it", other, second)
	}
	if n := len(rt.networks.waiting); n != 3 {
		t.Errorf("%d wait, not 3", n)
	}
	rt.networks.close()
	if n := len(rt.networks.waiting); n != 0 {
		t.Errorf("%d wait in a runtime that is closed", n)
	}
	if last := networkOf(t, rt, mine, nil); last == second {
		t.Error("a runtime that is closed gives networks")
	}
}

// What holds a socket when all processes are gone keeps its network namespace from everybody else.
func TestNetworkInUseIsNotRecycled(t *testing.T) {
	needRoot(t)
	for name, uses := range map[string]func(*container){
		"a socket": func(c *container) {
			offMainThread(func() {
				own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
					return
				}
				defer unix.Close(own)
				if err := unix.Setns(int(c.init.Pidfd.Fd()), unix.CLONE_NEWNET); err != nil {
					t.Error(err)
					return
				}
				fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
				t.Cleanup(func() { unix.Close(fd) })
				if err := errors.Join(err, unix.Setns(own, unix.CLONE_NEWNET)); err != nil {
					t.Error(err)
				}
			})
		},
		"a program that is killed": func(c *container) {
			if _, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sleep", "1000"}}); err != nil {
				t.Fatal(err)
			}
		},
		"nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			rt := opened(t)
			networkOf(t, rt, sandbox.Spec{Recycle: "mine"}, uses)
			if waits := len(rt.networks.waiting) > 0; waits != (name != "a socket") {
				t.Errorf("somebody else may have it: %t", waits)
			}
		})
	}
}

// A network namespace that nobody wants does not stay.
func TestRecycledNetworksExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e emptyNetworks
		file := func() *os.File {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		var given []*os.File
		give := func(owner string) {
			given = append(given, file())
			e.give(owner, given[len(given)-1])
		}
		give("a")
		time.Sleep(recycledFor / 2)
		give("b")
		give("a")
		if got := e.take("a"); got != given[2] || e.take("c") != nil {
			t.Error("not the last that was given, or another's")
		}
		e.give("a", given[2])
		time.Sleep(recycledFor/2 + time.Millisecond)
		synctest.Wait()
		owners := func() (list []string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, w := range e.waiting {
				list = append(list, w.owner)
			}
			return list
		}
		if left := owners(); !slices.Equal(left, []string{"b", "a"}) {
			t.Errorf("%v are left", left)
		}
		time.Sleep(recycledFor)
		synctest.Wait()
		if left := owners(); len(left) != 0 {
			t.Errorf("%v are left", left)
		}
		for range maxRecycled + 3 {
			give("a")
		}
		if given[len(given)-1].Fd() == ^uintptr(0) {
			t.Error("the last is not kept")
		}
		if n := len(owners()); n != maxRecycled {
			t.Errorf("%d wait", n)
		}
		e.close()
		for i, f := range given {
			if f.Close() == nil {
				t.Errorf("%d is open", i)
			}
		}
	})
}
