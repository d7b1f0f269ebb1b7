package image

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// tree is a root file system in the making. Names lead where they would lead in a
// chroot: it follows links itself, one component at a time, and asks the system
// for single names of directories that it has open. What it gets wrong stays
// inside all the same, because os.Root follows no link out of a directory.
type tree struct {
	root   *os.Root
	limits Limits
	// made is told of each directory that no entry has asked for.
	made func() error

	// Entries of one directory follow one another: its name and where it is.
	name string
	last *place
}

// place is where a directory of the tree really is: the open directories from
// the root to it, and their names.
type place struct {
	dirs  []*os.Root // the first is the tree's root, which is not closed
	names []string
}

func (p *place) dir() *os.Root { return p.dirs[len(p.dirs)-1] }

// path is its name, without any link in it; "." is the root.
func (p *place) path() string { return path.Join(append([]string{"."}, p.names...)...) }

func (p *place) up() {
	if last := len(p.names) - 1; last >= 0 {
		p.dir().Close()
		p.dirs, p.names = p.dirs[:last+1], p.names[:last]
	}
}

func (p *place) close() {
	for len(p.names) > 0 {
		p.up()
	}
}

func (p *place) enter(name string) error {
	dir, err := p.dir().OpenRoot(name)
	if err == nil {
		p.dirs, p.names = append(p.dirs, dir), append(p.names, name)
	}
	return err
}

// forget closes what is open of the tree.
func (t *tree) forget() {
	if t.last != nil {
		t.last.close()
		t.last = nil
	}
}

// moved tells that a directory or a link is gone, so that names may lead elsewhere
// now. What is open is still where it was.
func (t *tree) moved() { t.name = "" }

// directory is where entries of this name belong. What is missing of it is made.
// The place is valid until the next call.
func (t *tree) directory(name string) (*place, error) {
	if t.last != nil && t.name == name {
		return t.last, nil
	}
	t.forget()
	p, err := t.walk(name, true)
	if err == nil {
		t.name, t.last = name, p
	}
	return p, err
}

// walk follows a name through links to a directory. The caller closes the place.
func (t *tree) walk(name string, create bool) (*place, error) {
	p := &place{dirs: []*os.Root{t.root}}
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." { // of a link's target: names that have it are refused
			p.up()
			continue
		}
		target, err := t.step(p, part, create)
		if err == nil && target != "" {
			if links++; links > maxLinks {
				err = problemf(ErrHostile, "its directory leads through more than %d links", maxLinks)
			}
			if path.IsAbs(target) {
				p.close()
			}
			rest = append(strings.Split(target, "/"), rest...)
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// reach goes to a directory without following links; nil means that none is
// there. The caller closes the place.
func (t *tree) reach(name string) (*place, error) {
	p := &place{dirs: []*os.Root{t.root}}
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		info, err := p.dir().Lstat(part)
		if err == nil && info.IsDir() {
			err = p.enter(part)
		}
		if err != nil || !info.IsDir() {
			p.close()
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return nil, err
		}
	}
	return p, nil
}

// step enters a directory, or returns where a link of that name points to.
func (t *tree) step(p *place, name string, create bool) (target string, err error) {
	info, err := p.dir().Lstat(name)
	switch {
	case err == nil && info.Mode().Type() == fs.ModeSymlink:
		return p.dir().Readlink(name)
	case err == nil && !info.IsDir():
		return "", problemf(ErrHostile, "it is below /%s, which is no directory", path.Join(p.path(), name))
	case errors.Is(err, fs.ErrNotExist) && create:
		err = t.mkdir(p, name)
	}
	if err == nil {
		err = p.enter(name)
	}
	return "", err
}

// mkdir makes a directory that no entry has asked for.
func (t *tree) mkdir(p *place, name string) error {
	if err := t.made(); err != nil {
		return err
	}
	if err := t.fits(p, name); err != nil {
		return err
	}
	return makeDir(p.dir(), name, 0o755)
}

func makeDir(dir *os.Root, name string, mode os.FileMode) error {
	if err := dir.Mkdir(name, 0o700); err != nil {
		return err
	}
	return chmod(dir, name, mode)
}

// fits bounds where something may be made. Names are counted as they are after
// all links, or links would add up to any depth.
func (t *tree) fits(p *place, name string) error {
	if len(p.names) >= t.limits.Depth {
		return problemf(ErrTooLarge, "it is in more than %d directories, which is the limit", t.limits.Depth)
	}
	if len(name) > maxName {
		return problemf(ErrTooLarge, "its name has %d bytes; the limit is %d", len(name), maxName)
	}
	if len(p.path())+1+len(name) > t.limits.PathBytes {
		return problemf(ErrTooLarge, "its path has more than %d bytes, which is the limit", t.limits.PathBytes)
	}
	return nil
}

// remove removes whatever has a name in a directory. It reports what that was; nil
// is nothing.
func (t *tree) remove(p *place, name string) (fs.FileInfo, error) {
	info, err := p.dir().Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing was there, as was hoped for
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		err = p.dir().RemoveAll(name)
	} else {
		err = p.dir().Remove(name)
	}
	return info, err
}
