package local

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/notify"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// trace names the system calls that a program's filter denies.
//
// The filter of a program that is traced asks the supervisor about them
// ([seccomp.Traced]), which gives the same answer as the filter would have, and writes
// it down. Other ways to hear of them lose something: SECCOMP_RET_LOG lets the call
// through and tells the kernel's log, which ordinary users cannot read; a tracer by
// ptrace(2) has the program's memory in its hands, stops it at every signal, and with
// SECCOMP_RET_TRACE one that has died leaves nobody who decides. Here the answer is in
// the registers that the kernel hands over, so that no program can change what was
// looked at; nothing is ever let through; without an answer, all fail with ENOSYS.
//
// It costs a denied call some microseconds, and those that a program was denied by a
// filter of its own, or by one around us, are not heard of: the kernel asks nobody
// about what one filter refuses.
type trace struct {
	arch   seccomp.Arch
	policy *seccomp.Interpreter
	denied []deniedCall // in the order in which they came
	known  map[deniedKey]int
	others int // not in denied, which has most of them
}

// deniedKey tells denied calls apart: one call may be denied for different reasons.
type deniedKey struct {
	number int
	errno  seccomp.Errno
	why    string
}

type deniedCall struct {
	deniedKey
	times int
}

const mostDenied = 50

// CanTraceDenied implements [sandbox.DenialTracer].
func (r *Runtime) CanTraceDenied(level sandbox.Level) error {
	if level == sandbox.LevelNone {
		return errors.New("at isolation none no filter denies any")
	}
	_, err := notify.FilterFlags()
	return err
}

// traced is the seccomp program of a process that is traced, and who answers it.
func (c *container) traced(network sandbox.NetworkPolicy) ([]byte, *trace, error) {
	if err := c.rt.CanTraceDenied(c.isolation.Level); err != nil {
		return nil, nil, &sandbox.UnsupportedError{What: "naming the denied system calls", Reason: err.Error()}
	}
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return nil, nil, err
	}
	policy := seccomp.Default(c.filterOptions(network))
	program, err := seccomp.Compile(seccomp.Traced(policy), arch)
	if err != nil {
		return nil, nil, fmt.Errorf("compile the seccomp filter: %w", err)
	}
	interpreter, err := seccomp.NewInterpreter(policy, arch)
	if err != nil {
		return nil, nil, err
	}
	return seccomp.Marshal(program), &trace{arch: arch, policy: interpreter, known: map[deniedKey]int{}}, nil
}

// deny notes a call that the policy denies, and tells what it fails with: 0 is one that
// programs are told was made.
func (t *trace) deny(call notify.Call) (errno unix.Errno, denied bool) {
	if t == nil {
		return 0, false
	}
	action, why := t.policy.Decide(call.Number, call.Args)
	number, fails := action.Errno()
	if !fails {
		return 0, false
	}
	key := deniedKey{call.Number, number, why}
	i, known := t.known[key]
	switch {
	case known:
		t.denied[i].times++
	case len(t.denied) < mostDenied:
		t.known[key] = len(t.denied)
		t.denied = append(t.denied, deniedCall{key, 1})
	default:
		t.others++
	}
	return unix.Errno(number), true
}

// killed says what may have been the end of a process: calls through another interface
// of the machine kill it, and nobody is asked.
func (t *trace) killed(signal int) []string {
	if t == nil || signal != int(unix.SIGSYS) {
		return nil
	}
	return []string{"a system call through another interface of the machine (32-bit, x32) ended the program with SIGSYS, unless it did so itself"}
}

// lines say which calls were denied.
func (t *trace) lines() (lines []string) {
	if t == nil {
		return nil
	}
	for _, d := range t.denied {
		name, why := t.arch.Name(d.number), d.why
		if name != "" {
			name += " "
		}
		if why == "" {
			why = "the policy does not know it"
		}
		outcome := "failed with " + d.errno.String()
		if d.errno == 0 {
			outcome = "was not made and returned 0"
		}
		lines = append(lines, fmt.Sprintf("system call %s(%d) %s, %s: %s", name, d.number, outcome, times(d.times), why))
	}
	if t.others > 0 {
		lines = append(lines, fmt.Sprintf("further system calls were denied, %s: only the first %d kinds are named", times(t.others), mostDenied))
	}
	return lines
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
