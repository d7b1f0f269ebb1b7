package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What is kept lies in an image of its own, on top of the prepared one: an engine
// makes an image at once or not at all, shares its files between containers, and gives
// each container inodes of its own, which a volume would not.

// keptDir holds what is kept, in a directory by the hash of each name: names may have
// any character.
const keptDir = ownDir + "/kept"

func keptPlace(name string) string { return path.Join(keptDir, hashOf(name)) }

// keptImage is img with what is kept under a name.
func keptImage(img image, name string) image {
	img.name = imageName(keptImages, img.base, name)
	return img
}

// Kept implements [sandbox.Keeper].
func (r *Runtime) Kept(ctx context.Context, spec sandbox.Spec, name string) (bool, error) {
	img, err := r.find(ctx, spec)
	if err != nil {
		return false, err
	}
	img = keptImage(img, name)
	have, err := r.has(ctx, &img)
	return have && !img.endsSoon(), err
}

// Keep implements [sandbox.Keeper]. What was kept under the name before goes on in the
// containers that have it.
func (r *Runtime) Keep(ctx context.Context, spec sandbox.Spec, dir sandbox.KeptDir, content io.Reader) error {
	img, err := r.find(ctx, spec)
	if err != nil {
		return err
	}
	if err := r.ready(ctx, r.ref(spec), &img); err != nil {
		return err
	}
	kept := keptImage(img, dir.Name)
	kept.bytes = dir.Bytes
	if dir.Lifetime > 0 {
		kept.until = time.Now().Add(dir.Lifetime)
	}
	err = r.derive(ctx, img.name, kept, "kept", func(ctx context.Context, id string) error {
		read, write := io.Pipe()
		rewritten := make(chan error, 1)
		go func() {
			err := rewrite(write, content, keptPlace(dir.Name))
			rewritten <- err
			_ = write.CloseWithError(err) // always nil
		}()
		err := r.copyTo(ctx, id, read)
		_ = read.CloseWithError(io.ErrClosedPipe) // always nil
		// An engine may end with the last file, and not read on to the end.
		if bad := <-rewritten; bad != nil && !errors.Is(bad, io.ErrClosedPipe) {
			return fmt.Errorf("keep a directory: %w", bad)
		}
		return err
	})
	if err == nil && dir.Lifetime > 0 {
		_, _ = r.prune(ctx, kept.name) // gc says what is in the way
	}
	return err
}

// The most that is kept under one name. More files than that are no layer, either.
const (
	maxKeptBytes = 4 << 30
	maxKeptFiles = 1 << 20
)

// rewrite copies an archive of which only files, directories and links are taken, below dir,
// as root's, whom programs are not.
func rewrite(to io.Writer, from io.Reader, dir string) error {
	in, out := tar.NewReader(from), tar.NewWriter(to)
	a := &archive{out: out, made: map[string]bool{"/": true}, links: map[string]bool{}}
	if err := a.dirs(dir); err != nil {
		return err
	}
	for files, size := 0, int64(0); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		files++
		size += h.Size
		if files > maxKeptFiles || size > maxKeptBytes {
			return fmt.Errorf("it has more than %d files or %d bytes", maxKeptFiles, int64(maxKeptBytes))
		}
		if err := a.add(h, in, dir); err != nil {
			return err
		}
	}
}

// archive writes files below directories that are there once.
type archive struct {
	out  *tar.Writer
	made map[string]bool

	links map[string]bool
}

// add adds an entry of another archive, whose name cannot lead out of dir.
func (a *archive) add(h *tar.Header, content io.Reader, dir string) error {
	name := path.Join(dir, path.Clean("/"+h.Name))
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		return a.dirs(name)
	case tar.TypeSymlink:
		a.links[name] = true
		return a.link(name, h.Linkname)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%q is neither a file nor a directory nor a symbolic link", h.Name)
	}
	if err := a.dirs(path.Dir(name)); err != nil {
		return err
	}
	own := &tar.Header{Typeflag: tar.TypeReg, Name: name[1:], Mode: 0o644 | h.Mode&0o111, Size: h.Size, ModTime: h.ModTime}
	if err := a.out.WriteHeader(own); err != nil {
		return err
	}
	_, err := io.CopyN(a.out, content, h.Size)
	return err
}

// dirs adds a directory and those above it.
func (a *archive) dirs(dir string) error {
	if a.made[dir] {
		return nil
	}
	if err := a.dirs(path.Dir(dir)); err != nil {
		return err
	}
	if a.links[dir] {
		return fmt.Errorf("%q is a symbolic link, and something lies below it", dir)
	}
	a.made[dir] = true
	return a.out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755})
}

// link adds a symbolic link.
func (a *archive) link(name, to string) error {
	if err := a.dirs(path.Dir(name)); err != nil {
		return err
	}
	return a.out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name[1:], Linkname: to, Mode: 0o777})
}

// withKept is img with the kept mounts of a container, and the layers that it needs:
// what is kept is written to by a directory of links, and read where a link of the
// image leads to it.
func (r *Runtime) withKept(ctx context.Context, mounts []sandbox.Mount, img image) (image, error) {
	prepared := img
	img.links = map[string]string{}
	for _, m := range mounts {
		if m.Kept == "" {
			continue
		}
		if m.Optional {
			part := keptImage(prepared, m.Kept)
			if have, err := r.has(ctx, &part); err != nil {
				return image{}, err
			} else if !have {
				continue
			}
		}
		if !slices.Contains(img.kept, m.Kept) {
			img.kept = append(img.kept, m.Kept)
		}
		if place, target := keptPlace(m.Kept), path.Clean(m.Target); m.Overlay {
			img.layers = append(img.layers, guest.Layer{Source: place, Target: target})
		} else {
			img.links[target] = place
		}
	}
	switch {
	case len(img.kept) == 1 && len(img.links) == 0:
		img.name = keptImage(prepared, img.kept[0]).name
	case len(img.kept) > 0:
		key := append([]string{img.base}, img.kept...)
		for _, target := range slices.Sorted(maps.Keys(img.links)) {
			key = append(key, target, img.links[target])
		}
		img.name = imageName(keptImages, key...)
	}
	return img, nil
}

// join makes the image of several kept directories, and of links to them.
func (r *Runtime) join(ctx context.Context, img image) error {
	prepared := preparedImage(img.base)
	return r.derive(ctx, keptImage(prepared, img.kept[0]).name, img, "kept", func(ctx context.Context, id string) error {
		for _, name := range img.kept[1:] {
			if err := r.copyKept(ctx, keptImage(prepared, name).name, keptPlace(name), id); err != nil {
				return err
			}
		}
		var b strings.Builder
		a := &archive{out: tar.NewWriter(&b), made: map[string]bool{"/": true}}
		for name, to := range img.links {
			if err := r.findDirs(ctx, id, path.Dir(name), a.made); err != nil {
				return err
			}
			if err := a.link(name, to); err != nil {
				return err
			}
		}
		if err := a.out.Close(); err != nil {
			return err
		}
		return r.copyTo(ctx, id, strings.NewReader(b.String()))
	})
}

// findDirs adds those of a directory and the ones above it that a container has,
// which may be links to others.
func (r *Runtime) findDirs(ctx context.Context, id, dir string, have map[string]bool) error {
	for ; dir != "/"; dir = path.Dir(dir) {
		_, err := r.client.ContainerStatPath(ctx, id, client.ContainerStatPathOptions{Path: dir})
		if err != nil && !errdefs.IsNotFound(err) {
			return r.failed("look at "+dir+" of an image", err)
		}
		have[dir] = err == nil
	}
	return nil
}

// copyKept copies a kept directory of one image to a container of another.
func (r *Runtime) copyKept(ctx context.Context, from, dir, to string) error {
	source, remove, err := r.still(ctx, from, map[string]string{labelOurs: "read"})
	if err != nil {
		return err
	}
	defer remove()
	got, err := r.client.CopyFromContainer(ctx, source, client.CopyFromContainerOptions{SourcePath: dir})
	if err != nil {
		return r.failed("read what is kept", err)
	}
	defer got.Content.Close()
	_, err = r.client.CopyToContainer(ctx, to, client.CopyToContainerOptions{DestinationPath: path.Dir(dir), Content: got.Content})
	return r.failed("copy what is kept", err)
}
