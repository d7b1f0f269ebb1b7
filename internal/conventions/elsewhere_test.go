package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestElsewhere: this builds on more systems than the tests run on. The types there are checked
// from the sources alone, in some seconds each; the compiler would take two minutes, for a standard
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
				Mode:      packages.LoadAllSyntax | packages.NeedModule,
				Context:   t.Context(),
				Dir:       root,
				Env:       append(os.Environ(), "GOOS="+c.os, "GOARCH="+c.arch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false"),
				Tests:     c.tests,
				ParseFile: parsed(t),
			}, c.of)
			if err != nil || len(found) == 0 {
				t.Fatalf("%d packages: %v", len(found), err)
			}
			packages.Visit(found, nil, func(p *packages.Package) {
				if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.PkgPath, ".test") { // which go list writes
					return
				}
				for _, e := range p.Errors {
					t.Error(e)
				}
			})
		})
	}
}

// parsed reads the source of a package: ours as it is, and of all others what they declare,
// without the bodies of their functions, which take most of the time.
func parsed(t *testing.T) func(*token.FileSet, string, []byte) (*ast.File, error) {
	ours, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
		file, err := parser.ParseFile(fset, name, source, parser.AllErrors|parser.SkipObjectResolution)
		if rel, outside := filepath.Rel(ours, name); file == nil || outside == nil && filepath.IsLocal(rel) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
		return file, err
	}
}
