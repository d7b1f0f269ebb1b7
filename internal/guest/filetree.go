package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fileTree implements [sandbox.FileTree] by calls of init, which is the sandbox's
// user. A name is followed a part at a time, each opened from the one above and
// never through a symbolic link; what a program changes meanwhile is its own.
type fileTree struct {
	c   *Container
	dir string
}

// piece is how much of a file goes in or out with one message.
const piece = 128 << 10

// look is what statx tells.
type look struct {
	mode        uint16
	links       uint32
	inode, size uint64
	device      uint64
	modified    time.Time
}

const statxSize = 256 // struct statx, of which no version is smaller

// statOf reads struct statx.
func statOf(b []byte) look {
	e := binary.NativeEndian
	return look{
		mode: e.Uint16(b[28:]), links: e.Uint32(b[16:]), inode: e.Uint64(b[32:]), size: min(e.Uint64(b[40:]), maxCount),
		device:   uint64(e.Uint32(b[136:]))<<32 | uint64(e.Uint32(b[140:])),
		modified: time.Unix(int64(e.Uint64(b[112:])), int64(e.Uint32(b[120:]))),
	}
}

// fileMode has the type bits of lstat.
func (l look) fileMode() fs.FileMode {
	mode := fs.FileMode(l.mode & 0o777)
	switch l.mode & modeType {
	case modeRegular:
	case modeDirectory:
		mode |= fs.ModeDir
	case modeSymlink:
		mode |= fs.ModeSymlink
	case modeFIFO:
		mode |= fs.ModeNamedPipe
	case modeSocket:
		mode |= fs.ModeSocket
	case modeCharDevice:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case modeBlockDevice:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}

// The steps of a way down. With them a failure is told by the name that it is of.
const (
	stepWay    = "open the directory above"
	stepMkdir  = "mkdir"
	stepRemove = "remove what is there"
	stepOpen   = "open"
	stepWrite  = "write"
	stepChmod  = "chmod"
	stepStat   = "stat"
	stepRead   = "read"
)

// down appends the way to the directory that holds name, and returns its
// descriptor and the last part. With create, directories that are missing are
// made.
func (t *fileTree) down(p *spawn.Program, name string, create bool) (dir spawn.Arg, last string) {
	c := t.c.calls
	dir = p.Call(stepWay, c.openat, spawn.FD(atFDCWD), p.String(t.dir), spawn.Value(oPATH|c.oDirectory|c.oNofollow|oCLOEXEC), spawn.Value(0)).Save()
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		dir = t.into(p, dir, part, create)
	}
	return dir, parts[len(parts)-1]
}

// into appends the step into a directory, and closes the one above.
func (t *fileTree) into(p *spawn.Program, dir spawn.Arg, part string, create bool) spawn.Arg {
	c := t.c.calls
	if create {
		p.Call(stepMkdir, c.mkdirat, dir, p.String(part), spawn.Value(0o755)).Allow(eEXIST)
	}
	next := p.Call(stepWay, c.openat, dir, p.String(part), spawn.Value(oPATH|c.oDirectory|c.oNofollow|oCLOEXEC), spawn.Value(0)).Save()
	p.Call("close", c.close, dir)
	return next
}

func (t *fileTree) do(p *spawn.Program, op, name string) (spawn.Reply, error) {
	reply, err := t.c.do(p)
	if step := (*spawn.StepError)(nil); errors.As(err, &step) {
		err = &fs.PathError{Op: op, Path: name, Err: step.Errno}
	}
	return reply, err
}

// WriteFile implements [sandbox.FileTree].
func (t *fileTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	buf := make([]byte, piece)
	for first := true; ; first = false {
		n, err := io.ReadFull(content, buf)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		if n > 0 || first {
			if err := t.write(name, buf[:n], mode.Perm()|ownerWrites, first); err != nil {
				return err
			}
		}
		if end {
			return t.protect(name, mode.Perm())
		}
	}
}

// ownerWrites is what the next piece of a file needs, which is opened anew.
const ownerWrites = 0o200

// protect takes it away again from a file that is not to be written.
func (t *fileTree) protect(name string, mode fs.FileMode) error {
	if mode&ownerWrites != 0 {
		return nil
	}
	var p spawn.Program
	c := t.c.calls
	dir, last := t.down(&p, name, false)
	fd := p.Call(stepOpen, c.openat, dir, p.String(last), spawn.Value(oWRONLY|oNONBLOCK|c.oNofollow|oCLOEXEC), spawn.Value(0)).Save()
	p.Call(stepChmod, c.fchmod, fd, spawn.Value(mode))
	_, err := t.do(&p, "write", name)
	return err
}

// writesAtMost is how many writes a piece may take: the second one says why there
// was no room for all of it.
const writesAtMost = 64

// write writes a piece of a file: the first one replaces what is there.
func (t *fileTree) write(name string, b []byte, mode fs.FileMode, first bool) error {
	for range writesAtMost {
		n, err := t.writeSome(name, b, mode, first)
		if err != nil || n >= len(b) {
			return err
		}
		if n == 0 {
			break
		}
		b, first = b[n:], false
	}
	return &fs.PathError{Op: "write", Path: name, Err: io.ErrShortWrite}
}

// writeSome writes as much of a piece as one call does.
func (t *fileTree) writeSome(name string, b []byte, mode fs.FileMode, first bool) (int, error) {
	var p spawn.Program
	c := t.c.calls
	dir, last := t.down(&p, name, first)
	flags := oWRONLY | oAPPEND | oNONBLOCK | c.oNofollow | oCLOEXEC
	if first {
		p.Call(stepRemove, c.unlinkat, dir, p.String(last), spawn.Value(0)).Allow(eNOENT)
		flags = oWRONLY | oCREAT | oEXCL | c.oNofollow | oCLOEXEC
	}
	fd := p.Call(stepOpen, c.openat, dir, p.String(last), spawn.Value(flags), spawn.Value(mode)).Save()
	if first { // the umask must not take what was asked for
		p.Call(stepChmod, c.fchmod, fd, spawn.Value(mode))
	}
	written := p.Answer(4)
	if len(b) > 0 {
		p.Call(stepWrite, c.write, fd, p.Bytes(b), spawn.Value(len(b))).SaveAt(written, 0)
	}
	reply, err := t.do(&p, "write", name)
	if err != nil {
		return 0, err
	}
	return int(binary.NativeEndian.Uint32(written.Of(reply, 4))), nil
}

// MkdirAll implements [sandbox.FileTree].
func (t *fileTree) MkdirAll(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return nil
	}
	var p spawn.Program
	dir, last := t.down(&p, name, true)
	t.into(&p, dir, last, true)
	_, err := t.do(&p, "mkdir", name)
	return err
}

// lstat looks at a name.
func (t *fileTree) lstat(name string) (look, error) {
	var p spawn.Program
	dir, last := t.down(&p, name, false)
	stat := p.Answer(statxSize)
	p.Call(stepStat, t.c.calls.statx, dir, p.String(last), spawn.Value(atSymlinkNofollow), spawn.Value(statxBasic), stat)
	reply, err := t.do(&p, "stat", name)
	if err != nil {
		return look{}, err
	}
	return statOf(stat.Of(reply, statxSize)), nil
}

// Open implements [sandbox.FileTree].
func (t *fileTree) Open(name string) (sandbox.File, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	info, err := t.lstat(name)
	if err != nil {
		return nil, err
	}
	if info.mode&modeType != modeRegular {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	f := &file{tree: t, name: name, info: info}
	if _, err := f.at(0, 0); err != nil { // readable at all?
		return nil, err
	}
	return f, nil
}

// file reads a piece at a time, and opens the file anew for each: init keeps
// nothing for us.
type file struct {
	tree   *fileTree
	name   string
	info   look
	offset int64
	held   []byte
	eof    bool
}

// at reads n bytes at an offset.
func (f *file) at(offset int64, n int) ([]byte, error) {
	var p spawn.Program
	c := f.tree.c.calls
	dir, last := f.tree.down(&p, f.name, false)
	fd := p.Call(stepOpen, c.openat, dir, p.String(last), spawn.Value(oRDONLY|oNONBLOCK|c.oNofollow|oCLOEXEC), spawn.Value(0)).Save()
	stat, got, content := p.Answer(statxSize), p.Answer(4), p.Answer(n)
	p.Call(stepStat, c.statx, fd, p.String(""), spawn.Value(atEmptyPath), spawn.Value(statxBasic), stat)
	if n > 0 {
		p.Call(stepRead, c.pread64, fd, content, spawn.Value(n), spawn.Value(offset)).SaveAt(got, 0)
	}
	reply, err := f.tree.do(&p, "read", f.name)
	if err != nil {
		return nil, err
	}
	now := statOf(stat.Of(reply, statxSize))
	if now.inode != f.info.inode || now.device != f.info.device || now.mode&modeType != modeRegular {
		return nil, &fs.PathError{Op: "read", Path: f.name, Err: errors.New("changed while it was read")}
	}
	size := binary.NativeEndian.Uint32(got.Of(reply, 4))
	if int64(size) > int64(n) {
		return nil, fmt.Errorf("read %s: %d bytes of %d", f.name, size, n)
	}
	return content.Of(reply, int(size)), nil
}

// Read implements [sandbox.File].
func (f *file) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if len(f.held) == 0 && !f.eof {
		content, err := f.at(f.offset, piece)
		if err != nil {
			return 0, err
		}
		f.held, f.eof = content, len(content) == 0
		f.offset += int64(len(content))
	}
	if len(f.held) == 0 {
		return 0, io.EOF
	}
	n := copy(b, f.held)
	f.held = f.held[n:]
	return n, nil
}

// Close implements [sandbox.File].
func (f *file) Close() error {
	f.held, f.eof = nil, true
	return nil
}

// Stat implements [sandbox.File].
func (f *file) Stat() (os.FileInfo, error) { return stat{path.Base(f.name), f.info}, nil }

// stat implements [os.FileInfo].
type stat struct {
	name string
	look look
}

func (s stat) Name() string       { return s.name }
func (s stat) Size() int64        { return int64(s.look.size) }
func (s stat) Mode() fs.FileMode  { return s.look.fileMode() }
func (s stat) ModTime() time.Time { return s.look.modified }
func (s stat) IsDir() bool        { return s.Mode().IsDir() }
func (s stat) Sys() any           { return nil }

// Usage implements [sandbox.FileTree].
func (t *fileTree) Usage() (sandbox.DiskUsage, error) { return t.c.usage(t.dir), nil }

// fullest is the usage of the fullest of the trees that hold the workspace's limit, each for itself.
func (c *Container) fullest() sandbox.DiskUsage {
	full := func(u sandbox.DiskUsage) float64 {
		return max(float64(u.BytesUsed)/float64(max(u.BytesTotal, 1)), float64(u.InodesUsed)/float64(max(u.InodesTotal, 1)))
	}
	most := c.usage(sandbox.WorkspaceDir)
	for _, dir := range []string{sandbox.TempDir, "/dev/shm"} {
		if !slices.Contains(c.opts.Trees, dir) {
			continue
		}
		if u := c.usage(dir); full(u) > full(most) {
			most = u
		}
	}
	return most
}

// usage is how full a tree is; nothing is known of one that is not there.
func (c *Container) usage(dir string) sandbox.DiskUsage {
	var p spawn.Program
	const size = 120 // struct statfs
	answer := p.Answer(size)
	p.Call("statfs", c.calls.statfs, p.String(dir), answer)
	reply, err := c.init.Do(&p)
	if err != nil {
		return sandbox.DiskUsage{}
	}
	b := answer.Of(reply, size)
	field := func(i int) int64 { return int64(min(binary.NativeEndian.Uint64(b[8*i:]), 1<<50)) }
	block := min(field(1), 1<<20)
	blocks, free, files, filesFree := min(field(2), 1<<42), min(field(3), 1<<42), field(5), field(6)
	return sandbox.DiskUsage{
		BytesUsed: max(0, blocks-free) * block, BytesTotal: blocks * block,
		InodesUsed: max(0, files-filesFree), InodesTotal: files, BlockBytes: block,
	}
}
