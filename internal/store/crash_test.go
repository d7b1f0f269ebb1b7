package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// helperEnv makes the test binary another process with the same database:
// "once DIR" writes a line, "on DIR" writes lines until it is killed.
const helperEnv = "STORE_TEST_HELPER"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" {
		verb, dir, _ := strings.Cut(what, " ")
		if err := help(context.Background(), verb, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helper(t *testing.T, verb, dir string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+verb+" "+dir)
	return cmd
}

func help(ctx context.Context, verb, dir string) error {
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	if verb == "on" {
		return writeOn(ctx, s)
	}
	r := newRun(time.Now())
	r.ID = fmt.Sprint(os.Getpid())
	return errors.Join(s.BeginRun(ctx, r), s.Close())
}

// writeOn prints the id of each line that was acknowledged.
func writeOn(ctx context.Context, s *Store) error {
	failed := make(chan error)
	for range 8 {
		go func() {
			for {
				r := newRun(time.Now())
				if err := s.BeginRun(ctx, r); err != nil {
					failed <- err
				}
				fmt.Println(r.ID) // one write, so lines stay whole
				if err := s.EndRun(ctx, r.ID, ended("ok")); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// TestKilled kills a process in the middle of its insertions, time and again:
// the database opens, is whole, and has every line that was acknowledged.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 5 {
		for _, id := range killedAfter(t, dir, 200*(round+1)) {
			acknowledged[id] = true
		}
		s := open(t, dir)
		var verdict string
		if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Fatalf("integrity: %s, %v", verdict, err)
		}
		if _, err := s.MarkLost(t.Context()); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, r := range mustRuns(t, s, RunFilter{}) {
			found[r.ID] = r.End != nil
		}
		for id := range acknowledged {
			if !found[id] {
				t.Errorf("round %d: the line %s was acknowledged and is gone, or open", round, id)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killedAfter lets a helper write, kills it after that many lines, and returns
// what it had acknowledged by then.
func killedAfter(t *testing.T, dir string, lines int) []string {
	t.Helper()
	cmd := helper(t, "on", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		ids = append(ids, scanner.Text())
		if len(ids) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if len(ids) < lines {
		t.Fatalf("the helper has written %d lines and stopped", len(ids))
	}
	return ids
}
