package executor

import (
	"os"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// foundFor is how long a toolchain of this host counts as the one that would be found: to
// look takes some hundred calls of the file system, and Java's longer than a program.
const foundFor = 5 * time.Second

// found remembers toolchains of this host. One whose program has changed is looked for
// again. The zero value is empty and ready to use.
type found struct {
	mu    sync.Mutex
	known map[string]foundOne // by language and wanted version
}

type foundOne struct {
	toolchain language.Toolchain
	program   os.FileInfo
	until     time.Time
}

func (f *found) recall(key string) (language.Toolchain, bool) {
	f.mu.Lock()
	one, ok := f.known[key]
	f.mu.Unlock()
	if !ok || time.Now().After(one.until) {
		return language.Toolchain{}, false
	}
	info, err := os.Stat(one.toolchain.Program)
	same := err == nil && os.SameFile(info, one.program) && info.Size() == one.program.Size() && info.ModTime().Equal(one.program.ModTime())
	return one.toolchain, same
}

func (f *found) remember(key string, tc language.Toolchain) {
	info, err := os.Stat(tc.Program)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for old, one := range f.known { // versions are the callers' to name
		if now.After(one.until) {
			delete(f.known, old)
		}
	}
	if f.known == nil {
		f.known = map[string]foundOne{}
	}
	f.known[key] = foundOne{tc, info, now.Add(foundFor)}
}
