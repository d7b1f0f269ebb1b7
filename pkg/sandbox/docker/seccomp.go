package docker

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// filterOptions are what the filters of a container's programs know of it.
func (i engineInfo) filterOptions() seccomp.Options {
	return seccomp.Options{NoUDP: i.cgroups == "1", AllowAffinity: true}
}

// filterOption is the security option by which the engine puts a filter of ours around
// init and all that it starts, in the place of its own; empty where it takes none, which
// [Runtime.whyNoFilter] tells. Docker takes the profile itself and Podman a file, which
// done removes.
func (r *Runtime) filterOption(network sandbox.NetworkPolicy) (option string, done func(), err error) {
	done = func() {}
	if r.whyNoFilter() != "" {
		return "", done, nil
	}
	text, err := r.profiles.of(network)
	if err != nil || !r.info.podman {
		return "seccomp=" + text, done, err
	}
	path, remove, err := writeFilter(text)
	if err != nil {
		return "", done, err
	}
	return "seccomp=" + path, remove, nil
}

// profiles are the filters, as the engine takes them, of containers without internet
// sockets and with them. Nothing else of a container changes them, so each is made once,
// when a container wants it: that takes half a millisecond.
type profiles struct{ none, inet func() (string, error) }

func newProfiles(i engineInfo) profiles {
	export := guest.Profile
	if !i.podman && i.before(23, 0, 0) {
		export = guest.NamedProfile
	}
	of := func(mode sandbox.NetworkMode) func() (string, error) {
		return sync.OnceValues(func() (string, error) {
			profile, err := export(i.filterOptions(), sandbox.NetworkPolicy{Mode: mode}, runtime.GOARCH)
			if err != nil {
				return "", err
			}
			text, err := json.Marshal(profile)
			return string(text), err
		})
	}
	return profiles{none: of(sandbox.NetworkNone), inet: of(sandbox.NetworkFull)}
}

// of is the filter of a network.
func (p profiles) of(network sandbox.NetworkPolicy) (string, error) {
	if network.Normal().Mode == sandbox.NetworkNone {
		return p.none()
	}
	return p.inet()
}

// whyNoFilter tells why init is under the engine's own filter, if it has one, and not
// under ours; empty where it is. Programs have ours in every case.
func (r *Runtime) whyNoFilter() string {
	switch {
	case r.gVisor():
		return "gVisor puts none around it"
	case !r.info.filters:
		return "the engine does not know seccomp"
	case r.info.profile != "":
		return "the engine's operator has one: " + r.info.profile
	case !r.info.podman && r.info.before(20, 10, 10):
		return "Docker " + r.info.version + " cannot let calls look absent; 20.10.10 and later can"
	case r.info.podman && !r.onUnixSocket():
		return "Podman takes it as a file, and this one is on another machine"
	case r.noFilter.Load() != nil:
		return *r.noFilter.Load()
	}
	return ""
}

// onUnixSocket tells whether the engine may be on this machine.
func (r *Runtime) onUnixSocket() bool {
	_, ok := strings.CutPrefix(r.client.DaemonHost(), "unix://")
	return ok
}

// cannotFilter tells whether a container could not be made because of the filter, and
// remembers it: Podman does not see our files where it is in a machine of its own.
func (r *Runtime) cannotFilter(option string, err error) bool {
	if err == nil || option == "" || !r.info.podman || !strings.Contains(err.Error(), "seccomp profile") {
		return false
	}
	why := "Podman cannot read it: " + err.Error()
	r.noFilter.Store(&why)
	return true
}

// before compares the engine's version. One that cannot be read is a new one.
func (i engineInfo) before(major, minor, patch int) bool {
	var have [3]int
	if n, _ := fmt.Sscanf(i.version, "%d.%d.%d", &have[0], &have[1], &have[2]); n < 2 {
		return false
	}
	for k, want := range []int{major, minor, patch} {
		if have[k] != want {
			return have[k] < want
		}
	}
	return false
}
