package executor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// cacheMount is where the run's containers have a build cache. It is prepared when
// it is not there yet: once, by the toolchain alone and without any user's source, in
// a sandbox like every other.
func (r *run) cacheMount(ctx context.Context, cache language.BuildCache) (sandbox.Mount, error) {
	if r.toolchain.Image != "" { // one image has no say in what another finds
		cache.Key += fmt.Sprintf("-%x", sha256.Sum256([]byte(r.toolchain.Image)))[:17]
	}
	if r.img.Elsewhere {
		return r.keptCache(ctx, cache)
	}
	dir, err := r.buildCache(ctx, cache)
	return sandbox.Mount{Source: dir, Target: cache.Target, Overlay: true}, err
}

// buildCache returns the directory of a build cache. It is renamed into place when
// it is whole and never written again.
func (r *run) buildCache(ctx context.Context, cache language.BuildCache) (string, error) {
	if r.e.cfg.DataDir == "" {
		return "", fmt.Errorf("%s must be prepared, and there is no data directory to keep it in", cache.Title)
	}
	dir := r.e.cacheDir(cache.Key)
	if exists(dir) {
		return dir, nil
	}
	unlock, err := r.e.lockCache(ctx, cache.Key)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(dir) {
		return dir, nil // somebody else was quicker
	}
	r.e.notify("preparing " + cache.Title + ", once for this machine")
	tmp, discard, err := environments{filepath.Dir(dir)}.begin()
	if err != nil {
		return "", err
	}
	fault.Point("cache begun")
	defer discard()
	content := filepath.Join(tmp, "content")
	if err := r.prepare(ctx, cache, content); err != nil {
		return "", fmt.Errorf("prepare %s: %w", cache.Title, err)
	}
	fault.Point("cache filled")
	return dir, os.Rename(content, dir)
}

func (e *Executor) cacheDir(key string) string {
	return filepath.Join(e.cfg.DataDir, "cache", "build", key)
}

// lockCache makes sure that a cache is prepared once at a time on this machine.
func (e *Executor) lockCache(ctx context.Context, key string) (unlock func(), err error) {
	parent := filepath.Dir(e.cacheDir(key))
	if err := errors.Join(os.MkdirAll(filepath.Dir(parent), 0o711), os.MkdirAll(parent, 0o700)); err != nil {
		return nil, noDataDir(err)
	}
	return lockFile(ctx, e.cacheDir(key)+".lock")
}

func (e *Executor) notify(message string) {
	if e.cfg.Notify != nil {
		e.cfg.Notify(message)
	}
}

// prepare fills a new directory. Others cannot reach it: its parent is ours
// alone, so that it may be open to the sandbox's user, whoever that is.
func (r *run) prepare(ctx context.Context, cache language.BuildCache, content string) error {
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
	if err := r.fill(ctx, cache, sandbox.Mount{Source: content, Target: cache.Target, Writable: true}, nil); err != nil {
		return err
	}
	return openToReaders(root)
}

// fill runs the preparation, and done with what it has made. When it returns its
// container is gone.
func (r *run) fill(ctx context.Context, cache language.BuildCache, target sandbox.Mount, done func(sandbox.Container) error) (err error) {
	filler := &run{e: r.e, lang: r.lang, version: r.version, img: r.img, toolchain: r.toolchain}
	spec := r.root()
	spec.Tenant, spec.Level = "", "" // it is for all
	spec.Disk = diskLimit(r.e.cfg.CompileDiskBytes)
	spec.BuildDisk = spec.Disk
	spec.Mounts = append(slices.Clone(r.toolchain.Mounts), target)
	c, err := r.e.manager.Create(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.e.manager.Delete(context.WithoutCancel(ctx), c.ID())) }()
	if err := filler.prepareIn(ctx, c, cache); err != nil || done == nil {
		return err
	}
	return done(c)
}

// prepareIn runs the preparation in a container.
func (r *run) prepareIn(ctx context.Context, c sandbox.Container, cache language.BuildCache) (err error) {
	r.container = c
	if r.workspace, err = c.Files(sandbox.WorkspaceDir); err != nil {
		return err
	}
	for name, text := range cache.Files {
		if err := r.workspace.WriteFile(name, bytes.NewReader(text), 0o644); err != nil {
			return err
		}
	}
	limits := r.e.cfg.Compile
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

// unfinishedVersions begins the name of the file while it is written.
const unfinishedVersions = "toolchains-"

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
	tmp, err := os.CreateTemp(filepath.Dir(c.path), unfinishedVersions)
	if err != nil {
		return
	}
	fault.Point("versions begun")
	if unlock, locked := lockDir(tmp.Name(), false); locked == nil { // else it may be removed, and is written the next time
		defer unlock()
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
