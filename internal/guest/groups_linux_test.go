package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// groupsDir is where the tests make files that look like those of control groups.
const groupsDir = sandbox.WorkspaceDir + "/groups"

// withGroups makes a container that sees such files. They must be there before it
// looks, so it looks again.
func withGroups(t *testing.T, version int, without ...string) (*world, string) {
	t.Helper()
	w := start(t, func(o *Options) { o.CgroupDir, o.OwnLimit = groupsDir, true })
	equal(t, "version of none", w.groups.version, 0)
	host := w.host(groupsDir)
	for name, content := range groupContent[version] {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(host, name)), 0o755), os.WriteFile(filepath.Join(host, name), []byte(content), 0o644))
	}
	for _, name := range without {
		must(t, os.Remove(filepath.Join(host, name)))
	}
	w.groups = w.findGroups()
	return w, host
}

func TestFindGroups(t *testing.T) {
	for version, content := range groupContent {
		w, host := withGroups(t, version)
		equal(t, "version", w.groups.version, version)
		equal(t, "files", len(w.groups.files), len(content))
		now, ok := w.count()
		if !ok || now.memory != known(8392704) || now.denials != known(7) {
			t.Errorf("%+v", now)
		}
		// A file that fails fails all: half of the figures would be taken for zero.
		must(t, os.Remove(filepath.Join(host, w.groups.files[3].name)))
		if _, ok := w.count(); ok {
			t.Error("counted although a file is gone")
		}
	}
	// The root of a hierarchy is the host's.
	w, _ := withGroups(t, 2, "memory.current", "memory.peak", "memory.events", "pids.current", "pids.events")
	equal(t, "version at a root", w.groups.version, 0)
	w, _ = withGroups(t, 2, "memory.current", "memory.peak", "memory.events", "memory.stat")
	equal(t, "version where processes alone are counted", w.groups.version, 2)
}

// TestCountsOfProcess: a process is charged with what was counted since it began,
// and dies with one of its own that the kernel has killed for memory.
func TestCountsOfProcess(t *testing.T) {
	for version, files := range map[int][3]string{2: {"memory.events", "pids.events", "memory.stat"}, 1: {"memory/memory.oom_control", "pids/pids.events", "memory/memory.stat"}} {
		w, _ := withGroups(t, version)
		got := w.sh("echo max 9 >groups/" + files[1] + "; printf 'pgfault 15551\\ntotal_pgfault 15551\\n' >groups/" + files[2])
		equal(t, "kills", got.OOMKills, 0)
		equal(t, "denials", got.ProcessDenials, 2)
		equal(t, "page faults", *got.Metrics.PageFaults, 10)
		equal(t, "processes", *got.Metrics.ProcessesPeak, 4)
		equal(t, "code", got.Code, 0)
		running, _ := w.line(shell("echo ready; sleep 1000"))
		metrics, err := running.Metrics()
		must(t, err)
		equal(t, "memory", *metrics.MemoryBytes, 8392704)
		tree, _ := w.tree(sandbox.WorkspaceDir)
		must(t, tree.put("groups/"+files[0], "oom_kill 4\n"))
		exit, err := running.Wait()
		must(t, err)
		equal(t, "kills", exit.OOMKills, 1)
		equal(t, "denials", exit.ProcessDenials, 0)
		equal(t, "signal", exit.Signal, sigkill)
		equal(t, "the next one's kills", w.sh("sleep 0.2").OOMKills, 0)
	}
	// Files that go away during a run take no figure with them that was not theirs.
	w, _ := withGroups(t, 2)
	got := w.sh("rm -r groups")
	if got.OOMKills != 0 || got.ProcessDenials != 0 || !strings.Contains(got.Metrics.Sources["page_faults"], "rusage") {
		t.Errorf("%+v", got.Exit)
	}
}
