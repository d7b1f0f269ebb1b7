package language

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeImage answers command lines.
type fakeImage struct {
	answers map[string]string // by the command line
	asked   []string
	err     error
}

func (f *fakeImage) image(digest string) *Image {
	return &Image{Name: "img:1", Digest: digest, Env: []string{"PATH=/opt/bin"}, Run: func(_ context.Context, args ...string) ([]byte, error) {
		line := strings.Join(args, " ")
		f.asked = append(f.asked, line)
		answer, ok := f.answers[line]
		if f.err != nil {
			return nil, f.err
		}
		if !ok {
			return nil, fmt.Errorf("start %s: %w", args[0], fs.ErrNotExist)
		}
		return []byte(answer), nil
	}}
}

// A well-stocked image has the languages that it says it has, by name and not by
// path, whatever this machine has.
func TestToolchainsOfAnImage(t *testing.T) {
	answers := map[string]string{
		"python3 --version": "Python 3.12.4\n",
		"python3 -I -c import sys; print(sys.executable)": "/usr/local/bin/python3\n",
		"node --version":  "v22.3.0\n",
		"go version":      "go version go1.26.1 linux/amd64\n",
		"rustc --version": "rustc 1.95.0 (abc 2026-04-01)\n",
		"cc --version":    "cc (Debian 12.2.0-14) 12.2.0\nCopyright\n",
		"cargo --version": "cargo 1.95.0\n",
		"javac -version":  "javac 21.0.3\n",
		"gcc --version":   "gcc (Debian 12.2.0-14) 12.2.0\n",
	}
	for language, want := range map[string]Toolchain{
		"python":     {Version: "3.12.4", Program: "/usr/local/bin/python3"},
		"javascript": {Version: "22.3.0", Program: "node"},
		"typescript": {Version: "22.3.0", Program: "node"},
		"go":         {Version: "1.26.1", Program: "go"},
		"rust":       {Version: "1.95.0", Program: "rustc", Compiler: "cargo"},
		"java":       {Version: "21.0.3", Program: "java", Compiler: "javac"},
		"c":          {Version: "12.2.0", Program: "gcc"},
		"exec":       {},
	} {
		f := &fakeImage{answers: answers}
		lang, _, err := Lookup(language)
		if err != nil {
			t.Fatal(err)
		}
		want.Language, want.Origin, want.Image, want.Env = language, "img:1", "sha256:1", []string{"PATH=/opt/bin"}
		found, missing := lang.Find(t.Context(), Host{Image: f.image("sha256:1"), Path: []string{"/usr/bin"}, Named: map[string]string{language: "/gone"}})
		if diff := cmp.Diff([]Toolchain{want}, found); diff != "" || len(missing) > 0 {
			t.Errorf("%s: missing %v (-want +got):\n%s", language, missing, diff)
			continue
		}
		plan, err := lang.Plan(found[0], planned(language), testResources)
		if err != nil || len(plan.Mounts) > 0 {
			t.Errorf("%s: %v, mounts %v: nothing of this machine belongs there", language, err, plan.Mounts)
		}
	}
}

// planned is a source that every plan takes.
func planned(language string) Source {
	switch language {
	case "exec":
		return Source{Args: []string{"true"}}
	case "go":
		return Source{Code: []byte("package main\nfunc main() {}\n")}
	}
	return Source{Code: []byte("class Main {}")}
}

func TestMissingInAnImage(t *testing.T) {
	for _, tc := range []struct {
		language string
		answers  map[string]string
		err      error
		want     string
	}{
		{"python", nil, nil, "the image img:1 has no program python3 or python"},
		{"python", map[string]string{"python3 --version": "Python 3.6.1\n"}, nil, "the image img:1 has Python 3.6.1; the oldest that works is 3.9"},
		{"python", map[string]string{"python3 --version": "Segmentation fault\n"}, nil, "python3 of the image img:1 does not say what it was asked: Segmentation fault"},
		{"python", map[string]string{"python3 --version": "Python 3.12.1\n"}, nil, "the image img:1 has no program python3 or python"}, // it lies, and cannot be found
		{"javascript", map[string]string{"node --version": "v22." + strings.Repeat("1", 300) + "\n"}, nil, "does not say what it was asked"},
		{"go", map[string]string{"go version": "go version go1.22/../../../../x linux/amd64\n"}, nil, `go of the image img:1 does not say what it was asked: "1.22/../../../../x" is no version`},
		{"java", map[string]string{"javac -version": "javac 21/y\n"}, nil, `"21/y" is no version`},
		{"javascript", map[string]string{"node --version": "v22.3.0/..\n"}, nil, `"22.3.0/.." is no version`},
		{"rust", map[string]string{"rustc --version": "rustc 1.95.0"}, nil, "the image img:1 has rustc 1.95.0, but no cc for it to link with"},
		{"go", nil, errors.New("the engine is gone"), "the engine is gone"},
	} {
		f := &fakeImage{answers: tc.answers, err: tc.err}
		lang, _, _ := Lookup(tc.language)
		found, missing := lang.Find(t.Context(), Host{Image: f.image("")})
		if len(found) > 0 || len(missing) == 0 || !strings.Contains(missing[0].Reason, tc.want) {
			t.Errorf("%s: found %v, missing %v, want %q", tc.language, found, missing, tc.want)
		}
	}
}

// What was remembered before versions were looked at is no better for it.
func TestRememberedVersionIsLookedAt(t *testing.T) {
	lang, _, _ := Lookup("go")
	cache := &countingCache{values: map[string]string{}}
	f := &fakeImage{answers: map[string]string{"go version": "go version go1.26.1 linux/amd64\n"}}
	host := Host{Image: f.image("sha256:1"), Cache: cache}
	if found, missing := lang.Find(t.Context(), host); len(found) != 1 {
		t.Fatal(missing)
	}
	for key := range cache.values {
		cache.values[key] = "1.26.1/../x"
	}
	if found, missing := lang.Find(t.Context(), host); len(found) != 0 || !strings.Contains(missing[0].Reason, "is no version") {
		t.Errorf("found %v, missing %v", found, missing)
	}
}

// What an image of a digest has does not change, and neither does what it lacks; an
// image without one is asked each time.
func TestAnswersOfAnImageAreRemembered(t *testing.T) {
	lang, _, _ := Lookup("rust")
	cache := &countingCache{values: map[string]string{}}
	f := &fakeImage{answers: map[string]string{"rustc --version": "rustc 1.95.0", "cc --version": "cc 12"}}
	find := func(digest string) {
		t.Helper()
		f.asked = nil
		if found, missing := lang.Find(t.Context(), Host{Image: f.image(digest), Cache: cache}); len(found) != 1 || found[0].Compiler != "" {
			t.Fatalf("found %v, missing %v", found, missing)
		}
	}
	asked := []string{"rustc --version", "cc --version", "cargo --version"}
	for digest, again := range map[string][]string{"sha256:1": nil, "": asked} {
		find(digest)
		if !slices.Equal(f.asked, asked) {
			t.Errorf("digest %q: asked %q", digest, f.asked)
		}
		if find(digest); !slices.Equal(f.asked, again) {
			t.Errorf("digest %q: asked %q again, want %q", digest, f.asked, again)
		}
	}
	if find("sha256:2"); !slices.Equal(f.asked, asked) {
		t.Errorf("another digest: asked %q", f.asked)
	}
}
