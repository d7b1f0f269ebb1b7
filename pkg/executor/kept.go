package executor

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// keeper is the runtime, where it keeps directories for the run's image that
// others would be given from this host.
func (r *run) keeper() (sandbox.Keeper, bool) {
	keeper, ok := r.e.runtime.(sandbox.Keeper)
	return keeper, ok && r.img.Elsewhere
}

// keptCache is a build cache that the runtime keeps. Where it keeps nothing, each
// run begins with an empty one.
func (r *run) keptCache(ctx context.Context, cache language.BuildCache) (sandbox.Mount, error) {
	empty := sandbox.Mount{Target: cache.Target, Overlay: true}
	keeper, ok := r.keeper()
	if !ok {
		return empty, nil
	}
	mount := sandbox.Mount{Kept: cache.Key, Target: cache.Target, Overlay: true}
	if have, err := keeper.Kept(ctx, r.root(), cache.Key); have || err != nil {
		return mount, err
	}
	if r.e.cfg.DataDir != "" {
		unlock, err := r.e.lockCache(ctx, cache.Key)
		if err != nil {
			return mount, err
		}
		defer unlock()
		if have, err := keeper.Kept(ctx, r.root(), cache.Key); have || err != nil {
			return mount, err
		}
	}
	r.e.notify("preparing " + cache.Title + ", once for " + r.img.Name)
	err := r.fill(ctx, cache, func(tree sandbox.FileTree) error {
		return keep(ctx, keeper, r.root(), sandbox.KeptDir{Name: cache.Key}, func(w *tar.Writer) error { return archiveCache(w, tree, r.e.cfg.CompileDiskBytes) })
	})
	if err != nil {
		err = fmt.Errorf("prepare %s: %w", cache.Title, err)
	}
	return mount, err
}

// dirMount is the mount of a directory of this host, read-only; where containers
// cannot have one, the runtime keeps a copy of it.
func (r *run) dirMount(ctx context.Context, kept sandbox.KeptDir, dir, target string) (sandbox.Mount, error) {
	keeper, ok := r.keeper()
	if !ok {
		return sandbox.Mount{Source: dir, Target: target}, nil
	}
	mount := sandbox.Mount{Kept: kept.Name, Target: target}
	if have, err := keeper.Kept(ctx, r.root(), kept.Name); have || err != nil {
		return mount, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return mount, err
	}
	defer root.Close()
	return mount, keep(ctx, keeper, r.root(), kept, func(w *tar.Writer) error { return archiveDir(w, root) })
}

// keptTries is how often something may be gone that was there a moment before.
const keptTries = 3

// withKept does what has something kept and makes a container with it. What is there may make
// room for another run's before the container has it, and is brought again then.
func withKept(do func() error) (err error) {
	for range keptTries {
		if err = do(); !errors.Is(err, sandbox.ErrNotKept) {
			break
		}
	}
	return err
}

// archiveDir writes a directory of ours.
func archiveDir(w *tar.Writer, root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = root.Readlink(name); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		h.Name, h.Uid, h.Gid, h.Uname, h.Gname = name, 0, 0, "", ""
		if info.IsDir() {
			h.Name += "/"
		}
		if !info.Mode().IsRegular() {
			return w.WriteHeader(h)
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return archiveFile(w, h, f)
	})
}

// keep has the runtime keep an archive while it is written.
func keep(ctx context.Context, keeper sandbox.Keeper, spec sandbox.Spec, dir sandbox.KeptDir, write func(*tar.Writer) error) error {
	read, pipe := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		w := tar.NewWriter(pipe)
		err := write(w)
		if err == nil {
			err = w.Close()
		}
		wrote <- err
		_ = pipe.CloseWithError(err) // always nil
	}()
	err := keeper.Keep(ctx, spec, dir, read)
	_ = read.CloseWithError(errors.New("the runtime has read enough")) // always nil
	return errors.Join(err, unlessRead(<-wrote, err))
}

// unlessRead is the writer's error, if the reader had no reason to stop it.
func unlessRead(wrote, read error) error {
	if read != nil {
		return nil
	}
	return wrote
}

// archiveCache writes the directories and regular files of a cache in a build directory.
func archiveCache(w *tar.Writer, tree sandbox.FileTree, most int64) error {
	return walkMade(tree, prepared, most, func(name string, info sandbox.FileInfo) error {
		if info.Mode.IsDir() {
			return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: info.ModTime})
		}
		f, err := tree.Open(info.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		return archiveFile(w, &tar.Header{Name: name, Mode: int64(info.Mode.Perm()&0o111 | 0o644), Size: info.Size, ModTime: info.ModTime}, f)
	})
}

func archiveFile(w *tar.Writer, h *tar.Header, content io.Reader) error {
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.CopyN(w, content, h.Size)
	return err
}
