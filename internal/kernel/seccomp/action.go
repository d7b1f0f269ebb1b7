package seccomp

import "fmt"

// Action is the answer of a filter to a system call: a SECCOMP_RET_* value of
// linux/seccomp.h, with its data in the low 16 bits.
type Action uint32

// The actions that a policy may use. Those that fail a call come from [Fail].
const (
	// KillProcess ends the process with SIGSYS, all its threads included.
	KillProcess Action = 0x80000000
	// Ignore answers 0 and does nothing: an error number of 0.
	Ignore Action = actionErrno
	// UserNotify asks the process that holds the filter's listener. Whoever
	// installs such a filter must ask for a listener and serve it.
	UserNotify Action = 0x7fc00000
	// Allow lets the call through.
	Allow Action = 0x7fff0000

	actionErrno Action = 0x00050000
	actionMask  Action = 0xffff0000
)

// Errno is an error number of Linux. The numbers are the same on amd64 and
// arm64, and they are not those of syscall.Errno on other operating systems.
type Errno uint16

// The error numbers that the policy uses (asm-generic/errno.h).
const (
	EPERM           Errno = 1
	ENOMEM          Errno = 12
	EACCES          Errno = 13
	EINVAL          Errno = 22
	ENOTTY          Errno = 25
	ENOSYS          Errno = 38
	ENOPROTOOPT     Errno = 92
	EPROTONOSUPPORT Errno = 93
	ESOCKTNOSUPPORT Errno = 94
	EOPNOTSUPP      Errno = 95
	EAFNOSUPPORT    Errno = 97

	// maxErrno is the largest number that the kernel returns from a filter
	// (MAX_ERRNO in linux/err.h); it would silently lower a larger one to it.
	maxErrno = 4095
)

// String is the name of a number that the policy uses.
func (e Errno) String() string {
	switch e {
	case EPERM:
		return "EPERM"
	case ENOMEM:
		return "ENOMEM"
	case EACCES:
		return "EACCES"
	case EINVAL:
		return "EINVAL"
	case ENOTTY:
		return "ENOTTY"
	case ENOSYS:
		return "ENOSYS"
	case ENOPROTOOPT:
		return "ENOPROTOOPT"
	case EPROTONOSUPPORT:
		return "EPROTONOSUPPORT"
	case ESOCKTNOSUPPORT:
		return "ESOCKTNOSUPPORT"
	case EOPNOTSUPP:
		return "EOPNOTSUPP"
	case EAFNOSUPPORT:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("errno %d", uint16(e))
}

// Fail makes a call fail with an error number. [Compile] refuses numbers over
// 4095, which the kernel cannot return.
func Fail(number Errno) Action { return actionErrno | Action(number) }

// Errno is the error number with which an action fails a call, 0 for [Ignore].
func (a Action) Errno() (number Errno, fails bool) {
	return Errno(a &^ actionMask), a&actionMask == actionErrno
}

// String is allow, kill-process, user-notify or errno(n).
func (a Action) String() string {
	switch a {
	case KillProcess:
		return "kill-process"
	case UserNotify:
		return "user-notify"
	case Allow:
		return "allow"
	}
	if a&actionMask == actionErrno {
		return fmt.Sprintf("errno(%d)", a&^actionMask)
	}
	return fmt.Sprintf("action(%#x)", uint32(a))
}

func (a Action) valid() bool {
	switch a {
	case KillProcess, UserNotify, Allow:
		return true
	}
	return a&actionMask == actionErrno && a&^actionMask <= maxErrno
}
