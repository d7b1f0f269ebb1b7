package docker_test

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

const days = 48 * time.Hour

// withPackages has a kept directory by links, as what is required.
func withPackages(name string) sandbox.Spec {
	s := spec
	s.Mounts = []sandbox.Mount{{Kept: name, Target: "/packages"}}
	return s
}

// keepDated keeps a directory for some time.
func keepDated(t *testing.T, rt *docker.Runtime, name string, lifetime time.Duration) {
	t.Helper()
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: name, Lifetime: lifetime}, archiveOf(t, "p", "of "+name+"\n")); err != nil {
		t.Fatal(err)
	}
}

// keptNames are those of images with what is kept, but by others.
func keptNames(t *testing.T, engine *client.Client, others map[string]bool) (names []string) {
	t.Helper()
	for _, i := range keptImages(t, engine) {
		if others[i.ID] {
			continue
		}
		for _, name := range i.RepoTags { // before which Podman puts where it would come from
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/"))
		}
	}
	return names
}

func reclaim(t *testing.T) []string {
	t.Helper()
	removed, err := docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image})
	if err != nil {
		t.Fatal(err)
	}
	return removed
}

// TestDatedImagesGo: what is kept for a time is there for that long, and then goes with what
// was made of it, unless a container has it; nobody begins to use it on its last day. What is
// kept for good stays, and so does what somebody has made of ours.
func TestDatedImagesGo(t *testing.T) {
	rt, engine := open(t, *image), engineClient(t)
	const theirs, plain = "sandbox-run-test-theirs:1", "sandbox-run/kept:not-ours"
	others := removeImages(t, theirs, plain)
	reclaim(t) // what earlier versions have left in an engine that others use, too
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: "for good"}, archiveOf(t, "p", "x")); err != nil {
		t.Fatal(err)
	}
	if got := run(t, rt, withPackages("for good"), "cat /packages/p"); got != "x" {
		t.Errorf("%q", got)
	}
	keepDated(t, rt, "today's", days)
	if got := run(t, rt, withPackages("today's"), "cat /packages/p"); got != "of today's\n" {
		t.Errorf("%q", got)
	}
	stay := keptNames(t, engine, others) // two, and one with the links to each
	if len(stay) != 4 {
		t.Fatalf("kept: %q", stay)
	}
	// The time of another is over, and a container has it.
	keepDated(t, rt, "of yesterday", days)
	yesterdays := keptNames(t, engine, others)
	yesterdays = slices.DeleteFunc(yesterdays, func(name string) bool { return slices.Contains(stay, name) })
	commitOf(t, engine, yesterdays[0], yesterdays[0], map[string]string{"sandbox-run.until": strconv.FormatInt(time.Now().Unix()-1, 10)})
	if have, err := rt.Kept(t.Context(), spec, "of yesterday"); have || err != nil {
		t.Errorf("a run would begin with what goes: %v, %v", have, err)
	}
	c, err := rt.Create(t.Context(), withPackages("of yesterday"))
	if err != nil {
		t.Fatal(err)
	}
	commitOf(t, engine, theirs, yesterdays[0], nil)
	commit(t, engine, plain, "which", "of nobody's")
	if removed := reclaim(t); len(removed) > 0 {
		t.Errorf("removed from under a container: %q", removed)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	removed := reclaim(t)
	if got := keptNames(t, engine, others); len(removed) != 2 || len(got) != 5 || !slices.Contains(got, theirs) || slices.ContainsFunc(stay, func(name string) bool { return !slices.Contains(got, name) }) {
		t.Errorf("removed %q, and there is %q; want %q and %s", removed, got, stay, theirs)
	}
	if _, err := engine.ImageInspect(t.Context(), plain); err != nil {
		t.Errorf("an image without a label of ours: %v", err)
	}
	for _, name := range []string{"today's", "for good"} {
		if have, err := rt.Kept(t.Context(), spec, name); !have || err != nil {
			t.Errorf("%s: %v, %v", name, have, err)
		}
	}
}

// TestKeepingPrunes: who has something kept for a time removes what is over.
func TestKeepingPrunes(t *testing.T) {
	rt, engine := open(t, *image), engineClient(t)
	others := removeImages(t)
	keepDated(t, rt, "of yesterday", days)
	over := keptNames(t, engine, others)[0]
	commitOf(t, engine, over, over, map[string]string{"sandbox-run.until": strconv.FormatInt(time.Now().Unix()-1, 10)})
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: "for good"}, archiveOf(t, "p", "x")); err != nil {
		t.Fatal(err)
	}
	if got := keptNames(t, engine, others); !slices.Contains(got, over) {
		t.Errorf("what is kept for good has removed %s: %q", over, got)
	}
	keepDated(t, rt, "today's", days)
	if got := keptNames(t, engine, others); slices.Contains(got, over) || len(got) != 2 {
		t.Errorf("there is %q, and %s was over", got, over)
	}
}

// commitOf makes an image of one of ours, as anybody may.
func commitOf(t *testing.T, engine *client.Client, name, of string, labels map[string]string) {
	t.Helper()
	made, err := engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: of, Cmd: []string{"x"}, Labels: labels}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.ContainerRemove(t.Context(), made.ID, client.ContainerRemoveOptions{Force: true})
	if _, err := engine.ContainerCommit(t.Context(), made.ID, client.ContainerCommitOptions{Reference: name, Config: &container.Config{}}); err != nil {
		t.Fatal(err)
	}
}

// TestImageGoesMeanwhile: an image that is removed after it was looked for is made again,
// and where what it is made of is gone as well, the caller is told to bring that.
func TestImageGoesMeanwhile(t *testing.T) {
	var gone atomic.Pointer[func()]
	at := front(t, func(r *http.Request) {
		if strings.Contains(r.URL.Path, "/images/") && path.Base(r.URL.Path) == "json" && r.Method == http.MethodGet {
			if f := gone.Load(); f != nil {
				(*f)()
			}
		}
	})
	rt, err := docker.New(t.Context(), docker.Options{Host: at, Image: *image, Runtime: *runtime})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	engine := engineClient(t)
	others := removeImages(t)
	keepDated(t, rt, "today's", days)
	part := keptNames(t, engine, others)[0]
	s := withPackages("today's")
	if img, err := rt.Image(t.Context(), spec); err != nil {
		t.Fatal(err)
	} else {
		s.Digest = img.Digest // so that the look for it is the first
	}
	if got := run(t, rt, s, "cat /packages/p"); got != "of today's\n" {
		t.Fatalf("%q", got)
	}
	all := keptNames(t, engine, others)
	joined := all[slices.IndexFunc(all, func(name string) bool { return name != part })]
	remove := func(names ...string) {
		var once atomic.Bool
		f := func() {
			if once.Swap(true) {
				return
			}
			for _, name := range names {
				if _, err := engine.ImageRemove(context.WithoutCancel(t.Context()), name, client.ImageRemoveOptions{PruneChildren: true}); err != nil {
					t.Error(err)
				}
			}
		}
		gone.Store(&f)
	}
	remove(joined)
	if got := run(t, rt, s, "cat /packages/p"); got != "of today's\n" {
		t.Errorf("%q", got)
	}
	if got := keptNames(t, engine, others); len(got) != 2 {
		t.Errorf("there is %q", got)
	}
	remove(joined, part)
	if c, err := rt.Create(t.Context(), s); !errors.Is(err, sandbox.ErrNotKept) || !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := engine.ImageInspect(t.Context(), part); !errdefs.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// TestDatedLabels: what is made of an image that goes, goes with it, and an image has no such
// label from what it is made of.
func TestDatedLabels(t *testing.T) {
	rt, engine := open(t, *image), engineClient(t)
	others := removeImages(t)
	keepDated(t, rt, "long", 3*days)
	keepDated(t, rt, "short", days)
	if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: "for good"}, archiveOf(t, "p", "x")); err != nil {
		t.Fatal(err)
	}
	until := func(name string) time.Duration {
		t.Helper()
		got, err := engine.ImageInspect(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		seconds, err := strconv.ParseInt(got.Config.Labels["sandbox-run.until"], 10, 64)
		if err != nil {
			return 0
		}
		return time.Until(time.Unix(seconds, 0)).Round(time.Hour)
	}
	for _, c := range []struct {
		mounts []string
		want   time.Duration
	}{{[]string{"long", "for good"}, 3 * days}, {[]string{"for good", "long", "short"}, days}, {[]string{"for good"}, 0}} {
		before := keptNames(t, engine, others)
		s := spec
		for _, name := range c.mounts {
			s.Mounts = append(s.Mounts, sandbox.Mount{Kept: name, Target: "/of/" + strings.ReplaceAll(name, " ", "-")})
		}
		run(t, rt, s, "true")
		for _, name := range keptNames(t, engine, others) {
			if !slices.Contains(before, name) && until(name) != c.want {
				t.Errorf("%q: %s goes in %v, want %v", c.mounts, name, until(name), c.want)
			}
		}
	}
}
