package advisory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Component is something that stands between a program and the host.
type Component struct {
	// Name is what it calls itself: runc, crun, runsc, youki, kata-runtime, docker,
	// podman, or linux.
	Name string
	// Version is what it says of itself; a distribution's suffix may be on it.
	Version string
	// Program is the program on this host, by which its package is found: its path, or
	// its name where the path is not known. Empty means that it runs elsewhere, or is
	// no program.
	Program string
	// Engine is the component that drives it; empty means us.
	Engine string
}

// Finding is a known hole of a component.
type Finding struct {
	ID        string // such as CVE-2024-21626; holes that came together are one
	Component string
	Version   string // of the distribution's package, where that is known
	Effect    string // what it lets a program or an image do
	Fixed     string // the upstream version to go to
	// Package is the distribution's version that has the hole mended, with its
	// suite; empty where the list knows of none.
	Package string
	// Unsure means that the distribution may have mended it in a version that the
	// list does not know.
	Unsure bool
	// ImageOnly means that nobody can use it where the root is the host's toolchains.
	ImageOnly bool
	// Mend is what to do about it.
	Mend string
	// Source is the page of whoever has published it.
	Source string
}

func (f Finding) String() string {
	s := fmt.Sprintf("%s %s has %s (%s); fixed in %s", f.Component, f.Version, f.ID, f.Effect, f.Fixed)
	if f.Package != "" {
		s += " (" + f.Package + ")"
	}
	if f.Unsure {
		s += ", unless your distribution has mended it already"
	}
	return s
}

// Check returns the known holes of a component, the newest first. One whose version
// cannot be read has none.
func Check(c Component) []Finding {
	if filepath.IsAbs(c.Program) {
		if program, err := filepath.EvalSymlinks(c.Program); err == nil {
			c.Program = program
		}
	}
	return host{os.DirFS("/")}.check(c)
}

// check holds a component against the list.
func (h host) check(c Component) (found []Finding) {
	version := upstream(c.Version)
	if version == "" {
		return nil
	}
	var owner *pkg // looked up when there is something to ask it
	for _, a := range list {
		if a.component != c.Name || slices.Contains(a.harmless, c.Engine) {
			continue
		}
		fixed, open := a.open(version)
		if !open {
			continue
		}
		if owner == nil {
			owner = h.packageOf(c)
		}
		f := Finding{
			ID: a.id, Component: c.Name, Version: c.Version, Effect: a.effect, Fixed: fixed,
			ImageOnly: a.image, Source: a.source, Mend: mend(c.Name, fixed),
		}
		if owner.judge(a, &f) {
			found = append(found, f)
		}
	}
	return found
}

// mend is the way that is open to everybody.
func mend(name, fixed string) string {
	if name == linux {
		return "boot Linux " + fixed + " or later"
	}
	return "install " + name + " " + fixed + " or later"
}

// open tells whether an upstream version has the hole, and which is the next that
// has not. A line of releases is mended by its own release; one that has none is
// mended by the next line that has.
func (a advisory) open(version string) (fixed string, open bool) {
	if compare(version, upstream(a.since)) < 0 {
		return "", false
	}
	for _, f := range a.fixed {
		if line(f) == line(version) {
			return f, compare(version, upstream(f)) < 0
		}
	}
	for _, f := range a.fixed {
		if compare(version, upstream(f)) < 0 {
			return f, true
		}
	}
	return "", false
}
