package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// tree gathers files for the workspace, by slash-separated relative path,
// within [maxInputFiles] and [maxInputBytes].
type tree struct {
	files map[string]executor.InputFile
	bytes int64
}

func newTree() *tree { return &tree{files: map[string]executor.InputFile{}} }

// add puts the file or directory at host path src in the tree at dest. The
// folders of version control are left out. Below a directory everything else
// that is not a regular file or a directory is an error: a file set carries no
// links and no devices, and leaving one out in silence would surprise later.
func (t *tree) add(src, dest string) error {
	if !filepath.IsLocal(filepath.FromSlash(dest)) {
		return fmt.Errorf("%s would be outside the workspace", dest)
	}
	if !isDir(src) {
		return t.addFile(src, dest)
	}
	return filepath.WalkDir(src, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(src, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && isVersionControl(entry.Name()) && rel != ".":
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		case entry.Type()&fs.ModeSymlink != 0 && rel == ".": // the user named it
			return t.add(name+string(filepath.Separator), dest)
		case entry.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link, which cannot be taken along: put the file itself there", name)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file, and nothing else can be taken along", name)
		}
		return t.addFile(name, path.Join(dest, filepath.ToSlash(rel)))
	})
}

func (t *tree) addFile(src, dest string) error {
	dest = path.Clean(dest)
	old, taken := t.files[dest]
	if !taken && len(t.files) == maxInputFiles {
		return fmt.Errorf("more than %d files are given with %s, which is the most that is taken along", maxInputFiles, src)
	}
	content, err := readFile(src, maxInputBytes)
	if err != nil {
		return err
	}
	if taken && bytes.Equal(old.Content, content) { // such as the source in a directory of --in
		return nil
	}
	if taken {
		return fmt.Errorf("two files would be %s in the workspace: the second is %s", dest, src)
	}
	if t.bytes += int64(len(content)); t.bytes > maxInputBytes {
		return fmt.Errorf("with %s the files are larger than %s in all, which is the most that is taken along", src, sandbox.FormatBytes(maxInputBytes))
	}
	info, err := os.Stat(src)
	if err != nil {
		return err
	}
	t.files[dest] = executor.InputFile{Content: content, Executable: info.Mode()&0o111 != 0 && info.Mode().IsRegular()}
	return nil
}

func isVersionControl(name string) bool {
	return slices.Contains([]string{".git", ".hg", ".svn", ".jj"}, name)
}

// addInputs puts what --in names into the tree. SRC:DEST names the place in
// the workspace; a file whose own name holds the colon wins.
func (t *tree) addInputs(specs []string) error {
	for _, spec := range specs {
		src, dest, err := splitInput(spec)
		if err == nil {
			err = t.add(src, dest)
		}
		if err != nil {
			return fmt.Errorf("--in %s: %w", spec, err)
		}
	}
	return nil
}

func splitInput(spec string) (src, dest string, err error) {
	colon := strings.LastIndexByte(spec, ':')
	if _, err := os.Lstat(spec); err == nil || colon <= 0 {
		name := filepath.Base(absolute(spec))
		if name == string(filepath.Separator) {
			return "", "", errors.New("the root directory cannot be taken along")
		}
		return spec, name, nil
	}
	dest = strings.TrimPrefix(spec[colon+1:], sandbox.WorkspaceDir+"/")
	if dest == "" || strings.HasSuffix(dest, "/") {
		dest += filepath.Base(absolute(spec[:colon]))
	}
	dest = path.Clean(dest)
	if !filepath.IsLocal(filepath.FromSlash(dest)) {
		return "", "", fmt.Errorf("%s is not inside the workspace: give a relative path", dest)
	}
	return spec[:colon], dest, nil
}
