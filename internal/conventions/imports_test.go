package conventions

import (
	"strconv"
	"strings"
	"testing"
)

// room is a row of the table of who may import what. In its patterns a trailing
// /... takes in everything below, and the folder itself.
type room struct {
	path string
	// may are the module's packages that it may import, never those of them
	// that it may not.
	may, never []string
	// outside are the other modules that it may import; nil means any.
	outside []string
	why     string
}

var (
	// anywhere may be imported by all: in programs that are shipped there is nothing of faults, and an
	// expression that is compiled later is one of the standard library's.
	anywhere = []string{"internal/fault", "internal/lazyregexp"}
	nothing  = []string{}
	// doors are where requests come in. Only commands and other doors know them.
	doors = []string{"internal/cli/...", "internal/server/..."}
)

// rooms is read from the top; the first row that fits a package counts. A run
// is data that flows one way, so dependencies point down only.
func rooms() []room {
	return []room{
		{
			path: "pkg/api/...", may: nothing, outside: nothing,
			why: "the wire types are what others import: plain data that drags nothing along",
		},
		{
			path: "pkg/sandbox", may: []string{"pkg/api"}, outside: nothing,
			why: "the vocabulary of isolation belongs to no runtime",
		},
		{
			path: "pkg/sandbox/sandboxtest", may: []string{"pkg/api", "pkg/sandbox", "internal/image", "internal/lockfile"},
			why: "the suite knows runtimes by their interface alone, and makes the images that they run",
		},
		{
			path: "pkg/sandbox/remote", may: []string{"pkg/api", "pkg/sandbox", "pkg/client", "internal/alive", "internal/secret", "internal/stdio", "internal/tunnel"},
			why: "the containers of another server are behind its door: nothing here touches a kernel",
		},
		{
			path: "pkg/sandbox/...", may: []string{"pkg/api", "pkg/sandbox", "internal/advisory", "internal/alive", "internal/kernel/...", "internal/guest", "internal/instance", "internal/lockfile", "internal/outlet", "internal/relay", "internal/rootfs", "internal/secret", "internal/stdio"},
			why: "a runtime knows no languages, no doors and no other runtime",
		},
		{
			path: "pkg/monitor/...", may: []string{"pkg/api", "pkg/sandbox"},
			why: "figures are the same for every runtime and every language",
		},
		{
			path: "pkg/executor/language/...", may: []string{"pkg/api", "pkg/sandbox", "pkg/executor/language/...", "internal/nearest"},
			why: "a plan is data: a language starts nothing and cannot tell runtimes apart",
		},
		{
			path: "pkg/executor/...", may: []string{"pkg/api", "pkg/sandbox", "pkg/monitor", "pkg/executor/...", "internal/lockfile"},
			why: "phases run the same in every runtime, so that the caller chooses which",
		},
		{
			path: "pkg/client/...", may: []string{"pkg/api"},
			why: "whoever calls a server needs the wire types, and nothing that runs programs",
		},
		{
			path: "internal/kernel/...", may: nothing, outside: []string{"golang.org/x/sys/..."},
			why: "a leaf is one feature of Linux, read and reviewed by itself; it imports no sibling",
		},
		{
			path: "internal/lazyregexp", may: nothing, outside: nothing,
			why: "whoever has an expression may have it compiled later",
		},
		{
			path: "internal/fault", may: nothing, outside: nothing,
			why: "what tests break on purpose can be anywhere, and in no program that is shipped",
		},
		{
			path: "internal/advisory", may: []string{"pkg/api", "pkg/sandbox"}, outside: []string{"golang.org/x/sys/..."},
			why: "the list of known holes is data, and every runtime's",
		},
		{
			path: "internal/instance", may: nothing, outside: []string{"golang.org/x/sys/..."},
			why: "the ledger is every runtime's: what is alive and what is left is told by files, and by no runtime",
		},
		{
			path: "internal/lockfile", may: nothing, outside: []string{"golang.org/x/sys/..."},
			why: "a lock is the system's, whatever it is for",
		},
		{
			path: "internal/nearest", may: nothing, outside: nothing,
			why: "a slip is guessed the same way whatever was named",
		},
		{
			path: "internal/alive", may: []string{"pkg/sandbox"}, outside: nothing,
			why: "every runtime deletes what it has made when it closes, whatever that is",
		},
		{
			path: "internal/stdio", may: nothing, outside: nothing,
			why: "bytes are copied the same way whatever writes them",
		},
		{
			path: "internal/rootfs", may: []string{"pkg/sandbox", "internal/image"}, outside: nothing,
			why: "what roots are made of is the same for every runtime that makes them",
		},
		{
			path: "internal/guest/...", may: []string{"pkg/api", "pkg/sandbox", "internal/alive", "internal/kernel/cgroup", "internal/kernel/seccomp", "internal/kernel/spawn", "internal/stdio"}, outside: nothing,
			why: "what runs in a container of another's making knows no engine, so that every engine can use it",
		},
		{
			path: "internal/tunnel", may: []string{"pkg/api", "pkg/sandbox"}, outside: []string{"github.com/coder/websocket"},
			why: "both ends of the protocol read it, and it knows neither",
		},
		{
			path: "internal/config/...", may: []string{"pkg/api", "pkg/sandbox", "pkg/executor/language", "pkg/executor/packages", "pkg/executor/policy", "internal/nearest", "internal/secret"}, // which read the file of toolchains, the address of an index and a list of modules
			why: "every command reads the same configuration, whatever it links besides",
		},
		{
			path: "internal/cli/...", may: []string{"pkg/...", "internal/..."}, never: doors[1:],
			why: "the command line must not link the servers",
		},
		{
			path: "internal/server/...", may: []string{"pkg/...", "internal/..."}, never: doors[:1],
			why: "a server has no command line",
		},
		{
			path: "internal/daemon/...", may: []string{"pkg/...", "internal/..."}, never: doors[:1],
			why: "the life of the server is around its doors",
		},
		{
			path: "internal/outlet", may: []string{"pkg/api", "pkg/sandbox", "internal/relay", "internal/kernel/netns"}, outside: []string{"golang.org/x/sys/..."},
			why: "every runtime leads networks out the same way, whoever made the container",
		},
		{
			path: "internal/bench", may: []string{"pkg/executor/language"}, outside: nothing,
			why: "what is timed is handed in: a measure that knows what it measures is no judge of it",
		},
		{
			path: "internal/relay/relaytest", may: nothing, outside: nothing,
			why: "a resolver of tests is an ordinary one: whoever takes a resolver can be tested with it",
		},
		{
			path: "internal/...", may: []string{"pkg/...", "internal/..."}, never: append([]string{"internal/relay/relaytest"}, doors...),
			why: "nobody below a door imports a door",
		},
		{
			path: "cmd/...", may: []string{"pkg/...", "internal/..."},
			why: "commands join the parts, and nobody imports a command",
		},
		{
			path: "test/internal/...", may: nothing, outside: nothing,
			why: "what the suites share is no judge of what they test",
		},
		{
			path: "test/...", may: []string{"pkg/...", "internal/..."},
			why: "tests from outside start the built programs",
		},
		{
			path: "examples/...", may: nothing, outside: nothing,
			why: "an example is one file that runs in the sandbox as it is",
		},
	}
}

// TestImports holds the files for every system against the table; tests are
// free.
func TestImports(t *testing.T) {
	for _, f := range mustGoFiles(t) {
		if f.isTest() {
			continue
		}
		r, ok := roomOf(f.folder())
		if !ok {
			t.Errorf("%s: this folder is in no row of the table of imports; add one, with its reason", f.path)
			continue
		}
		for _, spec := range f.syntax.Imports {
			if name, _ := strconv.Unquote(spec.Path.Value); !r.allows(f.folder(), name) {
				t.Errorf("%s:%d: %s must not import %s: %s", f.path, f.line(spec.Pos()), r.path, name, r.why)
			}
		}
	}
}

func roomOf(folder string) (room, bool) {
	for _, r := range rooms() {
		if within(folder, r.path) {
			return r, true
		}
	}
	return room{}, false
}

func (r room) allows(folder, name string) bool {
	if ours, ok := strings.CutPrefix(name, modulePath+"/"); ok {
		return ours != folder && (withinAny(ours, anywhere) || withinAny(ours, r.may) && !withinAny(ours, r.never))
	}
	first, _, _ := strings.Cut(name, "/")
	standard := !strings.Contains(first, ".")
	return standard || r.outside == nil || withinAny(name, r.outside)
}

func within(name, pattern string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return name == folder || below && strings.HasPrefix(name, folder+"/")
}

func withinAny(name string, patterns []string) bool {
	for _, p := range patterns {
		if within(name, p) {
			return true
		}
	}
	return false
}

// TestImportsSee proves that the table refuses what it is there for.
func TestImportsSee(t *testing.T) {
	const ours = modulePath + "/"
	for _, c := range []struct {
		folder, name string
		want         bool
	}{
		{"pkg/api", "encoding/json", true},
		{"pkg/api", ours + "pkg/sandbox", false},
		{"pkg/api", "example.com/x", false},
		{"pkg/sandbox", ours + "pkg/api", true},
		{"pkg/sandbox", ours + "pkg/sandbox/local", false},
		{"pkg/sandbox/local", ours + "internal/kernel/cgroup", true},
		{"pkg/sandbox/local", ours + "pkg/sandbox/docker", false},
		{"pkg/sandbox/local", ours + "pkg/executor", false},
		{"pkg/executor/language", ours + "pkg/sandbox", true},
		{"pkg/executor/language", ours + "pkg/sandbox/local", false},
		{"pkg/executor", ours + "pkg/sandbox/local", false},
		{"pkg/executor", ours + "internal/cli", false},
		{"internal/kernel/cgroup", "golang.org/x/sys/unix", true},
		{"internal/kernel/cgroup", "golang.org/x/net/bpf", false},
		{"internal/kernel/cgroup", ours + "internal/kernel/spawn", false},
		{"pkg/sandbox/local", ours + "internal/instance", true},
		{"internal/instance", "golang.org/x/sys/unix", true},
		{"internal/instance", ours + "internal/kernel/cgroup", false},
		{"internal/instance", ours + "pkg/sandbox", false},
		{"internal/auth", ours + "internal/store", true},
		{"internal/auth", ours + "internal/server", false},
		{"internal/engine", ours + "internal/relay/relaytest", false},
		{"internal/relay/relaytest", ours + "internal/relay", false},
		{"internal/cli", ours + "internal/server", false},
		{"internal/server", ours + "internal/cli", false},
		{"internal/daemon", ours + "internal/server", true},
		{"internal/daemon", ours + "internal/cli", false},
		{"cmd/sandbox-run", ours + "internal/cli", true},
		{"internal/cli", ours + "cmd/sandbox-run", false},
		{"test/internal/doctest", ours + "pkg/api", false},
	} {
		r, ok := roomOf(c.folder)
		if got := ok && r.allows(c.folder, c.name); got != c.want {
			t.Errorf("%s may import %s: %v, want %v", c.folder, c.name, got, c.want)
		}
	}
	if _, ok := roomOf("attic"); ok {
		t.Error("a folder that is in no row has one")
	}
}
