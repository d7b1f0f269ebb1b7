package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	imagetypes "github.com/moby/moby/api/types/image"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
)

// archiveOf is a tar archive of files, directories (a name that ends in a slash) and
// links (a content that begins with "->").
func archiveOf(t *testing.T, files ...string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: files[i], Mode: 0o600, Uid: 7, Gid: 7, Size: int64(len(files[i+1]))}
		to, link := strings.CutPrefix(files[i+1], "->")
		switch {
		case link:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, to, 0
		case strings.HasSuffix(files[i], "/"):
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = io.WriteString(w, files[i+1])
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// run runs a script in a container of a spec and returns what it prints.
func run(t *testing.T, rt *docker.Runtime, s sandbox.Spec, script string) string {
	t.Helper()
	c, err := rt.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Delete(t.Context())
	var out bytes.Buffer
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// keptImages are the images with what is kept.
func keptImages(t *testing.T, engine *client.Client) []imagetypes.Summary {
	t.Helper()
	list, err := engine.ImageList(context.WithoutCancel(t.Context()), client.ImageListOptions{Filters: make(client.Filters).Add("label", "sandbox-run=kept")})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// removeImages has a test remove images at its end, and what is kept beside any from now on.
// It returns the ids of what others have kept, which stays.
func removeImages(t *testing.T, refs ...string) (others map[string]bool) {
	t.Helper()
	engine := engineClient(t)
	others = map[string]bool{}
	for _, i := range keptImages(t, engine) {
		others[i.ID] = true
	}
	t.Cleanup(func() {
		for _, i := range keptImages(t, engine) {
			if !others[i.ID] {
				refs = append(refs, i.ID)
			}
		}
		for _, first := range []bool{true, false} { // one may be of another
			for _, ref := range refs {
				if _, err := engine.ImageRemove(context.WithoutCancel(t.Context()), ref, client.ImageRemoveOptions{Force: true}); err != nil && !first && !errdefs.IsNotFound(err) {
					t.Error(err)
				}
			}
		}
	})
	return others
}

// TestKeep: a directory is kept beside an image, and containers have it to read, or to
// write to without a trace.
func TestKeep(t *testing.T) {
	rt := open(t, *image)
	removeImages(t)
	const name, other = "cache of a/b", "self"
	if have, err := rt.Kept(t.Context(), spec, "nothing"); have || err != nil {
		t.Errorf("nothing is kept: %v, %v", have, err)
	}
	for name, content := range map[string]io.Reader{
		name:  archiveOf(t, "./sub/old", "kept\n", "empty/", "", "../../../../etc/out", "inside\n", "sub/link", "->old"),
		other: archiveOf(t, "tool", "tool\n"),
	} {
		if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: name}, content); err != nil {
			t.Fatal(err)
		}
		if have, err := rt.Kept(t.Context(), spec, name); !have || err != nil {
			t.Errorf("%s is kept: %v, %v", name, have, err)
		}
	}
	s := spec
	s.Disk.Inodes, s.BuildDisk = 200, sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 200}
	s.Mounts = []sandbox.Mount{{Kept: name, Target: "/cache/go-build", Overlay: true}}
	const layer = `cd /cache/go-build && cat sub/old etc/out && ls && echo new >sub/new && rm sub/old && echo own >sub/old && cat sub/old; echo x 2>/dev/null >"$(readlink -f etc/out)" || echo refused; test -e /etc/out && echo out`
	for range 2 { // nothing of the first is in the second
		if got, want := run(t, rt, s, layer), "kept\ninside\nempty\netc\nsub\nown\nrefused\n"; got != want {
			t.Errorf("with a layer: %q, want %q", got, want)
		}
	}
	s.Mounts = append(s.Mounts, sandbox.Mount{Kept: other, Target: "/sandbox-run-self"}, sandbox.Mount{Kept: name, Target: "/lib/deep/er/view"}, sandbox.Mount{Kept: "gone", Target: "/gone", Optional: true})
	const view = `cat /sandbox-run-self/tool /lib/deep/er/view/sub/old /cache/go-build/sub/old; for f in /sandbox-run-self/tool /sandbox-run-self/new; do { echo x >$f; } 2>/dev/null || echo refused; done; find /sandbox-run-self/ -name tool -user root -perm 644; test -e /gone && echo gone`
	for range 2 {
		if got, want := run(t, rt, s, view), "tool\nkept\nkept\nrefused\nrefused\n/sandbox-run-self/tool\n"; got != want {
			t.Errorf("to read: %q, want %q", got, want)
		}
	}
	s.Mounts = []sandbox.Mount{{Kept: "gone", Target: "/gone"}}
	if _, err := rt.Create(t.Context(), s); err == nil || !strings.Contains(err.Error(), `nothing is kept under the name "gone"`) {
		t.Error(err)
	}
	// Reclaiming leaves what is of use.
	if _, err := docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image}); err != nil {
		t.Error(err)
	}
	if have, err := rt.Kept(t.Context(), spec, name); !have || err != nil {
		t.Errorf("kept after reclaiming: %v, %v", have, err)
	}
}

// TestKeepNothingHalf: what cannot be kept whole is not kept.
func TestKeepNothingHalf(t *testing.T) {
	rt := open(t, *image)
	good := archiveOf(t, "a", strings.Repeat("x", 1<<20), "b", "y").Bytes()
	for name, tc := range map[string]struct {
		content io.Reader
		err     string
	}{
		"below a link": {archiveOf(t, "b", "->/etc", "b/shadow", "x"), `is a symbolic link, and something lies below it`},
		"cut short":    {bytes.NewReader(good[:len(good)/2]), "unexpected EOF"},
		"no archive":   {strings.NewReader(strings.Repeat("no archive", 1000)), "invalid tar header"},
	} {
		if err := rt.Keep(t.Context(), spec, sandbox.KeptDir{Name: name}, tc.content); err == nil || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", name, err, tc.err)
		}
		if have, err := rt.Kept(t.Context(), spec, name); have || err != nil {
			t.Errorf("%s is kept: %v, %v", name, have, err)
		}
	}
}

// TestEmptyOverlay: an empty directory that programs write takes of the build disk.
func TestEmptyOverlay(t *testing.T) {
	rt := open(t, *image)
	s := spec
	s.BuildDisk = sandbox.DiskLimit{Bytes: 2 << 20, Inodes: 50}
	s.Mounts = []sandbox.Mount{{Target: "/cache/new", Overlay: true}}
	c, err := rt.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Delete(t.Context())
	var out strings.Builder
	const fill = "echo made >/cache/new/file && cat /cache/new/file; head -c 3m /dev/zero >/cache/new/big || echo full"
	running, err := c.Start(t.Context(), sandbox.Process{Args: []string{"/bin/sh", "-c", fill}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := running.Wait(); err != nil || out.String() != "made\nfull\n" {
		t.Errorf("it says %q: %+v, %v", out.String(), exit, err)
	}
}

// TestReclaimImages: what another version has prepared goes.
func TestReclaimImages(t *testing.T) {
	open(t, *image) // skips
	engine := engineClient(t)
	base, err := engine.ImageInspect(t.Context(), *image)
	if err != nil {
		t.Fatal(err)
	}
	made, err := engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{
		Image: *image, Cmd: []string{"x"}, Labels: map[string]string{"sandbox-run": "prepared", "sandbox-run.from": base.ID, "sandbox-run.made": "of old"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const name = "sandbox-run/prepared:of-old"
	if _, err := engine.ContainerCommit(t.Context(), made.ID, client.ContainerCommitOptions{Reference: name, Config: &container.Config{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.ContainerRemove(t.Context(), made.ID, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	removed, err := docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image})
	if err != nil || len(removed) == 0 {
		t.Errorf("%q, %v", removed, err)
	}
	if _, err := engine.ImageInspect(t.Context(), name); !errdefs.IsNotFound(err) {
		t.Errorf("the image of an older version is there: %v", err)
	}
	if _, err := engine.ImageInspect(t.Context(), *image); err != nil {
		t.Error(err)
	}
}

// TestReclaimTells: what is removed is named, and a container that was just made stays:
// its client may be about to start it.
func TestReclaimTells(t *testing.T) {
	open(t, *image) // skips
	engine := engineClient(t)
	var ids []string
	for range 2 {
		made, err := engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{
			Image: *image, Cmd: []string{"/bin/true"}, Labels: map[string]string{"sandbox-run": "run"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = engine.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, client.ContainerRemoveOptions{Force: true}) // one is gone
		})
		ids = append(ids, made.ID)
	}
	if _, err := engine.ContainerStart(t.Context(), ids[0], client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	ended := engine.ContainerWait(t.Context(), ids[0], client.ContainerWaitOptions{})
	select {
	case err := <-ended.Error:
		t.Fatal(err)
	case <-ended.Result:
	}
	removed, err := docker.Reclaim(t.Context(), docker.Options{Host: *host, Image: *image})
	if err != nil || !slices.Contains(removed, "container "+ids[0][:12]) || slices.Contains(removed, "container "+ids[1][:12]) {
		t.Errorf("removed %q, %v; want %s and not %s", removed, err, ids[0], ids[1])
	}
}
