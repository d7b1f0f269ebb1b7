package engine

import (
	"errors"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	ocirun "github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

// Local opens the local runtime as far as it needs no configuration: without images.
func Local(getenv func(string) string) (sandbox.Runtime, error) {
	return openLocal(config.Config{}, Options{Getenv: getenv})
}

// openLocal opens the local runtime. Installers of packages go through the HTTP proxy
// that the environment names.
func openLocal(cfg config.Config, opts Options) (sandbox.Runtime, error) {
	rt, err := local.New(local.Options{
		Proxy: proxySettings(opts.Getenv).ProxyFunc(), ImageDir: imageDir(cfg), PullImages: opts.PullImages, Notify: opts.Notify,
		StrictVersions: cfg.StrictVersions, Many: opts.Many,
	})
	return usable(rt, err)
}

// openOCI opens an OCI runtime: its program, and flags of its own.
func openOCI(cfg config.Config, opts Options) (sandbox.Runtime, error) {
	o := ocirun.Options{
		Proxy: proxySettings(opts.Getenv).ProxyFunc(), ImageDir: imageDir(cfg), PullImages: opts.PullImages, Notify: opts.Notify,
		StrictVersions: cfg.StrictVersions,
	}
	if words := strings.Fields(cfg.OCIRuntime); len(words) > 0 {
		o.Program, o.Args = words[0], words[1:]
	}
	rt, err := ocirun.New(o)
	return usable(rt, err)
}

// runtimeDir is where our processes on this machine tell that they are alive.
func runtimeDir() string { return instance.DefaultDir() }

// ReclaimHere removes what killed processes left behind on this machine, and names it.
func ReclaimHere() ([]string, error) {
	removed, err := ocirun.Reclaim(ocirun.Options{}) // which knows its own directories from the rest
	more, localErr := local.Reclaim(local.Options{})
	return append(removed, more...), errors.Join(err, localErr)
}
