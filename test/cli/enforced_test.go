package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// What the control groups of this host can hold is held for root, at every level. Where it is
// not, the tests of limits skip, so that this one finds out by itself what there is.
func TestRootEnforces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user has the control groups that it is given")
	}
	for limit, controller := range map[string]string{"memory": "memory", "cpu": "cpu", "processes": "pids"} {
		t.Run(limit, func(t *testing.T) {
			needGroups(t, controller)
			for _, level := range []string{"full", "restricted"} {
				if level == "full" && inContainer != "" {
					continue // which an unprivileged container has not
				}
				r, _ := invocation{user: user{self: true}, args: []string{"--isolation", level, "--lang", "exec", "--", "/bin/true"}}.result(t)
				if got := r.Meta.ResourceLimits.Enforcement[limit]; got != api.Enforced {
					t.Errorf("at %s it is %q: %q", level, got, r.Meta.Warnings)
				}
			}
		})
	}
}

// needGroups skips where there are no control groups with a controller, or we can make none.
// On version 2 a group hands on what it says, and the root of the tree all that it has.
func needGroups(t *testing.T, controller string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) { // ID PARENT DEVICE ROOT PLACE … - KIND SOURCE OPTIONS
		mount, kind, _ := strings.Cut(line, " - ")
		place, words := strings.Fields(mount)[4], strings.Fields(kind)
		var has []string
		switch words[0] {
		case "cgroup":
			has = strings.Split(words[2], ",")
		case "cgroup2":
			list := "/cgroup.controllers"
			if _, err := os.Stat(place + "/cgroup.type"); err == nil {
				list = "/cgroup.subtree_control"
			}
			text, _ := os.ReadFile(place + list)
			has = strings.Fields(string(text))
		}
		if !slices.Contains(has, controller) {
			continue
		}
		own := filepath.Join(place, fmt.Sprintf("sandbox-test-%d", os.Getpid()))
		if err := os.Mkdir(own, 0o755); err != nil {
			t.Skipf("the tree of control groups cannot be written: %v", err)
		}
		if err := os.Remove(own); err != nil {
			t.Error(err)
		}
		return
	}
	t.Skipf("this host has no control groups for %s", controller)
}
