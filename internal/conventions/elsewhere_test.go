package conventions

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestElsewhere: this builds on more systems than the tests run on. The types there are checked
// from the sources alone, in ten seconds each; the compiler would take two minutes, for a standard
// library and dependencies that nothing else here needs.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		os, arch, of string
		tests        bool
	}{
		{"linux", "arm64", "./...", true},
		{"darwin", "arm64", "./cmd/...", false},
		{"windows", "amd64", "./cmd/...", false},
	} {
		t.Run(c.os+"/"+c.arch, func(t *testing.T) {
			found, err := packages.Load(&packages.Config{
				Mode:    packages.LoadAllSyntax,
				Context: t.Context(),
				Dir:     root,
				Env:     append(os.Environ(), "GOOS="+c.os, "GOARCH="+c.arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false"),
				Tests:   c.tests,
			}, c.of)
			if err != nil || len(found) == 0 {
				t.Fatalf("%d packages: %v", len(found), err)
			}
			packages.Visit(found, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Error(e)
				}
			})
		})
	}
}
