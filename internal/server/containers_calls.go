package server

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// start runs a program to its end.
func (h *hosted) start(call *tunnel.Call, c sandbox.Container, r tunnel.Request) tunnel.Answer {
	running, limits, err := h.launch(call, c, r)
	if err != nil {
		return tunnel.Failed(err)
	}
	_ = call.Begun(tunnel.Answer{}) // who does not hear it has gone, and ends all
	overtime := cmp.Or(h.s.Containers.Overtime, usualOvertime)
	gone := context.AfterFunc(call.Context(), func() { _ = running.Kill() })
	defer gone()
	late := time.AfterFunc(limits.WallTime+overtime, func() { _ = running.Kill() })
	defer late.Stop()
	stuck := time.AfterFunc(limits.WallTime+2*overtime, func() { h.hangUp(errNotTaken) })
	defer stuck.Stop()
	exit, err := running.Wait()
	h.mu.Lock()
	h.running = nil
	h.last = exit
	used, known := exit.Metrics.CPU()
	if !known {
		used = exit.Duration
	}
	h.cpuSeconds += used.Seconds()
	h.mu.Unlock()
	h.charged.Spend(used.Seconds())
	if err != nil {
		return tunnel.Failed(err)
	}
	exit.WriteError = nil // of the connection, or nothing
	return tunnel.Answer{Exit: &exit}
}

// launch starts the program.
func (h *hosted) launch(call *tunnel.Call, c sandbox.Container, r tunnel.Request) (sandbox.Running, sandbox.Limits, error) {
	h.starting.Lock()
	defer h.starting.Unlock()
	if h.current() != nil {
		return nil, sandbox.Limits{}, errors.New("a process runs in the container already")
	}
	if r.Process == nil || len(r.Process.Args) == 0 {
		return nil, sandbox.Limits{}, errors.New("there is no program to start")
	}
	if err := h.still(); err != nil {
		return nil, sandbox.Limits{}, err
	}
	if h.started++; h.started > maxPrograms {
		return nil, sandbox.Limits{}, errManyPrograms
	}
	p := r.Process.Process()
	var err error
	if p.Limits, err = h.s.limit(p.Limits); err != nil {
		return nil, p.Limits, err
	}
	if p.Network != nil { // it may only narrow what the container has
		if err := h.s.Containers.mayReach(*p.Network); err != nil {
			return nil, p.Limits, plainNetwork(err)
		}
	}
	if err := h.admit(call.Context(), p.Limits.MemoryBytes); err != nil {
		return nil, p.Limits, err
	}
	if r.Process.Stdin {
		p.Stdin = call.Reader(0)
	}
	if r.Process.Stdout {
		p.Stdout = call.Writer(1)
	}
	if r.Process.Stderr {
		p.Stderr = call.Writer(2)
	}
	running, err := c.Start(h.ctx, p)
	if err != nil {
		return nil, p.Limits, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running, h.call = running, call.ID()
	return running, p.Limits, nil
}

// still tells whether who has the container may go on to start something in it: a key may have been
// revoked, or have used up its CPU time.
func (h *hosted) still() error {
	who, err := h.owner()
	if err != nil {
		return err
	}
	return h.charged.Continue(who.Limits)
}

// owner is who has the container, and may have it still. Else it is ended.
func (h *hosted) owner() (auth.Principal, error) {
	who, err := h.s.principal(h.r)
	if err == nil {
		err = h.s.mayHaveContainers(h.r, who)
	}
	if err != nil {
		h.hangUp(err)
	}
	return who, err
}

func (h *hosted) current() sandbox.Running {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running
}

// maxSignal is the last of Linux.
const maxSignal = 64

// control does something to the program that runs. One that has ended needs nothing.
func (h *hosted) control(r tunnel.Request) tunnel.Answer {
	h.mu.Lock()
	running := h.running
	if h.call != r.Call {
		running = nil
	}
	last := h.last.Metrics
	h.mu.Unlock()
	switch {
	case r.Op == tunnel.OpMetrics && running == nil:
		return tunnel.Answer{Metrics: &last}
	case running == nil:
		return tunnel.Answer{}
	case r.Op == tunnel.OpMetrics:
		m, err := running.Metrics()
		if err != nil {
			return tunnel.Failed(err)
		}
		return tunnel.Answer{Metrics: &m}
	case r.Op == tunnel.OpKill:
		return tunnel.Failed(running.Kill())
	case r.Op == tunnel.OpResize:
		return tunnel.Failed(running.Resize(r.Rows, r.Cols))
	case r.Signal < 1 || r.Signal > maxSignal:
		return tunnel.Failed(fmt.Errorf("there is no signal %d", r.Signal))
	}
	return tunnel.Failed(running.Signal(syscall.Signal(r.Signal)))
}

// files does something in a tree of the container.
func (h *hosted) files(call *tunnel.Call, c sandbox.Container, r tunnel.Request) tunnel.Answer {
	if r.Dir != sandbox.WorkspaceDir && r.Dir != sandbox.BuildDir {
		// What an engine's containers write besides has a limit each, for programs, and so
		// has the memory of those.
		return tunnel.Failed(fmt.Errorf("%.100q is not for another server: %w", r.Dir, syscall.ENOENT))
	}
	tree, err := c.Files(r.Dir)
	if err != nil {
		return tunnel.Failed(err)
	}
	name := string(r.Name)
	if r.Op == tunnel.OpUsage {
		usage, err := tree.Usage()
		if err != nil {
			return tunnel.Failed(err)
		}
		return tunnel.Answer{Usage: &usage}
	}
	if r.Op == tunnel.OpWalk {
		return tunnel.Failed(walk(call, tree, r.Max))
	}
	if !filepath.IsLocal(name) || name == "." || len(name) > maxName || strings.Count(name, "/") >= sandbox.MaxWalkDepth {
		return tunnel.Failed(fmt.Errorf("%.100q is no name in the container: %w", name, syscall.ENOENT))
	}
	switch r.Op {
	case tunnel.OpWrite:
		if err := h.bring(pageBytes); err != nil {
			return tunnel.Failed(err)
		}
		return tunnel.Failed(tree.WriteFile(name, &brought{call.Reader(0), h}, r.Mode&fs.ModePerm))
	case tunnel.OpMkdir:
		if err := h.bring(pageBytes); err != nil {
			return tunnel.Failed(err)
		}
		return tunnel.Failed(tree.MkdirAll(name))
	case tunnel.OpOpen:
		return tunnel.Failed(send(call, tree, name))
	}
	return tunnel.Failed(fmt.Errorf("this server does not know %.40q; is it of another version?", string(r.Op)))
}

// maxName is PATH_MAX: what a name has more nobody can open in one step.
const maxName = 4096

// pageBytes is what a name takes at least.
const pageBytes = 4096

// bring counts what the other side writes to the container's files.
func (h *hosted) bring(bytes int) error {
	if h.brought.Add(int64(bytes)) > maxBrought {
		return errTooMuch
	}
	return nil
}

// brought is a file that arrives.
type brought struct {
	from io.Reader
	h    *hosted
}

func (b *brought) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if over := b.h.bring(n); over != nil {
		return 0, over
	}
	return n, err
}

// send opens a file and sends what is in it.
func send(call *tunnel.Call, tree sandbox.FileTree, name string) error {
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := call.Begun(tunnel.Answer{File: &tunnel.FileInfo{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}}); err != nil {
		return err
	}
	to := call.Writer(1)
	_, err = io.Copy(to, f)
	return errors.Join(err, to.Close())
}

// maxWalk bounds the names of a walk, whatever was asked for.
const maxWalk = 1 << 20

// walk sends a line for each name of a tree.
func walk(call *tunnel.Call, tree sandbox.FileTree, most int) error {
	to := call.Writer(1)
	lines := bufio.NewWriterSize(to, 16<<10)
	encoder := json.NewEncoder(lines)
	err := tree.Walk(min(max(most, 0), maxWalk), func(info sandbox.FileInfo) error {
		return encoder.Encode(tunnel.FileInfo{
			Path: []byte(info.Path), Size: info.Size, Mode: info.Mode, ModTime: info.ModTime, Inode: info.Inode, Links: info.Links,
		})
	})
	return errors.Join(err, lines.Flush(), to.Close())
}
