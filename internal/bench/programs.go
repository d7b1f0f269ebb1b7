package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// Program is a small program that is measured.
type Program struct {
	Name, Language string
	// File is what its source is called on the host; empty means that there is none.
	File string
	// Args are what a program of the root is called with, itself first.
	Args []string

	source func(n int64) string
	bare   func(tc language.Toolchain, binary string) [][]string
}

// Source is the program with a number that makes it like no other.
func (p Program) Source(n int64) string {
	if p.File == "" {
		return ""
	}
	return p.source(n)
}

// Check holds what the program wrote against what it is to write: who measures something else
// does not notice otherwise.
func (p Program) Check(n int64, wrote string) error {
	want := ""
	if p.File != "" {
		want = fmt.Sprintf("hello %d\n", n)
	}
	if wrote != want {
		return fmt.Errorf("%s wrote %.300q where it writes %q", p.Name, wrote, want)
	}
	return nil
}

// someImports are a handful of a standard library's modules, others for each number: who imports
// what programs often import before it is asked has seldom imported these.
func someImports(n int64) string {
	modules := []string{"argparse", "ast", "base64", "bisect", "calendar", "configparser", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib",
		"fractions", "functools", "glob", "hashlib", "heapq", "html", "itertools", "json", "logging", "math", "pprint", "queue", "random", "re", "secrets",
		"shlex", "statistics", "string", "textwrap", "typing", "uuid", "zlib"}
	random := rand.New(rand.NewPCG(uint64(n), 0))
	random.Shuffle(len(modules), func(i, j int) { modules[i], modules[j] = modules[j], modules[i] })
	return strings.Join(modules[:6], ", ")
}

// Programs are those that are measured, unless somebody chooses.
func Programs() []Program {
	interpret := func(file string) func(language.Toolchain, string) [][]string {
		return func(tc language.Toolchain, _ string) [][]string { return [][]string{{tc.Program, file}} }
	}
	format := func(text string) func(int64) string {
		return func(n int64) string { return fmt.Sprintf(text, n) }
	}
	return []Program{
		{Name: "true", Language: "exec", Args: []string{"/bin/true"}, bare: func(language.Toolchain, string) [][]string { return [][]string{{"/bin/true"}} }},
		{Name: "python hello", Language: "python", File: "f.py", source: format("print('hello', %d)\n"), bare: interpret("f.py")},
		{Name: "python imports", Language: "python", File: "g.py", bare: interpret("g.py"),
			source: format("import json, re, datetime, collections, random, math\nprint('hello', %d)\n")},
		{Name: "python other imports", Language: "python", File: "g.py", bare: interpret("g.py"),
			source: func(n int64) string { return fmt.Sprintf("import %s\nprint('hello', %d)\n", someImports(n), n) }},
		{Name: "javascript hello", Language: "javascript", File: "f.js", source: format("console.log('hello', %d);\n"), bare: interpret("f.js")},
		{Name: "javascript write", Language: "javascript", File: "f.js", source: format("process.stdout.write('hello %d\\n');\n"), bare: interpret("f.js")},
		{Name: "java hello", Language: "java", File: "Main.java", bare: interpret("Main.java"),
			source: format("public class Main { public static void main(String[] args) { System.out.println(\"hello \" + %dL); } }\n")},
		{Name: "go hello", Language: "go", File: "main.go",
			source: format("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\", %d) }\n"),
			bare: func(tc language.Toolchain, binary string) [][]string {
				return [][]string{{tc.Program, "build", "-o", binary, "main.go"}, {binary}}
			}},
		{Name: "rust hello", Language: "rust", File: "main.rs", source: format("fn main() { println!(\"hello {}\", %du64); }\n"),
			bare: func(tc language.Toolchain, binary string) [][]string {
				return [][]string{{tc.Program, "-o", binary, "main.rs"}, {binary}}
			}},
	}
}

// Commands are what a person would type on the host: the toolchain's own programs by their
// paths, and no shim that first finds out which one is meant. They run in dir.
func (p Program) Commands(tc language.Toolchain, dir string) [][]string {
	return p.bare(tc, filepath.Join(dir, "program"))
}

// places are what bare commands keep of our environment: where things are, and the locale. What
// else a machine tells every program is not the toolchain's own time: certificates of
// NODE_EXTRA_CA_CERTS, for one, cost Node 90 ms before its first line.
var places = []string{"PATH", "HOME", "PWD", "TMPDIR", "LANG", "XDG_CACHE_HOME", "GOCACHE"}

// Bare runs the program in dir as these commands do, in an environment without settings.
func (p Program) Bare(tc language.Toolchain, dir string) Contender {
	commands := p.Commands(tc, dir)
	return Contender{Name: "bare", Do: func(ctx context.Context, n int64) error {
		if p.File != "" {
			if err := os.WriteFile(filepath.Join(dir, p.File), []byte(p.Source(n)), 0o600); err != nil {
				return err
			}
		}
		var wrote string
		var err error
		for _, command := range commands {
			if wrote, err = call(ctx, dir, command, places...); err != nil {
				return err
			}
		}
		return p.Check(n, wrote)
	}}
}

// BareWorkers is the program for so many who call it at the same time, each in a directory of its
// own below dir.
func (p Program) BareWorkers(tc language.Toolchain, dir string, workers int) (Contender, error) {
	idle := make(chan Contender, workers)
	for i := range workers {
		own := filepath.Join(dir, fmt.Sprint(i))
		if err := os.MkdirAll(own, 0o700); err != nil {
			return Contender{}, err
		}
		idle <- p.Bare(tc, own)
	}
	return Contender{Name: "bare", Do: func(ctx context.Context, n int64) error {
		place := <-idle
		defer func() { idle <- place }()
		return place.Do(ctx, n)
	}}, nil
}

// Through is a contender that runs the program by a command, made of the number of each turn.
func (p Program) Through(name, dir string, command func(n int64) []string) Contender {
	return Contender{Name: name, Do: func(ctx context.Context, n int64) error {
		wrote, err := call(ctx, dir, command(n))
		if err != nil {
			return err
		}
		return p.Check(n, wrote)
	}}
}

// call runs a command and takes what it writes as a caller would, through pipes. It has our
// environment, or of that the variables that are named.
func call(ctx context.Context, dir string, command []string, env ...string) (wrote string, err error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &said
	if len(env) > 0 {
		cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return !slices.Contains(env, name)
		})
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %.300s", command[0], err, said.Bytes())
	}
	return out.String(), nil
}
