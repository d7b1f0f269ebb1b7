package language

import (
	"slices"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	tests := []struct{ given, name, version string }{
		{"python", "python", ""},
		{"PY@3.12", "python", "3.12"},
		{" node ", "javascript", ""},
		{"golang", "go", ""},
		{"rs", "rust", ""},
		{"java@17", "java", "17"},
		{"ts", "typescript", ""},
		{"c++", "cpp", ""},
		{"sh", "bash", ""},
	}
	for _, test := range tests {
		lang, version, err := Lookup(test.given)
		if err != nil || lang.Info().Name != test.name || version != test.version {
			t.Errorf("Lookup(%q) = %v, %q, %v", test.given, lang, version, err)
		}
	}
}

func TestLookupErrors(t *testing.T) {
	tests := []struct{ given, want string }{
		{"pyhton", `did you mean python`},
		{"javscript", `did you mean javascript`},
		{"javas", "did you mean java"},
		{"cobol", `there is no language "cobol"; there are go, python, `},
		{"", "the language is missing"},
		{"python@", "no version after the @"},
		{strings.Repeat("é", 5000), "…"},
	}
	for _, test := range tests {
		_, _, err := Lookup(test.given)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 2000 {
			t.Errorf("Lookup(%.20q): %v, want %s", test.given, err, test.want)
		}
	}
}

// Names, aliases and extensions belong to one language each.
func TestRegistryIsUnambiguous(t *testing.T) {
	owner := map[string]string{}
	for _, lang := range All() {
		info := lang.Info()
		for _, key := range slices.Concat([]string{info.Name}, info.Aliases, info.Extensions) {
			if owner[key] != "" {
				t.Errorf("%s belongs to %s and %s", key, owner[key], info.Name)
			}
			owner[key] = info.Name
		}
		if info.Name == "exec" {
			continue // has no source and nothing to install
		}
		if info.Title == "" || info.Install == "" || info.Elsewhere == "" || len(info.Entries) == 0 {
			t.Errorf("the description of %s has gaps: %+v", info.Name, info)
		}
	}
	for _, name := range strings.Fields("go python javascript rust java typescript bash c cpp ruby perl php lua py js node golang rs ts c++ sh") {
		if owner[name] == "" {
			t.Errorf("%s is not known", name)
		}
	}
}

func TestByFile(t *testing.T) {
	tests := []struct{ name, first, want string }{
		{"main.py", "", "python"},
		{"dir.d/Main.JAVA", "", "java"},
		{"x.mjs", "#!/usr/bin/env python3", "javascript"},
		{"x.cc", "", "cpp"},
		{"script", "#!/usr/bin/env python3\nimport os", "python"},
		{"script", "#!/usr/bin/python3.12", "python"},
		{"script", "#!/usr/bin/env -S A=b node --flag", "javascript"},
		{"script", "#! /bin/bash -e", "bash"},
		{"script.unknown", "#!/usr/bin/lua5.4", "lua"},
		{"script", "print(1)", ""},
		{"script", "#!", ""},
		{"script", "#!/usr/bin/env", ""},
		{"x.txt", "", ""},
	}
	for _, test := range tests {
		lang, ok := ByFile(test.name, []byte(test.first))
		got := ""
		if ok {
			got = lang.Info().Name
		}
		if got != test.want {
			t.Errorf("ByFile(%q, %q) = %q, want %q", test.name, test.first, got, test.want)
		}
	}
}

func FuzzByFile(f *testing.F) {
	f.Add("main.py", []byte("#!/usr/bin/env python3"))
	f.Fuzz(func(t *testing.T, name string, first []byte) {
		if lang, ok := ByFile(name, first); ok == (lang == nil) {
			t.Errorf("ByFile(%q, %q) = %v, %v", name, first, lang, ok)
		}
		if _, _, err := Lookup(name); err != nil && len(err.Error()) > 10*maxReason {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
