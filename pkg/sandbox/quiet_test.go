package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// quiet is a program that reads all of its input, and knows of no waiting.
func quiet(p Process) Exit {
	if p.Stdin == nil {
		return Exit{Code: 98}
	}
	read, err := io.ReadAll(p.Stdin)
	if err != nil {
		return Exit{Code: 99}
	}
	fmt.Fprintf(p.Stdout, "%s of %s", read, p.Args[0])
	return Exit{}
}

// A program that reads its input waits without saying so, is told by that input alone, and
// is what a process with other words would not be.
func TestQuietProgramBecomesTheRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		work   *Work
		want   string
		frugal bool
	}{
		{"told by its input", &Work{Input: []byte("source")}, "source of ahead", false},
		{"told nothing", &Work{Input: []byte{}}, " of ahead", false},
		{"told otherwise", &Work{}, "stdin of cold", false},
		{"used less than a clock shows", &Work{Input: []byte("source")}, "source of ahead", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := keeps(t, &warmRuntime{program: quiet, frugal: c.frugal}, PoolOptions{})
				w := python()
				w.Ahead.Quiet, w.Ahead.Process.Args = true, []string{"ahead"}
				m.Prepare(w, 1)
				time.Sleep(10 * time.Second)
				p := Process{Args: []string{"cold"}, Limits: Limits{MemoryBytes: 64 << 20}, Work: c.work}
				if c.work.Input == nil {
					p.Stdin = strings.NewReader("stdin")
				}
				var stdout bytes.Buffer
				p.Stdout = &stdout
				if out, warm, err := runIn(t, m, w, p); err != nil || !warm || out.Code != 0 || stdout.String() != c.want {
					t.Errorf("warm %v, %+v, %v, stdout %q", warm, out, err, &stdout)
				}
			})
		})
	}
}

// What speaks although it was to be quiet is not waiting.
func TestQuietProgramThatSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 16)
		m := keeps(t, &warmRuntime{program: func(p Process) Exit {
			_, err := p.Stdout.Write([]byte{Waiting})
			return Exit{WriteError: err}
		}}, PoolOptions{Failed: func(err error) { failed <- err }})
		w := python()
		w.Ahead.Quiet = true
		m.Prepare(w, 1)
		if err := <-failed; !errors.Is(err, errNotWaiting) {
			t.Error(err)
		}
	})
}
