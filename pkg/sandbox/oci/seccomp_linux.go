package oci

import (
	"encoding/base64"
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

// filter puts one around init and all that it starts. gVisor takes none: the calls of its
// containers are its own to answer, and it passes over what it is given unless it is told
// not to (--oci-seccomp).
//
// A runtime has libseccomp compile the profile, which takes 10 ms of the 30 that a
// container takes in all. crun takes a program as it is, and then passes over the profile
// (run.oci.seccomp_bpf_data, since 0.20; crun(1)).
func (b *bundle) filter(config *specs.Spec) error {
	if b.flavour.ownKernel {
		return nil
	}
	profile, err := guest.Profile(b.filterOptions(), b.spec.Network, runtime.GOARCH)
	if err != nil {
		return err
	}
	text, err := json.Marshal(profile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &config.Linux.Seccomp); err != nil {
		return err
	}
	if b.flavour.name != "crun" {
		return nil
	}
	program, err := guest.OuterFilter(b.filterOptions(), b.spec.Network, runtime.GOARCH)
	config.Annotations = map[string]string{"run.oci.seccomp_bpf_data": base64.StdEncoding.EncodeToString(program)}
	return err
}

// filtered says who is under a filter.
func (f flavour) filtered() string {
	if f.ownKernel {
		return "an allow-list of system calls for programs; " + f.name + " puts none around init"
	}
	return "an allow-list of system calls, for init as well"
}
