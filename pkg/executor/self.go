package executor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// selfMount brings this program into a container whose compile step needs it.
// It is a copy: the file that is installed on the host is not what a container
// could ever reach (CVE-2019-5736).
func (e *Executor) selfMount() (sandbox.Mount, error) {
	program, err := os.Executable()
	if err != nil {
		return sandbox.Mount{}, fmt.Errorf("find this program: %w", err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return sandbox.Mount{}, fmt.Errorf("find this program: %w", err)
	}
	if e.cfg.DataDir == "" {
		return sandbox.Mount{}, errors.New("the TypeScript compiler needs a data directory")
	}
	dir := filepath.Join(e.cfg.DataDir, "tools", fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()))
	if !exists(dir) {
		if err := copySelf(program, dir); err != nil {
			return sandbox.Mount{}, fmt.Errorf("copy this program for the sandbox: %w", err)
		}
	}
	return sandbox.Mount{Source: dir, Target: path.Dir(language.SelfPath)}, nil
}

// copySelf makes the directory in one step, so that nobody sees half of it.
func copySelf(program, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(tmp, path.Base(language.SelfPath)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close(), os.Chmod(tmp, 0o755)); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
