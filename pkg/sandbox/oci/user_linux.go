package oci

import (
	"errors"
	"fmt"
	"os"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// openUser makes the user namespace of a container.
//
// What the kernel grants to a user, such as inotify instances, it takes from the owner of
// a user namespace as well, who is whoever makes it. An OCI runtime would make it as root,
// and one program could have all that root has, and that all containers have with it. So
// it is made under an id of the container's own, and the runtime joins it.
func (r *Runtime) openUser(b *bundle) (err error) {
	if b.flavour.ownKernel { // which counts for itself
		return nil
	}
	init, err := r.spawner.Fork(spawn.Namespaced{})
	if err != nil {
		return fmt.Errorf("make a process for the user namespace: %w", err)
	}
	defer func() {
		err = errors.Join(err, init.Kill())
		_ = init.Close()
		_, _ = r.spawner.Wait(init.PID)
		init.Pidfd.Close()
	}()
	var p spawn.Program
	same := spawn.Value(-1)
	p.Call("setresuid of the owner", unix.SYS_SETRESUID, same, spawn.Value(b.uid), same)
	p.HoldOnly(unix.SYS_CAPSET, 1<<unix.CAP_SYS_ADMIN) // some hosts let nobody else make one
	p.Call("create the user namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWUSER))
	for _, s := range userSysctls {
		setSysctl(&p, s.name, s.value)
	}
	fd := p.Call("open the user namespace", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String("/proc/self/ns/user"), spawn.Value(unix.O_RDONLY|unix.O_CLOEXEC)).Save()
	p.SendFiles(fd)
	reply, err := init.Do(&p)
	if err != nil {
		return err
	}
	if len(reply.Files) != 1 {
		return errors.New("the process for the user namespace sent no descriptor of it")
	}
	b.userns = reply.Files[0]
	fault.Point("user namespace made")
	return b.mapIDs(init.PID)
}

// userSysctls are the settings of a container's user namespace, in /proc/sys/user.
var userSysctls = []struct{ name, value string }{
	{"max_user_namespaces", "0"}, // also if the filter did not refuse them
	{"max_inotify_instances", "128"},
	{"max_inotify_watches", "8192"},
}

// setSysctl appends what sets one of the caller's own user namespace. Where /proc/sys is
// read-only, as for some services, the host's maxima hold for the container's id.
func setSysctl(p *spawn.Program, name, value string) {
	fd := p.Call("open "+name, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String("/proc/sys/user/"+name), spawn.Value(unix.O_WRONLY|unix.O_CLOEXEC)).Allow(unix.EROFS).Save()
	p.Call("write "+name, unix.SYS_WRITE, fd, p.String(value), spawn.Value(len(value))).Allow(unix.EBADF)
	p.Call("close", unix.SYS_CLOSE, fd).Allow(unix.EBADF)
}

// ids are the container's user and group ids.
func (b *bundle) ids() []specs.LinuxIDMapping {
	return []specs.LinuxIDMapping{
		{ContainerID: 0, HostID: uint32(b.uid), Size: 1},
		{ContainerID: sandbox.UserID, HostID: uint32(b.uid + 1), Size: 1},
	}
}

// mapIDs gives a process's user namespace the container's ids.
func (b *bundle) mapIDs(pid int) error {
	var ids string
	for _, m := range b.ids() {
		ids += fmt.Sprintln(m.ContainerID, m.HostID, m.Size)
	}
	for _, file := range []string{"uid_map", "gid_map"} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, file), []byte(ids), 0); err != nil {
			return fmt.Errorf("map user ids: %w", err)
		}
	}
	return nil
}
