package docker

import (
	"cmp"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
)

// judge holds what an engine tells of itself against the known holes: the engine,
// the OCI runtime that makes our containers, and the kernel below them. The packages
// of this host count only when the engine is on it.
func judge(host, asked string, of client.ServerVersionResult, info system.Info) advisory.Verdict {
	runtime := ociRuntime(cmp.Or(asked, info.DefaultRuntime))
	made := advisory.Component{Name: "OCI runtime " + runtime}
	var components []advisory.Component
	engine := ""
	for _, c := range of.Components {
		name := c.Name
		if inner, ok := strings.CutPrefix(name, "OCI Runtime ("); ok { // Podman's way
			name = strings.TrimSuffix(inner, ")")
		}
		switch name {
		case "Engine":
			engine = "docker"
			components = append(components, component(host, engine, "dockerd", c.Version))
		case "Podman Engine":
			engine = "podman"
			components = append(components, component(host, engine, "podman", c.Version))
		case runtime:
			version := c.Version
			if _, said := advisory.Said(version); said != "" {
				version = said
			}
			made = component(host, runtime, runtime, version)
		}
	}
	made.Engine = engine
	components = append(components, made)
	if !advisory.GVisor(runtime) {
		components = append(components, advisory.KernelOf(info.KernelVersion))
	}
	return advisory.Judge(components...)
}

func component(host, name, program, version string) advisory.Component {
	c := advisory.Component{Name: name, Version: version}
	if _, onSocket := strings.CutPrefix(host, "unix://"); onSocket || host == "" {
		c.Program = program
	}
	return c
}

// ociRuntime is the runtime that an engine's name for one stands for: containerd has
// a name for its own way of running runc.
func ociRuntime(name string) string {
	if name == "io.containerd.runc.v2" || name == "" {
		return "runc"
	}
	return name
}
