package image

import (
	"archive/tar"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Names that say what a layer removes from those below it (the image
// specification, layer.md).
const (
	whiteoutPrefix = ".wh."
	opaqueName     = ".wh..wh..opq"
)

// mark is what a name says besides naming something.
type mark int

const (
	noMark mark = iota
	removesOne
	removesAll
	// foreignMark are names that storage drivers keep for themselves.
	foreignMark
)

// markOf tells what a clean name says.
func markOf(name string) (mark, error) {
	if parents := path.Dir(name); strings.Contains("/"+parents, "/"+whiteoutPrefix) {
		return foreignMark, nil
	}
	base := path.Base(name)
	victim, marked := strings.CutPrefix(base, whiteoutPrefix)
	switch {
	case !marked:
		return noMark, nil
	case base == opaqueName:
		return removesAll, nil
	case victim == "" || victim == "." || victim == "..":
		return noMark, problemf(ErrHostile, "it removes %q, which is no name", victim)
	case strings.Contains("/"+victim, "/"+whiteoutPrefix):
		return foreignMark, nil
	}
	return removesOne, nil
}

// hide removes what an entry says that its layer removes. Links are not followed:
// tools write such entries where the files were, and a link that is there now may
// have taken the place of a directory.
func (u *unpacker) hide(h *tar.Header, _ io.Reader) error {
	if err := u.count(&u.searched); err != nil {
		return err
	}
	name, err := u.clean(h.Name)
	if err != nil {
		return err
	}
	mark, err := markOf(name)
	if err != nil || mark != removesOne && mark != removesAll {
		return err
	}
	p, err := u.tree.reach(path.Dir(name))
	if p == nil || err != nil {
		return err
	}
	defer p.close()
	u.tree.moved()
	if mark == removesOne {
		_, err := u.tree.remove(p, strings.TrimPrefix(path.Base(name), whiteoutPrefix))
		return err
	}
	return u.empty(p)
}

func (u *unpacker) empty(p *place) error {
	entries, err := fs.ReadDir(p.dir().FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := u.tree.remove(p, entry.Name()); err != nil {
			return err
		}
	}
	return nil
}
