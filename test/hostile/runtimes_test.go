package hostile

import (
	"os"
	"os/exec"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// TestRuntimes starts a server of every other runtime that is here: it looks at its
// posture before it serves, and serves nobody where that is not what it should be.
func TestRuntimes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root, as the server of OCI runtimes and of the tests' engine does")
	}
	if *place != "" {
		t.Skip("one combination alone was asked for")
	}
	for _, name := range []string{"oci", "docker", "remote"} {
		t.Run(name, func(t *testing.T) {
			_, crun := exec.LookPath("crun")
			_, runc := exec.LookPath("runc")
			switch {
			case name == "docker" && os.Getenv("SANDBOX_TEST_ENGINE") == "":
				t.Skip("SANDBOX_TEST_ENGINE names no engine")
			case name == "oci" && crun != nil && runc != nil:
				t.Skip("neither crun nor runc is here")
			}
			c := &combination{runtime: name, level: "full", user: "root"}
			c.start(t)
			defer func() {
				for _, s := range c.servers() {
					if err := s.Stop(); err != nil {
						t.Error(err)
					}
				}
			}()
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: hello["python"]})
			if err != nil || r.Status != api.StatusOK || r.Stdout != "hello\n" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
