package oci

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What another user has left is passed over. The test runs itself as somebody who may not
// remove what root has.
func TestForgottenOfAnotherUser(t *testing.T) {
	const variable, nobody = "SANDBOX_TEST_OCI_FORGOTTEN", 65534
	if dir := os.Getenv(variable); dir != "" {
		if removed, err := reclaimForgotten(flavour{}, dir); err != nil || len(removed) > 0 {
			t.Errorf("removed %q, %v", removed, err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: another user has no control groups to leave")
	}
	places := groupPlaces()
	if len(places) == 0 {
		t.Skip("there are no control groups")
	}
	group := filepath.Join(places[0], groupName("iffff-0123456789abcdef-1"))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("no control group can be made: ", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	child := exec.Command("/proc/self/exe", "-test.run=^TestForgottenOfAnotherUser$", "-test.v")
	child.Env = []string{"PATH=/usr/bin:/bin", variable + "=/no/such/dir"}
	child.Dir = "/"
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v: %s", err, out)
	}
}
