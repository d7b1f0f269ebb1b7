package language

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// bareWorld runs plans on this host without a sandbox: the directories of the
// container are directories below dir.
type bareWorld struct {
	t   *testing.T
	dir string
	// cache stands for the target of the build cache; empty means one below dir.
	cache string
}

// bareRun is what a plan did.
type bareRun struct {
	phase          string // the last one
	code           int
	stdout, stderr string
}

var testResources = Resources{MemoryBytes: 512 << 20, CPUs: 1, CompileMemoryBytes: 2 << 30, CompileCPUs: 2}

func testHost() Host {
	home, _ := os.UserHomeDir()
	return Host{Path: filepath.SplitList(os.Getenv("PATH")), Home: home, Getenv: os.Getenv}
}

// toolchains finds a language on this host or skips the test.
func toolchains(t *testing.T, l Language) []Toolchain {
	t.Helper()
	found, missing := l.Find(t.Context(), testHost())
	if len(found) == 0 {
		t.Skipf("%s is not installed here: %v", l.Info().Title, missing)
	}
	return found
}

func newBareWorld(t *testing.T) bareWorld {
	w := bareWorld{t: t, dir: t.TempDir()}
	for _, dir := range []string{"workspace", "build", "tmp"} {
		if err := os.Mkdir(filepath.Join(w.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// local rewrites the container's paths in a word of a command or environment.
func (w bareWorld) local(word string) string {
	cache := w.cache
	if cache == "" {
		cache = filepath.Join(w.dir, "cache")
	}
	return strings.NewReplacer(
		PreparedDir, cache,
		sandbox.WorkspaceDir, filepath.Join(w.dir, "workspace"),
		sandbox.BuildDir, filepath.Join(w.dir, "build"),
		goCacheDir, cache,
		javacCacheDir, cache,
	).Replace(word)
}

// step runs one command and returns its exit code.
func (w bareWorld) step(s Step, stdin string) (code int, stdout, stderr string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	var args []string
	for _, arg := range s.Args {
		args = append(args, w.local(arg))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = w.local(sandbox.WorkspaceDir)
	if s.Dir != "" {
		cmd.Dir = w.local(s.Dir)
	}
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.local(sandbox.WorkspaceDir), "USER=sandbox",
		"LANG=C.UTF-8", "TMPDIR=" + filepath.Join(w.dir, "tmp"), "TZ=UTC"}
	for _, env := range s.Env {
		cmd.Env = append(cmd.Env, w.local(env))
	}
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%q: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// run writes a plan's files and runs its phases.
func (w bareWorld) run(l Language, tc Toolchain, src Source, stdin string) bareRun {
	w.t.Helper()
	plan, err := l.Plan(tc, src, testResources)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(plan.Files)
	if code, stdout, stderr := w.step(*plan.Compile, ""); code != 0 {
		return bareRun{"compile", code, stdout, stderr}
	}
	run, err := plan.Run(openTree(w.t, filepath.Join(w.dir, "build")))
	if err != nil {
		return bareRun{phase: "plan", code: -1, stderr: err.Error()}
	}
	code, stdout, stderr := w.step(run, stdin)
	return bareRun{"run", code, stdout, stderr}
}

// write writes files to the workspace.
func (w bareWorld) write(files map[string][]byte) {
	w.t.Helper()
	for name, content := range files {
		target := filepath.Join(w.dir, "workspace", name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// workspace lists the files that are in the workspace.
func (w bareWorld) workspace() []string {
	var names []string
	root := filepath.Join(w.dir, "workspace")
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return nil
	})
	return names
}

// osTree is a directory of this host as a [sandbox.FileTree]; what plans do not
// use panics.
type osTree struct {
	sandbox.FileTree
	root *os.Root
}

func openTree(t *testing.T, dir string) sandbox.FileTree {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return osTree{root: root}
}

func (o osTree) Open(name string) (sandbox.File, error) { return o.root.Open(name) }

func (o osTree) Walk(max int, visit func(sandbox.FileInfo) error) error {
	return fs.WalkDir(o.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if max--; err != nil || max < 0 {
			return errors.Join(err, fs.SkipAll)
		}
		info, err := entry.Info()
		if err != nil || name == "." {
			return err
		}
		return visit(sandbox.FileInfo{Path: name, Size: info.Size(), Mode: info.Mode()})
	})
}

// memoryTree is a [sandbox.FileTree] of a few files.
type memoryTree struct {
	sandbox.FileTree
	files map[string][]byte
	mode  fs.FileMode
}

type memoryFile struct{ io.Reader }

func (memoryFile) Close() error               { return nil }
func (memoryFile) Stat() (os.FileInfo, error) { return nil, errors.ErrUnsupported }

func (m memoryTree) Open(name string) (sandbox.File, error) {
	return memoryFile{bytes.NewReader(m.files[name])}, nil
}

func (m memoryTree) Walk(_ int, visit func(sandbox.FileInfo) error) error {
	for _, name := range namesWithSuffix(m.files, "") {
		if err := visit(sandbox.FileInfo{Path: name, Size: int64(len(m.files[name])), Mode: m.mode}); err != nil {
			return err
		}
	}
	return nil
}

// fakeProgram writes a shell script.
func fakeProgram(t *testing.T, name, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// diagnoseCase is what a phase wrote and what must be made of it.
type diagnoseCase struct {
	name, phase, stderr string
	want                Diagnosis
}

func checkDiagnoses(t *testing.T, l Language, cases []diagnoseCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := l.Diagnose(c.phase, c.stderr); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// fuzzDiagnose checks what must hold of any diagnosis of any output.
func fuzzDiagnose(f *testing.F, l Language, seeds ...string) {
	for _, seed := range seeds {
		f.Add("run", seed)
		f.Add("compile", seed)
	}
	f.Fuzz(func(t *testing.T, phase, stderr string) {
		reason := l.Diagnose(phase, stderr).Reason
		if n := len([]rune(reason)); n > 300 {
			t.Errorf("the reason has %d characters", n)
		}
		if strings.ToValidUTF8(reason, "") != reason || strings.Contains(reason, "\n") {
			t.Errorf("the reason is not one line of UTF-8: %q", reason)
		}
	})
}
