package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandbox-run/sandbox-run/internal/image"
)

// imageList lists the images, if there is a store.
func (a *app) imageList(args []string) (int, error) {
	f := &listFlags{}
	help, err := a.parseImage("image ls", f, args)
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

// imageRemove removes images. One that stays does not keep the others.
func (a *app) imageRemove(args []string) (int, error) {
	f := &imageFlags{}
	help, err := a.parseImage("image rm", f, args)
	if err != nil || help {
		return exitOK, err
	}
	if len(f.Refs) == 0 {
		return 0, usageError{errors.New("image rm needs the name or the digest of an image: sandbox-run image ls shows both")}
	}
	stop := newStopper()
	defer stop.release()
	store, err := a.openImages(nil)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	var removed []string
	code, err := a.forEach(stop, f.Refs, func(ref string) error {
		err := store.Remove(stop.ctx, ref)
		if err == nil {
			removed = append(removed, ref)
		}
		return err
	})
	if err == nil {
		err = a.tellRemoved(removed, f.JSON, code == exitOK)
	}
	return code, err
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
		removed = append(removed, fmt.Sprintf("image %s, which had no name (%s)", shortDigest(img), bytesText(img.Bytes)))
	}
	return removed, err
}
