package language

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// javaSource is what must be known of one source file before it is compiled.
type javaSource struct {
	pkg     string   // e.g. com.example; empty for the unnamed package
	module  string   // the name of the module that it declares, if it does
	types   []string // the top-level types in source order
	public  string   // the first public one of them
	preview bool     // a comment says --enable-preview
	compact bool     // methods at the top: the types beside them are members of the implicit class
}

// previewFlag in a comment of any source file turns preview features on. The
// compiler's own message asks for it by this name.
const previewFlag = "--enable-preview"

// scanJavaSource reads the declarations at the top level of a file.
func scanJavaSource(code []byte) javaSource {
	var s javaSource
	lexer := newJavaLexer(code, func(comment []byte) {
		s.preview = s.preview || bytes.Contains(comment, []byte(previewFlag))
	})
	var scan javaScanner
	for t := lexer.next(); t.kind != javaEnd; t = lexer.next() {
		scan.token(t, &s)
	}
	scan.named()
	return s
}

// JavaTypes are the package that a Java file is of, empty for the unnamed one, and the types that
// others of it see.
func JavaTypes(code []byte) (pkg string, types []string) {
	s := scanJavaSource(code)
	if s.compact {
		return s.pkg, nil
	}
	return s.pkg, s.types
}

// JavaSources are the files of a program that are compiled: in a tree laid out as Maven does it
// those of src/main/java alone.
func JavaSources(names []string) []string {
	if !slices.ContainsFunc(names, isMavenMain) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isMavenMain(name) })
}

// javaScanner follows the nesting of a file, and at the top level its last
// tokens.
type javaScanner struct {
	braces, parens int
	last           [2]javaToken // the latest first
	public         bool         // seen in the current declaration
	name           *string      // the package or module whose name is being read
	parts          []byte       // of that name
}

// token takes the next token of the file.
func (p *javaScanner) token(t javaToken, s *javaSource) {
	if p.braces == 0 && p.parens == 0 {
		p.topLevel(t, s)
		p.last = [2]javaToken{t, p.last[0]}
	}
	switch {
	case t.is("{"):
		p.braces++
	case t.is("}"):
		p.braces = max(0, p.braces-1)
		p.public = p.public && (p.braces > 0 || p.parens > 0) // not at @A({1})
	case t.is("("):
		p.parens++
	case t.is(")"):
		p.parens = max(0, p.parens-1)
	}
}

// topLevel recognises declarations. The words record and module are keywords
// only where they must be; a class literal (Main.class) has a dot before it.
func (p *javaScanner) topLevel(t javaToken, s *javaSource) {
	word, before := p.last[0], p.last[1]
	switch {
	case p.name != nil:
		if t.is(";") || t.is("{") {
			p.named()
		} else {
			p.parts = append(p.parts, t.text...)
		}
	case t.is(";"):
		p.public = false
	case t.is("public"):
		p.public = true
	case t.is("package") && len(s.types) == 0 && s.pkg == "":
		p.name = &s.pkg
	case t.is("module") && !word.is("import") && len(s.types) == 0 && s.module == "":
		p.name = &s.module
	case t.kind == javaIdentifier && !before.is(".") && (word.is("class") || word.is("interface") || word.is("enum")):
		p.declare(t, s)
	case (t.is("(") || t.is("<")) && word.kind == javaIdentifier && before.is("record"):
		p.declare(word, s)
	case t.is("(") && word.kind == javaIdentifier && (before.kind == javaIdentifier || before.is(">") || before.is("]")):
		s.compact = true
	}
}

// named is called when a name has been read.
func (p *javaScanner) named() {
	if p.name != nil {
		*p.name = string(p.parts)
	}
	p.name, p.parts = nil, nil
}

func (p *javaScanner) declare(name javaToken, s *javaSource) {
	s.types = append(s.types, string(name.text))
	if p.public && s.public == "" {
		s.public = string(name.text)
	}
}

// javaProject is all that is compiled.
type javaProject struct {
	files   map[string][]byte // everything, under the names that it is written with
	names   []string          // the sources: the entry first, then sorted
	sources map[string]javaSource
}

// readJavaProject scans all sources. A file whose public class has another name
// is renamed after it, since the compiler insists.
func readJavaProject(src Source) javaProject {
	p := javaProject{files: sourceFiles(src, "Main.java"), sources: make(map[string]javaSource)}
	names := JavaSources(namesWithSuffix(p.files, ".java"))
	entry := path.Clean(src.Entry)
	switch {
	case src.Code != nil:
		entry = "Main.java"
	case !slices.Contains(names, entry):
		entry = javaEntry(names)
	}
	for _, name := range names {
		code := commentShebang(p.files[name])
		source := scanJavaSource(code)
		renamed := p.rename(name, code, source.public)
		p.sources[renamed] = source
		if name == entry {
			p.names = slices.Insert(p.names, 0, renamed)
		} else {
			p.names = append(p.names, renamed)
		}
	}
	return p
}

func isMavenMain(name string) bool {
	return strings.HasPrefix(name, "src/main/java/") || strings.Contains(name, "/src/main/java/")
}

// resourcesOf are the directories of resources, first that of the module of a class, as Maven has it.
func (p *javaProject) resourcesOf(class string) []string {
	dirs := p.resources()
	if len(dirs) < 2 {
		return dirs
	}
	of := slices.IndexFunc(p.names, func(name string) bool { return slices.Contains(p.classes(name), class) })
	if of < 0 {
		return dirs
	}
	module, _, _ := strings.Cut("/"+p.names[of], "/src/main/java/")
	if i := slices.Index(dirs, strings.TrimPrefix(module+"/src/main/resources", "/")); i > 0 {
		own := dirs[i]
		dirs = slices.Insert(slices.Delete(dirs, i, i+1), 0, own)
	}
	return dirs
}

// resources are the directories of resources in a tree laid out as Maven does it.
func (p *javaProject) resources() []string {
	if !slices.ContainsFunc(p.names, isMavenMain) {
		return nil
	}
	const resources = "/src/main/resources/"
	var dirs []string
	for name := range p.files {
		if module, _, ok := strings.Cut("/"+name, resources); ok {
			dirs = append(dirs, strings.TrimPrefix(path.Join(module, resources), "/"))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// javaEntry is the file that by convention holds the main class: the one called
// Main closest to the top, else none.
func javaEntry(names []string) string {
	entry := ""
	for _, name := range names {
		isMain := strings.EqualFold(path.Base(name), "Main.java")
		if isMain && (entry == "" || strings.Count(name, "/") < strings.Count(entry, "/")) {
			entry = name
		}
	}
	return entry
}

// rename stores a source under the name that its public class demands, unless
// another file has that name. It returns the name.
func (p *javaProject) rename(name string, code []byte, public string) string {
	right := path.Join(path.Dir(name), public+".java")
	_, taken := p.files[right]
	if public == "" || taken {
		right = name
	} else {
		delete(p.files, name)
	}
	p.files[right] = code
	return right
}

// preview tells whether any source asks for preview features.
func (p *javaProject) preview() bool {
	for _, source := range p.sources {
		if source.preview {
			return true
		}
	}
	return false
}

// module is the name of the module that the sources form, or empty.
func (p *javaProject) module() string {
	for _, name := range p.names {
		if path.Base(name) == "module-info.java" {
			return p.sources[name].module
		}
	}
	return ""
}

// classOrder lists the classes that may be meant as the main class, most likely
// first: file by file the public class, the others in source order, and the
// class that a compact source file has implicitly.
func (p *javaProject) classOrder() []string {
	var order []string
	for _, name := range p.names {
		order = append(order, p.classes(name)...)
	}
	return order
}

// classes are those of one file, in that order.
func (p *javaProject) classes(name string) (classes []string) {
	s := p.sources[name]
	implicit := strings.TrimSuffix(path.Base(name), ".java")
	for _, class := range slices.Concat([]string{s.public}, s.types, []string{implicit}) {
		if class != "" && s.pkg != "" {
			class = s.pkg + "." + class
		}
		classes = append(classes, class)
	}
	return classes
}
