package executor

import (
	"context"
	"crypto/sha256"
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
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// planPackages reads what is required. It is never passed over: a requirement
// that cannot be installed is the caller's error.
func (r *run) planPackages() error {
	if len(r.req.Requirements) == 0 {
		return nil
	}
	wrong := func(kind InputKind, field, detail string) error {
		return &InputError{Kind: kind, Field: field, Detail: detail}
	}
	if name := r.lang.Info().Name; name != "python" {
		return wrong(InputUnsupported, "/requirements", fmt.Sprintf("requirements of %s cannot be installed: only those of Python can; send what the program needs as files", r.lang.Info().Title))
	}
	if _, keeps := r.keeper(); r.img.Elsewhere && !keeps {
		return wrong(InputUnsupported, "/requirements", "packages cannot be installed into "+r.img.Name+" of runtime "+r.e.runtime.Name()+": name an image that has them")
	}
	list, err := packages.ParseAll(r.req.Requirements)
	var entry *packages.ListError
	switch {
	case errors.As(err, &entry) && entry.Index >= 0:
		return wrong(InputInvalid, fmt.Sprintf("/requirements/%d", entry.Index), entry.Detail)
	case err != nil:
		return wrong(InputInvalid, "/requirements", err.Error())
	case r.e.cfg.DataDir == "":
		return wrong(InputUnsupported, "/requirements", "packages need a data directory to be kept in: set SANDBOX_DATA_DIR")
	}
	uv := packages.UV{Host: r.e.cfg.Host, Index: r.e.cfg.PythonIndex}
	if r.packages, err = uv.Plan(r.toolchain, list); err != nil {
		return wrong(InputUnsupported, "/requirements", err.Error())
	}
	return nil
}

// mustInstall tells whether the packages are not there yet.
func (r *run) mustInstall() bool {
	return r.packages != nil && !exists(filepath.Join(r.e.environments().path(r.packages.Key), environmentSize))
}

// install brings the packages that are required, from the cache or by an install
// phase, and tells whether to go on.
func (r *run) install(ctx context.Context) (bool, error) {
	if r.packages == nil {
		return true, nil
	}
	cache, key := r.e.environments(), r.packages.Key
	hold := func() (err error) {
		r.release, err = cache.hold(key)
		return err
	}
	if hold() == nil {
		return true, nil
	}
	unlock, err := cache.lock(ctx, key)
	if err != nil {
		return false, err
	}
	defer unlock()
	if hold() == nil {
		return true, nil // somebody else was quicker
	}
	content, discard, err := cache.begin()
	if err != nil {
		return false, err
	}
	defer discard()
	if ok, err := r.installInto(ctx, content); err != nil || !ok {
		return false, err
	}
	if err := cache.promote(content, key); err != nil {
		return false, err
	}
	return true, hold()
}

// installInto runs the install phase in a container of its own and copies what it
// made. When it returns the container is gone.
func (r *run) installInto(ctx context.Context, content string) (ok bool, err error) {
	root, err := os.OpenRoot(content)
	if err != nil {
		return false, err
	}
	defer root.Close()
	if err := copyTools(root, r.packages.Tools); err != nil {
		return false, fmt.Errorf("copy the installer: %w", err)
	}
	defer func() { err = errors.Join(err, root.RemoveAll(environmentTools)) }() // once the container is gone
	network := r.packages.Network(ctx)
	var c sandbox.Container
	err = withKept(func() error {
		tools, err := r.dirMount(ctx, keptForDays(toolsName(r.packages.Tools), 0), filepath.Join(content, environmentTools), packages.ToolsDir)
		if err != nil {
			return fmt.Errorf("bring the installer: %w", err)
		}
		spec := r.root()
		spec.Network, spec.Mounts = network, append(slices.Clone(r.toolchain.Mounts), tools)
		spec.Disk, spec.BuildDisk = diskLimit(installTempBytes), diskLimit(r.e.cfg.CompileDiskBytes)
		spec.MemoryBytes = r.e.cfg.Compile.MemoryBytes
		if c, err = r.e.manager.Create(ctx, spec); err != nil {
			return notInstallable(err)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	defer r.remove(ctx, c)
	r.container = c
	if err := r.checkStrict(c); err != nil { // of the run, which will have another container like it
		return false, err
	}
	if r.workspace, err = c.Files(sandbox.WorkspaceDir); err != nil {
		return false, err
	}
	if r.accepted() != nil {
		return false, nil // the caller has gone; the result says cancelled
	}
	limits := r.e.cfg.Compile
	limits.WallTime = r.e.cfg.InstallTimeout
	ph := r.phase(ctx, api.PhaseInstall, r.packages.Step, phaseInput{
		limits: limits, network: network, keep: r.keep(), ceiling: r.ceiling(), speaker: installer{r.lang},
	})
	if ph.verdict.status != api.StatusOK {
		return false, nil
	}
	build, err := c.Files(sandbox.BuildDir)
	if err != nil {
		return false, err
	}
	if err := copyEnvironment(build, root, r.toolchain, r.e.cfg.CompileDiskBytes); err != nil {
		return false, fmt.Errorf("keep the packages: %w", err)
	}
	return true, nil
}

// copyTools makes copies of programs: no container reaches the ones of the host.
func copyTools(root *os.Root, tools map[string]string) error {
	if err := makeDir(root, environmentTools); err != nil {
		return err
	}
	for name, source := range tools {
		f, err := os.Open(source)
		if err != nil {
			return err
		}
		err = writeFile(root, path.Join(environmentTools, name), f, 0o755)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// toolsName names the copies of the installer's programs by what they are.
func toolsName(tools map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if info, err := os.Stat(tools[name]); err == nil {
			fmt.Fprintf(h, "%q %q %d %d\n", name, tools[name], info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("installer-%x", h.Sum(nil)[:8])
}

// installTempBytes is the disk of the installer beside the environment itself.
const installTempBytes = 64 << 20

// notInstallable turns what cannot be enforced into the caller's error.
func notInstallable(err error) error {
	var unsupported *sandbox.UnsupportedError
	if errors.As(err, &unsupported) || networkFault(err) != nil { // the network is the installer's, not the caller's
		return &InputError{Kind: InputUnsupported, Field: "/requirements", Detail: "packages cannot be installed here: " + err.Error()}
	}
	return fmt.Errorf("create the container of the installer: %w", err)
}

// environmentMount is where the run phase has its packages, read-only.
func (r *run) environmentMount(ctx context.Context) (sandbox.Mount, error) {
	cache, key := r.e.environments(), r.packages.Key
	bytes, err := cache.bytes(key)
	if err != nil {
		return sandbox.Mount{}, fmt.Errorf("look at the packages: %w", err)
	}
	return r.dirMount(ctx, keptForDays(key, bytes), filepath.Join(cache.path(key), environmentContent), packages.Dir)
}

// keptForDays is what a runtime keeps as long as an environment is.
func keptForDays(name string, bytes int64) sandbox.KeptDir {
	return sandbox.KeptDir{Name: name, Bytes: bytes, Lifetime: unusedEnvironment}
}

// environmentPython is the interpreter of an environment: by its name Python
// finds what is installed there (PEP 405).
const environmentPython = packages.Dir + "/bin/python3"

// installer says of a failed install phase what the installer said.
type installer struct{ language.Language }

// Diagnose implements [language.Language].
func (installer) Diagnose(_, stderr string) language.Diagnosis {
	return language.Diagnosis{Reason: shortReason(packages.Reason(stderr)), DiskFull: strings.Contains(stderr, "No space left on device")}
}

// copyEnvironment copies the files of an environment out of its container, which
// runs nothing any more, and completes it with what is ours to say: where its
// interpreter is. Links do not make it larger than its disk was.
func copyEnvironment(build sandbox.FileTree, root *os.Root, tc language.Toolchain, most int64) error {
	if err := makeDir(root, path.Join(environmentContent, "bin")); err != nil {
		return err
	}
	total := int64(0)
	err := walkMade(build, packages.EnvironmentDir, most, func(name string, info sandbox.FileInfo) error {
		if ownNames[name] {
			return nil
		}
		total += onDisk(info.Size)
		target := path.Join(environmentContent, name)
		if info.Mode.IsDir() {
			return makeDir(root, target)
		}
		return copyFile(build, info, root, target)
	})
	if err != nil {
		return err
	}
	config := fmt.Sprintf("home = %s\ninclude-system-site-packages = false\nversion = %s\n", path.Dir(tc.Program), tc.Version)
	return errors.Join(
		writeFile(root, path.Join(environmentContent, "pyvenv.cfg"), strings.NewReader(config), 0o644),
		root.Symlink(tc.Program, path.Join(environmentContent, "bin", "python3")),
		root.Symlink("python3", path.Join(environmentContent, "bin", "python")),
		root.Symlink("lib", path.Join(environmentContent, "lib64")),
		writeFile(root, environmentSize, strings.NewReader(strconv.FormatInt(total, 10)), 0o600),
	)
}

// onDisk is what a file of so many bytes takes with its name, at least: so that many small
// ones are bounded, too.
func onDisk(bytes int64) int64 {
	const page = 4096
	return page + (bytes+page-1)/page*page
}

// ownNames are not taken from an installer: a package could have put them there.
var ownNames = map[string]bool{"pyvenv.cfg": true, "bin/python": true, "bin/python3": true, "lib64": true}

func makeDir(root *os.Root, name string) error {
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		if err := root.Mkdir(name[:i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := root.Chmod(name[:i], 0o755); err != nil { // past the umask
			return err
		}
	}
	return nil
}

func copyFile(from sandbox.FileTree, info sandbox.FileInfo, root *os.Root, target string) error {
	f, err := from.Open(info.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	mode := os.FileMode(0o644)
	if info.Mode&0o100 != 0 {
		mode = 0o755
	}
	return writeFile(root, target, io.LimitReader(f, info.Size), mode) // what was counted, whoever has the file
}

func writeFile(root *os.Root, name string, content io.Reader, mode os.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Chmod(mode), f.Close()) // past the umask
}

// environments are the installed packages in a data directory, each under its
// key. A run holds a shared lock of the one that it uses; what nobody holds may
// be removed.
type environments struct{ dir string }

func (e *Executor) environments() environments {
	return environments{filepath.Join(e.cfg.DataDir, "cache", "packages")}
}

const (
	// environmentContent is what runs see of an entry, environmentSize what it takes
	// on the disk, bytes in decimal.
	environmentContent = "venv"
	environmentSize    = "size"
	// environmentTools is there while it is made.
	environmentTools = "tools"
	// maxEnvironmentBytes bounds them all together.
	maxEnvironmentBytes = 5 << 30
	// unusedEnvironment is the age from which no key leads to an entry: keys hold
	// the day.
	unusedEnvironment = 48 * time.Hour
	unfinished        = "tmp-"
	lockPrefix        = "lock-"
)

func (c environments) path(key string) string { return filepath.Join(c.dir, key) }

// bytes is what an entry takes on the disk.
func (c environments) bytes(key string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(c.path(key), environmentSize))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// change does something in the directory, and never outside.
func (c environments) change(do func(*os.Root) error) error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// remove takes away first what says that an entry is whole: who is killed on the way leaves
// nothing that is taken for one.
func (c environments) remove(name string) error {
	return c.change(func(root *os.Root) error {
		if err := root.RemoveAll(name + "/" + environmentSize); err != nil {
			return err
		}
		return root.RemoveAll(name)
	})
}

// hold keeps an entry from being removed, and marks it as used.
func (c environments) hold(key string) (release func(), err error) {
	if release, err = lockDir(c.path(key), false); err != nil {
		return nil, err
	}
	if !exists(filepath.Join(c.path(key), environmentSize)) { // it was removed half
		release()
		return nil, os.ErrNotExist
	}
	now := time.Now()
	_ = c.change(func(root *os.Root) error { return root.Chtimes(key, now, now) }) // else it is removed sooner
	return release, nil
}

// lock makes sure that an entry is made once. Entries share a few locks, so that
// no file stays behind for each.
func (c environments) lock(ctx context.Context, key string) (unlock func(), err error) {
	// Programs with a user id of their own pass through, where the data directory
	// lets them: at isolation restricted nothing can be mounted. What else is there
	// Landlock closes.
	if err := os.MkdirAll(c.dir, 0o711); err != nil {
		return nil, noDataDir(err)
	}
	return lockFile(ctx, filepath.Join(c.dir, lockPrefix+key[len(key)-2:]))
}

// begin makes the directory of an entry to come. Who removes those of the dead may be
// faster than its lock: then it is another one.
func (c environments) begin() (dir string, discard func(), err error) {
	if dir, err = os.MkdirTemp(c.dir, unfinished); err != nil {
		return "", nil, fmt.Errorf("make the cache directory: %w", err)
	}
	fault.Point("environment begun")
	unlock, err := lockDir(dir, false)
	if errors.Is(err, lockfile.ErrHeld) || errors.Is(err, fs.ErrNotExist) {
		return c.begin()
	}
	if err == nil {
		err = c.change(func(root *os.Root) error { return root.Chmod(filepath.Base(dir), 0o711) })
	}
	if err != nil {
		_ = c.remove(filepath.Base(dir))
		return "", nil, err
	}
	return dir, func() { unlock(); _ = c.remove(filepath.Base(dir)) }, nil // gc does what fails here
}

// promote gives an entry that is on the disk its name, from when on it is used and not
// written any more, and makes room for it.
func (c environments) promote(dir, key string) error {
	err := errors.Join(c.remove(key), c.change(func(root *os.Root) error {
		if err := lockfile.SyncDisk(root); err != nil {
			return err
		}
		return root.Rename(filepath.Base(dir), key)
	}))
	if err != nil {
		return fmt.Errorf("keep the packages: %w", err)
	}
	_, _ = c.prune(key) // gc says what is in the way
	return nil
}
