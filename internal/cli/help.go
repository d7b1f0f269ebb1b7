package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// helpWidth is the width of the help page: that of a terminal that nobody
// widened, so that the page looks the same everywhere.
const helpWidth = 80

// flagGroup is the flags under one heading, in the order of the grammar.
type flagGroup struct {
	title string
	flags []*kong.Flag
}

// grammarOf reads a verb's flags and arguments.
func grammarOf(v verb) ([]flagGroup, []*kong.Positional, error) {
	parser, err := newParser(v.grammar())
	if err != nil {
		return nil, nil, err
	}
	var groups []flagGroup
	for _, f := range parser.Model.Flags {
		title := "Options"
		if f.Group != nil {
			title = f.Group.Key
		}
		if len(groups) == 0 || groups[len(groups)-1].title != title {
			groups = append(groups, flagGroup{title: title})
		}
		last := &groups[len(groups)-1]
		last.flags = append(last.flags, f)
	}
	return groups, parser.Model.Positional, nil
}

// help prints the page of a verb; that of run is the page of the tool.
func (a *app) help(name string) error {
	v, _ := findVerb(name)
	groups, positional, err := grammarOf(v)
	if err != nil {
		return err
	}
	var b strings.Builder
	switch {
	case name == "run":
		b.WriteString(overview())
	case len(v.verbs) > 0:
		fmt.Fprintf(&b, "Usage: sandbox-run %s VERB [options]\n\n%s\n\nVerbs:\n%s", name, strings.Join(wrap(v.help, helpWidth), "\n"), definitions(v.verbs))
	default:
		fmt.Fprintf(&b, "Usage: sandbox-run %s [options]%s\n\n%s\n", name, positionalUsage(positional), strings.Join(wrap(v.help, helpWidth), "\n"))
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n", g.title)
		for _, f := range g.flags {
			b.WriteString(definition(flagSyntax(f), f.Help))
		}
	}
	return a.print(b.String())
}

func overview() string {
	var b strings.Builder
	b.WriteString(`Usage: sandbox-run [options] [file ...] [-- argument ...]
       sandbox-run VERB [options]

Run a program in a sandbox. The source is exactly one of --code, --file, a
file, several files or a directory, and standard input.

  sandbox-run --lang python --code 'print(6*7)'
  sandbox-run main.rs --timeout 5s --memory 256m -- first second
  echo 'console.log(6*7)' | sandbox-run --lang javascript --json

Verbs:
`)
	b.WriteString(definitions(shownVerbs()))
	return b.String()
}

// definitions are verbs and what they do.
func definitions(verbs []verb) string {
	var b strings.Builder
	for i, word := range lastWords(verbs) {
		b.WriteString(definition(word, verbs[i].help))
	}
	return b.String()
}

func positionalUsage(positional []*kong.Positional) string {
	usage := ""
	for _, p := range positional {
		usage += " " + strings.ToUpper(p.Name)
		if p.IsCumulative() {
			usage += "..."
		}
	}
	return usage
}

// flagSyntax is how a flag is written: -l, --lang L.
func flagSyntax(f *kong.Flag) string {
	s := "--" + f.Name
	if f.Short != 0 {
		s = "-" + string(f.Short) + ", " + s
	}
	if !f.IsBool() {
		s += " " + f.PlaceHolder
	}
	return s
}

// definition is a term and its description, wrapped beside it.
func definition(term, text string) string {
	const indent = 26
	var b strings.Builder
	fmt.Fprintf(&b, "  %-*s", indent-2, term)
	if len(term) > indent-4 {
		b.WriteString("\n" + strings.Repeat(" ", indent))
	}
	b.WriteString(strings.Join(wrap(text, helpWidth-indent), "\n"+strings.Repeat(" ", indent)))
	return b.String() + "\n"
}

// wrap breaks text at blanks into lines of at most width bytes where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
