package faults

// call is a system call that is on the way of a run, and what may become of it.
type call struct {
	name string
	ways []string // what strace injects: an errno that the call can have on a host in trouble
}

func errnos(names ...string) (ways []string) {
	for _, name := range names {
		ways = append(ways, "error="+name)
	}
	return ways
}

// ofServer are the calls that the server makes for a run. What is EINTR is to be tried
// again. Left out are fcntl and flock: one that does not unlock is nothing that a kernel
// does, and SQLite does not get over it. So are errnos that say something: EACCES of a file
// is that the program has closed it, ENOSPC of a workspace that its limit is reached (for a
// disk that is full see TestFullDisk).
var ofServer = []call{
	{"openat", errnos("EMFILE", "ENFILE", "ENOMEM", "EIO", "EINTR")},
	{"mkdirat", errnos("ENOMEM", "EIO", "EROFS")},
	{"unlinkat", errnos("EIO", "EBUSY", "ENOMEM")},
	{"newfstatat", errnos("ENOMEM", "EIO")},
	{"fstat", errnos("EIO")},
	{"fstatfs", errnos("EIO", "ENOMEM")},
	{"faccessat", errnos("ENOMEM", "EIO")},
	{"readlinkat", errnos("ENOMEM", "EIO")},
	{"getdents64", errnos("EIO", "ENOMEM")},
	{"read", errnos("EIO", "ENOMEM", "EINTR")},
	{"write", errnos("EIO", "ENOMEM", "EINTR")},
	{"pread64", errnos("EIO", "ENOMEM", "EINTR")},
	{"pwrite64", errnos("ENOSPC", "EIO")},
	{"sendmsg", errnos("ENOMEM", "ENOBUFS", "ETOOMANYREFS", "EINTR")},
	{"recvmsg", errnos("ENOMEM", "EINTR")},
	{"socketpair", errnos("EMFILE", "ENFILE", "ENOMEM")},
	{"socket", errnos("EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EACCES")},
	{"bind", errnos("ENOMEM", "EADDRINUSE")},
	{"sendto", errnos("ENOBUFS", "ENOMEM")},
	{"recvfrom", errnos("ENOMEM", "EINTR")},
	{"getsockname", errnos("ENOBUFS")},
	{"setsockopt", errnos("ENOMEM", "ENOBUFS")},
	{"pipe2", errnos("EMFILE", "ENFILE")},
	{"eventfd2", errnos("EMFILE", "ENFILE", "ENOMEM")},
	{"epoll_ctl", errnos("ENOMEM", "ENOSPC")},
	{"fchown", errnos("EPERM", "EIO")},
	{"fchownat", errnos("EPERM", "EIO")},
	{"fchmod", errnos("EPERM", "EIO")},
	{"accept4", errnos("EMFILE", "ENFILE", "ENOMEM", "ECONNABORTED", "EINTR")},
	{"pidfd_send_signal", errnos("EPERM")},
	{"setfsuid", []string{"error=EPERM", "retval=0"}}, // it cannot fail, but not do it
	{"setfsgid", []string{"error=EPERM", "retval=0"}},
}

// ofInit are the calls that are made for a container by the spawner, by its init, and by
// what init has forked until that is the program. That close fails is left out: the
// kernel closes all the same, and strace does not. So is execve: strace turns a call that is
// to fail into one that is none, for which the filter, installed by then, kills.
var ofInit = []call{
	{"clone", errnos("EAGAIN", "ENOMEM", "EPERM", "ENOSPC")},
	{"clone3", errnos("EAGAIN", "ENOMEM", "EPERM", "EBUSY")},
	{"unshare", errnos("ENOMEM", "EPERM", "ENOSPC")},
	{"mount", errnos("ENOMEM", "EPERM", "EINVAL", "ENODEV")},
	{"umount2", errnos("EBUSY", "EPERM")},
	{"pivot_root", errnos("EBUSY", "EINVAL", "EPERM")},
	{"mkdirat", errnos("ENOSPC", "ENOMEM")},
	{"mknodat", errnos("ENOSPC", "EPERM")},
	{"symlinkat", errnos("ENOSPC", "ENOMEM")},
	{"openat", errnos("EMFILE", "ENFILE", "ENOMEM", "EACCES")},
	{"write", errnos("EPERM", "ENOMEM", "ENOSPC", "EBUSY")},
	{"recvmsg", errnos("ENOMEM", "EMFILE")},
	{"sendmsg", errnos("ENOMEM", "ENOBUFS", "ETOOMANYREFS")},
	{"chdir", errnos("ENOMEM", "EACCES")},
	{"fchownat", errnos("EPERM", "EIO")},
	{"chmod", errnos("EPERM", "EIO")},
	{"sethostname", errnos("EPERM")},
	{"socket", errnos("ENOMEM", "EMFILE", "EACCES")},
	{"ioctl", errnos("EPERM", "ENOMEM")},
	{"setsid", errnos("EPERM")},
	{"dup3", errnos("EMFILE", "EBUSY")},
	{"close_range", errnos("EMFILE", "ENOMEM", "EINVAL")},
	{"prctl", errnos("EPERM", "EINVAL")},
	{"landlock_create_ruleset", errnos("ENOMEM", "EMFILE", "EOPNOTSUPP")},
	{"landlock_add_rule", errnos("ENOMEM", "EINVAL")},
	{"landlock_restrict_self", errnos("E2BIG", "EPERM")},
	{"prlimit64", errnos("EPERM")},
	{"setgroups", errnos("ENOMEM", "EPERM")},
	{"setresgid", errnos("EPERM", "EINVAL")},
	{"setresuid", errnos("EAGAIN", "EPERM")},
	{"capset", errnos("EPERM")},
	{"rt_sigprocmask", errnos("EINVAL")},
	{"seccomp", errnos("ENOMEM", "EINVAL", "EACCES")},
	{"sched_setaffinity", errnos("EINVAL")},
	{"wait4", errnos("EINTR")},
	{"kill", errnos("EPERM")},
}

// unmade are calls that no run makes, or one now and then, by level and target, where there are
// control groups.
var unmade = map[string][]string{
	"full server":       {"pidfd_send_signal"},
	"full init":         {"sched_setaffinity"},
	"restricted server": {"pidfd_send_signal"},
	"restricted init":   {"unshare", "mount", "umount2", "pivot_root", "mkdirat", "mknodat", "symlinkat", "fchownat", "sethostname", "sched_setaffinity"},
}
