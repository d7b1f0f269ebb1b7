package advisory

import "testing"

func TestOwnKernel(t *testing.T) {
	for name, want := range map[string]struct{ gvisor, own bool }{
		"": {}, "crun": {}, "/usr/bin/runc": {}, "io.containerd.runc.v2": {}, "/opt/gvisor/runc": {},
		"runsc": {true, true}, "/opt/runsc-20250319": {true, true}, "io.containerd.runsc.v1": {true, true}, "gvisor": {true, true},
		"kata": {false, true}, "/usr/bin/kata-runtime": {false, true}, "io.containerd.kata.v2": {false, true},
	} {
		if g, own := GVisor(name), OwnKernel(name); g != want.gvisor || own != want.own {
			t.Errorf("%q: gVisor %v, own kernel %v", name, g, own)
		}
	}
}
