package language

import (
	"slices"
	"testing"
)

// Code that came without a name has the usual one of the language: it is by that name that a
// request is held to have another such file.
func TestNameOfTheCode(t *testing.T) {
	for _, lang := range All() {
		entries := lang.Info().Entries
		if len(entries) == 0 {
			continue // it takes none
		}
		plan, err := lang.Plan(Toolchain{Program: "/usr/bin/it", Version: "18.1.0"}, Source{Code: []byte("package main")}, testResources)
		if err != nil || !slices.Equal(namesWithSuffix(plan.Files, ""), entries[:1]) {
			t.Errorf("%s: %q, %v, want %s", lang.Info().Name, namesWithSuffix(plan.Files, ""), err, entries[0])
		}
	}
}

// Whatever the files are and wherever the entry is said to be, every language comes to a
// plan or an error: it plans in the server, before any limit.
func FuzzPlan(f *testing.F) {
	f.Add("src/main.rs", "fn main() {}", "Cargo.toml", "[package]", "/src", false)
	f.Add("a/main.go", "package main", "go.mod", "module a", "a", false)
	f.Add("app/__main__.py", "", "app/b.py", "", "app", false)
	f.Add("package.json", "{\"main\": \"b.js\"}", "b.js", "import 'a'", "", false)
	f.Add("A.java", "class A { public static void main(String[] a) {} }", "b/B.java", "package b;", "..", true)
	f.Fuzz(func(t *testing.T, name, content, other, more, entry string, code bool) {
		src := Source{Files: texts(name, content, other, more), Entry: entry}
		if code {
			src.Code = []byte(more)
		}
		for _, lang := range All() {
			_, _ = lang.Plan(Toolchain{Program: "/usr/bin/it", Version: "18.1.0"}, src, testResources)
		}
	})
}
