package advisory

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// host is the host's file system.
type host struct{ files fs.FS }

// pkg is the package of a distribution that has brought a component.
type pkg struct {
	name, version, suite string
	// none means that the distribution keeps lists of what its packages have
	// brought, and that the component is on none of them.
	none bool
}

// packagesOf are the packages in which Debian and Ubuntu have a component.
var packagesOf = map[string][]string{
	"runc": {"runc"}, "crun": {"crun"}, "runsc": {"runsc"}, "docker": {"docker.io"}, "podman": {"podman"},
}

// packageOf finds the package that has brought a component; one without a name means
// that it cannot be told.
func (h host) packageOf(c Component) *pkg {
	if c.Program == "" {
		return &pkg{}
	}
	status, err := fs.ReadFile(h.files, "var/lib/dpkg/status")
	suite := h.suite()
	if err != nil || suite == "" {
		return &pkg{}
	}
	for _, name := range packagesOf[c.Name] {
		if !h.owns(name, c.Program) {
			continue
		}
		version := installed(status, name)
		if upstream(version) != upstream(c.Version) {
			return &pkg{} // on its way from one version to another
		}
		return &pkg{name: name, version: version, suite: suite}
	}
	return &pkg{none: path.IsAbs(c.Program)}
}

// judge completes a finding by what the package tells; false means that its
// distribution has mended the hole.
func (p *pkg) judge(a advisory, f *Finding) bool {
	if p.name != "" {
		f.Version = p.version
		f.Mend = "apt-get update && apt-get install --only-upgrade " + p.name + "; if that changes nothing, " + f.Mend
	}
	mended := a.mended[p.suite]
	if p.name != "" && mended != "" {
		f.Package = p.suite + ": " + mended
		return compare(p.version, mended) < 0
	}
	f.Unsure = !p.none
	return true
}

// suite is the name of the distribution's release; Ubuntu's for what is made of it.
func (h host) suite() string {
	content, err := fs.ReadFile(h.files, "etc/os-release")
	if err != nil {
		return ""
	}
	names := map[string]string{}
	for l := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(l), "="); ok {
			names[key] = strings.Trim(value, `"'`)
		}
	}
	if ubuntu := names["UBUNTU_CODENAME"]; ubuntu != "" {
		return ubuntu
	}
	return names["VERSION_CODENAME"]
}

// owns tells whether a package has brought a program, by path or name. The same
// directory is /bin and /usr/bin.
func (h host) owns(name, program string) bool {
	const dir = "var/lib/dpkg/info/"
	lists, _ := fs.Glob(h.files, dir+name+":*.list") // the pattern is ours
	for _, file := range append(lists, dir+name+".list") {
		content, err := fs.ReadFile(h.files, file)
		if err == nil && slices.ContainsFunc(strings.Split(string(content), "\n"), func(l string) bool {
			return merged(l) == merged(program) || path.Base(l) == program
		}) {
			return true
		}
	}
	return false
}

func merged(name string) string { return strings.TrimPrefix(name, "/usr") }

// installed is the version of a package in dpkg's list of what there is; empty when
// it is not installed.
func installed(status []byte, name string) string {
	for rest := status; len(rest) > 0; {
		var stanza []byte
		stanza, rest, _ = bytes.Cut(rest, []byte("\n\n"))
		fields := "\n" + string(stanza) + "\n"
		if field(fields, "Package") != name {
			continue
		}
		if words := strings.Fields(field(fields, "Status")); len(words) == 3 && words[2] == "installed" {
			return field(fields, "Version")
		}
	}
	return ""
}

// field is the value of a field in a stanza, which starts and ends with a new line.
func field(stanza, name string) string {
	_, value, _ := strings.Cut(stanza, "\n"+name+": ")
	value, _, _ = strings.Cut(value, "\n")
	return value
}
