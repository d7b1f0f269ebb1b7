package oci

import (
	"encoding/base64"
	"reflect"
	"runtime"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// put puts a filter around a container of a runtime that says what it is.
func put(t testing.TB, f filters, mode sandbox.NetworkMode) specs.Spec {
	t.Helper()
	config := specs.Spec{Linux: &specs.Linux{}}
	if err := f.put(&config, sandbox.NetworkPolicy{Mode: mode}); err != nil {
		t.Fatal(err)
	}
	return config
}

// filtersOf are those of a runtime whose file is crun.
func filtersOf(said string) filters {
	c := flavour{name: "crun", program: "/usr/bin/crun"}.component(said)
	takes := takesProgram(advisory.Verdict{Components: []advisory.Component{c}})
	return newFilters(host{}.filterOptions(), func() bool { return takes })
}

// TestFilterOfFlavours: only a runtime that is known to take a program is given one and no
// profile. To any other it would be no filter at all.
func TestFilterOfFlavours(t *testing.T) {
	for said, program := range map[string]bool{
		"crun version 1.8.1":    true,
		"crun version 0.20":     true,
		"crun version 0.19.1":   false,
		"crun version UNKNOWN":  false,
		"":                      false,
		"runc version 1.3.3":    false, // by the name of crun
		"somerun version 1.8.1": false,
	} {
		got := put(t, filtersOf(said), sandbox.NetworkNone)
		if _, ok := got.Annotations["run.oci.seccomp_bpf_data"]; ok != program || (got.Linux.Seccomp == nil) != program {
			t.Errorf("%q: program %v, profile %v", said, ok, got.Linux.Seccomp != nil)
		}
	}
}

// TestFilterOfNetworks: what a container is given is the filter of its own network, and
// the same each time.
func TestFilterOfNetworks(t *testing.T) {
	programs, profiles := filtersOf("crun version 1.8.1"), filtersOf("runc version 1.3.3")
	for _, mode := range []sandbox.NetworkMode{"", sandbox.NetworkNone, sandbox.NetworkLocalhost, sandbox.NetworkAllowlist, sandbox.NetworkFull} {
		network := sandbox.NetworkPolicy{Mode: mode}
		program, err := guest.OuterFilter(host{}.filterOptions(), network, runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		if got := put(t, programs, mode).Annotations["run.oci.seccomp_bpf_data"]; got != base64.StdEncoding.EncodeToString(program) {
			t.Errorf("%q: not the program of this network", mode)
		}
		want, err := profile(host{}.filterOptions(), network)
		if err != nil {
			t.Fatal(err)
		}
		first, second := put(t, profiles, mode).Linux.Seccomp, put(t, profiles, mode).Linux.Seccomp
		if !reflect.DeepEqual(first, want) {
			t.Errorf("%q: not the profile of this network", mode)
		}
		if first != second {
			t.Errorf("%q: the profile was made twice", mode)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, f := range map[string]filters{"program": filtersOf("crun version 1.8.1"), "profile": filtersOf("runc version 1.3.3")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				put(b, f, sandbox.NetworkNone)
			}
		})
	}
}
