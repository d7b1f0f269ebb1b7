package guest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestWhoseMemory: an OOM kill is the program's where its own limit was reached, the host's
// where another one was, and the program's where nobody can tell.
func TestWhoseMemory(t *testing.T) {
	const (
		events, control = "memory.events", "memory/memory.oom_control"
		peak, swapPeak  = "memory/memory.max_usage_in_bytes", "memory/memory.memsw.max_usage_in_bytes"
		limit, swap     = "memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes"
		full            = "68157440\n" // of 65 MiB
		almost          = "67895296\n" // a charge of 64 pages below that
		less            = "67891200\n"
	)
	for name, c := range map[string]struct {
		version int
		before  map[string]string // what the files have besides, without those that are empty
		change  map[string]string // what they have at the end
		host    bool
	}{
		"version 2, its own":               {2, nil, map[string]string{events: "oom 5\noom_kill 4\n"}, false},
		"version 2, the host's":            {2, nil, map[string]string{events: "oom 4\noom_kill 4\n"}, true},
		"version 2, nobody counts":         {2, nil, map[string]string{events: "oom_kill 4\n"}, false},
		"version 1, its own":               {1, nil, map[string]string{peak: full, swapPeak: full}, false},
		"version 1, all but a charge":      {1, nil, map[string]string{peak: almost}, false},
		"version 1, in part swapped out":   {1, nil, map[string]string{peak: less, swapPeak: almost}, false},
		"version 1, the host's":            {1, nil, map[string]string{peak: less, swapPeak: less}, true},
		"version 1, a process before":      {1, map[string]string{peak: full, swapPeak: full}, nil, false},
		"version 1, the limit is lifted":   {1, nil, map[string]string{peak: full, swapPeak: less, limit: "9223372036854771712\n", swap: "9223372036854771712\n"}, false},
		"version 1, without a limit":       {1, map[string]string{limit: "9223372036854771712\n"}, nil, false},
		"version 1 without swap, its own":  {1, map[string]string{swapPeak: "", swap: ""}, map[string]string{peak: almost}, false},
		"version 1 without swap, the host": {1, map[string]string{swapPeak: "", swap: ""}, map[string]string{peak: less}, true},
		"version 1, no limit of swap":      {1, map[string]string{swap: ""}, nil, false},
		"version 1, no peak":               {1, map[string]string{peak: ""}, nil, false},
	} {
		for _, own := range []bool{true, false} { // the limit is of the group that is seen, or of one above
			w, host := withGroups(t, c.version)
			w.opts.OwnLimit = own
			for file, content := range c.before {
				if content == "" {
					must(t, os.Remove(filepath.Join(host, file)))
				} else {
					must(t, os.WriteFile(filepath.Join(host, file), []byte(content), 0o644))
				}
			}
			w.groups = w.findGroups()
			var script strings.Builder
			for file, content := range c.change {
				script.WriteString("printf '" + content + "' >groups/" + file + "\n")
			}
			if c.version == 1 {
				script.WriteString("echo oom_kill 4 >groups/" + control)
			}
			if got := w.sh(script.String()); got.OOMKills != 1 || got.HostOOM != (own && c.host) {
				t.Errorf("%s (%v): %+v", name, own, got.Exit)
			}
			if next := w.sh("true"); next.OOMKills != 0 || next.HostOOM {
				t.Errorf("%s (%v): the next process: %+v", name, own, next.Exit)
			}
		}
	}
}

// TestMemoryAbove: of groups that the kernel made, it is not the program's doing when one above
// runs out, although the one before has reached its own limit; and its own limit is.
func TestMemoryAbove(t *testing.T) {
	const root = "/sys/fs/cgroup/memory"
	if _, err := os.Stat(root + "/memory.oom_control"); err != nil || os.Geteuid() != 0 {
		t.Skip("it takes root, and control groups of version 1")
	}
	above := filepath.Join(root, "sandbox-run-test-guest-"+strconv.Itoa(os.Getpid()))
	own := filepath.Join(above, "own")
	must(t, os.Mkdir(above, 0o755), os.Mkdir(own, 0o755))
	t.Cleanup(func() { must(t, os.Remove(own), os.Remove(above)) })
	limit := func(dir string, mib int) {
		t.Helper()
		set := func(file string) error {
			return os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(mib<<20)), 0o644)
		}
		_ = set("memory.limit_in_bytes") // it may have to wait for the other, which is never less
		if err := set("memory.memsw.limit_in_bytes"); !errors.Is(err, fs.ErrNotExist) {
			must(t, err)
		}
		must(t, set("memory.limit_in_bytes"))
	}
	t.Setenv(groupEnv, own)
	w := start(t, func(o *Options) {
		o.OwnLimit = true
		o.ReadGroups = func(names []string) (contents []string, err error) {
			for _, name := range names {
				content, err := os.ReadFile(filepath.Join(own, strings.TrimPrefix(name, "memory/")))
				if err != nil {
					return nil, err
				}
				contents = append(contents, string(content))
			}
			return contents, nil
		}
	})
	const eat = "head -c 120m /dev/zero | tail -c 100m >/dev/null"
	for _, c := range []struct {
		own, above int
		kills      bool
		host       bool
	}{{64, 512, true, false}, {512, 32, true, true}, {512, 512, false, false}, {32, 512, true, false}, {256, 48, true, true}} {
		limit(own, c.own)
		limit(above, c.above)
		got := w.sh(eat)
		if got.OOMKills > 0 != c.kills || got.HostOOM != c.host {
			t.Errorf("%d MiB below %d: %+v", c.own, c.above, got.Exit)
		}
	}
}

// TestInitIsNext: where the kernel kills init for want of memory behind the program, that is
// the program's doing, and not a failure of ours.
func TestInitIsNext(t *testing.T) {
	full := func() (sandbox.Exit, error) { return sandbox.Exit{Code: 137, Signal: 9, OOMKills: 1}, nil }
	asked := 0
	w := start(t, func(o *Options) { o.Ended = func() (sandbox.Exit, error) { asked++; return full() } })
	w.opts.Lift = func() { must(t, w.init.Process.Kill()) } // between the program's end and the look
	if got := w.sh("exit 3"); got.OOMKills != 1 || got.Code != 3 {
		t.Errorf("%+v", got.Exit)
	}
	tree, err := w.Files(sandbox.WorkspaceDir)
	must(t, err)
	for range 3 {
		if err := tree.Walk(10, func(sandbox.FileInfo) error { return nil }); !errors.Is(err, sandbox.ErrOutOfMemory) || !errors.Is(err, spawn.ErrGone) {
			t.Error(err)
		}
	}
	if asked > 1 {
		t.Errorf("asked %d times why init has ended", asked)
	}
	for _, tty := range []*sandbox.TTY{nil, {Rows: 24, Cols: 80}} {
		next := shell("exit 4")
		next.TTY = tty
		if _, err := w.Start(t.Context(), next); !errors.Is(err, sandbox.ErrOutOfMemory) {
			t.Errorf("the next one: %v", err)
		}
	}
	must(t, w.Delete(t.Context()))

	why := errors.New("stopped from outside")
	w = start(t, func(o *Options) { o.Ended = func() (sandbox.Exit, error) { return sandbox.Exit{}, why } })
	w.opts.Lift = func() { must(t, w.init.Process.Kill()) }
	if got := w.sh("exit 3"); got.OOMKills != 0 || got.Code != 3 {
		t.Errorf("%+v", got.Exit)
	}
	tree, err = w.Files(sandbox.WorkspaceDir)
	must(t, err)
	if err := tree.Walk(10, nil); !errors.Is(err, why) {
		t.Error(err)
	}
}
