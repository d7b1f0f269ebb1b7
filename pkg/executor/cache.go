package executor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// cacheMount is where the run's containers have a build cache. It is prepared when
// it is not there yet: once, by the toolchain alone and without any user's source, in
// a sandbox like every other.
func (r *run) cacheMount(ctx context.Context, cache language.BuildCache) (sandbox.Mount, error) {
	if r.toolchain.Image != "" { // it has no say in what others find, nor in what a file is called
		cache.Key = fmt.Sprintf("image-%x", sha256.Sum256(fmt.Appendf(nil, "%q %q", r.toolchain.Image, cache.Key)))[:imageKey]
	}
	if r.img.Elsewhere {
		return r.keptCache(ctx, cache)
	}
	dir, err := r.buildCache(ctx, cache)
	return sandbox.Mount{Source: dir, Target: cache.Target, Overlay: true, OverlayOptional: cache.OverlayOptional}, err
}

// imageKey is the length of the key of an image's cache: 128 bits of a hash.
const imageKey = len("image-") + 32

// buildCache returns the directory of a build cache. It is renamed into place when
// it is whole and never written again.
func (r *run) buildCache(ctx context.Context, cache language.BuildCache) (string, error) {
	if r.e.cfg.DataDir == "" {
		return "", fmt.Errorf("%s must be prepared, and there is no data directory to keep it in", cache.Title)
	}
	dir, err := r.e.cacheDir(cache.Key)
	if err != nil {
		return dir, err
	}
	if info, err := os.Stat(dir + cacheLock); err == nil && time.Since(info.ModTime()) > cacheUsed {
		now := time.Now()
		_ = environments{filepath.Dir(dir)}.change(func(root *os.Root) error { // else it is removed sooner, and made again
			return root.Chtimes(cache.Key+cacheLock, now, now)
		})
	}
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

// cacheKey is what the key of a cache looks like: the name of a file.
var cacheKey = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$`)

func (e *Executor) cachesDir() string { return filepath.Join(e.cfg.DataDir, "cache", "build") }

func (e *Executor) cacheDir(key string) (string, error) {
	if !cacheKey().MatchString(key) {
		return "", fmt.Errorf("%.80q cannot be the name of a build cache", key)
	}
	return filepath.Join(e.cachesDir(), key), nil
}

// lockCache makes sure that a cache is prepared once at a time on this machine.
func (e *Executor) lockCache(ctx context.Context, key string) (unlock func(), err error) {
	dir, err := e.cacheDir(key)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(dir)
	if err := errors.Join(os.MkdirAll(filepath.Dir(parent), 0o711), os.MkdirAll(parent, 0o700)); err != nil {
		return nil, noDataDir(err)
	}
	return lockFile(ctx, dir+cacheLock)
}

const (
	// cacheLock ends the name of a cache's lock, whose time is that of its last use.
	cacheLock = ".lock"
	// unusedCache is the age from which a cache is taken for one of a toolchain, or of an
	// image, that there is no more.
	unusedCache = 30 * 24 * time.Hour
	// cacheUsed is how old a lock's time may be without being written anew.
	cacheUsed = 24 * time.Hour
)

// reclaimCaches removes what no run has used for long, and names it.
func (e *Executor) reclaimCaches() (removed []string, err error) {
	locks, err := filepath.Glob(filepath.Join(e.cachesDir(), "*"+cacheLock))
	for _, lock := range locks {
		info, failed := os.Stat(lock)
		dir := strings.TrimSuffix(lock, cacheLock)
		if failed != nil || time.Since(info.ModTime()) < unusedCache || !exists(dir) {
			continue
		}
		unlock, locked := lockDir(lock, true)
		if locked != nil {
			continue // somebody prepares it
		}
		going := filepath.Join(e.cachesDir(), unfinished+filepath.Base(dir)) // a half is taken for none
		if failed := errors.Join(os.Rename(dir, going), os.RemoveAll(going)); failed != nil {
			err = errors.Join(err, failed)
		} else {
			removed = append(removed, dir)
		}
		unlock()
	}
	return removed, err
}

func (e *Executor) notify(message string) {
	if e.cfg.Notify != nil {
		e.cfg.Notify(message)
	}
}

// prepare fills a new directory, which is on the disk then. Others cannot reach it: its
// parent is ours alone, so that it may be open to the sandbox's user, whoever that is.
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
	err = r.fill(ctx, cache, func(tree sandbox.FileTree) error { return copyCache(tree, root, r.e.cfg.CompileDiskBytes) })
	if err != nil {
		return err
	}
	return lockfile.SyncDisk(root)
}

// fill runs the preparation, and done with the build directory in which it has made
// [language.PreparedDir]. When it returns its container is gone.
func (r *run) fill(ctx context.Context, cache language.BuildCache, done func(sandbox.FileTree) error) (err error) {
	filler := &run{e: r.e, lang: r.lang, version: r.version, img: r.img, toolchain: r.toolchain}
	spec := r.root()
	spec.Tenant, spec.Level = "", "" // it is for all
	spec.Disk = diskLimit(r.e.cfg.CompileDiskBytes)
	spec.BuildDisk, spec.MemoryBytes = spec.Disk, r.e.cfg.Compile.MemoryBytes
	spec.Mounts = r.toolchain.Mounts
	c, err := r.e.manager.Create(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.e.manager.Delete(context.WithoutCancel(ctx), c.ID())) }()
	tree, err := c.Files(sandbox.BuildDir)
	if err == nil {
		err = tree.MkdirAll(prepared)
	}
	if err == nil {
		err = filler.prepareIn(ctx, c, cache)
	}
	if err != nil {
		return err
	}
	return done(tree)
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

// maxMadeNames bounds a walk over what a toolchain has made: more than its disk has room
// for, hard links apart.
const maxMadeNames = 1 << 20

// walkMade visits the directories and regular files below a directory of a tree that a
// compiler or an installer has written, with their names there: no more bytes than its disk
// had room for, whoever has the tree. A toolchain is not to be trusted either.
func walkMade(tree sandbox.FileTree, dir string, most int64, visit func(name string, info sandbox.FileInfo) error) error {
	seen, total := 0, int64(0)
	return tree.Walk(maxMadeNames, func(info sandbox.FileInfo) error {
		if seen++; seen == maxMadeNames {
			return fmt.Errorf("more than %d files", maxMadeNames)
		}
		name, found := strings.CutPrefix(info.Path, dir+"/")
		if !found || !info.Mode.IsDir() && !info.Mode.IsRegular() {
			return nil
		}
		if info.Size < 0 || info.Size > most-total { // a sum of them may be no number any more
			return fmt.Errorf("more than %s", sandbox.FormatBytes(most))
		}
		total += info.Size
		return visit(name, info)
	})
}

// prepared is [language.PreparedDir] in the tree of the build directory.
var prepared = path.Base(language.PreparedDir)

// copyCache copies a cache out of the build directory, with the times of its files. Every
// later sandbox's user may read it, and put files beside it in a layer of its own.
func copyCache(tree sandbox.FileTree, root *os.Root, most int64) error {
	return walkMade(tree, prepared, most, func(name string, info sandbox.FileInfo) error {
		if info.Mode.IsDir() {
			return errors.Join(root.Mkdir(name, 0o777), root.Chmod(name, 0o777)) // past the umask
		}
		f, err := tree.Open(info.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		return errors.Join(writeFile(root, name, io.LimitReader(f, info.Size), 0o644), root.Chtimes(name, info.ModTime, info.ModTime))
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
// the root of a container, or in which there is no room.
func noDataDir(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("no place for what outlives a run: %w; make room there, or set SANDBOX_DATA_DIR to a directory elsewhere", err)
	}
	return fmt.Errorf("no place for what outlives a run: %w; set SANDBOX_DATA_DIR to a directory that you may write", err)
}
