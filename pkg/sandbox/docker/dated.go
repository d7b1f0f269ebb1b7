package docker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	dockerimage "github.com/moby/moby/api/types/image"
	"github.com/moby/moby/client"
)

// What requirements become is of use for a day, as the environment is that it is a copy of.
// So its images go when their time is over, and the oldest before that where all of them take
// more than environments may.

const (
	// maxDatedBytes bounds what images that go take together, beside what they are made of.
	maxDatedBytes = 5 << 30
	// lastOfTime is for how long before its end nobody begins to use an image: it is made
	// again, so that none goes that a run is about to take.
	lastOfTime = 24 * time.Hour
)

// untilOf is when an image goes by its labels; zero is never.
func untilOf(labels map[string]string) time.Time {
	seconds, err := strconv.ParseInt(labels[labelUntil], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// bytesOf is what an image takes beside the one that it is on by its labels, at least: engines
// count what is in files, and not that there are many.
func bytesOf(labels map[string]string) int64 {
	bytes, err := strconv.ParseInt(labels[labelBytes], 10, 64)
	if err != nil {
		return 0
	}
	return max(bytes, 0)
}

func (i image) endsSoon() bool { return !i.until.IsZero() && time.Until(i.until) < lastOfTime }

// hexOf is the id of an image without its algorithm, which not every engine puts before it.
func hexOf(id string) string { return strings.TrimPrefix(id, "sha256:") }

// dated is an image that goes.
type dated struct {
	id, on string
	names  []string
	until  time.Time
	bytes  int64 // beside the image that it is on
}

// datedOf are those among images of ours that go, in the order in which they do. What
// is made of several is on one of them, and goes before that.
func datedOf(list []dockerimage.Summary) (all []dated) {
	sizes := map[string]int64{}
	for _, i := range list {
		sizes[hexOf(i.ID)] = i.Size
	}
	parts := map[string]int{}
	for _, i := range list {
		names, ours := namesOf(i)
		until := untilOf(i.Labels)
		if !ours || until.IsZero() {
			continue
		}
		d := dated{id: i.ID, on: i.Labels[labelOn], names: names, until: until}
		d.bytes = max(i.Size-sizes[d.on], bytesOf(i.Labels))
		all, parts[d.on] = append(all, d), 1
	}
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(a.until.Compare(b.until), cmp.Compare(parts[hexOf(a.id)], parts[hexOf(b.id)]))
	})
	return all
}

// prune removes the images whose time is over, and then the oldest until the rest is within
// the bound. What a container has stays, and what an image is on that stays, and neither
// counts: else who has much in use would take from the others what they have not yet begun
// to use. So does the one named newest. Whatever is missing later is kept again.
func (r *Runtime) prune(ctx context.Context, newest string) (removed []string, err error) {
	list, err := r.client.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("label", labelFrom)})
	if err != nil {
		return nil, r.failed("list images", err)
	}
	all := datedOf(list.Items)
	total := int64(0)
	for _, d := range all {
		total += d.bytes
	}
	needed := map[string]bool{}
	var errs []error
	for _, d := range all {
		over := len(d.names) == 0 || time.Now().After(d.until)
		if !over && total <= maxDatedBytes || slices.Contains(d.names, newest) {
			needed[d.on] = true
			continue
		}
		total -= d.bytes
		gone := false
		if !needed[hexOf(d.id)] {
			gone, err = r.removeImage(ctx, d.id, d.names)
			errs = append(errs, err)
		}
		if gone {
			removed = append(removed, "image "+d.id)
		} else {
			needed[d.on] = true
		}
	}
	return removed, errors.Join(errs...)
}
