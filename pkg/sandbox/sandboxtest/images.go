package sandboxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// RunImages tests a runtime that takes images from a store of ours. open opens it
// with the store in a directory; the tests close it.
func RunImages(t *testing.T, open func(t *testing.T, images string) sandbox.Runtime) {
	for _, test := range []struct {
		name string
		run  func(*imageSuite)
	}{
		{"the root is the image", (*imageSuite).root},
		{"nothing of it can be written", (*imageSuite).readOnly},
		{"containers do not share its files", (*imageSuite).locks},
		{"nothing tells where it is kept", (*imageSuite).unnamed},
		{"set-id bits mean nothing", (*imageSuite).setID},
		{"mounts where the image has nothing, links or files", (*imageSuite).places},
		{"an image of one program", (*imageSuite).static},
		{"an image that plants what is ours", (*imageSuite).planted},
		{"an image that leads mounts away", (*imageSuite).refused},
		{"an image that is not there", (*imageSuite).missing},
		{"an image is held while it is used", (*imageSuite).held},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &imageSuite{suite: suite{T: t, level: sandbox.LevelFull, image: true, ask: HostImage}, images: t.TempDir()}
			s.rt = open(t, s.images)
			t.Cleanup(func() {
				if err := s.rt.Close(); err != nil {
					t.Errorf("close the runtime: %v", err)
				}
			})
			test.run(s)
		})
	}
}

type imageSuite struct {
	suite
	images string
}

// of makes a container of the host's tools and what more an image has.
func (s *imageSuite) of(more ...entry) sandbox.Container {
	s.Helper()
	s.add(more...)
	return s.create(s.spec())
}

// add makes the image.
func (s *imageSuite) add(more ...entry) {
	s.Helper()
	if err := importTree(s.T, s.images, HostImage, append(hostTree(s.T), more...)); err != nil {
		s.Fatal(err)
	}
}

func (s *imageSuite) root() {
	c := s.of(file("opt/own/file", "of the image\n", 0o644), file("top:a,b\\c", "at the top\n", 0o644), dir("etc", 0o755), file("etc/os-release", "ID=image\n", 0o644), file("opt/closed", "secret", 0o600))
	info, err := s.rt.Image(s.Context(), s.spec())
	if err != nil || info.Name != HostImage || !strings.HasPrefix(info.Digest, "sha256:") || !slices.Contains(info.Env, "FROM=image") {
		s.Errorf("the image is %+v, %v", info, err)
	}
	s.prints(c, "cat /opt/own/file '/top:a,b\\c' /etc/os-release; readlink /bin", "of the image\nat the top\nID=image\nusr/bin\n")
	s.prints(c, "id -u; id -g; id -un; pwd; echo x >x && cat x", "1000\n1000\nsandbox\n/workspace\nx\n")
	s.prints(c, "ls -A /sys /run /tmp /dev/shm /build 2>/dev/null | grep -v : | tr -d '\\n'", "")
	s.prints(c, "for f in /.[!.]* /.sandbox-run/* /.sandbox-run/.[!.]*; do case $f in /.sandbox-run|*/init|*/cgroup|*'*') ;; *) echo $f;; esac; done", "")
	if os.Geteuid() == 0 { // else the sandbox's user is the store's owner
		s.prints(c, "cat /opt/closed", "")
	}
}

func (s *imageSuite) readOnly() {
	c := s.of(dir("opt/open", 0o777), file("opt/open/file", "as it was\n", 0o666), dir("var/tmp", 0o1777))
	s.prints(c, `for d in / /usr /usr/bin /etc /opt/open /var/tmp /dev /run /sys /proc; do touch $d/x 2>/dev/null && echo $d; done
for f in /opt/open/file /etc/passwd; do (echo x >$f) 2>/dev/null && echo $f; chmod 777 $f 2>/dev/null && echo $f; done
cat /opt/open/file`, "as it was\n")
}

// locks: a file of the image has an inode for each container, so that no lock is
// seen elsewhere.
func (s *imageSuite) locks() {
	a := s.of(file("opt/file", "", 0o666))
	b := s.create(s.spec())
	p := shell("exec 9</opt/file; flock -n 9 && echo locked; sleep 1000")
	reached := make(chan struct{})
	p.Stdout = writerFunc(func([]byte) { close(reached) })
	running, err := a.Start(s.Context(), p)
	if err != nil {
		s.Fatal(err)
	}
	<-reached
	s.prints(b, "exec 9</opt/file; flock -n 9 && echo locked", "locked\n")
	if err := running.Kill(); err != nil {
		s.Error(err)
	}
	if _, err := running.Wait(); err != nil {
		s.Error(err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// unnamed: the kernel tells a program the names of an overlay's layers, and of what is
// bound from elsewhere in its file system.
func (s *imageSuite) unnamed() {
	c := s.of()
	kept, err := filepath.Rel(s.images, s.find("")[0])
	if err != nil {
		s.Fatal(err)
	}
	s.prints(c, `for f in /proc/self/mountinfo /proc/self/mounts; do read -r _ <$f && echo told; while read -r line; do case $line in
*'`+kept+`'*) printf '%s\n' "$line";; esac; done <$f; done`, "told\ntold\n")
}

// setID: the store drops such bits. Should it ever not, the mount and the process
// give nothing for them.
func (s *imageSuite) setID() {
	id := hostTool(s.T, "id")
	s.add(file("opt/id", id, 0o6755))
	for _, name := range s.find("opt/id") {
		info, err := os.Stat(name)
		if err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			s.Errorf("the store has %v, %v", info.Mode(), err)
		}
		if err := os.Chmod(name, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
			s.Fatal(err)
		}
	}
	c := s.create(s.spec())
	s.prints(c, "test -u /opt/id && echo is there; /opt/id -u; /opt/id -g", "is there\n1000\n1000\n")
	if c.Isolation().Mechanisms["kernel"] == api.Enforced {
		return // gVisor says nothing of it
	}
	s.prints(c, "while read -r _ _ _ _ at options _; do case $at,$options in /,*nosuid*) echo nosuid;; esac; done </proc/self/mountinfo", "nosuid\n")
}

// find is where the store has a file of its images.
func (s *imageSuite) find(name string) []string {
	s.Helper()
	found, err := filepath.Glob(filepath.Join(s.images, "sha256/*/root", name))
	if err != nil || len(found) == 0 {
		s.Fatalf("the store has no %s: %v", name, err)
	}
	return found
}

func hostTool(t *testing.T, name string) string {
	for _, e := range hostTree(t) {
		if e.Name == "usr/bin/"+name {
			return e.content
		}
	}
	t.Fatalf("no tool %s", name)
	return ""
}

// places: a mount is found at its target, whatever the image has there, and the rest
// of the image stays where it was. None leads out.
func (s *imageSuite) places() {
	outside := s.TempDir()
	volume := s.TempDir()
	s.hostFile(filepath.Join(volume, "file"), "mounted\n")
	s.hostFile(filepath.Join(outside, "file"), "outside\n")
	for _, d := range []string{volume, outside} {
		if err := os.Chmod(d, 0o755); err != nil {
			s.Fatal(err)
		}
	}
	s.add(dir("opt/private", 0o700), file("opt/private/own", "own\n", 0o644), file("opt/beside", "beside\n", 0o644), file("plain", "x", 0o644),
		link("absolute", "/opt"), link("relative", "../../../opt"), link("loop", "loop"), link("out", outside), link("up", "../../../.."+outside),
		link("temporary", "/tmp"), link("devices", "/dev/shm"))
	spec := s.spec()
	ownKernel := s.create(spec).Isolation().Mechanisms["kernel"] == api.Enforced
	spec.BuildDisk = spec.Disk
	targets := []string{
		"/new", "/opt/new", "/lib/new", "/etc/new", "/absolute/by/link", "/relative/by/link", "/loop/new",
		"/out/new", "/up/new", "/temporary/new", "/devices/new", "/plain/new",
	}
	closed := "/opt/private/new" // to the sandbox's user, as the image has it, unless that is the store's owner
	if os.Geteuid() != 0 {
		targets = append(targets, closed)
	} else if !ownKernel { // gVisor mounts as that user, and cannot
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: volume, Target: closed})
	}
	for _, target := range targets {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: volume, Target: target})
	}
	spec.Mounts = append(spec.Mounts,
		sandbox.Mount{Source: filepath.Join(volume, "file"), Target: "/opt/one"},
		sandbox.Mount{Source: filepath.Join(volume, "file"), Target: "/etc/deep/one"},
		sandbox.Mount{Source: volume, Target: "/opt/layer", Overlay: true},
		sandbox.Mount{Source: "/no/such/dir", Target: "/nowhere", Optional: true})
	c := s.create(spec)
	for _, target := range targets {
		s.prints(c, "cat "+target+"/file", "mounted\n")
	}
	s.prints(c, "cat /opt/one /etc/deep/one /opt/beside /absolute/beside; test -e /nowhere && echo nowhere; find /opt/private -prune -printf '%m\\n'", "mounted\nmounted\nbeside\nbeside\n700\n")
	s.prints(c, "id -un; touch /opt/new/x; cd /opt/layer && touch x && echo *", "sandbox\nfile x\n")
	for _, d := range []string{outside, volume} {
		if entries, err := os.ReadDir(d); err != nil || len(entries) != 1 {
			s.Errorf("%s has %v, %v", d, entries, err)
		}
	}
}

// static: an image needs no shell, no library and no directory.
func (s *imageSuite) static() {
	program := staticProgram(s.T)
	if err := importTree(s.T, s.images, HostImage, []entry{file("hello", program, 0o755)}); err != nil {
		s.Fatal(err)
	}
	e := s.run(s.create(s.spec()), sandbox.Process{Args: []string{"/hello"}})
	s.equal("stdout", e.stdout, "1000 1000 true true true false\n")
}

// planted: what an image says of users, and puts where we mount, does not count.
func (s *imageSuite) planted() {
	canary := s.TempDir()
	for name, more := range map[string][]entry{
		"passwd":              {file("etc/passwd", "sandbox:x:0:0::/:/bin/sh\n", 0o644), file("etc/group", "sandbox:x:0:\n", 0o644)},
		"links in etc":        {link("etc/passwd", "/etc/shadow"), link("etc/group", "../../../etc/gshadow"), link("etc/resolv.conf", canary+"/resolv"), link("etc/hosts", canary+"/hosts")},
		"directories":         {dir("etc/passwd", 0o755), dir("etc/hosts", 0o755)},
		"workspace is a file": {file("workspace", "x", 0o644), file("build", "x", 0o644), file("run", "x", 0o644), file(".sandbox-run", "x", 0o644)},
		"workspace is a link": {link("workspace", canary), link("build", "/../.."+canary), link("run", canary), link(".sandbox-run", canary)},
		"in ours":             {file("dev/null", "x", 0o644), file("dev/x", "x", 0o644), file("proc/1/environ", "x", 0o644), file("sys/x", "x", 0o644), file("tmp/x", "x", 0o644), file("run/x", "x", 0o644), file("workspace/x", "x", 0o644), file(".sandbox-run/init", "x", 0o755)},
		"links in ours":       {link("dev/shm", canary), link("dev/pts", canary), link("dev/null", canary+"/null"), link("proc/sys", canary), link("workspace/x", canary)},
	} {
		s.Run(name, func(t *testing.T) {
			own := imageSuite{suite: s.suite, images: s.images}
			own.T = t
			own.add(more...)
			spec := own.spec()
			spec.BuildDisk = spec.Disk
			c := own.create(spec)
			own.prints(c, "id -u; id -un; grep sandbox: /etc/passwd; grep sandbox: /etc/group; cat /etc/hosts; pwd",
				"1000\nsandbox\nsandbox:x:1000:1000:sandbox:/workspace:/bin/sh\nsandbox:x:1000:\n127.0.0.1 localhost sandbox\n/workspace\n")
			own.prints(c, "for d in /workspace /tmp /build /dev/shm; do echo x >$d/new && cd $d && echo $d *; done; echo x >/dev/null; cd /run && echo *; grep -c x /run/x /sys/x 2>/dev/null",
				"/workspace new\n/tmp new\n/build new\n/dev/shm new\n*\n")
			if err := c.Delete(context.Background()); err != nil {
				t.Error(err)
			}
			if entries, err := os.ReadDir(canary); err != nil || len(entries) > 0 {
				t.Errorf("outside there is %v, %v", entries, err)
			}
		})
	}
}

// refused: the directories that are mounted on are directories, or there is no image.
func (s *imageSuite) refused() {
	for _, name := range []string{"dev", "etc", "proc", "sys", "tmp"} {
		for _, target := range []string{"/etc", "../../etc", "/tmp"} {
			if err := importTree(s.T, s.images, "refused:"+name, []entry{link(name, target)}); !errors.Is(err, image.ErrHostile) {
				s.Errorf("/%s that is a link to %s: %v", name, target, err)
			}
		}
	}
}

func (s *imageSuite) missing() {
	spec := s.spec()
	spec.Image = "no/such:image"
	var wrong *sandbox.ImageError
	if _, err := s.rt.Image(s.Context(), spec); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "sandbox-run image pull no/such:image") {
		s.Errorf("error %v", err)
	}
	if _, err := s.rt.Create(s.Context(), spec); !errors.As(err, &wrong) {
		s.Errorf("error %v", err)
	}
	for _, level := range []sandbox.Level{sandbox.LevelRestricted, sandbox.LevelNone} {
		spec.Level = level
		if _, err := s.rt.Create(s.Context(), spec); !errors.As(err, new(*sandbox.UnsupportedError)) {
			s.Errorf("at %s: %v", level, err)
		}
	}
	if info, err := s.rt.Image(s.Context(), sandbox.Spec{}); err != nil || !info.IsZero() {
		s.Errorf("without an image: %+v, %v", info, err)
	}
}

func (s *imageSuite) held() {
	c := s.of()
	store, err := image.Open(s.images, image.Options{})
	if err != nil {
		s.Fatal(err)
	}
	defer store.Close()
	if err := store.Remove(s.Context(), HostImage); !errors.Is(err, image.ErrInUse) {
		s.Errorf("removing the image of a container: %v", err)
	}
	if err := c.Delete(s.Context()); err != nil {
		s.Error(err)
	}
	// What another test of this process is forking has our descriptors until execve.
	for range 10000 {
		if err = store.Remove(s.Context(), HostImage); !errors.Is(err, image.ErrInUse) {
			break
		}
	}
	if err != nil {
		s.Errorf("removing it afterwards: %v", err)
	}
}
