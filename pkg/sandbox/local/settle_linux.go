package local

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// settle has all that an ancestor is go on in its children, where fork alone would leave out its other
// threads and what V8 takes out of its memory, and give them its files in common.
func (a *ancestor) settle() error {
	if err := a.stopThreads(); err != nil {
		return err
	}
	if err := a.share(); err != nil {
		return err
	}
	var err error
	a.files, err = filesOf(a.pid)
	return err
}

// stopThreads stops an ancestor's threads but the one that forks, for good, once they are at rest.
func (a *ancestor) stopThreads() error {
	others, err := a.restingThreads()
	if err != nil || len(others) == 0 {
		return err
	}
	var p spawn.Program
	p.StopThreads(others)
	_, err = a.server.Do(&p)
	if errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w of an interpreter with %d threads beside the first", sandbox.ErrNoAncestor, len(others))
	}
	if err != nil {
		return ofAncestor(err)
	}
	still, err := a.otherThreads()
	if err == nil && !slices.Equal(still, others) {
		err = fmt.Errorf("an ancestor had %d threads beside the first, and has %d", len(others), len(still))
	}
	a.threads = len(others)
	return err
}

// restTakes is how long an ancestor's threads may be at work once it waits.
const restTakes = 2 * time.Second

// restingThreads waits until each of an ancestor's threads but the first waits for something.
func (a *ancestor) restingThreads() (others []int, err error) {
	late := time.After(restTakes)
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		if others, err = a.otherThreads(); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(others, a.isAtWork) {
			return others, nil
		}
		select {
		case <-again.C:
		case <-late:
			return nil, fmt.Errorf("the threads of an ancestor are at work for %v", restTakes)
		}
	}
}

// isAtWork tells whether a thread does anything but sleep.
func (a *ancestor) isAtWork(thread int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", a.pid, thread))
	_, state, found := bytes.Cut(stat, []byte(") ")) // behind its name; see proc_pid_stat(5)
	return err != nil || !found || !bytes.HasPrefix(state, []byte("S"))
}

func (a *ancestor) otherThreads() ([]int, error) {
	return numbered(fmt.Sprintf("/proc/%d/task", a.pid), func(n int) bool { return n != a.pid })
}

// share has an ancestor's children inherit its whole memory, as copies. V8 has the kernel leave its heap
// out (MADV_DONTFORK), since what Node forks executes another program at once.
func (a *ancestor) share() error {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/smaps", a.pid))
	if err != nil {
		return err
	}
	defer maps.Close()
	left, err := leftOut(maps)
	if err != nil || len(left) == 0 {
		return err
	}
	var p spawn.Program
	for _, s := range left {
		p.Call("have memory inherited", unix.SYS_MADVISE, spawn.Value(s.at), spawn.Value(s.size), spawn.Value(unix.MADV_DOFORK))
	}
	_, err = a.server.Do(&p)
	return ofAncestor(err)
}

// leftOut reads /proc/[pid]/smaps for memory that children do not inherit, and fails for what they would
// have in common with each other.
func leftOut(smaps io.Reader) (left []span, err error) {
	var from, to uint64
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.Contains(name, "-") { // the next mapping
			if _, err := fmt.Sscanf(name, "%x-%x ", &from, &to); err != nil {
				return nil, fmt.Errorf("%q: %w", lines.Text(), err)
			}
		}
		if name != "VmFlags" {
			continue
		}
		flags := strings.Fields(value)
		is := func(flag string) bool { return slices.Contains(flags, flag) }
		if is("sh") && is("mw") {
			return nil, fmt.Errorf("%w of an interpreter that has memory in common with others", sandbox.ErrNoAncestor)
		}
		if is("dc") && !is("io") && !is("pf") && !is("de") { // the kernel's own
			left = append(left, span{at: from, size: to - from})
		}
	}
	return left, lines.Err()
}
