// Package rootfs is what the roots of containers are made of, whichever runtime
// puts them together: what of the host or of an image is in them, what of /etc and
// /proc is ours, and where in an image something can be mounted.
package rootfs

import (
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// SystemDirs are the directories of an operating system that hold its programs and
// libraries, as names below the root. Some are links, and not every system has all.
func SystemDirs() []string {
	return []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}
}

// MaskedProc are the names of /proc that tell of the host or of other runs, or that
// have been a way to the kernel. Not every kernel has all.
func MaskedProc() []string {
	return []string{
		"acpi", "asound", "buddyinfo", "bus", "cgroups", "cmdline", "config.gz", "consoles", "crypto", "devices",
		"diskstats", "dma", "driver", "dynamic_debug", "execdomains", "fb", "fs", "interrupts", "iomem", "ioports",
		"irq", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags",
		"latency_stats", "locks", "mdstat", "misc", "modules", "mtrr", "partitions", "pressure", "sched_debug",
		"schedstat", "scsi", "slabinfo", "softirqs", "swaps", "sysrq-trigger", "sysvipc", "timer_list", "timer_stats",
		"tty", "vmallocinfo", "zoneinfo",
		"sys/fs", "sys/kernel/pty/nr", "sys/kernel/random/boot_id",
	}
}

// MaskedPaths are their paths, for who makes /proc/sys read-only after it has masked what is
// below: of a directory that leaves crun a mask that is not, so there it is the files.
func MaskedPaths() []string {
	var paths []string
	for _, name := range MaskedProc() {
		if name != "sys/fs" {
			paths = append(paths, "/proc/"+name)
			continue
		}
		for _, counts := range []string{"aio-nr", "dentry-state", "file-nr", "inode-nr", "inode-state"} {
			paths = append(paths, "/proc/sys/fs/"+counts)
		}
		for _, counts := range []string{"allocated_dquots", "cache_hits", "drops", "free_dquots", "lookups", "reads", "syncs", "writes"} {
			paths = append(paths, "/proc/sys/fs/quota/"+counts)
		}
	}
	return paths
}

// DeviceNode is a character device, by the numbers of the kernel's
// Documentation/admin-guide/devices.txt.
type DeviceNode struct {
	Name         string
	Major, Minor uint32
}

// DeviceNodes are the devices of every container.
func DeviceNodes() []DeviceNode {
	return []DeviceNode{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}
}

// DevptsOptions are those of a container's terminals. It may have this many: the
// machine has /proc/sys/kernel/pty/max for all containers together.
const DevptsOptions = "newinstance,ptmxmode=0666,mode=0620,max=64"

// PasswdLine is the sandbox's user, as a line of /etc/passwd.
func PasswdLine() string {
	return fmt.Sprintf("%[1]s:x:%[2]d:%[2]d:%[1]s:%[3]s:/bin/sh\n", sandbox.UserName, sandbox.UserID, sandbox.WorkspaceDir)
}

// GroupLine is the sandbox's group, as a line of /etc/group.
func GroupLine() string { return fmt.Sprintf("%s:x:%d:\n", sandbox.UserName, sandbox.UserID) }

// EtcFile is a file of /etc.
type EtcFile struct{ Name, Content string }

// Etc are the files of /etc that are ours in every container, whatever the host or
// an image says there.
func Etc(resolvConf string) []EtcFile {
	return []EtcFile{
		{"passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n" + PasswdLine() + "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
		{"group", "root:x:0:\n" + GroupLine() + "nogroup:x:65534:\n"},
		{"hosts", "127.0.0.1 localhost " + sandbox.Hostname + "\n"},
		{"hostname", sandbox.Hostname + "\n"},
		{"nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
		{"resolv.conf", resolvConf},
	}
}

// EscapeOption quotes what means something in a list of overlay directories.
func EscapeOption(path string) string { return quoted.Replace(path) }

var quoted = strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`)
