package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// DefaultName is what the image of [Store.BuildDefault] is called. It is made
	// here and in no registry: a name there could be anybody's.
	DefaultName = "sandbox-run/default:latest"
	// DefaultSuite is the release of Debian that it is made of. The Go of the one
	// before, bookworm, is older than what people write today.
	DefaultSuite = "trixie"
	// DefaultPath is where programs are looked for in a root file system that does
	// not say.
	DefaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// DefaultOptions say how the default image is made. What is empty has a default.
type DefaultOptions struct {
	Suite string
	// Mirrors are what mmdebstrap takes for one: URLs, lines of sources.list or
	// files of such lines. The default are Debian's own, with security updates.
	Mirrors []string
	// Log gets what mmdebstrap says.
	Log io.Writer
}

// mmdebstrapGrace is how long mmdebstrap may take to remove what it has made when
// it is called off.
const mmdebstrapGrace = time.Minute

// defaultPackages hold the toolchains of five languages, and what their programs
// expect of a machine.
func defaultPackages() []string {
	return []string{
		"ca-certificates", "tzdata", "python3", "nodejs", "golang-go",
		"rustc", "cargo", "gcc", "libc6-dev", "default-jdk-headless",
	}
}

// defaultExcludes are files of these packages that no program needs, a few hundred
// megabytes.
func defaultExcludes() []string {
	return []string{
		"/usr/share/doc/*", "/usr/share/info/*", "/usr/share/lintian/*", "/usr/share/locale/*",
		"/usr/share/man/*/*",        // the folders stay: a JDK is not configured without them
		"/usr/lib/go-*/pkg/*/cmd/*", // Go's own compiler, as packages
		"/usr/lib/jvm/*/jmods/*",    // what jlink makes runtimes of
		"/usr/bin/*lto-dump*",
	}
}

// BuildDefault makes an image of Debian with the toolchains of five languages: a
// server that has none can run programs in it. The host's mmdebstrap does it,
// which has to be installed; it checks Debian's signatures. It works in the
// directory that TMPDIR names, as root or in a user namespace.
func (s *Store) BuildDefault(ctx context.Context, ref string, o DefaultOptions) (Image, error) {
	if _, err := parse(ref); err != nil {
		return Image{}, err
	}
	program, err := exec.LookPath("mmdebstrap")
	if err != nil {
		return Image{}, errors.New("the default image is made by mmdebstrap, which is not installed: apt-get install -y mmdebstrap")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, mmdebstrapArgs(os.Geteuid() == 0, o)...)
	cmd.Stderr = o.Log
	// It is its children that heed a signal: a terminal sends it to all of them.
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGINT) }
	cmd.WaitDelay = mmdebstrapGrace
	out, err := startCommand(cmd)
	if err != nil {
		return Image{}, err
	}
	img, err := s.ImportTree(ctx, ref, out, Config{Env: []string{DefaultPath}})
	if err != nil {
		cancel()
		err = out.abandon(err)
	}
	return img, err
}

func mmdebstrapArgs(root bool, o DefaultOptions) []string {
	mode := "unshare"
	if root {
		mode = "root"
	}
	args := []string{
		"--mode=" + mode, "--variant=apt", "--format=tar", "--skip=output/dev",
		"--include=" + strings.Join(defaultPackages(), ","),
		`--aptopt=Acquire::Languages "none"`,
	}
	for _, pattern := range defaultExcludes() {
		args = append(args, "--dpkgopt=path-exclude="+pattern)
	}
	return slices.Concat(args, []string{"--", cmp.Or(o.Suite, DefaultSuite), "-"}, o.Mirrors)
}

// commandOutput is what a command prints. Its end is an error when the command has
// failed, so that nobody takes half of an archive for a whole one.
type commandOutput struct {
	out  io.ReadCloser
	wait func() error
	kill func() // what is left of it
	err  error  // of the command, once its output has ended
}

func startCommand(cmd *exec.Cmd) (*commandOutput, error) {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return &commandOutput{out: out, wait: sync.OnceValue(cmd.Wait), kill: func() { _ = signalGroup(cmd, syscall.SIGKILL) }}, nil
}

func (c *commandOutput) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if failed := c.wait(); failed != nil {
		c.err = fmt.Errorf("mmdebstrap has failed, and said why above: %w", failed)
		return n, c.err
	}
	return n, io.EOF
}

// abandon waits for a command that was called off because of err, and returns why
// there is no image: err, unless the command was to blame.
func (c *commandOutput) abandon(err error) error {
	c.out.Close()
	failed := c.wait()
	if c.err != nil {
		return c.err
	}
	if errors.Is(failed, exec.ErrWaitDelay) {
		c.kill()
		return errors.Join(err, fmt.Errorf("mmdebstrap did not clean up within %v; its directory is in $TMPDIR or /tmp", mmdebstrapGrace))
	}
	return err
}
