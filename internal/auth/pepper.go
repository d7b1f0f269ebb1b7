package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	pepperName  = "pepper"
	pepperBytes = 32
)

// pepper is the secret of the hashes. It is not in the database, so a copy of
// the database alone is of no use to test guesses against.
type pepper []byte

// hash is what is kept of a key, given its sum.
func (p pepper) hash(sum [sha256.Size]byte) []byte { return p.mac("key", sum) }

// id names a key that has no id of its own. It stays the same as long as the
// key does.
func (p pepper) id(sum [sha256.Size]byte) string {
	return keyEncoding.EncodeToString(p.mac("id", sum)[:idBytes])
}

func (p pepper) mac(use string, sum [sha256.Size]byte) []byte {
	h := hmac.New(sha256.New, p)
	h.Write([]byte(use))
	h.Write(sum[:])
	return h.Sum(nil)
}

// loadPepper reads the pepper of a data directory. One that is missing is made,
// but not when there are hashes already that were made with it.
func loadPepper(dir string, haveHashes bool) (pepper, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p, err := readPepper(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if haveHashes {
		return nil, fmt.Errorf("%s is missing, and without it no API key of the database can be checked: "+
			"put it back from a copy, or revoke those keys and make new ones", filepath.Join(dir, pepperName))
	}
	if err := writePepper(root); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readPepper(root) // ours, or that of a process that was quicker
}

func readPepper(root *os.Root) (pepper, error) {
	f, err := root.Open(pepperName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkPrivate(f); err != nil {
		return nil, err
	}
	b := make([]byte, pepperBytes+1)
	if n, _ := f.Read(b); n != pepperBytes {
		return nil, fmt.Errorf("%s is damaged: it should have %d bytes; put it back from a copy", f.Name(), pepperBytes)
	}
	return b[:pepperBytes], nil
}

// writePepper makes a pepper under its name only when it is whole and on the
// disk: nobody reads half of it, and no key outlives it in a power cut.
func writePepper(root *os.Root) (err error) {
	b := make([]byte, pepperBytes)
	_, _ = rand.Read(b) // never fails
	temporary := pepperName + "." + rand.Text()
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Remove(temporary)) }()
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := root.Link(temporary, pepperName); err != nil { // never over another
		return err
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// checkPrivate refuses a file of secrets that everybody on the machine can read
// or write. The group may: that is how a volume or a service shares it.
func checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("%[1]s holds secrets, and everybody can reach it (mode %[2]o): chmod o-rwx %[1]q", f.Name(), info.Mode().Perm())
	}
	return nil
}
