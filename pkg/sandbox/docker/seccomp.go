package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// filterOptions are what the filters of a container's programs know of it.
func (r *Runtime) filterOptions() seccomp.Options {
	return seccomp.Options{NoUDP: r.info.cgroups == "1", AllowAffinity: true}
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
	text, err := r.profile(network)
	if err != nil || !r.info.podman {
		return "seccomp=" + text, done, err
	}
	f, err := os.CreateTemp("", filterFiles)
	if err != nil {
		return "", done, fmt.Errorf("write a filter for Podman: %w", err)
	}
	fault.Point("filter for podman made")
	done = func() {
		os.Remove(f.Name())
		f.Close() // and with it goes the lock
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, lockfile.Try(f, true)); err != nil {
		done()
		return "", done, fmt.Errorf("write a filter for Podman: %w", err)
	}
	return "seccomp=" + f.Name(), done, nil
}

// filterFiles are the names of filters for Podman.
const filterFiles = "sandbox-run-seccomp-*.json"

// removeFilters removes those of clients that have died: nobody holds their locks.
func removeFilters() (removed []string, err error) {
	paths, err := filepath.Glob(filepath.Join(os.TempDir(), filterFiles))
	for _, path := range paths {
		f, failed := os.Open(path)
		if failed != nil {
			continue // another user's, or just removed
		}
		if lockfile.Try(f, true) == nil {
			if failed := os.Remove(path); failed != nil {
				err = errors.Join(err, failed)
			} else {
				removed = append(removed, path)
			}
		}
		f.Close()
	}
	return removed, err
}

// profiles are those that containers without internet sockets and with them are given.
// Nothing else of a container changes them, and to make one takes half a millisecond.
type profiles struct{ none, inet madeProfile }

type madeProfile struct {
	once sync.Once
	text string
	err  error
}

// profile is the filter as the engine takes it.
func (r *Runtime) profile(network sandbox.NetworkPolicy) (string, error) {
	made := &r.profiles.inet
	if network.Normal().Mode == sandbox.NetworkNone {
		made = &r.profiles.none
	}
	made.once.Do(func() {
		export := guest.Profile
		if !r.info.podman && r.info.before(23, 0, 0) {
			export = guest.NamedProfile
		}
		profile, err := export(r.filterOptions(), network, runtime.GOARCH)
		if err != nil {
			made.err = err
			return
		}
		text, err := json.Marshal(profile)
		made.text, made.err = string(text), err
	})
	return made.text, made.err
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
