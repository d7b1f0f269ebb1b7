package conventions

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// readingRules are about how the code reads.
func readingRules() []rule {
	return []rule{
		{
			name: "exported names are documented",
			why:  "the doc comment is where units, errors and preconditions stand",
			bad:  "package p\n\nfunc Exported() {}\n",
			good: "package p\n\n// E does it.\ntype E int\n\nfunc (E) Error() string { return \"\" }\n\ntype t int\n\nfunc (t) Name() {}\n",
			findGo: func(f *goFile) []finding {
				if f.isTest() || f.isGenerated() {
					return nil
				}
				return undocumented(f)
			},
		},
		{
			name:   "functions are short",
			why:    fmt.Sprintf("a function over %d lines is read by nobody; most here have about ten", maxFunctionLines),
			bad:    "package p\n\nfunc f() {\n" + strings.Repeat("\tg()\n", maxFunctionLines) + "}\n",
			good:   "package p\n\nfunc f() {\n" + strings.Repeat("\tg()\n", maxFunctionLines-2) + "}\n",
			findGo: longFunctions(false),
		},
		{
			name:   "tests are short, but for their tables",
			why:    "cases are rows of a table, which is data; the code that runs them is short",
			path:   "pkg/sample/sample_test.go",
			bad:    "package p\n\nfunc f() {\n\tx := []int{\n\t\t1,\n\t}\n" + strings.Repeat("\tg()\n", maxFunctionLines) + "}\n",
			good:   "package p\n\nfunc f() {\n\tx := []int{\n" + strings.Repeat("\t\t1,\n", maxFunctionLines) + "\t}\n}\n",
			findGo: longFunctions(true),
		},
		{
			name:     "files are short",
			why:      fmt.Sprintf("a file over %d lines is two files", maxFileLines),
			bad:      "package p\n" + strings.Repeat("\n", maxFileLines),
			good:     "package p\n" + strings.Repeat("\n", maxFileLines-1),
			findText: longFile,
		},
		{
			name:   "package variables are not assigned",
			why:    "runs are concurrent, and state that belongs to a package belongs to all of them at once",
			bad:    "package p\n\nvar state int\n\nfunc f() { state = 1 }\n",
			good:   "package p\n\nvar state = 1\n\nfunc f() int { state := 2; state = 3; return state }\n",
			findGo: assignedVars,
		},
		{
			name:   "a skipped test says why",
			why:    "a skip without a reason looks like a pass",
			path:   "pkg/sample/sample_test.go",
			bad:    "package p\n\nfunc TestX(t *testing.T) { t.SkipNow() }\n",
			good:   "package p\n\nfunc TestX(t *testing.T) { t.Skip(\"needs root\") }\n",
			findGo: silentSkips,
		},
		{
			name:   "regular expressions are well formed",
			why:    "one that is compiled when it is first needed panics then, and not in every test",
			bad:    "package p\n\nvar a = lazyregexp.New(`(` +\n\t`a`)\n",
			good:   "package p\n\nvar a = lazyregexp.New(`(` +\n\t`a)`)\n",
			findGo: malformedExpressions,
		},
	}
}

func malformedExpressions(f *goFile) (found []finding) {
	eachCall(f.syntax, func(call *ast.CallExpr) {
		if qualifiedName(call.Fun) != "lazyregexp.New" {
			return
		}
		expression, known := joined(call.Args[0])
		if !known {
			found = append(found, finding{f.line(call.Pos()), "no literal"})
		} else if _, err := regexp.Compile(expression); err != nil {
			found = append(found, finding{f.line(call.Pos()), err.Error()})
		}
	})
	return found
}

// longFunctions looks at tests, where tables do not count, or at the rest.
func longFunctions(tests bool) func(f *goFile) []finding {
	return func(f *goFile) []finding {
		var found []finding
		for _, decl := range f.syntax.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || f.isGenerated() || f.isTestCode() != tests {
				continue
			}
			n := f.lines(d)
			if tests {
				n -= f.tableLines(d)
			}
			if n > maxFunctionLines {
				found = append(found, finding{f.line(d.Pos()), fmt.Sprintf("%s has %d lines", d.Name.Name, n)})
			}
		}
		return found
	}
}

// tableLines are the lines between the braces of a function's tables.
func (f *goFile) tableLines(d *ast.FuncDecl) int {
	n := 0
	ast.Inspect(d, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if ok {
			n += f.lines(table) - 1
		}
		return !ok
	})
	return n
}

func longFile(f textFile) []finding {
	code := slices.Contains([]string{".go", ".c", ".h", ".sh", ".py", ".js"}, path.Ext(f.path))
	n := strings.Count(f.text, "\n")
	if !code || n <= maxFileLines || strings.HasPrefix(f.text, "// Code generated ") {
		return nil
	}
	return []finding{{maxFileLines + 1, fmt.Sprintf("the file has %d lines", n)}}
}

func silentSkips(f *goFile) []finding {
	var found []finding
	eachCall(f.syntax, func(call *ast.CallExpr) {
		name := calleeName(call)
		silent := name == "SkipNow" || (name == "Skip" || name == "Skipf") && (len(call.Args) == 0 || isString(call.Args[0], ""))
		if f.isTestCode() && silent {
			found = append(found, finding{f.line(call.Pos()), "this skip gives no reason"})
		}
	})
	return found
}
