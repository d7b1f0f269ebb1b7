package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The examples of docs/SERVER.md are sessions, and they are run: a block
// ```console holds lines "$ command", each followed by what it prints on either
// stream, where … stands for any text of a line, and a line with nothing else for
// any lines. A block with title=NAME is the file NAME. A block with no-test is not
// run, and reason="…" says why. All as in test/cli; and besides:
//
//   - localhost:8080 stands for the address of a server that runs.
//   - A block with server="NAME=VALUE,…" has a server of its own with these
//     settings, with the page's keys and files; server="keys" needs none.
//   - A block is run where the programs are that it uses, or names in needs=NAME.
const (
	guide      = "docs/SERVER.md"
	guideHost  = "localhost:8080"
	ownKeys    = "keys"
	sessionEnd = "\x1e" // is printed after each command, and by nothing else
)

func TestDocumentation(t *testing.T) {
	t.Parallel()
	p := page{dir: t.TempDir(), bin: t.TempDir()}
	if err := os.Symlink(binary, filepath.Join(p.bin, "sandbox-server")); err != nil {
		t.Fatal(err)
	}
	blocks := pageBlocks(t, readFile(t, guide))
	for _, b := range blocks { // an example uses files of others beside it
		if b.settings["title"] != "" {
			p.write(t, b)
		}
	}
	ran := 0
	for _, b := range blocks {
		switch missing := missingProgram(b.settings["needs"] + " " + b.text); {
		case b.language != "console":
		case b.settings["reason"] != "":
			t.Logf("line %d is not run: %s", b.line, b.settings["reason"])
		case missing != "":
			t.Logf("line %d is not run: it needs %s", b.line, missing)
		default:
			p.run(t, b)
			ran++
		}
	}
	t.Logf("%d sessions run", ran)
	if ran == 0 {
		t.Skip("no session of the page can be run here; the lines above say why")
	}
}

// missingProgram names the first program of a session that is not on this
// machine, as far as the session uses it.
func missingProgram(session string) string {
	for _, program := range []string{"curl", "python3", "node", "openssl"} {
		if !regexp.MustCompile(`\b` + program + `\b`).MatchString(session) {
			continue
		}
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	if strings.Contains(session, "curl") && strings.Contains(session, "--json") {
		if help, err := exec.Command("curl", "--help", "all").Output(); err != nil || !bytes.Contains(help, []byte("--json")) {
			return "curl 7.82 or later, which has --json"
		}
	}
	return ""
}

// pageBlock is a fenced block of a page.
type pageBlock struct {
	line           int // of the fence
	language, text string
	settings       map[string]string
}

var (
	pageFence   = regexp.MustCompile("^```([a-z]*) *(.*)$")
	pageSetting = regexp.MustCompile(`(\w+)=(?:"([^"]*)"|(\S+))`)
)

func pageBlocks(t *testing.T, text string) (found []pageBlock) {
	t.Helper()
	var open *pageBlock
	for i, line := range strings.Split(text, "\n") {
		m := pageFence.FindStringSubmatch(line)
		switch {
		case open == nil && m != nil:
			open = &pageBlock{line: i + 1, language: m[1], settings: map[string]string{}}
			for _, s := range pageSetting.FindAllStringSubmatch(m[2], -1) {
				open.settings[s[1]] = s[2] + s[3]
			}
			if strings.Contains(m[2], "no-test") != (open.settings["reason"] != "") {
				t.Errorf("line %d: no-test and reason belong together", i+1)
			}
		case open != nil && m != nil:
			found, open = append(found, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Fatalf("line %d: the block is not closed", open.line)
	}
	return found
}

// page is where the sessions run: a directory that they share, and one on PATH.
type page struct{ dir, bin string }

func (p page) write(t *testing.T, b pageBlock) {
	t.Helper()
	text := strings.ReplaceAll(b.text, guideHost, shared.host())
	// Files of keys are nobody else's.
	if err := os.WriteFile(filepath.Join(p.dir, b.settings["title"]), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *instance) host() string { return strings.TrimPrefix(s.url, "http://") }

// server is the one that a block talks to.
func (p page) server(t *testing.T, b pageBlock) (host string, stop func()) {
	t.Helper()
	asked := b.settings["server"]
	if asked == "" {
		return shared.host(), func() {}
	}
	settings := []string{"SANDBOX_DATA_DIR=" + p.data()}
	for setting := range strings.SplitSeq(asked, ",") {
		name, value, ok := strings.Cut(setting, "=")
		if ok != (setting != ownKeys) {
			t.Fatalf("line %d: %q is no setting", b.line, setting)
		}
		if _, err := os.Stat(filepath.Join(p.dir, value)); ok && err == nil {
			value = filepath.Join(p.dir, value)
		}
		if ok {
			settings = append(settings, name+"="+value)
		}
	}
	s, err := launch(settings...)
	if err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	return s.host(), func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}
}

// data is the data directory of the page's own servers, and of its commands.
func (p page) data() string { return filepath.Join(p.dir, ".data") }

// run runs a block and compares what each command prints.
func (p page) run(t *testing.T, b pageBlock) {
	t.Helper()
	host, stop := p.server(t, b)
	defer stop()
	commands := pageCommands(t, b)
	var script strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&script, "%s\nprintf '\\036'\n", strings.ReplaceAll(c.text, guideHost, host))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-c", script.String())
	bash.Dir = p.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SANDBOX_") {
			bash.Env = append(bash.Env, kv)
		}
	}
	bash.Env = append(bash.Env, "PATH="+p.bin+":"+os.Getenv("PATH"), "SANDBOX_DATA_DIR="+p.data(), "no_proxy=*", "NO_PROXY=*")
	out, err := bash.CombinedOutput()
	outputs := strings.Split(string(out), sessionEnd)
	if len(outputs) != len(commands)+1 {
		t.Fatalf("line %d: %d of %d commands ended (%v):\n%s", b.line, len(outputs)-1, len(commands), err, out)
	}
	for i, c := range commands {
		if !pageMatch(c.output, outputs[i]) {
			t.Errorf("line %d: $ %s\nprints:\n%s\nand the page says:\n%s", b.line, c.text, outputs[i], c.output)
		}
	}
}

// pageCommand is one of a session, with what it prints.
type pageCommand struct{ text, output string }

func pageCommands(t *testing.T, b pageBlock) (commands []pageCommand) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(b.text, "\n"), "\n") {
		text, isCommand := strings.CutPrefix(line, "$ ")
		last := len(commands) - 1
		switch {
		case last >= 0 && !pageComplete(commands[last].text):
			commands[last].text += "\n" + line
		case isCommand:
			commands = append(commands, pageCommand{text: text})
		case last < 0:
			t.Fatalf("line %d: the session does not begin with a command", b.line)
		default:
			commands[last].output += line + "\n"
		}
	}
	return commands
}

var pageHere = regexp.MustCompile(`<<'(\w+)'`)

// pageComplete tells whether a command ends here: after its here document, or
// with its single quotes closed.
func pageComplete(text string) bool {
	if m := pageHere.FindStringSubmatch(text); m != nil {
		return strings.HasSuffix(text, "\n"+m[1])
	}
	return strings.Count(text, "'")%2 == 0
}

func pageMatch(want, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(want) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(.*\n)*`)
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	if got = strings.TrimRight(got, "\n"); got != "" {
		got += "\n"
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(got)
}

func TestPageMatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"42\n", "42\n", true},
		{"42\n", "42", true},
		{"42\n", "42\n\n", true},
		{"42\n", "43\n", false},
		{"", "42\n", false},
		{"42\n", "", false},
		{"42\n", "42\n43\n", false},
		{"a … c\n", "a b c\n", true},
		{"a … c\n", "a b\nc\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n  …\nd\n", "a\nd\n", true},
		{"a\n…\nd\n", "a\nb\nc\n", false},
		{"a.b\n", "axb\n", false},
	} {
		if pageMatch(c.want, c.got) != c.match {
			t.Errorf("%q matches %q: want %v", c.got, c.want, c.match)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

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
	table, found := section(t, readFile(t, guide), "Configuration"), 0
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
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(readFile(t, file), -1)
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
	mentions(t, readFile(t, guide), "internal/server/server.go", `mux\.Handle(?:Func)?\("([A-Z]+ /.*?)/?"`, 8)
}

func TestDocumentationHasProblems(t *testing.T) {
	mentions(t, section(t, readFile(t, guide), "Problems"), "internal/wire/problem.go", `"urn:sandbox-run:problem:([a-z-]+)"`, 12)
}

func TestDocumentationHasFields(t *testing.T) {
	text := section(t, readFile(t, guide), "The request") + section(t, readFile(t, guide), "Limits") + section(t, readFile(t, guide), "Network")
	for _, typ := range []reflect.Type{reflect.TypeFor[api.Request](), reflect.TypeFor[api.RequestLimits](), reflect.TypeFor[api.RequestNetwork]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !regexp.MustCompile("`(limits\\.)?" + name + "`").MatchString(text) {
				t.Errorf("%s says nothing of the field %s of %s", guide, name, typ.Name())
			}
		}
	}
}

// Links lead to files that are there, and to headings that they have.
func TestDocumentationLinks(t *testing.T) {
	fenced := regexp.MustCompile("(?ms)^```.*?^```$")
	for _, link := range regexp.MustCompile(`\]\(([^):]*)\)`).FindAllStringSubmatch(readFile(t, guide), -1) {
		name, anchor, _ := strings.Cut(link[1], "#")
		target := guide
		if name != "" {
			target = filepath.Join(filepath.Dir(guide), name)
		}
		headings := []string{}
		for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(fenced.ReplaceAllString(readFile(t, target), ""), -1) {
			headings = append(headings, strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
		}
		if anchor != "" && !slices.Contains(headings, anchor) {
			t.Errorf("%s has no heading for #%s", target, anchor)
		}
	}
}

func TestDocumentationHasMetrics(t *testing.T) {
	text := section(t, readFile(t, guide), "Health and metrics")
	figures, _ := exported(t)
	for name := range figures {
		name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "sandbox_") && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s says nothing of %s", guide, name)
		}
	}
}
