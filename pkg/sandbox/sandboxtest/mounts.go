package sandboxtest

import (
	"os"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// mounts: a program reads what is mounted although it lies behind a directory
// that is ours alone, as a test's own is; what it adds to an overlay, of a directory or
// of nothing, is gone with the container.
func (s *suite) mounts() {
	dir := s.TempDir()
	read, layer, optional := filepath.Join(dir, "read"), filepath.Join(dir, "layer"), filepath.Join(dir, "optional")
	for _, source := range []string{read, layer, optional} {
		s.hostFile(filepath.Join(source, "sub", "old"), "of the host\n")
	}
	for _, open := range []string{layer, filepath.Join(layer, "sub"), optional, filepath.Join(optional, "sub")} { // to whoever the sandbox's user is
		if err := os.Chmod(open, 0o777); err != nil {
			s.Fatal(err)
		}
	}
	spec := s.spec()
	spec.BuildDisk = spec.Disk
	spec.Mounts = []sandbox.Mount{{Source: read, Target: "/mnt/read"}, {Source: layer, Target: "/mnt/layer", Overlay: true}, {Target: "/mnt/empty", Overlay: true},
		{Source: optional, Target: "/mnt/optional", Overlay: true, OverlayOptional: true}}
	c := s.create(spec)
	p := shell(`cat "$1/sub/old" "$2/sub/old"
echo new >"$2/sub/new" && cat "$2/sub/new"
for f in "$3"/*; do [ ! -e "$f" ] || echo "$f"; done # no ls: gVisor of 2022 refuses its statx
mkdir "$3/sub" && echo new >"$3/sub/new" && ln -s sub "$3/link" && cat "$3/link/new"
cat "$4/sub/old"; echo new 2>/dev/null >"$4/sub/new"; true`)
	p.Args = append(p.Args, "sh", "/mnt/read", "/mnt/layer", "/mnt/empty", "/mnt/optional")
	e := s.run(c, p)
	s.equal("stdout", e.stdout, "of the host\nof the host\nnew\nnew\nof the host\n")
	s.equal("stderr", e.stderr, "")
	if s.level != sandbox.LevelNone { // which is no wall
		p = shell(`for f in "$@"; do echo overwritten >"$f/sub/old"; echo new >"$f/sub/new"; rm -r "$f"/*; done`)
		p.Args = append(p.Args, "sh", "/mnt/read", "/mnt/layer", "/mnt/optional")
		s.run(c, p)
	}
	if err := c.Delete(s.Context()); err != nil {
		s.Fatal(err)
	}
	for name, want := range map[string]string{
		"read/sub/old": "of the host\n", "layer/sub/old": "of the host\n", "layer/sub/new": "", "optional/sub/old": "of the host\n", "optional/sub/new": "",
	} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && want != "" {
			s.Error(err)
		}
		s.equal(name, string(content), want)
	}
}

// layers: what is written to an overlay takes of the build disk, and nothing of the
// program's own.
func (s *suite) layers() {
	spec := s.spec()
	spec.Disk, spec.BuildDisk = sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}, sandbox.DiskLimit{Bytes: 2 << 20, Inodes: 60}
	spec.Mounts = []sandbox.Mount{{Target: "/mnt/empty", Overlay: true}}
	c := s.create(spec)
	s.held(c, sandbox.LimitDisk)
	e := s.sh(c, "head -c 4m /dev/zero >/mnt/empty/big; head -c 900k /dev/zero >own; cat own | wc -c; test $(wc -c </mnt/empty/big) -gt 1000000 && test $(wc -c </mnt/empty/big) -le 2097152 && echo held")
	s.equal("stdout", e.stdout, "921600\nheld\n")
}

func (s *suite) hostFile(name, content string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
}
