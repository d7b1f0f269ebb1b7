package language

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// goLanguage builds with the go command and runs the binary.
type goLanguage struct{}

func newGo() Language { return goLanguage{} }

func (goLanguage) Info() Info {
	return Info{
		Name:       "go",
		Title:      "Go",
		Aliases:    []string{"golang"},
		Extensions: []string{".go"},
		Shebangs:   []string{"go"},
		Entries:    []string{"main.go"},
		Install:    "apt-get install -y golang-go",
		Elsewhere:  "unpack https://go.dev/dl/ to /usr/local/go",
	}
}

// goDirs are where installations of Go are, beside PATH.
func goDirs() map[string][]string {
	return map[string][]string{
		"/usr/local/go": {"/usr/local/go/bin/go"},
		"/usr/lib":      {"/usr/lib/go-*/bin/go"},
		"~/sdk":         {"~/sdk/go*/bin/go"}, // golang.org/dl
		"GOTOOLCHAIN":   {"~/go/pkg/mod/golang.org/toolchain@*/bin/go"},
		"goenv":         {"~/.goenv/versions/*/bin/go"},
		"asdf":          {"~/.asdf/installs/golang/*/go/bin/go", "~/.asdf/installs/golang/*/bin/go"},
		"mise":          {"~/.local/share/mise/installs/go/*/bin/go"},
	}
}

// Find reads the version from the file VERSION of each installation instead of
// asking the go command, which may answer for another toolchain, or download
// one, when go.mod or GOTOOLCHAIN says so.
func (goLanguage) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	return host.find(ctx, search{
		Language: "go",
		Title:    "Go",
		Names:    []string{"go"},
		Globs:    goDirs(),
		Args:     []string{"version"},
		Pattern:  regexp.MustCompile(`go version go(\S+)`),
		Version:  goVersion,
	})
}

// goVersion reads the first line of GOROOT/VERSION, e.g. go1.26.8.
func goVersion(_ context.Context, program string) (string, error) {
	file := filepath.Join(installation(program), "VERSION")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s cannot be used: %w", program, err)
	}
	version, ok := strings.CutPrefix(firstLine(string(content)), "go")
	if !ok {
		return "", fmt.Errorf("%s cannot be used: %s does not name a release", program, file)
	}
	return version, nil
}

// Where the go command works. The cache is outside of the build directory so
// that it can be a mount of its own.
const (
	goCacheDir = "/cache/go-build"
	goBinary   = sandbox.BuildDir + "/main"
)

// goBuildFlags are those of every build of a program. Paths are not trimmed: a
// traceback shows /workspace/main.go, as go run would. Leaving out DWARF makes
// linking a third faster and tracebacks no worse. With the build mode named, a
// package that is not main is an error instead of an archive that cannot run.
func goBuildFlags() []string {
	return []string{"-buildvcs=false", "-buildmode=exe", "-ldflags=-w"}
}

// goEnv is the environment of every go command. Nothing is downloaded, nothing
// is configured from files, and nothing is written to the workspace.
func goEnv(cache string) []string {
	env := []string{
		"GOCACHE=" + cache,
		"GOPATH=" + sandbox.BuildDir + "/gopath",
		"GOTMPDIR=" + sandbox.BuildDir, // beside the output: a rename instead of a copy
		"GOENV=off",
		"GOTOOLCHAIN=local",
		"GOPROXY=off",
		"GOVCS=*:off",
		"CGO_ENABLED=0",
		// Telemetry has no variable of its own. It is off when there is no
		// configuration directory, and a relative one counts as none.
		"XDG_CONFIG_HOME=off",
	}
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return fault.Off("compiler", name)
	})
}

// goPrepare builds the standard library with the very flags that reach its
// packages in a real build, so that the action ids match. Afterwards it dates
// everything ahead: the go command refreshes the times of entries that are older
// than an hour, which on a read-only layer means to copy them up, and removes
// those that are older than five days.
const goPrepare = `set -e
"$1" build -buildvcs=false std` + goPrepareDirect + `find "$GOCACHE" -type f -exec touch -d '2037-12-31 00:00:00' {} +`

// goCache is the standard library, compiled: 170 MB and 50 CPU-seconds once,
// where every build would spend seconds on what it imports.
func goCache(tc Toolchain) BuildCache {
	prepare := Step{
		Args: append([]string{"/bin/sh", "-c", goPrepare, "prepare", tc.Program}, goBuildFlags()...),
		Env:  goEnv(PreparedDir),
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q", prepare.Args, prepare.Env)
	if !tc.inImage() { // a distribution mends its Go without a new version, and what is linked asks nobody whether it is up to date
		for _, program := range []string{tc.Program, goTool(tc, "compile"), goTool(tc, "link")} {
			if info, err := os.Stat(program); err == nil {
				fmt.Fprintf(h, " %d %d", info.Size(), info.ModTime().Unix())
			}
		}
	}
	return BuildCache{
		Key:     fmt.Sprintf("go-%s-%s-%016x", tc.Version, runtime.GOARCH, h.Sum64()),
		Target:  goCacheDir,
		Prepare: prepare,
		Title:   "the Go standard library",
	}
}

// Plan builds one main package and runs it.
func (goLanguage) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	files := sourceFiles(src, "main.go")
	for name, code := range files {
		if strings.HasSuffix(name, ".go") {
			files[name] = commentShebang(code)
		}
	}
	pkg, err := findGoPackage(files, src, tc.Version)
	if err != nil {
		return Plan{}, err
	}
	build := slices.Concat([]string{tc.Program, "build"}, goBuildFlags(), []string{"-o", goBinary}, pkg.targets)
	threads := wholeCPUs(res.CompileCPUs)
	cache := goCache(tc)
	compile, direct := goDirect(tc, pkg, files, threads, build)
	cache.OverlayOptional = direct
	return Plan{
		Files:  files,
		Mounts: tc.Mounts,
		Caches: []BuildCache{cache},
		Compile: &Step{
			Args: compile,
			Env:  append(goEnv(goCacheDir), "GOMAXPROCS="+strconv.Itoa(threads)),
			Dir:  path.Join(sandbox.WorkspaceDir, pkg.dir),
		},
		Run: func(sandbox.FileTree) (Step, error) {
			return Step{Args: append([]string{goBinary}, src.Args...), Env: goRunEnv(res)}, nil
		},
	}, nil
}

// goRunEnv tells the Go runtime its limits. GOMEMLIMIT counts what the runtime
// maps; the tenth that is left is for what it does not see: the pages of the
// binary, the kernel's page tables and thread stacks, files in memory (the Go GC
// guide, "leave an additional 5–10% of headroom").
func goRunEnv(res Resources) []string {
	env := []string{"GOMAXPROCS=" + strconv.Itoa(wholeCPUs(res.CPUs))}
	if res.MemoryBytes > 0 {
		env = append(env, "GOMEMLIMIT="+strconv.FormatInt(res.MemoryBytes-res.MemoryBytes/10, 10))
	}
	return env
}
