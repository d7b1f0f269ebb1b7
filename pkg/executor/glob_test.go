package executor

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func matches(glob, name string) bool { return newGlobs([]string{glob}).match(name) }

func TestGlobs(t *testing.T) {
	for _, tc := range []struct {
		glob, name string
		want       bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a", "a/b", true}, {"a", "ab", false}, {"a/b", "a", false},
		{"*.txt", "x.txt", true}, {"*.txt", "d/x.txt", false}, {"*/x", "d/x", true}, {"*", "a/b/c", true},
		{"**", "a", true}, {"**", "a/b", true}, {"**/x", "x", true}, {"**/x", "a/b/x", true}, {"**/x", "a/b/xy", false},
		{"a/**", "a/b/c", true}, {"a/**", "b", false}, {"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/z", "a/b", false},
		{"**/a/**/b", "x/a/y/b", true}, {"**/a/**/b", "x/b/y/a", false}, {"**/a/**/b", "a/a/b/c", true}, {"**/**/x", "x", true},
		{"**/a/c", "a/b/a/c", true}, {"**/a/b", "a/a/b", true}, {"a/**/b/c", "a/b/b/c", true},
		{"./out/", "out/x", true}, {"out//x", "out/x", true}, {"?", "é", true}, {"[ab]", "b", true}, {"[", "[", false},
		{"../a", "a", false}, {"/a", "a", false}, {`\*`, "*", true}, {`\*`, "a", false},
	} {
		if got := matches(tc.glob, tc.name); got != tc.want {
			t.Errorf("%q on %q: %v", tc.glob, tc.name, got)
		}
	}
}

// TestGlobsModel holds the matcher against the plain definition.
func TestGlobsModel(t *testing.T) {
	var model func(glob, name []string) bool
	model = func(glob, name []string) bool {
		switch {
		case len(glob) == 0:
			return true
		case glob[0] == "**":
			return model(glob[1:], name) || len(name) > 0 && model(glob, name[1:])
		case len(name) == 0:
			return false
		}
		ok, _ := path.Match(glob[0], name[0])
		return ok && model(glob[1:], name[1:])
	}
	part := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "é"})
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.SliceOfN(rapid.OneOf(part, rapid.SampledFrom([]string{"**", "*", "a*", "*b", "a*b", "*a*", "?", "[^a]", `\a`, "[", "a[*]", "***"})), 1, 6).Draw(t, "glob")
		name := rapid.SliceOfN(part, 1, 7).Draw(t, "name")
		if got, want := matches(strings.Join(glob, "/"), strings.Join(name, "/")), model(glob, name); got != want {
			t.Fatalf("%v on %v: %v, want %v", glob, name, got, want)
		}
	})
}

// TestGlobsAreNotExponential would run for years if it were.
func TestGlobsAreNotExponential(t *testing.T) {
	name := strings.Repeat("a/", 1000) + "b"
	if matches(strings.Repeat("**/a/", 50)+"c", name) {
		t.Error("c was found")
	}
}

func FuzzGlobs(f *testing.F) {
	f.Add("**/*.txt", "a/b.txt")
	f.Add("[", "[")
	f.Add("**/**/[^a-]/\\", "x")
	f.Fuzz(func(t *testing.T, glob, name string) {
		matches(glob, name)
		newLeftovers([]string{glob}).match(name)
		if !matches("**", name) {
			t.Errorf("** does not match %q", name)
		}
		if ok, _ := path.Match(glob, name); !strings.Contains(glob+name, "/") && newGlobPart(glob).match(name) != ok {
			t.Errorf("%q on %q: path.Match says %v", glob, name, ok)
		}
	})
}

func TestLeftovers(t *testing.T) {
	for _, tc := range []struct {
		glob, name string
		want       bool
	}{
		{"__pycache__", "__pycache__/a.pyc", true}, {"__pycache__", "pkg/__pycache__/a.pyc", true}, {"__pycache__", "pycache", false},
		{"*.class", "a/B.class", true}, {"*.class", "B.java", false}, {"target/debug", "target/debug/x", true},
		{"target/debug", "a/target/debug/x", false}, {"[", "[", false},
	} {
		if got := newLeftovers([]string{tc.glob}).match(tc.name); got != tc.want {
			t.Errorf("%q on %q: %v", tc.glob, tc.name, got)
		}
	}
}

func TestGlobsOfARequestAreBounded(t *testing.T) {
	ok := strings.Repeat("a", maxGlobBytes)
	for field, collect := range map[string][]string{
		"":           slices.Repeat([]string{ok}, maxGlobs),
		"/collect":   make([]string, maxGlobs+1),
		"/collect/1": {ok, ok + "a"},
	} {
		req := echo()
		req.Collect = collect
		_, err := newFakeExecutor(&fakeRuntime{}).Admit(t.Context(), req)
		if field == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if input := wantInput(t, err, InputInvalid); input.Field != field || len(input.Detail) > 200 {
			t.Errorf("%s: %.300s, want %s", input.Field, input.Detail, field)
		}
	}
}

// costly counts as the longest element does, though it is matched in no time.
var costly = strings.Repeat("*", maxGlobBytes-1) + "b"

// What is not compared with the globs is told, as all is that does not come.
func TestGlobsAreSpent(t *testing.T) {
	const enough, extra = maxGlobSteps/(maxGlobBytes*256) - 1, 3
	tree := newTree("!b") // comes first
	var want []api.SkippedFile
	for i := range enough + extra {
		name := fmt.Sprintf("%0255d", i)
		tree.put(name, nil, 0o644)
		if i >= enough {
			want = append(want, api.SkippedFile{Path: name, Reason: "not compared with the globs, which were too much work for the files before it"})
		}
	}
	got := gather(tree, nil, Request{Collect: []string{costly}})
	if diff := cmp.Diff(want, got.skipped); diff != "" || len(got.files) != 1 || got.err != nil {
		t.Errorf("%s, %d files, %v", diff, len(got.files), got.err)
	}
}

// One name ends it as well, in the middle: globs of many elements on a path of many.
func TestGlobsAreSpentByOneName(t *testing.T) {
	path := strings.Repeat(strings.Repeat("a", 127)+"/", maxPath/128-1) + "a"
	for _, glob := range []string{"**/" + costly[3:], strings.Repeat("**/*?b*/", maxGlobBytes/8)} {
		g := newGlobs(slices.Repeat([]string{glob}, maxGlobs))
		g.left = 1 << 20
		if g.match(path) || !g.spent() || g.left < -maxGlobBytes*256 {
			t.Errorf("%.20s: spent %v, %d steps are left", glob, g.spent(), g.left)
		}
	}
}

// hostileTree has names and no end but the walk's.
type hostileTree struct {
	fakeTree
	names []string
}

func (t *hostileTree) Walk(most int, visit func(sandbox.FileInfo) error) error {
	for i := range most {
		if err := visit(sandbox.FileInfo{Path: t.names[i%len(t.names)]}); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkCollectHostile is what the worst globs that a request may have take with as many
// of the worst names as are looked at.
func BenchmarkCollectHostile(b *testing.B) {
	deep := strings.Repeat("a/", sandbox.MaxWalkDepth) + "a"
	long := strings.Repeat(strings.Repeat("a", 255)+"/", maxPath/256-1) + strings.Repeat("a", 255)
	for _, bench := range []struct{ what, glob, name string }{
		{"a class", "**/*[" + strings.Repeat("bc", maxGlobBytes/2-4) + "]", long},
		{"a tail", "**/*" + strings.Repeat("a", maxGlobBytes-5) + "b", long},
		{"stars", "**/" + strings.Repeat("*a", 100) + "*b", long},
		{"elements", strings.Repeat("**/a/", maxGlobBytes/5-1) + "b", deep},
		{"words", "**/b", deep},
		{"a word", "b", "a"},
		{"too long", "**", long + "/aaaa"},
	} {
		b.Run(bench.what, func(b *testing.B) {
			r := &run{req: Request{Collect: slices.Repeat([]string{bench.glob}, maxGlobs)}, workspace: &hostileTree{names: []string{bench.name}}}
			for b.Loop() {
				r.gatherFiles(b.Context(), nil)
			}
		})
	}
}
