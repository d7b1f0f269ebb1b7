package e2b

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// The launcher's line is taken out of the stream that it is on, whatever pieces it
// comes in, and what the other stream brings before it is held.
func TestIntake(t *testing.T) {
	type piece struct{ stdout, stderr, pty string }
	for name, tc := range map[string]struct {
		pieces      []piece
		tty         bool
		out, errOut string
		start       error
		fails       bool
	}{
		"in order":       {pieces: []piece{{stderr: "+\n"}, {stdout: "a"}, {stderr: "b"}}, out: "a", errOut: "b"},
		"output first":   {pieces: []piece{{stdout: "a"}, {stdout: "b"}, {stderr: "+\nc"}, {stdout: "d"}}, out: "abd", errOut: "c"},
		"in pieces":      {pieces: []piece{{stderr: "+"}, {stderr: "\nx+\n"}}, errOut: "x+\n"},
		"a terminal":     {pieces: []piece{{pty: "+\r"}, {pty: "\nshown"}}, tty: true, out: "shown"},
		"refused":        {pieces: []piece{{stderr: "-none\n"}}, start: fs.ErrNotExist},
		"denied":         {pieces: []piece{{stderr: "-denied\n"}}, start: fs.ErrPermission},
		"never":          {pieces: []piece{{stderr: strings.Repeat("x", 300)}}, fails: true},
		"never, but out": {pieces: []piece{{stdout: strings.Repeat("x", maxHeldBytes)}, {stdout: "x"}}, fails: true},
	} {
		var out, errOut bytes.Buffer
		pr := &process{c: &container{}, startup: make(chan error, 1), spec: sandbox.Process{Args: []string{"p"}}}
		if tc.tty {
			pr.spec.TTY = &sandbox.TTY{}
		}
		in := intake{pr: pr, stdout: &out, stderr: &errOut}
		for _, p := range tc.pieces {
			in.take([]byte(p.stdout), []byte(p.stderr), []byte(p.pty))
		}
		if out.String() != tc.out || errOut.String() != tc.errOut || (in.err != nil) != tc.fails {
			t.Errorf("%s: %.40q %.40q %v", name, out.String(), errOut.String(), in.err)
		}
		if tc.fails {
			continue
		}
		if err := <-pr.startup; !errors.Is(err, tc.start) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list that never ends is not followed for ever.
func TestListWithoutEnd(t *testing.T) {
	pages := 0
	rt := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		pages++
		w.Header().Set("X-Next-Token", strconv.Itoa(pages))
		_, _ = io.WriteString(w, `[{"sandboxID":"other","metadata":{}}]`)
	})
	if n, err := rt.deleteLabelled(t.Context(), labelInstance, "ours"); n != 0 || err != nil || pages != maxPages {
		t.Errorf("%d were deleted after %d pages: %v", n, pages, err)
	}
}

// A service that does not filter lists everybody's sandboxes: none but ours go.
func TestReclaimOfAnUnfilteredList(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dead"+instanceSuffix), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var deleted []string
	rt := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			deleted = append(deleted, r.URL.Path)
			return
		}
		_, _ = io.WriteString(w, `[{"sandboxID":"other","metadata":{}},{"sandboxID":"theirs","metadata":{"sandbox-run-instance":"alive"}},
			{"sandboxID":"../x","metadata":{"sandbox-run-instance":"dead"}},{"sandboxID":"ours","metadata":{"sandbox-run-instance":"dead"}}]`)
	})
	rt.instance.dir = dir
	if n, err := rt.Reclaim(t.Context()); n != 1 || err != nil || len(deleted) != 1 || deleted[0] != "/sandboxes/ours" {
		t.Errorf("%d %v %q", n, err, deleted)
	}
	if _, err := os.Stat(filepath.Join(dir, "dead"+instanceSuffix)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}
