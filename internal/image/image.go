package image

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Image is what the store knows of an image.
type Image struct {
	Digest string    `json:"digest"` // of its manifest: sha256:...
	Names  []string  `json:"-"`
	Config Config    `json:"config"`
	Added  time.Time `json:"added"`
	Layers int       `json:"layers"`
	// Bytes and Files are what unpacking it has written.
	Bytes int64 `json:"bytes"`
	Files int64 `json:"files"`
	// LeftOut is what was not unpacked.
	LeftOut LeftOut `json:"left_out"`
}

// Config is how an image is meant to be started. It is as little trusted as the
// image itself.
type Config struct {
	Env          []string `json:"env,omitempty"` // NAME=value
	Entrypoint   []string `json:"entrypoint,omitempty"`
	Cmd          []string `json:"cmd,omitempty"`
	User         string   `json:"user,omitempty"` // user[:group], names or numbers
	WorkingDir   string   `json:"working_dir,omitempty"`
	Architecture string   `json:"architecture,omitempty"` // as GOARCH
}

// LeftOut are entries that were not unpacked.
type LeftOut struct {
	Count int64 `json:"count"`
	// Entries are the first hundred of them.
	Entries []LeftOutEntry `json:"entries,omitempty"`
}

// LeftOutEntry is one of them. Its name is as hostile as the image; quote it.
type LeftOutEntry struct {
	Layer int    `json:"layer"` // from 1
	Name  string `json:"name"`
	Why   string `json:"why"`
}

func (l *LeftOut) add(layer int, name, why string) {
	if l.Count++; len(l.Entries) < maxLeftOut {
		l.Entries = append(l.Entries, LeftOutEntry{layer, name, why})
	}
}

// configOf reads an image's configuration, and refuses what is for other machines
// or could not be started.
func configOf(raw []byte) (Config, []v1.Hash, error) {
	var file struct { // of v1.ConfigFile what is needed: its history may have any length
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		Variant      string    `json:"variant"`
		Config       v1.Config `json:"config"`
		RootFS       v1.RootFS `json:"rootfs"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return Config{}, nil, problemf(ErrCorrupt, "its configuration cannot be read: %v", err)
	}
	here := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	its := v1.Platform{OS: file.OS, Architecture: file.Architecture, Variant: file.Variant}
	// docker import leaves them empty: it takes what it is given for its own.
	if file.OS != "" && file.OS != here.OS || file.Architecture != "" && file.Architecture != here.Architecture {
		return Config{}, nil, problemf(ErrPlatform, "it is for %s, and this machine is %s", its, here)
	}
	c := Config{
		Env: file.Config.Env, Entrypoint: file.Config.Entrypoint, Cmd: file.Config.Cmd,
		User: file.Config.User, WorkingDir: file.Config.WorkingDir, Architecture: here.Architecture,
	}
	return c, file.RootFS.DiffIDs, c.check()
}

// check refuses what no program can be started with, so that it is said here and
// not at the first run.
func (c *Config) check() error {
	all := slices.Concat(c.Env, c.Entrypoint, c.Cmd, []string{c.User, c.WorkingDir})
	if slices.ContainsFunc(all, func(s string) bool { return strings.ContainsRune(s, 0) }) {
		return problemf(ErrHostile, "its configuration has a zero byte in a string")
	}
	left := maxEnv
	for _, e := range c.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return problemf(ErrHostile, "its configuration has an environment entry that is not NAME=value: %q", e)
		}
		const end, pointer = 1, 8
		if left -= len(e) + end + pointer; left < 0 {
			return problemf(ErrTooLarge, "its environment takes more than %d bytes, which is the limit", maxEnv)
		}
	}
	return nil
}

// write writes the description of the image that w has become.
func (w *work) write(info Image) error {
	raw, err := json.MarshalIndent(info, "", "\t")
	if err != nil {
		return err
	}
	return w.dir.WriteFile(infoFile, raw, 0o600)
}

// image reads what is known of an image, with its names.
func (s *Store) image(digest v1.Hash) (Image, error) {
	info, err := s.read(digest)
	if err != nil {
		return Image{}, err
	}
	names, err := s.names()
	info.Names = namesOf(digest, names)
	return info, err
}

// read reads the description of an image.
func (s *Store) read(digest v1.Hash) (Image, error) {
	raw, err := s.root.ReadFile(filepath.Join(imagePath(digest), infoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Image{}, ErrNotFound
	}
	var info Image
	if err == nil {
		err = json.Unmarshal(raw, &info)
	}
	if err != nil {
		return Image{}, problemf(ErrCorrupt, "what the store knows of image %[1]s cannot be read (%[2]v): remove it by its digest, %.12[3]s, and get it again", digest, err, digest.Hex)
	}
	return info, nil
}

// Lease keeps an image from being removed while it is used. The kernel gives it
// back when the process ends.
type Lease struct {
	Image

	root string
	lock *os.File
}

// Root is the directory of the image's files, an absolute path. Nothing may write
// there.
func (l *Lease) Root() string { return l.root }

// Close gives the image back. The lock is undone and not just closed: a process that
// is being forked at this moment has the descriptor, too, until it is executed.
func (l *Lease) Close() error { return errors.Join(unlock(l.lock), l.lock.Close()) }
