package local

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// standIn makes what stands for a mount in a container without a root of its
// own. What is in place is in place: nothing can be hidden here. For an overlay
// it is a tree of links, in which new files can be made, or an empty directory; else, and where
// nobody insists on new files and Landlock keeps the program from making any, the source, or
// links to it where directories on the way are ours alone and the program has a user id of its own.
func (c *container) standIn(m sandbox.Mount) error {
	target := cmp.Or(m.Target, m.Source)
	m.Overlay = m.Overlay && (!m.OverlayOptional || !c.walls.landlock || m.Source == "")
	switch {
	case m.Source == "" && m.Overlay:
		return c.makeDir(target)
	case m.Source == "", target == m.Source && !m.Overlay:
		return nil
	case !m.Overlay && (!c.identity.root || !isDir(m.Source) || passable(m.Source)):
		c.stand(target, m.Source)
		return nil
	}
	path, err := c.mkdirAll(target)
	if err == nil {
		err = c.linkInto(path, m)
	}
	if err != nil {
		return err
	}
	if m.Overlay {
		return c.makeDir(target) // the program's from here on, and no longer for us to fill
	}
	c.stand(target, path)
	return nil
}

// linkInto fills a directory with what stands for the files of a mount.
func (c *container) linkInto(path string, m sandbox.Mount) error {
	link := anyLink
	if !c.identity.root {
		// Through a hard link the program could write to a file that is its
		// user's; behind a symbolic one Landlock sees the source.
		link = os.Symlink
	}
	if m.Overlay {
		link = ownAtTop(m.Source, link)
	}
	return linkTree(m.Source, path, link, func(dir string) error {
		if !m.Overlay || !c.identity.root {
			return nil
		}
		return os.Lchown(dir, c.identity.programUser(), c.identity.programUser())
	})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// passable tells whether everybody may pass through the directories that lead to
// dir and read it.
func passable(dir string) bool {
	for need := os.FileMode(0o005); ; need = 0o001 {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&need != need {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// linkTree makes the directories of source below target, and links to its files.
// made, if not nil, is called for each directory when all is there.
func linkTree(source, target string, link func(from, to string) error, made func(dir string) error) error {
	var dirs []string
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == source {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		name := filepath.Join(target, relative)
		if !entry.IsDir() {
			return link(path, name)
		}
		dirs = append(dirs, name)
		return instance.Mkdir(name, 0o755)
	})
	for i := 0; err == nil && made != nil && i < len(dirs); i++ {
		err = made(dirs[i])
	}
	return err
}

// ownAtTop copies the small files right below a cache and links the others. There tools
// keep what they lock, such as the trim.txt of the go command: a lock on the file behind
// a link is everybody's, and one program could hold up all who compile.
func ownAtTop(source string, link func(from, to string) error) func(from, to string) error {
	return func(from, to string) error {
		info, err := os.Lstat(from)
		if err != nil || filepath.Dir(from) != filepath.Clean(source) || !info.Mode().IsRegular() || info.Size() > lockFile {
			return errors.Join(err, link(from, to))
		}
		return copyFile(from, to, info)
	}
}

// lockFile is more than a file holds that is there to be locked, in bytes.
const lockFile = 64 << 10

// anyLink links like [hardLink], and makes symbolic links again.
func anyLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return hardLink(from, to)
	}
	return os.Symlink(target, to)
}

// hardLink links a regular file, or copies it to where a link cannot lead:
// another file system. It passes over anything else.
func hardLink(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() || os.Link(from, to) == nil {
		return err
	}
	return copyFile(from, to, info)
}

// copyFile makes a file like another, with its mode and times.
func copyFile(from, to string, info fs.FileInfo) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	// The go command reads from the times of its cache what it may remove.
	times := []unix.Timeval{unix.NsecToTimeval(info.ModTime().UnixNano()), unix.NsecToTimeval(info.ModTime().UnixNano())}
	return errors.Join(err, copied.Chmod(info.Mode().Perm()), unix.Futimes(int(copied.Fd()), times), copied.Close())
}
