package doctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Suite is what the sessions of a page run against.
type Suite struct {
	// Program is the one under test, and Name what the pages call it.
	Name, Program string
	// Dir is where commands run and files are; Env is theirs, but for PATH.
	Dir string
	Env []string
	// Needs are the conditions that needs= may name.
	Needs map[string]func(*testing.T) bool
	// Attributes are those of this suite's sessions beside the usual ones.
	Attributes []string
	// Prepare, if there is one, comes before a session, in its test: it may
	// change the block, skip the test, and clean up after it.
	Prepare func(*testing.T, *Block)
}

// Run writes the files of a page and runs its sessions, each as a test, and gives
// how many were run.
func (s Suite) Run(t *testing.T, page string) (ran int) {
	t.Helper()
	blocks, err := s.parse(page)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(s.Program, filepath.Join(bin, s.Name)); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, b := range blocks {
		if title := b.Attributes["title"]; title != "" {
			name := filepath.Join(s.Dir, title)
			// Files of keys are nobody else's.
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(b.Text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if b.Language != "console" {
			continue
		}
		t.Run(fmt.Sprintf("line %d", b.Line), func(t *testing.T) {
			s.prepare(t, &b)
			if err := s.session(t.Context(), b); err != nil {
				t.Error(err)
			}
			ran++
		})
	}
	return ran
}

func (s Suite) prepare(t *testing.T, b *Block) {
	t.Helper()
	if reason := b.Attributes["reason"]; reason != "" {
		t.Skip("no-test: " + reason)
	}
	for _, need := range needs(b.Attributes) {
		if !s.Needs[need](t) {
			t.Skip("this host has no " + need)
		}
	}
	if s.Prepare != nil {
		s.Prepare(t, b)
	}
}

// separator is printed after each command, and by nothing else.
const separator = "\x1e"

// session runs a block and compares what each command prints.
func (s Suite) session(ctx context.Context, b Block) error {
	commands, err := b.commands()
	if err != nil {
		return err
	}
	script := ""
	for _, c := range commands {
		script += c.text + "{ status=$?; printf '\\036'; (exit $status); }\n"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "-c", script)
	bash.Dir, bash.Env = s.Dir, s.Env
	out, err := bash.CombinedOutput() // the last command may be meant to fail
	outputs := strings.Split(string(out), separator)
	if len(outputs) != len(commands)+1 {
		return errors.Join(fmt.Errorf("%d of %d commands ended:\n%s", len(outputs)-1, len(commands), out), err)
	}
	var wrong []error
	for i, c := range commands {
		if !matches(c.output, outputs[i]) {
			wrong = append(wrong, fmt.Errorf("$ %sprints:\n%s\nand the page says:\n%s", c.text, outputs[i], c.output))
		}
	}
	return errors.Join(wrong...)
}
