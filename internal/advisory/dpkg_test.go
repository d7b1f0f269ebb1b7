package advisory

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// debian is a host with one package.
func debian(osRelease, name, version, program string) fstest.MapFS {
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }
	return fstest.MapFS{
		"etc/os-release":                      file(osRelease),
		"var/lib/dpkg/status":                 file("Package: bash\nStatus: install ok installed\nVersion: 5.2\n\nPackage: " + name + "\nStatus: install ok installed\nDescription: is\n installed\nVersion: " + version + "\n\nPackage: zsh\nStatus: deinstall ok config-files\nVersion: 9\n"),
		"var/lib/dpkg/info/" + name + ".list": file("/.\n/usr\n" + program + "\n"),
	}
}

func TestPackages(t *testing.T) {
	const bookworm, noble = "ID=debian\nVERSION_CODENAME=bookworm\n", "ID=ubuntu\nVERSION_CODENAME=\"noble\"\n"
	const mint = "ID=linuxmint\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n"
	for _, c := range []struct {
		what, osRelease, version, says string
		want                           string // the sentence about CVE-2024-21626, or its absence
	}{
		{"mended by the suite", bookworm, "1.1.5+ds1-1+deb12u1", "1.1.5+ds1", ""},
		{"rebuilt after that", bookworm, "1.1.5+ds1-1+deb12u1+b6", "1.1.5+ds1", ""},
		{
			"before the suite's mend", bookworm, "1.1.5+ds1-1", "1.1.5+ds1",
			"runc 1.1.5+ds1-1 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12 (bookworm: 1.1.5+ds1-1+deb12u1)",
		},
		{
			"a suite that is not listed", "VERSION_CODENAME=sid\n", "1.1.5+ds1-4", "1.1.5+ds1",
			"runc 1.1.5+ds1-4 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12, unless your distribution has mended it already",
		},
		{
			"halfway through an upgrade", bookworm, "1.1.10+ds1-1", "1.1.5+ds1",
			"runc 1.1.5+ds1 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12, unless your distribution has mended it already",
		},
		{"a newer version of upstream's", noble, "1.3.3-0ubuntu1~24.04.2", "1.3.3-0ubuntu1~24.04.2", ""},
		{
			"made of another distribution", mint, "1.1.7-0ubuntu1", "1.1.7",
			"runc 1.1.7-0ubuntu1 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12, unless your distribution has mended it already",
		},
	} {
		h := host{debian(c.osRelease, "runc", c.version, "/usr/sbin/runc")}
		if got := about(h.check(Component{Name: "runc", Version: c.says, Program: "/usr/sbin/runc"}), "CVE-2024-21626"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if s := (host{debian(mint, "runc", "1", "/x")}).suite(); s != "noble" {
		t.Errorf("the suite is %q", s)
	}
}

// A program that no package has brought is what upstream made, and one on a system
// that keeps no such lists may be anything.
func TestNoPackage(t *testing.T) {
	own := host{debian("VERSION_CODENAME=bookworm\n", "runc", "1.1.5+ds1-1+deb12u1", "/usr/sbin/runc")}
	got := about(own.check(Component{Name: "runc", Version: "1.1.5", Program: "/usr/local/bin/runc"}), "CVE-2024-21626")
	if want := "runc 1.1.5 has CVE-2024-21626 (a program can reach the host's file system); fixed in 1.1.12"; got != want {
		t.Errorf("built by hand: %q, want %q", got, want)
	}
	for what, h := range map[string]host{
		"elsewhere": own,
		"by name":   {debian("VERSION_CODENAME=bookworm\n", "runc", "1.1.5+ds1-1", "/usr/sbin/other")},
		"rpm":       {fstest.MapFS{"etc/os-release": &fstest.MapFile{Data: []byte("ID=fedora\nVERSION_CODENAME=\"\"\n")}}},
	} {
		c := Component{Name: "runc", Version: "1.1.5"}
		c.Program = map[string]string{"rpm": "/usr/bin/runc", "by name": "runc"}[what]
		if got := about(h.check(c), "CVE-2024-21626"); !strings.HasSuffix(got, "unless your distribution has mended it already") {
			t.Errorf("%s: %q is surer than it can be", what, got)
		}
	}
}

// A package that was removed leaves its configuration behind, and its stanza.
func TestInstalled(t *testing.T) {
	const status = "Package: runc\nStatus: deinstall ok config-files\nVersion: 1.0\n\nPackage: crun\nStatus: hold ok installed\nArchitecture: amd64\nVersion: 1.8.1-1\nDescription: fast\n Package: podman\n"
	for name, want := range map[string]string{"runc": "", "crun": "1.8.1-1", "podman": "", "cru": ""} {
		if got := installed([]byte(status), name); got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
}

// The same file is /sbin/runc and /usr/sbin/runc, and a list may have an architecture.
func TestOwns(t *testing.T) {
	h := host{fstest.MapFS{"var/lib/dpkg/info/runc:amd64.list": &fstest.MapFile{Data: []byte("/.\n/sbin/runc\n")}}}
	if !h.owns("runc", "/usr/sbin/runc") || !h.owns("runc", "runc") || h.owns("runc", "run") || h.owns("runc", "/usr/sbin/run") || h.owns("crun", "/usr/sbin/runc") {
		t.Error("whose program it is")
	}
}

func about(found []Finding, id string) string {
	for _, f := range found {
		if f.ID == id {
			return f.String()
		}
	}
	return ""
}

// What dpkg itself says of the runtimes of this machine.
func TestThisMachine(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("this machine has no dpkg")
	}
	status, err := os.ReadFile("/var/lib/dpkg/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, program string }{{"runc", "runc"}, {"crun", "crun"}, {"runsc", "runsc"}, {"docker.io", "dockerd"}, {"podman", "podman"}} {
		t.Run(c.name, func(t *testing.T) {
			said, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", c.name).Output()
			version, ok := strings.CutPrefix(string(said), "installed ")
			if err != nil || !ok {
				t.Skip("not installed")
			}
			if got := installed(status, c.name); got != version {
				t.Errorf("dpkg says %q, and we %q", version, got)
			}
			program, err := exec.LookPath(c.program)
			if err == nil {
				program, err = filepath.EvalSymlinks(program)
			}
			if err != nil {
				t.Skip("it is not on PATH")
			}
			if h := (host{os.DirFS("/")}); !h.owns(c.name, program) || h.suite() == "" {
				t.Errorf("%s is not that package's", program)
			}
		})
	}
}

// Our order of versions is dpkg's.
func TestCompareLikeDpkg(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("this machine has no dpkg")
	}
	versions := []string{"1.0~rc6", "1.0", "1.0-1", "1.0-1~bpo12+1", "1.0+ds1-1", "1.0a", "1.0.1", "1:0.9", "1.00", "1.0-0ubuntu1~22.04.2", "1.0-0ubuntu1"}
	for _, a := range versions {
		for _, b := range versions {
			less := exec.Command("dpkg", "--compare-versions", a, "lt", b).Run() == nil
			if got := compare(a, b) < 0; got != less {
				t.Errorf("%q before %q: %v, and dpkg says %v", a, b, got, less)
			}
		}
	}
}

func FuzzInstalled(f *testing.F) {
	f.Add([]byte("Package: runc\nStatus: install ok installed\nVersion: 1.1\n"), "runc")
	f.Add([]byte("\n\n\nPackage: runc"), "runc")
	f.Fuzz(func(t *testing.T, status []byte, name string) {
		if v := installed(status, name); strings.ContainsAny(v, "\n") || v != "" && !strings.Contains(string(status), v) {
			t.Errorf("%q is no version", v)
		}
	})
}
