package conventions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// linkedPackage is what go list tells of one package.
type linkedPackage struct {
	ImportPath string
	Standard   bool
	Deps       []string
}

// forbiddenLinks says what must not be linked, however indirectly.
func forbiddenLinks() []struct{ from, never, why string } {
	const start = "every run of sandbox-run pays for the start of all that it links"
	return []struct{ from, never, why string }{
		{"cmd/sandbox-run", "github.com/nats-io/...", start},
		{"cmd/sandbox-run", "k8s.io/...", start},
		{"cmd/sandbox-run", "sigs.k8s.io/...", start},
		{"cmd/sandbox-run", "go.opentelemetry.io/otel/exporters/...", start},
		{"cmd/sandbox-run", "google.golang.org/grpc/...", start},
		{"cmd/sandbox-run", "github.com/danielgtaylor/huma/...", start},
		{"cmd/sandbox-run", "github.com/prometheus/...", start},
		{"cmd/sandbox-run", "modernc.org/...", start},
		{"cmd/...", "net/http/pprof", "it puts itself on the default handler, where memory and command line are for everybody to read"},
		// The server links it with Prometheus' library, and never serves the default handler.
		{"cmd/sandbox-run", "expvar", "it puts itself on the default handler, with the command line"},
		{"cmd/...", "plugin", "a plugin needs cgo, and runs code that nobody has built here"},
		{"cmd/...", "testing", "tests and their flags have no place in what users run"},
	}
}

// TestLinks looks at what the commands and the kernel leaves link on Linux,
// whatever machine this is.
func TestLinks(t *testing.T) {
	packages := list(t, "./cmd/...", "./internal/kernel/...")
	standard := map[string]bool{}
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	commands := 0
	for _, p := range packages {
		ours := strings.TrimPrefix(p.ImportPath, modulePath+"/")
		if within(ours, "cmd/...") {
			commands++
		}
		for _, broken := range brokenLinks(ours, p.Deps) {
			t.Error(broken)
		}
		for _, dep := range p.Deps {
			if within(ours, "internal/kernel/...") && !standard[dep] && !within(dep, "golang.org/x/sys/...") && dep != modulePath+"/internal/fault" {
				t.Errorf("%s links %s: a kernel leaf links the standard library, golang.org/x/sys and what breaks it on purpose alone", ours, dep)
			}
		}
	}
	if commands == 0 {
		t.Error("go list knows no command")
	}
}

func brokenLinks(ours string, deps []string) []string {
	var broken []string
	for _, rule := range forbiddenLinks() {
		for _, dep := range deps {
			if within(ours, rule.from) && within(dep, rule.never) {
				broken = append(broken, ours+" links "+dep+": "+rule.why)
			}
		}
	}
	return broken
}

// TestLinksSee proves that a forbidden link is found.
func TestLinksSee(t *testing.T) {
	if len(brokenLinks("cmd/sandbox-run", []string{"os", "github.com/nats-io/nats.go/jetstream"})) != 1 {
		t.Error("sandbox-run may link NATS")
	}
	if broken := brokenLinks("cmd/sandbox-server", []string{"os", "github.com/nats-io/nats.go"}); len(broken) != 0 {
		t.Error(broken)
	}
}

// list asks the go command, as it builds for Linux without cgo.
func list(t *testing.T, patterns ...string) []linkedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Standard,Deps"}, patterns...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []linkedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p linkedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("read what go list says: %v", err)
		}
		packages = append(packages, p)
	}
}
