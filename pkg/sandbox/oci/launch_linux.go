package oci

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/internal/stdio"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// pipes are the standard streams of a container's init.
type pipes struct {
	stdin  *os.File      // we write
	stdout *os.File      // we read
	words  stdio.Tail    // of the runtime, and of init
	silent chan struct{} // closed when no more of them come
}

func (p *pipes) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *pipes) Write(b []byte) (int, error) { return p.stdin.Write(b) }
func (p *pipes) Close() error                { return errors.Join(p.stdin.Close(), p.stdout.Close()) }

// launch starts the runtime on a bundle, in a mount namespace of its own. It
// returns the runtime's pid among the spawner's children.
func (r *Runtime) launch(b *bundle) (_ *pipes, pid int, err error) {
	var ours, theirs [3]*os.File
	defer func() {
		for i := range theirs {
			if theirs[i] != nil {
				theirs[i].Close()
			}
			if err != nil && ours[i] != nil {
				ours[i].Close()
			}
		}
	}()
	for i := range 3 {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, 0, fmt.Errorf("make a pipe: %w", err)
		}
		ours[i], theirs[i] = read, write
		if i == 0 {
			ours[i], theirs[i] = write, read
		}
	}
	var p spawn.Program
	files := [3]spawn.Arg{}
	for i, f := range theirs {
		files[i] = p.File(int(f.Fd()))
	}
	p.Fork("fork", unix.SYS_CLONE, []spawn.Arg{spawn.Value(unix.CLONE_VFORK | unix.CLONE_NEWNS | uintptr(unix.SIGCHLD))}, func() {
		b.enterNetwork(&p)
		for i, f := range files {
			p.Call("dup3", unix.SYS_DUP3, f, spawn.FD(i), spawn.Value(0))
		}
		p.Call("close_range", unix.SYS_CLOSE_RANGE, spawn.Value(3), spawn.Value(uint32(1<<32-1)), spawn.Value(unix.CLOSE_RANGE_CLOEXEC))
		p.Call("setsid", unix.SYS_SETSID)
		b.world(&p)
		p.UnblockSignals(unix.SYS_RT_SIGPROCMASK)
		args := r.flavour.command(r.state, "run", "--bundle", b.dir, b.id)
		p.Call("execve "+args[0], unix.SYS_EXECVE, p.String(args[0]), p.Strings(args), p.Strings(append(environment(), bundleVariable+b.dir)))
	})
	reply, err := r.spawner.Do(&p)
	if err != nil {
		return nil, 0, fmt.Errorf("start %s: %w", r.flavour.name, err)
	}
	fault.Point("oci runtime started")
	conn := &pipes{stdin: ours[0], stdout: ours[1], silent: make(chan struct{})}
	go func() {
		defer close(conn.silent)
		defer ours[2].Close()
		_, _ = io.Copy(&conn.words, ours[2]) // the end of all who may write
	}()
	return conn, reply.PID, nil
}

// world appends the mounts that the runtime finds: the limited file systems, the
// devices and the root. They are the mount namespace's, and so gone with the container.
func (b *bundle) world(p *spawn.Program) {
	mount := func(what, source, target, kind string, flags uintptr, data string) {
		p.Call("mount "+what, unix.SYS_MOUNT, p.String(source), p.String(target), p.String(kind), spawn.Value(flags), p.String(data))
	}
	mount("/ private", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	p.Call("chdir to the bundle", unix.SYS_CHDIR, p.String(b.dir)) // layers of overlays are below it
	disk := filepath.Join(b.dir, "disk")
	mount("the disk", "tmpfs", disk, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, tmpfsOptions(b.spec.Disk, 5))
	for _, part := range []string{"workspace", "tmp", "shm"} {
		b.ownDir(p, filepath.Join(disk, part))
	}
	p.Call("mkdir empty", unix.SYS_MKDIRAT, spawn.FD(unix.AT_FDCWD), p.String("disk/empty"), spawn.Value(0o755))
	b.devices(p, mount)
	if b.image != nil {
		mount("the image", b.image.Dir(), "image", "", unix.MS_BIND, "")
	}
	if b.spec.BuildDisk.Bytes > 0 {
		build := filepath.Join(b.dir, "build")
		mount("the build disk", "tmpfs", build, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, tmpfsOptions(b.spec.BuildDisk, 8))
		b.ownDir(p, filepath.Join(build, "build"))
		for _, target := range b.layers() {
			b.ownDir(p, filepath.Join(build, "u"+layerName(target)))
			b.ownDir(p, filepath.Join(build, "w"+layerName(target)))
		}
	}
	for _, m := range b.mounts {
		if at, ok := b.reachable(m); ok {
			mount(m.Source, m.Source, at, "", unix.MS_BIND|unix.MS_REC, "")
		}
		if b.ours(m) {
			b.rootMount(p, m)
		}
	}
	if b.host.hybrid {
		// crun takes a hybrid host for one of version 2 when that has controllers,
		// and then finds none of those that it needs.
		mount("an empty directory over cgroup v2", "tmpfs", "/sys/fs/cgroup/unified", "tmpfs", 0, "size=64k")
	}
}

// devices puts device nodes of our own where the runtime finds the host's: it binds
// those that are there, also over what is masked, and locks and inotify watches would
// reach from one run into another through them. What else may be in /dev stays.
func (b *bundle) devices(p *spawn.Program, mount func(what, source, target, kind string, flags uintptr, data string)) {
	if b.flavour.ownKernel { // devices are its own
		return
	}
	mount("devices", "tmpfs", "dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=4k,nr_inodes=16,mode=0755")
	p.Call("umask", unix.SYS_UMASK, spawn.Value(0))
	for _, d := range rootfs.DeviceNodes() {
		p.Call("mknod "+d.Name, unix.SYS_MKNODAT, spawn.FD(unix.AT_FDCWD), p.String("dev/"+d.Name),
			spawn.Value(uint32(unix.S_IFCHR|0o666)), spawn.Value(unix.Mkdev(d.Major, d.Minor)))
		mount(d.Name, "dev/"+d.Name, "/dev/"+d.Name, "", unix.MS_BIND, "")
	}
	p.Call("umask", unix.SYS_UMASK, spawn.Value(0o022))
}

// rootMount appends a mount below the root's skeleton.
func (b *bundle) rootMount(p *spawn.Program, m specs.Mount) {
	target := p.String(filepath.Join(b.dir, "rootfs", m.Destination))
	mount := func(source, kind string, flags uintptr, data string) {
		p.Call("mount "+m.Destination, unix.SYS_MOUNT, p.String(source), target, p.String(kind), spawn.Value(flags), p.String(data))
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if b.flavour.ownKernel { // gVisor mounts its root again without them, which a container's user may not
		flags = 0
	}
	if slices.Contains(m.Options, "ro") {
		flags |= unix.MS_RDONLY
	}
	if m.Type == "bind" {
		mount(m.Source, "", unix.MS_BIND, "")
		mount("", "", unix.MS_BIND|unix.MS_REMOUNT|flags, "")
		return
	}
	var data []string
	for _, o := range m.Options {
		if strings.Contains(o, "=") {
			data = append(data, o)
		}
	}
	mount(m.Source, m.Type, flags, strings.Join(data, ","))
}

// ownDir makes a directory that is the programs' user's.
func (b *bundle) ownDir(p *spawn.Program, name string) {
	at, id := spawn.FD(unix.AT_FDCWD), spawn.Value(b.uid+1)
	p.Call("mkdir "+name, unix.SYS_MKDIRAT, at, p.String(name), spawn.Value(0o755))
	p.Call("chown "+name, unix.SYS_FCHOWNAT, at, p.String(name), id, id, spawn.Value(unix.AT_SYMLINK_NOFOLLOW))
}

// tmpfsOptions are those of a file system with a limit, beside a few directories of
// ours.
func tmpfsOptions(limit sandbox.DiskLimit, ours int64) string {
	return fmt.Sprintf("size=%d,nr_inodes=%d,mode=0755", limit.Bytes, limit.Inodes+ours)
}
