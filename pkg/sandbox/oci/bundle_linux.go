package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// bundle is what an OCI runtime is given: a directory with config.json and the
// skeleton of a root.
//
//	config.json
//	rootfs/     empty directories, files and links where something is mounted
//	files/      what is mounted there: init, /etc
//	disk/ build/  where the limited file systems are mounted, see [world]
//	binds/      the host's directories, where the runtime may not reach them itself
//	empty/
type bundle struct {
	dir     string
	id      string
	flavour flavour
	spec    sandbox.Spec
	uid     int // of nobody, on the host; programs have the next one
	hybrid  bool
	mounts  []specs.Mount
	links   []guest.Layer
}

// initPath is where init is inside, and cgroupDir where it sees its control
// groups.
const (
	ownDir    = "/.sandbox-run"
	initPath  = ownDir + "/init"
	cgroupDir = ownDir + "/cgroup"
)

// write makes the directory.
func (b *bundle) write() error {
	for _, dir := range []string{"", "rootfs", "files", "files/etc", "disk", "build", "empty", "binds"} {
		if err := os.Mkdir(filepath.Join(b.dir, dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := b.ownFiles(); err != nil {
		return err
	}
	b.kernelMounts()
	if err := b.system(); err != nil {
		return err
	}
	for _, m := range b.spec.Mounts {
		if err := b.mount(m); err != nil {
			return err
		}
	}
	b.writable()
	if err := b.points(); err != nil {
		return err
	}
	content, err := json.Marshal(b.config())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dir, "config.json"), content, 0o600)
}

// ownFiles writes what of the container is ours.
func (b *bundle) ownFiles() error {
	if err := os.WriteFile(filepath.Join(b.dir, "files/init"), spawn.InitProgram(), 0o755); err != nil {
		return err
	}
	for name, content := range etc() {
		if err := os.WriteFile(filepath.Join(b.dir, "files/etc", name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	b.bind(filepath.Join(b.dir, "files/init"), initPath, "ro")
	return nil
}

// etc is all that /etc tells, the same in every container.
func etc() map[string]string {
	user := fmt.Sprintf("%[1]s:x:%[2]d:%[2]d:%[1]s:%[3]s:/bin/sh\n", sandbox.UserName, sandbox.UserID, sandbox.WorkspaceDir)
	return map[string]string{
		"passwd":        "root:x:0:0:root:/:/usr/sbin/nologin\n" + user + "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		"group":         fmt.Sprintf("root:x:0:\n%s:x:%d:\nnogroup:x:65534:\n", sandbox.UserName, sandbox.UserID),
		"hosts":         "127.0.0.1 localhost " + sandbox.Hostname + "\n",
		"hostname":      sandbox.Hostname + "\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
		"resolv.conf":   "",
	}
}

// kernelMounts are the file systems of the kernel.
func (b *bundle) kernelMounts() {
	quiet := []string{"nosuid", "nodev", "noexec"}
	b.mounts = append(b.mounts,
		// hidepid: what a program may not trace, init above all, it does not see.
		specs.Mount{Destination: "/proc", Type: "proc", Source: "proc", Options: append([]string{"hidepid=2"}, quiet...)},
		specs.Mount{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=64k"}},
		specs.Mount{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
		specs.Mount{Destination: cgroupDir, Type: "cgroup", Source: "cgroup", Options: append([]string{"ro"}, quiet...)},
	)
}

// system brings the operating system's own directories, and /etc.
func (b *bundle) system() error {
	for _, name := range []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		info, err := os.Lstat("/" + name)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink("/" + name)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, filepath.Join(b.dir, "rootfs", name)); err != nil {
				return err
			}
		case info.IsDir():
			b.readOnly("/"+name, "/"+name)
		}
	}
	lower := []string{filepath.Join(b.dir, "files/etc")}
	b.overlay("/etc", lower...)
	for _, name := range []string{"/etc/alternatives", "/etc/ld.so.cache"} {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		b.readOnly(name, name)
	}
	return nil
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

// overlay mounts directories read-only, through inodes of its own: locks and
// inotify watches go by inode, and through a shared one they reach from one run
// into another. A runtime with a kernel of its own has inodes of its own anyway.
func (b *bundle) overlay(target string, lower ...string) {
	if b.flavour.ownKernel {
		b.bind(lower[0], target, "ro")
		return
	}
	dirs := make([]string, 0, len(lower)+1)
	for _, dir := range append(lower, filepath.Join(b.dir, "empty")) {
		dirs = append(dirs, escapeOption(dir))
	}
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "overlay", Source: "overlay",
		Options: []string{"ro", "nosuid", "nodev", "lowerdir=" + strings.Join(dirs, ":")},
	})
}

// escapeOption quotes what means something in a list of overlay directories.
func escapeOption(path string) string {
	return strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`).Replace(path)
}

func (b *bundle) bind(source, target string, options ...string) {
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "bind", Source: source,
		Options: append([]string{"rbind", "nosuid", "nodev"}, options...),
	})
}

// mount brings one mount of the spec.
func (b *bundle) mount(m sandbox.Mount) error {
	target := m.Target
	if target == "" {
		target = m.Source
	}
	target = path.Clean(target)
	if slices.ContainsFunc(b.mounts, func(have specs.Mount) bool { return have.Destination == target }) {
		return nil // two parts of a toolchain need the same
	}
	if m.Source == "" {
		b.bind(filepath.Join(b.dir, "empty"), target, "ro")
		return nil
	}
	if _, err := os.Stat(m.Source); err != nil && m.Optional {
		return nil
	} else if err != nil {
		return fmt.Errorf("mount %s: %w", m.Source, err)
	}
	switch {
	case m.Writable:
		b.bind(m.Source, target, "rw")
	case m.Overlay:
		b.layer(m.Source, target)
	default:
		b.readOnly(m.Source, target)
	}
	return nil
}

// layer mounts a directory with a writable layer on the build disk, which
// [bundle.world] makes. A runtime with a kernel of its own gets links there.
func (b *bundle) layer(source, target string) {
	upper := filepath.Join(b.dir, "build", "u"+layerName(target))
	if b.flavour.ownKernel {
		lower := path.Join(ownDir, "layer", layerName(target))
		b.bind(source, lower, "ro")
		b.bind(upper, target, "rw")
		b.links = append(b.links, guest.Layer{Source: lower, Target: target})
		return
	}
	work := filepath.Join(b.dir, "build", "w"+layerName(target))
	b.mounts = append(b.mounts, specs.Mount{
		Destination: target, Type: "overlay", Source: "overlay",
		Options: []string{"nosuid", "nodev", "lowerdir=" + escapeOption(source), "upperdir=" + escapeOption(upper), "workdir=" + escapeOption(work)},
	})
}

// layerName tells layers apart by where they are mounted.
func layerName(target string) string { return strings.ReplaceAll(strings.Trim(target, "/"), "/", "-") }

// layers are the targets of the mounts that have a writable layer.
func (b *bundle) layers() (targets []string) {
	for _, m := range b.spec.Mounts {
		if m.Overlay && !m.Writable && m.Source != "" {
			targets = append(targets, path.Clean(m.Target))
		}
	}
	return targets
}

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
// a kernel of its own has to know of every one.
func (b *bundle) ours(m specs.Mount) bool {
	return !b.flavour.ownKernel && (m.Type == "overlay" || m.Type == "bind") && !below(m.Destination, "/dev")
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

// points makes the place of each mount, as far as no other mount brings it.
func (b *bundle) points() error {
	root, err := os.OpenRoot(filepath.Join(b.dir, "rootfs"))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, m := range b.mounts {
		if at, ok := b.reachable(m); ok {
			if err := makePoint(at, m); err != nil {
				return err
			}
		}
		if err := b.point(root, m); err != nil {
			return fmt.Errorf("make a place for %s: %w", m.Destination, err)
		}
	}
	return nil
}

// point makes the place of one mount in the skeleton of the root, or in our /etc.
func (b *bundle) point(root *os.Root, m specs.Mount) error {
	name := strings.TrimPrefix(path.Clean(m.Destination), "/")
	if inEtc, ok := strings.CutPrefix(name, "etc/"); ok {
		return b.etcPoint(inEtc, m)
	}
	if b.within(m.Destination) {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	info, err := os.Stat(m.Source)
	if m.Type != "bind" || err != nil || info.IsDir() { // what is not there yet is a part of the disk
		return root.MkdirAll(name, 0o755)
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// etcPoint makes a place for a mount below our /etc.
func (b *bundle) etcPoint(name string, m specs.Mount) error {
	name = filepath.Join(b.dir, "files/etc", name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return makePoint(name, m)
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
	ids := []specs.LinuxIDMapping{
		{ContainerID: 0, HostID: uint32(b.uid), Size: 1},
		{ContainerID: sandbox.UserID, HostID: uint32(b.uid + 1), Size: 1},
	}
	var namespaces []specs.LinuxNamespace
	for _, kind := range []specs.LinuxNamespaceType{
		specs.PIDNamespace, specs.NetworkNamespace, specs.IPCNamespace, specs.UTSNamespace, specs.MountNamespace, specs.UserNamespace, specs.CgroupNamespace,
	} {
		if kind == specs.CgroupNamespace && b.flavour.ownKernel {
			continue
		}
		namespaces = append(namespaces, specs.LinuxNamespace{Type: kind})
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
			UIDMappings:   ids,
			GIDMappings:   ids,
			CgroupsPath:   "/" + groupName(b.id),
			Resources:     &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}}},
			MaskedPaths:   maskedPaths(),
			ReadonlyPaths: []string{"/proc/sys"},
			Sysctl:        b.sysctls(),
		},
	}
}

// sysctls are the settings of a network namespace whose loopback programs may use:
// what its buffers hold is charged to nobody on version 1.
func (b *bundle) sysctls() map[string]string {
	if b.spec.Network.Mode == sandbox.NetworkNone || b.flavour.ownKernel {
		return nil
	}
	settings := map[string]string{}
	for _, s := range netns.Sysctls() {
		name, _ := strings.CutPrefix(s.Path, "/proc/sys/")
		settings[strings.ReplaceAll(name, "/", ".")] = s.Value
	}
	return settings
}

// maskedPaths are the names of /proc that tell of the host or of other runs, or
// that have been a way to the kernel. Those that do not exist are passed over.
func maskedPaths() []string {
	var paths []string
	for _, name := range []string{
		"acpi", "asound", "buddyinfo", "bus", "cgroups", "cmdline", "config.gz", "consoles", "crypto", "devices",
		"diskstats", "dma", "driver", "dynamic_debug", "execdomains", "fb", "fs", "interrupts", "iomem", "ioports",
		"irq", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags",
		"latency_stats", "locks", "mdstat", "misc", "modules", "mtrr", "partitions", "pressure", "sched_debug",
		"schedstat", "scsi", "slabinfo", "softirqs", "swaps", "sysrq-trigger", "sysvipc", "timer_list", "timer_stats",
		"tty", "vmallocinfo", "zoneinfo",
	} {
		paths = append(paths, "/proc/"+name)
	}
	return paths
}
