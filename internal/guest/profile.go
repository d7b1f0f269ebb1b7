package guest

import (
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Profile is the filter that an engine is to put around a container: around init, then,
// which makes the calls of [callsOf] and needs no others, and around all that it
// starts. It is that of programs who may have all of the container's network, but for
// what stands between programs and init ([seccomp.Options.OneUser]): each program has a
// filter of its own besides, from the same filter and network.
func Profile(filter seccomp.Options, network sandbox.NetworkPolicy, arch string) (*seccomp.Profile, error) {
	return export(filter, network, arch, seccomp.Export)
}

// NamedProfile is the same for older engines, see [seccomp.ExportNamed].
func NamedProfile(filter seccomp.Options, network sandbox.NetworkPolicy, arch string) (*seccomp.Profile, error) {
	return export(filter, network, arch, seccomp.ExportNamed)
}

func export(filter seccomp.Options, network sandbox.NetworkPolicy, arch string, as func(seccomp.Policy, seccomp.Arch) (*seccomp.Profile, error)) (*seccomp.Profile, error) {
	a, err := seccomp.ArchOf(arch)
	if err != nil {
		return nil, err
	}
	return as(outer(filter, network), a)
}

// OuterFilter is the program of [Profile], for an engine that takes it as the kernel does.
func OuterFilter(filter seccomp.Options, network sandbox.NetworkPolicy, arch string) ([]byte, error) {
	a, err := seccomp.ArchOf(arch)
	if err != nil {
		return nil, err
	}
	program, err := seccomp.Compile(outer(filter, network), a)
	return seccomp.Marshal(program), err
}

func outer(filter seccomp.Options, network sandbox.NetworkPolicy) seccomp.Policy {
	filter.Outer = true
	filter.Inet = network.Normal().Mode != sandbox.NetworkNone
	filter.NoUDP = filter.Inet && filter.NoUDP
	return seccomp.Default(filter)
}
