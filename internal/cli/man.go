package cli

import (
	"fmt"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

//go:generate sh -c "cd ../.. && go run ./cmd/sandbox-run __man > docs/man/sandbox-run.1"

// man prints the manual page, in the man(7) language, from the same grammar
// that the command line is read with.
func (a *app) man([]string) (int, error) {
	page, err := manPage()
	if err != nil {
		return 0, err
	}
	return exitOK, a.print(page)
}

func manPage() (string, error) {
	var b strings.Builder
	b.WriteString(manHead)
	for _, parent := range shownVerbs() {
		for _, v := range append([]verb{parent}, parent.verbs...) {
			usage, err := manUsage(v)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(usage), roff(v.help))
		}
	}
	run, _ := findVerb("run")
	groups, _, err := grammarOf(run)
	if err != nil {
		return "", err
	}
	b.WriteString(".SH OPTIONS\n")
	for _, g := range groups {
		fmt.Fprintf(&b, ".SS %s\n", roff(g.title))
		for _, f := range g.flags {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagSyntax(f)), roff(f.Help))
		}
	}
	b.WriteString(manExit())
	b.WriteString(manEnvironment())
	b.WriteString(manTail)
	return b.String(), nil
}

// manUsage is the line that a verb is called by. The flags of run have a section of
// their own.
func manUsage(v verb) (string, error) {
	if v.name == "run" {
		return v.name, nil
	}
	groups, positional, err := grammarOf(v)
	usage := v.name
	for _, g := range groups {
		for _, f := range g.flags {
			usage += " [" + flagSyntax(f) + "]"
		}
	}
	return usage + positionalUsage(positional), err
}

const manHead = `.TH SANDBOX\-RUN 1 "" "sandbox\-run" "User Commands"
.SH NAME
sandbox\-run \- run untrusted programs in a sandbox
.SH SYNOPSIS
.B sandbox\-run
.RI [ options ]
.RI [ file " ...]"
.RB [ \-\-
.IR argument " ...]"
.br
.B sandbox\-run
.I verb
.RI [ options ]
.SH DESCRIPTION
Runs one program in a sandbox of its own, with limits, and shows what it
prints, how it ended and what it used. The source is exactly one of
.BR \-\-code ,
.BR \-\-file ,
a file, several files or a directory, and standard input. Of a directory
everything is taken but the folders of version control; symbolic links and
special files in it are refused. A source may have 16 MiB; a project and what
.B \-\-in
adds may have 64 MiB in 10000 files.
.PP
Sizes are bytes or a number with k, m or g, which are powers of 1024. Durations
are written as 500ms, 2s, 1m30s or plain seconds. A limit that is given by name
and cannot be enforced on this host is an error; a default one that cannot is a
warning.
.SH VERBS
`

const manTail = `.SH EXAMPLES
.nf
sandbox\-run \-\-lang python \-\-code 'print(6*7)'
sandbox\-run main.rs \-\-timeout 5s \-\-memory 256m \-\- first second
echo 'console.log(6*7)' | sandbox\-run \-\-lang javascript \-\-json
sandbox\-run project/ \-\-in data.csv \-\-out results
.fi
`

// manExit is the table of [exitCode] for people.
func manExit() string {
	rows := []struct{ code, meaning string }{
		{"0", "The program ended with 0."},
		{"the program's own", "It ended with that code; of a compile error, the compiler's."},
		{"2", "The command line, environment, configuration file or source is wrong, or asks for what this host cannot enforce."},
		{"124", "The wall clock or the CPU time ran out."},
		{"125", "The sandbox failed, not the program; or the server cannot be reached or has no room."},
		{"126", "A policy said no."},
		{"127", "The language is unknown or has no toolchain where the program was to run."},
		{"137", "The memory or the output limit ended the program."},
		{"128+n", "Signal n ended the program; 129, 130 and 143 also when SIGHUP, SIGINT or SIGTERM ended sandbox-run, and 141 when the reader of its output went away."},
	}
	var b strings.Builder
	b.WriteString(".SH EXIT STATUS\n")
	for _, r := range rows {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(r.code), roff(r.meaning))
	}
	return b.String()
}

// manEnvironment lists the variables from the table that they are read by.
func manEnvironment() string {
	var b strings.Builder
	b.WriteString(".SH ENVIRONMENT\nA flag beats a variable, and a variable beats the configuration file.\n")
	for _, v := range config.Variables() {
		if v.Server {
			continue
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s", roff(v.Name), roff(v.Help))
		if v.Default != "" {
			fmt.Fprintf(&b, " Default: %s.", roff(v.Default))
		}
		b.WriteString("\n")
	}
	b.WriteString(".TP\n.B HTTPS_PROXY, HTTP_PROXY, NO_PROXY\nThe proxy to the index of packages; programs never use it.\n")
	b.WriteString(".TP\n.B NO_COLOR\nNo colours, unless \\-\\-color asks for them.\n")
	return b.String()
}

// roff escapes text for man(7): a backslash, a hyphen that is to stay one, and
// a dot or quote that would begin a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
