package executor

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// artefact is what a compile phase has made and said.
type artefact struct {
	Stdout, Stderr []byte
	Files          []madeFile
}

// madeFile is a file or a directory below [sandbox.BuildDir].
type madeFile struct {
	Path       string
	Dir        bool   `json:",omitempty"`
	Executable bool   `json:",omitempty"`
	Size       int64  `json:",omitempty"` // bytes of Content, which follows
	Content    []byte `json:"-"`
}

// artefacts are those of a data directory, a file each under the key of what they were made
// of. Such a file begins with a hash of that key and of all that follows: one line of JSON,
// and the contents, one behind the other.
type artefacts struct {
	dir  string
	most int64 // bytes of all together

	mu      sync.Mutex
	written int64 // bytes since the last look at them all
}

const (
	// maxArtefactAge bounds what a compiler may have read beside its sources, and nobody
	// looks at, such as the headers of the system.
	maxArtefactAge = 24 * time.Hour
	// artefactShare of the whole is the most that one may have, and how much is written
	// before somebody looks how much there is.
	artefactShare = 8
	// leastArtefact is what the smallest counts for, so that their number is bounded, too.
	leastArtefact = 32 << 10
)

// newArtefacts has a process that writes little look at them all as often, for what it
// writes, as one that writes much.
func newArtefacts(dataDir string, most int64) *artefacts {
	if dataDir == "" || most <= 0 {
		return nil
	}
	return &artefacts{dir: filepath.Join(dataDir, "cache", "compiled"), most: most, written: rand.Int64N(most/artefactShare + 1)}
}

// largest is the most bytes that one may have.
func (a *artefacts) largest() int64 { return a.most / artefactShare }

// get is what is kept under a key, or nil. What is damaged is removed.
func (a *artefacts) get(key string) *artefact {
	name := filepath.Join(a.dir, key)
	info, err := os.Stat(name)
	if err != nil || time.Since(info.ModTime()) > maxArtefactAge || info.Size() > 2*a.most {
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	made, err := decodeArtefact(key, content)
	if err != nil {
		_ = os.Remove(name) // else it is replaced by the compiler's next
		return nil
	}
	return made
}

// put keeps an artefact, whole or not at all.
func (a *artefacts) put(key string, made *artefact) error {
	content, err := encodeArtefact(key, made)
	if err != nil || int64(len(content)) > a.largest() {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(a.dir), 0o711), os.MkdirAll(a.dir, 0o700)); err != nil {
		return noDataDir(err)
	}
	tmp, err := os.CreateTemp(a.dir, unfinished)
	if err != nil {
		return fmt.Errorf("keep what was compiled: %w", err)
	}
	fault.Point("artefact begun")
	if unlock, locked := lockDir(tmp.Name(), false); locked == nil { // else it may be removed, and is made again
		defer unlock()
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(a.dir, key))
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // or gc does
		return fmt.Errorf("keep what was compiled: %w", err)
	}
	return a.count(int64(len(content)))
}

// count notes what was written, and makes room when that has become much.
func (a *artefacts) count(size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.written += max(size, leastArtefact); a.written < a.largest() {
		return nil
	}
	a.written = 0
	return a.prune()
}

// removeStale removes what is too old to be used, and names it.
func (a *artefacts) removeStale() (removed []string, err error) {
	kept, err := a.list()
	for _, info := range kept {
		if time.Since(info.ModTime()) < maxArtefactAge {
			break
		}
		name := filepath.Join(a.dir, info.Name())
		if failed := os.Remove(name); failed == nil {
			removed = append(removed, name)
		} else if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return removed, err
}

// list has what is kept, the oldest first.
func (a *artefacts) list() (kept []fs.FileInfo, err error) {
	entries, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || len(e.Name()) != artefactKey {
			continue // it is gone, or being written
		}
		kept = append(kept, info)
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	return kept, err
}

// prune removes the oldest until the rest has room for what is written before the next look.
func (a *artefacts) prune() error {
	kept, err := a.list()
	if err != nil {
		return err
	}
	total := int64(0)
	for _, info := range kept {
		total += max(info.Size(), leastArtefact)
	}
	for _, info := range kept {
		if total <= a.most-a.largest() && time.Since(info.ModTime()) < maxArtefactAge {
			break
		}
		if err := os.Remove(filepath.Join(a.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= max(info.Size(), leastArtefact)
	}
	return nil
}

// artefactKey is the length of a key: a hash in hexadecimal digits.
const artefactKey = 2 * sha256.Size

// hashKey makes a key of whatever has JSON.
func hashKey(of any) (string, error) {
	b, err := json.Marshal(of)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// artefactSum binds what is kept to its key.
func artefactSum(key string, body []byte) []byte {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write(body)
	return h.Sum(nil)
}

func encodeArtefact(key string, made *artefact) ([]byte, error) {
	head, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	body := append(head, '\n')
	for _, f := range made.Files {
		body = append(body, f.Content...)
	}
	return append(artefactSum(key, body), body...), nil
}

var errDamaged = errors.New("what was kept of a compiler is damaged")

func decodeArtefact(key string, content []byte) (*artefact, error) {
	if len(content) < sha256.Size || !bytes.Equal(content[:sha256.Size], artefactSum(key, content[sha256.Size:])) {
		return nil, errDamaged
	}
	head, rest, _ := bytes.Cut(content[sha256.Size:], []byte{'\n'})
	made := &artefact{}
	if err := json.Unmarshal(head, made); err != nil {
		return nil, errDamaged
	}
	for i := range made.Files {
		f := &made.Files[i]
		if f.Size < 0 || f.Size > int64(len(rest)) {
			return nil, errDamaged
		}
		f.Content, rest = rest[:f.Size], rest[f.Size:]
	}
	return made, nil
}
