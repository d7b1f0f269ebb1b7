package posture

import "syscall"

var fatal = []uint64{syscall.SYS_RT_SIGRETURN, syscall.SYS_EXIT, syscall.SYS_EXIT_GROUP, syscall.SYS_SYNC, syscall.SYS_FORK, syscall.SYS_VFORK, syscall.SYS_PAUSE,
	// uretprobe and uprobe, which no filter sees since Linux 6.14 (kernel/seccomp.c): they
	// are for code that the kernel has planted, and the first is a SIGILL anywhere else.
	335, 336}
