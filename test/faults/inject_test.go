package faults

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// fault is one way in which one system call does not work.
type fault struct {
	call  string
	how   string // as strace has it, such as error=EIO
	which string // of the calls that each thread makes: 3, or 2+ for all from there on
}

func (f fault) String() string { return f.call + " " + f.how + " " + f.which }

// injection is a tracer at work.
type injection struct{ *testenv.Tracer }

// inject has calls of a process, of all its threads and of those that it forks from now
// on fail.
func inject(t *testing.T, pid int, f fault) injection {
	t.Helper()
	tracer, err := testenv.Trace(pid, filepath.Join(t.TempDir(), "trace"), "-yy", "-s", "80", "-e", "trace=execve,"+f.call,
		"-e", "inject="+f.call+":"+f.how+":when="+f.which)
	if err != nil {
		t.Fatal(err)
	}
	return injection{tracer}
}

// stop lets the process go, and returns the lines of calls that failed.
func (i injection) stop(t *testing.T) trace {
	t.Helper()
	content, err := i.Stop()
	if err != nil {
		t.Fatal(err)
	}
	return readTrace(content)
}

// trace is what a tracer has seen.
type trace struct {
	failed   []string // calls that were made to fail
	programs int      // of these, those of programs in containers, who may do with it what they like
}

var traceLine = regexp.MustCompile(`^(\d+) +(.*)$`)

func readTrace(text string) (tr trace) {
	executed, begun := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(text) {
		m := traceLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if call, ok := strings.CutSuffix(m[2], "<unfinished ...>"); ok {
			begun[m[1]] = call
		}
		if _, rest, ok := strings.Cut(m[2], "resumed>"); ok {
			m[2] = begun[m[1]] + rest
		}
		switch {
		case strings.Contains(m[2], "(INJECTED)"):
			tr.failed = append(tr.failed, m[2])
			if executed[m[1]] {
				tr.programs++
			}
		case strings.Contains(m[2], "execve") && strings.HasSuffix(m[2], "= 0"):
			executed[m[1]] = true
		}
	}
	return tr
}

// broke tells whether a call failed that leads to the caller: then there may be no answer.
func (tr trace) broke() bool {
	return slices.ContainsFunc(tr.failed, func(line string) bool {
		return strings.Contains(line, "<TCP:") || strings.Contains(line, "<TCPv6:") || strings.Contains(line, "accept4")
	})
}
