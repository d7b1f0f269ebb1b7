package sandbox

import (
	"fmt"
	"math"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Capabilities are what a runtime can do on this host, as data: the caller
// refuses what cannot be enforced.
type Capabilities struct {
	// Runtime is the name of the runtime.
	Runtime string
	// Levels are the usable isolation levels, strongest first.
	Levels []Level
	// Networks are the usable network modes at the strongest level.
	Networks []NetworkMode
	// Mechanisms are the walls and limits, each with its state and mend, in
	// the order in which they should be shown.
	Mechanisms []Mechanism
	// TTY and WorkspaceOnDisk tell which optional parts of a [Process] and a [Spec] work.
	TTY, WorkspaceOnDisk bool
}

// Mechanism is one wall or limit as probed on this host.
type Mechanism struct {
	// Name is a word such as seccomp, or limit:memory for a limit.
	Name string
	// State is one of the words enforced, degraded, sampled, absent of pkg/api.
	State string
	// Detail says what was found, in a few words.
	Detail string
	// Mend is the one command, or sentence, that makes it enforced; empty when
	// it is.
	Mend string
}

// Isolation is what stands around one container.
type Isolation struct {
	Level Level
	// Mechanisms maps each wall to enforced, degraded or absent.
	Mechanisms map[string]string
	// Limits maps each limit (LimitMemory…) to enforced, degraded, sampled or
	// absent.
	Limits map[string]string
	// LeastMemoryBytes is what no memory limit can be below: the memory of a virtual
	// machine that has it whatever is asked for. Zero is none.
	LeastMemoryBytes int64
	// Warnings are sentences about what is weaker than the defaults promise.
	Warnings []string
}

// CheckStrict refuses a limit that was asked for by name and cannot be held, with
// an [*UnsupportedError]. A degraded CPU limit holds whole cores and no fraction.
func (i Isolation) CheckStrict(l Limits) error {
	for _, name := range l.Strict {
		var reason string
		switch state := i.Limits[name]; {
		case state == api.Absent:
			reason = "nothing holds it"
		case name == LimitCPUs && state == api.Degraded && l.CPUs != math.Trunc(l.CPUs):
			reason = "only whole cores can be held, not " + plain(l.CPUs)
		case name == LimitMemory && l.MemoryBytes > 0 && l.MemoryBytes < i.LeastMemoryBytes:
			reason = fmt.Sprintf("programs have %d MiB, and nothing holds less", i.LeastMemoryBytes>>20)
		default:
			continue
		}
		return &UnsupportedError{What: "the " + name + " limit", Reason: reason, Mend: "Run sandbox-run doctor to see why and how to mend it"}
	}
	return nil
}

// UnsupportedError says that something asked for by name cannot be enforced by
// this runtime on this host.
type UnsupportedError struct {
	What   string // e.g. isolation full
	Reason string // what stopped it
	Mend   string // what to do; may be empty
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%s cannot be enforced here: %s", e.What, strings.TrimSuffix(e.Reason, "."))
	if e.Mend != "" {
		s += ". " + e.Mend
	}
	return s
}

// StartError says that the program itself could not be started: it does not
// exist in the root, is not executable, or needs more than its limits allow.
// It is the request's fault, not ours.
type StartError struct {
	Program string
	Err     error
}

func (e *StartError) Error() string { return fmt.Sprintf("cannot start %s: %v", e.Program, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }
