package docker

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/stdio"
)

// left is a container of a made-up engine.
type left struct {
	ID      string `json:"Id"`
	State   string
	Created int64
	Labels  map[string]string
	ended   string // empty where the engine cannot say
	runs    bool
	code    int
}

// engineWithContainers is a runtime of an engine that has these containers; it tells which
// were removed.
func engineWithContainers(t *testing.T, list []left) (*Runtime, *[]string) {
	t.Helper()
	var removed []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := path.Base(strings.TrimSuffix(r.URL.Path, "/json"))
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			w.Header().Set("Api-Version", "1.45")
		case r.Method == http.MethodDelete:
			removed = append(removed, id)
		case id == "wait":
			_ = json.NewEncoder(w).Encode(map[string]any{"StatusCode": 1})
		case id == "containers":
			_ = json.NewEncoder(w).Encode(list)
		default:
			i := slices.IndexFunc(list, func(c left) bool { return c.ID == id })
			if list[i].ended == "" {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"Id": id, "State": map[string]any{"FinishedAt": list[i].ended, "Running": list[i].runs, "ExitCode": list[i].code}})
		}
	}))
	t.Cleanup(s.Close)
	c, err := client.New(client.WithHost("tcp://" + s.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &Runtime{client: c}, &removed
}

// TestReclaimLeavesToTheLiving: why a container has ended is for its client to ask, as long
// as that may be alive.
func TestReclaimLeavesToTheLiving(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc is Linux's")
	}
	const never = "0001-01-01T00:00:00Z"
	dead := numberedBy() + " 99999999 1"
	for name, c := range map[string]struct {
		state, maker, ended string
		created             time.Duration // how long ago
		runs, stays         bool
	}{
		"made, alive":             {state: "created", maker: maker(), ended: never, created: time.Minute, stays: true},
		"made, elsewhere":         {state: "created", maker: "elsewhere 1 1", ended: never, created: time.Minute, stays: true},
		"made long ago":           {state: "created", maker: maker(), ended: never, created: time.Hour},
		"made, dead":              {state: "created", maker: dead, ended: never},
		"ended, alive":            {state: "exited", maker: maker(), ended: ago(time.Second), created: time.Hour, stays: true},
		"ended, elsewhere":        {state: "exited", maker: "elsewhere 1 1", ended: ago(time.Second), stays: true},
		"ended long ago":          {state: "exited", maker: maker(), ended: ago(2 * time.Minute)},
		"ended, dead":             {state: "exited", maker: dead, ended: ago(time.Second)},
		"ended, nobody's":         {state: "exited", ended: ago(time.Second)},
		"ended, nobody knows how": {state: "dead", maker: maker(), ended: "soon"},
		"runs by now":             {state: "running", maker: maker(), ended: never, stays: true},
		"runs by now, nobody's":   {state: "running", ended: never, stays: true},
		"runs by now, dead":       {state: "running", maker: dead, ended: never},
		"runs again":              {state: "exited", maker: maker(), ended: ago(time.Hour), runs: true, stays: true},
		"nobody can say":          {state: "exited", maker: maker(), ended: "", stays: true},
	} {
		id := strings.Repeat("0", 64)
		labels := map[string]string{labelOurs: "run"}
		if c.maker != "" {
			labels[labelMaker] = c.maker
		}
		r, removed := engineWithContainers(t, []left{{ID: id, State: c.state, Created: time.Now().Add(-c.created).Unix(), Labels: labels, ended: c.ended, runs: c.runs}})
		told, err := r.reclaim(t.Context())
		if want := !c.stays; err != nil || (len(told) == 1) != want || (len(*removed) == 1) != want {
			t.Errorf("%s: removed %q, told %q, %v", name, *removed, told, err)
		}
	}
}

// TestEndedByItself: what init said when it ended is told, and that it may be tried again
// where it said nothing, for then it was killed.
func TestEndedByItself(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		cut   error
		code  int
		runs  bool
		want  EngineError
	}{
		"killed":    {code: 137, want: EngineError{Err: errors.New("its container was stopped from outside"), Again: true}},
		"by itself": {code: 1, want: EngineError{Err: errors.New("its container has ended by itself, with exit code 1"), Again: true}},
		"goes on":   {runs: true, cut: io.ErrUnexpectedEOF, want: EngineError{Err: errors.New("the connection to its container has ended, which goes on: unexpected EOF"), Again: true}},
		"words":     {words: "init: no descriptors", code: 125, want: EngineError{Err: errors.New("its container has ended: init: no descriptors")}},
	} {
		r, _ := engineWithContainers(t, []left{{ID: "x", ended: ago(time.Second), code: c.code, runs: c.runs}})
		e := &engine{r: r, id: "x", words: &stdio.Tail{}, cut: c.cut}
		_, _ = io.WriteString(e.words, c.words+"\n")
		_, err := e.ended()
		var got *EngineError
		if !errors.As(err, &got) || got.Err.Error() != c.want.Err.Error() || got.Again != c.want.Again {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := wordless(nil, nil); err.Error() != "its container was removed from outside" {
		t.Error(err)
	}
}

// ago is a time in an engine's words.
func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
