package testenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepared is where the build caches of a data directory are.
const prepared = "cache/build"

// Prepared has a data directory of a user begin with the build caches of the one that
// SANDBOX_TEST_PREPARED names, which every user may read: Go's standard library takes half a
// minute each time. Without it the programs prepare for themselves. What the directory has
// already stays.
func Prepared(dataDir string, uid int) error {
	from := os.Getenv("SANDBOX_TEST_PREPARED")
	to := filepath.Join(dataDir, prepared)
	if from == "" {
		return nil
	}
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	for _, dir := range []string{dataDir, filepath.Dir(to)} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chown(dir, uid, -1)); err != nil {
			return fmt.Errorf("make a data directory: %w", err)
		}
	}
	from = filepath.Join(from, prepared)
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			if filepath.Dir(name) == "." {
				return nil // a lock
			}
			return os.Link(path, filepath.Join(to, name))
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name = filepath.Join(to, name)
		return errors.Join(os.Mkdir(name, 0o700), os.Chmod(name, info.Mode().Perm()), os.Chown(name, uid, -1))
	})
	if err != nil {
		return fmt.Errorf("take over what was prepared: %w", err)
	}
	return nil
}
