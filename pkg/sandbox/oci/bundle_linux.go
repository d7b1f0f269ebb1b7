package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// bundle is what an OCI runtime is given: a directory with config.json and the
// places of what is mounted before the runtime starts, see [bundle.world].
//
//	config.json
//	rootfs/       the root: an overlay of layer/, and of the image if there is one
//	layer/        init, our /etc, and the places where something is mounted
//	image/        the image
//	dev/          device nodes
//	disk/ build/  the limited file systems
//	binds/        the host's directories, where the runtime may not reach them itself
//	empty/
//
// Overlays have inodes of their own, so that of the files here a program can lock and
// watch none, and are told of these names alone: /proc/self/mountinfo says inside
// neither where the bundle is nor on which device.
type bundle struct {
	dir     string
	id      string
	flavour flavour
	spec    sandbox.Spec
	uid     int // of nobody, on the host; programs have the next one
	host    host
	filters filters
	// makesTime tells whether the runtime makes time namespaces.
	makesTime func() bool
	image     *rootfs.Image // in place of the host's directories, or nil
	mounts    []specs.Mount
	links     []guest.Layer
	lowers    []string // directories of the host, by the number of their link
	// userns is the user namespace that we have made; nil where the runtime makes it.
	userns *os.File
	// netns is the network namespace that we have made, and outlet what leads out of
	// it; nil where nothing leads out.
	netns  *os.File
	outlet *outlet.Outlet
}

// initPath is where init is inside, and cgroupDir where it sees the control groups of
// a kernel of its own.
const (
	ownDir    = "/" + rootfs.OwnDir
	initPath  = ownDir + "/init"
	cgroupDir = ownDir + "/cgroup"
)

// initFile is init beside the bundles, which all of them share.
const initFile = "init"

// write makes the directory.
func (b *bundle) write() error {
	for _, dir := range []string{"", "rootfs", "layer", "layer/etc", "layer" + ownDir, "image", "dev", "disk", "build", "empty", "binds"} {
		if err := os.Mkdir(filepath.Join(b.dir, dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	fault.Point("directories of the bundle made")
	if err := b.ownFiles(); err != nil {
		return err
	}
	b.root()
	b.kernelMounts()
	if b.image != nil {
		b.hideOfImage()
	} else if err := b.system(); err != nil {
		return err
	}
	for _, m := range b.spec.Mounts {
		if err := b.mount(m); err != nil {
			return err
		}
	}
	b.writable()
	if err := errors.Join(b.linkLowers(), b.places()); err != nil {
		return err
	}
	config := b.config()
	if !b.flavour.ownKernel { // gVisor answers its containers' calls itself, and passes over a filter
		if err := b.filters.put(&config, b.spec.Network); err != nil {
			return err
		}
	}
	content, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "config.json"), content, 0o600)
}

// ownFiles writes what of the container is ours.
func (b *bundle) ownFiles() error {
	instance, err := os.OpenRoot(filepath.Dir(b.dir))
	if err != nil {
		return err
	}
	defer instance.Close()
	if err := instance.Link(initFile, filepath.Join(b.id, "layer", initPath)); err != nil {
		return err
	}
	resolvConf := ""
	if b.outlet != nil {
		resolvConf = outlet.ResolvConf(!b.host.unified)
	}
	for _, f := range rootfs.Etc(resolvConf) {
		if err := os.WriteFile(b.layer("etc/"+f.Name), []byte(f.Content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// layer is where our layer of the root has a file.
func (b *bundle) layer(name string) string { return filepath.Join(b.dir, "layer", name) }

// root makes the root: our layer, above an image if there is one. The runtime finds it
// mounted, and makes no place itself.
func (b *bundle) root() {
	lower := "layer:empty"
	if b.image != nil {
		lower = "layer:image"
	}
	b.mounts = append(b.mounts, specs.Mount{
		Destination: "/", Type: "overlay", Source: "overlay",
		Options: []string{"ro", "nosuid", "nodev", "lowerdir=" + lower},
	})
}

// kernelMounts are the file systems of the kernel.
func (b *bundle) kernelMounts() {
	quiet := []string{"nosuid", "nodev", "noexec"}
	b.mounts = append(b.mounts,
		// hidepid: what a program may not trace, init above all, it does not see.
		specs.Mount{Destination: "/proc", Type: "proc", Source: "proc", Options: append([]string{"hidepid=2"}, quiet...)},
		specs.Mount{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=64k"}},
		specs.Mount{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: append([]string{"nosuid", "noexec"}, strings.Split(rootfs.DevptsOptions, ",")...)},
	)
	if b.flavour.ownKernel { // which counts for itself; other groups we read from outside
		b.mounts = append(b.mounts, specs.Mount{Destination: cgroupDir, Type: "cgroup", Source: "cgroup", Options: append([]string{"ro"}, quiet...)})
	}
}

// system brings the operating system's own directories, and /etc.
func (b *bundle) system() error {
	for _, name := range rootfs.SystemDirs() {
		info, err := os.Lstat("/" + name)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink("/" + name)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, b.layer(name)); err != nil {
				return err
			}
		case info.IsDir():
			b.readOnly("/"+name, "/"+name)
		}
	}
	for _, name := range []string{"/etc/alternatives", "/etc/ld.so.cache"} {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		b.readOnly(name, name)
	}
	if b.outlet != nil {
		b.trust()
	}
	return nil
}

// trust brings the certificates that this host trusts.
func (b *bundle) trust() {
	for _, dir := range outlet.TrustStores() {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			b.readOnly(dir, dir)
		}
	}
}

// readOnly mounts what the host has.
func (b *bundle) readOnly(source, target string) {
	info, err := os.Stat(source)
	if err == nil && info.IsDir() {
		b.overlay(target, source)
		return
	}
	b.bind(source, target, "ro")
}

func (b *bundle) bind(source, target string, options ...string) {
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "bind", Source: source,
		Options: append([]string{"rbind", "nosuid", "nodev"}, options...),
	})
}

// mount brings one mount of the spec.
func (b *bundle) mount(m sandbox.Mount) error {
	target := b.target(m)
	if slices.ContainsFunc(b.mounts, func(have specs.Mount) bool { return have.Destination == target }) {
		return nil // two parts of a toolchain need the same
	}
	if _, err := os.Stat(m.Source); m.Source != "" && err != nil {
		if m.Optional {
			return nil
		}
		return fmt.Errorf("mount %s: %w", m.Source, err)
	}
	switch {
	case m.Overlay:
		b.writableOverlay(m.Source, target)
	case m.Source == "":
		b.empty(target)
	default:
		b.readOnly(m.Source, target)
	}
	return nil
}

// empty hides what is at target.
func (b *bundle) empty(target string) { b.bind(filepath.Join(b.dir, "disk/empty"), target, "ro") }

// writable are the directories that programs write: parts of one file system, so
// that the sum of everything written stays below the disk limit.
func (b *bundle) writable() {
	for target, part := range map[string]string{sandbox.WorkspaceDir: "workspace", sandbox.TempDir: "tmp", "/dev/shm": "shm"} {
		b.bind(filepath.Join(b.dir, "disk", part), target, "rw")
	}
	if b.spec.BuildDisk.Bytes > 0 {
		b.bind(filepath.Join(b.dir, "build/build"), sandbox.BuildDir, "rw")
	}
	slices.SortStableFunc(b.mounts, func(x, y specs.Mount) int {
		return strings.Count(path.Clean(x.Destination), "/") - strings.Count(path.Clean(y.Destination), "/")
	})
}

// ours tells the mounts that we make before the runtime starts, as root: it is in
// the container's user namespace when it mounts, and may reach less. A runtime with
// a kernel of its own has to know of every one below the root.
func (b *bundle) ours(m specs.Mount) bool {
	return m.Destination == "/" || !b.flavour.ownKernel && (m.Type == "overlay" || m.Type == "bind") && !below(m.Destination, "/dev")
}

// theirs are the mounts that the runtime makes.
func (b *bundle) theirs() []specs.Mount {
	list := slices.DeleteFunc(slices.Clone(b.mounts), b.ours)
	for i, m := range list {
		if at, ok := b.reachable(m); ok {
			list[i].Source = at
		}
	}
	return list
}

// below compares clean paths of ours.
func below(name, dir string) bool {
	_, ok := strings.CutPrefix(name, dir+"/")
	return ok
}

// reachable is where a source of the host's is mounted for a runtime that mounts it
// itself, as the container's user: a directory above it may be closed to that.
func (b *bundle) reachable(m specs.Mount) (string, bool) {
	if !b.flavour.ownKernel || m.Type != "bind" || below(m.Source, b.dir) {
		return "", false
	}
	return filepath.Join(b.dir, "binds", layerName(m.Destination)), true
}

// places makes the place of each mount in our layer, as far as no other mount brings
// it. What it could copy there is no mount any more.
func (b *bundle) places() error {
	root, err := os.OpenRoot(b.layer(""))
	if err != nil {
		return err
	}
	defer root.Close()
	var mounts []specs.Mount
	for _, m := range b.mounts {
		copied, err := b.place(root, m)
		if err != nil {
			return fmt.Errorf("make a place for %s: %w", m.Destination, err)
		}
		if copied {
			continue
		}
		mounts = append(mounts, m)
		if at, ok := b.reachable(m); ok {
			if err := makePoint(at, m); err != nil {
				return err
			}
		}
	}
	b.mounts = mounts
	return nil
}

// place makes the place of one mount. A file that nobody is to write is copied.
func (b *bundle) place(root *os.Root, m specs.Mount) (copied bool, err error) {
	name := strings.TrimPrefix(path.Clean(m.Destination), "/")
	if name == "" || b.within(m.Destination) {
		return false, nil
	}
	if err := b.makeDirs(root, path.Dir(name)); err != nil {
		return false, err
	}
	info, err := os.Stat(m.Source)
	if m.Type != "bind" || err != nil || info.IsDir() { // what is not there yet is a part of the disk
		return false, root.MkdirAll(name, 0o755)
	}
	copied = info.Mode().IsRegular() && slices.Contains(m.Options, "ro")
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // a file of ours
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err == nil && copied {
		err = copyFrom(f, m.Source)
	}
	if err == nil {
		err = f.Close()
	}
	return copied, err
}

// copyFrom copies a file.
func copyFrom(to *os.File, source string) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// makePoint makes a file or a directory, as what is mounted there.
func makePoint(at string, m specs.Mount) error {
	if m.Type == "bind" {
		info, err := os.Stat(m.Source)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return os.WriteFile(at, nil, 0o644)
		}
	}
	if err := os.Mkdir(at, 0o755); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// within tells whether a place lies in a directory that is mounted.
func (b *bundle) within(target string) bool {
	return slices.ContainsFunc(b.mounts, func(m specs.Mount) bool {
		return (m.Type == "overlay" || m.Type == "bind") && below(path.Clean(target), path.Clean(m.Destination))
	})
}

// config is the runtime's specification.
func (b *bundle) config() specs.Spec {
	none := &specs.LinuxCapabilities{Bounding: []string{}, Effective: []string{}, Inheritable: []string{}, Permitted: []string{}, Ambient: []string{}}
	var namespaces []specs.LinuxNamespace
	for _, kind := range []specs.LinuxNamespaceType{
		specs.PIDNamespace, specs.NetworkNamespace, specs.IPCNamespace, specs.UTSNamespace, specs.MountNamespace, specs.UserNamespace, specs.CgroupNamespace,
	} {
		if kind == specs.CgroupNamespace && b.flavour.ownKernel {
			continue
		}
		if kind == specs.NetworkNamespace && b.netns != nil {
			continue // the runtime starts in it
		}
		ns := specs.LinuxNamespace{Type: kind}
		if kind == specs.UserNamespace && b.userns != nil {
			ns.Path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), b.userns.Fd())
		}
		namespaces = append(namespaces, ns)
	}
	if b.makesTime() {
		// Not for its clocks: files of /proc/self/ns are inodes, and one that everybody is
		// in would be everybody's to lock.
		namespaces = append(namespaces, specs.LinuxNamespace{Type: specs.TimeNamespace})
	}
	return specs.Spec{
		Version:  "1.0.2",
		Hostname: sandbox.Hostname,
		Root:     &specs.Root{Path: "rootfs", Readonly: true},
		Process: &specs.Process{
			Args: append([]string{initPath}, spawn.StreamArgs[1:]...),
			Env:  []string{}, Cwd: "/",
			User:            specs.User{UID: sandbox.UserID, GID: sandbox.UserID},
			Capabilities:    none,
			NoNewPrivileges: true,
		},
		Mounts: b.theirs(),
		Linux: &specs.Linux{
			Namespaces:    namespaces,
			UIDMappings:   b.ids(), // of one that we have made as well: runc wanted them before 1.2
			GIDMappings:   b.ids(),
			CgroupsPath:   "/" + groupName(b.id),
			Resources:     &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}}},
			MaskedPaths:   rootfs.MaskedPaths(),
			ReadonlyPaths: []string{"/proc/sys"},
			Sysctl:        b.sysctls(),
		},
	}
}

// sysctls are the settings of a network namespace whose loopback programs may use:
// what its buffers hold is charged to nobody on version 1. One that we have made has
// them.
func (b *bundle) sysctls() map[string]string {
	if b.spec.Network.Mode == sandbox.NetworkNone || b.outlet != nil || b.flavour.ownKernel {
		return nil
	}
	return netns.NamedSysctls()
}
