package seccomp

const hugePages = "huge pages that the host keeps for others: no limit of memory counts them, and to ask " +
	"for them takes them, untouched"

// perHost keeps programs from what a kernel has once for all: what one takes of it, or throws
// away, everybody lacks, and no control group counts it.
func perHost(opts Options) []Rule {
	const (
		solSocket      = 1       // SOL_SOCKET, asm-generic/socket.h
		mapHuge        = 0x40000 // MAP_HUGETLB, asm-generic/mman-common.h
		dontNeed       = 4       // POSIX_FADV_DONTNEED, linux/fadvise.h
		pageOut        = 21      // MADV_PAGEOUT
		lineDiscipline = 0x5423  // TIOCSETD, asm-generic/ioctls.h
	)
	cached := "throws the host's files out of memory, for everybody who has them from the same disk"
	rules := []Rule{
		{Why: hugePages, Names: []string{"mmap"}, Action: Fail(ENOMEM), When: []Condition{MaskedEqual(3, mapHuge, mapHuge)}},
		{Why: cached, Names: []string{"fadvise64"}, Action: Ignore, When: []Condition{Equal32(3, dontNeed)}},
		{Why: cached, Names: []string{"madvise"}, Action: Ignore, When: []Condition{Equal32(2, pageOut)}},
	}
	for _, command := range []Condition{
		Equal32(1, lineDiscipline),
		{Arg: 1, Mask: low32, Low: 0x8940, High: 0x8941}, // SIOCGIFBR, SIOCSIFBR
		{Arg: 1, Mask: low32, Low: 0x8980, High: 0x8983}, // SIOCADDDLCI to SIOCSIFVLAN
		{Arg: 1, Mask: low32, Low: 0x89a0, High: 0x89a3}, // SIOCBRADDBR to SIOCBRDELIF
	} {
		rules = append(rules, Rule{
			Why:   "has the kernel load a driver that nobody uses, of terminals or networks: any descriptor will do",
			Names: []string{"ioctl"}, Action: Fail(EINVAL), When: []Condition{command},
		})
	}
	for _, option := range []Condition{
		Equal32(2, 26),                           // SO_ATTACH_FILTER
		{Arg: 2, Mask: low32, Low: 50, High: 52}, // SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF
	} {
		rules = append(rules, Rule{
			Why: "compiled filters of sockets lie in memory of which a host has one sum for all " +
				"(net.core.bpf_jit_limit): when that is used up, nobody can make a filter, not even ours",
			Names: []string{"setsockopt"}, Action: Fail(EPERM),
			When: []Condition{Equal32(1, solSocket), option},
		})
	}
	for _, option := range []Condition{
		Equal32(2, 29),                           // SO_TIMESTAMP
		Equal32(2, 35),                           // SO_TIMESTAMPNS
		Equal32(2, 37),                           // SO_TIMESTAMPING
		{Arg: 2, Mask: low32, Low: 63, High: 65}, // the same with 64 bits
	} {
		rules = append(rules, Rule{
			Why: "the first socket that wants times of packets has the kernel rewrite itself, for which " +
				"all processors of the host stop, and the last one to go again",
			Names: []string{"setsockopt"}, Action: Fail(ENOPROTOOPT),
			When: []Condition{Equal32(1, solSocket), option},
		})
	}
	return append(rules, filters(opts)...)
}

// filters are a program's own filters of system calls, which are compiled into the same memory. An
// init has yet to set those of programs.
func filters(opts Options) []Rule {
	const (
		modeFilter  = 1   // SECCOMP_SET_MODE_FILTER, linux/seccomp.h
		newListener = 0x8 // SECCOMP_FILTER_FLAG_NEW_LISTENER
		setSeccomp  = 22  // PR_SET_SECCOMP, linux/prctl.h
		byPrctl     = 2   // SECCOMP_MODE_FILTER
	)
	if opts.Outer {
		return []Rule{{
			Why:   "a listener is the supervisor's",
			Names: []string{"seccomp"}, Action: Fail(EPERM),
			When: []Condition{MaskedEqual(1, newListener, newListener)},
		}}
	}
	why := "compiled filters of system calls lie in the memory of those of sockets, and a listener is the supervisor's"
	return []Rule{ // as by a kernel without CONFIG_SECCOMP_FILTER
		{Why: why, Names: []string{"seccomp"}, Action: Fail(EINVAL), When: []Condition{Equal32(0, modeFilter)}},
		{Why: why, Names: []string{"prctl"}, Action: Fail(EINVAL), When: []Condition{Equal32(0, setSeccomp), Equal32(1, byPrctl)}},
	}
}

// perHostMemory keeps memory that is allowed otherwise from being huge pages.
func perHostMemory(ipc, files Action) (rules []Rule) {
	const (
		memfdHuge = 0x4    // MFD_HUGETLB, linux/memfd.h
		shmHuge   = 0o4000 // SHM_HUGETLB, linux/shm.h
	)
	if ipc == Allow {
		rules = append(rules, Rule{Why: hugePages, Names: []string{"shmget"}, Action: Fail(EPERM), When: []Condition{MaskedEqual(2, shmHuge, shmHuge)}})
	}
	if files == Allow {
		rules = append(rules, Rule{Why: hugePages, Names: []string{"memfd_create"}, Action: Fail(EINVAL), When: []Condition{MaskedEqual(1, memfdHuge, memfdHuge)}})
	}
	return rules
}
