package tunnel

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// ErrTooLong is a request that the protocol does not carry.
var ErrTooLong = fmt.Errorf("arguments and environment are larger than the connection to another server takes, %d KiB: %w", MaxText>>10, syscall.E2BIG)

// Error is an error on its way. It keeps what callers tell errors by.
type Error struct {
	Kind    string `json:"kind,omitempty"` // of those below; empty for any other
	Message string `json:"message"`
	What    string `json:"what,omitempty"`   // of unsupported; the program of start, the reference of image
	Reason  string `json:"reason,omitempty"` // of unsupported
	Field   string `json:"field,omitempty"`  // of network
	Mend    string `json:"mend,omitempty"`
	Errno   string `json:"errno,omitempty"`
}

// The kinds of errors.
const (
	kindUnsupported = "unsupported"
	kindStart       = "start"
	kindNetwork     = "network"
	kindImage       = "image"
	kindElsewhere   = "elsewhere"
	kindMemory      = "memory"
)

// Elsewhere is a far side that cannot take this container although another one may:
// it is full, it has not what was planned with. Nothing has run.
type Elsewhere struct{ Reason string }

func (e *Elsewhere) Error() string { return e.Reason }

// Is matches [syscall.EAGAIN], by which callers know what to try again.
func (e *Elsewhere) Is(target error) bool { return target == syscall.EAGAIN }

// numbers are the errors of systems that callers tell apart, by names that all
// systems share.
func numbers() map[string]syscall.Errno {
	return map[string]syscall.Errno{
		"EAGAIN": syscall.EAGAIN, "ENOMEM": syscall.ENOMEM, "ENFILE": syscall.ENFILE, "EMFILE": syscall.EMFILE,
		"ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EBUSY": syscall.EBUSY, "ENOENT": syscall.ENOENT,
		"EACCES": syscall.EACCES, "EPERM": syscall.EPERM, "E2BIG": syscall.E2BIG, "ENOEXEC": syscall.ENOEXEC,
		"EISDIR": syscall.EISDIR, "ENOTDIR": syscall.ENOTDIR, "ELOOP": syscall.ELOOP, "EEXIST": syscall.EEXIST,
		"ENAMETOOLONG": syscall.ENAMETOOLONG, "EFBIG": syscall.EFBIG,
	}
}

// NewError is err as it travels.
func NewError(err error) *Error {
	out := &Error{Message: err.Error()}
	for name, number := range numbers() {
		if errors.Is(err, number) {
			out.Errno = name
		}
	}
	if e, ok := errors.AsType[*sandbox.UnsupportedError](err); ok {
		out.Kind, out.What, out.Reason, out.Mend = kindUnsupported, e.What, e.Reason, e.Mend
	} else if e, ok := errors.AsType[*sandbox.StartError](err); ok {
		out.Kind, out.What, out.Message = kindStart, e.Program, e.Err.Error()
	} else if e, ok := errors.AsType[*sandbox.NetworkError](err); ok {
		out.Kind, out.Field, out.Message = kindNetwork, e.Field, e.Detail
	} else if e, ok := errors.AsType[*sandbox.ImageError](err); ok {
		out.Kind, out.What, out.Message, out.Mend = kindImage, e.Ref, e.Err.Error(), e.Mend
	} else if e, ok := errors.AsType[*Elsewhere](err); ok {
		out.Kind, out.Message = kindElsewhere, e.Reason
	} else if errors.Is(err, sandbox.ErrOutOfMemory) {
		out.Kind = kindMemory
	}
	return out
}

// Rewrite changes the words of an error.
func (e *Error) Rewrite(told func(string) string) {
	for _, text := range []*string{&e.Message, &e.What, &e.Reason, &e.Field, &e.Mend} {
		*text = told(*text)
	}
}

// Err is the error that has arrived.
func (e *Error) Err() error {
	plain := &farError{text: Clean(e.Message), number: numbers()[e.Errno]}
	switch e.Kind {
	case kindUnsupported:
		return &sandbox.UnsupportedError{What: Clean(e.What), Reason: Clean(e.Reason), Mend: Clean(e.Mend)}
	case kindStart:
		return &sandbox.StartError{Program: Clean(e.What), Err: plain}
	case kindNetwork:
		return &sandbox.NetworkError{Field: Clean(e.Field), Detail: Clean(e.Message)}
	case kindImage:
		return &sandbox.ImageError{Ref: Clean(e.What), Err: plain, Mend: Clean(e.Mend)}
	case kindElsewhere:
		return &Elsewhere{Reason: Clean(e.Message)}
	case kindMemory:
		plain.kind = sandbox.ErrOutOfMemory
	}
	return plain
}

// farError is what the far side says.
type farError struct {
	text   string
	number syscall.Errno
	kind   error // or nil
}

func (e *farError) Error() string { return e.text }

// Unwrap gives the kind of error that it is.
func (e *farError) Unwrap() error { return e.kind }

// Is matches the errno, and what that matches.
func (e *farError) Is(target error) bool {
	return e.number != 0 && (target == e.number || e.number.Is(target))
}

// maxWords bounds what the far side says to people.
const maxWords = 2000

// Clean makes what the far side says one line that does nothing to a terminal.
func Clean(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxWords)], "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// malformed is an answer that cannot be.
func malformed(why error) error {
	return fmt.Errorf("the other server has answered what no server of ours does: %w", why)
}
