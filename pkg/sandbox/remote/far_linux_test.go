package remote_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
)

func demand(tenant string, memory int64) capacity.Demand {
	return capacity.Demand{Tenant: tenant, MemoryBytes: memory}
}

// Every language of the far host is reached by the plain names of its programs.
func TestToolchains(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	for language, programs := range map[string][][]string{
		"python": {{"python3", "--version"}}, "javascript": {{"node", "--version"}}, "typescript": {{"node", "--version"}},
		"go": {{"go", "version"}}, "java": {{"java", "-version"}, {"javac", "-version"}},
		"rust": {{"rustc", "--version"}, {"cargo", "--version"}, {"cc", "--version"}},
	} {
		spec := sandbox.Spec{Language: language, Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 5000}}
		img, err := rt.Image(t.Context(), spec)
		if errors.As(err, new(*sandbox.ImageError)) {
			t.Logf("%s: %v", language, err)
			continue
		}
		if err != nil || img.Name != "host:far" || !img.Elsewhere || len(img.Digest) != 71 {
			t.Fatalf("%s: %+v, %v", language, img, err)
		}
		c := create(t, rt, spec)
		for _, args := range programs {
			var out bytes.Buffer
			running, err := c.Start(t.Context(), sandbox.Process{Args: args, Env: append(img.Env, "HOME=/workspace"), Stdout: &out, Stderr: &out})
			if err != nil {
				t.Errorf("%s: %v", args[0], err)
				continue
			}
			if exit, err := running.Wait(); err != nil || exit.Code != 0 {
				t.Errorf("%s: %d, %v: %s", args[0], exit.Code, err, out.String())
			}
		}
	}
	for _, missing := range []sandbox.Spec{{Language: "klingon"}, {Language: "python", Version: "1.2"}, {Image: "python:3"}} {
		if _, err := rt.Image(t.Context(), missing); !errors.As(err, new(*sandbox.ImageError)) {
			t.Errorf("%+v: %v, want an ImageError", missing, err)
		}
	}
}

// A container is not made with another toolchain than the run was planned with.
func TestToolchainChanges(t *testing.T) {
	dir := t.TempDir()
	python := func(version string) { pretendPython(t, dir, version) }
	python("3.11.1")
	f := serve(t, func(o *server.Options) { o.Containers.Config.Host.Path = []string{dir} })
	rt := opened(t, remote.Options{}, f)
	spec := small
	spec.Language = "python"
	if _, err := rt.Image(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	python("3.12.10")
	if _, err := rt.Create(t.Context(), spec); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a container of another toolchain: %v", err)
	}
	if _, err := rt.Image(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	create(t, rt, spec)
}

// pretendPython makes a toolchain that has but a version.
func pretendPython(t *testing.T, dir, version string) {
	t.Helper()
	name := filepath.Join(dir, "python3")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho Python "+version+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Now().Truncate(time.Hour).Add(time.Duration(len(version))*time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// Where the server that a run was planned with is gone, the container is made on one
// that has the same toolchain, and on no other.
func TestFailoverMeetsAnotherToolchain(t *testing.T) {
	same, different := t.TempDir(), t.TempDir()
	pretendPython(t, same, "3.11.1")
	pretendPython(t, different, "3.12.10")
	serveWith := func(dir string) *far {
		return serve(t, keyless, func(o *server.Options) { o.Containers.Config.Host.Path = []string{dir} })
	}
	planned, other, twin := serveWith(same), serveWith(different), serveWith(same)
	var open atomic.Bool // to whom a run is not planned with
	gate := func(f *far) remote.Endpoint {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !open.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			f.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		return remote.Endpoint{URL: s.URL}
	}
	rt := opened(t, remote.Options{Endpoints: []remote.Endpoint{{URL: planned.url}, gate(other), gate(twin)}})
	spec := small
	spec.Language = "python"
	if _, err := rt.Image(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	open.Store(true)
	planned.Drain()
	create(t, rt, spec)
	if there, elsewhere := twin.runtime.manager.Alive(), other.runtime.manager.Alive(); len(there) != 1 || len(elsewhere) != 0 {
		t.Errorf("alive are %q with the same toolchain, and %q with another", there, elsewhere)
	}
	twin.Drain()
	if _, err := rt.Create(t.Context(), spec); !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "it has another toolchain for python") {
		t.Errorf("with the other one alone: %v", err)
	}
}

// A version that has another name on the host has its plain one in the container.
func TestPlainNames(t *testing.T) {
	dir := t.TempDir()
	for name, version := range map[string]string{"python3": "3.11.1", "python3.9": "3.9.2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho Python "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := serve(t, func(o *server.Options) {
		o.Containers.Config.Host.Path = []string{dir}
		o.Containers.Config.Host.Named = map[string]string{"python@3.9": filepath.Join(dir, "python3.9")}
	})
	rt := opened(t, remote.Options{}, f)
	spec := small
	spec.Language, spec.Version = "python", "3.9"
	img, err := rt.Image(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(img.Env[0], "PATH=/programs:"+dir) {
		t.Errorf("the environment is %q", img.Env)
	}
}

func archive(t *testing.T, headers ...tar.Header) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := []byte("content of " + h.Name)
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			h.Size = int64(len(content))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestKept(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	other := *f
	other.key = f.newKey(t, "runtime")
	stranger := opened(t, remote.Options{}, &other)
	spec := small
	spec.Language, spec.BuildDisk = "bash", small.Disk
	if _, err := rt.Image(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	has := func(rt *remote.Runtime, want bool) {
		t.Helper()
		if ok, err := rt.Kept(t.Context(), spec, "cache-1"); ok != want || err != nil {
			t.Errorf("kept: %v, %v, want %v", ok, err, want)
		}
	}
	has(rt, false)
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: "cache-1"}, archive(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}, tar.Header{Name: "d/f"}, tar.Header{Name: "p", Mode: 0o755})); err != nil {
		t.Fatal(err)
	}
	has(rt, true)
	has(stranger, false)
	with := spec
	with.Mounts = []sandbox.Mount{{Kept: "cache-1", Target: "/mnt/cache", Overlay: true}}
	for range 2 { // nothing of one container's changes is in the next
		mustPrint(t, create(t, rt, with), shell("cat /mnt/cache/d/f; test -x /mnt/cache/p && echo; ls /mnt/cache/d; echo new >/mnt/cache/d/new && cat /mnt/cache/d/new"), "content of d/f\nf\nnew\n")
	}
	if _, err := stranger.Create(t.Context(), with); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a stranger's container: %v", err)
	}
}

// TestMountsInTheWay: what a near side has kept on the other server lies nowhere where that
// follows its symbolic links when it makes a container, with the rights that it has itself.
func TestMountsInTheWay(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	spec := sandbox.Spec{Disk: small.Disk, BuildDisk: small.Disk}
	victim := t.TempDir()
	var evil []tar.Header
	for _, name := range []string{"u1", "u2", "w1", "w2", "a", "bin"} {
		evil = append(evil, tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: victim})
	}
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: "evil"}, archive(t, append(evil, tar.Header{Name: "build/", Typeflag: tar.TypeDir})...)); err != nil {
		t.Fatal(err)
	}
	at := func(target string) sandbox.Mount { return sandbox.Mount{Kept: "evil", Target: target, Overlay: true} }
	for name, mounts := range map[string][]sandbox.Mount{
		"the server's own names":   {at("/.build"), at("/mnt")},
		"an image's":               {at("/.sandbox-run"), at("/mnt")},
		"one below the other":      {at("/mnt"), {Kept: "evil", Target: "/mnt/a/b"}},
		"the other way round":      {{Kept: "evil", Target: "/mnt/bin"}, at("/mnt")},
		"the same place":           {at("/mnt"), {Kept: "evil", Target: "/mnt"}},
		"an empty one below":       {at("/mnt"), {Target: "/mnt/a"}},
		"in the workspace":         {at("/workspace/d")},
		"over the workspace":       {at("/workspace")},
		"the system":               {{Kept: "evil", Target: "/usr"}},
		"below the system":         {{Kept: "evil", Target: "/usr/local/bin"}},
		"over what is root's":      {{Kept: "evil", Target: "/etc"}},
		"out of where it may be":   {{Kept: "evil", Target: "/mnt/../etc"}},
		"not clean":                {{Kept: "evil", Target: "/mnt//a"}},
		"a writable one elsewhere": {{Target: "/var/lib", Overlay: true}},
	} {
		with := spec
		with.Mounts = mounts
		c, err := rt.Create(t.Context(), with)
		if err == nil {
			p := shell("for d in /x /mnt /workspace/d; do echo hi >$d/from-inside; done")
			if running, err := c.Start(t.Context(), p); err == nil {
				_, _ = running.Wait()
			}
			_ = c.Delete(t.Context())
		}
		if !errors.As(err, new(*sandbox.UnsupportedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	info := must(os.Stat(victim))
	if entries := must(os.ReadDir(victim)); len(entries) > 0 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		t.Errorf("a directory of the host holds %v and is user %d's", entries, info.Sys().(*syscall.Stat_t).Uid)
	}
}

// TestFileThatGrows: how much of a file is read was said when it was opened.
func TestFileThatGrows(t *testing.T) {
	f := serve(t)
	c := create(t, opened(t, remote.Options{}, f), small)
	mustPrint(t, c, shell("head -c 3000000 /dev/zero >grows; echo done"), "done\n")
	file := must(must(c.Files(sandbox.WorkspaceDir)).Open("grows"))
	defer file.Close()
	mustPrint(t, c, shell("head -c 3000000 /dev/zero >>grows; echo done"), "done\n")
	if n, err := io.Copy(io.Discard, file); n != 3000000 || err != nil {
		t.Errorf("%d bytes of a file of 3000000, %v", n, err)
	}
}

func TestBounds(t *testing.T) {
	f := serve(t, func(o *server.Options) {
		o.Containers.Config.MaxDiskBytes = 2 << 30
		o.Containers.Config.Ceilings.MemoryBytes = 1 << 30
		o.Containers.Config.Ceilings.Processes = 64
		o.Containers.Config.Compile.Processes = 64
	})
	rt := opened(t, remote.Options{}, f)
	change := func(f func(*sandbox.Spec)) sandbox.Spec { s := small; f(&s); return s }
	for name, spec := range map[string]sandbox.Spec{
		"level none":       change(func(s *sandbox.Spec) { s.Level = sandbox.LevelNone }),
		"level restricted": change(func(s *sandbox.Spec) { s.Level = sandbox.LevelRestricted }),
		"a large disk":     change(func(s *sandbox.Spec) { s.Disk.Bytes = 3 << 30 }),
		"many files":       change(func(s *sandbox.Spec) { s.Disk.Inodes = 1 << 40 }),
		"a host directory": change(func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: "/etc", Target: "/mnt"}} }),
		"an image":         change(func(s *sandbox.Spec) { s.Image = "x" }),
	} {
		_, err := rt.Create(t.Context(), spec)
		if !errors.As(err, new(*sandbox.UnsupportedError)) && !errors.As(err, new(*sandbox.ImageError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	private := change(func(s *sandbox.Spec) { s.Network = sandbox.NetworkPolicy{Allow: []string{"169.254.169.254:80"}} })
	if _, err := rt.Create(t.Context(), private); !errors.As(err, new(*sandbox.NetworkError)) {
		t.Errorf("the cloud's secrets: %v", err)
	}
	optional := change(func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: "/no/such", Optional: true}} })
	c := create(t, rt, optional)
	p := shell("true")
	p.Limits.MemoryBytes = 3 << 30
	if _, err := c.Start(t.Context(), p); !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Errorf("3 GiB of memory: %v", err)
	}
	p.Limits = sandbox.Limits{Processes: 100, Strict: []string{sandbox.LimitProcesses}}
	if _, err := c.Start(t.Context(), p); !errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Errorf("100 processes by name: %v", err)
	}
	p.Limits.Strict = nil
	p.Args = append(p.Args[:2:2], "echo fine")
	mustPrint(t, c, p, "fine\n")
	p.Env = append(p.Env, "X="+strings.Repeat("x", 2<<20))
	if _, err := c.Start(t.Context(), p); !errors.As(err, new(*sandbox.StartError)) || !errors.Is(err, syscall.E2BIG) {
		t.Errorf("a large environment: %v", err)
	}
}

// The line of a container is there, and complete when it has ended.
func TestAudit(t *testing.T) {
	f := serve(t)
	c := create(t, opened(t, remote.Options{}, f), small)
	mustPrint(t, c, shell("echo hi"), "hi\n")
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Wait(t.Context())
	if load := f.Ledger.Load(); load.Running != 0 || load.MemoryBytes != 0 {
		t.Errorf("the ledger holds %+v", load)
	}
}

func TestProbe(t *testing.T) {
	f := serve(t)
	there := must(f.runtime.Probe(t.Context()))
	rt := opened(t, remote.Options{}, f)
	here := must(rt.Probe(t.Context()))
	if here.Runtime != "remote" || here.Levels[0] != there.Levels[0] || len(here.Levels) != 1 ||
		!slices.Equal(here.Networks, there.Networks) || len(here.Mechanisms) != len(there.Mechanisms) || here.TTY != there.TTY {
		t.Errorf("%+v is told as %+v", there, here)
	}
	f.http.CloseClientConnections()
	f.http.Close()
	remote.Forget(rt)
	if caps, err := rt.Probe(t.Context()); err == nil {
		t.Errorf("a server that is gone can do %+v", caps)
	}
}
