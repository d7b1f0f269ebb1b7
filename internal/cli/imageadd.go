package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandbox-run/sandbox-run/internal/image"
)

// imagePull gets images, one after the other. One that cannot be had does not keep
// the others away.
func (a *app) imagePull(args []string) (int, error) {
	f := &imageFlags{}
	help, err := a.parseImage("image pull", f, args)
	if err != nil || help {
		return exitOK, err
	}
	if len(f.Refs) == 0 {
		return 0, usageError{errors.New("image pull needs the name of an image, such as python:3.12-slim")}
	}
	stop := newStopper()
	defer stop.release()
	progress := a.newImageProgress(stop)
	store, err := a.openImages(progress.show)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	var pulled []image.Image
	code, err := a.forEach(stop, f.Refs, func(ref string) error {
		img, err := store.Pull(stop.ctx, ref)
		progress.erase()
		if err == nil {
			pulled = append(pulled, img)
		}
		return err
	})
	return a.tellImages(pulled, f.JSON, code, err)
}

// tellImages prints what has been added, also where something went wrong after it.
func (a *app) tellImages(added []image.Image, asJSON bool, code int, err error) (int, error) {
	var printed error
	switch {
	case asJSON && (len(added) > 0 || err == nil):
		printed = a.printJSON(map[string]any{"images": imageRows(added)})
	case !asJSON:
		printed = a.print(imageLines(added))
	}
	if err != nil {
		return code, err
	}
	return code, printed
}

// imageImport takes images from a file.
func (a *app) imageImport(args []string) (int, error) {
	f := &imageImportFlags{}
	help, err := a.parseImage("image import", f, args)
	if err != nil || help {
		return exitOK, err
	}
	if err := f.check(isTerminal(a.stdin)); err != nil {
		return 0, usageError{err}
	}
	stop := newStopper()
	defer stop.release()
	progress := a.newImageProgress(stop)
	store, err := a.openImages(progress.show)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	images, err := a.importFrom(stop.ctx, store, f)
	progress.erase()
	if err != nil && stop.signal() != nil {
		err = errQuiet{signalCode(stop.signal())}
	}
	for _, img := range images {
		if len(img.Names) == 0 {
			fmt.Fprintf(a.stderr, "sandbox-run: image %s has no name, and sandbox-run gc removes what has none: --name gives it one\n", shortDigest(img))
		}
	}
	return a.tellImages(images, f.JSON, exitOK, imageError(err))
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
	help, err := a.parseImage("image build-default", f, args)
	if err != nil || help {
		return exitOK, err
	}
	stop := newStopper()
	defer stop.release()
	store, err := a.openImages(nil)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	img, err := store.BuildDefault(stop.ctx, cmp.Or(f.Name, image.DefaultName), image.DefaultOptions{Suite: f.Suite, Mirrors: f.Mirror, Log: a.stderr})
	switch {
	case err != nil && stop.signal() != nil:
		return 0, errQuiet{signalCode(stop.signal())}
	case err != nil:
		return 0, imageError(err)
	}
	return a.tellImages([]image.Image{img}, f.JSON, exitOK, nil)
}
