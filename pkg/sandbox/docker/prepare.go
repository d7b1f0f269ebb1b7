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
	"path"
	"runtime"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// image is one that containers are made of.
type image struct {
	name string   // of the prepared one
	base string   // the id of the one that was asked for
	arch string   // as Go names it
	env  []string // of the one that was asked for

	layers []guest.Layer // of the container that is to be made of it
}

const (
	ownDir   = "/.sandbox-run"
	initPath = ownDir + "/init"

	// Labels: what of ours something is, and of an image the one that was asked for
	// and the version of what was added to it.
	labelOurs = "sandbox-run"
	labelFrom = "sandbox-run.from"
	labelMade = "sandbox-run.made"
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

// prepared returns the image with init and the sandbox's user on top of the one of a
// spec. It is made once for each image and init, and kept by the engine, which is asked each time:
// ref may name another image by now, and somebody may have removed ours.
func (r *Runtime) prepared(ctx context.Context, spec sandbox.Spec) (image, error) {
	ref := r.ref(spec)
	if ref == "" {
		return image{}, noneFor(spec.Language)
	}
	img, have, err := r.look(ctx, ref)
	if have || err != nil {
		return img, err
	}
	if img.base == "" && spec.NoFetch {
		return image{}, &sandbox.ImageError{Ref: ref, Err: errors.New("it is not here yet"), Mend: "The first run pulls it, or docker pull " + ref}
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return image{}, err
	}
	defer unlock()
	if img.base == "" {
		if err := r.pull(ctx, ref); err != nil {
			return image{}, r.noImage(ref, err)
		}
	}
	img, have, err = r.look(ctx, ref)
	switch {
	case have || err != nil:
		return img, err
	case img.base == "":
		return image{}, r.noImage(ref, errors.New("it was not found after it was pulled"))
	}
	r.notify("preparing the image " + ref)
	return img, r.prepare(ctx, img)
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

// look asks the engine for an image, and whether it is prepared; one that is not here
// has no base.
func (r *Runtime) look(ctx context.Context, ref string) (img image, have bool, err error) {
	base, err := r.client.ImageInspect(ctx, ref)
	switch {
	case errdefs.IsNotFound(err):
		return image{}, false, nil
	case errdefs.IsInvalidArgument(err), err != nil && strings.Contains(err.Error(), "invalid reference format"): // Podman's fault, it says
		return image{}, false, r.noImage(ref, err)
	case err != nil:
		return image{}, false, r.failed("look at the image "+ref, err)
	case base.Os != "linux":
		return image{}, false, &sandbox.ImageError{Ref: ref, Err: fmt.Errorf("it is for %s, and programs run on Linux", base.Os)}
	case base.Architecture != runtime.GOARCH: // which our init is for
		return image{}, false, &sandbox.ImageError{
			Ref: ref, Err: fmt.Errorf("it is for %s, and sandbox-run for %s", base.Architecture, runtime.GOARCH),
			Mend: fmt.Sprintf("Pull it for this architecture (docker pull --platform linux/%s %s), or name another one", runtime.GOARCH, ref),
		}
	}
	img = image{arch: base.Architecture, name: imageName(preparedImages, base.ID), base: base.ID}
	if base.Config != nil {
		img.env = base.Config.Env
	}
	have, err = r.has(ctx, img.name)
	return img, have, err
}

// has tells whether the engine has an image of ours.
func (r *Runtime) has(ctx context.Context, name string) (bool, error) {
	_, err := r.client.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, r.failed("look at the image "+name, err)
}

// imageName is that of an image of ours, by all that it is made of.
func imageName(repository string, parts ...string) string {
	return repository + ":" + hashOf(append(parts, made())...)
}

// layout is another word whenever [Runtime.ownFiles] makes other files.
const layout = "5"

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
func (r *Runtime) prepare(ctx context.Context, img image) error {
	return r.derive(ctx, img.base, img, "prepared", func(ctx context.Context, id string) error {
		files, err := r.ownFiles(ctx, id)
		if err != nil {
			return err
		}
		return r.copyTo(ctx, id, files)
	})
}

// derive makes the image img of another one, and of what fill copies to a container
// of that. Nothing of it runs.
func (r *Runtime) derive(ctx context.Context, from string, img image, what string, fill func(ctx context.Context, id string) error) error {
	// Podman gives an image the labels of the container, and no others.
	id, remove, err := r.still(ctx, from, map[string]string{labelOurs: what, labelFrom: img.base, labelMade: made()})
	if err != nil {
		return err
	}
	defer remove()
	if err := fill(ctx, id); err != nil {
		return err
	}
	_, err = r.client.ContainerCommit(ctx, id, client.ContainerCommitOptions{Reference: img.name, NoPause: true, Config: &container.Config{}})
	return r.failed("keep the prepared image", err)
}

// still makes a container that is never started, and what removes it.
func (r *Runtime) still(ctx context.Context, from string, labels map[string]string) (id string, remove func(), err error) {
	got, err := r.client.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: from, Entrypoint: []string{initPath}, Labels: labels},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		return "", nil, r.failed("make a container of "+from, err)
	}
	return got.ID, func() {
		_, _ = r.client.ContainerRemove(context.WithoutCancel(ctx), got.ID, client.ContainerRemoveOptions{Force: true}) // reclaimed otherwise
	}, nil
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
	if header.Typeflag != tar.TypeReg || header.Size > maxEtcFile || path.Base(header.Name) != path.Base(name) {
		return nil, fmt.Errorf("the image's %s is no small file", name)
	}
	return io.ReadAll(io.LimitReader(archive, maxEtcFile))
}
