package executor

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// environmentEntry is one entry of the cache.
type environmentEntry struct {
	name  string
	used  time.Time
	bytes int64
	half  bool
}

// prune removes what no key leads to any more, and then what was not used for
// longest until the rest is within the bound. What a run holds stays, and so does
// keep. It names what it removed.
func (c environments) prune(keep string) (removed []string, err error) {
	entries, err := c.list()
	total := int64(0)
	for _, entry := range entries {
		total += entry.bytes
	}
	for _, entry := range entries {
		useless := entry.half || time.Since(entry.used) > unusedEnvironment
		if entry.name == keep || !useless && total <= maxEnvironmentBytes {
			continue
		}
		unlock, locked := lockDir(c.path(entry.name), true)
		if locked != nil {
			continue // a run uses it
		}
		if failed := c.remove(entry.name); failed != nil {
			err = errors.Join(err, failed)
		} else {
			removed = append(removed, c.path(entry.name))
			total -= entry.bytes
		}
		unlock()
	}
	return removed, err
}

// list has the entries in the order in which they were used.
func (c environments) list() ([]environmentEntry, error) {
	dir, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []environmentEntry
	for _, d := range dir {
		info, failed := d.Info()
		if failed != nil || !d.IsDir() {
			continue // a lock, or just removed
		}
		entry := environmentEntry{name: d.Name(), used: info.ModTime()}
		entry.bytes, failed = c.bytes(entry.name)
		_, made := strings.CutPrefix(entry.name, unfinished)
		entry.half = made || failed != nil // or removed half
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b environmentEntry) int { return a.used.Compare(b.used) })
	return entries, err
}
