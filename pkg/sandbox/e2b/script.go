package e2b

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// startRequest is the body of process.Process/Start.
type startRequest struct {
	Process processConfig `json:"process"`
	PTY     *ptyConfig    `json:"pty,omitempty"`
	Stdin   bool          `json:"stdin"`
}

type processConfig struct {
	Cmd  string            `json:"cmd"`
	Args []string          `json:"args"`
	Envs map[string]string `json:"envs"`
	Cwd  string            `json:"cwd"`
}

type ptyConfig struct {
	Size ptySize `json:"size"`
}

type ptySize struct {
	Cols uint32 `json:"cols"`
	Rows uint32 `json:"rows"`
}

const startMethod = "/process.Process/Start"

// shellProcess runs a script with arguments.
func shellProcess(script string, args ...string) processConfig {
	return processConfig{
		Cmd: "/bin/sh", Args: slices.Concat([]string{"-c", script, "sh"}, args),
		Envs: map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}, Cwd: "/",
	}
}

// said is what a script has written and how it ended.
type said struct {
	stdout, stderr string
	code           int
}

// maxSaid bounds each stream of a script of ours.
const maxSaid = 64 << 10

// script runs one of our scripts to its end.
func (e *envd) script(ctx context.Context, op, user, script string, args ...string) (said, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.options.RequestTimeout, errSlow)
	defer cancel()
	var out, errOut bytes.Buffer
	end, err := e.follow(ctx, op, user, shellProcess(script, args...), func(stdout, stderr []byte) error {
		out.Write(stdout[:min(len(stdout), maxSaid-out.Len())])
		errOut.Write(stderr[:min(len(stderr), maxSaid-errOut.Len())])
		return nil
	})
	if err != nil {
		return said{}, err
	}
	code, _, err := end.outcome()
	if err != nil {
		return said{}, &TransientError{Op: op, Err: err}
	}
	return said{out.String(), errOut.String(), code}, nil
}

// follow starts a process without input and hands on what it writes until it ends.
func (e *envd) follow(ctx context.Context, op, user string, p processConfig, wrote func(stdout, stderr []byte) error) (endEvent, error) {
	stream, err := e.stream(ctx, op, startMethod, user, startRequest{Process: p})
	if err != nil {
		return endEvent{}, err
	}
	defer stream.close()
	for {
		var m processMessage
		if err := stream.next(&m); errors.Is(err, io.EOF) {
			return endEvent{}, &TransientError{Op: op, Err: errors.New("the process ended without saying how")}
		} else if err != nil {
			return endEvent{}, err
		}
		switch {
		case m.Event.End != nil:
			return *m.Event.End, nil
		case m.Event.Data != nil:
			if err := wrote(m.Event.Data.Stdout, m.Event.Data.Stderr); err != nil {
				return endEvent{}, err
			}
		}
	}
}

// must runs a script that has to succeed.
func (e *envd) must(ctx context.Context, op, user, script string, args ...string) error {
	out, err := e.script(ctx, op, user, script, args...)
	if err == nil && out.code != 0 {
		err = fmt.Errorf("E2B: %s: %s (exit code %d)", op, where{}.clean(strings.TrimSpace(out.stderr)), out.code)
	}
	return err
}
