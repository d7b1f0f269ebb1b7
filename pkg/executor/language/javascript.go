package language

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// javascript runs source with Node.
type javascript struct{}

func newJavaScript() Language { return javascript{} }

func (javascript) Info() Info {
	return Info{
		Name:       "javascript",
		Title:      "JavaScript",
		Aliases:    []string{"js", "node", "nodejs"},
		Extensions: []string{".js", ".mjs", ".cjs"},
		Shebangs:   []string{"node", "nodejs"},
		Entries:    []string{"main.js", "main.mjs", "main.cjs", "index.js", "index.mjs", "index.cjs"},
		Install:    nodeInstall,
		Elsewhere:  nodeElsewhere,

		LeastMemoryBytes: 24 << 20,
	}
}

const (
	nodeInstall   = "apt-get install -y nodejs"
	nodeElsewhere = "install Node.js 18 or newer from https://nodejs.org/en/download or with nvm"
)

// Find looks for Node 18 and later.
func (javascript) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	return findNode(ctx, host, "javascript")
}

// findNode finds Node for JavaScript and for TypeScript. What a configuration
// names for JavaScript counts for both.
func findNode(ctx context.Context, host Host, language string) ([]Toolchain, []Missing) {
	found, missing := host.find(ctx, search{
		Language: "javascript",
		Title:    "Node.js",
		Names:    []string{"node", "nodejs"},
		Globs: map[string][]string{
			"/usr/local/bin": {"/usr/local/bin/node"},
			"/opt":           {"/opt/node*/bin/node"},
			"nvm":            {"~/.nvm/versions/node/*/bin/node"},
			"asdf":           {"~/.asdf/installs/nodejs/*/bin/node"},
			"mise":           {"~/.local/share/mise/installs/node/*/bin/node"},
			"fnm":            {"~/.local/share/fnm/node-versions/*/installation/bin/node"},
			"volta":          {"~/.volta/tools/image/node/*/bin/node"},
		},
		Args:    []string{"--version"},
		Pattern: regexp.MustCompile(`^v(\d+\.\d+\.\d+\S*)`),
		Oldest:  "18",
	})
	for i := range found {
		found[i].Language = language
	}
	for i := range missing {
		missing[i].Language = language
	}
	return found, missing
}

// Plan has no compile phase. Whether main.js is an ES module is Node's to find
// out. Older ones are told, and in a check all are: node --check does not parse
// what it finds to be a module (nodejs/node#65202).
func (j javascript) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	files := sourceFiles(src, "main.js")
	if src.Code != nil && src.Entry == "" {
		src.Entry = "main.js"
	}
	entry, err := entryFile(j.Info(), files, src.Entry)
	if err != nil {
		return Plan{}, err
	}
	if detects := detectsModules(tc.Version); src.Check || !detects {
		sayModule(files, entry, detects)
	}
	program, flags, main := []string{tc.Program}, slices.Concat(heapFlags(res), helperFlags(res)), inWorkspace(src, entry)
	step := Step{Args: slices.Concat(program, flags, []string{main}, src.Args)}
	plan := Plan{
		Files:  files,
		Mounts: hideNodePackages(tc),
		Run:    func(sandbox.FileTree) (Step, error) { return step, nil },
	}
	if entry == "main.js" && src.Dir == "" && !tc.sets("NODE_OPTIONS") && !mayHaveThreads(tc, files) {
		plan.Ahead = nodeAhead(tc, slices.Concat(program, flags), main, src, files[entry])
	}
	return plan, nil
}

// hideNodePackages hides the one directory outside of the workspace in which
// Node still looks for packages.
func hideNodePackages(tc Toolchain) []sandbox.Mount {
	if tc.inImage() {
		return nil
	}
	return hide(filepath.Join(filepath.Dir(filepath.Dir(tc.Program)), "lib", "node"))
}

// heapFlags tell V8 the memory limit, so that it collects garbage in time and,
// when that does not help, says in its own words that the heap is full. Of the
// limit, 64 MiB and an eighth are left for the rest: Node itself takes about
// 45 MiB, the young generation up to 48, and buffers live outside of the heap.
func heapFlags(res Resources) []string {
	if res.MemoryBytes <= 0 {
		return nil
	}
	const mib = 1 << 20
	heap := (res.MemoryBytes - 64*mib - res.MemoryBytes/8) / mib
	return []string{fmt.Sprintf("--max-old-space-size=%d", max(heap, 16))}
}

// helperFlags have V8 collect garbage and compile beside the program with as many threads as there are
// CPUs for it, where these are fewer than the four that it has wherever it is. More cannot be at work
// at a time, and each is 30 KiB of the kernel's memory.
func helperFlags(res Resources) []string {
	if helpers := math.Ceil(res.CPUs); helpers > 0 && helpers < nodeHelpers {
		return []string{fmt.Sprintf("--v8-pool-size=%d", int(helpers))}
	}
	return nil
}

// nodeHelpers is how many Node has by itself (node --help).
const nodeHelpers = 4

// detectsModules tells whether a version of Node finds out by itself whether a
// source is an ES module when neither file name nor package.json say so. The
// experimental flag of versions before is of no help: it misses sources whose
// only sign is an await.
func detectsModules(version string) bool {
	if versionMatches(version, "20") {
		return compareVersions(version, "20.19.0") >= 0
	}
	return compareVersions(version, "22.7.0") >= 0
}

// sayModule has a package.json say that the main file is an ES module, where Node does not see
// it, because nothing else says it. One that is there is only changed if amend says so: Node does
// what it says, or finds out in spite of it.
func sayModule(files map[string][]byte, entry string, amend bool) {
	dir, there := nearestDir(files, path.Dir(entry), "package.json")
	if path.Ext(entry) != ".js" || there && !amend || !usesModules(files[entry]) {
		return
	}
	name, fields := path.Join(dir, "package.json"), map[string]json.RawMessage{}
	if there && (json.Unmarshal(files[name], &fields) != nil || fields == nil || fields["type"] != nil) {
		return
	}
	fields["type"] = json.RawMessage(`"module"`)
	if said, err := json.Marshal(fields); err == nil {
		files[name] = said
	}
}
