package guest

import (
	"errors"
	"fmt"
	"path"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Layer is a read-only directory of the container that programs are to write to,
// where nothing can be mounted over it: Target becomes a directory of links to
// what Source holds. Both are absolute paths in the container.
type Layer struct{ Source, Target string }

// One message makes so many links, of names that are so long together.
const (
	linksAtOnce = 500
	namesAtOnce = 64 << 10
)

// maxLinks is how many files a layer may have.
const maxLinks = 1 << 20

// makeLayer fills a target, which must be an empty directory, with at most so many
// links.
func (c *Container) makeLayer(l Layer, most int) error {
	source, target := &fileTree{c: c, dir: l.Source}, &fileTree{c: c, dir: l.Target}
	var p spawn.Program
	steps, size := 0, 0
	flush := func() error {
		if steps == 0 {
			return nil
		}
		_, err := target.do(&p, "link", l.Target)
		p, steps, size = spawn.Program{}, 0, 0
		return err
	}
	seen := 0
	err := source.Walk(most, func(f sandbox.FileInfo) error {
		seen++
		from, to := path.Join(l.Source, f.Path), path.Join(l.Target, f.Path)
		if f.Mode.IsDir() {
			p.Call(stepMkdir, c.calls.mkdirat, spawn.FD(atFDCWD), p.String(to), spawn.Value(0o755))
		} else {
			p.Call("symlink", c.calls.symlinkat, p.String(from), spawn.FD(atFDCWD), p.String(to))
		}
		steps, size = steps+1, size+len(from)+len(to)
		if steps < linksAtOnce && size < namesAtOnce {
			return nil
		}
		return flush()
	})
	if err = errors.Join(err, flush()); err != nil {
		return fmt.Errorf("make a layer over %s: %w", l.Source, err)
	}
	if seen >= most {
		return fmt.Errorf("make a layer over %s: it holds more than %d files", l.Source, most)
	}
	return nil
}
