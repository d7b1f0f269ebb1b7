package docker

import (
	"context"
	"errors"
	"slices"

	"github.com/containerd/errdefs"
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
		names := slices.DeleteFunc(slices.Clone(i.RepoTags), func(name string) bool { return name == "<none>:<none>" })
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
