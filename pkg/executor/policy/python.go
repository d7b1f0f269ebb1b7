package policy

import (
	"bytes"
	_ "embed" // for the hook
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hook is what a program is started with so that its interpreter tells what it
// imports.
type Hook struct {
	// Files are written to the workspace. The interpreter removes them in its start.
	Files map[string][]byte
	// Dir holds them, relative to the workspace; it goes in front of PYTHONPATH. An
	// interpreter that has started already runs Script in it, by its path.
	Dir, Script string
}

//go:embed python_start.py
var pythonStart string

//go:embed python_tree.py
var pythonTree string

//go:embed python_watch.py
var pythonWatch string

// HookOptions are what [PythonHook] makes a hook of.
type HookOptions struct {
	Sources map[string][]byte
	Main    string // the file that is source whatever its name
	List    List
	Mode    Mode
	// Check ends the program before it begins: what it imports is all that is wanted.
	Check bool
	// Nonce is what reports begin with; the program cannot guess it.
	Nonce string
	// Descriptor is the one that the interpreter may take for reports.
	Descriptor int64
}

// PythonHook makes the hook of a program, or nil if there is nothing to find out:
// the source names no module that is blocked, and no way to import one unseen. To
// look costs Python two milliseconds.
func PythonHook(o HookOptions) *Hook {
	var files []string
	watch := o.Mode == Block && !o.Check
	for _, name := range slices.Sorted(maps.Keys(o.Sources)) {
		if name != o.Main && !slices.Contains([]string{".py", ".pyw"}, path.Ext(name)) {
			continue
		}
		static, dynamic := o.List.suspects(o.Sources[name])
		if static || dynamic || watch || o.Check {
			files = append(files, name)
		}
		watch = watch || dynamic && !o.Check
	}
	if len(files) == 0 && !watch {
		return nil
	}
	dir := ".sandbox-run-" + o.Nonce
	return &Hook{Dir: dir, Script: "sitecustomize.py", Files: map[string][]byte{
		dir + "/sitecustomize.py": o.hook(files, watch),
		dir + "/__pycache__":      nil, // a file, so that no compiled copy stays behind
	}}
}

// hook is the source of the hook.
func (o HookOptions) hook(files []string, watch bool) []byte {
	mode := string(o.Mode)
	if o.Check {
		mode = "check"
	}
	var b bytes.Buffer
	b.WriteString(pythonStart)
	if len(files) > 0 {
		b.WriteString(pythonTree)
	}
	if watch {
		b.WriteString(pythonWatch)
	}
	fmt.Fprintf(&b, "policy = Policy(os.path.dirname(__file__), frozenset(%s), %q, %q, %d)\ntry:\n    policy.vanish()\n",
		literal(slices.Sorted(maps.Keys(o.List.modules))), mode, o.Nonce, o.Descriptor)
	if len(files) > 0 {
		fmt.Fprintf(&b, "    Reader(policy).files(%s)\n", literal(files))
	}
	if watch {
		b.WriteString("    if sys.implementation.name == \"cpython\":\n        Watch(policy)\n")
	}
	b.WriteString(`except Exception as e:
    policy.report("x", repr(e))
    if policy.mode != "warn":
        os._exit(126)
if __name__ == "sitecustomize":
    del sys.modules["sitecustomize"]
    import sitecustomize
`)
	return b.Bytes()
}

// literal is a list of strings in Python.
func literal(list []string) string {
	text, _ := json.Marshal(append([]string{}, list...)) // strings cannot fail
	return string(text)
}

// evasive are the words without which nothing can be imported that the syntax tree
// does not show, as far as a person would try.
var evasive = map[string]bool{
	"__import__": true, "importlib": true, "import_module": true, "exec": true, "eval": true, "compile": true, "execfile": true,
	"builtins": true, "__builtins__": true, "__dict__": true, "__globals__": true, "__subclasses__": true, "globals": true, "locals": true,
	"vars": true, "getattr": true, "__getattribute__": true, "modules": true, "meta_path": true, "runpy": true, "pkgutil": true,
	"imp": true, "zipimport": true, "pickle": true, "marshal": true, "shelve": true, "code": true, "codeop": true, "pydoc": true, "timeit": true,
	"run_path": true, "run_module": true, "load_module": true, "exec_module": true,
}

// suspects tells whether source may import what is blocked: by a statement, and in a
// way that no statement shows. A word in a comment or a string counts: whether it is
// code is for Python to say.
func (l List) suspects(code []byte) (static, dynamic bool) {
	first := map[string]bool{}
	for module := range l.modules {
		name, _, _ := strings.Cut(module, ".")
		first[name] = true
	}
	if strange(code) {
		return true, true
	}
	for word := range words(code) {
		static = static || first[string(word)]
		dynamic = dynamic || evasive[string(word)]
	}
	return static, dynamic
}

// words are the identifiers in source, as far as they are ASCII.
func words(code []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for start := 0; start < len(code); {
			if !isWordByte(code[start]) {
				start++
				continue
			}
			end := start
			for end < len(code) && isWordByte(code[end]) {
				end++
			}
			if !yield(code[start:end]) {
				return
			}
			start = end
		}
	}
}

// strange tells whether source may hold names that do not look like what they are: in
// another encoding, or of letters that Python takes for others (NFKC, PEP 3131).
func strange(code []byte) bool {
	lines := bytes.SplitN(code, []byte("\n"), 3)
	for _, line := range lines[:min(2, len(lines))] {
		_, encoding, found := bytes.Cut(line, []byte("coding"))
		encoding = bytes.ToLower(bytes.TrimLeft(encoding, ":= \t"))
		if found && !bytes.HasPrefix(encoding, []byte("utf-8")) && !bytes.HasPrefix(encoding, []byte("utf8")) {
			return true
		}
	}
	for i := 0; i < len(code); {
		if code[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(code[i:])
		if r == utf8.RuneError && size == 1 || unicode.In(r, compatible) {
			return true
		}
		i += size
	}
	return false
}

// compatible are the letters that NFKC may turn into ASCII.
var compatible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xAA, Hi: 0xBA, Stride: 0x10}, {Lo: 0x132, Hi: 0x133, Stride: 1}, {Lo: 0x13F, Hi: 0x149, Stride: 1}, {Lo: 0x17F, Hi: 0x17F, Stride: 1},
		{Lo: 0x1C4, Hi: 0x1F3, Stride: 1}, {Lo: 0x2B0, Hi: 0x2E4, Stride: 1}, {Lo: 0x1D2C, Hi: 0x1DBF, Stride: 1}, {Lo: 0x2070, Hi: 0x209C, Stride: 1},
		{Lo: 0x2100, Hi: 0x218B, Stride: 1}, {Lo: 0x2460, Hi: 0x24FF, Stride: 1}, {Lo: 0x2C7C, Hi: 0x2C7D, Stride: 1}, {Lo: 0xA770, Hi: 0xA7FF, Stride: 1},
		{Lo: 0xFB00, Hi: 0xFB06, Stride: 1}, {Lo: 0xFF10, Hi: 0xFF5A, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0x10780, Hi: 0x107BA, Stride: 1}, {Lo: 0x1D400, Hi: 0x1D7FF, Stride: 1}, {Lo: 0x1F100, Hi: 0x1F2FF, Stride: 1}},
	LatinOffset: 1,
}
