package api_test

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

func TestPointer(t *testing.T) {
	for _, tc := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{""}, "/"},
		{[]string{"files", "a.py"}, "/files/a.py"},
		{[]string{"files", "/a~b/c"}, "/files/~1a~0b~1c"},
		{[]string{"env", "~1"}, "/env/~01"}, // no slash, once it is read
		{[]string{"a.b[0]", "~2", "é"}, "/a.b[0]/~02/é"},
	} {
		if got := api.Pointer(tc.words...); got != tc.want {
			t.Errorf("the pointer along %q is %q, want %q", tc.words, got, tc.want)
		}
	}
}
