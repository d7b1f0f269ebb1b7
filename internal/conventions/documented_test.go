package conventions

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func undocumented(f *goFile) []finding {
	var found []finding
	report := func(pos token.Pos, name string) {
		found = append(found, finding{f.line(pos), name + " has no doc comment"})
	}
	for _, decl := range f.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && hasExportedReceiver(d) && d.Doc == nil && !isCommonMethod(d) {
				report(d.Pos(), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if name := undocumentedName(spec); name != "" && d.Doc == nil {
					report(spec.Pos(), name)
				}
			}
		}
	}
	return found
}

// isCommonMethod tells the methods whose meaning the standard library has fixed.
func isCommonMethod(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "String"}, d.Name.Name)
}

func hasExportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exported = exported || ok && id.IsExported()
		return !ok
	})
	return exported
}

// undocumentedName is the exported name that a specification declares without a
// comment of its own.
func undocumentedName(spec ast.Spec) string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil {
			return ""
		}
		if i := slices.IndexFunc(s.Names, (*ast.Ident).IsExported); i >= 0 {
			return s.Names[i].Name
		}
	}
	return ""
}

// TestPackageComments asks every package for one comment that says what it is.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range mustGoFiles(t) {
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		key := f.folder() + " (package " + name + ")"
		documented[key] = documented[key] || f.syntax.Doc != nil
	}
	for name, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment; put it into doc.go", name)
		}
	}
}
