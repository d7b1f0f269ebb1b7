package local

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/landlock"
	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/internal/outlet"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	// minLandlock is the oldest version that isolation restricted is built on.
	minLandlock = 1
	// landlockTruncation watches who shortens files, too (Linux 6.2).
	landlockTruncation = 3
	// landlockComplete confines signals and abstract sockets too (Linux 6.12).
	landlockComplete = 6
)

func (h *host) landlockState() string {
	switch {
	case h.landlockABI == 0:
		return api.Absent
	case h.landlockABI < landlockComplete:
		return api.Degraded
	}
	return api.Enforced
}

// rules are what the program may touch. At full they repeat what the root and
// its mounts say already, for the day that a descriptor of the host leaks in;
// and they make the build directory read-only for the run. At restricted they
// are the wall.
func (ch *child) rules() landlock.Rules {
	c := ch.c
	r := landlock.Rules{ScopeSignals: true, ScopeAbstractUnix: true}
	var writable []string
	for name := range c.trees {
		if ch.process.MayWrite(name) {
			writable = append(writable, c.translatePath(name))
		}
	}
	slices.Sort(writable)
	if c.walls.namespaces {
		r.OtherRoot = true
		r.ReadExec = []string{"/"}
		r.ReadWrite = append(writable, sandbox.TempDir, "/dev", "/proc")
		for _, m := range c.spec.Mounts {
			if m.Overlay && ch.process.MayWrite(m.Place()) {
				r.ReadWrite = append(r.ReadWrite, m.Place())
			}
		}
		r.DenyTCP = ch.network == sandbox.NetworkNone
		return r
	}
	r.DenyTCP = true
	r.ReadExec = existing(append(c.readableHost(), c.base))
	r.ReadWrite = append(writable, "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
	// The host has so many terminals, and what makes one there makes them all. The
	// program's own is its user's alone, if it has one.
	if c.identity.root && ch.process.TTY != nil {
		r.ReadWrite = append(r.ReadWrite, "/dev/pts")
	}
	r.ReadWrite = existing(r.ReadWrite)
	return r
}

// readableHost is what of the host a program without a root of its own may read.
// OpenSSL, and with it Node, does without its configuration but fails when that
// is there and closed; Fedora's includes others.
func (c *container) readableHost() []string {
	paths := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc",
		"/etc/ld.so.cache", "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/hosts",
		"/etc/os-release", "/etc/debian_version", "/etc/lsb-release", "/etc/gitconfig",
		"/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/pki/tls/openssl.d", "/etc/crypto-policies"}
	if c.spec.Network.LeadsOut() {
		paths = append(paths, outlet.TrustStores()...)
	}
	for _, m := range c.spec.Mounts {
		if m.Source != "" {
			paths = append(paths, m.Source)
		}
	}
	return paths
}

// existing leaves out what is not there. What cannot be looked at stays, and opening it
// fails with its name: without a rule of its own the program would be told that it may
// not, which is not so.
func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool {
		_, err := os.Stat(p)
		return absent(err)
	})
}

// landlock appends the calls that put the child under its rules.
func (ch *child) landlock() error {
	if ch.c.rt.host.landlockABI == 0 {
		return nil
	}
	set, err := ch.rules().Build(ch.c.rt.host.landlockABI)
	if err != nil {
		return err
	}
	p := ch.p
	ruleset := p.Call("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, p.Bytes(set.Attr), spawn.Value(len(set.Attr)), spawn.Value(0)).Save()
	for _, rule := range set.Paths {
		attr := p.Bytes(rule.Attr(-1))
		const fdOffset = 8
		p.Call("open "+rule.Path, unix.SYS_OPENAT, spawn.FD(unix.AT_FDCWD), p.String(rule.Path), spawn.Value(unix.O_PATH|unix.O_CLOEXEC)).SaveAt(attr, fdOffset)
		p.Call("landlock_add_rule "+rule.Path, unix.SYS_LANDLOCK_ADD_RULE, ruleset, spawn.Value(landlock.RulePathBeneath), attr, spawn.Value(0))
		p.Call("close "+rule.Path, unix.SYS_CLOSE, p.Cell(attr, fdOffset))
	}
	p.Call("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, spawn.Value(0))
	p.Call("close", unix.SYS_CLOSE, ruleset)
	return nil
}
