package seccomp

import "slices"

// Options adapt the default policy to what else stands around a program. The
// zero value is the strictest policy for a host with namespaces.
type Options struct {
	// Inet allows sockets of AF_INET and AF_INET6, TCP and UDP. Which addresses
	// they reach is not decided here: without a network namespace of the
	// program's own, loopback is the host's.
	Inet bool
	// NoUDP takes UDP away again and makes requests for larger socket buffers
	// succeed without effect. It is for hosts with cgroup v1, where the buffers
	// of sockets on loopback are charged to nobody and UDP cannot be bounded.
	NoUDP bool
	// Supervised lets whoever serves the filter's listener decide what would reach
	// a network: with Restricted every connection and every socket for datagrams,
	// since those would be the host's. Otherwise it is only told of sockets that
	// are refused. It goes with Inet, which with Restricted goes with nothing else.
	Supervised bool
	// Restricted is for hosts that refuse namespaces. What is otherwise private
	// to the program (ids, System V IPC, inodes, processes, pathname sockets)
	// is then shared with the host, so the calls that act on it are refused.
	Restricted bool
	// MemorySampled is for hosts that grant no control group for memory: what a sample of
	// processes cannot see is refused, where programs do without.
	MemorySampled bool
	// NoIPC refuses System V IPC and POSIX queues: what the program leaves there would be
	// in the IPC namespace of the next one.
	NoIPC bool
	// TruncationUnwatched is for kernels whose Landlock does not watch truncation:
	// before its third version, Linux 6.2. It goes with Restricted.
	TruncationUnwatched bool
	// Attributes are free where the program has a root of its own, and all but times
	// where it has a user id of its own.
	// Others go with Restricted.
	Attributes Attributes
	// AllowAffinity lets the program choose its cores. Leave it out where the
	// set of cores is what limits its CPU time.
	AllowAffinity bool
	// Outer is for the filter around an init, which sets the limits of programs.
	Outer bool
	// OneUser says that the container's init has the programs' user: what changes a
	// process by its id could reach it.
	OneUser bool
}

// Default is the policy for programs that nobody trusts, in any language. It
// starts from what Docker allows and takes away what has no use in a short run
// and a record of holes. It contains what a starter needs for its last steps:
// execve, execveat, and sendto and sendmsg on a socket that is open already.
//
// Three kinds of answers, and why not others:
//
//   - ENOSYS for what the policy does not know, and for interfaces whose users
//     fall back on an older one: libraries probe for news, take ENOSYS for an
//     older kernel, and give up on EPERM.
//   - EPERM for what is known and refused, which is what an ordinary user
//     without privileges would get.
//   - Never a signal, except for a call through a foreign interface.
func Default(opts Options) Policy {
	return Policy{
		Default: Fail(ENOSYS),
		Rules: slices.Concat(
			byArgument(),
			perHost(opts),
			files(opts),
			sockets(opts),
			perNamespace(opts),
			coreDumps(opts),
			byProcess(opts),
			absent(),
			refused(),
			allowed(),
			allowedConnections(opts),
		),
	}
}

// byArgument are the calls that are fine but for some uses.
func byArgument() []Rule {
	const (
		// newNamespaces is CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER,
		// NEWPID and NEWNET (linux/sched.h). CLONE_NEWTIME shares its bit with
		// the exit signal and clone(2) does not take it.
		newNamespaces = 0x7e020000
		// clonePtrace has who traces the parent trace the child, too (CLONE_PTRACE).
		clonePtrace = 0x2000

		ioctlTIOCSTI    = 0x5412 // asm-generic/ioctls.h
		ioctlTIOCLINUX  = 0x541c
		prctlSetMM      = 35 // PR_SET_MM, linux/prctl.h
		prctlMerge      = 67 // PR_SET_MEMORY_MERGE
		prctlSchedCore  = 62 // PR_SCHED_CORE
		madvMergeable   = 12 // MADV_MERGEABLE, asm-generic/mman-common.h
		fileType        = 0o170000
		characterDevice = 0o020000
		blockDevice     = 0o060000
	)
	rules := []Rule{
		{
			Why: "new namespaces open kernel code that is otherwise root's; clone3, whose flags " +
				"are out of sight in memory, must look absent so that libc falls back on clone",
			Names: []string{"clone"}, Action: Allow,
			When: []Condition{MaskedEqual(0, newNamespaces|clonePtrace, 0)},
		},
		{Why: "new namespaces", Names: []string{"clone"}, Action: Fail(EPERM)},
		{
			Why:   "typing into the terminal that we share (CVE-2017-5226)",
			Names: []string{"ioctl"}, Action: Fail(EPERM),
			When: []Condition{Equal32(1, ioctlTIOCSTI)},
		},
		{
			Why:   "the same by the console's selection (CVE-2023-28100)",
			Names: []string{"ioctl"}, Action: Fail(EPERM),
			When: []Condition{Equal32(1, ioctlTIOCLINUX)},
		},
		{
			Why:   "rewriting the process's own memory map, which /proc shows to others",
			Names: []string{"prctl"}, Action: Fail(EPERM),
			When: []Condition{Equal32(0, prctlSetMM)},
		},
		{
			Why:   "pages that are one with others' equal ones: how long a write takes tells what they hold",
			Names: []string{"madvise"}, Action: Fail(EINVAL), // as by a kernel without CONFIG_KSM
			When: []Condition{Equal32(2, madvMergeable)},
		},
		{
			Why:   "pages that are one with others' equal ones, for all of a process",
			Names: []string{"prctl"}, Action: Fail(EINVAL),
			When: []Condition{Equal32(0, prctlMerge)},
		},
		{
			Why: "a cookie of its own keeps all others off the other threads of a core, which nobody " +
				"is charged for; the first and the last one on a machine stop all its processors",
			Names: []string{"prctl"}, Action: Fail(EINVAL),
			When: []Condition{Equal32(0, prctlSchedCore)},
		},
	}
	for _, device := range []uint64{characterDevice, blockDevice} {
		rules = append(rules,
			Rule{Why: "device nodes", Names: []string{"mknod"}, Action: Fail(EPERM),
				When: []Condition{MaskedEqual(1, fileType, device)}},
			Rule{Why: "device nodes", Names: []string{"mknodat"}, Action: Fail(EPERM),
				When: []Condition{MaskedEqual(2, fileType, device)}})
	}
	return append(rules, personalities()...)
}

// coreDumps keeps the limit of core dumps where it is: at one byte, which alone keeps a
// crash from starting the program that the host's core_pattern may name, as root (core(5),
// fs/coredump.c); at zero it is started. Programs that set it to zero want no dump, which
// is what they get.
func coreDumps(opts Options) []Rule {
	if opts.Outer {
		return nil
	}
	const limitCore = 4 // RLIMIT_CORE
	why := "the limit of core dumps stays where it is"
	return []Rule{
		{Why: why, Names: []string{"setrlimit"}, Action: Ignore, When: []Condition{Equal32(0, limitCore)}},
		{Why: why, Names: []string{"prlimit64"}, Action: Ignore, When: []Condition{Equal32(1, limitCore), Not(Equal(2, 0))}},
	}
}

// personalities allows the execution domains (linux/personality.h) that change
// nothing of weight. READ_IMPLIES_EXEC and ADDR_NO_RANDOMIZE are not among them.
func personalities() []Rule {
	const (
		linux   = 0x0
		linux32 = 0x8
		uname26 = 0x20000
		query   = 0xffffffff // asks which one is in force
	)
	why := "execution domains that weaken no protection of memory"
	names := []string{"personality"}
	var rules []Rule
	for _, persona := range []uint32{linux, linux32, uname26, uname26 | linux32, query} {
		rules = append(rules, Rule{Why: why, Names: names, Action: Allow,
			When: []Condition{Equal32(0, persona)}})
	}
	return append(rules, Rule{Why: "the other execution domains", Names: names, Action: Fail(EPERM)})
}

// perNamespace are the calls on what a namespace makes private.
func perNamespace(opts Options) []Rule {
	ids, ipc, watches, memory, hidden := Allow, Allow, Allow, Allow, Allow
	var rules []Rule
	if opts.Restricted {
		ids, ipc, watches, memory, hidden = Fail(EPERM), Fail(ENOSYS), Fail(ENOSYS), Fail(ENOSYS), Fail(ENOSYS)
		rules = leases()
	}
	if opts.MemorySampled {
		ipc, memory = Fail(ENOSYS), Fail(ENOSYS)
	}
	if opts.NoIPC {
		ipc = Fail(ENOSYS)
	}
	rules = append(rules, perHostMemory(ipc, memory)...)
	return append(rules,
		Rule{
			Why: "user and group ids are the user namespace's; without one they are the host's, and a " +
				"capability that was left by mistake must not change them",
			Names: []string{
				"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
				"setfsuid", "setfsgid", "setgroups",
			},
			Action: ids,
		},
		Rule{
			Why: "System V IPC and POSIX queues end with the IPC namespace; without one they outlive the " +
				"run and are open to every process of the same user. Segments that nobody has attached, " +
				"messages and semaphores are memory that no sample of processes sees",
			Names: []string{
				"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl",
				"msgget", "msgsnd", "msgrcv", "msgctl",
				"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
			},
			Action: ipc,
		},
		Rule{
			Why: "watches are on inodes, and the inodes are an overlay's of our own; without one they are " +
				"the host's and tell which files others open",
			Names:  []string{"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"},
			Action: watches,
		},
		Rule{
			Why:    "files of memory, which a control group counts; who samples a process tree sees what is mapped",
			Names:  []string{"memfd_create"},
			Action: memory,
		},
		Rule{
			Why: "rules that keep deleted files: a file system of its own counts them; who samples a " +
				"process tree instead does not see them",
			Names:  []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"},
			Action: hidden,
		})
}

// leases are the uses of fcntl that reach other processes through an inode that
// they share. Locks stay: go build and cargo do not work without.
func leases() []Rule {
	const (
		setLease = 1024 // F_SETLEASE, linux/fcntl.h
		notify   = 1026 // F_NOTIFY
	)
	rule := Rule{Why: "leases and notifications on inodes that others use", Names: []string{"fcntl"}, Action: Fail(EPERM)}
	lease, note := rule, rule
	lease.When = []Condition{Equal32(1, setLease)}
	note.When = []Condition{Equal32(1, notify)}
	return []Rule{lease, note}
}

// byProcess are the calls that take the id of a process and that Landlock does
// not watch. A pid namespace leaves only the run's own to be named, and its init.
func byProcess(opts Options) []Rule {
	const userPriority = 2 // PRIO_USER, linux/resource.h
	var rules []Rule
	if !opts.AllowAffinity {
		rules = append(rules, Rule{
			Why:   "the set of cores limits the run's CPU time",
			Names: []string{"sched_setaffinity"}, Action: Fail(EPERM),
		})
	}
	if !opts.Restricted && !opts.OneUser {
		return append(rules, affinity(opts)...)
	}
	why := "changes to processes of the same user that are not the run's"
	rules = append(rules,
		Rule{Why: why, Names: scheduling(opts), Action: Fail(EPERM),
			When: []Condition{Not(Equal32(0, 0))}},
		Rule{Why: why, Names: []string{"prlimit64"}, Action: Fail(EPERM),
			When: []Condition{Not(Equal32(0, 0)), Not(Equal(2, 0))}}, // reading is fine
		Rule{Why: why, Names: []string{"setpriority"}, Action: Fail(EPERM),
			When: []Condition{Equal32(0, userPriority)}},
		Rule{Why: why, Names: []string{"setpriority"}, Action: Fail(EPERM),
			When: []Condition{Not(Equal32(1, 0))}})
	return append(rules, affinity(opts)...)
}

// scheduling names the calls whose first argument is a thread, 0 for the caller.
func scheduling(opts Options) []string {
	names := []string{"sched_setparam", "sched_setscheduler", "sched_setattr"}
	if opts.AllowAffinity {
		names = append(names, "sched_setaffinity")
	}
	return names
}

func affinity(opts Options) []Rule {
	if !opts.AllowAffinity {
		return nil
	}
	return []Rule{{Why: "cores are the program's to choose", Names: []string{"sched_setaffinity"}, Action: Allow}}
}
