package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/doctest"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// The examples of the guide are run; doctest says how they are written. Besides:
//
//   - localhost:8080 stands for the address of a server that runs.
//   - A session with server="NAME=VALUE,…" has a server of its own with these
//     settings, with the page's keys and files; server="keys" needs none.
//   - A session is run where the programs are that it uses, or needs.
const (
	guide     = "docs/SERVER.md"
	guideHost = "localhost:8080"
	ownKeys   = "keys"
)

func TestDocumentation(t *testing.T) {
	t.Parallel()
	p := page{Suite: doctest.Suite{Name: "sandbox-server", Program: binary, Dir: t.TempDir(), Attributes: []string{"server"}}}
	p.data = "SANDBOX_DATA_DIR=" + filepath.Join(p.Dir, ".data")
	p.Env = testenv.Environ(p.data, "no_proxy=*", "NO_PROXY=*")
	p.Needs = map[string]func(*testing.T) bool{}
	for _, program := range []string{"curl", "python3", "node", "openssl"} {
		p.Needs[program] = func(*testing.T) bool { _, err := exec.LookPath(program); return err == nil }
	}
	p.Prepare = p.prepare
	if p.Run(t, strings.ReplaceAll(testenv.ReadFile(t, guide), guideHost, shared.host())) == 0 {
		t.Skip("no session of the page can be run here; the lines above say why")
	}
}

// page is where the sessions of the guide run; data is the setting that names the
// data directory of its own servers, and of its commands.
type page struct {
	doctest.Suite
	data string
}

func (p page) prepare(t *testing.T, b *doctest.Block) {
	t.Helper()
	for program, has := range p.Needs {
		if regexp.MustCompile(`\b`+program+`\b`).MatchString(b.Text) && !has(t) {
			t.Skip("this host has no " + program)
		}
	}
	if strings.Contains(b.Text, "curl") && strings.Contains(b.Text, "--json") {
		if help, err := exec.Command("curl", "--help", "all").Output(); err != nil || !bytes.Contains(help, []byte("--json")) {
			t.Skip("this host has no curl 7.82 or later, which has --json")
		}
	}
	if asked := b.Attributes["server"]; asked != "" {
		b.Text = strings.ReplaceAll(b.Text, shared.host(), p.server(t, asked).host())
	}
}

// server is one with the settings that a session asks for.
func (p page) server(t *testing.T, asked string) *instance {
	t.Helper()
	settings := []string{p.data}
	for setting := range strings.SplitSeq(asked, ",") {
		name, value, ok := strings.Cut(setting, "=")
		if ok != (setting != ownKeys) {
			t.Fatalf("%q is no setting", setting)
		}
		if _, err := os.Stat(filepath.Join(p.Dir, value)); ok && err == nil {
			value = filepath.Join(p.Dir, value)
		}
		if ok {
			settings = append(settings, name+"="+value)
		}
	}
	return started(t, settings...)
}

func (s *instance) host() string { return strings.TrimPrefix(s.URL, "http://") }

// section is what stands between a heading and the next of any level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(text, "# "+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", guide, heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// Each setting of the server is in the table, with its default.
func TestDocumentationHasSettings(t *testing.T) {
	table, found := section(t, testenv.ReadFile(t, guide), "Configuration"), 0
	for _, v := range config.Variables() {
		if !v.Server {
			continue
		}
		found++
		row := regexp.MustCompile(`(?m)^\| ` + "`" + v.Name + "`" + ` \| ([^|]*) \|`).FindStringSubmatch(table)
		if row == nil || v.Default != "" && row[1] != v.Default {
			t.Errorf("no row for %s with the default %q: %q", v.Name, v.Default, row)
		}
	}
	if found < 10 {
		t.Errorf("only %d settings were found", found)
	}
}

// mentions fails for each match of a pattern in a file that a text does not name, in
// quotes of code. What it looks for is the first group.
func mentions(t *testing.T, text, file, pattern string, least int) {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(testenv.ReadFile(t, file), -1)
	if len(found) < least {
		t.Fatalf("only %q were found in %s", found, file)
	}
	for _, m := range found {
		if !strings.Contains(text, "`"+m[1]+"`") {
			t.Errorf("%s says nothing of %s", guide, m[1])
		}
	}
}

func TestDocumentationHasRoutes(t *testing.T) {
	mentions(t, testenv.ReadFile(t, guide), "internal/server/server.go", `mux\.Handle(?:Func)?\("([A-Z]+ /.*?)/?"`, 8)
}

func TestDocumentationHasProblems(t *testing.T) {
	mentions(t, section(t, testenv.ReadFile(t, guide), "Problems"), "internal/wire/problem.go", `"urn:sandbox-run:problem:([a-z-]+)"`, 12)
}

func TestDocumentationHasFields(t *testing.T) {
	text := section(t, testenv.ReadFile(t, guide), "The request") + section(t, testenv.ReadFile(t, guide), "Limits") + section(t, testenv.ReadFile(t, guide), "Network")
	for _, typ := range []reflect.Type{reflect.TypeFor[api.Request](), reflect.TypeFor[api.RequestLimits](), reflect.TypeFor[api.RequestNetwork]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !regexp.MustCompile("`(limits\\.)?" + name + "`").MatchString(text) {
				t.Errorf("%s says nothing of the field %s of %s", guide, name, typ.Name())
			}
		}
	}
}

func TestDocumentationHasMetrics(t *testing.T) {
	text := section(t, testenv.ReadFile(t, guide), "Health and metrics")
	figures, _ := exported(t)
	for name := range figures {
		name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "sandbox_") && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s says nothing of %s", guide, name)
		}
	}
}
