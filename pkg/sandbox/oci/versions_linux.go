package oci

import (
	"context"
	"os"
	"slices"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
)

// judge holds the runtime, and the kernel that programs reach, against the known
// holes. It asks the runtime for its version, which takes some milliseconds.
func (f flavour) judge(ctx context.Context) advisory.Verdict {
	said, _ := f.output(ctx, f.program, "--version") // what it does not say is not known
	components := []advisory.Component{f.component(said)}
	if !f.ownKernel {
		components = append(components, advisory.ThisKernel())
	}
	return advisory.Judge(components...)
}

// makesTime tells whether a runtime makes time namespaces on this kernel, as crun has
// done since 2020 and runc does since 1.2, of which 1.3 was tried. Others take the word
// for a mistake.
func makesTime(v advisory.Verdict) bool {
	if _, err := os.Stat("/proc/self/ns/time"); err != nil {
		return false // before Linux 5.6, or without CONFIG_TIME_NS
	}
	return slices.ContainsFunc(v.Components, func(c advisory.Component) bool {
		return c.Name == "crun" && c.AtLeast("1.0") || c.Name == "runc" && c.AtLeast("1.3")
	})
}

// component is the runtime by the name that it gives itself, which may be another
// than its file's.
func (f flavour) component(said string) advisory.Component {
	c := advisory.Component{Name: f.name, Program: f.program}
	if f.ownKernel {
		c.Name = "runsc"
	}
	if name, version := advisory.Said(said); version != "" {
		c.Name, c.Version = name, version
	}
	return c
}
