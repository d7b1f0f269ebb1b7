package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// copies are the copies of this program in a data directory, one for each
// version that was run. A run holds a shared lock of the copy that it uses, so
// that who removes those of other versions can tell; who makes or removes one
// holds the lock of them all.
type copies struct {
	dir     string
	program string // this one
	name    string // of its copy
}

func newCopies(dataDir string) (copies, error) {
	program, err := os.Executable()
	if err != nil {
		return copies{}, fmt.Errorf("find this program: %w", err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return copies{}, fmt.Errorf("find this program: %w", err)
	}
	return copies{
		dir: filepath.Join(dataDir, "tools"), program: program,
		name: fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()),
	}, nil
}

// selfMount brings this program into a container whose compile step needs it.
// It is a copy: the file that is installed on the host is not what a container
// could ever reach (CVE-2019-5736). Nobody removes it until release is called.
func (r *run) selfMount(ctx context.Context) (mount sandbox.Mount, release func(), err error) {
	if r.e.cfg.DataDir == "" {
		return sandbox.Mount{}, nil, errors.New("the TypeScript compiler needs a data directory")
	}
	c, err := newCopies(r.e.cfg.DataDir)
	if err != nil {
		return sandbox.Mount{}, nil, err
	}
	if release, err = c.hold(); err != nil { // it is not there, or about to go
		release, err = c.create(ctx)
	}
	if err != nil {
		return sandbox.Mount{}, nil, fmt.Errorf("copy this program for the sandbox: %w", err)
	}
	if mount, err = r.dirMount(ctx, sandbox.KeptDir{Name: "tools-" + c.name}, c.own(), path.Dir(language.SelfPath)); err != nil {
		release()
		return sandbox.Mount{}, nil, err
	}
	return mount, release, nil
}

// own is the directory of this program's copy.
func (c copies) own() string { return filepath.Join(c.dir, c.name) }

// hold keeps this program's copy from being removed.
func (c copies) hold() (release func(), err error) {
	if release, err = lockDir(c.own(), false); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(c.own(), path.Base(language.SelfPath))); err != nil {
		release() // it was removed half
		return nil, err
	}
	return release, nil
}

// create makes this program's copy and holds it. It is a new version that does
// so, and time to remove the old ones.
func (c copies) create(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, noDataDir(err)
	}
	unlock, err := lockFile(ctx, c.dir+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if release, err = c.hold(); err == nil {
		return release, nil // somebody else was quicker
	}
	if err := c.write(); err != nil {
		return nil, err
	}
	_, _ = c.removeOthers() // gc says what is in the way
	return c.hold()
}

// write makes the directory in one step, so that nobody sees half of it.
func (c copies) write() error {
	tmp, err := os.MkdirTemp(c.dir, "tmp-")
	if err != nil {
		return err
	}
	fault.Point("copy begun")
	defer os.RemoveAll(tmp)
	from, err := os.Open(c.program)
	if err != nil {
		return err
	}
	defer from.Close()
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return err
	}
	err = writeFile(root, path.Base(language.SelfPath), from, 0o755)
	if err == nil {
		err = errors.Join(root.Chmod(".", 0o755), lockfile.SyncDisk(root)) // past the umask
	}
	// What stands there was removed half.
	if err := errors.Join(err, root.Close(), os.RemoveAll(c.own())); err != nil {
		return err
	}
	fault.Point("copy made")
	return os.Rename(tmp, c.own())
}

// removeOthers removes what is not this program's copy and not in use: copies of
// other versions, and halves of copies. It names what it removed.
func (c copies) removeOthers() (removed []string, err error) {
	return removeUnheld(c.dir, func(name string) bool { return name != c.name })
}

// removeUnheld removes what a directory has of such names and nobody holds: what is in use,
// or being made, stays. It names what it removed. A directory that is not there has nothing.
func removeUnheld(dir string, which func(name string) bool) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if !which(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		unlock, locked := lockDir(path, true)
		if locked != nil {
			continue // somebody uses it, or is making it
		}
		if failed := os.RemoveAll(path); failed != nil {
			err = errors.Join(err, failed)
		} else {
			removed = append(removed, path)
		}
		unlock()
	}
	return removed, err
}

// Reclaim removes what a data directory holds and nothing needs any more: copies
// of other versions of this program, and installed packages, that no run uses, what
// compilers have made more than a day ago, build caches that no run has used for a month, and
// halves of what a killed process was making. It names what it removed.
func Reclaim(ctx context.Context, dataDir string) (removed []string, err error) {
	removed, err = reclaimCopies(ctx, dataDir)
	e := &Executor{cfg: Config{DataDir: dataDir}}
	old, oldErr := e.environments().prune("")
	caches, cachesErr := reclaimUnfinished(e.cachesDir(), unfinished)
	unused, unusedErr := e.reclaimCaches()
	versions, versionsErr := reclaimUnfinished(filepath.Dir(newVersionCache(dataDir).path), unfinishedVersions)
	made := newArtefacts(dataDir, 1)
	compiled, compiledErr := reclaimUnfinished(made.dir, unfinished)
	stale, staleErr := made.removeStale()
	return slices.Concat(removed, old, caches, unused, versions, compiled, stale),
		errors.Join(err, oldErr, cachesErr, unusedErr, versionsErr, compiledErr, staleErr)
}

// reclaimUnfinished removes what processes were making when they died, and nobody holds:
// all of a directory whose name begins so.
func reclaimUnfinished(dir, prefix string) (removed []string, err error) {
	return removeUnheld(dir, func(name string) bool {
		_, ok := strings.CutPrefix(name, prefix)
		return ok
	})
}

func reclaimCopies(ctx context.Context, dataDir string) (removed []string, err error) {
	c, err := newCopies(dataDir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(c.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	unlock, err := lockFile(ctx, c.dir+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	return c.removeOthers()
}
