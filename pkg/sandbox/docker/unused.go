package docker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	dockerimage "github.com/moby/moby/api/types/image"
	"github.com/moby/moby/client"
)

// removeUnused removes those of our images that no container will be made of again:
// another one has taken their name, they were made by another version of sandbox-run,
// or the image that was asked for has gone. Whatever is missing later is made again.
func (r *Runtime) removeUnused(ctx context.Context) (removed []string, err error) {
	list, err := r.client.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("label", labelFrom)})
	if err != nil {
		return nil, r.failed("list images", err)
	}
	var errs []error
	for _, i := range list.Items {
		names, ours := namesOf(i)
		if !ours {
			continue
		}
		used := len(names) > 0 && i.Labels[labelMade] == made()
		if used {
			used, err = r.hasName(ctx, i.Labels[labelFrom])
			if err != nil {
				return removed, err
			}
		}
		if used {
			continue
		}
		if ok, err := r.removeImage(ctx, i.ID, names); err != nil {
			errs = append(errs, err)
		} else if ok {
			removed = append(removed, "image "+i.ID)
		}
	}
	return removed, errors.Join(errs...)
}

// namesOf are the names of an image with labels of ours, without the host that Podman puts
// before them, which depends on how they came. One that has another name as well is somebody else's: who makes an image of
// ours, or of a container of it, gets our labels with it.
func namesOf(i dockerimage.Summary) (names []string, ours bool) {
	for _, name := range i.RepoTags {
		if name == "<none>:<none>" {
			continue
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "localhost/"), "docker.io/")
		repository, _, _ := strings.Cut(name, ":")
		if repository != preparedImages && repository != keptImages {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// hasName tells whether an image can still be asked for.
func (r *Runtime) hasName(ctx context.Context, id string) (bool, error) {
	got, err := r.client.ImageInspect(ctx, id)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return len(got.RepoTags) > 0 || len(got.RepoDigests) > 0, r.failed("look at the image "+id, err)
}

// removeImage removes an image by all of its names; one that a container or another
// image needs stays.
func (r *Runtime) removeImage(ctx context.Context, id string, names []string) (removed bool, err error) {
	for _, name := range append(slices.Clip(names), id) {
		_, err := r.client.ImageRemove(ctx, name, client.ImageRemoveOptions{PruneChildren: true})
		switch {
		case err == nil:
			removed = true
		case errdefs.IsNotFound(err), errdefs.IsConflict(err):
		default:
			return removed, r.failed("remove the image "+id, err)
		}
	}
	return removed, nil
}
