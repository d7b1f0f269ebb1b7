package seccomp

import "slices"

// allowed are the calls whose arguments do not matter, or are decided by the
// rules before. Five toolchains need 99 of them for a hello; real programs need
// most of the rest.
func allowed() []Rule {
	return slices.Concat(allowedFiles(), allowedProcesses(), allowedIO())
}

func allow(why string, names ...string) Rule {
	return Rule{Why: why, Names: names, Action: Allow}
}

func allowedFiles() []Rule {
	return []Rule{
		allow("open files, read and write them",
			"open", "openat", "creat", "close", "close_range",
			"read", "readv", "pread64", "preadv", "preadv2",
			"write", "writev", "pwrite64", "pwritev", "pwritev2",
			"lseek", "dup", "dup2", "dup3"),
		// Locks reach others only through a shared inode, which an overlay for
		// each run takes away.
		allow("locks, without which go build and cargo fail", "fcntl", "flock"),
		allow("move data between files",
			"sendfile", "splice", "copy_file_range"),
		allow("space, caching and flushing of one's own files",
			"ftruncate", "fallocate", "fadvise64", "readahead", "cachestat",
			"fsync", "fdatasync", "syncfs", "sync_file_range"),
		allow("look at files",
			"stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs",
			"access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64"),
		allow("change names",
			"mkdir", "mkdirat", "rmdir", "rename", "renameat", "renameat2", "umask",
			"link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "mknod", "mknodat"),
		allow("read extended attributes",
			"getxattr", "lgetxattr", "fgetxattr", "getxattrat",
			"listxattr", "llistxattr", "flistxattr", "listxattrat"),
		allow("the working directory", "getcwd", "chdir", "fchdir"),
	}
}

func allowedProcesses() []Rule {
	return []Rule{
		allow("memory of one's own",
			"brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "mincore", "msync", "mseal",
			"mlock", "mlock2", "mlockall", "munlock", "munlockall",
			"membarrier", "map_shadow_stack", "pkey_alloc", "pkey_free", "pkey_mprotect"),
		allow("start programs and end them",
			"fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"),
		allow("threads and their locks",
			"set_tid_address", "set_robust_list", "get_robust_list", "rseq", "arch_prctl",
			"futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue"),
		allow("signals; a pid namespace or Landlock says to whom",
			"kill", "tkill", "tgkill", "pidfd_open", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
			"rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
			"rt_sigreturn", "sigaltstack", "pause", "restart_syscall"),
		allow("who am I",
			"getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid", "setpgid", "setsid",
			"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget"),
		allow("give up more: privileges, files, calls",
			"capset", "prctl", "seccomp"),
		allow("limits and scheduling of one's own",
			"getrlimit", "setrlimit", "prlimit64", "getrusage", "times",
			"getpriority", "setpriority", "ioprio_get", "sched_yield", "sched_getaffinity",
			"sched_getparam", "sched_setparam", "sched_getscheduler", "sched_setscheduler",
			"sched_getattr", "sched_setattr", "sched_rr_get_interval",
			"sched_get_priority_max", "sched_get_priority_min"),
		allow("the machine, as far as everybody may know it",
			"uname", "sysinfo", "getcpu", "getrandom"),
	}
}

// allowedConnections are decided before where a socket is the host's.
func allowedConnections(opts Options) []Rule {
	if opts.Restricted {
		return nil
	}
	return []Rule{allow("connect a socket that could be had", "bind", "listen", "connect")}
}

func allowedIO() []Rule {
	return []Rule{
		allow("wait for descriptors",
			"poll", "ppoll", "select", "pselect6",
			"epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
		allow("pipes, events and signals as descriptors",
			"pipe", "pipe2", "eventfd", "eventfd2", "signalfd", "signalfd4",
			"timerfd_create", "timerfd_settime", "timerfd_gettime"),
		allow("time and timers",
			"time", "gettimeofday", "clock_gettime", "clock_getres", "nanosleep", "clock_nanosleep",
			"alarm", "getitimer", "setitimer",
			"timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete"),
		allow("use a socket that could be had",
			"accept", "accept4", "shutdown",
			"sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg",
			"getsockname", "getpeername", "getsockopt", "setsockopt"),
	}
}
