package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// image is one that containers are made of.
type image struct {
	name string   // of the prepared one
	arch string   // as Go names it
	env  []string // of the one that was asked for
}

const (
	ownDir   = "/.sandbox-run"
	initPath = ownDir + "/init"

	labelOurs = "sandbox-run" // on everything of ours
	labelFrom = "sandbox-run.from"
)

// prepared returns the image with init and the sandbox's user on top of ref. It is
// made once for each image and init, and kept by the engine.
func (r *Runtime) prepared(ctx context.Context, ref string) (image, error) {
	r.preparing.Lock()
	defer r.preparing.Unlock()
	if have, ok := r.images[ref]; ok {
		return have, nil
	}
	base, err := r.inspect(ctx, ref)
	if err != nil {
		return image{}, err
	}
	img := image{arch: base.Architecture, name: preparedName(base.ID)}
	if base.Config != nil {
		img.env = base.Config.Env
	}
	if base.Os != "linux" {
		return image{}, fmt.Errorf("the image %s is for %s, and programs run on Linux", ref, base.Os)
	}
	if _, err := r.client.ImageInspect(ctx, img.name); errdefs.IsNotFound(err) {
		r.notify("preparing the image " + ref)
		err = r.prepare(ctx, base.ID, img.name)
		if err != nil {
			return image{}, err
		}
	} else if err != nil {
		return image{}, r.failed("look at the image "+img.name, err)
	}
	r.images[ref] = img
	return img, nil
}

// layout is another word whenever [Runtime.ownFiles] makes other files.
const layout = "2"

// preparedName tells what a prepared image is made of.
func preparedName(base string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, base) // a hash takes everything
	_, _ = h.Write(spawn.InitProgram())
	_, _ = io.WriteString(h, layout+passwdLine+groupLine)
	return "sandbox-run/prepared:" + hex.EncodeToString(h.Sum(nil))[:24]
}

// inspect looks at an image, and pulls it if it is not here.
func (r *Runtime) inspect(ctx context.Context, ref string) (client.ImageInspectResult, error) {
	found, err := r.client.ImageInspect(ctx, ref)
	if !errdefs.IsNotFound(err) {
		return found, r.failed("look at the image "+ref, err)
	}
	if err := r.pull(ctx, ref); err != nil {
		return found, noImage(ref, err)
	}
	found, err = r.client.ImageInspect(ctx, ref)
	return found, r.failed("look at the image "+ref, err)
}

// pull gets an image from its registry, and tells how far it is.
func (r *Runtime) pull(ctx context.Context, ref string) error {
	r.notify("pulling the image " + ref)
	stream, err := r.client.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	defer stream.Close()
	decoder := json.NewDecoder(stream)
	for {
		var line struct {
			Status, ID, Error string
		}
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
		if line.Status == "Pull complete" {
			r.notify("pulling the image " + ref + ": layer " + line.ID + " is here")
		}
	}
}

// The sandbox's user, before all others: an image may have given the number to one
// of its own.
var (
	passwdLine = fmt.Sprintf("%[1]s:x:%[2]d:%[2]d:%[1]s:%[3]s:/bin/sh\n", sandbox.UserName, sandbox.UserID, sandbox.WorkspaceDir)
	groupLine  = fmt.Sprintf("%s:x:%d:\n", sandbox.UserName, sandbox.UserID)
)

// prepare makes an image of another one and what is ours. Nothing of it runs.
func (r *Runtime) prepare(ctx context.Context, base, name string) error {
	made, err := r.client.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: base, Entrypoint: []string{initPath}, Labels: map[string]string{labelOurs: "prepare"}},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		return r.failed("make a container of "+base, err)
	}
	defer func() {
		_, _ = r.client.ContainerRemove(context.WithoutCancel(ctx), made.ID, client.ContainerRemoveOptions{Force: true}) // reclaimed otherwise
	}()
	files, err := r.ownFiles(ctx, made.ID)
	if err != nil {
		return err
	}
	if _, err := r.client.CopyToContainer(ctx, made.ID, client.CopyToContainerOptions{DestinationPath: "/", Content: files}); err != nil {
		return r.failed("copy our files to an image", err)
	}
	_, err = r.client.ContainerCommit(ctx, made.ID, client.ContainerCommitOptions{
		Reference: name, NoPause: true,
		Config: &container.Config{Labels: map[string]string{labelOurs: "prepared", labelFrom: base}},
	})
	return r.failed("keep the prepared image", err)
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
	// Podman gives a file system in memory the owner of the place that it covers.
	for dir, owner := range map[string]int{ownDir: 0, sandbox.WorkspaceDir: sandbox.UserID, sandbox.BuildDir: sandbox.UserID} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755, Uid: owner, Gid: owner}); err != nil {
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
