package posture

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// newProgram is a name for the prober in the workspace, by which it is found on the host.
func newProgram() string { return "posture-" + rand.Text() }

// environment is what the prober gets: one variable, so that any other is seen.
var environment = []string{"PATH=/usr/bin:/bin"}

// Take looks at a container of a runtime. The error is [ErrNone] where there can be none, and
// at [sandbox.LevelNone]: every system call that there is would be the host's own to answer.
func Take(ctx context.Context, rt sandbox.Runtime, level sandbox.Level) (p *Posture, err error) {
	if level == sandbox.LevelNone {
		return nil, fmt.Errorf("%w: at isolation none there are no walls, and whoever looks makes every system call there is", ErrNone)
	}
	c, err := rt.Create(ctx, sandbox.Spec{Tenant: "posture", Level: level, Disk: disk, BuildDisk: disk, NoFetch: true})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	remove := sync.OnceValue(func() error { return c.Delete(context.WithoutCancel(ctx)) })
	defer func() { err = errors.Join(err, remove()) }()
	p = &Posture{Runtime: rt.Name(), Isolation: c.Isolation(), own: ofOurs()}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the look was not over after %v", patience))
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = remove() })() // whatever hangs ends with its container
	if err := p.look(ctx, c); err != nil {
		return nil, fmt.Errorf("look at the posture of a sandbox: %w", err)
	}
	return p, nil
}

func (p *Posture) look(ctx context.Context, c sandbox.Container) error {
	init := spawn.InitProgram()
	if len(init) == 0 {
		return errors.New("there is no prober for this architecture")
	}
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		return err
	}
	program := newProgram()
	if err := tree.WriteFile(program, bytes.NewReader(init), 0o755); err != nil {
		return err
	}
	descriptors, err := start(ctx, c, program, spawn.DescriptorArgs, nil, io.Discard)
	if err != nil {
		return err
	}
	exit, err := descriptors.Wait()
	if err != nil {
		return err
	}
	p.add("descriptors", "%d", exit.Code)

	input, ask := io.Pipe()
	answers, output := io.Pipe()
	running, err := start(ctx, c, program, spawn.StreamArgs, input, output)
	if err != nil {
		return err
	}
	server := spawn.Stream(&pipes{answers, ask})
	ended := make(chan error, 1)
	go func() {
		_, err := running.Wait()
		_ = output.Close() // of a pipe, which never fails
		ended <- err
	}()
	if _, err = server.Do(new(spawn.Program)); err == nil { // it is up, and has done nothing
		init := p.outside(program)
		err = (&prober{server, p}).everything()
		init()
	}
	err = errors.Join(err, server.Close())
	_ = running.Kill() // it has ended, or hangs
	return errors.Join(context.Cause(ctx), err, <-ended)
}

// patience is how long a look may take: a server that does not start should say why. With
// gVisor, the slowest, one takes a few seconds.
const patience = time.Minute

// start starts the prober.
func start(ctx context.Context, c sandbox.Container, program string, args []string, in io.Reader, out io.Writer) (sandbox.Running, error) {
	return c.Start(ctx, sandbox.Process{
		Args: append([]string{sandbox.WorkspaceDir + "/" + program}, args[1:]...), Env: environment, Dir: sandbox.BuildDir, Stdin: in, Stdout: out,
		Limits:   limits,
		ReadOnly: []string{sandbox.BuildDir},
	})
}

// pipes are both directions to the prober.
type pipes struct {
	io.ReadCloser
	ask *io.PipeWriter
}

func (p *pipes) Write(b []byte) (int, error) { return p.ask.Write(b) }

func (p *pipes) Close() error { return errors.Join(p.ask.Close(), p.ReadCloser.Close()) }

// prober asks the program in the sandbox.
type prober struct {
	server *spawn.Server
	seen   *Posture
}

// call makes system calls, each with six arguments, and returns what they return.
func (p *prober) call(calls [][7]uint64) ([]int32, error) {
	var list spawn.Program
	results := list.Answer(4 * len(calls))
	for i, c := range calls {
		args := make([]spawn.Arg, 6)
		for k := range args {
			args[k] = spawn.Value(c[1+k])
		}
		list.Call(fmt.Sprintf("system call %d", c[0]), int(c[0]), args...).AllowAny().SaveAt(results, 4*i)
	}
	reply, err := p.server.Do(&list)
	if err != nil {
		return nil, err
	}
	values := make([]int32, len(calls))
	for i := range values {
		values[i] = int32(binary.NativeEndian.Uint32(results.Of(reply, 4*len(calls))[4*i:]))
	}
	return values, nil
}

// read reads the beginning of a file, or says why it cannot. The kernel gives what it
// makes up a page or so at a time, and no descriptor outlives a list of calls.
func (p *prober) read(name string) (content string, errno syscall.Errno, err error) {
	const pieces, most = 24, 8 << 10
	var list spawn.Program
	opened, sizes, text := list.Answer(4), list.Answer(4*pieces), make([]spawn.Arg, pieces)
	fd := list.Call("open "+name, syscall.SYS_OPENAT, spawn.FD(atFDCWD), list.String(name), spawn.Value(syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC), spawn.Value(0)).AllowAny().Save()
	list.SetInt(opened, 0, fd)
	for i := range text {
		text[i] = list.Answer(most)
		list.Call("read "+name, syscall.SYS_READ, fd, text[i], spawn.Value(most)).AllowAny().SaveAt(sizes, 4*i)
	}
	list.Call("close "+name, syscall.SYS_CLOSE, fd).AllowAny()
	reply, err := p.server.Do(&list)
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", name, err)
	}
	if fd := number(reply, opened); fd < 0 {
		return "", syscall.Errno(-fd), nil
	}
	var all []byte
	for i := range text {
		n := int32(binary.NativeEndian.Uint32(sizes.Of(reply, 4*pieces)[4*i:]))
		if n < 0 {
			return "", syscall.Errno(-n), nil
		}
		all = append(all, text[i].Of(reply, most)[:min(n, most)]...)
	}
	return string(all), 0, nil
}

// number is an int of an answer.
func number(r spawn.Reply, at spawn.Arg) int32 {
	return int32(binary.NativeEndian.Uint32(at.Of(r, 4)))
}

const atFDCWD = -100

// word is what a call returned, in a word that is the same on every run.
func word(result int32) string {
	if result >= 0 {
		return "works"
	}
	return name(syscall.Errno(-result))
}

func name(errno syscall.Errno) string {
	if errno == unix.EOPNOTSUPP { // which has two names
		return "EOPNOTSUPP"
	}
	if s := unix.ErrnoName(errno); s != "" {
		return s
	}
	return fmt.Sprintf("errno %d", int(errno))
}

// sorted are the lines of a text in order.
func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
