package docker

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestCannotLeadOut: where our relay cannot be in the containers' network, that is
// said before there is a container.
func TestCannotLeadOut(t *testing.T) {
	for _, test := range []struct{ host, own, engines, want string }{
		{"tcp://192.0.2.1:2375", "", "runc", "the engine is at tcp://192.0.2.1:2375"},
		{"unix:///run/docker.sock", "runsc", "runc", "runsc has a network stack of its own"},
		{"unix:///run/docker.sock", "", "io.containerd.kata.v2", "io.containerd.kata.v2 has a network stack of its own"},
		{"unix:///run/docker.sock", "", "runsc-kvm", "runsc-kvm has a network stack of its own"},
		{"unix:///run/docker.sock", "crun", "runsc", ""},
	} {
		c, err := client.New(client.WithHost(test.host))
		if err != nil {
			t.Fatal(err)
		}
		opts := Options{Runtime: test.own}
		r := &Runtime{options: opts, client: c, info: engineInfo{runtime: test.engines}, outlets: newOutlets(opts)}
		err = r.check(t.Context(), sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1, Inodes: 1}, Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}})
		if test.want == "" && os.Geteuid() != 0 {
			test.want = "it needs root"
		}
		var unsupported *sandbox.UnsupportedError
		if test.want == "" && err == nil || errors.As(err, &unsupported) && strings.Contains(unsupported.Reason, test.want) && unsupported.Mend != "" {
			continue
		}
		t.Errorf("%+v: %v", test, err)
	}
}

// TestOwns: a process of that number which is not the container's is nobody's whose
// network we change.
func TestOwns(t *testing.T) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	if err := (&engine{id: strings.TrimSpace(string(groups))}).owns(os.Getpid()); err != nil {
		t.Error(err)
	}
	if err := (&engine{id: "0123456789abcdef"}).owns(os.Getpid()); err == nil || !strings.Contains(err.Error(), "virtual machine") {
		t.Errorf("%v", err)
	}
}
