package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fakePython is a host whose Python only tells a version, and whose uv is never
// run.
func fakePython(t *testing.T) language.Host {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"python3": "#!/bin/sh\necho 'Python 3.12.1'\n", "uv": "\x7fELF"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return language.Host{Path: []string{dir}}
}

// packageExecutor is an executor whose installer makes these files in its venv.
func packageExecutor(t *testing.T, files map[string]fs.FileMode) (*Executor, *fakeRuntime) {
	t.Helper()
	rt := &fakeRuntime{program: func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
		if isInstaller(p) {
			for name, mode := range files {
				r.container.trees[sandbox.BuildDir].put(name, []byte("content of "+name), mode)
			}
		}
		return sandbox.Exit{}
	}}
	cfg := DefaultConfig()
	cfg.Host, cfg.DataDir = fakePython(t), t.TempDir()
	return New(rt, cfg), rt
}

func isInstaller(p sandbox.Process) bool { return p.Args[0] == "/bin/sh" }

func requiring(list ...string) Request {
	return Request{Tenant: "acme", Language: "python", Code: []byte("1"), Requirements: list, Env: map[string]string{"UV_INDEX_URL": "http://evil.test/"}}
}

func TestRequirementsAreRefused(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	noUV, _ := packageExecutor(t, nil)
	noUV.cfg.Host.Path = append([]string{}, noUV.cfg.Host.Path...)
	if err := os.Remove(filepath.Join(noUV.cfg.Host.Path[0], "uv")); err != nil {
		t.Fatal(err)
	}
	noData, _ := packageExecutor(t, nil)
	noData.cfg.DataDir = ""
	for name, c := range map[string]struct {
		e           *Executor
		req         Request
		kind        InputKind
		field, want string
	}{
		"option":         {e, requiring("a", "--index-url=http://x"), InputInvalid, "/requirements/1", "option"},
		"too many":       {e, requiring(slices.Repeat([]string{"a"}, 257)...), InputInvalid, "/requirements", "at most 256"},
		"other language": {e, Request{Language: "exec", Args: []string{"true"}, Requirements: []string{"a"}}, InputUnsupported, "/requirements", "only those of Python"},
		"no uv":          {noUV, requiring("a"), InputUnsupported, "/requirements", "pip install uv"},
		"no data":        {noData, requiring("a"), InputUnsupported, "/requirements", "SANDBOX_DATA_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat("/usr/local/bin/uv"); err == nil && name == "no uv" {
				t.Skip("there is a uv that is always found")
			}
			_, err := c.e.Admit(t.Context(), c.req)
			var input *InputError
			if !errors.As(err, &input) || input.Kind != c.kind || input.Field != c.field || !strings.Contains(input.Detail, c.want) {
				t.Errorf("%+v (%v)", input, err)
			}
		})
	}
	if len(rt.containers) > 0 {
		t.Error("something was made")
	}
}

// Where the installer cannot have its network, nothing runs without packages.
func TestRequirementsWithoutNetwork(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	rt.createErr = &sandbox.UnsupportedError{What: "network allowlist", Reason: "there is none"}
	_, err := e.Run(t.Context(), requiring("a"), nil)
	var input *InputError
	if !errors.As(err, &input) || input.Kind != InputUnsupported || input.Field != "/requirements" || !strings.Contains(input.Detail, "there is none") {
		t.Errorf("%+v (%v)", input, err)
	}
}

// What is refused when something was installed for it has cost that.
func TestRefusedBehindAnInstallation(t *testing.T) {
	e, rt := packageExecutor(t, map[string]fs.FileMode{"venv/lib": fs.ModeDir | 0o700, "venv/pyvenv.cfg": 0o644})
	rt.writeErr = fmt.Errorf("write: %w", syscall.ENOSPC)
	result, err := e.Run(t.Context(), requiring("a"), nil)
	wantInput(t, err, InputInvalid, "do not fit")
	if result == nil || len(result.Phases) != 1 || result.Phases[0].Name != api.PhaseInstall {
		t.Errorf("%+v", result)
	}
}

func TestInstall(t *testing.T) {
	e, rt := packageExecutor(t, map[string]fs.FileMode{
		"venv/lib":        fs.ModeDir | 0o700,
		"venv/lib/a.py":   0o666,
		"venv/bin/tool":   0o755 | fs.ModeSetuid,
		"venv/lib/link":   fs.ModeSymlink,
		"venv/pyvenv.cfg": 0o644,
		"cache/b":         0o644,
	})
	var events []api.Event
	result, err := e.Run(t.Context(), requiring("A"), collectEvents(&events))
	if err != nil || result.Status != api.StatusOK || len(result.Phases) != 2 || result.Phases[0].Name != api.PhaseInstall {
		t.Fatalf("%+v, %v", result, err)
	}
	starts := 0
	for i, event := range events {
		if event.Type == api.EventStart {
			starts++
			if i > 0 {
				t.Error("something comes before the start")
			}
		}
	}
	if starts != 1 {
		t.Errorf("%d starts", starts)
	}
	again, err := e.Run(t.Context(), requiring("a"), nil)
	if err != nil || again.Status != api.StatusOK || len(again.Phases) != 1 {
		t.Fatalf("the second run: %+v, %v", again, err)
	}
	entries, err := e.environments().list()
	if want := int64(2*4096 + 2*2*4096); err != nil || len(entries) != 1 || entries[0].bytes < want || entries[0].bytes > want+4096 {
		t.Errorf("entries %+v, %v, want one of a directory and two files that take %d", entries, err, want)
	}
	rt.checkDeleted(t)
	if len(rt.containers) != 3 {
		t.Fatalf("%d containers", len(rt.containers))
	}
	for _, c := range rt.containers {
		if c.spec.Tenant != "acme" {
			t.Errorf("container %s is for tenant %q", c.id, c.spec.Tenant)
		}
	}
	checkInstaller(t, rt.containers[0])
	for _, c := range rt.containers[1:] {
		checkProgram(t, c)
	}
}

// checkInstaller makes sure that nothing of the request is in the container that
// has a network, and that it can write nothing of the host.
func checkInstaller(t *testing.T, c *fakeContainer) {
	t.Helper()
	p := c.started[0]
	if c.spec.Network.Mode != sandbox.NetworkAllowlist || p.Network == nil || p.Network.Mode != sandbox.NetworkAllowlist {
		t.Errorf("the installer has the network %+v", c.spec.Network)
	}
	if len(c.trees[sandbox.WorkspaceDir].names) > 0 || slices.Contains(p.Env, "UV_INDEX_URL=http://evil.test/") {
		t.Errorf("something of the request reaches the installer: %q", p.Env)
	}
	for _, m := range c.spec.Mounts {
		if m.Overlay {
			t.Errorf("the installer may write %+v", m)
		}
	}
	if p.Limits.WallTime != 2*time.Minute || p.Limits.MemoryBytes != 2<<30 || c.spec.BuildDisk.Bytes != 1<<30 {
		t.Errorf("the installer's limits are %+v and %+v", p.Limits, c.spec.BuildDisk)
	}
}

func checkProgram(t *testing.T, c *fakeContainer) {
	t.Helper()
	p := c.started[0]
	if c.spec.Network.LeadsOut() || p.Args[0] != "/packages/bin/python3" || !slices.ContainsFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=/packages/bin:") }) {
		t.Errorf("%q with %q and network %+v", p.Args, p.Env, c.spec.Network)
	}
	i := slices.IndexFunc(c.spec.Mounts, func(m sandbox.Mount) bool { return m.Target == packages.Dir })
	if i < 0 || c.spec.Mounts[i].Overlay {
		t.Fatalf("mounts %+v", c.spec.Mounts)
	}
	dir := c.spec.Mounts[i].Source
	for name, want := range map[string]fs.FileMode{"lib/a.py": 0o644, "bin/tool": 0o755, "pyvenv.cfg": 0o644, "lib": fs.ModeDir | 0o755, "lib/link": 0, "../tools": 0} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if (err == nil) != (want != 0) || err == nil && info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if config, _ := os.ReadFile(filepath.Join(dir, "pyvenv.cfg")); !strings.HasPrefix(string(config), "home = /") {
		t.Errorf("the installer's own configuration is kept: %q", config)
	}
}

func TestInstallError(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	rt.program = says("", "error: Nothing fits\n  cause: Because a was not found\n", 1)
	result, err := e.Run(t.Context(), requiring("a"), nil)
	if err != nil || result.Status != api.StatusInstallError || result.Message != "Installation failed: Because a was not found" || result.ExitCode != 1 || len(rt.containers) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	rt.checkDeleted(t)
	if left, err := e.environments().list(); len(left) > 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestInstallTimeout(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	rt.program, e.cfg.InstallTimeout = untilTerm, 20*time.Millisecond
	result, err := e.Run(t.Context(), requiring("a"), nil)
	if err != nil || result.Status != api.StatusTimeout || result.Message != "Installation timed out after 0.02s" || result.Limit.Phase != api.PhaseInstall {
		t.Errorf("%+v, %v", result, err)
	}
}

// entry makes an entry of the cache.
func entry(t *testing.T, c environments, name, size string, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(c.path(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if size != "" {
		if err := os.WriteFile(filepath.Join(c.path(name), environmentSize), []byte(size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	when := time.Now().Add(-age)
	if err := os.Chtimes(c.path(name), when, when); err != nil {
		t.Fatal(err)
	}
}

func TestEnvironmentsAreBounded(t *testing.T) {
	c := environments{t.TempDir()}
	entry(t, c, "useless", "1", 3*24*time.Hour)
	entry(t, c, "useless-but-held", "1", 3*24*time.Hour)
	entry(t, c, "oldest", "2000000000", 3*time.Hour)
	entry(t, c, "older-but-held", "2000000000", 2*time.Hour)
	entry(t, c, "young", "2000000000", time.Hour)
	entry(t, c, "new", "1000000000", 0)
	entry(t, c, "half", "", 0)
	entry(t, c, "tmp-1", "", 0)
	entry(t, c, "tmp-held", "", 0)
	for _, name := range []string{"useless-but-held", "older-but-held", "tmp-held"} {
		release, err := lockDir(c.path(name), false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
	removed, err := c.prune("new")
	for i, path := range removed {
		removed[i] = filepath.Base(path)
	}
	slices.Sort(removed)
	if want := []string{"half", "oldest", "tmp-1", "useless"}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v; want %q", removed, err, want)
	}
}

// What runs use is not removed, and gc removes the rest.
func TestReclaimEnvironments(t *testing.T) {
	dir := t.TempDir()
	c := environments{filepath.Join(dir, "cache", "packages")}
	entry(t, c, "useless", "1", 3*24*time.Hour)
	removed, err := Reclaim(t.Context(), dir)
	if err != nil || !slices.Equal(removed, []string{c.path("useless")}) {
		t.Errorf("%q, %v", removed, err)
	}
}

// A caller who goes away while packages are installed leaves nothing.
func TestInstallCancelled(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	rt.program = untilTerm
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result, err := e.Run(ctx, requiring("a"), func(event api.Event) error {
		if event.Type == api.EventPhase {
			cancel()
		}
		return nil
	})
	if err != nil || result.Status != api.StatusCancelled || len(rt.containers) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	rt.checkDeleted(t)
	if left, err := e.environments().list(); len(left) > 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
}

// What a request takes counts its installer, as long as there has to be one.
func TestInstallMemory(t *testing.T) {
	e, _ := packageExecutor(t, nil)
	for _, want := range []int64{2 << 30, 512 << 20} {
		admitted, err := e.Admit(t.Context(), requiring("a"))
		if err != nil || admitted.MemoryBytes() != want {
			t.Errorf("%d bytes, want %d (%v)", admitted.MemoryBytes(), want, err)
		}
		if _, err := admitted.Run(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}

// Hard links of an installer that has gone wrong do not fill the host's disk.
func TestInstallIsBounded(t *testing.T) {
	e, rt := packageExecutor(t, map[string]fs.FileMode{"venv/a": 0o644, "venv/b": 0o644})
	e.cfg.CompileDiskBytes = 20
	result, err := e.Run(t.Context(), requiring("a"), nil)
	if err != nil || result.Status != api.StatusSandboxError || len(rt.containers) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestInstallDiskLimit(t *testing.T) {
	e, rt := packageExecutor(t, nil)
	rt.program = func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
		exit := says("", "error: Failed to download\n  cause: No space left on device (os error 28)\n", 1)(p, r)
		exit.BuildDisk = sandbox.DiskUsage{BytesUsed: 1, BytesTotal: 1 << 30}
		return exit
	}
	result, err := e.Run(t.Context(), requiring("a"), nil)
	if err != nil || result.Status != api.StatusDiskLimit || result.Limit.Phase != api.PhaseInstall || result.Message != "Disk limit of 1 GiB reached" {
		t.Errorf("%+v, %v", result, err)
	}
}

// What is copied of a file is what was counted, whoever has the file and says how long it is.
func TestCopyFileTakesWhatWasCounted(t *testing.T) {
	tree := newTree("f")
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := tree.WriteFile("f", strings.NewReader("longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(tree, sandbox.FileInfo{Path: "f", Size: 4}, root, "copy"); err != nil {
		t.Fatal(err)
	}
	if got, err := root.ReadFile("copy"); string(got) != "long" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
