package hostile

import (
	"cmp"
	"strings"
)

// mutation is a guard, by the word that rows name it with, and what leaves it out; see
// package fault.
type mutation struct {
	guard, off string
	place      string // one of places
	// rows, or tests, that are tried in the place of all that name the guard: where those
	// would go on until somebody's patience ends, or where one call of many is meant.
	rows []string
}

// places are the isolation levels of what guards are left out of, where not root runs it
// with its user.
var places = []string{"full", "restricted", "restricted ordinary"}

func (m mutation) level() string {
	level, _, _ := strings.Cut(m.place, " ")
	return level
}

func (m mutation) user() string {
	_, user, _ := strings.Cut(m.place, " ")
	return cmp.Or(user, "root")
}

// nothing is in the place of rows where the kernel itself does not go on without: what
// notices is that no program starts, or can write its own files.
var nothing = []string{"TestHello"}

// guards are all that is left out, one after the other.
func guards() []mutation {
	return append(rules(), []mutation{
		{"seccomp", "step:install the seccomp filter", "full", nil},
		{"seccomp", "step:install the seccomp filter", "restricted", nil},
		{"seccomp", "seccomp:device nodes;step:landlock_restrict_self", "full", []string{"E08-devices"}},
		{"seccomp", "seccomp:the queues of UDP*;seccomp:other protocols over IP", "full", []string{"A15-loopback-udp"}},
		{"no_new_privs", "step:prctl PR_SET_NO_NEW_PRIVS", "full", nothing},
		{"no_new_privs", "step:prctl PR_SET_NO_NEW_PRIVS;step:install the seccomp filter", "full", nil},
		{"caps", "step:capset;step:prctl PR_CAPBSET_DROP", "full", nil},
		{"userns", "namespace:user", "full", nil},
		{"owner", "namespace:owner", "full", []string{"A40-watches"}},
		{"userns", "step:write max_user_namespaces;seccomp:namespaces and mounts*", "full", []string{"E02-namespaces"}},
		{"netns", "namespace:net", "full", nil},
		{"ipcns", "namespace:ipc", "full", nil},
		{"compileripc", "step:unshare the compiler's IPC namespace", "full", nil},
		{"utsns", "namespace:uts", "full", nil},
		{"pidns", "namespace:pid", "full", nil},
		{"timens", "step:create a time namespace", "full", nil},
		{"cgroupns", "step:unshare the cgroup namespace", "full", nil},
		{"mountns", "step:unmount the old root", "full", nothing},
		{"mountns", "mount:a /tmp of its own", "full", nil},
		{"readonly", "step:mount / read-only", "full", nil},
		{"masks", "step:mount /proc/*", "full", nil},
		{"landlock", "step:landlock_restrict_self", "restricted", nil},
		{"landlock", "step:landlock_restrict_self", "full", []string{"E27-landlock-layers"}},
		{"landlock", "step:landlock_restrict_self", "restricted ordinary", []string{"E03-other-processes", "E09-out-of-the-root", "E23-signals-outside"}},
		{"attributes", "attributes:of others", "restricted", []string{"E09-attributes-outside", "E09-times-outside"}},
		{"attributes", "attributes:of others", "restricted ordinary", []string{"E09-attributes-outside", "E09-times-outside"}},
		{"overlay", "inodes:toolchains", "full", nil},
		{"devices", "inodes:devices", "full", nil},
		{"nosuid", "flag:nosuid", "full", nil},
		{"nodev", "flag:nodev", "full", nil},
		{"hidepid", "flag:hidepid", "full", nil},
		// The others end at the limit of the world, with the same verdict.
		{"pids", "cgroup:pids.max;step:setrlimit nproc", "full", []string{"A01-how-many", "A01-fork-bomb", "A02-fork-bomb-in-sessions"}},
		{"memory", "cgroup:memory.*", "full", nil},
		// Of the others some meet RLIMIT_DATA first, and some a machine that is slow.
		{"memory", "sampler:memory", "restricted ordinary", []string{"A07-memory-at-once"}},
		{"cores", "cgroup:cpu.*", "full", nil},
		{"cpu", "limit:CPU time;step:setrlimit cpu", "full", nil},
		{"disk", "limit:disk", "full", nil},
		{"inodes", "limit:disk", "full", nil},
		// The others end by themselves, and the look at the disk then is another one.
		{"disk", "sampler:disk", "restricted", []string{"A09-files-that-stay"}},
		{"inodes", "sampler:disk", "restricted", []string{"A21-inodes"}},
		{"terminals", "limit:terminals", "full", nil},
		{"tcp", "limit:tcp", "full", []string{"A14-loopback-tcp", "TestEveryKindOnALoopbackIsCharged"}},
		{"timeout", "limit:wall clock", "full", []string{"A30-regular-expression", "A31-endless-loop", "C02-deaf-to-signals", "C04-idle"}},
		{"output", "limit:output", "full", nil},
		{"rlimit", "step:setrlimit *", "full", nil},
		{"descriptors", "step:close_range", "full", nil},
		{"environment", "environment:of the server", "full", nil},
		{"settings", "environment:of the request", "full", nil},
		{"settings", "compiler:GOENV;compiler:XDG_CONFIG_HOME", "full", []string{"B03-go-tool"}},
		{"cgo", "compiler:CGO_ENABLED", "full", []string{"B03-go-c"}},
		{"plug-ins", "compiler:plug-ins", "full", nil},
		{"killtree", "step:kill*;cgroup:cgroup.kill", "full", []string{"A26-output-flood-of-orphans", "C01-daemon", "C07-subreapers", "C13-comet-after-the-end"}},
		{"uid", "step:setresuid;step:setresgid", "full", nothing},
		{"uid", "step:setgroups*", "full", nil},
		{"verdict", "verdict:evidence", "full", nil},
		{"relay", "relay:private addresses", "full", nil},
		{"relay", "relay:allow-list", "full", nil},
		{"relay", "relay:connections at once", "full", []string{"F10-connections-at-once"}},
		{"relay", "relay:connections at once", "restricted", []string{"F10-connections-at-once"}},
		{"relay", "relay:lines of a report", "full", []string{"F10-flood-of-connections"}},
		{"collect", "collect:links;collect:kinds of files", "full", []string{"TestE10", "TestE11"}},
		{"collect", "collect:sizes", "full", nil},
		{"body", "limit:body", "full", []string{"TestG1"}},
		{"told", "told:of this host", "full", []string{"TestD27"}},
		{"cancel", "cancel:runs without a caller", "full", []string{"TestG6"}},
		{"nosniff", "header:nosniff", "full", []string{"TestG25"}},
		{"headers", "limit:headers", "full", []string{"TestG2"}},
		{"keys", "door:keys", "full", []string{"TestG24"}},
		{"one reading", "door:one reading", "full", []string{"TestG3", "TestG4"}},
		{"fields", "door:fields", "full", []string{"TestG5"}},
		{"weaker walls", "door:isolation", "full", []string{"TestE29"}},
		{"requirements", "door:requirements", "full", []string{"TestG17"}},
		{"addresses", "door:addresses", "full", []string{"TestG21"}},
	}...)
}

// rules are those of the system call filter, by what they are for, and the rows that are
// there for them. The others are silent.
func rules() (list []mutation) {
	const every, privileged = "E06-every-call", "E04-privileged-calls"
	for _, r := range []struct {
		rule, place string
		rows        []string
	}{
		{"default", "full", []string{every}},
		{"other interfaces", "full", []string{"E05-foreign-calls"}},
		{"new namespaces", "full", []string{"E02-namespaces"}},
		{"its flags are in memory*", "full", []string{"E02-namespaces", privileged}},
		{"namespaces and mounts*", "full", []string{"E02-namespaces", "E01-mounts"}},
		{"other processes' memory*", "full", []string{"E03-other-processes", "C08-stopped-tracee"}},
		{"typing into the terminal*", "full", []string{"E20-terminals", privileged}},
		{"the same by the console*", "full", []string{"E20-terminals", privileged}},
		{"pages that are one with others'*", "full", []string{"D19-equal-pages"}},
		{"the clock of TCP packets*", "full", []string{"D17-choice-of-ports"}},
		{"compiled filters of system calls*", "full", []string{"A43-once-for-all"}},
		{"compiled filters of sockets*", "full", []string{"A43-once-for-all"}},
		{"huge pages that the host keeps*", "full", []string{"A43-once-for-all"}},
		{"throws the host's files out of memory*", "full", []string{"TestFilesStayCached"}},
		{"the first socket that wants times*", "full", []string{"A43-once-for-all"}},
		{"has the kernel load a driver*", "full", []string{"A43-once-for-all"}},
		{"the limit of core dumps*", "full", []string{"C10-crash-handler"}},
		{"the other execution domains", "full", []string{privileged}},
		{"a ring runs*", "full", []string{privileged, every, "W01-netlink"}},
		{"pages lent to a pipe*", "full", []string{privileged, every}},
		{"memory that no monitor*", "full", []string{privileged, every}},
		{"large kernel interfaces*", "full", []string{privileged, every}},
		{"the newer ways to mount*", "full", []string{every}},
		{"rewriting the process's own memory map*", "full", []string{privileged}},
		{"keyrings*", "full", []string{privileged, "D33-ipc"}},
		{"files by handle*", "full", []string{privileged, "E09-out-of-the-root"}},
		{"the machine's settings*", "full", []string{privileged, every}},
		{"the machine's clock", "full", []string{"C12-clocks", every}},
		{"where memory lies*", "full", []string{privileged, every}},
		{"no network", "full", []string{"A14-loopback", "F01-no-network", "F03-families-of-sockets", "W01-netlink"}},
		{"families beyond IP", "full", []string{"W01-netlink-on-a-loopback", "F03-families-of-sockets-with-localhost"}},
		{"other protocols over IP", "full", []string{"F03-families-of-sockets-with-localhost"}},
		{"System V IPC*", "restricted", []string{"A11-ipc", "D33-ipc"}},
		{"watches are on inodes*", "restricted", []string{"D31-watches"}},
		{"files of memory*", "restricted", []string{"A11-ipc"}},
		{"leases and notifications*", "restricted", []string{"D32-leases", "D31-watches"}},
		{"servers would be on the host's network", "restricted", []string{"F01-servers-of-the-host"}},
		{"a socket that is to be told*", "restricted", []string{"F01-servers-of-the-host"}},
		{"a way to connect that nobody watches", "restricted", []string{"F01-servers-of-the-host"}},
		{"files that run as their owner*", "restricted", []string{"E09-attributes-outside"}},
		{"files that Landlock closes*", "restricted", []string{"E09-attributes-outside"}},
		{"extended attributes*", "restricted", []string{"E09-attributes-outside", "E09-out-of-the-root"}},
		{"how a file is opened is in memory*", "restricted", []string{"E09-attributes-outside"}},
		{"rules that keep deleted files*", "restricted", []string{"E09-attributes-outside"}},
		{"flags of files*", "restricted", []string{"E09-attributes-outside"}},
		{"other pairs", "restricted", []string{"A14-loopback"}},
		{"no network", "restricted", []string{"A14-loopback", "F01-no-network", "F03-families-of-sockets"}},
		{"other processes' memory*", "restricted", []string{"C08-stopped-tracee", "E03-other-processes"}},
		// The server's user is the program's there.
		{"other processes' memory*", "restricted ordinary", []string{"C08-stopped-tracee", "E03-other-processes"}},
		{"changes to processes of the same user*", "restricted ordinary", []string{"E23-signals-outside"}},
		{"the set of cores*", "restricted ordinary", []string{"A36-set-of-the-cores"}},
	} {
		list = append(list, mutation{"seccomp", "seccomp:" + r.rule, r.place, r.rows})
	}
	return list
}

// silent are the rules that no row can miss, and why: what is behind them refuses as well,
// or they are not in force on the machines that leave out guards.
func silent() map[string]string {
	const (
		capability = "the kernel asks for a capability, which no program has"
		truncation = "from Linux 6.2 on Landlock watches it"
		unwatched  = "where a kernel can ask a supervisor, as from Linux 5.9 on, that one refuses"
	)
	return map[string]string{
		"the kernel's code": capability,
		"raw packets":       capability,
		"user and group ids are the user namespace's*": capability,
		"the number is for code that the kernel*":      "the kernel ends who calls it from elsewhere, and asks no filter",
		"a cookie of its own*":                         "kernels that do not divide cores among threads, as the one here, answer the same",
		"writes back every file system*":               "it has no answer that could be another",
		"larger socket buffers*":                       "what is in them is sampled (limit:tcp), and they end at the host's bound",
		"shortens files that Landlock closes*":         truncation,
		"shortens files, where Landlock*":              truncation,
		"the queues of UDP*":                           "the rule about other protocols over IP is behind it; guards() leaves out both",
		"device nodes":                                 "Landlock is behind it; guards() leaves out both",
		"nobody makes connections":                     unwatched,
		"datagrams would reach the host's network":     unwatched,
		"modes and owners*":                            unwatched,
		"times: also of files*":                        unwatched,
	}
}
