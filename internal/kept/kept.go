// Package kept keeps directories that others have sent, such as build caches, for
// containers to read.
//
// Each has an owner, and nobody else ever sees it: who could fill another's cache
// would choose what that one runs. It belongs to an image as well, by its digest.
//
//	DIR/OWNER/IMAGE/NAME/tree   what is mounted, read-only
//	DIR/OWNER/IMAGE/NAME/size   what it takes, in decimal
//	DIR/tmp-…                   one that is on its way, its size locked by who makes it
//	DIR/lock                    locked by who removes those whose maker has died, and
//	                            shared by who begins one
//
// An archive has regular files, directories and symbolic links, within bounds, or is
// refused as a whole. A directory appears by a rename, when it is complete. What was not used for
// longest makes room for the next, unless a container has it: the size of what is in use is locked,
// since the directory may be that of more than one server.
package kept

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
)

// Limits bound what is kept.
type Limits struct {
	// EntryBytes and EntryNames are the most of one directory, OwnerBytes what one
	// owner's take together, and TotalBytes all of them. Each name counts as a page,
	// and each file as whole pages.
	EntryBytes, EntryNames, OwnerBytes, TotalBytes int64
	// OwnerEntries and TotalEntries are how many directories one owner may have and all of
	// them: the smallest takes its inodes, and a look at each upload.
	OwnerEntries, TotalEntries int
	// Uploads is how many may be on their way, and TenantUploads how many of them one
	// tenant's.
	Uploads, TenantUploads int64
}

// DefaultLimits hold the standard library of a few versions of Go for each owner.
func DefaultLimits() Limits {
	return Limits{EntryBytes: 1 << 30, EntryNames: 100_000, OwnerBytes: 2 << 30, TotalBytes: 8 << 30, OwnerEntries: 256, TotalEntries: 4096, Uploads: 8, TenantUploads: 3}
}

// What stands in the way of keeping a directory.
var (
	// ErrName is a name that no directory is kept under.
	ErrName = errors.New("a kept directory is named by 1 to 128 letters, digits, dots, dashes and underscores, and begins with a letter or digit")
	// ErrArchive is an archive that is not unpacked.
	ErrArchive = errors.New("the archive is refused")
	// ErrFull says that there is no room, or too much on its way.
	ErrFull = errors.New("there is no room for what should be kept")
	// ErrNotKept says that there is no such directory.
	ErrNotKept = errors.New("it is not kept here")
)

var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

const (
	treeName  = "tree"
	sizeName  = "size"
	lockName  = "lock"
	onItsWay  = "tmp-"
	pageBytes = 4096
)

// Key names a directory. Its tenant, who may have several owners, is not part of the name.
type Key struct{ Owner, Image, Name, Tenant string }

// path is where it is, by names that cannot lead anywhere else.
func (k Key) path() (string, error) {
	if !nameForm().MatchString(k.Name) {
		return "", ErrName
	}
	return path.Join(short(k.Owner), short(k.Image), k.Name), nil
}

// hashGlob matches what short gives, and no name of what is on its way: what is in that was
// written by who sends it.
var hashGlob = strings.Repeat("[0-9a-f]", 32)

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Store keeps directories. It is safe for concurrent use.
type Store struct {
	dir    string
	root   *os.Root
	limits Limits

	mu      sync.Mutex
	entries map[string]*entry // by path; what is there is looked up, another server may change it
	uploads map[string]int64  // by tenant
	sent    int64             // uploads of all
}

type entry struct {
	path string
	size int64
	used time.Time
	held int
}

func (e *entry) owner() string { owner, _, _ := strings.Cut(e.path, "/"); return owner }

// Dir is where a server with that data directory keeps them.
func Dir(dataDir string) string { return filepath.Join(dataDir, "cache", "remote") }

// Open opens a directory of them.
func Open(dir string, limits Limits) (*Store, error) {
	// What is below may be written by whoever gets there, as it must be where it is
	// mounted; nobody on this host gets there.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of what other servers keep here: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		err = root.Chmod(".", 0o700)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, root: root, limits: limits, entries: map[string]*entry{}, uploads: map[string]int64{}}
	if err := s.read(); err != nil {
		root.Close()
		return nil, fmt.Errorf("read the directory of what other servers keep here: %w", err)
	}
	return s, nil
}

// Close frees the store; what is kept stays.
func (s *Store) Close() error { return s.root.Close() }

// read finds what is there, and removes what is no use any more.
func (s *Store) read() error {
	_, _ = reclaim(s.root) // gc says what is in the way
	useless, err := s.look()
	for _, name := range useless {
		_ = s.drop(&entry{path: name}) // the next start tries again
	}
	return err
}

// look finds what is there, and names what it cannot tell the size of. The caller holds the lock,
// or is alone.
func (s *Store) look() (useless []string, err error) {
	kept, err := fs.Glob(s.root.FS(), hashGlob+"/"+hashGlob+"/*")
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, name := range kept {
		if there[name] = true; s.known(name) == nil {
			useless = append(useless, name)
		}
	}
	maps.DeleteFunc(s.entries, func(name string, _ *entry) bool { return !there[name] })
	return useless, nil
}

// known is an entry that is there, or nil. The caller holds the lock.
func (s *Store) known(name string) *entry {
	found, err := s.entry(name)
	if err != nil {
		delete(s.entries, name)
		return nil
	}
	e, ok := s.entries[name]
	if !ok {
		e = found
		s.entries[name] = e
	}
	if found.used.After(e.used) { // by another server
		e.used = found.used
	}
	return e
}

// entry reads what is noted about a directory.
func (s *Store) entry(name string) (*entry, error) {
	text, err := s.root.ReadFile(path.Join(name, sizeName))
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || size < 0 || size > s.limits.EntryBytes {
		return nil, fmt.Errorf("%.40q is no size of a directory", text)
	}
	info, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return &entry{path: name, size: size, used: info.ModTime()}, nil
}

// Has tells whether a directory is kept.
func (s *Store) Has(k Key) (bool, error) {
	name, err := k.path()
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known(name) != nil, nil
}

// Hold gives the host path of a directory, which stays until release is called.
func (s *Store) Hold(k Key) (dir string, release func(), err error) {
	name, err := k.path()
	if err != nil {
		return "", nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.known(name)
	if e == nil {
		return "", nil, fmt.Errorf("%s: %w", k.Name, ErrNotKept)
	}
	use, err := s.use(name)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	e.held++
	e.used = time.Now()
	_ = s.root.Chtimes(name, e.used, e.used) // else it goes sooner after a restart
	return filepath.Join(s.dir, name, treeName), sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.held--
		use.Close()
	}), nil
}

// use locks the size of a directory, so that no server removes it.
func (s *Store) use(name string) (*os.File, error) {
	size, err := s.root.Open(path.Join(name, sizeName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotKept
	}
	if err != nil {
		return nil, err
	}
	if err = lockfile.Try(size, false); err == nil && !s.names(name, size) || errors.Is(err, lockfile.ErrHeld) {
		err = ErrNotKept // any more: it loses its name before the lock
	}
	if err != nil {
		size.Close()
		return nil, err
	}
	return size, nil
}

// names tells whether a directory is still the one of that size file.
func (s *Store) names(name string, size *os.File) bool {
	opened, err := size.Stat()
	if err != nil {
		return false
	}
	there, err := s.root.Lstat(path.Join(name, sizeName))
	return err == nil && os.SameFile(opened, there)
}

// Keep unpacks an archive and keeps it. One that is kept already stays as it is.
func (s *Store) Keep(ctx context.Context, k Key, archive io.Reader) error {
	name, err := k.path()
	if err != nil {
		return err
	}
	if !s.mayUpload(k.Tenant) {
		return fmt.Errorf("%w: others are being sent", ErrFull)
	}
	defer s.uploaded(k.Tenant)
	if there, err := s.Has(k); err != nil {
		return err
	} else if there { // who sends it reads no answer before its end
		_, err := io.Copy(io.Discard, io.LimitReader(archive, s.limits.EntryBytes))
		return err
	}
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("keep a directory: %w", err)
	}
	defer w.end()
	u := unpacker{ctx: ctx, root: w.tree, limits: s.limits, bytes: pageBytes} // its own name
	if err := u.unpack(archive); err != nil {
		return err
	}
	if _, err = io.WriteString(w.size, strconv.FormatInt(u.bytes, 10)); err == nil {
		err = lockfile.SyncDisk(w.tree)
	}
	if err != nil {
		return fmt.Errorf("keep a directory: %w", err)
	}
	return s.promote(w, &entry{path: name, size: u.bytes, used: time.Now()})
}

// promote gives a directory its name, and makes room for it first.
func (s *Store) promote(w *way, e *entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.look(); err != nil {
		return err
	}
	if s.entries[e.path] != nil {
		return nil
	}
	if err := s.makeRoom(e); err != nil {
		return err
	}
	for dir := range parents(e.path) {
		if err := s.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := lockfile.Try(w.size, false); err != nil { // others may have it from now on
		return fmt.Errorf("keep a directory: %w", err)
	}
	if err := s.root.Rename(w.name, e.path); err != nil && s.known(e.path) == nil { // nor has another server kept it
		return fmt.Errorf("keep a directory: %w", err)
	} else if err != nil {
		return nil
	}
	s.entries[e.path] = e
	return nil
}

// parents are the directories above a path, from the top.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i, c := range name {
			if c == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

// room is what directories take together.
type room struct {
	bytes   int64
	entries int
}

func (r *room) add(bytes int64, entries int) { r.bytes, r.entries = r.bytes+bytes, r.entries+entries }

// makeRoom removes what was not used for longest, of this owner's or of all, until e
// fits. The caller holds the lock.
func (s *Store) makeRoom(e *entry) error {
	byAge := make([]*entry, 0, len(s.entries))
	own, all := room{e.size, 1}, room{e.size, 1}
	for _, other := range s.entries {
		byAge = append(byAge, other)
		all.add(other.size, 1)
		if other.owner() == e.owner() {
			own.add(other.size, 1)
		}
	}
	ownFull := func() bool { return own.bytes > s.limits.OwnerBytes || own.entries > s.limits.OwnerEntries }
	allFull := func() bool { return all.bytes > s.limits.TotalBytes || all.entries > s.limits.TotalEntries }
	slices.SortFunc(byAge, func(a, b *entry) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	for _, other := range byAge {
		mine := other.owner() == e.owner()
		tooMuch := mine && ownFull() || allFull()
		if !tooMuch || other.held > 0 {
			continue
		}
		if err := s.drop(other); errors.Is(err, lockfile.ErrHeld) {
			continue // by a container of another server
		} else if err != nil {
			return fmt.Errorf("make room for what should be kept: %w", err)
		}
		all.add(-other.size, -1)
		if mine {
			own.add(-other.size, -1)
		}
	}
	if ownFull() || allFull() {
		return fmt.Errorf("%w: what is there is in use", ErrFull)
	}
	return nil
}

// drop removes a directory that is kept, unless it is in use, which is [lockfile.ErrHeld]. It loses
// its name first: half of one must never be taken for whole, whatever interrupts this. The caller
// holds the lock.
func (s *Store) drop(e *entry) error {
	size, err := s.root.Open(path.Join(e.path, sizeName))
	if err == nil {
		defer size.Close()
		err = lockfile.Try(size, true)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	gone := onItsWay + rand.Text()
	if err != nil || s.names(e.path, size) { // or another server has removed it meanwhile
		err = s.root.Rename(e.path, gone)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(s.entries, e.path)
	return s.root.RemoveAll(gone)
}

// Links keeps a directory of symbolic links, by its content: program names that lead
// to programs of this host. It gives the directory's host path.
func (s *Store) Links(links map[string]string) (string, error) {
	names := slices.Sorted(maps.Keys(links))
	text := ""
	for _, name := range names {
		text += name + "\x00" + links[name] + "\x00"
	}
	dir := "links-" + short(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, made := range []error{s.root.Mkdir(dir, 0o755), s.root.Chmod(dir, 0o755)} {
		if made != nil && !errors.Is(made, fs.ErrExist) {
			return "", made
		}
	}
	for _, name := range names {
		if err := s.root.Symlink(links[name], path.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return filepath.Join(s.dir, dir), nil
}
