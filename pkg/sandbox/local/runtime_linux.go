package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/notify"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtime implements [sandbox.Runtime] with this machine's kernel.
type Runtime struct {
	options  Options
	host     host
	instance *instance.Instance
	ids      *instance.IDs
	images   rootfs.Images
	// unreclaimed is why something that a dead instance has left is still there.
	unreclaimed error
	serial      atomic.Int64
	filters     sync.Map         // seccomp.Options → []byte
	verdict     advisory.Verdict // on the kernel's version

	alive    alive.List[*container]
	networks emptyNetworks
	etc      commonEtc
	recovery
	attendant attendant

	// uncounted is why the memory of TCP sockets cannot be counted; the first container
	// that needs it finds out.
	uncounted    error
	uncountedSet sync.Once

	mu sync.Mutex // guards the fields below
	// fullWorks is set by the first container at full. From then on a failure
	// is a failure and no reason to be content with less.
	fullWorks bool
	// redirects is what the first container whose network leads out has told of
	// this kernel, and whyNoRedirect what it failed with.
	redirects     redirection
	whyNoRedirect error
	leftovers     bool // a container was not removed whole
}

// New starts the runtime. It takes an instance number, and reclaims what dead
// instances have left.
func New(opts Options) (*Runtime, error) {
	dir := opts.RuntimeDir
	if dir == "" {
		dir = instance.DefaultDir()
	}
	r := &Runtime{options: opts, verdict: advisory.Judge(advisory.ThisKernel())}
	if err := r.verdict.Refuse(true); opts.StrictVersions && err != nil {
		return nil, err
	}
	r.images.Dir, r.images.Pull, r.images.Notify = opts.ImageDir, opts.PullImages, opts.Notify
	var spawnErr error
	var spawner sync.WaitGroup
	r.host = inspectHost(opts) // may move us to another group, and what we start with us
	spawner.Go(func() { r.spawner, spawnErr = startSpawner() })
	err := r.takeInstance(dir)
	spawner.Wait()
	fault.Point("spawner started")
	if opts.Many && err == nil {
		r.etc.prepare(r.instance)
	}
	if err = errors.Join(err, spawnErr); err != nil {
		r.free()
		return nil, err
	}
	return r, nil
}

func (r *Runtime) takeInstance(dir string) (err error) {
	var groups []string
	if r.host.cgroups != nil {
		groups = r.host.cgroups.Places()
	}
	if r.instance, err = instance.New(dir, runtimeName, groups); err != nil {
		return err
	}
	if r.host.cgroups != nil {
		// Without it a group that no process is in yet may be taken for a dead one's, by
		// who does not see our file: no reason to run nothing.
		_ = r.host.cgroups.HoldName(r.instance.Name)
	}
	r.ids = instance.NewIDs(r.instance.Number)
	_, r.unreclaimed = r.reclaim(dir) // no reason to run nothing: the next start tries again
	return nil
}

// free gives back what New took.
func (r *Runtime) free() error {
	var err error
	r.attendant.close()
	var spawner sync.WaitGroup
	if r.spawner != nil {
		spawner.Go(func() { err = r.spawner.Close() })
	}
	if r.host.cgroups != nil {
		r.host.cgroups.Close()
	}
	fault.Point("control groups closed")
	if r.instance != nil {
		r.instance.Release(r.leftovers)
	}
	spawner.Wait()
	return errors.Join(err, r.images.Close())
}

// initName is what ps shows for the spawner and every init.
const initName = "sandbox-init"

// startSpawner starts the spawner and makes it the reaper of whatever loses its
// parent below it.
func startSpawner() (*spawn.Server, error) {
	s, err := spawn.Start()
	if err != nil {
		return nil, err
	}
	var p spawn.Program
	p.Call("prctl PR_SET_CHILD_SUBREAPER", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_CHILD_SUBREAPER), spawn.Value(1))
	p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(0))
	p.Call("prctl PR_SET_NAME", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_NAME), p.String(initName))
	if _, err := s.Do(&p); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return runtimeName }

const runtimeName = "local"

// Image implements [sandbox.Runtime].
func (r *Runtime) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	return r.images.Look(ctx, spec.Image)
}

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	spec.Network = spec.Network.Normal()
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	c, err := r.createWithImage(ctx, spec)
	if err != nil {
		return nil, err
	}
	c.isolation.Warnings = append(r.verdict.Warnings(spec.Image != ""), c.isolation.Warnings...)
	if r.unreclaimed != nil {
		c.isolation.Warnings = append(c.isolation.Warnings, fmt.Sprintf("something of sandboxes before was left behind; sandbox-run gc removes it: %v", r.unreclaimed))
	}
	if err := r.alive.Add(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// createWithImage holds the image of a container, if it has one, while that lives.
func (r *Runtime) createWithImage(ctx context.Context, spec sandbox.Spec) (*container, error) {
	if spec.Image != "" && (spec.Level == sandbox.LevelRestricted || spec.Level == sandbox.LevelNone) {
		return nil, noImage(spec, "isolation "+string(spec.Level)+" has the host's root, and an image needs one of its own", "Ask for isolation full")
	}
	image, err := r.images.Acquire(ctx, spec.Image, spec.Digest)
	if err != nil {
		return nil, err
	}
	c, err := r.create(spec, image)
	if err != nil {
		image.Close()
		return nil, err
	}
	c.image = image
	return c, nil
}

// noImage says why a container cannot have an image.
func noImage(spec sandbox.Spec, reason, mend string) error {
	return &sandbox.UnsupportedError{What: "the image " + spec.Image, Reason: reason, Mend: mend}
}

func (r *Runtime) create(spec sandbox.Spec, image *rootfs.Image) (*container, error) {
	switch spec.Level {
	case sandbox.LevelNone:
		return r.createOutside(spec, wallsNone, nil)
	case sandbox.LevelRestricted:
		return r.createOutside(spec, wallsRestricted, nil)
	}
	c, err := r.createFull(spec, image)
	fullWorks := r.noteFull(err == nil)
	switch {
	case err == nil:
		c.isolation = r.isolation(c)
		return c, nil
	case !refusal(err) || fullWorks:
		return nil, err
	case spec.Level == sandbox.LevelFull:
		return nil, &sandbox.UnsupportedError{What: "isolation full", Reason: err.Error(), Mend: r.host.mendNamespaces()}
	case image != nil:
		return nil, noImage(spec, "it needs isolation full, which fails: "+err.Error(), r.host.mendNamespaces())
	default:
		return r.createOutside(spec, wallsRestricted, err)
	}
}

// noteFull remembers that a container at full worked, and tells whether one ever
// did.
func (r *Runtime) noteFull(worked bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fullWorks = r.fullWorks || worked
	return r.fullWorks
}

// refusal tells a host that does not let us from a failure. ENOSPC is the answer
// of a user namespace limit, ENODEV and EINVAL those of a kernel without
// overlays (or without them in user namespaces).
func refusal(err error) bool {
	for _, errno := range []error{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ENODEV, unix.ENOSPC} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// forget takes a deleted container off the list. What it could not remove is
// left to whoever reclaims what this process has left.
func (r *Runtime) forget(c *container, err error) {
	r.alive.Forget(c)
	r.tryAgain(c.undone...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftovers = r.leftovers || err != nil
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	err := r.alive.Close(context.Background())
	r.tries.Wait()
	r.networks.close()
	return errors.Join(err, r.free())
}

// createFull makes a container with every wall. The first one whose network
// leads out tells whether this kernel can redirect connections.
func (r *Runtime) createFull(spec sandbox.Spec, image *rootfs.Image) (*container, error) {
	if !spec.Network.LeadsOut() {
		return r.makeFull(spec, image, false)
	}
	c, err := r.makeFull(spec, image, r.mayRedirect())
	var no *outlet.NoRedirectError
	switch {
	case err == nil && c.network.Redirects():
		r.noteRedirection(redirectWorks, nil)
	case errors.As(err, &no):
		r.noteRedirection(redirectAbsent, no)
		if !r.mayRedirect() {
			return r.makeFull(spec, image, false)
		}
	}
	return c, err
}

func (r *Runtime) mayRedirect() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.redirects != redirectAbsent
}

// noteRedirection remembers what was found out first: once connections were
// redirected, a failure is a failure and no reason to be content with less.
func (r *Runtime) noteRedirection(found redirection, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.redirects == redirectUnknown {
		r.redirects, r.whyNoRedirect = found, why
	}
}

// isolation is what stands around a container at full.
func (r *Runtime) isolation(c *container) sandbox.Isolation {
	i := r.host.isolationFull()
	if uncounted := r.tcpWarning(c.tcp); uncounted != "" {
		i.Limits[sandbox.LimitMemory] = api.Degraded
		i.Warnings = append(i.Warnings, uncounted)
	}
	if c.network != nil && !c.network.Redirects() {
		r.mu.Lock()
		defer r.mu.Unlock()
		i.Mechanisms["network"] = api.Degraded
		i.Warnings = append(i.Warnings, c.network.Warnings(r.whyNoRedirect)...)
	}
	return i
}

// supervises tells whether programs with a network have a filter that asks us.
func (c *container) supervises(network sandbox.NetworkPolicy) bool {
	if !c.walls.seccomp || !network.LeadsOut() {
		return false
	}
	_, err := notify.FilterFlags()
	return err == nil
}

// filter is the seccomp program for a program of the container that has a
// network.
func (c *container) filter(network sandbox.NetworkPolicy) ([]byte, error) {
	if !c.walls.seccomp {
		return nil, nil
	}
	opts := c.filterOptions(network)
	if f, ok := c.rt.filters.Load(opts); ok {
		return f.([]byte), nil
	}
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	program, err := seccomp.Compile(seccomp.Default(opts), arch)
	if err != nil {
		return nil, fmt.Errorf("compile the seccomp filter: %w", err)
	}
	f := seccomp.Marshal(program)
	c.rt.filters.Store(opts, f)
	return f, nil
}

// filterOptions are what the filter knows of what else stands around a program.
func (c *container) filterOptions(network sandbox.NetworkPolicy) seccomp.Options {
	inet := network.Mode != sandbox.NetworkNone
	return seccomp.Options{
		Inet:                inet,
		Supervised:          c.supervises(network),
		NoUDP:               inet && c.rt.host.tameLoopback,
		Restricted:          !c.walls.namespaces,
		Attributes:          c.attributes,
		TruncationUnwatched: !c.walls.namespaces && c.rt.host.landlockABI < landlockTruncation,
		AllowAffinity:       c.rt.host.cpuHeld(),
		OneUser:             !c.identity.root,
		MemorySampled:       !c.rt.host.has(cgroup.Memory),
	}
}

// Reclaim frees what processes that died have left on this machine. It returns
// a line for each thing that it removed.
func Reclaim(opts Options) ([]string, error) {
	dir := opts.RuntimeDir
	if dir == "" {
		dir = instance.DefaultDir()
	}
	r := &Runtime{host: inspectHost(opts)}
	defer r.free()
	var removed []string
	var err error
	if _, gone := os.Lstat(dir); !errors.Is(gone, os.ErrNotExist) {
		if err := instance.PrepareDir(dir); err != nil {
			return nil, err
		}
		removed, err = r.reclaim(dir)
	}
	err = errors.Join(err, instance.ForgottenDirs(dir, func(path, _ string) error {
		removed = append(removed, path)
		return instance.RemoveTree(path)
	}))
	if r.host.cgroups == nil {
		return removed, err
	}
	more, moreErr := r.host.cgroups.ReclaimForgotten(func(group string) string { return instance.Forgotten(dir, group) })
	return append(removed, more...), errors.Join(err, moreErr)
}

func (r *Runtime) reclaim(dir string) (removed []string, err error) {
	err = instance.Dead(dir, runtimeName, func(rec instance.Record) error {
		if r.host.cgroups != nil && rec.Name != "" && rec.BootID == instance.BootID() {
			names, err := r.host.cgroups.Reclaim(rec.Name, rec.Groups...)
			removed = append(removed, names...)
			fault.Point("control groups reclaimed")
			if err != nil {
				return err
			}
		}
		for _, d := range rec.Dirs {
			if _, err := os.Lstat(d); err != nil {
				continue
			}
			if err := instance.RemoveTree(d); err != nil {
				return err
			}
			removed = append(removed, d)
		}
		return nil
	})
	return removed, err
}
