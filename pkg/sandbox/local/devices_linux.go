package local

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// devices makes /dev and the writable directories. The nodes are our own: the
// host's inodes carry locks from run to run. An ordinary user cannot make nodes
// and binds the host's.
func (w *world) devices() {
	w.dir("dev", 0o755)
	if w.image != nil { // below which nothing can be made
		w.dir(w.own("dev"), 0o755)
		w.mount("/dev", w.own("dev"), "dev", "", unix.MS_BIND, "")
	}
	for _, d := range rootfs.DeviceNodes() {
		if w.identity.root && !fault.Off("inodes", "devices") {
			w.p.Call("mknod /dev/"+d.Name, unix.SYS_MKNODAT, spawn.FD(unix.AT_FDCWD), w.p.String("dev/"+d.Name),
				spawn.Value(uint32(unix.S_IFCHR|0o666)), spawn.Value(unix.Mkdev(d.Major, d.Minor)))
			continue
		}
		w.p.Call("mknod /dev/"+d.Name, unix.SYS_MKNODAT, spawn.FD(unix.AT_FDCWD), w.p.String("dev/"+d.Name),
			spawn.Value(uint32(unix.S_IFREG|0o666)), spawn.Value(0))
		w.mount("/dev/"+d.Name, "/dev/"+d.Name, "dev/"+d.Name, "", unix.MS_BIND, "")
		// Everybody may write to the node: nobody may change its times, and its owner
		// nothing else of it.
		w.mount("/dev/"+d.Name+" read-only", "", "dev/"+d.Name, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NOEXEC, "")
	}
	for _, l := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		w.p.Call("symlink /dev/"+l[1], unix.SYS_SYMLINKAT, w.p.String(l[0]), spawn.FD(unix.AT_FDCWD), w.p.String("dev/"+l[1]))
	}
	w.dir("dev/pts", 0o755)
	terminals := rootfs.DevptsOptions
	if fault.Off("limit", "terminals") {
		terminals += "00" // they end with how many there may be
	}
	w.mount("/dev/pts", "devpts", "dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, terminals)
	w.dir("dev/shm", 0o1777)
	w.dir(w.own("tmp"), 0o1777)
	w.dir(w.own("workspace"), 0o755)
	w.give(w.own("workspace"))
	if w.disk != "" {
		w.dir(w.own(".disk/tmp"), 0o1777)
		w.dir(w.own(".disk/workspace"), 0o755)
		w.give(w.own(".disk/workspace"))
	}
}

// proc mounts a /proc of the new pid namespace, hides what is not the
// program's business, and makes the kernel's settings read-only.
func (w *world) proc() {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	w.dir("proc", 0o555)
	// hidepid: what a program may not trace, init above all, it does not see.
	hide := "hidepid=2"
	if fault.Off("flag", "hidepid") {
		hide = ""
	}
	w.mount("/proc", "proc", "proc", "proc", quiet, hide)
	w.keepSysctls()
	w.tuneNetwork()
	w.mount("/proc/sys", "proc/sys", "proc/sys", "", unix.MS_BIND, "")
	w.mount("/proc/sys read-only", "", "proc/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|quiet, "")
	w.masks() // some are below /proc/sys
}

// masks puts an empty file or directory over each part of /proc that is to be hidden.
// They are bound from a mount that is read-only, which makes them so: to a user who is
// also that of the root they would be a way to write there.
func (w *world) masks() {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	masks := w.own(".mask")
	file, dir := masks+"/file", masks+"/dir"
	w.dir(masks, 0o555)
	w.dir(dir, 0o555)
	w.p.Call("mknod /"+file, unix.SYS_MKNODAT, spawn.FD(unix.AT_FDCWD), w.p.String(file), spawn.Value(uint32(unix.S_IFREG|0o444)), spawn.Value(0))
	w.mount("the masks", masks, masks, "", unix.MS_BIND, "")
	w.mount("the masks read-only", "", masks, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|quiet, "")
	for _, m := range w.host.proc {
		source := file
		if m.dir {
			source = dir
		}
		w.mount("/proc/"+m.name, source, "proc/"+m.name, "", unix.MS_BIND, "")
	}
}

// keepSysctls opens /proc/sys/user before it is made read-only; see
// forbidUserNamespaces.
func (w *world) keepSysctls() {
	fd := w.p.Call("open /proc/sys/user", unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), w.p.String("proc/sys/user"),
		spawn.Value(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)).Save()
	w.p.Call("dup3", unix.SYS_DUP3, fd, spawn.FD(sysctlFD), spawn.Value(unix.O_CLOEXEC))
	w.p.Call("close", unix.SYS_CLOSE, fd)
}

// forbidUserNamespaces sets the inner user namespace's own limit of further
// ones to zero. The setting belongs to whoever looks it up, so this happens
// inside; it holds even if the seccomp filter did not.
func forbidUserNamespaces(p *spawn.Program) {
	fd := p.Call("open max_user_namespaces", unix.SYS_OPENAT, spawn.FD(sysctlFD), p.String("max_user_namespaces"), spawn.Value(unix.O_WRONLY|unix.O_CLOEXEC)).Save()
	p.Call("write max_user_namespaces", unix.SYS_WRITE, fd, p.String("0"), spawn.Value(1))
	p.Call("close", unix.SYS_CLOSE, fd)
	p.Call("close", unix.SYS_CLOSE, spawn.FD(sysctlFD))
}

// tuneNetwork changes the settings of a namespace whose loopback will be up.
func (w *world) tuneNetwork() {
	if w.spec.Network.Mode == sandbox.NetworkNone {
		return
	}
	for _, s := range netns.Sysctls() {
		writeFile(w.p, strings.TrimPrefix(s.Path, "/"), s.Value, 0)
	}
}

// network brings the loopback up when it is all that is asked for. Otherwise it
// stays down, or [outlet.Outlet.Open] does it; no capability over the namespace ever
// exists inside.
func (w *world) network() {
	if w.spec.Network.Mode != sandbox.NetworkLocalhost {
		return
	}
	request := make([]byte, 40) // struct ifreq: name, then flags
	copy(request, "lo")
	request[16] = unix.IFF_UP | unix.IFF_RUNNING
	fd := w.p.Call("socket", unix.SYS_SOCKET, spawn.Value(unix.AF_INET), spawn.Value(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC), spawn.Value(0)).Save()
	w.p.Call("bring the loopback up", unix.SYS_IOCTL, fd, spawn.Value(unix.SIOCSIFFLAGS), w.p.Bytes(request))
	w.p.Call("close", unix.SYS_CLOSE, fd)
}
