package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// image is one that containers are made of.
type image struct {
	name string // that containers are made of it by
	base string // the id of the one that was asked for, which tells what it holds

	until   time.Time         // when it goes; zero is never
	bytes   int64             // that it takes at least beside what it is on; may be 0
	kept    []string          // names of what is kept and in it,
	links   map[string]string // and of the links to that, in one of several parts
	layers  []guest.Layer     // of the container that is to be made of it
	volumes []string          // that the image declares
}

// preparedImage is the image with init on top of the one with an id.
func preparedImage(id string) image {
	return image{base: id, name: imageName(preparedImages, id)}
}

const (
	ownDir   = "/.sandbox-run"
	initPath = ownDir + "/init"

	// Labels: what of ours something is, and of an image the one that was asked for
	// and the version of what was added to it.
	labelOurs = "sandbox-run"
	labelFrom = "sandbox-run.from"
	labelMade = "sandbox-run.made"
	// labelUntil is when an image goes, in seconds since 1970, and labelOn the id of the
	// one that it is a layer on top of.
	labelUntil = "sandbox-run.until"
	labelOn    = "sandbox-run.on"
	// labelBytes is what it takes beside that one at least, names included.
	labelBytes = "sandbox-run.bytes"
	// labelMaker names the process that has made a container.
	labelMaker = "sandbox-run.maker"
)

// The repositories of our images.
const (
	preparedImages = "sandbox-run/prepared"
	keptImages     = "sandbox-run/kept"
)

// noneFor is that a language has no image.
func noneFor(language string) error {
	ref, variable := "for it", "SANDBOX_DOCKER_IMAGE"
	if language != "" {
		ref, variable = "for "+language, variable+"_"+strings.ToUpper(language)
	}
	return &sandbox.ImageError{Ref: ref, Err: errors.New("none is configured"), Mend: "Set " + variable + ", or name one with the request (--image)"}
}

// find returns the image for a spec, and pulls what that is made from unless it is here
// or was told before: then its id says it all, whatever the name means by now. Whether the
// engine has the prepared one is another question, see [Runtime.ready].
func (r *Runtime) find(ctx context.Context, spec sandbox.Spec) (image, error) {
	if spec.Digest != "" {
		return preparedImage(spec.Digest), nil
	}
	base, err := r.base(ctx, spec)
	return preparedImage(base.ID), err
}

// base is the image that a spec asks for.
func (r *Runtime) base(ctx context.Context, spec sandbox.Spec) (client.ImageInspectResult, error) {
	ref := r.ref(spec)
	if ref == "" {
		return client.ImageInspectResult{}, noneFor(spec.Language)
	}
	if takesOurs(ref) {
		return client.ImageInspectResult{}, &sandbox.ImageError{Ref: ref, Err: errors.New("names of sandbox-run's own images are for what it makes itself")}
	}
	base, err := r.look(ctx, ref)
	if base.ID != "" || err != nil {
		return base, err
	}
	if spec.NoFetch {
		return base, &sandbox.ImageError{Ref: ref, Err: errors.New("it is not here yet"), Mend: "The first run pulls it, or docker pull " + ref}
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return base, err
	}
	defer unlock()
	if base, err = r.look(ctx, ref); base.ID != "" || err != nil { // another one has pulled it meanwhile
		return base, err
	}
	if err := r.pull(ctx, ref); err != nil {
		return base, r.noImage(ref, err)
	}
	if base, err = r.look(ctx, ref); base.ID == "" && err == nil {
		err = r.noImage(ref, errors.New("it was not found after it was pulled"))
	}
	return base, err
}

// ready has the engine have an image, which is made once and kept by it. It is asked each
// time: somebody may have removed ours. It fills in what is known of it only then.
func (r *Runtime) ready(ctx context.Context, ref string, img *image) error {
	have, err := r.has(ctx, img)
	if have || err != nil {
		return err
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.build(ctx, ref, *img); err != nil {
		return err
	}
	if have, err = r.has(ctx, img); !have && err == nil {
		err = &EngineError{What: "keep the image " + img.name, Err: errors.New("it was removed at once"), Again: true}
	}
	return err
}

// build makes an image, and those that it is made of, unless another one has done so.
func (r *Runtime) build(ctx context.Context, ref string, img image) error {
	if have, err := r.has(ctx, &img); have || err != nil {
		return err
	}
	prepared := preparedImage(img.base)
	if img.name == prepared.name {
		r.notify("preparing the image " + ref)
		return r.prepare(ctx, ref, img)
	}
	for i, name := range img.kept {
		part := keptImage(prepared, name)
		if have, err := r.has(ctx, &part); err != nil {
			return err
		} else if !have {
			return &EngineError{What: "make a container", Err: fmt.Errorf("%w under the name %q beside this image any more", sandbox.ErrNotKept, name), Again: true}
		}
		if !part.until.IsZero() && (img.until.IsZero() || part.until.Before(img.until)) {
			img.until = part.until
		}
		if i > 0 { // it is on the first, and has copies of the others
			img.bytes += part.bytes
		}
	}
	return r.join(ctx, img)
}

// lock has one image made at a time.
func (r *Runtime) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case r.preparing <- struct{}{}:
		return func() { <-r.preparing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// look asks the engine for an image that containers can be made from; one that is not
// here has no id.
func (r *Runtime) look(ctx context.Context, ref string) (client.ImageInspectResult, error) {
	base, err := r.client.ImageInspect(ctx, ref)
	switch {
	case errdefs.IsNotFound(err):
		err = nil
	case errdefs.IsInvalidArgument(err), err != nil && strings.Contains(err.Error(), "invalid reference format"): // Podman's fault, it says
		err = r.noImage(ref, err)
	case err != nil:
		err = r.failed("look at the image "+ref, err)
	case base.Os != "linux":
		err = &sandbox.ImageError{Ref: ref, Err: fmt.Errorf("it is for %s, and programs run on Linux", base.Os)}
	case base.Architecture != runtime.GOARCH: // which our init is for
		err = &sandbox.ImageError{
			Ref: ref, Err: fmt.Errorf("it is for %s, and sandbox-run for %s", base.Architecture, runtime.GOARCH),
			Mend: fmt.Sprintf("Pull it for this architecture (docker pull --platform linux/%s %s), or name another one", runtime.GOARCH, ref),
		}
	default:
		return base, nil
	}
	return client.ImageInspectResult{}, err
}

// has tells whether the engine has an image of ours, and fills in what it declares.
func (r *Runtime) has(ctx context.Context, img *image) (bool, error) {
	got, err := r.client.ImageInspect(ctx, img.name)
	switch {
	case errdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, r.failed("look at the image "+img.name, err)
	case got.Config != nil:
		img.volumes = slices.Sorted(maps.Keys(got.Config.Volumes))
		img.until, img.bytes = untilOf(got.Config.Labels), bytesOf(got.Config.Labels)
	}
	return true, nil
}

// imageName is that of an image of ours, by all that it is made of.
func imageName(repository string, parts ...string) string {
	return repository + ":" + hashOf(append(parts, made())...)
}

// layout is another word whenever [Runtime.ownFiles] makes other files, or labels tell
// something else.
const layout = "6"

// made tells what is added to every image.
func made() string {
	return hashOf(string(spawn.InitProgram()), layout, passwdLine, groupLine)
}

// hashOf is the same for the same words alone.
func hashOf(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		_, _ = fmt.Fprintf(h, "%d:%s", len(w), w) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// The sandbox's user, before all others: an image may have given the number to one
// of its own.
var (
	passwdLine = rootfs.PasswdLine()
	groupLine  = rootfs.GroupLine()
)

// prepare adds what is ours to the image that was asked for.
func (r *Runtime) prepare(ctx context.Context, ref string, img image) error {
	err := r.derive(ctx, img.base, img, "prepared", func(ctx context.Context, id string) error {
		files, err := r.ownFiles(ctx, id)
		if err != nil {
			return err
		}
		return r.copyTo(ctx, id, files)
	})
	if errdefs.IsNotFound(err) {
		return &EngineError{What: "use the image " + ref, Err: fmt.Errorf("what it was a moment ago (%s) has been removed", img.base), Again: true}
	}
	return err
}

// derive makes the image img of another one, and of what fill copies to a container
// of that. Nothing of it runs.
func (r *Runtime) derive(ctx context.Context, from string, img image, what string, fill func(ctx context.Context, id string) error) error {
	on, err := r.client.ImageInspect(ctx, from)
	if err != nil {
		return r.failed("look at the image "+from, err)
	}
	// Podman gives an image the labels of the container, and no others. Each is given: the
	// image that this one is made of has some, too.
	labels := map[string]string{labelOurs: what, labelFrom: img.base, labelMade: made(), labelOn: hexOf(on.ID), labelUntil: "", labelBytes: strconv.FormatInt(img.bytes, 10)}
	if !img.until.IsZero() {
		labels[labelUntil] = strconv.FormatInt(img.until.Unix(), 10)
	}
	id, remove, err := r.still(ctx, on.ID, labels)
	if err != nil {
		return err
	}
	defer remove()
	if err := fill(ctx, id); err != nil {
		return err
	}
	fault.Point("image filled")
	_, err = r.client.ContainerCommit(ctx, id, client.ContainerCommitOptions{Reference: img.name, NoPause: true, Config: &container.Config{}})
	fault.Point("image committed")
	return r.failed("keep the prepared image", err)
}

// still makes a container that is never started, and what removes it.
func (r *Runtime) still(ctx context.Context, from string, labels map[string]string) (id string, remove func(), err error) {
	id, err = r.newContainer(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: from, Entrypoint: []string{initPath}, Labels: labels},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	return id, func() { _ = r.removeContainer(context.WithoutCancel(ctx), id) }, err // reclaimed otherwise
}

// copyTo unpacks an archive of ours in a container.
func (r *Runtime) copyTo(ctx context.Context, id string, archive io.Reader) error {
	_, err := r.client.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: "/", Content: archive, AllowOverwriteDirWithFile: true})
	return r.failed("copy our files to an image", err)
}

// ownFiles is an archive of what is ours in every container.
func (r *Runtime) ownFiles(ctx context.Context, id string) (*bytes.Buffer, error) {
	passwd, err := r.readFile(ctx, id, "/etc/passwd")
	if err != nil {
		return nil, err
	}
	group, err := r.readFile(ctx, id, "/etc/group")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	// With Podman a file system in memory has the mode of the place that it covers, or
	// its owner, as the OCI runtime will.
	for dir, mode := range map[string]int64{ownDir: 0o755, sandbox.WorkspaceDir: 0o777, sandbox.BuildDir: 0o777} {
		owner := 0
		if dir != ownDir {
			owner = sandbox.UserID
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: mode, Uid: owner, Gid: owner}); err != nil {
			return nil, err
		}
	}
	for _, f := range []struct {
		name    string
		mode    int64
		content []byte
	}{
		{initPath, 0o755, spawn.InitProgram()},
		{"/etc/passwd", 0o644, append([]byte(passwdLine), passwd...)},
		{"/etc/group", 0o644, append([]byte(groupLine), group...)},
	} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(f.name, "/"), Mode: f.mode, Size: int64(len(f.content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}

// maxEtcFile bounds a file that an image brings; no real one is near it.
const maxEtcFile = 1 << 20

// readFile reads a small regular file of a container; nothing when it is not there.
func (r *Runtime) readFile(ctx context.Context, id, name string) ([]byte, error) {
	got, err := r.client.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: name})
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, r.failed("read "+name+" of an image", err)
	}
	defer got.Content.Close()
	archive := tar.NewReader(io.LimitReader(got.Content, maxEtcFile+64<<10))
	header, err := archive.Next()
	if err != nil {
		return nil, fmt.Errorf("read %s of an image: %w", name, err)
	}
	if header.Typeflag == tar.TypeSymlink { // as in images that Nix makes; ours takes its place
		return nil, nil
	}
	if header.Typeflag != tar.TypeReg || header.Size > maxEtcFile || path.Base(header.Name) != path.Base(name) {
		return nil, fmt.Errorf("the image's %s is no small file", name)
	}
	return io.ReadAll(io.LimitReader(archive, maxEtcFile))
}
