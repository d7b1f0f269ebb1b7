package e2b

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// An instance is one Runtime. Its name is in the metadata of each sandbox that it
// makes, and it holds a file of that name locked in the runtime directory. A file
// that can be locked belongs to a process that died: its sandboxes are deleted.
type instance struct {
	name string
	dir  string
	file *os.File // nil without a directory
}

// The keys of a sandbox's metadata, and the end of an instance's file name.
const (
	labelInstance  = "sandbox-run-instance"
	labelContainer = "sandbox-run-container"
	instanceSuffix = ".e2b"
)

func newInstance(dir string) (*instance, error) {
	in := &instance{name: strings.ToLower(rand.Text()), dir: dir}
	if dir == "" {
		return in, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the runtime directory: %w", err)
	}
	f, err := lock(filepath.Join(dir, in.name+instanceSuffix), os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if errors.Is(err, lockfile.ErrHeld) {
		return newInstance(dir) // somebody has taken it for a dead one's
	}
	if err != nil {
		return nil, fmt.Errorf("take an instance: %w", err)
	}
	in.file = f
	return in, nil
}

// lock opens a file and holds it, if nobody else does. One that has lost its name
// before it was locked is another's.
func lock(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = lockfile.Try(f, true)
	if mine, opened := f.Stat(); err == nil && opened == nil {
		if named, gone := os.Lstat(name); gone != nil || !os.SameFile(mine, named) {
			err = lockfile.ErrHeld
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// release gives the instance up. Where something was left its file stays, so that
// another one looks after it.
func (in *instance) release(clean bool) {
	if in.file == nil {
		return
	}
	in.file.Close()
	if clean {
		os.Remove(in.file.Name())
	}
	in.file = nil
}

// reclaimOnce deletes what dead instances have left, at the first container. That
// it fails is no reason to run nothing: each sandbox has its own end.
func (r *Runtime) reclaimOnce(ctx context.Context) {
	r.mu.Lock()
	first := !r.reclaimed
	r.reclaimed = true
	r.mu.Unlock()
	if first {
		_, _ = r.Reclaim(ctx)
	}
}

// Reclaim deletes the sandboxes that dead instances with the same RuntimeDir have
// left, and tells how many.
func (r *Runtime) Reclaim(ctx context.Context) (deleted int, err error) {
	if r.instance.dir == "" {
		return 0, nil
	}
	files, err := filepath.Glob(filepath.Join(r.instance.dir, "*"+instanceSuffix))
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), instanceSuffix)
		if name == r.instance.name || !namePattern().MatchString(name) {
			continue
		}
		dead, err := lock(file, os.O_RDWR)
		if err != nil {
			continue // it is alive
		}
		n, err := r.deleteLabelled(ctx, labelInstance, name)
		deleted += n
		removed := err == nil && os.Remove(file) == nil // while it is locked: it may be one that is just being made
		dead.Close()
		if err == nil && !removed {
			err = os.Remove(file) // Windows removes nothing that is open
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return deleted, errors.Join(errs...)
}

// maxReclaimed bounds how many sandboxes of ours a list is believed to have, and
// maxPages how long it is followed.
const (
	maxReclaimed = 10_000
	maxPages     = 1000
)

// deleteLabelled deletes all sandboxes with a label.
func (r *Runtime) deleteLabelled(ctx context.Context, label, value string) (deleted int, err error) {
	metadata := url.Values{label: {value}}.Encode()
	query := url.Values{"metadata": {metadata}, "state": {"running,paused"}, "limit": {"100"}}
	var ids []string
	for pages := 0; len(ids) < maxReclaimed && pages < maxPages; pages++ {
		var page []struct {
			SandboxID string            `json:"sandboxID"`
			Metadata  map[string]string `json:"metadata"`
		}
		header, err := r.client.control(ctx, "list sandboxes", http.MethodGet, "/v2/sandboxes?"+query.Encode(), "", nil, &page)
		if err != nil {
			return 0, err
		}
		for _, s := range page {
			// A service that does not know the filter lists those of others.
			if s.Metadata[label] == value && namePattern().MatchString(s.SandboxID) {
				ids = append(ids, s.SandboxID)
			}
		}
		next := header.Get("X-Next-Token")
		if next == "" || next == query.Get("nextToken") || len(page) == 0 {
			break
		}
		query.Set("nextToken", next)
	}
	var errs []error
	for _, id := range ids {
		err := r.client.kill(ctx, id)
		errs = append(errs, err)
		if err == nil {
			deleted++
		}
	}
	return deleted, errors.Join(errs...)
}
