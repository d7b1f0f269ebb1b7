package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/internal/rootfs"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// container is one init and what it holds.
type container struct {
	id        string
	rt        *Runtime
	spec      sandbox.Spec
	walls     walls
	isolation sandbox.Isolation
	identity  identity
	// attributes says who changes those of files; the host is asked once.
	attributes seccomp.Attributes
	scope      *cgroup.Scope // nil where this host grants no control groups
	init       *spawn.Init
	spawner    *spawn.Server // that init is a child of
	killed     atomic.Bool   // init was, by us, with all that it has
	// trees are the writable directories, by path in the container.
	trees map[string]*os.File
	// image is held as long as the container is there; nil without one.
	image *rootfs.Image
	// disk holds the workspace of a container that has it on disk; else nil.
	disk *loopDisk
	// network leads out of the container; nil where nothing does.
	network *outlet.Outlet
	// netns is the network namespace, where it was another container's; else nil.
	netns *os.File
	// proc is the container's /proc, for sampling; nil without one.
	proc *os.File
	// tcp is what TCP sockets hold; nil where control groups count it, or there are none.
	tcp *tcpMemory
	// base holds the directories of a container without a root of its own, and
	// paths are pairs: a path of the world inside and what stands for it.
	base  string
	paths []string
	// meter measures the disks of a container without a root of its own.
	meter diskMeter

	starting sync.Mutex // held by Start, Expect and Delete; guards expected
	expected *process   // that the next may become; nil where none waits

	// cleanups are what Delete waits for: groups on their way out.
	cleanups sync.WaitGroup

	gone    chan struct{} // closed when the deletion is over
	removed error         // of the deletion, once it is

	mu       sync.Mutex // guards the fields below
	files    map[string]*fileTree
	running  *process
	deleted  bool
	groups   int
	leftover []error        // of cleanups
	undone   []func() error // removals that failed
	ancestor *ancestor      // that has the container's root, or nil
}

// newContainer fills in what every level has.
func (r *Runtime) newContainer(spec sandbox.Spec, w walls) *container {
	c := &container{
		id:    fmt.Sprintf("%s-%d", r.instance.Name, r.serial.Add(1)),
		rt:    r,
		spec:  spec,
		walls: w,
		trees: map[string]*os.File{},
		files: map[string]*fileTree{},
		gone:  make(chan struct{}),
	}
	c.meter.c = c
	return c
}

// makeFull makes a container with every wall. redirect tells how connections
// lead out of it, where they do.
func (r *Runtime) makeFull(spec sandbox.Spec, image *rootfs.Image, redirect bool) (_ *container, err error) {
	c := r.newContainer(spec, wallsFull)
	defer func() {
		if err != nil {
			_ = c.Delete(context.Background())
		}
	}()
	c.identity = identity{root: r.host.root}
	if c.identity.root {
		if c.identity.id, err = r.ids.Take(); err != nil {
			return nil, err
		}
	}
	if spec.WorkspaceOnDisk {
		if c.disk, err = r.newLoopDisk(c.id, spec.Disk); err != nil {
			return nil, err
		}
	}
	if c.network, err = r.newOutlet(spec.Network, redirect); err != nil {
		return nil, err
	}
	if c.recycles() {
		c.netns = r.networks.take(spec.Recycle)
	}
	if err := c.makeScope(); err != nil {
		return nil, err
	}
	if err := c.namespaces(); err != nil {
		return nil, err
	}
	fault.Point("init started")
	if err := c.world(image); err != nil {
		return nil, err
	}
	fault.Point("world made")
	return c, c.inner()
}

// makeScope makes what holds the container's control groups.
func (c *container) makeScope() (err error) {
	if c.rt.host.cgroups == nil {
		return nil
	}
	owner := -1
	if c.identity.root && c.walls.namespaces { // else init has our own id
		owner = c.identity.id
	}
	c.scope, err = c.rt.host.cgroups.Scope(c.id, c.rt.instance.TenantName(c.spec.Tenant), owner)
	return err
}

// namespaced are the namespaces of an init and the group that it is born in.
func (c *container) namespaced(flags uintptr, child func(*spawn.Program)) spawn.Namespaced {
	n := spawn.Namespaced{Flags: flags, Child: child}
	if c.scope != nil {
		if dir, ok := c.scope.InitDir(); ok {
			n.Cgroup = dir
		}
	}
	return n
}

// dieWithParent has a child of the spawner end with it.
func dieWithParent(p *spawn.Program) {
	p.Call("prctl PR_SET_PDEATHSIG", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_PDEATHSIG), spawn.Value(uintptr(unix.SIGKILL)))
}

// namespaces makes the init.
func (c *container) namespaces() error {
	flags := uintptr(unix.CLONE_NEWNS)
	for _, n := range []struct {
		name string
		flag uintptr
	}{{"pid", unix.CLONE_NEWPID}, {"net", unix.CLONE_NEWNET}, {"ipc", unix.CLONE_NEWIPC}, {"uts", unix.CLONE_NEWUTS}} {
		recycled := n.flag == unix.CLONE_NEWNET && c.netns != nil // world enters it
		if !recycled && !fault.Off("namespace", n.name) {
			flags |= n.flag
		}
	}
	if !c.identity.root {
		flags |= unix.CLONE_NEWUSER
	}
	init, spawner, err := c.rt.fork(c.namespaced(flags, dieWithParent))
	if err != nil {
		return err
	}
	c.init, c.spawner = init, spawner
	if c.identity.root {
		return nil
	}
	// The id maps are written through /proc, which a process that is not
	// dumpable has for root alone. Nothing untrusted runs until becomeInit takes
	// it back.
	var p spawn.Program
	p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(1))
	if _, err := init.Do(&p); err != nil {
		return err
	}
	return c.identity.outerMaps(init.PID)
}

// world has the init build the root and hand out its directories, and the
// sockets that lead out.
func (c *container) world(image *rootfs.Image) error {
	var p spawn.Program
	w := world{p: &p, spec: c.spec, identity: c.identity, host: c.rt.host.hostRoot, image: image, made: map[string]bool{}}
	if c.disk != nil {
		w.disk = c.disk.device
	}
	if w.host.hasCommonEtc(c.spec) {
		w.etc = c.rt.etc.place(c.rt.instance)
	}
	if !c.identity.root {
		// The children of an ordinary user's init are root in the outer user
		// namespace until they have dropped that.
		p.Call("setresuid", unix.SYS_SETRESUID, spawn.Value(0), spawn.Value(0), spawn.Value(0))
		p.Call("setresgid", unix.SYS_SETRESGID, spawn.Value(0), spawn.Value(0), spawn.Value(0))
	}
	c.rt.host.dieFirst(&p)
	if c.netns != nil {
		p.Call(enterNetwork, unix.SYS_SETNS, p.File(int(c.netns.Fd())), spawn.Value(unix.CLONE_NEWNET))
	}
	w.build()
	names := []string{sandbox.WorkspaceDir, "/proc"}
	if c.spec.BuildDisk.Bytes > 0 {
		names = append(names, sandbox.BuildDir)
	}
	var fds []spawn.Arg
	for _, name := range names {
		fds = append(fds, p.Call("open "+name, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(name),
			spawn.Value(unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC)).Save())
	}
	own := c.openTCPMemory(&p)
	fds = append(fds, own...)
	if c.network != nil {
		sockets, err := c.network.Sockets()
		if err != nil {
			return err
		}
		for _, s := range sockets {
			fds = append(fds, makeSocket(&p, s))
		}
	}
	p.SendFiles(fds...)
	for _, fd := range fds {
		p.Call("close", unix.SYS_CLOSE, fd)
	}
	// For the children, since clone has no flag for it: files of /proc/self/ns are
	// inodes, and one that everybody is in would be everybody's to lock. Before
	// Linux 5.6, or without CONFIG_TIME_NS, there is no such file.
	p.Call("create a time namespace", unix.SYS_UNSHARE, spawn.Value(unix.CLONE_NEWTIME)).Allow(unix.EINVAL)
	c.identity.enterInner(&p)
	reply, err := c.init.Do(&p)
	if err != nil {
		c.rt.networks.failed(err)
		return withoutFilter(err)
	}
	fault.Point("root made")
	if len(reply.Files) != len(fds) {
		return fmt.Errorf("init sent %d descriptors of %d", len(reply.Files), len(fds))
	}
	for i, name := range names {
		if name == "/proc" {
			c.proc = reply.Files[i]
			continue
		}
		c.trees[name] = reply.Files[i]
	}
	rest := reply.Files[len(names):]
	c.tcp = newTCPMemory(rest[:len(own)])
	if c.network == nil {
		return nil
	}
	return c.network.Open(rest[len(own):])
}

// inner has the init, now in the inner user namespace, take its ids there.
func (c *container) inner() error {
	if fault.Off("namespace", "user") {
		return nil // what follows would be done to the host's
	}
	if c.identity.root {
		if err := c.identity.innerMaps(c.init.PID); err != nil {
			return err
		}
	}
	var p spawn.Program
	forbidUserNamespaces(&p)
	c.identity.becomeInit(&p)
	dropBounds(&p, 0) // once, for all of its children
	_, err := c.init.Do(&p)
	return err
}

// ID implements [sandbox.Container].
func (c *container) ID() string { return c.id }

// Alive implements [sandbox.Living].
func (c *container) Alive() bool { return !c.init.Gone() }

// Isolation implements [sandbox.Container].
func (c *container) Isolation() sandbox.Isolation { return c.isolation }

// Files implements [sandbox.Container].
func (c *container) Files(dir string) (sandbox.FileTree, error) {
	f, ok := c.trees[dir]
	if !ok {
		return nil, fmt.Errorf("the container has no writable directory %s", dir)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted {
		return nil, fmt.Errorf("the files of %s: %w", dir, fs.ErrClosed)
	}
	if t := c.files[dir]; t != nil {
		return t, nil
	}
	t, err := newFileTree(f, c.identity, func() sandbox.DiskUsage { return c.usage(dir) })
	if err != nil {
		return nil, err
	}
	c.files[dir] = t
	return t, nil
}

// Delete implements [sandbox.Container].
func (c *container) Delete(ctx context.Context) error {
	c.mu.Lock()
	if c.deleted {
		c.mu.Unlock()
		select {
		case <-c.gone:
			return c.removed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.deleted = true
	running, ancestor := c.running, c.ancestor
	c.mu.Unlock()
	defer close(c.gone)

	errs := []error{ancestor.Close()}
	network := c.lastNetwork()
	if c.init != nil {
		err := c.end()
		network.release(&c.rt.networks, c.spec.Recycle, err == nil)
		errs = append(errs, err)
	}
	fault.Point("container ended")
	if running != nil {
		<-running.Done()
	}
	c.starting.Lock()
	defer c.starting.Unlock()
	c.mu.Lock()
	running = c.running // if one was about to start
	c.mu.Unlock()
	if running != nil {
		<-running.Done()
	}
	c.expected.forget()
	c.cleanups.Wait()
	errs = append(errs, c.leftover...)
	for _, t := range c.files { // which keep the file system, and what a program has left there, in memory
		t.root.Close()
	}
	for _, f := range c.trees {
		f.Close()
	}
	if c.proc != nil {
		c.proc.Close()
	}
	c.tcp.close()
	c.network.Close()
	if c.scope != nil {
		errs = append(errs, c.remove(c.scope.Delete))
	}
	fault.Point("scope removed")
	if c.disk != nil {
		errs = append(errs, c.disk.remove())
		fault.Point("disk removed")
	}
	errs = append(errs, c.remove(c.removeDirs))
	c.image.Close()
	if c.identity.root && c.identity.id != 0 {
		c.rt.ids.Give(c.identity.id)
	}
	fault.Point("container deleted")
	c.removed = errors.Join(errs...)
	c.rt.forget(c, c.removed)
	return c.removed
}

// remove removes something, and notes it for another try when that fails.
func (c *container) remove(remove func() error) error {
	err := remove()
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.undone = append(c.undone, remove)
	}
	return err
}

// end kills the init and waits until the spawner has reaped it: then no process
// of the container is left.
func (c *container) end() error {
	err := c.killAll()
	_ = c.init.Close()
	if _, waitErr := c.spawner.Wait(c.init.PID); err == nil && !errors.Is(waitErr, spawn.ErrGone) {
		err = waitErr
	}
	c.init.Pidfd.Close()
	return err
}

// killAll ends every process of the container but, without a pid namespace, its
// init, which ends with its socket.
func (c *container) killAll() error {
	if c.walls.namespaces {
		return c.killInit()
	}
	return c.killPrograms()
}
