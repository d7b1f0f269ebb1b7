package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/netns"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/internal/stdio"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// create makes and starts a container, and takes over its first process.
func (r *Runtime) create(ctx context.Context, spec sandbox.Spec, img image) (*guest.Container, error) {
	e := &engine{r: r}
	if err := e.create(ctx, spec, img); err != nil {
		return nil, err
	}
	c, err := e.open(ctx, spec, img)
	if err != nil {
		if ctx.Err() != nil { // which closes the connection, and so looks like many things
			err = ctx.Err()
		}
		return nil, errors.Join(err, e.remove(ctx))
	}
	e.container = c
	return c, nil
}

// open starts a container that was made. What it leaves when it fails goes with that.
func (e *engine) open(ctx context.Context, spec sandbox.Spec, img image) (*guest.Container, error) {
	conn, err := e.start(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := e.openNetwork(ctx, spec.Network); err != nil {
		_ = conn.Close() // nothing was sent
		return nil, err
	}
	isolation := e.r.isolation()
	e.degrade(&isolation)
	e.trees = append([]string{sandbox.WorkspaceDir, sandbox.TempDir, sharedMemory}, writable(spec, img)...)
	if spec.BuildDisk.Bytes > 0 {
		e.trees = append(e.trees, sandbox.BuildDir)
	}
	c, err := guest.New(conn, guest.Options{
		ID: e.id[:12], Isolation: isolation, Arch: runtime.GOARCH, Trees: e.trees, Layers: img.layers, CgroupDir: "/sys/fs/cgroup", OwnLimit: e.r.ownLimit(),
		Network: spec.Network, Connect: e.way.connect(), Environment: e.r.resolving(spec.Network), Filter: e.r.info.filterOptions(),
		MayStart: e.r.mayHold, SetLimits: e.limitSetter(), Hurry: e.hurry, Ended: e.ended, Remove: e.remove,
	})
	if err != nil {
		_ = conn.Close() // it may be closed
		if words := e.words.String(); words != "" {
			err = errors.New(words)
		}
		return nil, e.r.failed("start the container's init", err)
	}
	if !stop() { // the connection is closed, or will be
		return nil, ctx.Err()
	}
	return c, nil
}

// config is what runs in a container. Nothing of it is left to the image, which not
// every engine gives what it was told to keep.
func config(img image) *container.Config {
	return &container.Config{
		Image: img.name, Hostname: sandbox.Hostname, WorkingDir: "/",
		Entrypoint: append([]string{initPath}, spawn.StreamArgs[1:]...), Cmd: []string{},
		User:        fmt.Sprintf("%d:%[1]d", sandbox.UserID),
		AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true,
		StdinOnce:   true, // init ends when its client is gone, and all that it holds with it
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{labelOurs: "run"},
	}
}

// create makes a container, which does not run yet.
func (e *engine) create(ctx context.Context, spec sandbox.Spec, img image) error {
	filter, done, err := e.r.filterOption(spec.Network)
	if err != nil {
		return err
	}
	defer done()
	around := e.r.hostConfig(spec, img)
	if filter != "" {
		around.SecurityOpt = append(around.SecurityOpt, filter)
	}
	e.id, err = e.r.newContainer(ctx, client.ContainerCreateOptions{Config: config(img), HostConfig: around})
	if e.r.cannotFilter(filter, err) {
		return e.create(ctx, spec, img)
	}
	return err
}

// patience is how long an engine may take to make or to remove a container once nobody
// waits for it.
const patience = time.Minute

// newContainer makes a container. The engine goes on with one whose client has hung up, and
// nobody would know that there is one: so it is waited for although ctx is done, and
// removed.
func (r *Runtime) newContainer(ctx context.Context, o client.ContainerCreateOptions) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	making, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })
	defer stop()
	o.Config.Labels[labelMaker] = maker()
	made, err := r.client.ContainerCreate(making, o)
	fault.Point("engine's container made")
	if err == nil && ctx.Err() != nil {
		return "", errors.Join(ctx.Err(), r.removeContainer(making, made.ID))
	}
	return made.ID, r.failed("make a container", err)
}

// emptyDir are the options of an empty directory that stays so. Podman would fill it
// with what it covers.
func (r *Runtime) emptyDir() string {
	options := "ro,noexec,nosuid,nodev,size=4k,mode=0755"
	if r.info.podman {
		options += ",notmpcopyup"
	}
	return options
}

// maskedSys are what of /sys tells of the engine's machine: all but its control groups,
// in which our init reads what a program has used.
var maskedSys = []string{"/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/firmware",
	"/sys/fs/bpf", "/sys/fs/btrfs", "/sys/fs/erofs", "/sys/fs/ext4", "/sys/fs/f2fs", "/sys/fs/fuse", "/sys/fs/nfs", "/sys/fs/pstore", "/sys/fs/resctrl", "/sys/fs/selinux", "/sys/fs/xfs", "/sys/hypervisor", "/sys/kernel", "/sys/module", "/sys/power"}

// sharedMemory is where POSIX has its own.
const sharedMemory = "/dev/shm"

// hostConfig is what stands around it.
func (r *Runtime) hostConfig(spec sandbox.Spec, img image) *container.HostConfig {
	init := false
	h := &container.HostConfig{
		NetworkMode: "none", IpcMode: container.IPCModePrivate, CgroupnsMode: container.CgroupnsModePrivate,
		ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		LogConfig: container.LogConfig{Type: "none"}, Init: &init, Runtime: r.options.Runtime,
		Resources: r.startingLimits(),
		Tmpfs:     map[string]string{sandbox.WorkspaceDir: r.tmpfs(spec.Disk), sandbox.TempDir: r.tmpfs(spec.Disk), sharedMemory: r.tmpfs(spec.Disk)},
	}
	if masks := append(rootfs.MaskedPaths(), maskedSys...); r.info.podman {
		h.SecurityOpt = append(h.SecurityOpt, "mask="+strings.Join(masks, ":"))
	} else {
		h.MaskedPaths = masks
	}
	if spec.BuildDisk.Bytes > 0 {
		h.Tmpfs[sandbox.BuildDir] = r.tmpfs(spec.BuildDisk)
	}
	for _, m := range spec.Mounts {
		if m.Source == "" && m.Kept == "" && !m.Overlay {
			h.Tmpfs[m.Target] = r.emptyDir()
		}
	}
	r.resolve(h, spec.Network)
	if spec.Network.Mode == sandbox.NetworkLocalhost && !advisory.OwnKernel(r.ociRuntime()) { // those that lead out have them from the outlet
		h.Sysctls = netns.NamedSysctls()
	}
	for _, target := range writable(spec, img) {
		h.Tmpfs[target] = r.tmpfs(spec.BuildDisk)
	}
	for _, v := range img.volumes { // where programs could fill the engine's disk
		if v = path.Clean(v); h.Tmpfs[v] == "" {
			h.Tmpfs[v] = r.emptyDir()
		}
	}
	return h
}

// writable are the mounts that programs write to, each a directory in memory.
func writable(spec sandbox.Spec, img image) (targets []string) {
	for _, m := range spec.Mounts {
		if m.Source == "" && m.Kept == "" && m.Overlay {
			targets = append(targets, m.Target)
		}
	}
	for _, l := range img.layers {
		targets = append(targets, l.Target)
	}
	return targets
}

// tmpfs are the options of a directory in memory with limits. Podman knows neither
// owners nor inodes of one, so that there it is everybody's, in a container of one
// user, and only the memory limit bounds how many files it has.
func (r *Runtime) tmpfs(l sandbox.DiskLimit) string {
	options := fmt.Sprintf("rw,exec,nosuid,nodev,size=%d", l.Bytes)
	if r.info.podman {
		return options + ",mode=0777"
	}
	return fmt.Sprintf("%s,nr_inodes=%d,mode=0755,uid=%d,gid=%[3]d", options, l.Inodes+1, sandbox.UserID)
}

// engine is the engine of one container.
type engine struct {
	r         *Runtime
	id        string
	container *guest.Container
	way       way            // out of the container
	changing  sync.Mutex     // held while the engine is told of limits
	limits    sandbox.Limits // those that the control groups hold
	trees     []string       // of files, all of them in memory
	words     *stdio.Tail    // of init, and of the OCI runtime
	cut       error          // what had the connection to init end; read when it has
}

// attached is the connection to a container's standard streams.
type attached struct {
	io.Reader
	io.Writer
	close func() error
}

func (a *attached) Close() error { return a.close() }

// start attaches to a container and starts it.
func (e *engine) start(ctx context.Context) (*attached, error) {
	got, err := e.r.client.ContainerAttach(ctx, e.id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, e.r.failed("attach to a container", err)
	}
	read, write := io.Pipe()
	e.words = &stdio.Tail{}
	a := &attached{Reader: read, Writer: got.Conn, close: func() error {
		err := got.Conn.Close()
		_ = read.Close() // always nil
		return err
	}}
	go func() {
		_, e.cut = stdcopy.StdCopy(write, e.words, got.Reader) // who reads what is copied to its end may look
		_ = write.CloseWithError(e.cut)                        // always nil
	}()
	if _, err := e.r.client.ContainerStart(ctx, e.id, client.ContainerStartOptions{}); err != nil {
		_ = a.Close() // nothing was sent
		return nil, e.r.failed("start a container", err)
	}
	fault.Point("engine's container started")
	return a, nil
}

// hurry takes the CPU limit away while programs are killed, who need time to die; the
// limits of the next process bring it back. A core is enough for hundreds, and an engine
// takes a tenth of a second to change anything, so less than one alone is lifted, and
// nobody waits for it but the next change.
func (e *engine) hurry() {
	if !e.changing.TryLock() { // it is being done
		return
	}
	l := e.limits
	if l.CPUs == 0 || l.CPUs >= 1 {
		e.changing.Unlock()
		return
	}
	l.CPUs = 0
	go func() {
		defer e.changing.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := e.hold(ctx, l); err != nil { // the container may be gone
			e.limits.CPUs = -1 // nobody knows
		}
	}()
}

// ended asks the engine why init has ended by itself.
func (e *engine) ended() (sandbox.Exit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	e.awaitEnd(ctx)
	got, err := e.r.client.ContainerInspect(ctx, e.id, client.ContainerInspectOptions{})
	if err != nil && !errdefs.IsNotFound(err) {
		return sandbox.Exit{}, e.r.failed("ask for a container's end", err)
	}
	s := got.Container.State
	switch {
	case s == nil:
	case s.OOMKilled:
		return sandbox.Exit{Code: 137, Signal: 9, OOMKills: 1}, nil
	case s.Error != "":
		return sandbox.Exit{}, e.r.failed("run a container", errors.New(s.Error))
	}
	if words := e.words.LastLine(); words != "" {
		return sandbox.Exit{}, &EngineError{What: "run the program to its end", Err: errors.New("its container has ended: " + words)}
	}
	return sandbox.Exit{}, &EngineError{What: "run the program to its end", Err: wordless(s, e.cut), Again: true}
}

// wordless is what is known of the end of an init that said nothing: by the state of its
// container, nil where there is none any more, and by what had the connection to it end.
func wordless(s *container.State, cut error) error {
	what := "its container was stopped from outside"
	switch {
	case s == nil:
		what = "its container was removed from outside"
	case s.Running:
		what = "the connection to its container has ended, which goes on"
	case s.ExitCode != 137: // SIGKILL
		what = fmt.Sprintf("its container has ended by itself, with exit code %d", s.ExitCode)
	}
	if cut != nil {
		return fmt.Errorf("%s: %w", what, cut)
	}
	return errors.New(what)
}

// awaitEnd waits until the engine knows of the container's end, which it hears of later than
// we do: until then it does not say what was killed for want of memory.
func (e *engine) awaitEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	end := e.r.client.ContainerWait(ctx, e.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-end.Result:
	case err := <-end.Error:
		_ = err // it is asked anyway
	}
}

// remove removes the container, whatever runs in it, also when ctx is done: it is asked
// once, and who asks is often leaving.
func (e *engine) remove(ctx context.Context) error {
	var err error
	e.changing.Lock() // what dies is in a hurry
	defer e.changing.Unlock()
	if e.id != "" {
		err = e.r.removeContainer(context.WithoutCancel(ctx), e.id)
		if errdefs.IsNotFound(err) || errdefs.IsConflict(err) { // somebody else removes it
			err = nil
		}
	}
	fault.Point("engine's container removed")
	e.way.close()
	e.r.alive.Forget(e.container)
	return e.r.failed("remove a container", err)
}
