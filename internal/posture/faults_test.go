package posture

import (
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestNothingSeenIsNothingProven: what could not be looked at is a fault.
func TestNothingSeenIsNothingProven(t *testing.T) {
	p := &Posture{Isolation: sandbox.Isolation{Level: sandbox.LevelFull, Mechanisms: map[string]string{
		"namespaces": api.Enforced, "no_new_privs": api.Enforced, "seccomp": api.Enforced}}}
	p.add("status", "EACCES")
	p.add("namespace mnt", "ENOENT")
	faults := strings.Join(p.Faults(), "\n")
	for _, key := range append(p.needed(), "namespace mnt", "call 0,") {
		if !strings.Contains(faults, key) {
			t.Errorf("%s is no fault of:\n%s", key, faults)
		}
	}
}

// TestUnseenFromOutsideIsAFault: nor is anything proven by what the host could not look at.
func TestUnseenFromOutsideIsAFault(t *testing.T) {
	p := &Posture{Runtime: "local", own: own{mayTrace: true}, Isolation: sandbox.Isolation{Level: sandbox.LevelFull, Mechanisms: map[string]string{"cgroup": api.Enforced}}}
	keys := []string{"outside limits", "outside init", "outside process"}
	for _, key := range keys {
		p.add(key, "ENOENT")
	}
	faults := strings.Join(p.Faults(), "\n")
	for _, key := range keys {
		if !strings.Contains(faults, key+" is \"ENOENT\"") {
			t.Errorf("%s is no fault of:\n%s", key, faults)
		}
	}
}
