package kept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Scratch is an empty directory that one container writes, and that goes with it: a
// cache is filled in one. It is a [sandbox.FileTree] to be read.
type Scratch struct {
	store *Store
	way   string
	root  *os.Root
}

// Scratch makes one.
func (s *Store) Scratch() (*Scratch, error) {
	way, root, err := s.begin()
	if err != nil {
		return nil, err
	}
	return &Scratch{store: s, way: way, root: root}, nil
}

// Dir is its host path.
func (t *Scratch) Dir() string { return filepath.Join(t.store.dir, t.way, treeName) }

// Close removes it. Nothing may write to it any more.
func (t *Scratch) Close() error {
	return errors.Join(t.root.Close(), removeTree(t.Dir()), t.store.root.RemoveAll(t.way))
}

// scratchEvery is how often a scratch is looked at, and scratchRest how many times as
// long as a look took the next one waits at least.
const (
	scratchEvery = 200 * time.Millisecond
	scratchRest  = 10
)

// Watch calls over when the scratch holds more than a limit, until ctx is done. The
// directory is one of the host's, which has no limit of its own.
func (t *Scratch) Watch(ctx context.Context, limit sandbox.DiskLimit, over func(error)) {
	for wait := scratchEvery; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		begin := time.Now()
		if err := t.fits(limit); err != nil {
			over(err)
			return
		}
		wait = max(scratchEvery, scratchRest*time.Since(begin))
	}
}

func (t *Scratch) fits(limit sandbox.DiskLimit) error {
	bytes, names := int64(0), int64(0)
	tooMuch := fmt.Errorf("a cache that is filled holds more than %d bytes or %d files, or lies deeper than %d directories", limit.Bytes, limit.Inodes, maxDepth)
	err := t.Walk(int(limit.Inodes)+1, func(info sandbox.FileInfo) error {
		names++
		if info.Mode.IsRegular() {
			bytes += info.Size
		}
		// What is deeper is not walked, and so not counted.
		deep := info.Mode.IsDir() && strings.Count(info.Path, "/") >= maxDepth
		if names > limit.Inodes || bytes > limit.Bytes || deep {
			return tooMuch
		}
		return nil
	})
	if errors.Is(err, tooMuch) {
		return err
	}
	return nil // what vanishes in between is no reason
}

var errReadOnly = errors.New("this directory is the container's to write")

// WriteFile implements [sandbox.FileTree]: it refuses.
func (*Scratch) WriteFile(string, io.Reader, fs.FileMode) error { return errReadOnly }

// MkdirAll implements [sandbox.FileTree]: it refuses.
func (*Scratch) MkdirAll(string) error { return errReadOnly }

// Usage implements [sandbox.FileTree]: it is not known.
func (*Scratch) Usage() (sandbox.DiskUsage, error) { return sandbox.DiskUsage{}, nil }

// Open implements [sandbox.FileTree].
func (t *Scratch) Open(name string) (sandbox.File, error) {
	info, err := t.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		return nil, err
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(fmt.Errorf("%s has changed", name), err, f.Close())
	}
	return f, nil
}

// Walk implements [sandbox.FileTree]. It goes into directories as they were when
// they were listed, and no deeper than an archive may be.
func (t *Scratch) Walk(most int, visit func(sandbox.FileInfo) error) error {
	left := most
	return t.walk(".", 0, &left, visit)
}

func (t *Scratch) walk(dir string, depth int, left *int, visit func(sandbox.FileInfo) error) error {
	entries, err := t.list(dir, *left)
	if err != nil {
		if dir == "." {
			return err
		}
		return nil // it has vanished, or is none any more
	}
	for _, entry := range entries {
		if *left == 0 {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			continue
		}
		*left--
		name := path.Join(dir, entry.Name())
		if err := visit(sandbox.FileInfo{Path: name, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}); err != nil {
			return err
		}
		if info.IsDir() && depth < maxDepth {
			if err := t.walk(name, depth+1, left, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Scratch) list(dir string, most int) ([]fs.DirEntry, error) {
	info, err := t.root.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fs.ErrInvalid
	}
	if err != nil || most == 0 {
		return nil, err
	}
	f, err := t.root.OpenFile(dir, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}
