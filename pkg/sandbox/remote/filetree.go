package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// channelUp and channelDown carry the content of files.
const (
	channelUp   = 0
	channelDown = 1
)

// fileTree is one of a container. What may be done in it the other server decides:
// its names mean nothing here.
type fileTree struct {
	c   *container
	dir string
}

// WriteFile implements [sandbox.FileTree].
func (t *fileTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	ctx := t.c.runtime.ctx
	call, err := t.c.session.Start(ctx, tunnel.Request{Op: tunnel.OpWrite, Dir: t.dir, Name: []byte(name), Mode: mode})
	if err != nil {
		return t.failed("write", name, err)
	}
	source := &remembering{Reader: content}
	_, err = io.Copy(call.Writer(channelUp), source)
	if source.err != nil {
		call.Cancel()
		return source.err
	}
	_ = call.Writer(channelUp).Close()
	// Where the other side refuses, that is what has ended the copy.
	if _, refused := call.Wait(ctx); refused != nil {
		return t.failed("write", name, refused)
	}
	if err != nil {
		return t.failed("write", name, err)
	}
	return nil
}

// remembering tells the reader's errors from the writer's.
type remembering struct {
	io.Reader
	err error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func (t *fileTree) failed(what, name string, err error) error {
	return fmt.Errorf("%s %s: %w", what, path.Join(t.dir, name), t.c.failed(err))
}

// MkdirAll implements [sandbox.FileTree].
func (t *fileTree) MkdirAll(name string) error {
	_, err := t.c.do(t.c.runtime.ctx, tunnel.Request{Op: tunnel.OpMkdir, Dir: t.dir, Name: []byte(name)})
	return err
}

// Open implements [sandbox.FileTree].
func (t *fileTree) Open(name string) (sandbox.File, error) {
	ctx := t.c.runtime.ctx
	call, err := t.c.session.Start(ctx, tunnel.Request{Op: tunnel.OpOpen, Dir: t.dir, Name: []byte(name)})
	if err != nil {
		return nil, t.failed("open", name, err)
	}
	answer, begun, err := call.WaitBegun(ctx)
	if err == nil && (!begun || answer.File == nil || !answer.File.Mode.IsRegular()) {
		call.Cancel()
		err = errors.New("the other server does not say what it has opened")
	}
	if err != nil {
		return nil, t.failed("open", name, err)
	}
	return &file{tree: t, name: name, call: call, info: *answer.File, left: answer.File.Size}, nil
}

// file is an open one.
type file struct {
	tree *fileTree
	name string
	call *tunnel.Call
	info tunnel.FileInfo
	left int64 // bytes of those that it had when it was opened
}

// Read implements [io.Reader]. The end is one only if the other side says so, or after as
// many bytes as it has announced: it does not decide how much is read here.
func (f *file) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	n, err := f.call.Reader(channelDown).Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		_, err = f.call.Wait(f.tree.c.runtime.ctx)
	}
	if err == nil {
		return n, io.EOF
	}
	return n, f.tree.failed("read", f.name, err)
}

// Close implements [io.Closer].
func (f *file) Close() error {
	f.call.Cancel()
	return nil
}

// Stat implements [sandbox.File].
func (f *file) Stat() (os.FileInfo, error) { return fileStat{f}, nil }

// fileStat is what is known of a file without its name's directory.
type fileStat struct{ f *file }

func (s fileStat) Name() string       { return path.Base(s.f.name) }
func (s fileStat) Size() int64        { return s.f.info.Size }
func (s fileStat) Mode() fs.FileMode  { return s.f.info.Mode }
func (s fileStat) ModTime() time.Time { return s.f.info.ModTime }
func (s fileStat) IsDir() bool        { return false }
func (s fileStat) Sys() any           { return nil }

// maxLine bounds the line of one path: its names in base64, and the rest.
const maxLine = sandbox.MaxWalkDepth*(255+1)*4/3 + 1<<10

// Walk implements [sandbox.FileTree].
func (t *fileTree) Walk(most int, visit func(sandbox.FileInfo) error) error {
	ctx := t.c.runtime.ctx
	call, err := t.c.session.Start(ctx, tunnel.Request{Op: tunnel.OpWalk, Dir: t.dir, Max: most})
	if err != nil {
		return t.failed("walk", ".", err)
	}
	lines := bufio.NewScanner(call.Reader(channelDown))
	lines.Buffer(make([]byte, 4<<10), maxLine)
	for seen := 0; lines.Scan(); seen++ {
		var entry tunnel.FileInfo
		if err = json.Unmarshal(lines.Bytes(), &entry); err == nil && seen >= most {
			err = fmt.Errorf("the other server lists more than the %d names that were asked for", most)
		}
		var info sandbox.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if err == nil {
			err = visit(info)
		}
		if err != nil {
			call.Cancel()
			return err
		}
	}
	if err := lines.Err(); err != nil {
		call.Cancel()
		return t.failed("walk", ".", err)
	}
	if _, err := call.Wait(ctx); err != nil {
		return t.failed("walk", ".", err)
	}
	return nil
}

// Usage implements [sandbox.FileTree].
func (t *fileTree) Usage() (sandbox.DiskUsage, error) {
	answer, err := t.c.do(t.c.runtime.ctx, tunnel.Request{Op: tunnel.OpUsage, Dir: t.dir})
	if err == nil && answer.Usage == nil {
		err = errors.New("the other server does not say how full the disk is")
	}
	if err != nil {
		return sandbox.DiskUsage{}, err
	}
	return *answer.Usage, nil
}
