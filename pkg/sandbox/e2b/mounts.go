package e2b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Bounds of what is uploaded for read-only mounts, each file a request.
const (
	maxUploadBytes = 64 << 20
	maxUploadFiles = 4096
)

// mountPlan is what becomes of mounts: there is nothing to mount, so directories
// are made and files are copied.
type mountPlan struct {
	empty  []sandbox.Mount
	copied []sandbox.Mount
}

// planMounts refuses what cannot be done before anything is made.
func planMounts(mounts []sandbox.Mount) (plan mountPlan, err error) {
	var files int
	var bytes int64
	for _, m := range mounts {
		if m.Target == "" {
			m.Target = m.Source
		}
		m.Target = path.Clean(m.Target)
		if !path.IsAbs(m.Target) || m.Target == "/" || strings.ContainsAny(m.Target, "\x00\n") {
			return mountPlan{}, fmt.Errorf("%q is no place for a mount", m.Target)
		}
		if m.Source == "" {
			plan.empty = append(plan.empty, m)
			continue
		}
		if _, err := os.Lstat(m.Source); m.Optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := eachFile(m.Source, func(_ string, _ *os.File, info fs.FileInfo) error {
			files++
			bytes += info.Size()
			if files > maxUploadFiles || bytes > maxUploadBytes {
				return &sandbox.UnsupportedError{What: "the folder " + m.Source, Reason: fmt.Sprintf("it would be uploaded, and has more than %d files or %d MiB", maxUploadFiles, maxUploadBytes>>20), Mend: "Make a template that holds it, and name it as the image"}
			}
			return nil
		})
		if err != nil {
			return mountPlan{}, err
		}
		plan.copied = append(plan.copied, m)
	}
	return plan, nil
}

// eachFile visits the regular files of a host directory, or the one that source
// is, by their names below it. Nothing is followed out of it.
func eachFile(source string, visit func(name string, f *os.File, info fs.FileInfo) error) error {
	dir, base := filepath.Split(source)
	if info, err := os.Stat(source); err != nil {
		return err
	} else if info.IsDir() {
		dir, base = source, "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case !d.Type().IsRegular():
			return &sandbox.UnsupportedError{What: "the folder " + source, Reason: fmt.Sprintf("%s in it is no regular file, and E2B takes no others", name), Mend: "Make a template that holds it, and name it as the image"}
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if base != "." {
			name = ""
		}
		return visit(name, f, info)
	})
}

// upload copies the folders of the plan. What only is read belongs to root, so that
// the program cannot change it; an overlay is the program's own.
func (c *container) upload(ctx context.Context, plan mountPlan) error {
	for _, m := range plan.copied {
		owner := rootUser
		if m.Overlay {
			owner = sandbox.UserName
		}
		if err := c.envd.must(ctx, "make "+m.Target, rootUser, `mkdir -p -- "$1" && chown "$2" -- "$1"`, path.Dir(m.Target), rootUser); err != nil {
			return err
		}
		left := int64(maxUploadBytes) // it may have grown since it was looked at
		var programs []string
		err := eachFile(m.Source, func(name string, f *os.File, info fs.FileInfo) error {
			target := path.Join(m.Target, name)
			if info.Mode().Perm()&0o111 != 0 {
				programs = append(programs, target)
			}
			left -= info.Size()
			if left < 0 {
				return fmt.Errorf("the folder %s grows", m.Source)
			}
			return c.envd.upload(ctx, owner, target, io.LimitReader(f, info.Size()))
		})
		if err != nil {
			return fmt.Errorf("upload %s: %w", m.Source, err)
		}
		if err := c.settle(ctx, m, owner, programs); err != nil {
			return err
		}
	}
	return nil
}

// settle gives what was uploaded its owner and its modes.
func (c *container) settle(ctx context.Context, m sandbox.Mount, owner string, programs []string) error {
	const script = `target=$1 owner=$2
shift 2
[ -e "$target" ] || mkdir -p -- "$target" || exit 1
chown -R -- "$owner" "$target" || exit 1
[ $# -eq 0 ] || chmod 755 -- "$@"`
	const many = 500
	for {
		some := programs[:min(many, len(programs))]
		if err := c.envd.must(ctx, "settle "+m.Target, rootUser, script, append([]string{m.Target, owner}, some...)...); err != nil {
			return err
		}
		if programs = programs[len(some):]; len(programs) == 0 {
			return nil
		}
	}
}
