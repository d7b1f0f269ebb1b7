package sandbox

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// index is a package index as small as can be (PEP 503), which remembers what it
// was asked for.
type index struct {
	*httptest.Server
	files map[string][]byte

	mu    sync.Mutex
	asked []string
}

func newIndex(t *testing.T, files map[string][]byte) *index {
	t.Helper()
	i := &index{files: files}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked = append(i.asked, r.URL.Path)
	i.mu.Unlock()
	if content, ok := i.files[strings.TrimPrefix(r.URL.Path, "/files/")]; ok {
		_, _ = w.Write(content)
		return
	}
	project := strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple/"), "/")
	links := ""
	for name, content := range i.files {
		if strings.HasPrefix(name, strings.ReplaceAll(project, "-", "_")+"-") {
			links += fmt.Sprintf("<a href=\"/files/%[1]s#sha256=%[2]x\">%[1]s</a>\n", name, sha256.Sum256(content))
		}
	}
	if links == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!DOCTYPE html><html><body>\n%s</body></html>\n", links)
}

// took is what was asked for since the last time.
func (i *index) took() (paths []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	paths, i.asked = i.asked, nil
	return paths
}

// wheel is a package with one module and one command.
func wheel(t *testing.T, name, module string) []byte {
	t.Helper()
	info := name + "-1.0.dist-info/"
	return archive(t, map[string]string{
		name + ".py":              module,
		info + "METADATA":         "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n",
		info + "WHEEL":            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "entry_points.txt": "[console_scripts]\n" + strings.ReplaceAll(name, "_", "-") + " = " + name + ":main\n",
		info + "RECORD":           fmt.Sprintf("%[1]s.py,,\n%[2]sMETADATA,,\n%[2]sWHEEL,,\n%[2]sentry_points.txt,,\n%[2]sRECORD,,\n", name, info),
	})
}

// escaping is a wheel that is as it should be, but for files beside and above the environment
// that it is installed in.
func escaping(t *testing.T) []byte {
	t.Helper()
	const info = "escape-1.0.dist-info/"
	files := map[string]string{
		"escape.py":       "answer = 1\n",
		info + "METADATA": "Metadata-Version: 2.1\nName: escape\nVersion: 1.0\n",
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	for _, dir := range []string{"../../../../", "../../../../../", dataDir + "/"} {
		files[dir+"escaped.py"] = ""
	}
	record := info + "RECORD,,\n"
	for name := range files {
		record += name + ",,\n"
	}
	files[info+"RECORD"] = record
	return archive(t, files)
}

func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// needUV skips where packages cannot be installed.
func needUV(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("uv"); err != nil {
		t.Skip("there is no uv: pip install uv")
	}
}

func TestRequirements(t *testing.T) {
	needUV(t)
	from := newIndex(t, map[string][]byte{
		"demo_pkg-1.0-py3-none-any.whl": wheel(t, "demo_pkg", "answer = 42\ndef main(): print('the command')\n"),
		"escape-1.0-py3-none-any.whl":   escaping(t),
		"startup-1.0-py3-none-any.whl": archive(t, map[string]string{
			"startup.py":                     "",
			"startup.pth":                    "import pathlib, sys; pathlib.Path(sys.prefix, 'ran').touch()\n",
			"startup-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: startup\nVersion: 1.0\n",
			"startup-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
			"startup-1.0.dist-info/RECORD":   "",
		}),
		"source-1.0.zip": archive(t, map[string]string{"source-1.0/setup.py": "raise SystemExit('built')"}),
	})
	s := started(t, "SANDBOX_PYTHON_INDEX="+from.URL+"/simple")
	demo := api.Request{Requirements: []string{"Demo.Pkg == 1.0"}, Code: `
import demo_pkg, os, subprocess, urllib.request
print(demo_pkg.answer, subprocess.run(["demo-pkg"], capture_output=True, text=True).stdout.strip())
for path in demo_pkg.__file__, os.path.join(os.path.dirname(demo_pkg.__file__), "new"):
    try:
        open(path, "w")
        print("written", path)
    except OSError as e:
        print(e.strerror)
try:
    urllib.request.urlopen("` + from.URL + `/simple/")
    print("connected")
except OSError as e:
    print("no network")
`}
	said := "42 the command\nRead-only file system\nRead-only file system\nno network\n"
	if restricted(t) {
		said = strings.ReplaceAll(said, "Read-only file system", "Permission denied")
	}

	t.Run("at once", func(t *testing.T) {
		body, err := json.Marshal(demo)
		if err != nil {
			t.Fatal(err)
		}
		answers, errs := make([]answer, 3), make([]error, 3)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				answers[i], errs[i] = s.try(t.Context(), "POST", "/execute", bytes.NewReader(body), "Content-Type", "application/json")
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		installs := 0
		for _, a := range answers {
			result := a.result(t)
			if result.Stdout != said || !result.Success {
				t.Errorf("%s %s %q %q", result.Status, result.Message, result.Stdout, result.Stderr)
			}
			installs += len(result.Phases) - 1
		}
		if asked := from.took(); installs != 1 || len(asked) == 0 {
			t.Errorf("%d installations, and asked for %q", installs, asked)
		}
	})
	t.Run("again", func(t *testing.T) {
		demo.Requirements = []string{"demo-pkg==1.0"}
		result := s.run(t, demo)
		if asked := from.took(); result.Stdout != said || len(result.Phases) != 1 || len(asked) > 0 {
			t.Errorf("%q after %d phases, and asked for %q", result.Stdout, len(result.Phases), asked)
		}
	})
	for name, c := range map[string]struct{ requirement, message string }{
		"not there":   {"absent", "absent was not found"},
		"no version":  {"demo-pkg>1", "demo-pkg"},
		"from source": {"source", "source"},
	} {
		t.Run(name, func(t *testing.T) {
			result := s.run(t, api.Request{Code: "print('ran')", Requirements: []string{c.requirement}})
			if result.Status != api.StatusInstallError || !strings.Contains(result.Message, c.message) || result.ExitCode == 0 || strings.Contains(result.Stdout+result.Stderr, "ran\n") || strings.Contains(result.Stderr, "built") {
				t.Errorf("%s %d %q %q", result.Status, result.ExitCode, result.Message, result.Stderr)
			}
		})
	}
	t.Run("code of a package", func(t *testing.T) {
		result := s.run(t, api.Request{Code: "import os, sys; print(os.listdir(sys.prefix))", Requirements: []string{"startup"}})
		if !strings.Contains(result.Stderr, "startup.pth") {
			t.Errorf("the package does not try: %q", result.Stderr)
		}
		if !result.Success || strings.Contains(result.Stdout, "ran") {
			t.Errorf("the package ran while it was installed: %s %q", result.Status, result.Stdout)
		}
	})
	t.Run("outside", func(t *testing.T) { nothingOutside(t, s) })
	if took := from.took(); slices.Contains(took, "/files/source-1.0.zip") {
		t.Errorf("a source was fetched: %q", took)
	}
}

// nothingOutside installs the wheel of escaping, of which uv leaves out what would lie elsewhere.
func nothingOutside(t *testing.T, s *instance) {
	t.Helper()
	r := s.run(t, api.Request{Requirements: []string{"escape"}, Code: "import escape, os, sys\nprint(escape.answer, [p for p, _, names in os.walk(sys.prefix) if 'escaped.py' in names])"})
	if r.Stdout != "1 []\n" {
		t.Errorf("%s %s %q %q", r.Status, r.Message, r.Stdout, r.Stderr)
	}
	installed := false
	err := filepath.WalkDir(dataDir, func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Base(path) {
		case "escape.py":
			installed = true
		case "escaped.py":
			t.Errorf("a package has written %s", path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another test's, which has gone
		}
		return err
	})
	if err != nil || !installed {
		t.Errorf("the package is among what was looked at: %v, %v", installed, err)
	}
}

// What is required is never passed over.
func TestRequirementsAreRefused(t *testing.T) {
	for body, pointer := range map[string]string{
		`{"code": "1", "requirements": ["a", "--index-url=http://169.254.169.254/"]}`: "/requirements/1",
		`{"code": "1", "requirements": ["a @ file:///etc/passwd"]}`:                   "/requirements/0",
		`{"code": "1", "requirements": ["a==${HOME}"]}`:                               "/requirements/0",
		`{"code": "1", "requirements": ["a\n-r /etc/passwd"]}`:                        "/requirements/0",
		`{"code": "1", "requirements": [""]}`:                                         "/requirements/0",
		`{"language": "bash", "code": "echo ran", "requirements": ["a"]}`:             "/requirements",
		`{"code": "1", "requirements": [` + strings.Repeat(`"a",`, 256) + `"a"]}`:     "/requirements",
	} {
		problem := shared.execute(t, body).problem(t, http.StatusUnprocessableEntity)
		if len(problem.Errors) != 1 || problem.Errors[0].Pointer != pointer {
			t.Errorf("%.80s: %+v", body, problem)
		}
	}
}

// The real index, where it can be reached.
func TestRequirementsFromPyPI(t *testing.T) {
	needUV(t)
	dialer := net.Dialer{Timeout: 5 * time.Second}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", "pypi.org:443")
	if err != nil {
		t.Skip(err)
	}
	conn.Close()
	result := shared.run(t, api.Request{Requirements: []string{"requests", "numpy"}, Code: "import requests, numpy; print(numpy.arange(4).sum())"})
	if result.Stdout != "6\n" {
		t.Errorf("%s %s %q", result.Status, result.Message, result.Stderr)
	}
}
