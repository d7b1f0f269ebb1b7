package conventions

import (
	"go/ast"
	"go/token"
)

// assignedVars finds assignments to package variables. A function that declares
// the same name itself is taken to mean its own.
func assignedVars(f *goFile) []finding {
	if f.isTestCode() {
		return nil
	}
	var found []finding
	for _, decl := range f.syntax.Decls {
		local := declaredIn(decl)
		for _, target := range assignedIn(decl) {
			if id := baseOf(target); id != nil && f.packageVars[id.Name] && !local[id.Name] {
				found = append(found, finding{f.line(id.Pos()), id.Name + " is a package variable and is assigned"})
			}
		}
	}
	return found
}

// assignedIn lists what is on the left of =, += and their kin, and of ++.
func assignedIn(decl ast.Node) []ast.Expr {
	var targets []ast.Expr
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				targets = append(targets, n.Lhs...)
			}
		case *ast.IncDecStmt:
			targets = append(targets, n.X)
		}
		return true
	})
	return targets
}

// declaredIn are the names that a function declares: parameters, results and
// variables.
func declaredIn(decl ast.Node) map[string]bool {
	names := map[string]bool{}
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return names
}

// baseOf is x of x, x.field and x[i].
func baseOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		default:
			return nil
		}
	}
}
