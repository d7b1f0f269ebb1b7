package seccomp

// Values of socket(2) and setsockopt(2): linux/socket.h, linux/net.h,
// linux/in.h and asm-generic/socket.h. They are the same on amd64 and arm64.
const (
	afUnix   = 1
	afInet   = 2
	afInet6  = 10
	afPacket = 17

	typeMask      = 0xf // the rest of the argument is SOCK_CLOEXEC and SOCK_NONBLOCK
	sockStream    = 1
	sockDgram     = 2
	sockRaw       = 3
	sockSeqpacket = 5

	protoAny = 0
	protoTCP = 6
	protoUDP = 17

	solSocket      = 1
	soSndbuf       = 7
	soRcvbuf       = 8
	soSndbufForce  = 32
	soRcvbufForce  = 33
	soPassCred     = 16
	soPassPIDFD    = 76
	solTCP         = 6
	tcpTimestamp   = 24 // linux/tcp.h
	argFamily      = 0
	argType        = 1
	argProtocol    = 2
	argOptionLevel = 1
	argOptionName  = 2
)

// sockets decides which families there are. All others fail as if the kernel
// had been built without them. Of those, some escape the walls:
//
//   - AF_NETLINK: its queues are charged to no cgroup. 800 sockets hold 6.4 GB
//     of kernel memory, with loopback down, whatever the limit.
//   - AF_VSOCK: no namespace covers it before Linux 7.0, and on a virtual
//     machine it leads to the hypervisor.
//   - AF_ALG, AF_PACKET and the rarer ones: kernel code with a long record of
//     holes and no use here.
func sockets(opts Options) []Rule {
	rules := pairs(opts)
	if !opts.Restricted {
		rules = append(rules, unixSockets()...)
	}
	if opts.Inet {
		rules = append(rules, inetSockets(opts)...)
	} else {
		rules = append(rules, Rule{Why: "no network", Names: []string{"socket"}, Action: Fail(EAFNOSUPPORT)})
	}
	if opts.Restricted {
		rules = append(rules, connections(opts)...)
	}
	if opts.Inet && opts.Restricted {
		rules = append(rules, fastOpen()...)
	}
	if opts.Inet && !opts.Restricted {
		rules = append(rules, Rule{
			Why: "the clock of TCP packets: between equal addresses it is the same in every network namespace " +
				"until the host restarts, which names the host",
			Names: []string{"getsockopt"}, Action: Fail(EPERM),
			When: []Condition{Equal32(argOptionLevel, solTCP), Equal32(argOptionName, tcpTimestamp)},
		})
	}
	if opts.NoUDP {
		rules = append(rules, buffers()...)
	}
	return rules
}

// pairs allows pairs of connected sockets. Without namespaces, one of datagrams
// is as good as a socket of its own: it sends to any pathname, such as a system
// log's. The kernel turns SOCK_RAW into SOCK_DGRAM here, so types are listed.
func pairs(opts Options) []Rule {
	types := []uint64{sockStream, sockSeqpacket}
	if !opts.Restricted {
		types = append(types, sockDgram)
	}
	names := []string{"socketpair"}
	var rules []Rule
	for _, kind := range types {
		rules = append(rules, Rule{
			Why:   "pairs reach only who holds the other end",
			Names: names, Action: Allow,
			When: []Condition{Equal32(argFamily, afUnix), MaskedEqual(argType, typeMask, kind)},
		})
	}
	return append(rules, Rule{Why: "other pairs", Names: names, Action: Fail(EAFNOSUPPORT)})
}

// unixSockets allows what stays inside the mount and network namespaces.
// Without them a pathname leads to the host's services, and Landlock has no
// right for that before its ninth version.
func unixSockets() []Rule {
	var rules []Rule
	for _, kind := range []uint64{sockStream, sockDgram, sockSeqpacket} {
		rules = append(rules, Rule{
			Why:   "sockets inside our own mount and network namespaces",
			Names: []string{"socket"}, Action: Allow,
			When: []Condition{Equal32(argFamily, afUnix), MaskedEqual(argType, typeMask, kind)},
		})
	}
	return rules
}

// connections leaves the program sockets that are of no use until the supervisor
// has connected them. Without a network namespace they are the host's, and so are the abstract
// names that an end of a pair could be bound to.
func connections(opts Options) []Rule {
	connect := Rule{Why: "connections are the supervisor's to make", Names: []string{"connect"}, Action: UserNotify}
	if !opts.Inet || !opts.Supervised {
		connect.Why, connect.Action = "nobody makes connections", Fail(EACCES)
	}
	rules := []Rule{connect, {
		Why: "servers would be on the host's network", Names: []string{"bind", "listen"}, Action: Fail(EACCES),
	}}
	for _, option := range []uint32{soPassCred, soPassPIDFD} {
		rules = append(rules, Rule{
			Why:   "a socket that is to be told of others gets an abstract name, which is one of the host's",
			Names: []string{"setsockopt"}, Action: Fail(EACCES),
			When: []Condition{Equal32(argOptionLevel, solSocket), Equal32(argOptionName, option)},
		})
	}
	return rules
}

// inetSockets allows TCP and UDP and nothing else that rides on IP. A stream
// may be of other protocols (MPTCP, SMC, SCTP), which Landlock's rules for TCP
// do not see.
func inetSockets(opts Options) []Rule {
	socket := []string{"socket"}
	allow := func(kind uint64, protocol uint32) Rule {
		return Rule{
			Why: "TCP and UDP over IP", Names: socket, Action: Allow,
			When: []Condition{MaskedEqual(argType, typeMask, kind), Equal32(argProtocol, protocol)},
		}
	}
	raw := Rule{Why: "raw packets", Names: socket, Action: Fail(EPERM)}
	var rules []Rule
	if opts.Supervised { // an attempt to get round the walls, of which somebody should hear
		raw.Action = UserNotify
		packets := raw
		packets.When = []Condition{Equal32(argFamily, afPacket)}
		rules = append(rules, packets)
	}
	raw.When = []Condition{MaskedEqual(argType, typeMask, sockRaw)}
	rules = append(rules,
		Rule{Why: "families beyond IP", Names: socket, Action: Fail(EAFNOSUPPORT),
			When: []Condition{Not(Equal32(argFamily, afInet)), Not(Equal32(argFamily, afInet6))}},
		raw,
		allow(sockStream, protoAny),
		allow(sockStream, protoTCP))
	switch {
	case opts.Restricted && opts.Supervised:
		for _, protocol := range []uint32{protoAny, protoUDP} {
			datagrams := allow(sockDgram, protocol)
			datagrams.Why, datagrams.Action = "datagrams would reach the host's network; the supervisor puts something in their place", UserNotify
			rules = append(rules, datagrams)
		}
	case opts.Restricted:
		rules = append(rules, Rule{
			Why:   "datagrams would reach the host's network",
			Names: socket, Action: Fail(ESOCKTNOSUPPORT),
			When: []Condition{MaskedEqual(argType, typeMask, sockDgram)},
		})
	case opts.NoUDP:
		rules = append(rules, Rule{
			Why:   "the queues of UDP cannot be bounded where no cgroup charges them",
			Names: socket, Action: Fail(ESOCKTNOSUPPORT),
			When: []Condition{MaskedEqual(argType, typeMask, sockDgram)},
		})
	default:
		rules = append(rules, allow(sockDgram, protoAny), allow(sockDgram, protoUDP))
	}
	return append(rules, Rule{Why: "other protocols over IP", Names: socket, Action: Fail(EPROTONOSUPPORT)})
}

// fastOpen refuses to connect by sending. Without a network namespace it is
// connect(2) that is watched, by Landlock or by a supervisor, and TCP Fast Open
// goes past it. The answer is the kernel's own where it is switched off.
func fastOpen() []Rule {
	const msgFastopen = 0x20000000 // MSG_FASTOPEN, linux/socket.h
	refuse := func(argFlags int, names ...string) Rule {
		return Rule{
			Why: "a way to connect that nobody watches", Names: names, Action: Fail(EOPNOTSUPP),
			When: []Condition{MaskedEqual(argFlags, msgFastopen, msgFastopen)},
		}
	}
	return []Rule{refuse(3, "sendto", "sendmmsg"), refuse(2, "sendmsg")}
}

// buffers keeps the buffers of sockets at the size that the network namespace
// sets. Programs treat a failure as fatal, so they are told of success.
func buffers() []Rule {
	var rules []Rule
	for _, option := range []uint32{soSndbuf, soRcvbuf, soSndbufForce, soRcvbufForce} {
		rules = append(rules, Rule{
			Why:   "larger socket buffers, which no cgroup charges",
			Names: []string{"setsockopt"}, Action: Ignore,
			When: []Condition{Equal32(argOptionLevel, solSocket), Equal32(argOptionName, option)},
		})
	}
	return rules
}
