//go:build fault

package fault

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// The variables that say what is to break. They are not SANDBOX_ settings: no program
// that anybody runs reads them.
const (
	offVariable   = "FAULT_OFF"   // guards as KIND:NAME, separated by semicolons; * stands for any letters
	pointVariable = "FAULT_POINT" // a place, and behind a colon the how manieth time: "mounts made:3"
)

// world is the name of the first process of a world that may be broken: namespaces of
// its own of every kind. Outside of one a guard that is missing is the end of the host.
const world = "fault-world"

var guards = sync.OnceValue(func() []string {
	off := os.Getenv(offVariable)
	if off == "" {
		return nil
	}
	if first, err := os.ReadFile("/proc/1/comm"); err != nil || strings.TrimSpace(string(first)) != world {
		panic("no guard is left out here: pid 1 is not " + world)
	}
	return strings.Split(off, ";")
})

// Off tells whether a guard is to be left out.
func Off(kind, name string) bool {
	guard := kind + ":" + name
	return slices.ContainsFunc(guards(), func(pattern string) bool {
		ok, err := path.Match(slashless(pattern), slashless(guard))
		return err == nil && ok
	})
}

var passed atomic.Int64

// Point kills the process, as a crash or the kernel would, when it is the place that
// was named.
func Point(name string) {
	place, nth, _ := strings.Cut(os.Getenv(pointVariable), ":")
	if place != name {
		return
	}
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	if passed.Add(1) == n {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until it arrives
	}
}

// slashless has the asterisk of a pattern stand for slashes too.
func slashless(s string) string { return strings.ReplaceAll(s, "/", "|") }
