package seccomp

// absent are interfaces that must look as if the kernel were older. The default
// says the same; they are named because each has a reason.
func absent() []Rule {
	return []Rule{
		{
			Why: "its flags are in memory, where a filter cannot see them; libc, Node, the JVM and " +
				"Rust fall back on clone when it is absent and fail when it is refused",
			Names:  []string{"clone3"},
			Action: Fail(ENOSYS),
		},
		{
			Why: "a ring runs calls that no filter sees; libuv probes for it and takes ENOSYS " +
				"for an answer. The older asynchronous I/O has no users here",
			Names: []string{
				"io_uring_setup", "io_uring_enter", "io_uring_register",
				"io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents",
			},
			Action: Fail(ENOSYS),
		},
		{
			Why: "the newer ways to mount, and to look at mounts and namespaces (CVE-2021-41133: " +
				"filters that knew only the older ones)",
			Names: []string{
				"open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
				"mount_setattr", "statmount", "listmount", "listns",
			},
			Action: Fail(ENOSYS),
		},
		{
			Why: "pages lent to a pipe, where Dirty Pipe and its kin began; splice, sendfile and " +
				"copy_file_range stay because copying libraries rely on them",
			Names:  []string{"vmsplice", "tee"},
			Action: Fail(ENOSYS),
		},
		{
			Why:    "memory that no monitor can read, and mappings that were replaced long ago",
			Names:  []string{"memfd_secret", "remap_file_pages"},
			Action: Fail(ENOSYS),
		},
		{
			Why:    "the number is for code that the kernel itself plants",
			Names:  []string{"uretprobe", "uprobe"},
			Action: Fail(ENOSYS),
		},
	}
}

// refused are calls that an ordinary user could not make either, or could make
// to harm others.
func refused() []Rule {
	refuse := func(why string, names ...string) Rule {
		return Rule{Why: why, Names: names, Action: Fail(EPERM)}
	}
	return []Rule{
		refuse("namespaces and mounts: the walls themselves",
			"unshare", "setns", "mount", "umount2", "pivot_root", "chroot"),
		refuse("other processes' memory, registers and descriptors",
			"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"),
		refuse("large kernel interfaces with a long record of holes",
			"bpf", "perf_event_open", "userfaultfd", "modify_ldt", "fanotify_init", "fanotify_mark"),
		refuse("keyrings belong to a user id, not to a run, and carry data from one to the next",
			"add_key", "request_key", "keyctl"),
		refuse("files by handle, past directory permissions and mounts",
			"name_to_handle_at", "open_by_handle_at"),
		refuse("the kernel's code",
			"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"),
		refuse("the machine's settings, its log and its hardware",
			"swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "vhangup",
			"sethostname", "setdomainname", "iopl", "ioperm"),
		refuse("the machine's clock", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime"),
		refuse("where memory lies and who goes first at the disk: others feel it",
			"mbind", "set_mempolicy", "get_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages",
			"ioprio_set"),
		{
			Why: "writes back every file system of the host; what is ours lies in memory or has " +
				"fsync and syncfs",
			Names:  []string{"sync"},
			Action: Ignore,
		},
	}
}
