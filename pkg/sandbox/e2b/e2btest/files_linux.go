package e2btest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
)

type pathRequest struct {
	Path  string
	Depth int
}

// entryOf describes a name as protojson does: a size is a string, and what is
// zero is left out.
func entryOf(name string, info fs.FileInfo) map[string]any {
	e := map[string]any{
		"name": path.Base(name), "path": name, "mode": uint32(info.Mode().Perm()), "permissions": info.Mode().String(),
		"modifiedTime": info.ModTime().UTC().Format("2006-01-02T15:04:05.999999999Z07:00"),
	}
	if info.Size() != 0 {
		e["size"] = strconv.FormatInt(info.Size(), 10)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e["type"] = "FILE_TYPE_FILE"
	case mode.IsDir():
		e["type"] = "FILE_TYPE_DIRECTORY"
	case mode&fs.ModeSymlink != 0:
		e["type"] = "FILE_TYPE_SYMLINK"
		e["symlinkTarget"], _ = os.Readlink(name)
	}
	return e
}

func (e *envd) stat(w http.ResponseWriter, r *http.Request, _ account) {
	var req pathRequest
	if !decode(w, r, &req) {
		return
	}
	info, err := os.Lstat(req.Path)
	if err != nil {
		refuseFor(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"entry": entryOf(req.Path, info)})
}

// ensure makes a directory and those above it, owned by a user, and follows
// whatever is there, as envd does.
func ensure(dir string, a account) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("path is a file: %s", dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := ensure(path.Dir(dir), a); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chown(dir, a.uid, a.gid)
}

func (e *envd) makeDir(w http.ResponseWriter, r *http.Request, a account) {
	var req pathRequest
	if !decode(w, r, &req) {
		return
	}
	if _, err := os.Stat(req.Path); err == nil {
		refuse(w, "already_exists", "directory already exists: "+req.Path)
		return
	}
	if err := ensure(req.Path, a); err != nil {
		refuseFor(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"entry": map[string]any{"name": path.Base(req.Path), "path": req.Path, "type": "FILE_TYPE_DIRECTORY"}})
}

// listDir follows a link to a directory, as envd does.
func (e *envd) listDir(w http.ResponseWriter, r *http.Request, _ account) {
	var req pathRequest
	if !decode(w, r, &req) {
		return
	}
	names, err := os.ReadDir(req.Path)
	if err != nil {
		refuseFor(w, err)
		return
	}
	var entries []map[string]any
	for _, name := range names {
		if info, err := name.Info(); err == nil {
			entries = append(entries, entryOf(filepath.Join(req.Path, name.Name()), info))
		}
	}
	if len(entries) == 0 {
		answer(w, http.StatusOK, map[string]any{})
		return
	}
	answer(w, http.StatusOK, map[string]any{"entries": entries})
}

func (e *envd) remove(w http.ResponseWriter, r *http.Request, _ account) {
	var req pathRequest
	if !decode(w, r, &req) {
		return
	}
	if err := os.RemoveAll(req.Path); err != nil {
		refuseFor(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{})
}

// download follows links, and blocks on a FIFO, as envd does.
func (e *envd) download(w http.ResponseWriter, r *http.Request, _ account) {
	name := r.URL.Query().Get("path")
	f, err := os.Open(name)
	if err != nil {
		fail(w, http.StatusNotFound, fmt.Sprintf("path '%s' does not exist", name))
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		fail(w, http.StatusBadRequest, fmt.Sprintf("path '%s' is a directory", name))
		return
	}
	http.ServeContent(w, r, name, info.ModTime(), f)
}

// upload follows links, as envd does.
func (e *envd) upload(w http.ResponseWriter, r *http.Request, a account) {
	name := r.URL.Query().Get("path")
	var content io.Reader = r.Body
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/octet-stream" || !e.opts.OctetStream {
		form, err := r.MultipartReader()
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		part, err := form.NextPart()
		if err != nil || part.FormName() != "file" {
			fail(w, http.StatusBadRequest, "there is no file")
			return
		}
		content = part
	}
	if err := store(name, content, a); errors.Is(err, syscall.ENOSPC) {
		fail(w, http.StatusInsufficientStorage, "not enough disk space available")
		return
	} else if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, http.StatusOK, []map[string]any{{"path": name, "name": path.Base(name), "type": "file"}})
}

func store(name string, content io.Reader, a account) error {
	if err := ensure(path.Dir(name), a); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, os.Chown(name, a.uid, a.gid), f.Close())
}
