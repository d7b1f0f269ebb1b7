package image

import (
	"archive/tar"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestWhiteouts: what layers remove is of those below, wherever it stands.
func TestWhiteouts(t *testing.T) {
	below := []entry{dir("d"), file("d/1", "1"), file("d/2", "2"), dir("d/s"), file("d/s/3", "3"), file("e", "e"), link("l", "d")}
	for name, c := range map[string]struct {
		entries []entry
		want    map[string]string
	}{
		"file":      {[]entry{file("d/.wh.1", ""), file(".wh.e", "")}, map[string]string{"d": "dir", "d/2": "2", "d/s": "dir", "d/s/3": "3", "l": "-> d"}},
		"directory": {[]entry{file(".wh.d", "")}, map[string]string{"e": "e", "l": "-> d"}},
		"opaque":    {[]entry{file("d/.wh..wh..opq", "")}, map[string]string{"d": "dir", "e": "e", "l": "-> d"}},
		"opaque, behind what stays": {
			[]entry{dir("d"), file("d/new", "n"), file("d/.wh..wh..opq", "")},
			map[string]string{"d": "dir", "d/new": "n", "e": "e", "l": "-> d"},
		},
		"removed and made again": {
			[]entry{file("e", "new"), file(".wh.e", ""), file("d/.wh.1", ""), file("d/1", "new")},
			map[string]string{"d": "dir", "d/1": "new", "d/2": "2", "d/s": "dir", "d/s/3": "3", "e": "new", "l": "-> d"},
		},
		"opaque root":       {[]entry{file(".wh..wh..opq", ""), file("x", "x")}, map[string]string{"x": "x"}},
		"what is not there": {[]entry{file("no/.wh.x", ""), file("e/.wh.x", ""), file("no/.wh..wh..opq", "")}, map[string]string{"d": "dir", "d/1": "1", "d/2": "2", "d/s": "dir", "d/s/3": "3", "e": "e", "l": "-> d"}},
		"a link becomes an opaque directory": {
			[]entry{dir("l"), file("l/.wh..wh..opq", ""), file("l/x", "x")},
			map[string]string{"d": "dir", "d/1": "1", "d/2": "2", "d/s": "dir", "d/s/3": "3", "e": "e", "l": "dir", "l/x": "x"},
		},
		"as directories": {[]entry{dir(".wh.d")}, map[string]string{"e": "e", "l": "-> d"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, Limits{})
			for _, layer := range [][]entry{below, c.entries} {
				if err := a.layer(archive(t, layer...)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, simple(listing(t, a.root))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			a.check(t)
		})
	}
}

// TestWhiteoutOfWhatIsOpen: a directory that is removed is not where the layer's entries
// go, though it was the last that something went to.
func TestWhiteoutOfWhatIsOpen(t *testing.T) {
	a := newArena(t, Limits{})
	for _, layer := range [][]entry{{dir("d"), file("d/1", "1")}, {file("d/2", "2"), file(".wh.d", "")}} {
		if err := a.layer(archive(t, layer...)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"d": "dir", "d/2": "2"}, simple(listing(t, a.root))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	a.check(t)
}

// TestManyWhiteouts: they count before the first of them has been looked for.
func TestManyWhiteouts(t *testing.T) {
	a := newArena(t, Limits{Files: 20})
	if err := a.layer(archive(t, file("f", ""))); err != nil {
		t.Fatal(err)
	}
	wantError(t, a.layer(archive(t, slices.Repeat([]entry{file("no/.wh.x", "")}, 25)...)), ErrTooLarge, "more than 20 entries")
	if a.unpacker.files > 1 {
		t.Errorf("%d entries were unpacked", a.unpacker.files)
	}
}

// simple leaves permissions out of a listing.
func simple(listing map[string]string) map[string]string {
	found := map[string]string{}
	for name, what := range listing {
		if mode, content, ok := strings.Cut(what, " "); ok && mode != "->" {
			what = content
		} else if !ok {
			what = "dir"
		}
		found[name] = what
	}
	return found
}

// model is a file system as the specification of images tells it, without links.
type model map[string]string

func (m model) remove(name string) {
	maps.DeleteFunc(m, func(n, _ string) bool { return n == name || strings.HasPrefix(n, name+"/") })
}

func (m model) parents(name string) {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		m[d] = "dir"
	}
}

// apply puts a layer over the model: first what it removes, then what it has.
func (m model) apply(layer []entry) {
	for _, e := range layer {
		dir, base := path.Split(e.Name)
		if base == opaqueName {
			below := strings.TrimSuffix(dir, "/")
			maps.DeleteFunc(m, func(n, _ string) bool { return dir == "" || n != below && strings.HasPrefix(n, dir) })
		} else if victim, ok := strings.CutPrefix(base, whiteoutPrefix); ok {
			m.remove(dir + victim)
		}
	}
	for _, e := range layer {
		switch {
		case strings.HasPrefix(path.Base(e.Name), whiteoutPrefix):
		case e.Typeflag == tar.TypeDir:
			if m[e.Name] != "dir" {
				m.remove(e.Name)
			}
			m.parents(e.Name)
			m[e.Name] = "dir"
		default:
			m.remove(e.Name)
			m.parents(e.Name)
			m[e.Name] = e.content
		}
	}
}

// drawLayer draws entries that no tool would refuse: nothing is below a file of
// the same image.
func drawLayer(t *rapid.T, m model) []entry {
	now := maps.Clone(m)
	var layer []entry
	for range rapid.IntRange(0, 8).Draw(t, "entries") {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(t, "name")
		name := strings.Join(parts, "/")
		e := file(name, "x"+rapid.StringMatching(`[0-9]{3}`).Draw(t, "content"))
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			e = dir(name)
		case 1:
			e = file(path.Join(path.Dir(name), whiteoutPrefix+path.Base(name)), "")
		case 2:
			e = file(path.Join(path.Dir(name), opaqueName), "")
		}
		next := append(slices.Clone(layer), e)
		if belowFile(now, next) {
			continue
		}
		layer = next
	}
	return layer
}

// belowFile tells whether an entry of a layer would be below a file.
func belowFile(m model, layer []entry) bool {
	now := maps.Clone(m)
	var marks, rest []entry
	for _, e := range layer {
		if strings.HasPrefix(path.Base(e.Name), whiteoutPrefix) {
			marks = append(marks, e)
		} else {
			rest = append(rest, e)
		}
	}
	now.apply(marks)
	for _, e := range rest {
		for d := path.Dir(e.Name); d != "."; d = path.Dir(d) {
			if what, ok := now[d]; ok && what != "dir" {
				return true
			}
		}
		now.apply([]entry{e})
	}
	return false
}

// TestLayersAgreeWithTheModel: any layers, with whiteouts anywhere, give what the
// specification says.
func TestLayersAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newArena(t, Limits{})
		m := model{}
		for range rapid.IntRange(1, 4).Draw(rt, "layers") {
			layer := drawLayer(rt, m)
			if err := a.layer(archive(t, layer...)); err != nil {
				rt.Fatal(err)
			}
			if a.unpacker.layers == 1 { // there is nothing below to remove
				layer = slices.DeleteFunc(layer, func(e entry) bool {
					return strings.HasPrefix(path.Base(e.Name), whiteoutPrefix)
				})
			}
			m.apply(layer)
		}
		if diff := cmp.Diff(map[string]string(m), simple(listing(t, a.root))); diff != "" {
			rt.Errorf("-want +got:\n%s", diff)
		}
		a.check(t)
	})
}
