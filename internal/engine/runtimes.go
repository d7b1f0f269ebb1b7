package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/docker"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
)

// Options are what runtimes need beside the configuration.
type Options struct {
	Getenv func(string) string
	// PullImages gets images that a request names and that are not here.
	PullImages bool
	// Notify is told of slow preparations.
	Notify func(string)
	// Many is for who will make many containers.
	Many bool
}

// Runtimes are the isolation technologies of this build, as the configuration has
// them.
func Runtimes(ctx context.Context, cfg config.Config, opts Options) sandbox.Factory {
	return sandbox.Factory{
		"local":  func() (sandbox.Runtime, error) { return openLocal(cfg, opts) },
		"oci":    func() (sandbox.Runtime, error) { return openOCI(cfg, opts) },
		"docker": func() (sandbox.Runtime, error) { return openDocker(ctx, cfg, opts) },
		"e2b":    func() (sandbox.Runtime, error) { return usable(openE2B(cfg)) },
		"remote": func() (sandbox.Runtime, error) { return openRemote(ctx, cfg) },
	}
}

// imageDir is where the images of local and oci are kept.
func imageDir(cfg config.Config) string {
	if cfg.DataDir == "" {
		return ""
	}
	return filepath.Join(cfg.DataDir, "images")
}

func openDocker(ctx context.Context, cfg config.Config, opts Options) (sandbox.Runtime, error) {
	rt, err := docker.New(ctx, docker.Options{
		Images: cfg.Docker.Images, Image: cfg.Docker.Image, Runtime: cfg.Docker.Runtime,
		CPULimit: cfg.Docker.CPULimit, MemoryLimitBytes: cfg.Docker.MemoryLimitBytes, StrictVersions: cfg.StrictVersions,
		Proxy: proxySettings(opts.Getenv).ProxyFunc(), Getenv: opts.Getenv, Notify: opts.Notify,
	})
	return usable(rt, err)
}

// Reclaim removes what killed processes left behind, on this machine and in the
// engine if the configuration names that, and names it.
func Reclaim(ctx context.Context, cfg config.Config, getenv func(string) string) ([]string, error) {
	removed, err := ReclaimHere()
	var more []string
	var moreErr error
	switch cfg.Runtime {
	case "docker":
		more, moreErr = docker.Reclaim(ctx, docker.Options{Getenv: getenv})
	case "e2b":
		more, moreErr = reclaimE2B(ctx, cfg)
	}
	return append(removed, more...), errors.Join(err, moreErr)
}

func reclaimE2B(ctx context.Context, cfg config.Config) ([]string, error) {
	rt, err := openE2B(cfg)
	if err != nil {
		return nil, err
	}
	var removed []string
	n, err := rt.Reclaim(ctx)
	if n > 0 {
		removed = []string{fmt.Sprintf("%d sandboxes of E2B", n)}
	}
	return removed, errors.Join(err, rt.Close())
}

// secondsPerHour turns prices into those of [e2b.Prices].
const secondsPerHour = 3600

func openE2B(cfg config.Config) (*e2b.Runtime, error) {
	c := cfg.E2B
	for name, address := range map[string]string{"E2B_API_URL": c.APIURL, "E2B_SANDBOX_URL": c.SandboxURL} {
		if _, err := e2b.ParseURL(address); address != "" && err != nil {
			return nil, &config.ValueError{Name: name, Err: err}
		}
	}
	return e2b.New(e2b.Options{
		APIURL: c.APIURL, SandboxURL: c.SandboxURL, APIKey: c.Key, APIKeyFile: c.KeyFile, Template: c.Template,
		Prices:     e2b.Prices{PerVCPUSecond: c.VCPUHour / secondsPerHour, PerGiBSecond: c.GiBHour / secondsPerHour},
		RuntimeDir: runtimeDir(),
	})
}

func openRemote(ctx context.Context, cfg config.Config) (sandbox.Runtime, error) {
	c := cfg.Remote
	var endpoints []remote.Endpoint
	if c.Servers != "" {
		var err error
		if endpoints, err = remote.ParseEndpoints(c.Servers); err != nil {
			return nil, &config.ValueError{Name: "SANDBOX_REMOTE", Err: err}
		}
	}
	rt, err := remote.New(ctx, remote.Options{Endpoints: endpoints, Region: c.Region, APIKey: c.Key, APIKeyFile: c.KeyFile})
	return usable(rt, err)
}

// usable keeps a nil runtime from becoming an interface that is not nil.
func usable[R sandbox.Runtime](rt R, err error) (sandbox.Runtime, error) {
	if err != nil {
		return nil, err
	}
	return rt, nil
}

// Open opens the runtime that the configuration names. Where it cannot be used and
// the configuration says so, that is the local one; the warnings tell.
func Open(ctx context.Context, cfg config.Config, f sandbox.Factory) (rt sandbox.Runtime, warnings []string, err error) {
	name := cfg.Runtime
	if name == config.RuntimeAuto {
		return auto(ctx, cfg, f)
	}
	rt, err = f.Open(name)
	if err == nil || cfg.Fallback == "" || name == cfg.Fallback {
		return rt, nil, err
	}
	warning := fmt.Sprintf("runtime %s cannot be used, so %s runs this: %v", name, cfg.Fallback, err)
	rt, err = f.Open(cfg.Fallback)
	return rt, []string{warning}, err
}

// candidate is a runtime that auto may take.
type candidate struct {
	name string
	// ready looks closer at one that could be opened; nil is content with that.
	ready func(context.Context, sandbox.Runtime) error
}

// candidates are the runtimes from the strongest to the weakest: with a machine or
// a kernel of its own, if the configuration names one; this machine's kernel with
// every wall; an engine on it; and what is left of the walls.
func candidates(cfg config.Config) (list []candidate) {
	if !cfg.E2B.Key.IsZero() || cfg.E2B.KeyFile != "" {
		list = append(list, candidate{"e2b", probed})
	}
	if ownKernel(cfg.Docker.Runtime) {
		list = append(list, candidate{"docker", nil})
	}
	if ownKernel(cfg.OCIRuntime) {
		list = append(list, candidate{"oci", probed})
	}
	return append(list, candidate{"local", full}, candidate{"docker", nil}, candidate{"local", nil})
}

func probed(ctx context.Context, rt sandbox.Runtime) error {
	_, err := rt.Probe(ctx)
	return err
}

func full(ctx context.Context, rt sandbox.Runtime) error {
	caps, err := rt.Probe(ctx)
	if err == nil && !slices.Contains(caps.Levels, sandbox.LevelFull) {
		err = errors.New("isolation full does not work here; sandbox-run doctor shows why")
	}
	return err
}

// auto opens the first candidate that can be used, and says why it is not one before.
func auto(ctx context.Context, cfg config.Config, f sandbox.Factory) (sandbox.Runtime, []string, error) {
	var failed []string // names
	reasons := map[string]error{}
	for _, c := range candidates(cfg) {
		rt, err := c.open(ctx, f)
		if err == nil {
			return rt, whyNot(failed, reasons, c.name), nil
		}
		if reasons[c.name] == nil {
			failed = append(failed, c.name)
		}
		reasons[c.name] = err
	}
	var all []string
	for _, name := range failed {
		all = append(all, fmt.Sprintf("runtime %s cannot be used: %v", name, reasons[name]))
	}
	return nil, nil, errors.New(strings.Join(all, "; "))
}

func (c candidate) open(ctx context.Context, f sandbox.Factory) (sandbox.Runtime, error) {
	rt, err := f.Open(c.name)
	if err != nil || c.ready == nil {
		return rt, err
	}
	if err := c.ready(ctx, rt); err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return rt, nil
}

// whyNot says what was not taken, and why.
func whyNot(failed []string, reasons map[string]error, taken string) (warnings []string) {
	for _, name := range failed {
		if name == taken {
			warnings = append(warnings, fmt.Sprintf("runtime %s is weak: %v", name, reasons[name]))
			continue
		}
		warnings = append(warnings, fmt.Sprintf("runtime %s cannot be used, so %s runs this: %v", name, taken, reasons[name]))
	}
	return warnings
}

// ownKernel tells whether an OCI runtime puts a kernel of its own, or a machine,
// between a program and this kernel.
func ownKernel(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && advisory.OwnKernel(words[0])
}
