package cli

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

var defaultImage = flag.Bool("default-image", false, "build the default image, for which 400 MB are fetched from Debian's servers, and run five languages in it")

// TestDefaultImage builds the image of five languages and runs the programs of
// make demo in it.
func TestDefaultImage(t *testing.T) {
	if !*defaultImage {
		t.Skip("400 MB would be fetched from Debian's servers: make test-default-image does it")
	}
	data := t.TempDir()
	run := func(args ...string) outcome {
		return invocation{args: args, user: user{self: true}, env: []string{"SANDBOX_DATA_DIR=" + data}, limit: 20 * time.Minute}.run(t)
	}
	built := run("image", "build-default", "--json")
	var listed struct{ Images []struct{ Digest string } }
	if err := json.Unmarshal([]byte(built.stdout), &listed); err != nil || built.code != 0 || len(listed.Images) != 1 {
		t.Fatalf("exit code %d, %v: %s%s", built.code, err, built.stdout, built.stderr)
	}
	t.Logf("built in %v: %s", built.took.Round(time.Second), run("image", "ls").stdout)
	programs, err := filepath.Glob("../../examples/demo/*.*")
	if err != nil || len(programs) < 5 {
		t.Fatalf("%d programs, %v", len(programs), err)
	}
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			var r api.Result
			got := run("--json", "--image", "sandbox-run/default", program)
			if err := json.Unmarshal([]byte(got.stdout), &r); err != nil || !r.Success || got.code != 0 {
				t.Fatalf("exit code %d, %v: %s%s", got.code, err, got.stdout, got.stderr)
			}
			if !strings.Contains(r.Meta.Image, listed.Images[0].Digest) {
				t.Errorf("it ran in the image %q, want %s", r.Meta.Image, listed.Images[0].Digest)
			}
		})
	}
}
