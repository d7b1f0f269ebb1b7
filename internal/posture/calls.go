package posture

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// numbersAsked is below which numbers each is asked for.
const numbersAsked = 1024

// allBits is each argument of the system calls: nothing can be done with it.
const allBits = ^uint64(0)

// unasked need no arguments to end the prober, to stop it for ever or to make a second one of
// it, or write the disks of the host (sync). The last two no filter sees since Linux 6.14
// (kernel/seccomp.c): they are for code that the kernel has planted.
var unasked = []string{"rt_sigreturn", "exit", "exit_group", "fork", "vfork", "pause", "sync", "uretprobe", "uprobe"}

// working are calls that the policy may let through and that work with all bits set: they take
// no argument, or all bits means "as it is", "the current one" or "the most". Some kernels
// refuse some of them; none but these may work.
var working = []string{
	"brk", "sched_yield", "alarm", "munlockall", "set_tid_address", "personality", "umask", "flock", "msgget", "inotify_init", "eventfd",
	"getpid", "gettid", "getppid", "getpgrp", "getuid", "geteuid", "getgid", "getegid",
	"setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
}

// Calls that the policy lets through and that the kernel itself answers as if it were refused: a
// leader of a session makes no other, groups are root's, and there is no such operation.
var (
	kernelRefuses = []string{"setsid", "setgroups"}
	kernelLacks   = []string{"futex"}
)

// optional are calls that a kernel may have been built without. So may be any whose number is
// not below later, the first that Linux 5.10 has not: they are the same on all architectures.
var optional = []string{
	"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
	"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
	"membarrier", "rseq", "pkey_alloc", "pkey_free", "pkey_mprotect", "memfd_create", "flock", "fadvise64", "madvise",
	"inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
}

const later = 441

// question is a system call that the prober makes, and the line that has the answer.
type question struct {
	key    string
	number int
	args   [6]uint64
}

// filter is the policy of programs without a network, with the answer of each call.
type filter struct {
	*seccomp.Interpreter
	arch   seccomp.Arch
	policy seccomp.Policy
}

// filter is what the mechanisms that the runtime calls enforced make of the policy: which it
// has to be, whatever the runtime has made of it.
func (p *Posture) filter() (f filter, err error) {
	if f.arch, err = seccomp.ArchOf(runtime.GOARCH); err != nil {
		return f, err
	}
	o := seccomp.Options{AllowAffinity: true}
	if p.Runtime == "local" {
		o.Restricted = !p.full()
		o.AllowAffinity = p.Isolation.Limits[sandbox.LimitCPUs] == api.Enforced
		o.MemorySampled = p.Isolation.Limits[sandbox.LimitMemory] == api.Sampled
		o.OneUser = !p.enforced("uid")
		o.TruncationUnwatched = o.Restricted && p.own.landlock < landlockTruncation
		if o.Restricted { // who supervises, or refuses, gives an answer of its own
			o.Attributes = seccomp.AttributesSupervised
		}
	}
	f.policy = seccomp.Default(o)
	f.Interpreter, err = seccomp.NewInterpreter(f.policy, f.arch)
	return f, err
}

// landlockTruncation is the version of Landlock from which it watches truncation.
const landlockTruncation = 3

// questions are each number with all bits set, and each rule that refuses by arguments with
// arguments that it refuses.
func (f filter) questions() (list []question) {
	never := f.numbers(unasked)
	for n := range numbersAsked {
		if !never[n] {
			list = append(list, question{fmt.Sprintf("call %d", n), n, [6]uint64{allBits, allBits, allBits, allBits, allBits, allBits}})
		}
	}
	asked := map[string]bool{}
	for _, rule := range f.policy.Rules {
		if _, fails := rule.Action.Errno(); !fails {
			continue
		}
		for n := range f.numbers(rule.Names) {
			q, found := f.refused(n, rule)
			if found && !never[n] && !asked[q.key] {
				asked[q.key] = true
				list = append(list, q)
			}
		}
	}
	slices.SortStableFunc(list[numbersAsked-len(never):], func(a, b question) int { return a.number - b.number })
	return list
}

// refused is a call that a rule refuses and that differs from the one with all bits set, if
// there is one. What the rule does not look at are bits with which nothing can be done either.
func (f filter) refused(n int, rule seccomp.Rule) (q question, found bool) {
	for _, bits := range []uint64{allBits, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa} {
		args, shown := meets(rule, bits)
		if _, why := f.Decide(n, args); why != rule.Why {
			continue
		}
		if bits == allBits && shown == 0 {
			return q, false // it has been asked for
		}
		var words []string
		for _, arg := range args[:max(shown, 1)] {
			words = append(words, strconv.FormatUint(arg, 16))
		}
		return question{fmt.Sprintf("call %d(%s)", n, strings.Join(words, ",")), n, args}, true
	}
	return q, false
}

// meets sets what a rule looks at as it has it, and all else to some bits. It also tells up to
// which argument that is.
func meets(rule seccomp.Rule, bits uint64) (args [6]uint64, shown int) {
	args = [6]uint64{bits, bits, bits, bits, bits, bits}
	for _, c := range rule.When {
		arg := &args[c.Arg]
		switch in := *arg & c.Mask; {
		case !c.Not:
			*arg = *arg&^c.Mask | c.Low
		case in >= c.Low && in <= c.High:
			*arg ^= c.Mask & -c.Mask
		}
		if *arg != bits {
			shown = max(shown, c.Arg+1)
		}
	}
	return args, shown
}

// numbers are those of some names, as far as the architecture has them.
func (f filter) numbers(names []string) map[int]bool {
	set := map[int]bool{}
	for _, name := range names {
		if n := f.arch.Number(name); n >= 0 {
			set[n] = true
		}
	}
	return set
}

// filtered holds what the filter is about against the policy.
func (p *Posture) filtered() (faults []string) {
	if !p.enforced("seccomp") {
		return nil
	}
	f, err := p.filter()
	if err != nil {
		return []string{err.Error()}
	}
	for family := range families {
		faults = append(faults, p.sockets(f, family)...)
	}
	return append(faults, p.calls(f)...)
}

// socketTypes are the types of which a socket is tried, and families the numbers that Linux has
// for families, and some that it has not.
var socketTypes = []struct {
	name  string
	value uint64
}{{"stream", 1}, {"dgram", 2}, {"raw", 3}, {"seqpacket", 5}, {"packet", 10}}

const families = 51

// sockets holds the sockets of a family against the policy: without a network AF_UNIX alone is
// left, where it is the container's own.
func (p *Posture) sockets(f filter, family int) (faults []string) {
	key := fmt.Sprintf("socket %d", family)
	answers := strings.Split(p.Value(key), ", ")
	for i, kind := range socketTypes {
		action, _ := f.Decide(f.arch.Number("socket"), [6]uint64{uint64(family), kind.value})
		errno, fails := action.Errno()
		want := kind.name + " works"
		if fails {
			want = kind.name + " " + errno.String()
		}
		switch {
		case i >= len(answers) || answers[i] == want: // what was not seen is told of elsewhere
		case fails:
			faults = append(faults, fmt.Sprintf("%s is %q, and for the filter %s: without a network no socket leads out", key, answers[i], want))
		case family == 1 && !p.otherFilters():
			faults = append(faults, fmt.Sprintf("%s is %q, and for the filter %s: programs speak among themselves", key, answers[i], want))
		}
	}
	return faults
}

// otherFilters tells whether a filter besides ours may refuse more, such as one of Docker's. The init
// of local has the one that is around us, and none of ours.
func (p *Posture) otherFilters() bool {
	return p.Runtime != "local" || p.Value("outside init Seccomp") == "2"
}

// calls holds the answers to system calls against the policy, one fault for each way to differ.
func (p *Posture) calls(f filter) (faults []string) {
	seen := map[string]string{}
	for _, l := range p.Lines {
		seen[l.Key] = l.Value
	}
	works, refused, lacking, maybe := f.numbers(working), f.numbers(kernelRefuses), f.numbers(kernelLacks), f.numbers(optional)
	var unseen, open, odd, closed []string
	for _, q := range f.questions() {
		action, _ := f.Decide(q.number, q.args)
		errno, fails := action.Errno()
		want, got := errno.String(), seen[q.key]
		if fails && errno == 0 {
			want = "works"
		}
		told := fmt.Sprintf("%s (%s) answers %s", q.key, f.arch.Name(q.number), got)
		switch {
		case got == "":
			unseen = append(unseen, q.key)
		case fails && got != want:
			open = append(open, told+", not "+want)
		case fails || p.ownKernel(): // whose answers to bad arguments are its own
		case got == "works" && !works[q.number]:
			odd = append(odd, told)
		case p.otherFilters():
		case got == "EPERM" && action == seccomp.Allow && !refused[q.number],
			got == "ENOSYS" && !lacking[q.number] && !maybe[q.number] && q.number < later:
			closed = append(closed, told)
		}
	}
	add := func(list []string, what string) {
		if len(list) > 0 {
			faults = append(faults, what+": "+some(list))
		}
	}
	add(unseen, "system calls were not tried, and what nobody has looked at is not in order")
	add(open, "the filter does not refuse system calls that it should, so that programs reach parts of the kernel that are closed to them")
	add(odd, "system calls work with arguments with which nothing can be done, so that somebody else than this kernel answers them")
	add(closed, "system calls are refused that the filter lets through, by what nobody knows: programs fail that need them")
	return faults
}

// some are the first of many, in words.
func some(list []string) string {
	const shown = 5
	text := strings.Join(list[:min(shown, len(list))], ", ")
	if more := len(list) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
