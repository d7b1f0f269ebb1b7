package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The examples of the documentation are sessions, and they are run:
//
//   - A block ```console holds lines "$ command", each followed by what it
//     prints on either stream. A command goes on to the end of a here document
//     and after a backslash at the end of a line. The commands of a block share
//     one bash, the blocks of a page one directory. The exit code counts where
//     the page shows it, by echo $?.
//   - Any other block with title=NAME in its info string is the file NAME in
//     that directory; the paragraph above names it for the reader.
//   - A block with no-test is not run, and reason="…" says why. A block with
//     needs=A,B is run where A and B are there: cgroup, restricted, on-disk, out
//     (a network that leads out), packages (uv, and PyPI), or a toolchain such as
//     python@3.12.
//
// In what is expected, … stands for any text of a line, and a line with nothing
// else for any lines. The version in sandbox-run's first line and the times and
// sizes in its last are free as well, so that the page can show real ones, and
// so is the warning that a host without control groups adds.
var pages = []string{"README.md", "docs/SANDBOX_RUN.md"}

func TestDocumentation(t *testing.T) {
	if doctor := sandboxRun(t, "doctor").stdout; !strings.Contains(doctor, "at isolation full") {
		t.Skipf("the pages show isolation full, which this host does not have:\n%s", doctor)
	}
	sandboxRun(t, "--quiet", "--lang", "go", "--code", "package main\nfunc main() {}") // what is prepared
	sandboxRun(t, "--quiet", "--lang", "java", "--code", "class A { public static void main(String[] a) {} }")
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, readPage(t, page))
		})
	}
}

// The page of sandbox-run leaves out no flag, no verb and no variable.
func TestDocumentationIsComplete(t *testing.T) {
	page := readPage(t, "docs/SANDBOX_RUN.md")
	help := sandboxRun(t, "--help").stdout
	words := regexp.MustCompile(`(?m)^  (?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1)
	_, verbs, _ := strings.Cut(help, "Verbs:\n")
	verbs, _, _ = strings.Cut(verbs, "\n\n")
	words = append(words, regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(verbs, -1)...)
	ours, _, _ := strings.Cut(readPage(t, ".env.example"), "# sandbox-server alone:")
	words = append(words, regexp.MustCompile(`(?m)^#?(SANDBOX_[A-Z_]+)=`).FindAllStringSubmatch(ours, -1)...)
	if len(words) < 40 {
		t.Fatalf("only %d flags, verbs and variables were found: %q", len(words), words)
	}
	for _, word := range words {
		if !regexp.MustCompile("[` ]" + word[1] + "[`\\s=]").MatchString(page) {
			t.Errorf("docs/SANDBOX_RUN.md says nothing about %s", word[1])
		}
	}
}

// Links lead to files that are there, and to headings that they have.
func TestDocumentationLinks(t *testing.T) {
	for _, page := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^):]*)\)`).FindAllStringSubmatch(readPage(t, page), -1) {
			name, anchor, _ := strings.Cut(link[1], "#")
			target := page
			if name != "" {
				target = filepath.Join(filepath.Dir(page), name)
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if anchor != "" && !slices.Contains(anchors(readPage(t, target)), anchor) {
				t.Errorf("%s: %s has no heading for #%s", page, target, anchor)
			}
		}
	}
}

// anchors are the links that GitHub gives to the headings of a page.
func anchors(page string) (found []string) {
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		words := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		found = append(found, strings.ReplaceAll(words, " ", "-"))
	}
	return found
}

func TestMatchOutput(t *testing.T) {
	figures := "── ok · exit 0 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation full"
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"42", "42\n", true},
		{"42", "43\n", false},
		{"", "42\n", false},
		{"42", "42\n43\n", false},
		{"a … c", "a b c\n", true},
		{"a … c", "a b\nc\n", false},
		{"a\n…\nd", "a\nb\nc\nd\n", true},
		{"a\n…\nd", "a\nd\n", true},
		{"a\n…\nd", "a\nb\nc\n", false},
		{"── python 3.11.7\n42", "── python 3.13.0\n42\n", true},
		{"── python 3.11.7", "── ruby 3.11.7\n", false},
		{figures, "── ok · exit 0 · 1.20 s · cpu 987 µs · memory 1016 KiB · isolation full\n", true},
		{figures, "── ok · exit 1 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation full\n", false},
		{figures, "── ok · exit 0 · 20.1 ms · cpu 10 ms · memory 3.2 MiB · isolation none\n", false},
		{"3.2 MiB", "3.3 MiB\n", false},
		{"42", "42\n── warning: limits: memory is sampled; sandbox-run doctor tells how to mend it\n", true},
		{"a.b", "axb\n", false},
	} {
		if matchOutput(c.want, c.got) != c.match {
			t.Errorf("%q matches %q: want %v", c.got, c.want, c.match)
		}
	}
}

// block is a fenced block of a page.
type block struct {
	line             int // of the fence
	language, info   string
	text, paragraph  string // the paragraph is that above the block
	title, needs, no string
}

// command is one of a session, with what it prints.
type command struct{ text, output string }

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func runPage(t *testing.T, page string) {
	s := session{dir: t.TempDir(), bin: t.TempDir()}
	if err := os.Symlink(binary, filepath.Join(s.bin, "sandbox-run")); err != nil {
		t.Fatal(err)
	}
	ran, left := 0, 0
	for _, b := range blocks(t, page) {
		switch {
		case b.title != "":
			s.write(t, b)
		case b.language != "console":
		case b.no != "":
			t.Logf("line %d is not run: %s", b.line, b.no)
			left++
		case !haveAll(t, b.needs):
			t.Logf("line %d is not run: it needs %s", b.line, b.needs)
			left++
		default:
			s.run(t, b)
			ran++
		}
	}
	t.Logf("%d sessions run, %d not", ran, left)
	if ran == 0 {
		t.Error("the page has no session that can be run")
	}
}

var (
	fence   = regexp.MustCompile("^ *```([a-z]*) *(.*)$")
	setting = regexp.MustCompile(`(\w+)=(?:"([^"]*)"|(\S+))`)
)

// blocks cuts a page into its fenced blocks.
func blocks(t *testing.T, page string) (found []block) {
	t.Helper()
	var open *block
	paragraph := ""
	for i, line := range strings.Split(page, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open == nil && m != nil:
			open = newBlock(t, i+1, m[1], m[2], paragraph)
		case open != nil && m != nil:
			found = append(found, *open)
			open, paragraph = nil, ""
		case open != nil:
			open.text += line + "\n"
		case line == "" && paragraph != "" && !strings.HasSuffix(paragraph, "\n"):
			paragraph += "\n" // the blank line between a paragraph and its block
		case line != "":
			if strings.HasSuffix(paragraph, "\n") {
				paragraph = ""
			}
			paragraph += line + " "
		}
	}
	if open != nil {
		t.Fatalf("line %d: the block is not closed", open.line)
	}
	return found
}

func newBlock(t *testing.T, line int, language, info, paragraph string) *block {
	t.Helper()
	b := &block{line: line, language: language, info: info, paragraph: paragraph}
	settings := map[string]string{}
	for _, m := range setting.FindAllStringSubmatch(info, -1) {
		settings[m[1]] = m[2] + m[3]
	}
	b.title, b.needs, b.no = settings["title"], settings["needs"], settings["reason"]
	if strings.Contains(info, "no-test") != (b.no != "") {
		t.Errorf("line %d: no-test and reason belong together", line)
	}
	return b
}

// haveAll tells whether this host has all that a block needs.
func haveAll(t *testing.T, needs string) bool {
	t.Helper()
	for need := range strings.SplitSeq(needs, ",") {
		has := true
		switch need {
		case "":
		case "cgroup":
			has = strings.Contains(sandboxRun(t, "doctor").stdout, "memory and swap, by cgroup")
		case "restricted":
			has = strings.Contains(sandboxRun(t, "doctor").stdout, "full, restricted")
		case "out":
			has = strings.Contains(sandboxRun(t, "doctor").stdout, "allowlist")
		case "packages":
			_, err := exec.LookPath("uv")
			has = err == nil && reachable("pypi.org:443")
		case "on-disk":
			has = sandboxRun(t, "--on-disk", "--lang", "exec", "--", "true").code == 0
		default:
			has = sandboxRun(t, "--quiet", "--lang", need, "--code", "").code != 127
		}
		if !has {
			return false
		}
	}
	return true
}

func reachable(address string) bool {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// session is where the commands of a page run.
type session struct{ dir, bin string }

// write makes the file that a block shows.
func (s session) write(t *testing.T, b block) {
	t.Helper()
	if !strings.Contains(b.paragraph, b.title) {
		t.Errorf("line %d: the text above does not tell the reader that this is %s", b.line, b.title)
	}
	name := filepath.Join(s.dir, b.title)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(b.text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// separator is printed after each command, and by nothing else.
const separator = "\x1e"

// run runs a block and compares what each command prints.
func (s session) run(t *testing.T, b block) {
	t.Helper()
	commands := parseSession(t, b)
	var script strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&script, "%s\n{ status=$?; printf '\\036'; (exit $status); }\n", c.text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-c", script.String())
	bash.Dir = s.dir
	bash.Env = s.environ()
	var out bytes.Buffer
	bash.Stdout, bash.Stderr = &out, &out
	_ = bash.Run() // the last command may be meant to fail
	outputs := strings.Split(out.String(), separator)
	if len(outputs) != len(commands)+1 {
		t.Fatalf("line %d: %d of %d commands ended:\n%s", b.line, len(outputs)-1, len(commands), out.String())
	}
	for i, c := range commands {
		if !matchOutput(c.output, outputs[i]) {
			t.Errorf("line %d: $ %s\nprints:\n%s\nand the page says:\n%s", b.line, c.text, outputs[i], c.output)
		}
	}
}

// environ is that of a user who has set nothing of ours.
func (s session) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "SANDBOX_") })
	return append(env, "PATH="+s.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "SANDBOX_DATA_DIR="+dataDir)
}

var hereDocument = regexp.MustCompile(`<<-?'?(\w+)'?`)

// parseSession splits a block into commands and what they print.
func parseSession(t *testing.T, b block) (commands []command) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(b.text, "\n"), "\n") {
		text, isCommand := strings.CutPrefix(line, "$ ")
		last := len(commands) - 1
		switch {
		case last >= 0 && !isComplete(commands[last].text):
			commands[last].text += "\n" + line
		case isCommand:
			commands = append(commands, command{text: text})
		case last < 0:
			t.Fatalf("line %d: the session does not begin with a command", b.line)
		default:
			commands[last].output += line + "\n"
		}
	}
	return commands
}

// isComplete tells whether a command ends here: after its here document, or
// with its quotes closed and without a backslash. Quotes are single ones.
func isComplete(text string) bool {
	if m := hereDocument.FindStringSubmatch(text); m != nil {
		return strings.HasSuffix(text, "\n"+m[1])
	}
	return strings.Count(text, "'")%2 == 0 && !strings.HasSuffix(text, `\`)
}

// free are the parts of sandbox-run's own lines that differ from run to run.
var free = []struct {
	line, part *regexp.Regexp
}{
	{regexp.MustCompile(`^── [a-z]+ \d\S*$`), regexp.MustCompile(` \d\S*$`)},
	{regexp.MustCompile(`^── .* · isolation `), regexp.MustCompile(`\d+(\.\d+)? ([mµ]?s|B|[KMG]iB)\b`)},
	{regexp.MustCompile(`^── limit `), regexp.MustCompile(`reached \S+ \S+`)},
}

// matchOutput tells whether a command printed what the page says.
func matchOutput(want, got string) bool {
	var pattern strings.Builder
	for _, line := range outputLines(want) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(.*\n)*`)
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	text := strings.Join(outputLines(got), "\n")
	if text != "" {
		text += "\n"
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(text)
}

// outputLines are the lines of an output without what is free. A terminal ends
// them with a carriage return too.
func outputLines(text string) (lines []string) {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, f := range free {
			if f.line.MatchString(line) {
				line = f.part.ReplaceAllString(line, "#")
			}
		}
		if !strings.HasPrefix(line, "── warning: limits: ") {
			lines = append(lines, line)
		}
	}
	return lines
}
