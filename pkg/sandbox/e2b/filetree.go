package e2b

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fileTree implements [sandbox.FileTree] with the service's file calls, which
// follow links. So each part of a path is looked at first, and only directories
// are gone through. A program that runs meanwhile can put a link there between the
// look and the call: it is then its own virtual machine that is written to.
type fileTree struct {
	c    *container
	root string

	mu sync.Mutex // guards the fields below
	// known are directories that were seen since start number starts, while
	// nothing ran that could have changed them.
	known  map[string]bool
	starts int
}

// entry is what the service says of one name.
type entry struct {
	Name        string    `json:"name"`
	Type        string    `json:"type"`
	Size        integer   `json:"size"`
	Mode        uint32    `json:"mode"`
	Permissions string    `json:"permissions"`
	Modified    time.Time `json:"modifiedTime"`
}

// integer is an int64 as protojson writes it: a string, or a number.
type integer int64

// UnmarshalJSON implements [json.Unmarshaler].
func (i *integer) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*i = integer(n)
	return err
}

// The types of entries; a name that is none of them is a FIFO, socket or device.
const (
	typeFile    = "FILE_TYPE_FILE"
	typeDir     = "FILE_TYPE_DIRECTORY"
	typeSymlink = "FILE_TYPE_SYMLINK"
)

func (e entry) mode() fs.FileMode {
	mode := fs.FileMode(e.Mode) & fs.ModePerm
	switch e.Type {
	case typeFile:
		return mode
	case typeDir:
		return mode | fs.ModeDir
	case typeSymlink:
		return mode | fs.ModeSymlink
	}
	switch {
	case strings.ContainsRune(e.Permissions, 'p'):
		return mode | fs.ModeNamedPipe
	case strings.ContainsRune(e.Permissions, 'S'):
		return mode | fs.ModeSocket
	}
	return mode | fs.ModeDevice
}

// within bounds an operation, and ends it with the container.
func (t *fileTree) within() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(t.c.alive, t.c.rt.client.options.RequestTimeout, errSlow)
}

func (t *fileTree) call(method string, in, out any) error {
	ctx, cancel := t.within()
	defer cancel()
	return t.c.envd.unary(ctx, "look after files", "/filesystem.Filesystem/"+method, in, out)
}

type pathBody struct {
	Path string `json:"path"`
}

// stat looks at a name without following it.
func (t *fileTree) stat(name string) (entry, error) {
	var out struct {
		Entry entry `json:"entry"`
	}
	err := t.call("Stat", pathBody{path.Join(t.root, name)}, &out)
	return out.Entry, err
}

// parents makes sure that what lies above a name are directories, and makes those
// that are missing if it may.
func (t *fileTree) parents(name string, missing bool) error {
	dir := path.Dir(name)
	if dir == "." || t.isKnown(dir) {
		return nil
	}
	if err := t.parents(dir, missing); err != nil {
		return err
	}
	return t.directory(dir, missing)
}

// directory makes sure that a name is a directory, whose parents are some.
func (t *fileTree) directory(dir string, missing bool) error {
	e, err := t.stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && missing:
		if err = t.call("MakeDir", pathBody{path.Join(t.root, dir)}, nil); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		e, err = t.stat(dir)
	}
	if err == nil && e.Type != typeDir {
		err = &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err == nil {
		t.keep(dir)
	}
	return err
}

// isKnown tells whether a directory was seen and nothing can have changed since.
func (t *fileTree) isKnown(dir string) bool {
	quiet, starts := t.c.quiet()
	t.mu.Lock()
	defer t.mu.Unlock()
	return quiet && starts == t.starts && t.known[dir]
}

func (t *fileTree) keep(dir string) {
	quiet, starts := t.c.quiet()
	t.mu.Lock()
	defer t.mu.Unlock()
	if starts != t.starts || t.known == nil {
		t.known, t.starts = map[string]bool{}, starts
	}
	if quiet {
		t.known[dir] = true
	}
}

// quiet tells whether nothing runs, and how many processes were started.
func (c *container) quiet() (quiet bool, starts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == nil || c.running.Ended(), c.starts
}

// WriteFile implements [sandbox.FileTree].
func (t *fileTree) WriteFile(name string, content io.Reader, mode fs.FileMode) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	}
	if err := t.parents(name, true); err != nil {
		return err
	}
	// Never through what is there: a link or FIFO of the program's is removed.
	e, err := t.stat(name)
	switch {
	case err == nil && e.Type == typeDir:
		return &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
	case err == nil:
		err = t.call("Remove", pathBody{path.Join(t.root, name)}, nil)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ctx, cancel := context.WithCancel(t.c.alive)
	defer cancel()
	room := &roomReader{from: content, left: t.c.room(t.root)}
	if err := t.c.envd.upload(ctx, sandbox.UserName, path.Join(t.root, name), room); err != nil {
		return errors.Join(room.full, err)
	}
	if mode.Perm() == 0o644 {
		return nil
	}
	return t.c.envd.must(ctx, "change the mode of "+name, sandbox.UserName, modeScript, fmt.Sprintf("%04o", mode.Perm()), path.Join(t.root, name))
}

// room is what a file can have at most: the limit of the disk.
func (c *container) room(root string) int64 {
	if root == sandbox.BuildDir {
		return c.spec.BuildDisk.Bytes
	}
	return c.spec.Disk.Bytes
}

// roomReader ends with ENOSPC when there is more than fits.
type roomReader struct {
	from io.Reader
	left int64
	full error
}

func (r *roomReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.left -= int64(n); r.left < 0 {
		r.full = syscall.ENOSPC
		return 0, r.full
	}
	return n, err
}

// upload writes a file, whatever is there.
func (e *envd) upload(ctx context.Context, user, name string, content io.Reader) error {
	query := url.Values{"path": {name}, "username": {user}}
	r := e.request("upload "+name, http.MethodPost, "/files?"+query.Encode(), user)
	r.header.Set("Content-Type", "application/octet-stream")
	r.body = content
	if !e.version.has(versionOctetStream) {
		form, contentType := formOf(path.Base(name), content)
		defer func() { _ = form.Close() }()
		r.header.Set("Content-Type", contentType)
		r.body = form
	}
	resp, err := e.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswerBytes))
	return err
}

// formOf streams content as the one file of a form.
func formOf(name string, content io.Reader) (form *io.PipeReader, contentType string) {
	form, w := io.Pipe()
	writer := multipart.NewWriter(w)
	go func() {
		part, err := writer.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, content)
		}
		if err == nil {
			err = writer.Close()
		}
		w.CloseWithError(err)
	}()
	return form, writer.FormDataContentType()
}

// MkdirAll implements [sandbox.FileTree].
func (t *fileTree) MkdirAll(name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return nil
	}
	return t.parents(path.Join(name, "inside"), true)
}

// Open implements [sandbox.FileTree].
func (t *fileTree) Open(name string) (sandbox.File, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err := t.parents(name, false); err != nil {
		return nil, err
	}
	e, err := t.stat(name)
	if err != nil {
		return nil, err
	}
	if e.Type != typeFile || e.Size < 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	ctx, cancel := context.WithCancelCause(t.c.alive)
	query := url.Values{"path": {path.Join(t.root, name)}, "username": {sandbox.UserName}}
	r := t.c.envd.request("download "+name, http.MethodGet, "/files?"+query.Encode(), sandbox.UserName)
	r.stream = true                  // a large file may take long, if it but moves
	resp, err := t.c.envd.do(ctx, r) //nolint:bodyclose // the file's Close does it
	if err != nil {
		cancel(nil)
		return nil, err
	}
	e.Name = path.Base(name)
	body := &moving{ReadCloser: resp.Body, cancel: cancel, slow: t.c.rt.client.options.RequestTimeout}
	return &file{entry: e, left: int64(e.Size), body: body}, nil
}

// moving is a body that may take as long as it likes, if only it moves.
type moving struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
	slow   time.Duration // for movesBytes
	waited time.Duration // for those that are coming
	came   int           // of them
}

// movesBytes have to come in the time of one request.
const movesBytes = 64 << 10

func (m *moving) Read(p []byte) (int, error) {
	since, stuck := time.Now(), time.AfterFunc(m.slow-m.waited, func() { m.cancel(errSlow) })
	n, err := m.ReadCloser.Read(p)
	stuck.Stop()
	m.waited += time.Since(since)
	if m.came += n; m.came >= movesBytes {
		m.came, m.waited = 0, 0
	}
	return n, err
}

func (m *moving) Close() error {
	m.cancel(nil)
	return m.ReadCloser.Close()
}

// file is a file as large as it was when it was opened.
type file struct {
	entry entry
	left  int64
	body  io.ReadCloser
}

// Read implements [io.Reader]. An end that comes early is an error: the answer was
// cut off on its way, or the program has cut the file.
func (f *file) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n, err := f.body.Read(p[:min(int64(len(p)), f.left)])
	if f.left -= int64(n); errors.Is(err, io.EOF) && f.left > 0 {
		err = &TransientError{Op: "download " + f.entry.Name, Err: fmt.Errorf("%d of its %d bytes are missing", f.left, f.entry.Size)}
	}
	return n, err
}

func (f *file) Close() error { return f.body.Close() }

func (f *file) Stat() (os.FileInfo, error) { return info{f.entry}, nil }

// info is an entry as an [os.FileInfo].
type info struct{ e entry }

func (i info) Name() string       { return i.e.Name }
func (i info) Size() int64        { return int64(i.e.Size) }
func (i info) Mode() fs.FileMode  { return i.e.mode() }
func (i info) ModTime() time.Time { return i.e.Modified }
func (i info) IsDir() bool        { return i.e.Type == typeDir }
func (i info) Sys() any           { return nil }

// Usage implements [sandbox.FileTree]: as of about a second ago while a program
// runs, and of its end afterwards.
func (t *fileTree) Usage() (sandbox.DiskUsage, error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if t.root == sandbox.BuildDir {
		return t.c.build, nil
	}
	return t.c.disk, nil
}

// Walk implements [sandbox.FileTree]. It holds the names of directories, of which
// there are no more than limit, and one entry at a time. The service tells neither
// inodes nor links.
func (t *fileTree) Walk(limit int, visit func(sandbox.FileInfo) error) error {
	left := limit
	return t.walk("", &left, sandbox.MaxWalkDepth, visit)
}

func (t *fileTree) walk(dir string, left *int, depth int, visit func(sandbox.FileInfo) error) error {
	var inner []string
	err := t.list(dir, func(e entry) error {
		if *left <= 0 {
			return errEnough
		}
		*left--
		name := path.Join(dir, e.Name)
		if e.Type == typeDir {
			inner = append(inner, name)
		}
		return visit(sandbox.FileInfo{Path: name, Size: int64(e.Size), Mode: e.mode(), ModTime: e.Modified, Links: 1})
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil {
		return err
	}
	if depth == 1 {
		return nil
	}
	for _, name := range inner {
		if *left <= 0 {
			return nil
		}
		if err := t.walk(name, left, depth-1, visit); err != nil {
			return err
		}
	}
	return nil
}

var errEnough = errors.New("enough names")

// list visits what a directory holds, as it is read. One that has vanished, or is
// none any more, is empty.
func (t *fileTree) list(dir string, visit func(entry) error) error {
	body := struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}{path.Join(t.root, dir), 1}
	ctx, cancel := context.WithCancelCause(t.c.alive)
	defer cancel(nil)
	r := t.c.envd.request("list files", http.MethodPost, "/filesystem.Filesystem/ListDir", sandbox.UserName)
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r.header.Set("Content-Type", "application/json")
	r.body, r.stream = strings.NewReader(string(encoded)), true
	resp, err := t.c.envd.do(ctx, r) //nolint:bodyclose // list closes it
	var refused *answerError
	switch {
	case errors.As(err, &refused) && (dir != "" || errors.Is(err, fs.ErrPermission)):
		return nil
	case err != nil:
		return err
	}
	list := &moving{ReadCloser: resp.Body, cancel: cancel, slow: t.c.rt.client.options.RequestTimeout}
	defer func() { _ = list.Close() }()
	return decodeList(io.LimitReader(list, maxListBytes), visit)
}

// decodeList reads {"entries":[…]} one entry at a time.
func decodeList(r io.Reader, visit func(entry) error) error {
	d := json.NewDecoder(r)
	for _, want := range []json.Token{json.Delim('{'), "entries", json.Delim('[')} {
		token, err := d.Token()
		if token == json.Delim('}') {
			return nil // an empty list is left out
		}
		if err != nil || token != want {
			return unreadableList(fmt.Errorf("%.40v where %v should be", token, want))
		}
	}
	for d.More() {
		var e entry
		if err := d.Decode(&e); err != nil {
			return unreadableList(err)
		}
		if !fs.ValidPath(e.Name) || strings.Contains(e.Name, "/") || e.Name == "." || e.Size < 0 {
			continue // no name of a file
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // what was cut off has no end
		return unreadableList(err)
	}
	return nil
}

func unreadableList(err error) error {
	return &TransientError{Op: "list files", Err: fmt.Errorf("the answer cannot be read: %s", where{}.clean(err.Error()))}
}
