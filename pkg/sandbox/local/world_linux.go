package local

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// staging is where a root is put together, in a mount namespace of its own.
// Nothing that a root is made of lies below it.
const staging = "/sys"

// sysctlFD is a descriptor of /proc/sys/user that init keeps for
// [world.forbidUserNamespaces].
const sysctlFD = 10

// world appends the calls that build a container's root.
//
// There is one tmpfs, limited in bytes and inodes: it is the root, and what the
// program may write (/tmp, /dev/shm, the workspace) are directories of it that
// are mounted again, so the sum of everything written stays below the disk
// limit. A second one, with the compiler's limit, holds the build directory.
// Host directories come as overlays, never as bare binds: locks and inotify
// watches go by inode, and through a shared one they reach from one run into
// another.
//
// An image is the lower layer of one overlay that is the root. The upper one is ours,
// in the tmpfs: the places where something is mounted, and our /etc. It is made
// first, while links of the image lead nowhere.
type world struct {
	p        *spawn.Program
	spec     sandbox.Spec
	identity identity
	host     hostRoot
	image    *rootfs.Image   // in place of the host's directories, or nil
	made     map[string]bool // directories, relative to the root
	trusted  []string        // stores of certificates, relative to the root
	caches   int
	etc      string // the layer with /etc, see [commonEtc]; or empty: it makes its own
	// disk is the block device that holds what the program writes, or empty
	// for the root's own tmpfs.
	disk string
}

// build appends everything up to and including the move into the root. What
// needs the world's privileges is then done for good.
func (w *world) build() {
	w.privateMounts()
	if w.image != nil {
		w.overImage()
	} else {
		w.system()
	}
	w.disks()
	for _, m := range w.spec.Mounts {
		w.hostMount(m)
	}
	w.devices()
	w.proc()
	if fault.Off("mount", "a /tmp of its own") {
		w.mount("the host's /tmp", "/tmp", w.own("tmp"), "", unix.MS_BIND, "")
	}
	w.pivot()
	w.writable()
	w.network()
	w.p.Call("sethostname", unix.SYS_SETHOSTNAME, w.p.String(sandbox.Hostname), spawn.Value(len(sandbox.Hostname)))
}

func (w *world) mount(what, source, target, fstype string, flags uintptr, data string) {
	var d spawn.Arg
	if data != "" {
		d = w.p.String(data)
	}
	if fault.Off("flag", "nosuid") {
		flags &^= unix.MS_NOSUID
	}
	if fault.Off("flag", "nodev") {
		flags &^= unix.MS_NODEV
	}
	w.p.Call("mount "+what, unix.SYS_MOUNT, w.p.String(source), w.p.String(target), w.p.String(fstype), spawn.Value(flags), d)
}

// dir makes a directory and its parents, relative to the root.
func (w *world) dir(name string, mode uint32) {
	name = strings.Trim(name, "/")
	if name == "" || w.made[name] {
		return
	}
	w.parent(name)
	w.made[name] = true
	w.p.Call("mkdir /"+name, unix.SYS_MKDIRAT, spawn.FD(unix.AT_FDCWD), w.p.String(name), spawn.Value(mode)).Allow(unix.EEXIST)
}

// parent makes the directories above name, as the image has them.
func (w *world) parent(name string) {
	if parent := path.Dir(name); parent != "." {
		mode := w.image.Mode(parent)
		bits := uint32(mode.Perm())
		if mode&os.ModeSticky != 0 {
			bits |= unix.S_ISVTX
		}
		w.dir(parent, bits)
	}
}

// own is where the tmpfs has something of its own: it is the root, or it is in a
// directory of the root until the end.
func (w *world) own(name string) string {
	if w.image == nil {
		return name
	}
	return path.Join(rootfs.OwnDir, name)
}

// give gives a directory to the programs' user.
func (w *world) give(name string) {
	id := w.identity.programUser()
	w.p.Call("chown /"+name, unix.SYS_FCHOWNAT, spawn.FD(unix.AT_FDCWD), w.p.String(name), spawn.Value(id), spawn.Value(id), spawn.Value(unix.AT_SYMLINK_NOFOLLOW))
}

func (w *world) privateMounts() {
	w.p.Call("umask", unix.SYS_UMASK, spawn.Value(0))
	w.mount("/ private", "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	w.mount("the root", "tmpfs", staging, "tmpfs", unix.MS_NOSUID, tmpfsOptions(w.diskWithRoot(), 0o755))
	w.p.Call("chdir to the root", unix.SYS_CHDIR, w.p.String(staging))
	w.dir(".empty", 0o555)
}

// disks mounts what has a limit of its own.
func (w *world) disks() {
	if w.disk != "" {
		w.dir(w.own(".disk"), 0o755)
		w.mount("the disk", w.disk, w.own(".disk"), "ext4", unix.MS_NOSUID|unix.MS_NODEV, "")
	}
	if w.spec.BuildDisk.Bytes > 0 {
		w.dir(w.own(".build"), 0o755)
		w.mount("the build disk", "tmpfs", w.own(".build"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, tmpfsOptions(w.spec.BuildDisk, 0o755))
		w.dir(w.own(".build/build"), 0o755)
		w.give(w.own(".build/build"))
	}
}

// ownInodes is more than what the root itself is made of, beside the program's
// files.
const ownInodes = 96

// diskWithRoot is the disk limit and what the root itself takes of the same
// tmpfs, so that the program gets all that it was promised.
func (w *world) diskWithRoot() sandbox.DiskLimit {
	limit := w.spec.Disk
	limit.Inodes += ownInodes
	page := int64(os.Getpagesize())
	for _, size := range w.ownFiles() {
		limit.Bytes += (size + page - 1) &^ (page - 1)
	}
	return limit
}

// ownFiles are the sizes of the files that the root is made of.
func (w *world) ownFiles() []int64 {
	var sizes []int64
	if w.etc == "" {
		if w.image == nil {
			sizes = append(sizes, w.host.linkerCache)
		}
		for _, f := range w.etcFiles() {
			sizes = append(sizes, int64(len(f.Content)))
		}
	}
	for _, m := range w.spec.Mounts {
		if info, err := os.Stat(m.Source); m.Source != "" && err == nil && info.Mode().IsRegular() {
			sizes = append(sizes, info.Size())
		}
	}
	return sizes
}

func tmpfsOptions(limit sandbox.DiskLimit, mode uint32) string {
	if fault.Off("limit", "disk") {
		return fmt.Sprintf("mode=%o", mode)
	}
	return fmt.Sprintf("size=%d,nr_inodes=%d,mode=%o", limit.Bytes, limit.Inodes, mode)
}

// system brings the operating system's own directories and a synthetic /etc.
func (w *world) system() {
	for _, s := range w.host.system {
		if s.link != "" {
			w.p.Call("symlink /"+s.name, unix.SYS_SYMLINKAT, w.p.String(s.link), spawn.FD(unix.AT_FDCWD), w.p.String(s.name))
			continue
		}
		if s.name == "usr" && w.etc != "" {
			w.usrWithEtc()
			continue
		}
		w.overlay("/"+s.name, s.name)
	}
	if w.etc == "" {
		w.ownEtc()
	}
	if w.spec.Network.LeadsOut() {
		w.trust()
	}
}

// usrWithEtc mounts /usr, and the /etc that is a layer of it.
func (w *world) usrWithEtc() {
	w.dir("usr", 0o755)
	w.dir("etc", 0o755)
	w.linked(w.etc, "usr", ".lower", func(name string) {
		w.above("/usr", "usr", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ":"+name)
	})
	w.mount("/etc", "usr/"+etcName, "etc", "", unix.MS_BIND, "")
}

// ownEtc writes an /etc, and brings what of the host's belongs there.
func (w *world) ownEtc() {
	w.writeEtc()
	if w.host.linkerCache > 0 {
		w.copyFile(linkerCache, linkerCache[1:], w.host.linkerCache)
	}
	if w.host.alternatives {
		w.dir("etc/alternatives", 0o755)
		w.overlay(alternatives, alternatives[1:])
	}
}

func (w *world) writeEtc() {
	w.dir("etc", 0o755)
	for _, f := range w.etcFiles() {
		writeFile(w.p, "etc/"+f.Name, f.Content, 0o644)
	}
}

// trust brings the certificates that this host trusts.
func (w *world) trust() {
	for _, dir := range outlet.TrustStores() {
		if isDir(dir) {
			w.overlay(dir, strings.TrimPrefix(dir, "/"))
			w.trusted = append(w.trusted, strings.TrimPrefix(dir, "/"))
		}
	}
}

// inTrust tells whether a mount is in place already, as a part of a store: Java
// brings its own.
func (w *world) inTrust(source, target string) bool {
	return source == "/"+target && slices.ContainsFunc(w.trusted, func(dir string) bool {
		_, below := strings.CutPrefix(target, dir+"/")
		return below
	})
}

// etcFiles are all that /etc tells.
func (w *world) etcFiles() []rootfs.EtcFile { return rootfs.Etc(w.resolvConf()) }

// resolvConf names our name server where the network leads out.
func (w *world) resolvConf() string {
	if !w.spec.Network.LeadsOut() {
		return ""
	}
	return outlet.ResolvConf(w.host.tameLoopback)
}

// writeFile appends the calls that write a small file.
func writeFile(p *spawn.Program, name, content string, mode uint32) {
	flags := unix.O_WRONLY | unix.O_CLOEXEC
	if mode != 0 {
		flags |= unix.O_CREAT | unix.O_EXCL
	}
	fd := p.Call("open "+name, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(name), spawn.Value(flags), spawn.Value(mode)).Save()
	if content != "" {
		p.Call("write "+name, unix.SYS_WRITE, fd, p.String(content), spawn.Value(len(content)))
	}
	p.Call("close "+name, unix.SYS_CLOSE, fd)
}

// copyFile appends the calls that copy a host file of a known size.
func (w *world) copyFile(source, target string, size int64) {
	from := w.p.Call("open "+source, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), w.p.String(source), spawn.Value(unix.O_RDONLY|unix.O_CLOEXEC)).Save()
	to := w.p.Call("create /"+target, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), w.p.String(target), spawn.Value(unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC), spawn.Value(0o644)).Save()
	w.p.Call("copy "+source, unix.SYS_SENDFILE, to, from, spawn.Value(0), spawn.Value(size))
	w.p.Call("close", unix.SYS_CLOSE, from)
	w.p.Call("close", unix.SYS_CLOSE, to)
}

// hostMount brings one mount of the spec.
func (w *world) hostMount(m sandbox.Mount) {
	target := w.target(m)
	if m.Source == "" && !m.Overlay {
		w.empty(target)
		return
	}
	if w.inTrust(m.Source, target) {
		return
	}
	info, err := os.Stat(m.Source)
	if absent(err) && m.Optional {
		return
	}
	switch {
	case err == nil && info.Mode().IsRegular() && w.image != nil: // it is in our layer
	case err == nil && info.Mode().IsRegular():
		w.dir(path.Dir(target), 0o755)
		w.copyFile(m.Source, target, info.Size())
	case m.Overlay:
		w.dir(target, 0o755)
		w.writableOverlay(cmp.Or(m.Source, w.own(".empty")), target)
	default:
		w.dir(target, 0o755)
		w.overlay(m.Source, target)
	}
}

// target is where a mount of the spec belongs.
func (w *world) target(m sandbox.Mount) string {
	if m.Target == "" {
		return w.image.Place(m.Source)
	}
	return w.image.Place(m.Target)
}

// empty hides what a host mount has at target.
func (w *world) empty(target string) {
	w.mount("an empty /"+target, w.own(".empty"), target, "", unix.MS_BIND, "")
	w.mount("an empty /"+target, "", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}

// overlay mounts a host directory read-only, through inodes of its own.
func (w *world) overlay(source, target string) {
	w.dir(target, 0o755)
	if fault.Off("inodes", "toolchains") {
		w.mount("/"+target, source, target, "", unix.MS_BIND|unix.MS_REC, "")
		return
	}
	w.above(source, target, unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ":"+w.own(".empty"))
}

// above mounts an overlay over a host directory, and more.
func (w *world) above(source, target string, flags uintptr, more string) {
	w.linked(source, target, w.own(".lower"), func(name string) {
		w.mount("/"+target, "overlay", target, "overlay", flags, "lowerdir="+name+more)
	})
}

// linked mounts something over a host directory. The kernel tells the program the names of
// its layers: where it does not see the directory by its own name, that is one of ours.
func (w *world) linked(source, target, link string, mount func(name string)) {
	if source == "/"+target || !path.IsAbs(source) {
		mount(rootfs.EscapeOption(source))
		return
	}
	w.p.Call("link to "+source, unix.SYS_SYMLINKAT, w.p.String(source), spawn.FD(unix.AT_FDCWD), w.p.String(link))
	mount(link)
	w.p.Call("remove the link", unix.SYS_UNLINKAT, spawn.FD(unix.AT_FDCWD), w.p.String(link), spawn.Value(0))
}

// writableOverlay is an overlay whose changes go to the build disk and end with
// the container.
func (w *world) writableOverlay(source, target string) {
	w.caches++
	upper, work := w.own(fmt.Sprintf(".build/u%d", w.caches)), w.own(fmt.Sprintf(".build/w%d", w.caches))
	w.dir(w.own(".build"), 0o755)
	for _, layer := range []string{upper, work} { // nothing is there: what is would be no directory of ours
		w.p.Call("mkdir /"+layer, unix.SYS_MKDIRAT, spawn.FD(unix.AT_FDCWD), w.p.String(layer), spawn.Value(0o755))
	}
	w.give(upper)
	options := fmt.Sprintf(",upperdir=%s,workdir=%s", upper, work)
	if !w.identity.root {
		options += ",userxattr"
	}
	w.above(source, target, unix.MS_NOSUID|unix.MS_NODEV, options)
}

// pivot makes the staged root the root and lets go of the host's.
func (w *world) pivot() {
	w.p.Call("pivot_root", unix.SYS_PIVOT_ROOT, w.p.String("."), w.p.String("."))
	w.p.Call("unmount the old root", unix.SYS_UMOUNT2, w.p.String("."), spawn.Value(unix.MNT_DETACH))
	w.p.Call("chdir /", unix.SYS_CHDIR, w.p.String("/"))
}

// writable mounts the directories that the program may write and closes the
// rest of the root.
func (w *world) writable() {
	binds := []struct{ source, target string }{{w.own("tmp"), "tmp"}, {w.own("workspace"), "workspace"}, {"dev/shm", "dev/shm"}}
	if w.disk != "" {
		for i := range binds[:2] { // shared memory is memory
			binds[i].source = w.own(".disk/" + binds[i].target)
		}
	}
	if w.spec.BuildDisk.Bytes > 0 {
		w.dir("build", 0o755)
		binds = append(binds, struct{ source, target string }{w.own(".build/build"), "build"})
	}
	for _, b := range binds {
		w.mount("/"+b.target, b.source, b.target, "", unix.MS_BIND, "")
		w.mount("/"+b.target, "", b.target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_NOSUID|unix.MS_NODEV, "")
	}
	w.hide()
	w.mount("/ read-only", "", "/", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID, "")
}

// hide unmounts what programs are given parts of alone.
func (w *world) hide() {
	umount := func(what, name string) {
		w.p.Call("hide "+what, unix.SYS_UMOUNT2, w.p.String(name), spawn.Value(unix.MNT_DETACH))
	}
	if w.image != nil {
		w.mount("/dev read-only", "", "dev", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID, "")
		umount("our own directory", rootfs.OwnDir) // with both disks
		return
	}
	if w.disk != "" {
		umount("the disk", ".disk")
	}
	if w.spec.BuildDisk.Bytes > 0 {
		umount("the build disk", ".build")
	}
}
