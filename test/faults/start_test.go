package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ofStart are the calls of a server that starts, of its spawner and of the sandbox that it
// looks at first.
var ofStart = []call{
	{"openat", errnos("EMFILE", "ENOMEM", "EIO")},
	{"mkdirat", errnos("ENOSPC", "EROFS", "EIO")},
	{"socket", errnos("EMFILE", "ENOBUFS")},
	{"bind", errnos("EADDRINUSE", "EACCES")},
	{"listen", errnos("EADDRINUSE")},
	{"socketpair", errnos("EMFILE", "ENOMEM")},
	{"memfd_create", errnos("EMFILE", "ENOMEM", "EACCES")},
	{"pwrite64", errnos("ENOSPC", "EIO")},
	{"sendmsg", errnos("ENOMEM")},
	{"mount", errnos("ENOMEM", "EPERM")},
	{"unshare", errnos("ENOMEM", "EPERM")},
	{"landlock_restrict_self", errnos("EPERM")},
	{"setresuid", errnos("EAGAIN")},
	{"capset", errnos("EPERM")},
}

// TestStart makes calls of a start fail. Then the server says why it does not start, or
// it starts and runs programs.
func TestStart(t *testing.T) {
	needTracer(t)
	for i, c := range ofStart {
		if *only != "" && c.name != *only {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if !*allOf && startsOrSays(t, fault{c.name, c.ways[i%len(c.ways)], fmt.Sprint(1 + i%3)}) {
				return
			}
			for n := 1; n <= most; n++ {
				made := startsOrSays(t, fault{c.name, c.ways[n%len(c.ways)], fmt.Sprint(n)})
				if !made && n == 1 {
					t.Error("no start makes this call: nothing was tried")
				}
				if !made || !*allOf {
					return
				}
			}
		})
	}
}

// startsOrSays starts a server under a tracer, and tells whether any call failed.
func startsOrSays(t *testing.T, f fault) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	log, program := filepath.Join(dir, "trace"), filepath.Join(dir, "server")
	script := fmt.Sprintf("#!/bin/sh\nexec strace -D -f -qq -yy -o %s -e trace=%s -e inject=%s:%s:when=%s %s \"$@\"\n", log, f.call, f.call, f.how, f.which, binary)
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	records, _ := filepath.Glob("/run/sandbox-run/i*")
	s, err := launch(program, dir, "SANDBOX_ISOLATION=full")
	if err == nil {
		// Each sandbox's own call fails, so a host that refuses one refuses them all.
		if a := s.execute(hello.request); hello.wrong(a) != "" && !a.filtered() && a.problem.Type != "urn:sandbox-run:problem:unsupported" {
			t.Errorf("%s: it has started, and then %s", f, a)
		}
		if err := s.Stop(); err != nil {
			t.Errorf("%s: it does not end: %v", f, err)
		}
	}
	content, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatal(readErr)
	}
	tr := readTrace(string(content))
	injected += len(tr.failed)
	if err != nil && len(tr.failed) > 0 {
		told[fmt.Sprintf("start %s %s: %s", f.call, f.how, numbers.ReplaceAllString(err.Error(), "#"))]++
		if !strings.Contains(err.Error(), "sandbox-server: ") || strings.Contains(err.Error(), "goroutine") || internals.MatchString(err.Error()) {
			t.Errorf("%s: %v\n%s", f, err, tr.failed[0])
		}
	} else if err != nil {
		t.Errorf("%s: nothing failed, and it does not start: %v", f, err)
	}
	if now, _ := filepath.Glob("/run/sandbox-run/i*"); len(now) > len(records) && err != nil {
		t.Logf("%s: left to the next start: %d records, before %d", f, len(now), len(records))
	}
	return len(tr.failed) > 0
}
