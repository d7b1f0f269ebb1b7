package seccomp

import "golang.org/x/sys/unix"

// olderCalls are those without a return that arm64 lacks.
func olderCalls() []uintptr {
	return []uintptr{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_PAUSE, unix.SYS_URETPROBE, unix.SYS_UPROBE}
}
