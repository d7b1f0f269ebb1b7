package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// createOutside makes a container without namespaces: at restricted, for hosts
// that refuse them, and at none. The program sees the host's root; what it may
// touch there is Landlock's business. Its directories are host directories, and
// the paths of the world inside are translated to them.
//
// why is what stopped isolation full, or nil when less was asked for.
func (r *Runtime) createOutside(spec sandbox.Spec, w walls, why error) (_ *container, err error) {
	c := r.newContainer(spec, w)
	defer func() {
		if err != nil {
			_ = c.Delete(context.Background())
		}
	}()
	if err := r.cannotBeOutside(spec, w); err != nil {
		return nil, err
	}
	if spec.Network.LeadsOut() {
		if c.network, err = r.networkOutside(spec.Network, w, why); err != nil {
			return nil, err
		}
	}
	if c.identity.root = r.host.root && w.ids; c.identity.root {
		if c.identity.id, err = r.ids.Take(); err != nil {
			return nil, err
		}
	}
	if err := c.makeScope(); err != nil {
		return nil, err
	}
	if c.init, c.spawner, err = r.fork(c.namespaced(0, func(p *spawn.Program) {
		p.Call("prctl PR_SET_CHILD_SUBREAPER", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_CHILD_SUBREAPER), spawn.Value(1))
		if w.landlock {
			// Its own files in /proc are root's while it is not dumpable. Landlock
			// keeps other programs of this user from using the moment.
			p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(1))
			r.host.dieFirst(p)
			p.Call("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, spawn.Value(unix.PR_SET_DUMPABLE), spawn.Value(0))
		}
	})); err != nil {
		return nil, err
	}
	fault.Point("init started")
	c.isolation = r.host.isolationOutside(w, why)
	if c.network != nil {
		c.isolation.Mechanisms["network"] = api.Degraded
		c.isolation.Warnings = append(c.isolation.Warnings, "network: "+outsideNetwork)
	}
	if c.attributes = c.whoChangesAttributes(); c.attributes == seccomp.AttributesRefused {
		c.isolation.Warnings = append(c.isolation.Warnings, fmt.Sprintf("programs cannot change modes and times of files: %v", supervisable()))
	}
	return c, c.makeDirs()
}

// cannotBeOutside tells what of a container takes namespaces, or a kernel that can more.
func (r *Runtime) cannotBeOutside(spec sandbox.Spec, w walls) error {
	switch err := r.host.childrenErr; {
	case spec.WorkspaceOnDisk:
		return errNoLoopDisk("isolation full is what mounts one")
	case spec.Network.Mode == sandbox.NetworkLocalhost && w.seccomp:
		return errNoLoopback
	case w.landlock && r.host.landlockABI < minLandlock:
		return &sandbox.UnsupportedError{What: "isolation restricted", Reason: "this kernel has no Landlock", Mend: "Use Linux 5.13 or later with landlock among the lsm= modules"}
	case err != nil && !(r.host.root && w.ids):
		return &sandbox.UnsupportedError{What: "isolation without namespaces", Reason: fmt.Sprintf("nobody could end what a program has started: %v", err),
			Mend: "Use a kernel with CONFIG_PROC_CHILDREN, as distributions build it"}
	}
	return nil
}

var errNoLoopback = &sandbox.UnsupportedError{What: "network localhost", Reason: "without namespaces the loopback is the host's own"}

// outsideNetwork says what a supervised network lacks.
const outsideNetwork = "connections are made for the program; it has no servers and no UDP, and names resolve by glibc and Go alone"

// networkOutside is a way out without a network namespace: by a supervisor.
func (r *Runtime) networkOutside(p sandbox.NetworkPolicy, w walls, why error) (*outlet.Outlet, error) {
	e := &sandbox.UnsupportedError{What: "network " + string(p.Mode), Reason: "nothing stands between the program and the host's network at isolation none", Mend: "Ask for isolation full"}
	if w.seccomp {
		err := supervisable()
		if err == nil {
			return r.newOutlet(p, false)
		}
		e.Reason = err.Error() + ", and isolation restricted has no network namespace"
	}
	if why != nil {
		e.Reason, e.Mend = fmt.Sprintf("%s; isolation full fails: %v", e.Reason, why), r.host.mendNamespaces()
	}
	return nil, e
}

// resolving has libc ask our name server by TCP where a datagram's socket is
// something else: it would not take an answer from there.
func (c *container) resolving(p sandbox.Process) sandbox.Process {
	if c.walls.namespaces || c.network == nil {
		return p
	}
	const name = "RES_OPTIONS=" // resolv.conf(5)
	env := []string{name + "use-vc"}
	for _, kv := range p.Env {
		if own, ok := strings.CutPrefix(kv, name); ok {
			env[0] += " " + own
		} else {
			env = append(env, kv)
		}
	}
	p.Env = env
	return p
}

// makeDirs makes the directories that stand for the world's.
func (c *container) makeDirs() error {
	if err := c.rt.instance.MakeDir(); err != nil {
		return err
	}
	c.base = filepath.Join(c.rt.instance.Dir, c.id)
	if err := instance.Mkdir(c.base, 0o711); err != nil {
		return fmt.Errorf("make the container's directory: %w", err)
	}
	fault.Point("container directory made")
	for _, dir := range []string{sandbox.WorkspaceDir, sandbox.BuildDir, sandbox.TempDir} {
		if err := c.makeDir(dir); err != nil {
			return err
		}
	}
	for _, m := range c.spec.Mounts {
		if err := c.standIn(m); err != nil {
			return err
		}
		fault.Point("stand-in made")
	}
	return nil
}

func (c *container) makeDir(dir string) error {
	path, err := c.mkdirAll(dir)
	if err != nil {
		return err
	}
	if c.identity.root {
		fault.Point("directory not given away yet")
		if err := os.Lchown(path, c.identity.id+1, c.identity.id+1); err != nil {
			return fmt.Errorf("give the container its directory: %w", err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	c.trees[dir] = f
	c.stand(dir, path)
	return nil
}

// mkdirAll makes the directory that stands for dir, and those above it.
func (c *container) mkdirAll(dir string) (path string, err error) {
	path = c.base
	for name := range strings.SplitSeq(strings.Trim(filepath.Clean(dir), "/"), "/") {
		path = filepath.Join(path, name)
		if err := instance.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make the container's directory: %w", err)
		}
	}
	return path, nil
}

// stand lets path stand for a path of the world inside.
func (c *container) stand(target, path string) {
	c.paths = append(c.paths, strings.TrimSuffix(target, "/"), path)
}

// translate replaces the paths of the world inside by those that stand for
// them.
func (c *container) translate(p sandbox.Process) sandbox.Process {
	if p.Dir == "" {
		p.Dir = sandbox.WorkspaceDir
	}
	if len(c.paths) == 0 {
		return p
	}
	p.Dir = c.translatePath(p.Dir)
	p.Args, p.Env = c.translateAll(p.Args), c.translateAll(p.Env)
	return p
}

func (c *container) translateAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.translatePath(s)
	}
	return out
}

// translatePath replaces each path of the world in s that stands at a border: it
// begins at the start or behind = : or a comma, and ends at the end or before
// / : or a comma. What was put in is not looked at again.
func (c *container) translatePath(s string) string {
	var out strings.Builder
	border := true
	for s != "" {
		if border {
			if from, to, ok := c.standsFor(s); ok {
				out.WriteString(to)
				s = s[len(from):]
				border = false
				continue
			}
		}
		border = strings.IndexByte("=:,", s[0]) >= 0
		out.WriteByte(s[0])
		s = s[1:]
	}
	return out.String()
}

// standsFor finds the longest path of the world that s begins with.
func (c *container) standsFor(s string) (from, to string, ok bool) {
	for i := 0; i < len(c.paths); i += 2 {
		p := c.paths[i]
		if len(p) > len(from) && strings.HasPrefix(s, p) && (len(s) == len(p) || strings.IndexByte("/:,", s[len(p)]) >= 0) {
			from, to, ok = p, c.paths[i+1], true
		}
	}
	return from, to, ok
}

// removeDirs removes what makeDirs made.
func (c *container) removeDirs() error {
	if c.base == "" {
		return nil
	}
	return instance.RemoveTree(c.base)
}
