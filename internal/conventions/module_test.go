package conventions

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const modulePath = "github.com/sandbox-run/sandbox-run"

// root is the directory of go.mod, seen from this package.
const root = "../.."

// textFile is a file of the module that people read.
type textFile struct {
	path string // from the module's root, with slashes
	text string
}

// goFile is a parsed Go file, whatever system or architecture it is for.
type goFile struct {
	textFile
	fset   *token.FileSet
	syntax *ast.File
	// packageVars are the package's variables, those of other files included.
	packageVars map[string]bool
}

func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isTestCode tells tests, and packages that hold nothing but tests for others.
func (f *goFile) isTestCode() bool {
	return f.isTest() || strings.HasSuffix(f.folder(), "test") || strings.HasPrefix(f.path, "test/")
}

func (f *goFile) isGenerated() bool { return ast.IsGenerated(f.syntax) }
func (f *goFile) folder() string    { return path.Dir(f.path) }
func (f *goFile) line(pos token.Pos) int {
	return f.fset.Position(pos).Line
}

// lines is how many lines a node takes.
func (f *goFile) lines(n ast.Node) int { return f.line(n.End()) - f.line(n.Pos()) + 1 }

// textFiles are all files of the module but binaries, build results and the
// programs that tests run.
var textFiles = sync.OnceValues(func() ([]textFile, error) {
	var files []textFile
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == ".git" { // a file in a worktree
			return skipIfDir(entry)
		}
		if entry.IsDir() {
			if name == "bin" || name == "coverage" || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // other packages' tests run beside this one
		}
		if err == nil && utf8.Valid(content) && !bytes.ContainsRune(content, 0) {
			files = append(files, textFile{name, string(content)})
		}
		return err
	})
	return files, err
})

func skipIfDir(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// goFiles are the Go files among them.
var goFiles = sync.OnceValues(func() ([]*goFile, error) {
	texts, err := textFiles()
	if err != nil {
		return nil, err
	}
	var files []*goFile
	vars := map[string]map[string]bool{}
	for _, text := range texts {
		if !strings.HasSuffix(text.path, ".go") {
			continue
		}
		f, err := parse(text)
		if err != nil {
			return nil, err
		}
		key := f.folder() + " " + f.syntax.Name.Name
		if vars[key] == nil {
			vars[key] = map[string]bool{}
		}
		collectVars(f.syntax, vars[key])
		f.packageVars = vars[key]
		files = append(files, f)
	}
	return files, nil
})

func parse(text textFile) (*goFile, error) {
	f := &goFile{textFile: text, fset: token.NewFileSet(), packageVars: map[string]bool{}}
	var err error
	f.syntax, err = parser.ParseFile(f.fset, text.path, text.text, parser.ParseComments)
	if err == nil {
		collectVars(f.syntax, f.packageVars)
	}
	return f, err
}

func collectVars(file *ast.File, into map[string]bool) {
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					into[name.Name] = true
				}
			}
		}
	}
}

func mustTextFiles(t *testing.T) []textFile {
	t.Helper()
	files, err := textFiles()
	if err != nil || len(files) == 0 {
		t.Fatalf("read the module: %d files, %v", len(files), err)
	}
	return files
}

func mustGoFiles(t *testing.T) []*goFile {
	t.Helper()
	files, err := goFiles()
	if err != nil || len(files) == 0 {
		t.Fatalf("parse the module: %d files, %v", len(files), err)
	}
	return files
}
