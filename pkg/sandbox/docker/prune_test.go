package docker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// listed is an image of a made-up engine.
type listed struct {
	ID       string `json:"Id"`
	RepoTags []string
	Size     int64
	Created  int64
	Labels   map[string]string
}

// engineWithImages is a runtime of an engine that has these images and no others, and
// where containers have some; it tells the names and ids that were to be removed, in order.
func engineWithImages(t *testing.T, list []listed, used ...string) (*Runtime, *[]string) {
	t.Helper()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, name, _ := strings.Cut(r.URL.Path, "/images/")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			w.Header().Set("Api-Version", "1.45")
		case r.Method == http.MethodDelete:
			name, _ = url.PathUnescape(name)
			i := slices.IndexFunc(list, func(i listed) bool { return i.ID == name || slices.Contains(i.RepoTags, name) })
			asked = append(asked, name)
			if i < 0 {
				w.WriteHeader(http.StatusNotFound)
			} else if slices.Contains(used, strings.TrimPrefix(list[i].ID, "sha256:")) {
				w.WriteHeader(http.StatusConflict)
			} else {
				list = slices.Delete(list, i, i+1)
				_, _ = w.Write([]byte("[]"))
				return
			}
			_, _ = w.Write([]byte(`{"message":"no"}`))
		default:
			_ = json.NewEncoder(w).Encode(list)
		}
	}))
	t.Cleanup(s.Close)
	c, err := client.New(client.WithHost("tcp://" + s.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &Runtime{client: c}, &asked
}

// TestPruneBound: images that go have room for 5 GiB beside what they are made of. The oldest
// make room, what is made of them first, and what a container has stays with what it is on.
func TestPruneBound(t *testing.T) {
	const gib = 1 << 30
	of := func(id, on string, age time.Duration, size int64, names ...string) listed {
		return listed{ID: "sha256:" + id, RepoTags: names, Size: size, Labels: map[string]string{
			labelFrom: "base", labelOn: on, labelUntil: strconv.FormatInt(time.Now().Add(48*time.Hour-age).Unix(), 10),
		}}
	}
	const prepared, kept = preparedImages + ":p", keptImages + ":"
	images := func() []listed {
		return []listed{
			{ID: "sha256:p", RepoTags: []string{prepared}, Size: 4 * gib, Labels: map[string]string{labelFrom: "base", labelOn: "base", labelUntil: ""}},
			{ID: "good", RepoTags: []string{kept + "good"}, Size: 9 * gib, Labels: map[string]string{labelFrom: "base", labelOn: "p", labelUntil: ""}},
			of("c", "p", time.Hour, 5*gib, "localhost/"+kept+"c"), // as Podman calls it
			of("b", "p", 2*time.Hour, 6*gib, kept+"b"),
			of("a", "p", 3*time.Hour, 7*gib, kept+"a"),
			of("ofA", "a", 3*time.Hour, 7*gib, kept+"ofA"),
			of("ofB", "b", 2*time.Hour, 6*gib, kept+"ofB"),
			of("theirs", "a", 3*time.Hour, 99*gib, kept+"theirs", "their/own:1"),
		}
	}
	large := func(l []listed) []listed { l[2].Size += 6 * gib; return l }
	for name, c := range map[string]struct {
		change func([]listed) []listed
		used   []string
		want   []string
		newest string
	}{
		"within the bound":               {change: func(l []listed) []listed { l[2].Size -= gib; return l }},
		"over it":                        {want: []string{"ofA", "a"}},
		"the oldest is in use":           {used: []string{"ofA"}},
		"a part is in use":               {used: []string{"a"}, want: []string{"ofA"}},
		"all are in use":                 {used: []string{"ofA", "ofB", "c"}},
		"the newest is all that is idle": {used: []string{"ofA", "ofB"}},
		"what is idle is over it":        {change: large, used: []string{"ofA", "ofB"}, want: []string{"c"}},
		"the newest is over it":          {change: large, used: []string{"ofA"}, want: []string{"ofB", "b"}, newest: kept + "c"},
		"time is over": {func(l []listed) []listed {
			l[3].Labels[labelUntil], l[6].Labels[labelUntil] = "1", "1"
			return l
		}, nil, []string{"ofB", "b"}, ""},
		"one of many small files": {func(l []listed) []listed {
			l[2].Size -= gib
			l[5].Labels[labelBytes] = strconv.FormatInt(2*gib, 10)
			return l
		}, nil, []string{"ofA"}, ""},
		"one without a name": {func(l []listed) []listed {
			l[2].Size, l[3].RepoTags = l[2].Size-gib, []string{"<none>:<none>"}
			return slices.Delete(l, 6, 7)
		}, nil, []string{"b"}, ""},
		"one without a name, and another is on it": {func(l []listed) []listed {
			l[2].Size, l[3].RepoTags = l[2].Size-gib, nil
			return l
		}, nil, nil, ""},
		"a label that is no time": {func(l []listed) []listed {
			for i := range l {
				l[i].Labels[labelUntil] = "soon"
			}
			return l
		}, nil, nil, ""},
	} {
		list := images()
		if c.change != nil {
			list = c.change(list)
		}
		r, asked := engineWithImages(t, list, c.used...)
		removed, err := r.prune(t.Context(), c.newest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range removed {
			removed[i] = strings.TrimPrefix(removed[i], "image sha256:")
		}
		if !slices.Equal(removed, c.want) {
			t.Errorf("%s: removed %q, want %q", name, removed, c.want)
		}
		for _, never := range []string{"sha256:p", "good", "sha256:theirs", "their/own:1", prepared} {
			if slices.Contains(*asked, never) {
				t.Errorf("%s: asked to remove %s", name, never)
			}
		}
	}
}
