package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fakeRuntime is a runtime whose containers run Go functions. Every step can be
// made to fail.
type fakeRuntime struct {
	img                                                                 sandbox.Image
	imgErr, createErr, filesErr, writeErr, startErr, waitErr, deleteErr error
	// program is what every process does; nil ends with 0 at once.
	program func(p sandbox.Process, r *fakeRunning) sandbox.Exit
	// onCreate, onFiles and onStart run before the step that they are named after.
	onCreate, onFiles, onStart func()

	mu         sync.Mutex
	containers []*fakeContainer
}

func (rt *fakeRuntime) Name() string { return "fake" }
func (rt *fakeRuntime) Image(context.Context, sandbox.Spec) (sandbox.Image, error) {
	return rt.img, rt.imgErr
}

func (rt *fakeRuntime) Probe(context.Context) (sandbox.Capabilities, error) {
	return sandbox.Capabilities{Runtime: "fake"}, nil
}
func (rt *fakeRuntime) Close() error { return nil }

func (rt *fakeRuntime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	if rt.onCreate != nil {
		rt.onCreate()
	}
	if err := errors.Join(rt.createErr, ctx.Err()); err != nil {
		return nil, err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	c := &fakeContainer{rt: rt, spec: spec, id: fmt.Sprintf("c%d", len(rt.containers)), trees: map[string]*fakeTree{}}
	for _, dir := range []string{sandbox.WorkspaceDir, sandbox.BuildDir} {
		c.trees[dir] = &fakeTree{names: map[string]fakeFile{}, writeErr: rt.writeErr}
	}
	rt.containers = append(rt.containers, c)
	return c, nil
}

// checkDeleted fails unless each container was deleted exactly once.
func (rt *fakeRuntime) checkDeleted(t *testing.T) {
	t.Helper()
	for _, c := range rt.containers {
		if c.deletes != 1 {
			t.Errorf("container %s was deleted %d times", c.id, c.deletes)
		}
	}
}

type fakeContainer struct {
	rt      *fakeRuntime
	spec    sandbox.Spec
	id      string
	trees   map[string]*fakeTree
	started []sandbox.Process
	deletes int
}

func (c *fakeContainer) ID() string { return c.id }
func (c *fakeContainer) Isolation() sandbox.Isolation {
	return sandbox.Isolation{Level: sandbox.LevelFull, Mechanisms: map[string]string{"seccomp": api.Enforced},
		Limits: map[string]string{sandbox.LimitMemory: api.Sampled, sandbox.LimitCPUs: api.Degraded}, Warnings: []string{"memory is sampled"}}
}

func (c *fakeContainer) Files(dir string) (sandbox.FileTree, error) {
	if c.rt.onFiles != nil {
		c.rt.onFiles()
	}
	if c.rt.filesErr != nil {
		return nil, c.rt.filesErr
	}
	return c.trees[dir], nil
}

func (c *fakeContainer) Start(ctx context.Context, p sandbox.Process) (sandbox.Running, error) {
	if c.rt.onStart != nil {
		c.rt.onStart()
	}
	if err := errors.Join(c.rt.startErr, ctx.Err()); err != nil {
		return nil, err
	}
	c.started = append(c.started, p)
	r := &fakeRunning{container: c, term: make(chan struct{}), killed: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if c.rt.program != nil {
			r.exit = c.rt.program(p, r)
		}
	}()
	return r, nil
}

func (c *fakeContainer) Delete(ctx context.Context) error {
	c.deletes++
	return errors.Join(c.rt.deleteErr, ctx.Err())
}

type fakeRunning struct {
	container    *fakeContainer
	exit         sandbox.Exit
	term, killed chan struct{} // closed by SIGTERM and by Kill
	done         chan struct{}
	once, onceK  sync.Once
}

func (r *fakeRunning) Wait() (sandbox.Exit, error) {
	<-r.done
	return r.exit, r.container.rt.waitErr
}

func (r *fakeRunning) Signal(sig syscall.Signal) error {
	if sig == syscall.SIGTERM {
		r.once.Do(func() { close(r.term) })
	}
	return nil
}

func (r *fakeRunning) Kill() error {
	r.onceK.Do(func() { close(r.killed) })
	return nil
}

func (r *fakeRunning) Metrics() (sandbox.Metrics, error) {
	n := int64(4096)
	return sandbox.Metrics{MemoryBytes: &n, Sources: map[string]string{}}, nil
}

func (r *fakeRunning) Resize(uint16, uint16) error { return nil }

// untilTerm is a program that sleeps until it is asked to end.
func untilTerm(_ sandbox.Process, r *fakeRunning) sandbox.Exit {
	begin := time.Now()
	<-r.term
	return sandbox.Exit{Code: 143, Signal: 15, Duration: time.Since(begin)}
}

// says is a program that writes and ends with a code.
func says(stdout, stderr string, code int) func(sandbox.Process, *fakeRunning) sandbox.Exit {
	return func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
		exit := sandbox.Exit{Code: code, Duration: 1500 * time.Millisecond}
		for w, text := range map[io.Writer]string{p.Stdout: stdout, p.Stderr: stderr} {
			if _, err := io.WriteString(w, text); err != nil && exit.WriteError == nil {
				exit.WriteError = err
			}
		}
		return exit
	}
}

// fakeTree is a file tree in memory.
type fakeTree struct {
	mu       sync.Mutex
	names    map[string]fakeFile
	inodes   uint64
	writeErr error
	walkErr  error
	usage    sandbox.DiskUsage
}

type fakeFile struct {
	sandbox.FileInfo
	content []byte
	openErr error
	readErr error
}

func (t *fakeTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	if t.writeErr != nil {
		return t.writeErr
	}
	b, err := io.ReadAll(content)
	if err == nil {
		t.put(name, b, mode)
	}
	return err
}

func (t *fakeTree) put(name string, content []byte, mode fs.FileMode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inodes++
	t.names[name] = fakeFile{content: content, FileInfo: sandbox.FileInfo{
		Path: name, Size: int64(len(content)), Mode: mode, Inode: t.inodes, ModTime: time.Unix(1, 0), Links: 1}}
}

func (t *fakeTree) MkdirAll(string) error { return nil }

func (t *fakeTree) Open(name string) (sandbox.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if f.openErr != nil {
		return nil, f.openErr
	}
	return openFake{bytes.NewReader(f.content), f.readErr}, nil
}

func (t *fakeTree) Walk(maxNames int, visit func(sandbox.FileInfo) error) error {
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		if maxNames--; maxNames < 0 {
			break
		}
		if err := visit(t.names[name].FileInfo); err != nil {
			return err
		}
	}
	return t.walkErr
}

func (t *fakeTree) Usage() (sandbox.DiskUsage, error) { return t.usage, nil }

type openFake struct {
	*bytes.Reader
	err error
}

func (f openFake) Read(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(b)
}
func (openFake) Close() error               { return nil }
func (openFake) Stat() (os.FileInfo, error) { return nil, errors.ErrUnsupported }

// fakeLanguage plans what the test says.
type fakeLanguage struct {
	info      language.Info
	plan      language.Plan
	diagnosis language.Diagnosis
	planErr   error
}

func (l fakeLanguage) Info() language.Info { return l.info }
func (l fakeLanguage) Find(context.Context, language.Host) ([]language.Toolchain, []language.Missing) {
	return nil, nil
}
func (l fakeLanguage) Plan(language.Toolchain, language.Source, language.Resources) (language.Plan, error) {
	return l.plan, l.planErr
}
func (l fakeLanguage) Diagnose(string, string) language.Diagnosis { return l.diagnosis }

// echo is a request that needs no toolchain.
func echo() Request { return Request{Language: "exec", Args: []string{"echo", "hello"}} }

// fakeGCC is a host whose C compiler only tells a version.
func fakeGCC(t *testing.T) language.Host {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'gcc (fake) 12.2.0'\n"
	if err := os.WriteFile(filepath.Join(dir, "gcc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return language.Host{Path: []string{dir}}
}

// collectEvents is a sink that remembers.
func collectEvents(to *[]api.Event) Sink {
	return func(e api.Event) error {
		*to = append(*to, e)
		return nil
	}
}
