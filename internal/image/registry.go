package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Pull gets an image from its registry and gives it that name, which an older
// image may lose. Nothing is fetched when the registry's image is here already.
// Credentials are those that docker login or podman login have stored.
// Registries speak https; only one on this machine may speak http.
func (s *Store) Pull(ctx context.Context, ref string) (Image, error) {
	named, err := parse(ref)
	if err != nil {
		return Image{}, err
	}
	if madeHere(named) {
		return Image{}, s.about(ref, problemf(ErrNotFound, "it is made on this machine and not pulled: sandbox-run image build-default"))
	}
	r, err := newRepository(named)
	if err != nil {
		return Image{}, s.about(ref, err)
	}
	manifest, err := r.resolve(ctx, named)
	if err != nil {
		return Image{}, s.about(ref, registryError(named, err))
	}
	return s.add(ctx, candidate{label: ref, names: []string{named.Name()}, manifest: manifest, from: r})
}

// madeHere tells the name of the default image. Whoever has that name in a registry
// is not us.
func madeHere(ref name.Reference) bool {
	ours, err := parse(DefaultName)
	return err == nil && ref.Context().Name() == ours.Context().Name()
}

// repository is of a registry, where manifests and blobs come from.
type repository struct {
	name   name.Repository
	puller *remote.Puller
}

func newRepository(ref name.Reference) (*repository, error) {
	host := ref.Context().RegistryStr()
	puller, err := remote.NewPuller(
		remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(&onlyHTTPS{remote.DefaultTransport, isLoopback(host)}),
		remote.WithUserAgent("sandbox-run"),
	)
	return &repository{ref.Context(), puller}, err
}

// resolve fetches the manifest of a reference, and finds the one for this machine
// where there are several. What is named by a digest has that digest.
func (r *repository) resolve(ctx context.Context, ref name.Reference) ([]byte, error) {
	return resolve(func(digest v1.Hash) ([]byte, error) {
		if digest != (v1.Hash{}) {
			ref = r.name.Digest(digest.String())
		}
		found, err := r.puller.Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		return found.Manifest, nil
	})
}

func (r *repository) blob(ctx context.Context, d v1.Descriptor) (io.ReadCloser, error) {
	layer, err := r.puller.Layer(ctx, r.name.Digest(d.Digest.String()))
	if err != nil {
		return nil, registryError(r.name, err)
	}
	blob, err := layer.Compressed()
	return blob, registryError(r.name, err)
}

// registryError says what to do about an answer of a registry.
func registryError(asked interface{ Name() string }, err error) error {
	host, _, _ := strings.Cut(asked.Name(), "/")
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return unreachable(host, err)
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return problemf(ErrNotFound, "%s has no such image: %v", host, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s has no such image, or shows it to others only; docker login %s lets it know who you are: %w", host, host, err)
	case http.StatusTooManyRequests:
		return fmt.Errorf("%s has had too many requests from here; wait, or docker login %s: %w", host, host, err)
	}
	return fmt.Errorf("%s has failed: %w", host, err)
}

// unreachable says what may be wrong where there was no answer.
func unreachable(host string, err error) error {
	var dns *net.DNSError
	var network *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("there is no registry %s: is the name right? %w", host, err)
	case errors.As(err, &dns), errors.As(err, &network):
		return fmt.Errorf("%s cannot be reached: is there a network, or a proxy to be named by HTTPS_PROXY? %w", host, err)
	}
	return err
}

// onlyHTTPS refuses requests that anybody on the way could answer. The client of
// registries takes http for every private address.
type onlyHTTPS struct {
	next     http.RoundTripper
	loopback bool // the registry is on this machine
}

// RoundTrip makes a request, unless it is for http to another machine.
func (o *onlyHTTPS) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && (!o.loopback || !isLoopback(r.URL.Host)) {
		return nil, fmt.Errorf("%s is asked for over http, which only a registry on this machine may be: give it a certificate", r.URL.Host)
	}
	return o.next.RoundTrip(r)
}

// isLoopback tells whether a host, with or without a port, is this machine by its
// name alone.
func isLoopback(host string) bool {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
