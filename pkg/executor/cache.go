package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// buildCache returns the directory of a build cache, preparing it when it is
// not there yet: once on this machine, by the toolchain alone and without any
// user's source, in a sandbox like every other. It is renamed into place when
// it is whole and never written again.
func (e *Executor) buildCache(ctx context.Context, tc language.Toolchain, cache language.BuildCache) (string, error) {
	if e.cfg.DataDir == "" {
		return "", fmt.Errorf("%s must be prepared, and there is no data directory to keep it in", cache.Title)
	}
	dir := filepath.Join(e.cfg.DataDir, "cache", "build", cache.Key)
	if exists(dir) {
		return dir, nil
	}
	parent := filepath.Dir(dir)
	if err := errors.Join(os.MkdirAll(filepath.Dir(parent), 0o711), os.MkdirAll(parent, 0o700)); err != nil {
		return "", noDataDir(err)
	}
	unlock, err := lockFile(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(dir) {
		return dir, nil // somebody else was quicker
	}
	if e.cfg.Notify != nil {
		e.cfg.Notify("preparing " + cache.Title + ", once for this machine")
	}
	tmp, err := os.MkdirTemp(parent, "tmp-")
	if err != nil {
		return "", fmt.Errorf("make the cache directory: %w", err)
	}
	defer os.RemoveAll(tmp)
	content := filepath.Join(tmp, "content")
	if err := e.prepare(ctx, tc, cache, content); err != nil {
		return "", fmt.Errorf("prepare %s: %w", cache.Title, err)
	}
	return dir, os.Rename(content, dir)
}

// prepare fills a new directory. Others cannot reach it: its parent is ours
// alone, so that it may be open to the sandbox's user, whoever that is.
func (e *Executor) prepare(ctx context.Context, tc language.Toolchain, cache language.BuildCache, content string) error {
	if err := os.Mkdir(content, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(content)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Chmod(".", 0o777); err != nil { // past the umask
		return err
	}
	if err := e.fill(ctx, tc, cache, content); err != nil {
		return err
	}
	return openToReaders(root)
}

// fill runs the preparation. When it returns its container is gone.
func (e *Executor) fill(ctx context.Context, tc language.Toolchain, cache language.BuildCache, content string) (err error) {
	r := &run{e: e, toolchain: tc}
	r.lang, _, _ = language.Lookup(tc.Language)
	disk := diskLimit(e.cfg.CompileDiskBytes)
	c, err := e.manager.Create(ctx, sandbox.Spec{
		Mounts: append(append([]sandbox.Mount(nil), tc.Mounts...), sandbox.Mount{Source: content, Target: cache.Target, Writable: true}),
		Disk:   disk, BuildDisk: disk,
	})
	if err != nil {
		return err
	}
	r.container = c
	defer func() { err = errors.Join(err, e.manager.Delete(context.WithoutCancel(ctx), c.ID())) }()
	if r.workspace, err = c.Files(sandbox.WorkspaceDir); err != nil {
		return err
	}
	for name, text := range cache.Files {
		if err := r.workspace.WriteFile(name, bytes.NewReader(text), 0o644); err != nil {
			return err
		}
	}
	limits := e.cfg.Compile
	limits.WallTime *= 10 // all of a standard library, on a slow machine
	ph := r.phase(ctx, api.PhaseCompile, cache.Prepare, phaseInput{limits: limits, keep: 64 << 10})
	if err := ctx.Err(); err != nil {
		return err
	}
	if ph.verdict.status != api.StatusOK {
		return fmt.Errorf("%s: %s", ph.verdict.message, strings.TrimSpace(ph.lastWords()))
	}
	return nil
}

// openToReaders gives what the sandbox's user has made to us, and lets every
// later sandbox's user read it and put files beside it in a layer of its own.
// Nothing runs in it any more, and no name leads out of the root: a toolchain is
// not to be trusted either.
func openToReaders(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() && !entry.Type().IsRegular() {
			return root.Remove(name)
		}
		if err := takeOver(root, name); err != nil {
			return err
		}
		if entry.IsDir() {
			return root.Chmod(name, 0o777)
		}
		return root.Chmod(name, 0o644)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// versionCache remembers what programs said of their versions, in a file.
type versionCache struct {
	path string
	once sync.Once
	mu   sync.Mutex
	seen map[string]string
}

func newVersionCache(dataDir string) *versionCache {
	return &versionCache{path: filepath.Join(dataDir, "cache", "toolchains.json")}
}

// Get implements [language.Cache].
func (c *versionCache) Get(key string) (string, bool) {
	c.once.Do(c.load)
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.seen[key]
	return v, ok
}

// Put implements [language.Cache]. A cache that cannot be written is only slow.
func (c *versionCache) Put(key, value string) {
	c.once.Do(c.load)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[key] = value
	content, err := json.MarshalIndent(c.seen, "", "\t")
	if err != nil || os.MkdirAll(filepath.Dir(c.path), 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.path), "toolchains-")
	if err != nil {
		return
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), c.path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
}

func (c *versionCache) load() {
	c.seen = map[string]string{}
	if content, err := os.ReadFile(c.path); err == nil {
		_ = json.Unmarshal(content, &c.seen)
	}
	if c.seen == nil { // the file says null
		c.seen = map[string]string{}
	}
}

// noDataDir is the error of a data directory that cannot be made, as where HOME is
// the root of a container.
func noDataDir(err error) error {
	return fmt.Errorf("no place for what outlives a run: %w; set SANDBOX_DATA_DIR to a directory that you may write", err)
}
