package conventions

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

func eachCall(in ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			visit(call)
		}
		return true
	})
}

// calleeName is the last name of what is called: ReadAll of io.ReadAll(r).
func calleeName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// qualifiedName is pkg.Name of a call that is written so, else empty.
func qualifiedName(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// isString tells the literal with that value.
func isString(e ast.Expr, value string) bool {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false
	}
	s, err := strconv.Unquote(lit.Value)
	return err == nil && s == value
}

// joined is the value of string literals with + between.
func joined(e ast.Expr) (value string, known bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		x, first := joined(e.X)
		y, second := joined(e.Y)
		return x + y, first && second
	}
	return "", false
}

// mentions tells whether a name or string literal in e contains part.
func mentions(e ast.Node, part string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || strings.Contains(n.Name, part)
		case *ast.BasicLit:
			found = found || n.Kind == token.STRING && strings.Contains(n.Value, part)
		}
		return !found
	})
	return found
}
