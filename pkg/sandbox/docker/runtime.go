package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtime implements [sandbox.Runtime] with an engine.
type Runtime struct {
	options Options
	client  *client.Client
	info    engineInfo
	verdict advisory.Verdict // on the versions of engine and OCI runtime

	warnings []string               // what of the options cannot be had
	noFilter atomic.Pointer[string] // why the engine takes no filter of ours
	profiles profiles

	preparing chan struct{} // one image at a time

	probing sync.Mutex
	probed  *sandbox.Capabilities

	outlets *outlets
	alive   alive.List[*guest.Container]
}

// New connects to the engine, and removes what dead clients have left there.
func New(ctx context.Context, opts Options) (*Runtime, error) {
	r, err := connect(ctx, opts)
	if err == nil {
		_, _ = r.reclaim(ctx) // no reason to run nothing: the next start tries again
	}
	return r, err
}

func connect(ctx context.Context, opts Options) (*Runtime, error) {
	r := &Runtime{options: opts, preparing: make(chan struct{}, 1), outlets: newOutlets(opts)}
	if r.options.Notify == nil {
		r.options.Notify = func(string) {}
	}
	if r.options.Getenv == nil {
		r.options.Getenv = func(string) string { return "" }
	}
	at, err := endpointOf(ctx, r.options)
	if err != nil {
		return nil, err
	}
	settings, err := at.settings()
	if err != nil {
		return nil, err
	}
	if r.client, err = client.New(settings...); err != nil {
		return nil, fmt.Errorf("connect to the Docker engine: %w", err)
	}
	answer, err := r.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		_ = r.client.Close() // nothing was sent
		return nil, r.failed("ask the Docker engine about itself", err)
	}
	i := answer.Info
	r.info = newEngineInfo(i)
	if err := knows(i, opts.Runtime); err != nil {
		_ = r.client.Close() // nothing was sent
		return nil, err
	}
	r.warnings = ceilings(&r.options, i.NCPU, i.MemTotal)
	of, err := r.client.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		_ = r.client.Close() // nothing is open
		return nil, r.failed("ask the Docker engine for its version", err)
	}
	for _, c := range of.Components {
		r.info.podman = r.info.podman || c.Name == "Podman Engine"
	}
	r.profiles = newProfiles(r.info)
	r.verdict = judge(at.host, opts.Runtime, of, i)
	if err := r.verdict.Refuse(true); opts.StrictVersions && err != nil {
		_ = r.client.Close() // nothing is open
		return nil, err
	}
	return r, nil
}

// knows refuses an OCI runtime that the engine has not been told of. One of containerd's
// is found by its name alone.
func knows(i system.Info, name string) error {
	_, shim := strings.CutPrefix(name, "io.containerd.")
	if _, ok := i.Runtimes[name]; ok || shim || name == "" || len(i.Runtimes) == 0 {
		return nil
	}
	return &EngineError{
		What: "use the OCI runtime " + name, Err: fmt.Errorf("the engine knows only %s", strings.Join(slices.Sorted(maps.Keys(i.Runtimes)), ", ")),
		Mend: "Add it to the runtimes of /etc/docker/daemon.json and restart the engine, or change DOCKER_RUNTIME",
	}
}

const runtimeName = "docker"

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return runtimeName }

func (r *Runtime) notify(message string) { r.options.Notify(message) }

// Image implements [sandbox.Runtime]: it pulls the image, if it is not here.
func (r *Runtime) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	base, err := r.base(ctx, spec)
	img := sandbox.Image{Name: r.ref(spec), Digest: base.ID, Elsewhere: true}
	if base.Config != nil {
		img.Env = base.Config.Env
	}
	return img, err
}

// ref is the image that a container is made of.
func (r *Runtime) ref(spec sandbox.Spec) string {
	return cmp.Or(spec.Image, r.options.Images[spec.Language], r.options.Image)
}

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	spec.Network = spec.Network.Normal()
	if err := r.check(ctx, spec); err != nil {
		return nil, err
	}
	img, err := r.find(ctx, spec)
	if err != nil {
		return nil, err
	}
	if img, err = r.withKept(ctx, spec.Mounts, img); err != nil {
		return nil, err
	}
	c, err := r.createOf(ctx, spec, img)
	if err != nil {
		return nil, err
	}
	if err := r.alive.Add(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// imageTries is how often an image may be removed before there is a container of it.
const imageTries = 3

// createOf makes a container of an image that the engine has, or has then. Somebody may
// remove it in between: a process that makes room, or tidies up.
func (r *Runtime) createOf(ctx context.Context, spec sandbox.Spec, img image) (c *guest.Container, err error) {
	for range imageTries {
		if err = r.ready(ctx, r.ref(spec), &img); err == nil {
			c, err = r.create(ctx, spec, img)
		}
		if !errdefs.IsNotFound(err) {
			break
		}
	}
	return c, err
}

// check refuses what this runtime cannot do.
func (r *Runtime) check(ctx context.Context, spec sandbox.Spec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	unsupported := func(what, reason string) error {
		return &sandbox.UnsupportedError{What: what, Reason: reason, Mend: "Use --runtime local"}
	}
	switch {
	case spec.Level == sandbox.LevelRestricted, spec.Level == sandbox.LevelNone:
		return unsupported("isolation "+string(spec.Level), "containers of an engine have every wall")
	case spec.WorkspaceOnDisk:
		return unsupported("a workspace on disk", "this runtime keeps it in memory")
	case spec.Network.LeadsOut():
		if err := r.canLeadOut(); err != nil {
			return noOutlet(spec.Network, err)
		}
	}
	for _, m := range spec.Mounts {
		if m.Source != "" && !m.Optional {
			return unsupported("a mount of "+m.Source, "nothing of the host is mounted into containers of an engine")
		}
	}
	return nil
}

// Probe implements [sandbox.Runtime]. Once a container was made it only asks whether the
// engine still answers.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	r.probing.Lock()
	defer r.probing.Unlock()
	if r.probed != nil {
		_, err := r.client.Ping(ctx, client.PingOptions{})
		return *r.probed, r.failed("reach the engine", err)
	}
	ref, err := r.anyImage(ctx)
	if err != nil {
		return sandbox.Capabilities{}, err
	}
	if ref == "" { // nothing to try it with
		return r.capabilities(r.isolation(), r.canLeadOut(), "not tried, for none of the configured images is here yet"), nil
	}
	c, out, err := r.probe(ctx, ref)
	if err != nil {
		return sandbox.Capabilities{}, err
	}
	caps := r.capabilities(c.Isolation(), out, "")
	if err := c.Delete(context.WithoutCancel(ctx)); err != nil {
		return sandbox.Capabilities{}, err
	}
	r.probed = &caps
	return caps, nil
}

// anyImage is a configured image that is here, or empty.
func (r *Runtime) anyImage(ctx context.Context) (string, error) {
	for _, ref := range append([]string{r.options.Image}, slices.Sorted(maps.Values(r.options.Images))...) {
		if ref == "" {
			continue
		}
		base, err := r.look(ctx, ref)
		if image := (*sandbox.ImageError)(nil); err != nil && !errors.As(err, &image) {
			return "", err
		}
		if err == nil && base.ID != "" {
			return ref, nil
		}
	}
	return "", nil
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	return errors.Join(r.alive.Close(context.Background()), r.client.Close())
}

// Reclaim removes what dead clients have left in the engine. It returns a line for
// each thing that it removed.
func Reclaim(ctx context.Context, opts Options) ([]string, error) {
	r, err := connect(ctx, opts)
	if err != nil {
		return nil, err
	}
	removed, err := r.reclaim(ctx)
	images, unusedErr := r.removeUnused(ctx)
	dated, datedErr := r.prune(ctx, "")
	filters, filtersErr := removeFilters()
	return slices.Concat(removed, images, dated, filters), errors.Join(err, unusedErr, datedErr, filtersErr, r.Close())
}

// fresh is how long a container may exist before it is started, or an image is made of
// it, which may have gigabytes to take in.
const fresh = 15 * time.Minute

// initialized is Podman's word for a container that somebody has attached to and nobody has started.
const initialized = "initialized"

// stopped is its word for one that has ended and still has what it was given.
const stopped = "stopped"

// lately is how long a client may take to ask why its container has ended.
const lately = time.Minute

// reclaim removes the containers of ours that have ended, or were never started:
// whose client is alive removes them itself at once. Of clients on other machines it is
// not known whether they are.
func (r *Runtime) reclaim(ctx context.Context) (removed []string, err error) {
	states := []string{"created", "exited", "dead"}
	if r.info.podman {
		states = []string{"created", initialized, "exited", stopped}
	}
	list, err := r.client.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelOurs).Add("status", states...),
	})
	if err != nil {
		return nil, r.failed("list containers", err)
	}
	var errs []error
	for _, c := range list.Items {
		if r.wanted(ctx, c) {
			continue
		}
		err := r.removeContainer(ctx, c.ID)
		if err == nil {
			removed = append(removed, "container "+c.ID[:12])
		} else if !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			errs = append(errs, r.failed("remove a container", err))
		}
	}
	return removed, errors.Join(errs...)
}

// wanted tells whether somebody who is not known to be dead may want a container of those:
// to start it, or to ask why it has ended. Podman says of each what it is when it is listed,
// which is later than when it was chosen: it may run by then.
func (r *Runtime) wanted(ctx context.Context, c container.Summary) bool {
	by := c.Labels[labelMaker]
	if died(by) {
		return false
	}
	switch c.State {
	case container.StateCreated, initialized:
		return time.Since(time.Unix(c.Created, 0)) < fresh
	case container.StateExited, container.StateDead, stopped:
	default:
		return true
	}
	if by == "" {
		return false
	}
	got, err := r.client.ContainerInspect(ctx, c.ID, client.ContainerInspectOptions{})
	if err != nil || got.Container.State == nil || got.Container.State.Running {
		return !errdefs.IsNotFound(err)
	}
	ended, err := time.Parse(time.RFC3339Nano, got.Container.State.FinishedAt)
	return err == nil && time.Since(ended) < lately
}
