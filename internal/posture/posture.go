package posture

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Line is one thing that was seen.
type Line struct{ Key, Value string }

// Posture is what was seen, in the order of looking.
type Posture struct {
	// Runtime is the name of the runtime that made the container.
	Runtime string
	// Isolation is what the runtime says of the container.
	Isolation sandbox.Isolation
	Lines     []Line

	own own
}

// own is what this process has itself. What it may not take away a sandbox keeps, and what it
// may not look at it does not see.
type own struct {
	// mayBound and mayTrace are CAP_SETPCAP and CAP_SYS_PTRACE.
	mayBound, mayTrace bool
	landlock           int // its version, 0 without
}

func (p *Posture) add(key, format string, a ...any) {
	p.Lines = append(p.Lines, Line{key, fmt.Sprintf(format, a...)})
}

// Value is what was seen under a key, or empty.
func (p *Posture) Value(key string) string {
	for _, l := range p.Lines {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// String has a line for each thing that was seen.
func (p *Posture) String() string {
	var b strings.Builder
	for _, l := range p.Lines {
		fmt.Fprintf(&b, "%s\t%s\n", l.Key, l.Value)
	}
	return b.String()
}

// namespaceKinds are the files of /proc/PID/ns.
var namespaceKinds = []string{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"}

// limits are those of the process that looks.
var limits = sandbox.Limits{MemoryBytes: 64 << 20, Processes: 16, CPUs: 1, OpenFiles: 64}

// disk is what its container holds.
var disk = sandbox.DiskLimit{Bytes: 4 << 20, Inodes: 100}

// ErrNone says that no container could be made to look at, or that it would have no walls.
var ErrNone = errors.New("there is no sandbox to look at")
