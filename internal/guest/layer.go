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

// linksAtOnce is how many links one message makes.
const linksAtOnce = 500

// makeLayer fills a target, which must be an empty directory.
func (c *Container) makeLayer(l Layer) error {
	source, target := &fileTree{c: c, dir: l.Source}, &fileTree{c: c, dir: l.Target}
	var p spawn.Program
	steps := 0
	flush := func() error {
		if steps == 0 {
			return nil
		}
		_, err := target.do(&p, "link", l.Target)
		p, steps = spawn.Program{}, 0
		return err
	}
	const all = 1 << 20
	seen := 0
	err := source.Walk(all, func(f sandbox.FileInfo) error {
		seen++
		to := path.Join(l.Target, f.Path)
		if f.Mode.IsDir() {
			p.Call(stepMkdir, c.calls.mkdirat, spawn.FD(atFDCWD), p.String(to), spawn.Value(0o755))
		} else {
			p.Call("symlink", c.calls.symlinkat, p.String(path.Join(l.Source, f.Path)), spawn.FD(atFDCWD), p.String(to))
		}
		if steps++; steps < linksAtOnce {
			return nil
		}
		return flush()
	})
	if err = errors.Join(err, flush()); err != nil {
		return fmt.Errorf("make a layer over %s: %w", l.Source, err)
	}
	if seen >= all {
		return fmt.Errorf("make a layer over %s: it holds more than %d files", l.Source, all)
	}
	return nil
}
