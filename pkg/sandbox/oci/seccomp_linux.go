package oci

import (
	"encoding/base64"
	"encoding/json"
	"runtime"
	"slices"
	"sync"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// filterOptions are what the filters of a container's programs know of it.
func (h host) filterOptions() seccomp.Options {
	return seccomp.Options{NoUDP: !h.unified, AllowAffinity: true}
}

// filters are what stands around init and all that it starts, with internet sockets and
// without. Nothing else of a container changes them, so each is made once, when a
// container wants it.
type filters struct {
	none, inet filter
	asProgram  func() bool // how the runtime takes them
}

// filter is one filter in the two ways in which runtimes take it.
type filter struct {
	profile func() (*specs.LinuxSeccomp, error) // which containers share: nobody changes it
	program func() (string, error)              // in base64
}

func newFilters(opts seccomp.Options, asProgram func() bool) filters {
	of := func(mode sandbox.NetworkMode) filter {
		network := sandbox.NetworkPolicy{Mode: mode}
		return filter{
			profile: sync.OnceValues(func() (*specs.LinuxSeccomp, error) { return profile(opts, network) }),
			program: sync.OnceValues(func() (string, error) {
				program, err := guest.OuterFilter(opts, network, runtime.GOARCH)
				return base64.StdEncoding.EncodeToString(program), err
			}),
		}
	}
	return filters{none: of(sandbox.NetworkNone), inet: of(sandbox.NetworkFull), asProgram: asProgram}
}

func profile(opts seccomp.Options, network sandbox.NetworkPolicy) (p *specs.LinuxSeccomp, err error) {
	ours, err := guest.Profile(opts, network, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(ours)
	if err != nil {
		return nil, err
	}
	return p, json.Unmarshal(text, &p)
}

// put puts one around a container.
//
// A runtime has libseccomp compile the profile, which takes 10 ms of the 30 that a
// container takes in all; who takes a program as it is has nothing to compile.
func (f filters) put(config *specs.Spec, network sandbox.NetworkPolicy) (err error) {
	around := f.inet
	if network.Normal().Mode == sandbox.NetworkNone {
		around = f.none
	}
	if !f.asProgram() {
		config.Linux.Seccomp, err = around.profile()
		return err
	}
	program, err := around.program()
	config.Annotations = map[string]string{"run.oci.seccomp_bpf_data": program}
	return err
}

// takesProgram tells whether a runtime puts a program of the kernel's around a container
// (run.oci.seccomp_bpf_data of crun(1), since 0.20). Any other would pass over it, and
// leave the container without.
func takesProgram(v advisory.Verdict) bool {
	return slices.ContainsFunc(v.Components, func(c advisory.Component) bool {
		return c.Name == "crun" && c.AtLeast("0.20")
	})
}

// filtered says who is under a filter.
func (f flavour) filtered() string {
	if f.ownKernel {
		return "an allow-list of system calls for programs; " + f.name + " puts none around init"
	}
	return "an allow-list of system calls, for init as well"
}
