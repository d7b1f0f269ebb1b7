package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtime implements [sandbox.Runtime] with an OCI runtime.
type Runtime struct {
	flavour  flavour
	instance *instance.Instance
	held     []*os.File // which tell that the owner of our control groups lives
	spawner  *spawn.Server
	ids      *instance.IDs
	state    string // where the OCI runtime keeps what it knows of containers
	host     host
	filters  filters
	outlets  outlet.Maker
	images   rootfs.Images
	serial   atomic.Int64
	verdict  func() advisory.Verdict // on the versions of what a container is made of
	strict   bool                    // a known hole is refused

	alive     alive.List[*guest.Container]
	leftovers atomic.Bool // a container was not removed whole
}

// New starts the runtime. It takes an instance number, and reclaims what dead
// instances have left.
func New(opts Options) (*Runtime, error) {
	if os.Geteuid() != 0 {
		return nil, &sandbox.UnsupportedError{What: "runtime oci", Reason: "it needs root, to give each container user ids of its own", Mend: "Use --runtime local, which needs none"}
	}
	f, err := findFlavour(opts)
	if err != nil {
		return nil, err
	}
	dir := opts.RuntimeDir
	if dir == "" {
		dir = instance.DefaultDir()
	}
	verdict := sync.OnceValue(func() advisory.Verdict { return f.judge(context.Background()) })
	if opts.StrictVersions {
		if err := verdict().Refuse(false); err != nil {
			return nil, err
		}
	}
	r := &Runtime{flavour: f, host: lookAtHost(), verdict: verdict, strict: opts.StrictVersions, outlets: outlet.Maker{Options: outlet.Options{Resolver: opts.Resolver, Proxy: opts.Proxy}}}
	r.images.Dir, r.images.Pull, r.images.Notify = opts.ImageDir, opts.PullImages, opts.Notify
	if r.instance, err = instance.New(dir, runtimeName, nil); err != nil {
		return nil, err
	}
	r.filters = newFilters(r.host.filterOptions(), func() bool { return takesProgram(verdict()) })
	r.ids = instance.NewIDs(r.instance.Number)
	r.state = filepath.Join(r.instance.Dir, stateDir)
	r.held = holdName(r.instance.Name)
	if r.spawner, err = spawn.Start(); err == nil {
		err = r.instance.MakeDir()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(r.instance.Dir, initFile), spawn.InitProgram(), 0o755)
	}
	if err != nil {
		r.free()
		return nil, err
	}
	_, _ = reclaim(f, dir) // no reason to run nothing: the next start tries again
	go verdict()           // beside the first container; free waits for it
	return r, nil
}

// stateDir is where a runtime keeps its state, below the instance's directory.
const stateDir = "state"

func (r *Runtime) free() error {
	r.verdict()
	var err error
	if r.spawner != nil {
		err = r.spawner.Close()
	}
	for _, f := range r.held {
		f.Close()
	}
	r.instance.Release(r.leftovers.Load())
	return errors.Join(err, r.images.Close())
}

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return runtimeName }

const runtimeName = "oci"

// Image implements [sandbox.Runtime].
func (r *Runtime) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	return r.images.Look(ctx, spec.Image)
}

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	spec.Network = spec.Network.Normal()
	if err := r.check(ctx, spec); err != nil {
		return nil, err
	}
	if r.strict {
		if err := r.verdict().Refuse(spec.Image != ""); err != nil {
			return nil, err
		}
	}
	b := &bundle{id: fmt.Sprintf("%s-%d", r.instance.Name, r.serial.Add(1)), flavour: r.flavour, spec: spec, host: r.host, filters: r.filters, makesTime: func() bool { return makesTime(r.verdict()) }}
	b.dir = filepath.Join(r.instance.Dir, b.id)
	var err error
	if b.image, err = r.images.Acquire(ctx, spec.Image, spec.Digest); err != nil {
		return nil, err
	}
	if b.uid, err = r.ids.Take(); err != nil {
		b.image.Close()
		return nil, err
	}
	c, err := r.create(ctx, b)
	if err != nil {
		b.image.Close()
		return nil, errors.Join(err, instance.RemoveTree(b.dir))
	}
	if err := r.alive.Add(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// check refuses what this runtime cannot do.
func (r *Runtime) check(ctx context.Context, spec sandbox.Spec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	unsupported := func(what, reason, mend string) error {
		return &sandbox.UnsupportedError{What: what, Reason: reason, Mend: mend}
	}
	switch {
	case spec.Level == sandbox.LevelRestricted, spec.Level == sandbox.LevelNone:
		return unsupported("isolation "+string(spec.Level), "containers of an OCI runtime have every wall", "Use --runtime local")
	case spec.WorkspaceOnDisk:
		return unsupported("a workspace on disk", "this runtime keeps it in memory", "Use --runtime local")
	case spec.Network.LeadsOut():
		if err := r.canLeadOut(); err != nil {
			return unsupported("network "+string(spec.Network.Mode), err.Error(), "Use --runtime local")
		}
	}
	return nil
}

// create makes the container; its error leaves nothing running.
func (r *Runtime) create(ctx context.Context, b *bundle) (*guest.Container, error) {
	defer b.joined()
	conn, pid, err := r.begin(b)
	if err != nil {
		b.outlet.Close()
		r.ids.Give(b.uid)
		return nil, err
	}
	running := &engine{r: r, b: b, conn: conn, exited: make(chan struct{})}
	go running.wait(pid)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	trees := []string{sandbox.WorkspaceDir}
	if b.spec.BuildDisk.Bytes > 0 {
		trees = append(trees, sandbox.BuildDir)
	}
	opts := guest.Options{
		ID: b.id, Isolation: r.isolation(b), Arch: runtime.GOARCH, Trees: trees, Layers: b.links,
		Network: b.spec.Network, Connect: b.connect(), Filter: b.host.filterOptions(),
		Ended: running.ended, Remove: running.remove,
	}
	if r.flavour.ownKernel {
		opts.CgroupDir = cgroupDir
	} else {
		opts.ReadGroups, opts.OwnLimit, opts.SetLimits, opts.Lift, opts.Hurry = b.readGroups, true, running.setLimits, running.lift, running.hurry
	}
	c, err := guest.New(conn, opts)
	if !stop() { // the connection is closed, or will be
		err = ctx.Err()
	} else if err != nil {
		err = running.whyNot(err)
	}
	if err != nil {
		return nil, errors.Join(err, running.remove(context.WithoutCancel(ctx)))
	}
	fault.Point("guest made")
	running.container = c
	if !r.flavour.ownKernel {
		running.init = b.onlyProcess()
	}
	return c, nil
}

// begin makes what a container consists of, and starts the OCI runtime on it.
func (r *Runtime) begin(b *bundle) (*pipes, int, error) {
	if err := r.openUser(b); err != nil {
		return nil, 0, err
	}
	if err := r.openNetwork(b); err != nil {
		return nil, 0, err
	}
	if err := b.write(); err != nil {
		return nil, 0, fmt.Errorf("write the bundle: %w", err)
	}
	fault.Point("bundle written")
	return r.launch(b)
}

// engine is the OCI runtime of one container.
type engine struct {
	r         *Runtime
	b         *bundle
	conn      *pipes
	exited    chan struct{} // closed when the runtime's process has, with status
	status    spawn.WaitStatus
	limits    atomic.Pointer[limits]
	init      int // its pid on this machine, or 0
	container *guest.Container
}

// limits are those of a process, and how many OOM kills the machine had when they came.
type limits struct {
	sandbox.Limits
	before int64
}

// whyNot says why a container did not start, in the runtime's own words.
func (e *engine) whyNot(err error) error {
	_ = e.conn.Close()
	select {
	case <-e.conn.silent:
	case <-time.After(time.Second):
	}
	if words := e.conn.words.LastLine(); words != "" {
		return fmt.Errorf("%s: %s", e.r.flavour.name, words)
	}
	return fmt.Errorf("%s: %w", e.r.flavour.name, err)
}

// wait waits for the end of the runtime's process, which is that of the container.
func (e *engine) wait(pid int) {
	defer close(e.exited)
	if exit, err := e.r.spawner.Wait(pid); err == nil {
		e.status = exit.Status
	}
}

// killed is the code with which a runtime passes on that init was killed.
const killed = 128 + 9

// ended tells how it looks when init has ended by itself. It is the first process
// of its namespace, so whatever ended it has ended the program, too; and nothing
// inside can kill it but the kernel, when there is no memory left and everything else in
// the container is smaller. Who is outside can: its groups, which would tell, are gone by
// now, but where the kernel has killed nobody on this machine, it was not for memory.
func (e *engine) ended() (sandbox.Exit, error) {
	select {
	case <-e.exited:
	case <-time.After(removeTimeout):
	}
	select {
	case <-e.exited:
		l := e.limits.Load()
		if l == nil { // nothing was to run yet
			l = &limits{before: unknown}
		}
		if e.status.ExitStatus() == killed && e.b.host.oomKills() == l.before && l.before != unknown {
			return sandbox.Exit{}, errKilled{}
		}
		if e.status.ExitStatus() == killed && l.MemoryBytes > 0 {
			return sandbox.Exit{Code: killed, Signal: killed - 128, OOMKills: 1}, nil
		}
	default:
	}
	if words := e.conn.words.LastLine(); words != "" {
		return sandbox.Exit{}, fmt.Errorf("the container has ended: %s", words)
	}
	return sandbox.Exit{}, errors.New("the container has ended")
}

// errKilled is that somebody outside has killed init: no fault of the program's, and worth
// another try.
type errKilled struct{}

func (errKilled) Error() string { return "the container was killed from outside" }

// Is matches [unix.EAGAIN], by which callers know what to try again.
func (errKilled) Is(target error) bool { return target == unix.EAGAIN }

// removeTimeout is how long a container may take to end once its init has.
const removeTimeout = 5 * time.Second

// remove ends the container and frees what it had.
func (e *engine) remove(ctx context.Context) error {
	_ = e.conn.Close()
	var err error
	select {
	case <-e.exited:
	case <-time.After(removeTimeout):
		// A runtime that hangs does not heed its own command either.
		_ = e.r.flavour.delete(ctx, e.r.state, e.b.id)
		err = killBundle(e.b.dir)
		<-e.exited
	}
	fault.Point("guest ended")
	err = errors.Join(err, removeGroups(e.b.id), instance.RemoveTree(e.b.dir))
	fault.Point("bundle removed")
	e.b.outlet.Close()
	e.b.image.Close()
	e.r.ids.Give(e.b.uid)
	e.r.alive.Forget(e.container)
	if err != nil {
		e.r.leftovers.Store(true)
	}
	return err
}

// isolation is what stands around every container.
func (r *Runtime) isolation(b *bundle) sandbox.Isolation {
	held, kernel := api.Enforced, api.Absent
	var warnings []string
	if r.flavour.ownKernel {
		held, kernel = api.Absent, api.Enforced
		warnings = []string{"limits: memory, cpu, cpu_time, processes are absent; control groups hold the process of " + r.flavour.name + ", and not the program"}
	}
	i := sandbox.Isolation{
		Level: sandbox.LevelFull,
		Mechanisms: map[string]string{
			"kernel":     kernel,
			"namespaces": api.Enforced, "root": api.Enforced, "seccomp": api.Enforced, "landlock": api.Absent,
			"uid": api.Enforced, "signals": api.Enforced, "devices": api.Enforced, "network": api.Enforced, "cgroup": held,
		},
		Limits: map[string]string{
			sandbox.LimitWallTime: api.Enforced, sandbox.LimitOpenFiles: api.Enforced, sandbox.LimitDisk: api.Enforced, sandbox.LimitInodes: api.Enforced,
			sandbox.LimitMemory: held, sandbox.LimitCPUs: held, sandbox.LimitCPUTime: held, sandbox.LimitProcesses: held,
		},
		Warnings: warnings,
	}
	if !r.flavour.ownKernel && r.host.swapsBeside() {
		i.Limits[sandbox.LimitMemory] = api.Degraded
		i.Warnings = append(i.Warnings, "limits: memory is degraded; this kernel does not account for swap, so that programs may have as much of it as there is ("+cgroup.MendSwap+")")
	}
	i.Warnings = append(i.Warnings, r.verdict().Warnings(b.spec.Image != "")...)
	r.outlets.Degrade(&i, b.outlet)
	return i
}

// Probe implements [sandbox.Runtime]: it makes a container rather than asks whether
// it may.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	c, err := r.Create(ctx, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		return sandbox.Capabilities{}, err
	}
	if err := c.Delete(ctx); err != nil {
		return sandbox.Capabilities{}, err
	}
	caps := sandbox.Capabilities{
		Runtime: r.Name(), TTY: true,
		Levels:   []sandbox.Level{sandbox.LevelFull},
		Networks: r.networks(),
	}
	caps.Mechanisms = append(r.mechanisms(c.Isolation()), r.verdict().Mechanism())
	return caps, nil
}

// mechanisms are the walls and limits, in words.
func (r *Runtime) mechanisms(i sandbox.Isolation) (list []sandbox.Mechanism) {
	by := ", by control groups that " + r.flavour.program + " has made"
	add := func(name, state, detail string) {
		list = append(list, sandbox.Mechanism{Name: name, State: state, Detail: detail})
	}
	if r.flavour.ownKernel {
		add("kernel", i.Mechanisms["kernel"], "the program's system calls are gVisor's to answer, and not this kernel's")
		by = "; the control groups are those of the process that holds all of a container"
	}
	network := sandbox.Mechanism{State: i.Mechanisms["network"], Detail: "none, or a loopback of its own; nothing leads out"}
	if !r.flavour.ownKernel {
		network = r.outlets.Mechanism()
	}
	for _, wall := range []struct{ name, detail string }{
		{"namespaces", "mount, pid, net, ipc, uts, cgroup, user; made by " + r.flavour.program},
		{"root", "an overlay over read-only toolchains, tmpfs for what is written"},
		{"seccomp", r.flavour.filtered()},
		{"landlock", "not used: the root holds nothing else"},
		{"uid", "user ids of its own for each container"},
		{"signals", "reach nothing outside"},
		{"devices", "device nodes of its own"},
		{"cgroup", "one for each container" + by},
	} {
		add(wall.name, i.Mechanisms[wall.name], wall.detail)
	}
	network.Name = "network"
	list = append(list, network)
	list = append(list, memoryRow(i.Limits[sandbox.LimitMemory], by))
	for _, limit := range []struct{ name, detail string }{
		{sandbox.LimitCPUs, "cores' worth of time" + by},
		{sandbox.LimitCPUTime, "the clock of the control group"},
		{sandbox.LimitProcesses, "processes and threads" + by},
		{sandbox.LimitDisk, "size and inodes of a tmpfs"},
		{sandbox.LimitWallTime, "our clock, then SIGTERM, then SIGKILL to everything"},
		{sandbox.LimitOpenFiles, "RLIMIT_NOFILE"},
	} {
		add("limit:"+limit.name, i.Limits[limit.name], limit.detail)
	}
	return list
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	return errors.Join(r.alive.Close(context.Background()), r.free())
}

// Reclaim frees what processes that died have left. It returns a line for each
// thing that it removed.
func Reclaim(opts Options) ([]string, error) {
	f, err := findFlavour(opts)
	if err != nil {
		f = flavour{} // there was one, if anything is left
	}
	dir := opts.RuntimeDir
	if dir == "" {
		dir = instance.DefaultDir()
	}
	removed, err := reclaim(f, dir)
	more, moreErr := reclaimForgotten(f, dir)
	return append(removed, more...), errors.Join(err, moreErr)
}

func reclaim(f flavour, dir string) (removed []string, err error) {
	err = instance.Dead(dir, runtimeName, func(rec instance.Record) error {
		for _, d := range rec.Dirs {
			lines, err := reclaimDir(f, d, rec.Name)
			removed = append(removed, lines...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return removed, err
}

// reclaimDir removes the containers of a dead instance, and its directory.
func reclaimDir(f flavour, dir, name string) (removed []string, err error) {
	ids, err := containersOf(dir, name)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		// It may have been another runtime's, or one that is not here any more: then this
		// one does not know it, which is no error.
		if f.program != "" {
			_ = f.delete(context.Background(), filepath.Join(dir, stateDir), id)
		}
		if err := errors.Join(killBundle(filepath.Join(dir, id)), removeGroups(id)); err != nil {
			return removed, err
		}
		removed = append(removed, "container "+id)
		fault.Point("guest reclaimed")
	}
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return removed, nil
	}
	if err := instance.RemoveTree(dir); err != nil {
		return removed, err
	}
	return append(removed, dir), nil
}
