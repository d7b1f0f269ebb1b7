package oci

import (
	"encoding/json"
	"runtime"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
)

// filterOptions are what the filters of a container's programs know of it.
func (b *bundle) filterOptions() seccomp.Options {
	return seccomp.Options{NoUDP: !b.host.unified, AllowAffinity: true}
}

// filter is the one that the runtime puts around init and all that it starts. gVisor
// takes none: the calls of its containers are its own to answer, and it passes over
// what it is given unless it is told not to (--oci-seccomp).
func (b *bundle) filter() (*specs.LinuxSeccomp, error) {
	if b.flavour.ownKernel {
		return nil, nil
	}
	profile, err := guest.Profile(b.filterOptions(), b.spec.Network, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	var filter specs.LinuxSeccomp
	return &filter, json.Unmarshal(text, &filter)
}

// filtered says who is under a filter.
func (f flavour) filtered() string {
	if f.ownKernel {
		return "an allow-list of system calls for programs; " + f.name + " puts none around init"
	}
	return "an allow-list of system calls, for init as well"
}
