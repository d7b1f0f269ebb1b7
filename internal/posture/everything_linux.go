package posture

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// everything looks at all that a program can see of its place.
func (p *prober) everything() error {
	for _, look := range []func() error{p.status, p.limits, p.mounts, p.surroundings, p.namespaces, p.devices, p.secrets, p.levers, p.sockets, p.systemCalls} {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// each shows the lines of a file of the process's own, or that it cannot be read.
func (p *prober) each(file string, show func(line string)) error {
	text, errno, err := p.read("/proc/self/" + file)
	if errno != 0 {
		p.seen.add(file, "%s", name(errno))
	}
	for line := range strings.Lines(text) {
		show(strings.TrimSpace(line))
	}
	return err
}

// status is what the kernel says of the process: its rights, ids and masks.
func (p *prober) status() error {
	shown := []string{"Umask", "Uid", "Gid", "Groups", "SigIgn", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "CoreDumping"}
	err := p.each("status", func(line string) {
		key, value, _ := strings.Cut(line, ":")
		if slices.Contains(shown, key) {
			p.seen.add("status "+key, "%s", strings.Join(strings.Fields(value), " "))
		}
	})
	for _, file := range []string{"oom_score_adj", "cgroup", "loginuid"} {
		p.shown("process "+file, "/proc/self/"+file)
	}
	return err
}

// limits are the resource limits of the process.
func (p *prober) limits() error {
	return p.each("limits", func(line string) {
		if words := strings.Fields(line); len(words) > 4 && words[0] == "Max" {
			at := slices.IndexFunc(words, func(w string) bool { return w == "unlimited" || w[0] >= '0' && w[0] <= '9' })
			p.seen.add("limit "+strings.Join(words[1:at], " "), "%s %s", words[at], words[at+1])
		}
	})
}

// mounts are the mount points with the options that keep things out.
func (p *prober) mounts() error {
	var lines []string
	err := p.each("mountinfo", func(line string) {
		before, after, _ := strings.Cut(line, " - ")
		words, kind := strings.Fields(before), strings.Fields(after)
		if len(words) < 6 || len(kind) < 3 {
			return
		}
		var options []string
		for _, o := range []string{"ro", "nosuid", "nodev", "noexec"} {
			if slices.Contains(strings.Split(words[5], ","), o) || o == "ro" && slices.Contains(strings.Split(kind[2], ","), o) {
				options = append(options, o)
			}
		}
		lines = append(lines, words[4]+"\t"+kind[0]+" "+strings.Join(options, ","))
	})
	for _, line := range sorted(lines) {
		target, how, _ := strings.Cut(line, "\t")
		p.seen.add("mount "+target, "%s", how)
	}
	return err
}

// surroundings are the environment, the names of the machine, and the processes.
func (p *prober) surroundings() error {
	text, _, err := p.read("/proc/self/environ")
	if err != nil {
		return err
	}
	var names []string
	for _, kv := range strings.Split(strings.TrimRight(text, "\x00"), "\x00") {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	p.seen.add("environment", "%s", strings.Join(sorted(names), " "))
	for _, file := range []string{"hostname", "domainname"} {
		p.shown(file, "/proc/sys/kernel/"+file)
	}
	ids, err := p.call([][7]uint64{{syscall.SYS_GETPID}, {syscall.SYS_GETPPID}, {syscall.SYS_GETSID}, {syscall.SYS_GETPGID}})
	if err != nil {
		return err
	}
	p.seen.add("process leads", "session %v, group %v", ids[2] == ids[0], ids[3] == ids[0])
	p.seen.add("process id", "%d, parent %d", ids[0], ids[1])
	return nil
}

// namespaces are told by their inode numbers, which the host compares with its own.
func (p *prober) namespaces() error {
	for _, kind := range namespaceKinds {
		var list spawn.Program
		size, text := list.Answer(4), list.Answer(64)
		list.Call("read the link of a namespace", syscall.SYS_READLINKAT, spawn.FD(atFDCWD), list.String("/proc/self/ns/"+kind), text, spawn.Value(64)).AllowAny().SaveAt(size, 0)
		reply, err := p.server.Do(&list)
		if err != nil {
			return err
		}
		n := number(reply, size)
		own, err := os.Readlink("/proc/self/ns/" + kind)
		switch {
		case n < 0:
			p.seen.add("namespace "+kind, "%s", word(n))
		case err == nil && own == string(text.Of(reply, 64)[:min(n, 64)]):
			p.seen.add("namespace "+kind, "ours")
		default:
			p.seen.add("namespace "+kind, "its own")
		}
	}
	return nil
}

// devices are what opening each device that is of use to an attacker comes to.
func (p *prober) devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1",
		"loop-control", "loop0", "fuse", "kvm", "vsock", "vhost-net", "vhost-vsock", "net/tun", "cuse", "uinput", "snapshot", "mapper/control", "btrfs-control", "hpet", "cpu_dma_latency", "userfaultfd", "dri/card0", "snd/timer", "rtc", "watchdog"} {
		p.opened("device "+name, "/dev/"+name, syscall.O_RDONLY)
	}
	return nil
}

// secrets are what of /proc and the host tells about the host.
func (p *prober) secrets() error {
	for _, name := range []string{"/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/keys", "/proc/key-users", "/proc/sched_debug", "/proc/timer_list", "/proc/interrupts",
		"/proc/iomem", "/proc/ioports", "/proc/config.gz", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/pagetypeinfo", "/proc/kpagecount", "/proc/kpageflags", "/proc/scsi", "/proc/acpi", "/proc/bus", "/proc/fs", "/proc/irq",
		"/proc/1/environ", "/proc/1/maps", "/proc/1/mem", "/proc/1/root", "/proc/1/cwd", "/proc/1/fd", "/proc/self/mem",
		"/sys/kernel", "/sys/firmware", "/sys/fs/cgroup", "/sys/fs/btrfs", "/sys/fs/ext4", "/sys/fs/xfs", "/proc/sys/fs/quota/lookups", "/sys/class/dmi/id", "/root", "/home", "/var", "/etc/shadow", "/run", "/boot", "/mnt"} {
		p.readable("reads "+name, name)
	}
	return nil
}

// levers are files whose change would reach the host. They are opened and not written.
func (p *prober) levers() error {
	for _, name := range []string{"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register",
		"/proc/self/setgroups", "/proc/1/oom_score_adj", "/proc/irq/0/smp_affinity", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/release_agent",
		"/etc/passwd", "/etc/ld.so.preload", "/usr/bin/env", "/proc/self/exe", "/proc/1/exe", "/dev/shm/x"} {
		p.lever("writes "+name, name)
	}
	p.opened(sealed, ".", syscall.O_WRONLY|unix.O_TMPFILE) // a file without a name
	return nil
}

// opened is whether a file can be opened.
func (p *prober) opened(key, file string, flags int) {
	p.triedFile(key, file, flags, func(*spawn.Program, spawn.Arg) func(spawn.Reply) string {
		return func(spawn.Reply) string { return word(0) }
	})
}

// lever is whether a file can be opened to be written, and whether that is the file: an OCI
// runtime masks one with /dev/null, which anybody may write and nothing comes of.
func (p *prober) lever(key, file string) {
	p.triedFile(key, file, syscall.O_WRONLY, func(list *spawn.Program, fd spawn.Arg) func(spawn.Reply) string {
		stat := list.Answer(sizeofStatx)
		list.Call("statx "+file, unix.SYS_STATX, fd, list.String(""), spawn.Value(unix.AT_EMPTY_PATH), spawn.Value(0), stat).AllowAny()
		return func(reply spawn.Reply) string {
			device := stat.Of(reply, sizeofStatx)[statxRdev:]
			if binary.NativeEndian.Uint32(device) == 1 && binary.NativeEndian.Uint32(device[4:]) == 3 { // Documentation/admin-guide/devices.txt
				return "masked"
			}
			return word(0)
		}
	})
}

// What statx writes, and where in it the numbers of a device are, each of four bytes: see
// include/uapi/linux/stat.h of the kernel.
const sizeofStatx, statxRdev = 256, 128

// readable is whether a file can be opened, and whether there is anything in it or,
// if it is a directory, anything to list.
func (p *prober) readable(key, file string) {
	p.triedFile(key, file, syscall.O_RDONLY, func(list *spawn.Program, fd spawn.Arg) func(spawn.Reply) string {
		content, entries := list.Answer(4), list.Answer(4)
		list.Call("read "+file, syscall.SYS_READ, fd, list.Bytes(make([]byte, 8)), spawn.Value(1)).AllowAny().SaveAt(content, 0)
		list.Call("list "+file, syscall.SYS_GETDENTS64, fd, list.Bytes(make([]byte, 512)), spawn.Value(512)).AllowAny().SaveAt(entries, 0)
		return func(reply spawn.Reply) string {
			switch read, listed := number(reply, content), number(reply, entries); {
			case read == 0 || listed >= 0 && listed <= twoEntries:
				return "empty"
			case read < 0 && listed < 0:
				return word(read)
			}
			return word(0)
		}
	})
}

// triedFile is whether a file can be opened, and then what look says of it: it adds calls
// about the descriptor, and tells afterwards what they have seen.
func (p *prober) triedFile(key, file string, flags int, look func(list *spawn.Program, fd spawn.Arg) func(spawn.Reply) string) {
	var list spawn.Program
	result := list.Answer(4)
	fd := list.Call("open "+file, syscall.SYS_OPENAT, spawn.FD(atFDCWD), list.String(file), spawn.Value(flags|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC), spawn.Value(0)).AllowAny().Save()
	list.SetInt(result, 0, fd)
	seen := look(&list, fd)
	list.Call("close "+file, syscall.SYS_CLOSE, fd).AllowAny()
	reply, err := p.server.Do(&list)
	switch {
	case err != nil:
		p.seen.add(key, "%v", err)
	case number(reply, result) < 0:
		p.seen.add(key, "%s", word(number(reply, result)))
	default:
		p.seen.add(key, "%s", seen(reply))
	}
}

// twoEntries is what getdents64 writes for . and .. alone.
const twoEntries = 48

// shown is the first line of a small file.
func (p *prober) shown(key, file string) {
	text, errno, err := p.read(file)
	switch {
	case err != nil:
		p.seen.add(key, "%v", err)
	case errno != 0:
		p.seen.add(key, "%s", name(errno))
	default:
		p.seen.add(key, "%s", strings.Join(strings.Fields(text), " "))
	}
}

// sockets are the families and types of which a socket can be made.
func (p *prober) sockets() error {
	for family := range families {
		var calls [][7]uint64
		for _, kind := range socketTypes {
			calls = append(calls, [7]uint64{syscall.SYS_SOCKET, uint64(family), kind.value | unix.SOCK_CLOEXEC})
		}
		results, err := p.call(calls)
		if err != nil {
			return err
		}
		var words []string
		for i, kind := range socketTypes {
			words = append(words, kind.name+" "+word(results[i]))
			if results[i] > 2 {
				if _, err := p.call([][7]uint64{{syscall.SYS_CLOSE, uint64(results[i])}}); err != nil {
					return err
				}
			}
		}
		p.seen.add(fmt.Sprintf("socket %d", family), "%s", strings.Join(words, ", "))
	}
	return nil
}

// systemCalls asks what the policy is held against.
func (p *prober) systemCalls() error {
	f, err := p.seen.filter()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(f.questions(), 512) {
		calls := make([][7]uint64, len(part))
		for i, q := range part {
			calls[i][0] = uint64(q.number)
			copy(calls[i][1:], q.args[:])
		}
		results, err := p.call(calls)
		if err != nil {
			return fmt.Errorf("system calls from %s to %s: %w", part[0].key, part[len(part)-1].key, err)
		}
		for i, q := range part {
			p.seen.add(q.key, "%s", word(results[i]))
		}
	}
	return nil
}
