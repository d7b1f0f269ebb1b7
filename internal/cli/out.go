package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// outDir is the host directory that receives what the program made. Names are
// the program's choice: they stay inside, through no symbolic link, and a file
// appears under its name only when it is complete. A nil outDir is none.
type outDir struct {
	dir     string
	root    *os.Root
	written int
	bytes   int64
	failed  []string
}

func openOut(dir string) (*outDir, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return &outDir{dir: dir, root: root}, nil
}

// receive writes one file. What goes wrong with it is kept and told at the
// end: the other files are still wanted.
func (o *outDir) receive(info sandbox.FileInfo, content io.Reader) error {
	n, err := o.write(info, content)
	if err != nil {
		o.failed = append(o.failed, fmt.Sprintf("cannot write %s to %s: %v", info.Path, o.dir, err))
		return nil
	}
	o.written++
	o.bytes += n
	return nil
}

func (o *outDir) write(info sandbox.FileInfo, content io.Reader) (int64, error) {
	name := filepath.FromSlash(info.Path)
	if !filepath.IsLocal(name) {
		return 0, errors.New("the name points outside")
	}
	if err := o.makeParents(path.Dir(info.Path)); err != nil {
		return 0, err
	}
	temp := filepath.Join(filepath.Dir(name), ".sandbox-run-"+rand.Text())
	f, err := o.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode.Perm()|0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = o.root.Rename(temp, name) // replaces a link, never follows it
	}
	if err != nil {
		return 0, errors.Join(err, o.root.Remove(temp))
	}
	return n, nil
}

// makeParents makes the directories above a file, and refuses a link among
// them.
func (o *outDir) makeParents(dir string) error {
	if dir == "." {
		return nil
	}
	if err := o.makeParents(path.Dir(dir)); err != nil {
		return err
	}
	info, err := o.root.Lstat(filepath.FromSlash(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.root.Mkdir(filepath.FromSlash(dir), 0o755)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is in the way: it is not a directory", dir)
	}
	return nil
}

func (o *outDir) summary() string {
	return fmt.Sprintf("%s (%s) written to %s", plural(o.written, "file"), sandbox.FormatBytes(o.bytes), o.dir)
}

// failures are sentences about files that could not be written.
func (o *outDir) failures() []string {
	if o == nil {
		return nil
	}
	return o.failed
}

func (o *outDir) close() {
	if o != nil {
		o.root.Close()
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
