package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// pull gets an image from its registry, and tells how far it is.
func (r *Runtime) pull(ctx context.Context, ref string) error {
	r.notify("pulling " + ref)
	stream, err := r.client.ImagePull(ctx, ref, client.ImagePullOptions{RegistryAuth: credentials(ref)})
	if err != nil {
		return err
	}
	defer stream.Close()
	p := progress{layers: map[string]layer{}}
	told := time.Now()
	decoder := json.NewDecoder(stream)
	for {
		var line pullLine
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if why := cmp.Or(line.ErrorDetail.Message, line.Error); why != "" {
			return errors.New(why)
		}
		if p.add(line) && time.Since(told) >= tellEvery {
			r.notify("pulling " + ref + ": " + p.String())
			told = time.Now()
		}
	}
}

// takesOurs tells whether an image of a registry would be here by the name of one of ours, which
// other runs would take for that: what ours are called is no secret.
func takesOurs(ref string) bool {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return false // nobody has it, as the engine will say
	}
	repository := parsed.Context().RepositoryStr()
	return repository == preparedImages || repository == keptImages
}

// credentials are those that docker login has left for an image's registry; empty
// when there are none.
func credentials(ref string) string {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "" // the engine says what is wrong with it
	}
	found, err := authn.DefaultKeychain.Resolve(parsed.Context().Registry)
	if err != nil || found == authn.Anonymous {
		return ""
	}
	c, err := found.Authorization()
	if err != nil {
		return ""
	}
	header, err := authconfig.Encode(registry.AuthConfig{
		Username: c.Username, Password: c.Password, Auth: c.Auth, IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken,
		ServerAddress: parsed.Context().RegistryStr(),
	})
	if err != nil {
		return ""
	}
	return header
}

// pullLine is a line of what an engine says while it pulls.
type pullLine struct {
	Status, ID     string
	ProgressDetail struct{ Current, Total int64 }
	ErrorDetail    struct{ Message string }
	Error          string // the same; engines are to leave it out
}

// tellEvery is how often the progress is told.
const tellEvery = 500 * time.Millisecond

// progress is how far an image is.
type progress struct {
	layers map[string]layer
}

type layer struct {
	got, size int64 // bytes to download
	done      bool
}

// add takes a line in, and tells whether it changed anything.
func (p progress) add(line pullLine) bool {
	l, known := p.layers[line.ID]
	switch line.Status {
	case "Pulling fs layer", "Waiting":
		if known {
			return false
		}
	case "Downloading":
		l.got, l.size = line.ProgressDetail.Current, max(l.size, line.ProgressDetail.Total)
	case "Download complete", "Verifying Checksum", "Extracting":
		l.got = l.size
	case "Pull complete", "Already exists":
		l.got, l.done = l.size, true
	default:
		return false
	}
	p.layers[line.ID] = l
	return true
}

func (p progress) String() string {
	var done int
	var got, size int64
	for _, l := range p.layers {
		got, size = got+l.got, size+l.size
		if l.done {
			done++
		}
	}
	const mb = 1_000_000
	return fmt.Sprintf("%d of %d layers, %d of %d MB", done, len(p.layers), got/mb, (size+mb-1)/mb)
}

// noImage says how to get an image that is neither here nor to be had. Engines tell
// the reasons apart in words alone.
func (r *Runtime) noImage(ref string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if own := r.failed("pull "+ref, err); ofEngine(own) {
		return own
	}
	says := strings.ToLower(err.Error())
	about := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(says, w) {
				return true
			}
		}
		return false
	}
	e := &sandbox.ImageError{Ref: ref, Err: err, Mend: "Pull it (docker pull " + ref + ") or load it (docker load), or name another one"}
	host := "its registry"
	if parsed, err := name.ParseReference(ref); err == nil {
		host = cmp.Or(parsed.Context().RegistryStr(), host)
	}
	switch {
	case errdefs.IsInvalidArgument(err) || about("invalid reference"):
		e.Mend = "An image is named as in python:3.12-slim or ghcr.io/owner/name:tag"
	case about("no such host", "connection refused", "i/o timeout", "network is unreachable", "no route to host", "tls handshake", "request canceled", "deadline exceeded"):
		e.Err = fmt.Errorf("it is not here, and %s cannot be reached: %w", host, err)
		e.Mend = "Pull it where there is a network (docker pull, docker save), and load it here (docker load); or name one that is here (docker images)"
	case about("http response to https client", "x509:"):
		e.Mend = "Have the engine trust " + host + ", by its certificate or as one of its insecure registries"
	case about("unauthorized", "authentication required", "access denied", "is denied", "denied:", "forbidden"):
		e.Mend = "Check its name; if it is private, log in (docker login " + host + ")"
	case about("manifest unknown", "not found", "name unknown", "no matching manifest"):
		e.Mend = "Check its name and tag; docker images lists those that are here"
	}
	return e
}
