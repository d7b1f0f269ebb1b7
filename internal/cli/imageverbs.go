package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// imagePull gets images.
func (a *app) imagePull(args []string) (int, error) {
	var pulled []image.Image
	return a.eachImage("image pull", "the name of an image, such as python:3.12-slim", args,
		func(s imageStore, ref string) error {
			img, err := s.Pull(s.stop.ctx, ref)
			if err == nil {
				pulled = append(pulled, img)
			}
			return err
		},
		func(asJSON, _ bool) error { return a.tellImages(pulled, asJSON) })
}

// imageRemove removes images.
func (a *app) imageRemove(args []string) (int, error) {
	var removed []string
	return a.eachImage("image rm", "the name or the digest of an image: sandbox-run image ls shows both", args,
		func(s imageStore, ref string) error {
			err := s.Remove(s.stop.ctx, ref)
			if err == nil {
				removed = append(removed, ref)
			}
			return err
		},
		func(asJSON, failed bool) error { return a.tellRemoved(removed, asJSON, !failed) })
}

// tellImages prints what has been added.
func (a *app) tellImages(added []image.Image, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]any{"images": imageRows(added)})
	}
	return a.print(imageLines(added))
}

// imageList lists the images, if there is a store.
func (a *app) imageList(args []string) (int, error) {
	f := &listFlags{}
	help, err := a.parseVerb("image ls", f, args)
	if err != nil || help {
		return exitOK, err
	}
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	var images []image.Image
	if hasImages(cfg.DataDir) {
		store, err := openStore(cfg.DataDir, nil)
		if err != nil {
			return 0, err
		}
		defer store.Close()
		if images, err = store.List(); err != nil {
			return 0, err
		}
	}
	if f.JSON {
		return exitOK, a.printJSON(map[string]any{"images": imageRows(images)})
	}
	return exitOK, a.print(imageTable(images))
}

// imageImport takes images from a file.
func (a *app) imageImport(args []string) (int, error) {
	f := &imageImportFlags{}
	help, err := a.parseVerb("image import", f, args)
	if err != nil || help {
		return exitOK, err
	}
	if err := f.check(isTerminal(a.stdin)); err != nil {
		return 0, usageError{err}
	}
	return a.withImages(true, func(s imageStore) (int, error) {
		images, err := a.importFrom(s.stop.ctx, s.Store, f)
		s.progress.erase()
		for _, img := range images {
			if len(img.Names) == 0 {
				fmt.Fprintf(a.stderr, "sandbox-run: image %s has no name, and sandbox-run gc removes what has none: --name gives it one\n", shortDigest(img))
			}
		}
		if err != nil && len(images) == 0 {
			return 0, err
		}
		if told := a.tellImages(images, f.JSON); err == nil { // those before the one that failed, too
			err = told
		}
		return exitOK, err
	})
}

// check refuses what cannot be imported, before anything is made for it.
func (f *imageImportFlags) check(fromTerminal bool) error {
	switch {
	case f.Path == "":
		return errors.New("image import needs an OCI layout, an archive of docker save or - for standard input")
	case f.Rootfs && f.Name == "":
		return errors.New("--rootfs needs --name REF: a root file system has no name of its own")
	case f.Path == "-" && fromTerminal:
		return errors.New("standard input is a terminal, and no archive comes from there")
	case f.Path == "-":
		return nil
	}
	info, err := os.Stat(f.Path)
	if err == nil && f.Rootfs && info.IsDir() {
		err = fmt.Errorf("%s is a directory, and --rootfs takes an archive: tar -C %s -c . | sandbox-run image import --rootfs --name %s -", f.Path, f.Path, f.Name)
	}
	return err
}

func (a *app) importFrom(ctx context.Context, store *image.Store, f *imageImportFlags) ([]image.Image, error) {
	if !f.Rootfs {
		if f.Path == "-" {
			return store.Import(ctx, "/dev/stdin", f.Name)
		}
		return store.Import(ctx, f.Path, f.Name)
	}
	archive := io.Reader(a.stdin)
	if f.Path != "-" {
		file, err := os.Open(f.Path)
		if err != nil {
			return nil, usageError{err}
		}
		defer file.Close()
		archive = file
	}
	img, err := store.ImportTree(ctx, f.Name, archive, image.Config{Env: []string{image.DefaultPath}})
	if err != nil {
		return nil, err
	}
	return []image.Image{img}, nil
}

// imageBuild makes the default image. What mmdebstrap says comes as it is: it
// knows terminals.
func (a *app) imageBuild(args []string) (int, error) {
	f := &imageBuildFlags{}
	help, err := a.parseVerb("image build-default", f, args)
	if err != nil || help {
		return exitOK, err
	}
	return a.withImages(false, func(s imageStore) (int, error) {
		img, err := s.BuildDefault(s.stop.ctx, cmp.Or(f.Name, image.DefaultName), image.DefaultOptions{Suite: f.Suite, Mirrors: f.Mirror, Log: a.stderr})
		if err != nil {
			return 0, err
		}
		return exitOK, a.tellImages([]image.Image{img}, f.JSON)
	})
}

// reclaimImages removes what interrupted pulls have left, and images that have no
// name any more.
func reclaimImages(ctx context.Context, dataDir string) ([]string, error) {
	if !hasImages(dataDir) {
		return nil, nil
	}
	store, err := openStore(dataDir, nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	removed := store.Reclaimed()
	images, err := store.GC(ctx)
	for _, img := range images {
		removed = append(removed, fmt.Sprintf("image %s, which had no name (%s)", shortDigest(img), sandbox.FormatBytes(img.Bytes)))
	}
	return removed, err
}
