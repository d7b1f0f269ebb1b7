package advisory

import (
	"path"
	"strings"
)

// GVisor tells by the path or the name of an OCI runtime, or by what an engine
// calls it, whether it is gVisor's: runsc, /opt/runsc-2025, io.containerd.runsc.v1.
func GVisor(runtime string) bool { return named(runtime, "runsc", "gvisor") }

// OwnKernel tells so whether programs run on a kernel of its own, with a network of
// its own, instead of this machine's: gVisor's, or that of Kata's virtual machine.
func OwnKernel(runtime string) bool { return GVisor(runtime) || named(runtime, "kata") }

func named(runtime string, words ...string) bool {
	name := path.Base(runtime)
	for _, w := range words {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
