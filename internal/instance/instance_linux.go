package instance

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Instance is one process of ours as others see it.
type Instance struct {
	Number int
	Name   string // of everything that it makes; like none before it
	// Dir is where it keeps files; [Instance.MakeDir] makes it when it is first
	// needed. Its parent is open to all, so its name cannot be guessed.
	Dir  string
	path string // of the number's file
	lock *os.File

	mu   sync.Mutex // guards held
	held *os.File   // has the lock of Dir; nil without one
}

// instances is how many numbers there are, each with a block of user ids.
const instances = 1 << 16

// Record is the content of an instance's file: what to look for when its owner
// is dead.
type Record struct {
	// Runtime is the name of the runtime that knows how to reclaim it.
	Runtime string   `json:"runtime"`
	BootID  string   `json:"boot_id"`
	PID     int      `json:"pid"`
	Name    string   `json:"name"`
	Dirs    []string `json:"dirs"`
	// Groups are the directories in which it made control groups.
	Groups []string `json:"groups"`
}

// numberFile is the name of a number's file.
func numberFile(number int) string { return fmt.Sprintf("i%04x", number) }

// New takes a free number below the runtime directory, which it prepares, for a
// runtime of that name. groups is where the process makes control groups.
func New(dir, runtime string, groups []string) (*Instance, error) {
	if err := PrepareDir(dir); err != nil {
		return nil, err
	}
	for range 100 {
		i, err := takeNumber(dir, runtime, rand.IntN(instances), groups)
		if err != nil || i != nil {
			return i, err
		}
	}
	return nil, fmt.Errorf("no free instance number in %s after 100 tries; run sandbox-run gc", dir)
}

// takeNumber returns nil without an error when the number is taken.
func takeNumber(dir, runtime string, number int, groups []string) (*Instance, error) {
	path := filepath.Join(dir, numberFile(number))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take an instance number: %w", err)
	}
	fault.Point("number taken")
	// Between create and lock somebody who reclaims may have seen a file without
	// an owner: then the lock fails or the name is gone.
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || !linked(f) {
		f.Close()
		return nil, nil
	}
	fault.Point("instance locked")
	name := nameOf(number, rand.Uint64())
	i := &Instance{Number: number, Name: name, path: path, lock: f}
	i.Dir = dirOf(name)
	content, _ := json.Marshal(Record{Runtime: runtime, BootID: BootID(), PID: os.Getpid(), Name: name, Dirs: []string{i.Dir}, Groups: groups})
	if _, err := f.Write(content); err != nil {
		i.Release(false)
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	fault.Point("instance recorded")
	return i, nil
}

// Forgotten is the name of the instance that has made something of a name, if the
// runtime directory has no file of it: then [Dead] will never hear of it, and whether it
// lives must be known from elsewhere. Else it is empty.
func Forgotten(dir, made string) string {
	file, rest, _ := strings.Cut(made, "-")
	word, _, _ := strings.Cut(rest, "-")
	number, err := strconv.ParseUint(strings.TrimPrefix(file, "i"), 16, 16)
	random, err2 := strconv.ParseUint(word, 16, 64)
	name := nameOf(int(number), random)
	if err != nil || err2 != nil || name != file+"-"+word {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(dir, file)); !errors.Is(err, fs.ErrNotExist) {
		return "" // its own, or that of the number's next owner: then it is for later
	}
	return name
}

// nameOf is the name of an instance. The number may have been somebody's before, and
// another runtime directory may give out the same: what we make is told apart by 64
// random bits.
func nameOf(number int, random uint64) string {
	return fmt.Sprintf("%s-%016x", numberFile(number), random)
}

// TenantName is the name of the control group above those of a tenant's containers,
// or empty for no tenant. It tells nobody who that is.
func (i *Instance) TenantName(tenant string) string {
	if tenant == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(tenant))
	return fmt.Sprintf("%s-t%x", i.Name, sum[:8])
}

// MakeDir makes the instance's directory, or sees that it is still ours: a
// cleaner of temporary files may have removed it and somebody put another there.
func (i *Instance) MakeDir() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	err := Mkdir(i.Dir, 0o711)
	if errors.Is(err, fs.ErrExist) {
		return checkOurs(i.Dir)
	}
	var lock *os.File
	if err == nil {
		lock, err = lockDir(i.Dir, unix.LOCK_SH)
	}
	if err != nil {
		return fmt.Errorf("make the instance's directory: %w", err)
	}
	if i.held != nil { // the lock of one that has been removed
		i.held.Close()
	}
	i.held = lock
	return nil
}

// lockDir locks a directory that is ours alone, and returns what holds the lock.
func lockDir(path string, how int) (*os.File, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(dir.Fd()), &st); err == nil && int(st.Uid) != os.Geteuid() {
		err = fmt.Errorf("%s belongs to user %d", path, st.Uid)
	}
	if err == nil {
		err = unix.Flock(int(dir.Fd()), how|unix.LOCK_NB)
	}
	if err == nil && !linked(dir) {
		err = fs.ErrNotExist // somebody has taken it for a dead one's
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// ForgottenDirs calls reclaim for the directory of each dead instance of this user's
// that the runtime directory has no file of: nobody holds its lock.
func ForgottenDirs(dir string, reclaim func(path, name string) error) error {
	paths, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, path := range paths {
		name := Forgotten(dir, strings.TrimPrefix(filepath.Base(path), dirPrefix))
		if name == "" || path != dirOf(name) {
			continue
		}
		lock, locked := lockDir(path, unix.LOCK_EX)
		if locked != nil {
			continue // its owner lives, or it is another user's
		}
		err = errors.Join(err, reclaim(path, name))
		lock.Close()
	}
	return err
}

// dirOf is where an instance has its directory.
func dirOf(name string) string { return filepath.Join(os.TempDir(), dirPrefix+name) }

const dirPrefix = "sandbox-run-"

// Mkdir makes a directory and sees that it has its mode: a sandbox's user of its
// own must pass, whatever our umask is.
func Mkdir(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil {
		return err
	}
	fault.Point("directory made")
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Chmod(mode), dir.Close())
}

// linked tells whether a file still has its name. Only the holder of its lock
// removes it, so for the holder the answer lasts.
func linked(f *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && st.Nlink > 0
}

// Release gives the number back, and removes the directory. With leftovers the
// number's file stays, unlocked: who reclaims finds it.
func (i *Instance) Release(leftovers bool) {
	if err := RemoveTree(i.Dir); err == nil && !leftovers {
		fault.Point("instance directory removed")
		_ = os.Remove(i.path) // before the lock is freed, so that nobody reclaims it
	}
	fault.Point("instance forgotten")
	if i.held != nil {
		i.held.Close()
	}
	i.lock.Close()
}

// PrepareDir makes the runtime directory and refuses one that another user could
// have planted.
func PrepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the runtime directory: %w", err)
	}
	return checkOurs(dir)
}

func checkOurs(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("the directory %s is not ours alone (owner %d, mode %#o); remove it or set XDG_RUNTIME_DIR", dir, st.Uid, st.Mode&0o7777)
	}
	return nil
}

// DefaultDir is the runtime directory where none was chosen. It is on a tmpfs
// wherever there is one, so that a reboot empties it.
func DefaultDir() string {
	if os.Geteuid() == 0 {
		return "/run/sandbox-run"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "sandbox-run")
	}
	return filepath.Join(os.TempDir(), "sandbox-run-"+strconv.Itoa(os.Geteuid()))
}

// BootID names this boot of the kernel, or is empty where /proc does not tell.
func BootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// Dead calls reclaim for each instance below the runtime directory whose owner is
// dead, holding its lock, and removes its file when reclaim succeeds. Those of other
// runtimes are left to them. The record of an owner that died before it wrote is
// empty.
func Dead(dir, runtime string, reclaim func(Record) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the runtime directory: %w", err)
	}
	var failed error
	for _, e := range entries {
		number, err := strconv.ParseUint(strings.TrimPrefix(e.Name(), "i"), 16, 16)
		if err != nil || e.Name() != numberFile(int(number)) {
			continue
		}
		failed = errors.Join(failed, reclaimNumber(filepath.Join(dir, e.Name()), runtime, reclaim))
	}
	return failed
}

func reclaimNumber(path, runtime string, reclaim func(Record) error) error {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // its owner has just removed it
	}
	return reclaimFile(f, path, runtime, reclaim)
}

// reclaimFile reclaims by a number's file, which it closes.
func reclaimFile(f *os.File, path, runtime string, reclaim func(Record) error) error {
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // its owner lives
	}
	// Between open and lock its owner may have released it: then path is the file
	// of the number's next owner, if it has one, and none of our business.
	if !linked(f) {
		return nil
	}
	var r Record
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		r = Record{} // it died before it wrote; it had made nothing but the name
	}
	if r.Runtime != "" && r.Runtime != runtime {
		return nil
	}
	if err := reclaim(r); err != nil {
		return fmt.Errorf("reclaim what process %d left: %w", r.PID, err)
	}
	fault.Point("instance reclaimed")
	return os.Remove(path)
}
