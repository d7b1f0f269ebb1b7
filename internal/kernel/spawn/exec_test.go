package spawn

import (
	"slices"
	"strings"
	"testing"
)

func TestProgramPaths(t *testing.T) {
	for env, want := range map[string]string{
		"":                     "prog",
		"PATH=/a:/b":           "/a/prog /b/prog",
		"PATH=/a PATH=/b":      "/b/prog",
		"PATH=":                "/prog",
		"PATH=rel:/b":          "/rel/prog /b/prog",
		"XPATH=/a PATHS=/b Y=": "prog",
	} {
		if got := programPaths("prog", strings.Fields(env)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %s", env, got, want)
		}
	}
	if got := programPaths("./prog", []string{"PATH=/a"}); !slices.Equal(got, []string{"./prog"}) {
		t.Errorf("a path: %q", got)
	}
}
