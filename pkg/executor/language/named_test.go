package language

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNamed(t *testing.T) {
	got, err := ParseNamed([]byte("# mine\npython: ~/py/bin/python3\npy@3.12: /opt/py/bin/python3\nNode@20: \"/opt/node/bin/node\"\n"))
	want := map[string]string{"python": "~/py/bin/python3", "python@3.12": "/opt/py/bin/python3", "javascript@20": "/opt/node/bin/node"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, named (-want +got):\n%s", err, diff)
	}
	for _, empty := range []string{"", "# nothing\n", "{}"} {
		if got, err := ParseNamed([]byte(empty)); err != nil || len(got) != 0 {
			t.Errorf("ParseNamed(%q) = %v, %v", empty, got, err)
		}
	}
}

func TestParseNamedErrors(t *testing.T) {
	tests := []struct{ given, want string }{
		{"python: /a\npy: /b", "line 2: python is named twice"},
		{"\npyton: /a", `line 2: there is no language "pyton"; did you mean python`},
		{"python@: /a", "line 1: \"python@\" has no version"},
		{"python: bin/python", "line 1: python: the path \"bin/python\" must be absolute"},
		{"python: ~ada/python", "must be absolute or start with ~/"},
		{"python: 3", "line 1: python needs the path of a program"},
		{"python:", "needs the path of a program"},
		{"python: [/a]", "needs the path of a program"},
		{"ts@20: /opt/node/bin/node", "name javascript instead"},
		{"- python", "line 1: expected lines such as"},
		{"just words", "expected lines such as"},
		{"a: b: c", "yaml: "},
		{"python: /a\n---\njava: /b", "more than one YAML document"},
	}
	for _, test := range tests {
		got, err := ParseNamed([]byte(test.given))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParseNamed(%q) = %v, %v; want %s", test.given, got, err, test.want)
		}
	}
}

func FuzzParseNamed(f *testing.F) {
	f.Add([]byte("python@3.12: /opt/py/bin/python3\n"))
	f.Add([]byte("&a python: *a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		named, err := ParseNamed(data)
		for key, program := range named {
			if _, _, lookupErr := Lookup(key); lookupErr != nil || program == "" || err != nil {
				t.Errorf("%q: %q (%v, %v)", key, program, err, lookupErr)
			}
		}
	})
}
