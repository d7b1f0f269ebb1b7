package seccomp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// everyOptions are all combinations of options that have a meaning.
func everyOptions() []Options {
	var every []Options
	for bits := range 32 {
		opts := Options{
			Inet: bits&1 != 0, NoUDP: bits&2 != 0, Restricted: bits&4 != 0, AllowAffinity: bits&8 != 0, Supervised: bits&16 != 0,
		}
		if !opts.Inet && opts.Supervised {
			continue
		}
		every = append(every, opts)
		if opts.Restricted {
			for _, opts.Attributes = range []Attributes{AttributesSupervised, TimesSupervised, AttributesRefused} {
				opts.TruncationUnwatched = opts.Attributes == AttributesSupervised
				every = append(every, opts)
			}
			continue
		}
		opts.OneUser, opts.MemorySampled = true, true
		every = append(every, opts)
	}
	return every
}

// verdictOf runs the compiled default policy on a call by name.
func verdictOf(t *testing.T, m machine, arch Arch, name string, args ...uint64) Action {
	t.Helper()
	number, known := arch.number(name)
	if !known {
		t.Fatalf("no system call %s", name)
	}
	c := call{arch: arch, number: uint32(number)}
	copy(c.args[:], args)
	return m.run(t, c)
}

func TestDefaultAgreesWithNaive(t *testing.T) {
	flips := []uint64{0, 1 << 32, 1 << 63, 0xffffffff << 32}
	for _, opts := range everyOptions() {
		policy := Default(opts)
		for _, arch := range arches {
			fast, plain := compiled(t, policy, arch), newMachine(t, naive(policy, arch))
			check := func(t fataler, c call) {
				got, want := fast.run(t, c), evaluate(policy, arch, c)
				if slow := plain.run(t, c); got != want || slow != want {
					t.Fatal(fmt.Sprintf("%+v %+v: compiled %v, naive %v, meaning %v", opts, c, got, slow, want))
				}
			}
			for n := range uint32(1024) {
				flip := flips[n%4]
				c := call{arch: arch, number: n, args: [6]uint64{flip, flip + uint64(n%3), flip}}
				check(t, c)
				c.number |= x32Bit
				check(t, c)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		policy := Default(rapid.SampledFrom(everyOptions()).Draw(t, "options"))
		arch := rapid.SampledFrom(arches).Draw(t, "arch")
		fast := compiled(t, policy, arch)
		for range 50 {
			c := drawCall(t, policy, arch)
			if got, want := fast.run(t, c), evaluate(policy, arch, c); got != want {
				t.Fatalf("%+v: got %v, want %v", c, got, want)
			}
		}
	})
}

// expectation is a call by name, and what the default policy says to it.
type expectation struct {
	opts Options
	name string
	args []uint64
	want Action
}

const (
	high    = 1 << 32 // beyond what the kernel sees of an int
	cloexec = 0o2000000

	eacces   = actionErrno | Action(EACCES)
	eperm    = actionErrno | Action(EPERM)
	enosys   = actionErrno | Action(ENOSYS)
	noFamily = actionErrno | Action(EAFNOSUPPORT)
	noType   = actionErrno | Action(ESOCKTNOSUPPORT)
	noProto  = actionErrno | Action(EPROTONOSUPPORT)
	noOption = actionErrno | Action(EOPNOTSUPP)
)

// expect compares on both architectures, where the call exists.
func expect(t *testing.T, expectations []expectation) {
	t.Helper()
	for _, arch := range arches {
		machines := map[Options]machine{}
		for _, e := range expectations {
			if _, ok := machines[e.opts]; !ok {
				machines[e.opts] = compiled(t, Default(e.opts), arch)
			}
			if number, _ := arch.number(e.name); number < 0 {
				continue
			}
			if got := verdictOf(t, machines[e.opts], arch, e.name, e.args...); got != e.want {
				t.Errorf("%+v on %#x: %s%#x: got %v, want %v", e.opts, uint32(arch), e.name, e.args, got, e.want)
			}
		}
	}
}

func TestProcessVerdicts(t *testing.T) {
	full := Options{}
	expect(t, []expectation{
		{full, "clone", []uint64{0x11}, Allow},
		{full, "clone", []uint64{0x3d0f00}, Allow}, // pthread_create
		{full, "clone", []uint64{0x10000000}, eperm},
		{full, "clone", []uint64{0x2011}, eperm},
		{full, "clone", []uint64{0x00020011}, eperm},
		{full, "clone", []uint64{0x40000011 | high}, eperm},
		{full, "clone3", nil, enosys},
		{full, "unshare", nil, eperm},
		{full, "execve", nil, Allow},
		{full, "execveat", nil, Allow},
		{full, "sync", nil, Ignore},
		{full, "ioctl", []uint64{0, 0x5412}, eperm},
		{full, "ioctl", []uint64{0, 0x5412 | high}, eperm},
		{full, "ioctl", []uint64{0, 0x541c | high<<31}, eperm},
		{full, "ioctl", []uint64{0, 0x5413}, Allow},
		{full, "prctl", []uint64{35 | high}, eperm},
		{full, "prctl", []uint64{15}, Allow},
		{full, "prctl", []uint64{62 | high, 1}, Fail(EINVAL)},
		{full, "personality", []uint64{0xffffffff}, Allow},
		{full, "personality", []uint64{0}, Allow},
		{full, "personality", []uint64{0x0040000}, eperm}, // ADDR_NO_RANDOMIZE
		{full, "personality", []uint64{0x0400000}, eperm}, // READ_IMPLIES_EXEC
		{full, "mknodat", []uint64{0, 0, 0o100644}, Allow},
		{full, "mknodat", []uint64{0, 0, 0o010644}, Allow},
		{full, "mknodat", []uint64{0, 0, 0o020644}, eperm},
		{full, "mknodat", []uint64{0, 0, 0o060644 | high | 1<<16}, eperm},
		{full, "fcntl", []uint64{0, 1024}, Allow},
		{full, "setuid", []uint64{0}, Allow},
		{full, "shmget", nil, Allow},
		{full, "inotify_add_watch", nil, Allow},
		{full, "sched_setscheduler", []uint64{7}, Allow},
		{full, "prlimit64", []uint64{7, 0, 1}, Allow},
		{full, "sched_setaffinity", nil, eperm},
		{Options{AllowAffinity: true}, "sched_setaffinity", []uint64{7}, Allow},
	})
}

func TestSocketVerdicts(t *testing.T) {
	full, inet, noUDP := Options{}, Options{Inet: true}, Options{Inet: true, NoUDP: true}
	expect(t, []expectation{
		{full, "socket", []uint64{afUnix, sockStream | cloexec}, Allow},
		{full, "socket", []uint64{afUnix, sockDgram}, Allow},
		{full, "socket", []uint64{afUnix, sockSeqpacket}, Allow},
		{full, "socket", []uint64{afUnix, sockRaw}, noFamily},
		{full, "socket", []uint64{afUnix | high, sockStream}, Allow},
		{full, "socket", []uint64{afInet | high, sockStream}, noFamily},
		{full, "socket", []uint64{afInet, sockStream}, noFamily},
		{full, "socket", []uint64{afInet6, sockDgram}, noFamily},
		{full, "socketpair", []uint64{afUnix, sockDgram}, Allow},
		{full, "socketpair", []uint64{16, sockDgram}, noFamily},
		{full, "setsockopt", []uint64{0, 1, soRcvbuf}, Allow},

		{inet, "socket", []uint64{afUnix, sockStream}, Allow},
		{inet, "socket", []uint64{afInet, sockStream}, Allow},
		{inet, "socket", []uint64{afInet6, sockStream | cloexec, protoTCP}, Allow},
		{inet, "socket", []uint64{afInet, sockDgram, protoUDP}, Allow},
		{inet, "socket", []uint64{afInet, sockDgram, 1}, noProto},    // ICMP
		{inet, "socket", []uint64{afInet, sockStream, 262}, noProto}, // MPTCP
		{inet, "socket", []uint64{afInet, sockStream, 262 | high}, noProto},
		{inet, "socket", []uint64{afInet, sockSeqpacket}, noProto},
		{inet, "socket", []uint64{afInet, 10}, noProto}, // SOCK_PACKET, another name for AF_PACKET
		{inet, "socket", []uint64{afInet, sockRaw, 255}, eperm},
		{inet, "socket", []uint64{17, sockRaw}, noFamily},
		{inet, "socketpair", []uint64{afInet, sockStream}, noFamily},
		{noUDP, "socket", []uint64{afInet, sockStream}, Allow},
		{noUDP, "socket", []uint64{afInet6, sockDgram}, noType},
		{noUDP, "socket", []uint64{afInet, sockDgram | cloexec, protoUDP}, noType},
		{noUDP, "socket", []uint64{afUnix, sockDgram}, Allow},
		{noUDP, "setsockopt", []uint64{0, 1, soRcvbuf}, Ignore},
		{noUDP, "setsockopt", []uint64{0, 1 | high, soSndbufForce | high}, Ignore},
		{noUDP, "setsockopt", []uint64{0, 6, soRcvbuf}, Allow},
		{noUDP, "setsockopt", []uint64{0, 1, 2}, Allow},
	})
}

func TestRestrictedVerdicts(t *testing.T) {
	restricted := Options{Restricted: true}
	both, cores := Options{Restricted: true, Inet: true}, Options{Restricted: true, AllowAffinity: true}
	expect(t, []expectation{
		{restricted, "socket", []uint64{afUnix, sockStream}, noFamily},
		{restricted, "socketpair", []uint64{afUnix, sockStream | cloexec}, Allow},
		{restricted, "socketpair", []uint64{afUnix, sockSeqpacket}, Allow},
		{restricted, "socketpair", []uint64{afUnix, sockDgram}, noFamily},
		{restricted, "socketpair", []uint64{afUnix, sockRaw}, noFamily},
		{restricted, "setuid", nil, eperm},
		{restricted, "setgroups", nil, eperm},
		{restricted, "shmget", nil, enosys},
		{restricted, "mq_open", nil, enosys},
		{restricted, "inotify_init1", nil, enosys},
		{restricted, "memfd_create", nil, enosys},
		{restricted, "landlock_add_rule", nil, enosys},
		{Options{}, "memfd_create", nil, Allow},
		{Options{}, "landlock_add_rule", nil, Allow},
		{restricted, "fcntl", []uint64{0, 1024 | high}, eperm},
		{restricted, "fcntl", []uint64{0, 1026}, eperm},
		{restricted, "fcntl", []uint64{0, 6}, Allow}, // F_SETLK
		{restricted, "flock", nil, Allow},
		{restricted, "prlimit64", []uint64{7, 0, 1}, eperm},
		{restricted, "prlimit64", []uint64{7, 0, high}, eperm}, // a pointer with nothing in its low half
		{restricted, "prlimit64", []uint64{7, 0, 0}, Allow},
		{restricted, "prlimit64", []uint64{0, 0, 1}, Allow},
		{restricted, "setpriority", []uint64{0, 0, 5}, Allow},
		{restricted, "setpriority", []uint64{0, 7, 5}, eperm},
		{restricted, "setpriority", []uint64{2 | high, 0, 5}, eperm},
		{restricted, "sched_setscheduler", []uint64{7}, eperm},
		{restricted, "sched_setscheduler", []uint64{0}, Allow},
		{restricted, "sched_setaffinity", []uint64{0}, eperm},
		{cores, "sched_setaffinity", []uint64{0}, Allow},
		{cores, "sched_setaffinity", []uint64{7}, eperm},
		{both, "socket", []uint64{afInet, sockStream}, Allow},
		{both, "sendto", []uint64{0, 0, 0, 0x20000000 | high}, noOption},
		{both, "sendmmsg", []uint64{0, 0, 0, 0x20004000}, noOption},
		{both, "sendmsg", []uint64{0, 0, 0x20000000}, noOption},
		{both, "sendmsg", []uint64{0, 0, 0x4000}, Allow},
		{Options{Inet: true}, "sendto", []uint64{0, 0, 0, 0x20000000}, Allow},
		{both, "socket", []uint64{afUnix, sockStream}, noFamily},
	})
}

// TestSupervisedVerdicts: what would reach a network is the supervisor's to
// decide, and with namespaces only what is refused anyway.
func TestSupervisedVerdicts(t *testing.T) {
	full, noUDP := Options{Inet: true, Supervised: true}, Options{Inet: true, Supervised: true, NoUDP: true}
	alone, outside := Options{Inet: true, Restricted: true}, Options{Inet: true, Restricted: true, Supervised: true}
	outsideNoUDP := Options{Inet: true, Restricted: true, Supervised: true, NoUDP: true}
	expect(t, []expectation{
		{full, "connect", nil, Allow},
		{full, "bind", nil, Allow},
		{full, "listen", nil, Allow},
		{full, "socket", []uint64{afInet, sockStream}, Allow},
		{full, "socket", []uint64{afInet, sockDgram}, Allow},
		{full, "socket", []uint64{afInet, sockRaw, 1}, UserNotify},
		{full, "socket", []uint64{afInet6 | high, sockRaw | cloexec | high<<31, 255}, UserNotify},
		{full, "socket", []uint64{afPacket, sockDgram, 0x300}, UserNotify},
		{full, "socket", []uint64{afPacket | high, sockRaw}, UserNotify},
		{full, "socket", []uint64{afUnix, sockRaw}, noFamily},
		{full, "socket", []uint64{afInet, sockSeqpacket}, noProto},
		{full, "socket", []uint64{16, sockRaw}, noFamily}, // AF_NETLINK
		{full, "socketpair", []uint64{afPacket, sockRaw}, noFamily},
		{noUDP, "socket", []uint64{afInet, sockDgram}, noType},
		{noUDP, "socket", []uint64{afInet6, sockRaw}, UserNotify},
		{noUDP, "socket", []uint64{afUnix, sockDgram}, Allow},
		{noUDP, "connect", nil, Allow},

		{outside, "connect", nil, UserNotify},
		{outside, "connect", []uint64{high, high, high}, UserNotify},
		{outside, "bind", nil, eacces},
		{outside, "listen", nil, eacces},
		{outside, "accept4", nil, Allow},
		{outside, "socket", []uint64{afInet, sockStream | cloexec}, Allow},
		{outside, "socket", []uint64{afInet6, sockStream, protoTCP}, Allow},
		{outside, "socket", []uint64{afInet, sockStream, 262}, noProto},
		{outside, "socket", []uint64{afInet, sockDgram}, UserNotify},
		{outside, "socket", []uint64{afInet6 | high, sockDgram | cloexec | high, protoUDP | high}, UserNotify},
		{outside, "socket", []uint64{afInet, sockDgram, 1}, noProto}, // ICMP
		{outside, "socket", []uint64{afInet, sockDgram, 136}, noProto},
		{outside, "socket", []uint64{afInet, sockRaw, 1 | high}, UserNotify},
		{outside, "socket", []uint64{afPacket, 10}, UserNotify},
		{outside, "socket", []uint64{afInet, 10}, noProto},
		{outside, "socket", []uint64{afUnix, sockStream}, noFamily},
		{outside, "socketpair", []uint64{afUnix, sockSeqpacket}, Allow},
		{outside, "socketpair", []uint64{afUnix, sockDgram}, noFamily},
		{outside, "sendto", []uint64{0, 0, 0, 0x20000000 | high}, noOption},
		{outside, "sendmsg", []uint64{0, 0, 0x20004000}, noOption},
		{outside, "sendmmsg", []uint64{0, 0, 0, 0x20000000}, noOption},
		{outside, "sendto", []uint64{0, 0, 0, 0x4000}, Allow},
		{outside, "setsockopt", []uint64{0, 1, soRcvbuf}, Allow},
		{outsideNoUDP, "socket", []uint64{afInet, sockDgram}, UserNotify},
		{outsideNoUDP, "setsockopt", []uint64{0, 1, soRcvbuf}, Ignore},

		{alone, "connect", nil, eacces},
		{alone, "bind", nil, eacces},
		{alone, "listen", nil, eacces},
		{alone, "socket", []uint64{afInet, sockDgram | cloexec | high}, noType},
		{alone, "socket", []uint64{afInet, sockRaw}, eperm},
		{alone, "socket", []uint64{afPacket, sockRaw}, noFamily},
		{Options{Restricted: true}, "connect", nil, eacces},
		{Options{Restricted: true}, "bind", nil, eacces},
		{Options{Restricted: true}, "listen", nil, eacces},
		{Options{Restricted: true}, "setsockopt", []uint64{0, 1 | high, soPassCred | high}, eacces},
		{Options{}, "setsockopt", []uint64{0, 1, soPassCred}, Allow},
	})
}

// TestFamilies walks all address families and types.
func TestFamilies(t *testing.T) {
	for _, opts := range everyOptions() {
		for _, arch := range arches {
			m := compiled(t, Default(opts), arch)
			for family := range uint64(64) {
				for kind := range uint64(16) {
					got := verdictOf(t, m, arch, "socket", family, kind)
					allowed, asked := wantedSocket(opts, family, kind)
					if (got == Allow) != allowed || (got == UserNotify) != asked {
						t.Errorf("%+v: family %d, type %d: %v", opts, family, kind, got)
					}
				}
			}
		}
	}
}

// wantedSocket tells whether a socket is a program's to have, or to ask for.
func wantedSocket(opts Options, family, kind uint64) (allowed, asked bool) {
	switch family {
	case afUnix:
		allowed = !opts.Restricted && (kind == sockStream || kind == sockDgram || kind == sockSeqpacket)
	case afInet, afInet6:
		allowed = opts.Inet && (kind == sockStream || kind == sockDgram && !opts.NoUDP && !opts.Restricted)
		asked = opts.Supervised && (kind == sockRaw || kind == sockDgram && opts.Restricted)
	case afPacket:
		asked = opts.Supervised
	}
	return allowed, asked
}

// TestHighBitsNeverOpen flips bits that the kernel does not look at, or does:
// what is refused with them clear must not be allowed with them set.
func TestHighBitsNeverOpen(t *testing.T) {
	for _, opts := range everyOptions() {
		for _, arch := range arches {
			policy := Default(opts)
			m := compiled(t, policy, arch)
			for _, rule := range policy.Rules {
				number, _ := arch.number(rule.Names[0])
				if len(rule.When) == 0 || rule.Action == Allow || number < 0 {
					continue
				}
				c := call{arch: arch, number: uint32(number)}
				for _, cond := range rule.When {
					arg := &c.args[cond.Arg]
					switch seen := *arg & cond.Mask; {
					case !cond.Not:
						*arg = *arg&^cond.Mask | cond.Low
					case seen >= cond.Low && seen <= cond.High:
						*arg ^= cond.Mask & -cond.Mask // its lowest bit
					}
				}
				if m.run(t, c) == Allow {
					t.Fatalf("%+v: %s: %+v is allowed", opts, rule.Why, c)
				}
				for bit := range 32 * len(c.args) {
					flipped := c
					flipped.args[bit/32] ^= 1 << (32 + bit%32)
					if m.run(t, flipped) == Allow {
						t.Errorf("%+v: %s: bit %d of argument %d opens %+v", opts, rule.Why, 32+bit%32, bit/32, c)
					}
				}
			}
		}
	}
}

// TestUnknownIsAbsent walks the numbers that nobody has named, now or later.
func TestUnknownIsAbsent(t *testing.T) {
	for _, arch := range arches {
		m := compiled(t, Default(Options{}), arch)
		for _, number := range []uint32{lastNumber + 1, 500, 512, 547, 1000, 0xffff, x32Bit - 1} {
			if got := m.run(t, call{arch: arch, number: number}); got != Fail(ENOSYS) {
				t.Errorf("%#x: number %d: %v", uint32(arch), number, got)
			}
		}
	}
}

// TestToolchainsFloor holds what the Go, CPython, Node, Rust and Java toolchains
// were seen to call for a hello: none may be refused but for what they get over.
func TestToolchainsFloor(t *testing.T) {
	const seen = `access arch_prctl brk capget chdir clock_getres clock_nanosleep clone close close_range
		connect dup dup2 dup3 epoll_create1 epoll_ctl epoll_pwait eventfd2 execve faccessat2 fallocate fchdir
		fchmodat fchown fcntl flock fstat fsync ftruncate futex getcwd getdents64 getegid geteuid getgid getpid
		getppid getrandom getrusage getsockname gettid getuid ioctl linkat lseek lstat madvise mkdir mkdirat mmap
		mprotect munmap nanosleep newfstatat open openat pidfd_open pidfd_send_signal pipe2 pkey_alloc poll prctl
		pread64 prlimit64 pwrite64 read readlink readlinkat recvfrom rename renameat rseq rt_sigaction
		rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield set_robust_list set_tid_address setsockopt
		shutdown sigaltstack stat statfs statx sysinfo tgkill uname unlink unlinkat utimensat vfork wait4
		waitid write`
	for _, opts := range everyOptions() {
		for _, arch := range arches {
			m := compiled(t, Default(opts), arch)
			for _, name := range strings.Fields(seen) {
				if number, _ := arch.number(name); number < 0 {
					continue
				}
				if opts.Attributes == AttributesRefused && slices.Contains([]string{"fchmodat", "fchown", "utimensat"}, name) {
					continue // where nobody can decide, programs fail
				}
				want, args := Allow, []uint64{0, 0, 0}
				switch name {
				case "ioctl":
					args[1] = 0x5401 // TCGETS
				case "fchmodat", "fchown", "utimensat":
					if opts.Attributes == AttributesSupervised || opts.Attributes == TimesSupervised && name == "utimensat" {
						want = UserNotify
					}
				}
				if name == "connect" && opts.Restricted {
					want = eacces
					if opts.Inet && opts.Supervised {
						want = UserNotify
					}
				}
				if got := verdictOf(t, m, arch, name, args...); got != want {
					t.Errorf("%+v: %s: %v", opts, name, got)
				}
			}
		}
	}
}

// TestDefaultIsTidy: every rule says why.
func TestDefaultIsTidy(t *testing.T) {
	for _, opts := range everyOptions() {
		for i, rule := range Default(opts).Rules {
			if rule.Why == "" {
				t.Errorf("%+v: rule %d for %v does not say why", opts, i, rule.Names)
			}
		}
	}
}

// longestPath is the greatest number of instructions that one call can run
// through. Jumps only go forward.
func longestPath(program []Instruction) int {
	longest := make([]int, len(program))
	for i := len(program) - 1; i >= 0; i-- {
		switch in := program[i]; in.Code {
		case opReturn:
			longest[i] = 1
		case opJump:
			longest[i] = 1 + longest[i+1+int(in.K)]
		case opJumpEqual, opJumpGreater, opJumpAtLeast:
			longest[i] = 1 + max(longest[i+1+int(in.JT)], longest[i+1+int(in.JF)])
		default:
			longest[i] = 1 + longest[i+1]
		}
	}
	return longest[0]
}

// TestDefaultIsSmall bounds the program: each run copies and checks it.
func TestDefaultIsSmall(t *testing.T) {
	for _, opts := range everyOptions() {
		for _, arch := range arches {
			program, err := Compile(Default(opts), arch)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%#x %+v: %d instructions, longest path %d", uint32(arch), opts, len(program), longestPath(program))
			most, longest := 324, 56
			if opts.Restricted {
				most, longest = 440, 63 // the host's file systems and sockets need more
			}
			if len(program) > most || longestPath(program) > longest {
				t.Errorf("%#x %+v: %d instructions, longest path %d", uint32(arch), opts, len(program), longestPath(program))
			}
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, arch := range arches {
		b.Run(fmt.Sprintf("%#x", uint32(arch)), func(b *testing.B) {
			b.ReportAllocs()
			var program []Instruction
			for b.Loop() {
				var err error
				if program, err = Compile(Default(Options{Inet: true}), arch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(program)), "instructions")
			b.ReportMetric(float64(longestPath(program)), "longest-path")
		})
	}
}
