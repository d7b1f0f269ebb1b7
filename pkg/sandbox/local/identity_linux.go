package local

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// identity says which ids a container's processes have and who maps them.
//
// The namespaces of a container are made first and belong to our own user
// namespace (as root) or to an outer one of ours (as an ordinary user). The
// programs live in an inner user namespace that is made last and owns nothing:
// even with every capability inside it, mount, umount and remount are EPERM.
type identity struct {
	// root means that we may give out ids: the process is root in its user
	// namespace, with the capabilities to prove it.
	root bool
	// id is the host's id of init; programs have id+1. Ordinary users have one
	// id for everything.
	id int
}

// programUser is the owner of a program's files, as the namespace in which the
// world is built sees it. Where it is 0 that is us.
func (i identity) programUser() int {
	if i.root {
		return i.id + 1
	}
	return 0 // the outer user namespace maps 0 to the caller
}

// asUser calls do, which opens, makes or removes files, as another user: it has
// that user's rights to files and no others, and what it makes is that user's. So
// whatever a program has put there, nothing is done with root's rights, and root
// needs none over other users' files. User 0 is us. The kernel writes no core of a
// process that has changed its user.
func asUser(user int, do func() error) (err error) {
	if user == 0 {
		return do()
	}
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// Who changes its user loses its signal for the parent's death, and what
		// the main thread has is the process's.
		defer runtime.UnlockOSThread()
		done := make(chan error)
		go func() { done <- asUser(user, do) }()
		return <-done
	}
	uid, gid := idForFiles(unix.SYS_SETFSUID), idForFiles(unix.SYS_SETFSGID)
	groups, err := unix.Getgroups()
	if err != nil {
		runtime.UnlockOSThread()
		return notUserError{user, err}
	}
	defer func() {
		back := setIDsForFiles(uid, gid)
		if len(groups) > 0 {
			back = errors.Join(back, unix.Setgroups(groups)) //nolint:forbidigo // of this thread alone, which is locked
		}
		if back != nil {
			err = errors.Join(err, back) // the thread stays locked, and ends with its goroutine
			return
		}
		runtime.UnlockOSThread()
	}()
	if len(groups) > 0 {
		if err := unix.Setgroups(nil); err != nil { //nolint:forbidigo // the same
			return notUserError{user, err}
		}
	}
	if err := setIDsForFiles(user, user); err != nil {
		return err
	}
	return do()
}

// notUserError is that we could not become a user. It does not unwrap: what the kernel says
// of it is not what it says of a file, which may well be closed to that user.
type notUserError struct {
	user int
	err  error
}

func (e notUserError) Error() string { return fmt.Sprintf("take user %d for files: %v", e.user, e.err) }

// setIDsForFiles changes who this thread, which is locked, is for files.
func setIDsForFiles(uid, gid int) error {
	for _, id := range []struct {
		call uintptr
		id   int
	}{{unix.SYS_SETFSGID, gid}, {unix.SYS_SETFSUID, uid}} {
		_, _, _ = unix.RawSyscall(id.call, uintptr(id.id), 0, 0) // returns what was before, whatever it does
		if idForFiles(id.call) != id.id {
			return notUserError{uid, unix.EPERM}
		}
	}
	return nil
}

// idForFiles asks for the thread's user or group for files, by the call that sets it:
// there is no other, and it refuses -1.
func idForFiles(call uintptr) int {
	now, _, _ := unix.RawSyscall(call, ^uintptr(0), 0, 0)
	return int(now)
}

// outerMaps lets an ordinary user be root in the outer user namespace.
func (i identity) outerMaps(pid int) error {
	return writeMaps(pid, "deny", fmt.Sprintf("0 %d 1", os.Geteuid()), fmt.Sprintf("0 %d 1", os.Getegid()))
}

// innerMaps maps init to 0 and programs to the sandbox user.
func (i identity) innerMaps(pid int) error {
	m := fmt.Sprintf("0 %d 1\n%d %d 1", i.id, sandbox.UserID, i.id+1)
	return writeMaps(pid, "", m, m)
}

func writeMaps(pid int, setgroups, uids, gids string) error {
	for _, f := range []struct{ name, content string }{{"setgroups", setgroups}, {"uid_map", uids}, {"gid_map", gids}} {
		if f.content == "" {
			continue
		}
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, f.name), []byte(f.content), 0); err != nil {
			return fmt.Errorf("map user ids: %w", err)
		}
	}
	return nil
}

// enterInner appends the move of init into the inner user namespace. As root
// the host writes the maps afterwards; an ordinary user's init does it itself.
//
// What the kernel grants to a user, such as inotify instances, it takes from the owner of
// a user namespace as well, who is whoever makes it. As root that is init under its own
// id: were it root, one program could have all that root has, and that others have with
// it. Some hosts let nobody without CAP_SYS_ADMIN make one.
func (i identity) enterInner(p *spawn.Program) {
	if fault.Off("namespace", "user") {
		return
	}
	if i.root && !fault.Off("namespace", "owner") {
		same := spawn.Value(-1)
		p.Call("setresuid of the owner", unix.SYS_SETRESUID, same, spawn.Value(i.id), same)
		p.HoldOnly(unix.SYS_CAPSET, 1<<unix.CAP_SYS_ADMIN)
	}
	p.Call("create the inner user namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWUSER))
	if i.root {
		return
	}
	writeFile(p, "/proc/self/setgroups", "deny", 0)
	writeFile(p, "/proc/self/uid_map", fmt.Sprintf("%d 0 1", sandbox.UserID), 0)
	writeFile(p, "/proc/self/gid_map", fmt.Sprintf("%d 0 1", sandbox.UserID), 0)
}

// becomeInit appends what init does once its ids are mapped.
func (i identity) becomeInit(p *spawn.Program) {
	if i.root {
		p.Call("setgroups of init", unix.SYS_SETGROUPS, spawn.Value(0), spawn.Value(0))
		p.Call("setresgid of init", unix.SYS_SETRESGID, spawn.Value(0), spawn.Value(0), spawn.Value(0))
		p.Call("setresuid of init", unix.SYS_SETRESUID, spawn.Value(0), spawn.Value(0), spawn.Value(0))
	}
	// Nobody inside may look at init, whose memory is a copy of the spawner's.
	p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(0))
}
