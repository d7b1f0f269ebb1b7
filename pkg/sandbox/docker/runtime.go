package docker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtime implements [sandbox.Runtime] with an engine.
type Runtime struct {
	options Options
	client  *client.Client
	info    engineInfo

	preparing sync.Mutex // one image at a time
	images    map[string]image

	alive guest.Alive
}

// engineInfo is what an engine tells of itself.
type engineInfo struct {
	version string
	cpus    int
	cgroups string
	podman  bool
}

// New connects to the engine, and removes what dead clients have left there.
func New(ctx context.Context, opts Options) (*Runtime, error) {
	r := &Runtime{options: opts, images: map[string]image{}}
	if r.options.Notify == nil {
		r.options.Notify = func(string) {}
	}
	if r.options.Getenv == nil {
		r.options.Getenv = func(string) string { return "" }
	}
	host, err := hostOf(r.options)
	if err != nil {
		return nil, err
	}
	settings := []client.Opt{client.FromEnv}
	if host != "" {
		settings = append(settings, client.WithHost(host))
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
	r.info = engineInfo{version: i.ServerVersion, cpus: i.NCPU, cgroups: i.CgroupVersion}
	of, err := r.client.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		_ = r.client.Close() // nothing is open
		return nil, r.failed("ask the Docker engine for its version", err)
	}
	for _, c := range of.Components {
		r.info.podman = r.info.podman || c.Name == "Podman Engine"
	}
	_, _ = r.reclaim(ctx) // no reason to run nothing: the next start tries again
	return r, nil
}

const runtimeName = "docker"

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return runtimeName }

func (r *Runtime) notify(message string) { r.options.Notify(message) }

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	spec.Network = spec.Network.Normal()
	if err := r.check(ctx, spec); err != nil {
		return nil, err
	}
	ref := spec.Image
	if ref == "" {
		ref = r.options.Image
	}
	img, err := r.prepared(ctx, ref)
	if err != nil {
		return nil, err
	}
	c, err := r.create(ctx, spec, img)
	if err != nil {
		return nil, err
	}
	if err := r.alive.Add(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// check refuses what this runtime cannot do.
func (r *Runtime) check(ctx context.Context, spec sandbox.Spec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if spec.Disk.Bytes <= 0 || spec.Disk.Inodes <= 0 {
		return errors.New("a container needs a disk limit")
	}
	if err := spec.Network.Validate(); err != nil {
		return err
	}
	unsupported := func(what, reason string) error {
		return &sandbox.UnsupportedError{What: what, Reason: reason, Mend: "Use --runtime local"}
	}
	switch {
	case spec.Level == sandbox.LevelRestricted, spec.Level == sandbox.LevelNone:
		return unsupported("isolation "+string(spec.Level), "containers of an engine have every wall")
	case spec.Level != sandbox.LevelFull && spec.Level != sandbox.LevelAuto && spec.Level != "":
		return fmt.Errorf("unknown isolation level %q: auto, full, restricted or none", spec.Level)
	case spec.WorkspaceOnDisk:
		return unsupported("a workspace on disk", "this runtime keeps it in memory")
	case spec.Network.LeadsOut():
		return unsupported("network "+string(spec.Network.Mode), "this runtime has no relay yet that would hold it")
	}
	for _, m := range spec.Mounts {
		if m.Source != "" && !m.Optional {
			return unsupported("a mount of "+m.Source, "nothing of the host is mounted into containers of an engine")
		}
	}
	return nil
}

// isolation is what stands around every container.
func (r *Runtime) isolation() sandbox.Isolation {
	kernel := api.Absent
	if _, ok := strings.CutPrefix(r.options.Runtime, "runsc"); ok {
		kernel = api.Enforced
	}
	i := sandbox.Isolation{
		Level: sandbox.LevelFull,
		Mechanisms: map[string]string{
			"kernel": kernel, "namespaces": api.Enforced, "root": api.Enforced, "seccomp": api.Enforced, "landlock": api.Absent,
			"uid": api.Degraded, "signals": api.Enforced, "devices": api.Enforced, "network": api.Enforced, "cgroup": api.Enforced,
		},
		Limits: map[string]string{
			sandbox.LimitWallTime: api.Enforced, sandbox.LimitOpenFiles: api.Enforced, sandbox.LimitDisk: api.Degraded, sandbox.LimitInodes: api.Degraded,
			sandbox.LimitMemory: api.Enforced, sandbox.LimitCPUs: api.Enforced, sandbox.LimitCPUTime: api.Enforced, sandbox.LimitProcesses: api.Enforced,
		},
	}
	i.Warnings = []string{"disk is degraded: /workspace, /tmp and /dev/shm may each hold that much"}
	if r.info.podman {
		i.Limits[sandbox.LimitInodes] = api.Absent
		i.Warnings = append(i.Warnings, "inodes is absent: Podman's file systems in memory have no such limit")
	}
	return i
}

// Probe implements [sandbox.Runtime].
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	c, err := r.Create(ctx, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		return sandbox.Capabilities{}, err
	}
	if err := c.Delete(ctx); err != nil {
		return sandbox.Capabilities{}, err
	}
	caps := sandbox.Capabilities{
		Runtime: r.Name(), TTY: true,
		Levels:   []sandbox.Level{sandbox.LevelFull},
		Networks: []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost},
	}
	i := c.Isolation()
	detail := fmt.Sprintf("Docker engine %s on %s/%s", r.info.version, runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"kernel", "namespaces", "root", "seccomp", "landlock", "uid", "signals", "devices", "network", "cgroup"} {
		caps.Mechanisms = append(caps.Mechanisms, sandbox.Mechanism{Name: name, State: i.Mechanisms[name], Detail: detail})
	}
	for _, name := range []string{sandbox.LimitMemory, sandbox.LimitCPUs, sandbox.LimitCPUTime, sandbox.LimitProcesses, sandbox.LimitDisk, sandbox.LimitWallTime, sandbox.LimitOpenFiles} {
		caps.Mechanisms = append(caps.Mechanisms, sandbox.Mechanism{Name: "limit:" + name, State: i.Limits[name], Detail: detail})
	}
	return caps, nil
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	return errors.Join(r.alive.Close(context.Background()), r.client.Close())
}

// Reclaim removes what dead clients have left in the engine. It returns a line for
// each thing that it removed.
func Reclaim(ctx context.Context, opts Options) ([]string, error) {
	r, err := New(ctx, opts) // reclaims, too
	if err != nil {
		return nil, err
	}
	removed, err := r.reclaim(ctx)
	return removed, errors.Join(err, r.Close())
}

// fresh is how long a container may exist before it is started.
const fresh = time.Minute

// reclaim removes the containers of ours that have ended, or were never started:
// whose client is alive removes them itself at once.
func (r *Runtime) reclaim(ctx context.Context) (removed []string, err error) {
	list, err := r.client.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelOurs).Add("status", "created", "exited", "dead"),
	})
	if err != nil {
		return nil, r.failed("list containers", err)
	}
	var errs []error
	for _, c := range list.Items {
		if c.State == container.StateCreated && time.Since(time.Unix(c.Created, 0)) < fresh {
			continue
		}
		_, err := r.client.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil {
			removed = append(removed, "container "+c.ID[:12])
		} else if !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
			errs = append(errs, r.failed("remove a container", err))
		}
	}
	return removed, errors.Join(errs...)
}
