package remote

import (
	"fmt"
	"strings"
	"syscall"
)

// Error is that no server could take a container. Nothing has run.
type Error struct {
	// Failures are what each address says, in the order in which they were tried.
	Failures []Failure
	// Again tells that trying again may help.
	Again bool
	Mend  string // a sentence; may be empty
}

// Failure is why one server would not do.
type Failure struct{ Server, Reason string }

func (e *Error) Error() string {
	var all []string
	for _, f := range e.Failures {
		all = append(all, f.Server+": "+strings.TrimSuffix(f.Reason, "."))
	}
	s := "no other server can run this"
	if len(all) > 0 {
		s += ": " + strings.Join(all, "; ")
	}
	if e.Mend != "" {
		s += ". " + e.Mend
	}
	return s
}

// Is matches [syscall.EAGAIN], by which callers know what to try again.
func (e *Error) Is(target error) bool { return e.Again && target == syscall.EAGAIN }

// LostError is a connection that broke. The container is gone with it: the other
// server deletes what nobody holds.
type LostError struct {
	Server string
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to %s was lost, and what ran there was ended: %v", e.Server, e.Err)
}

// Is matches [syscall.EAGAIN], by which callers know what to try again.
func (e *LostError) Is(target error) bool { return target == syscall.EAGAIN }

// Unwrap gives the connection's own error.
func (e *LostError) Unwrap() error { return e.Err }

// refusal is why one server would not do.
type refusal struct {
	reason string
	again  bool // trying again may help
	sick   bool // so the server is left alone for a while
}

func (e *refusal) Error() string { return e.reason }
