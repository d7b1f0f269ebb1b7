package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtimes are the isolation technologies of this build, as the configuration has
// them.
func Runtimes(cfg config.Config, getenv func(string) string) sandbox.Factory {
	return sandbox.Factory{
		"local": func() (sandbox.Runtime, error) { return Local(getenv) },
		"oci":   func() (sandbox.Runtime, error) { return oci(cfg.OCIRuntime) },
	}
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

// auto opens the strongest runtime that works here: one with a kernel of its own if
// the configuration names it, or else this machine's.
func auto(ctx context.Context, cfg config.Config, f sandbox.Factory) (sandbox.Runtime, []string, error) {
	if !ownKernel(cfg.OCIRuntime) {
		rt, err := f.Open("local")
		return rt, nil, err
	}
	rt, err := f.Open("oci")
	if err == nil {
		if _, err = rt.Probe(ctx); err == nil {
			return rt, nil, nil
		}
		_ = rt.Close()
	}
	warning := fmt.Sprintf("runtime oci cannot be used, so local runs this: %v", err)
	rt, err = f.Open("local")
	return rt, []string{warning}, err
}

// ownKernel tells whether an OCI runtime puts a kernel of its own, or a machine,
// between a program and this kernel.
func ownKernel(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	base := words[0][strings.LastIndexByte(words[0], '/')+1:]
	_, gvisor := strings.CutPrefix(base, "runsc")
	_, kata := strings.CutPrefix(base, "kata")
	return gvisor || kata
}
