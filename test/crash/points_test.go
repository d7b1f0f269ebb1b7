package crash

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// way is a call of sandbox-run that comes by places where it can die.
type way struct {
	name     string
	ordinary bool // as an ordinary user, too
	local    bool // of what it leaves the next run takes care
	args     []string
	settings []string
	// fresh begins with an empty data directory, since what is cached is not made again.
	fresh bool
	// twice is done to its end first. before is done first, and is killed.
	twice  bool
	before *way
	// engine is the address of the one that makes the containers, where one does.
	engine string
	// unless tells why it cannot be gone here.
	unless func() string
	points []string
}

var (
	someWords = []string{"--quiet", "--lang", "bash", "--env", marker}
	program1  = append(slices.Clone(someWords), "--code", "echo made >made; setsid sleep 1000 & echo out")
	noGroups  = []string{"scope made", "group of init made", "control group directory made", "control group made", "control group removed", "group of init removed"}
)

// life is what every container passes through at isolation full.
var life = []string{
	"number taken", "instance locked", "instance recorded", "spawner started", "parent of control groups made", "scope made", "group of init made",
	"init started", "root made", "world made", "container made", "file written", "workspace filled", "control group directory made",
	"control group made", "process prepared", "process started", "process runs", "compiled", "process ended", "rest killed",
	"control group removed", "files collected", "container ended", "group of init removed", "scope removed", "container deleted", "control groups closed",
	"instance directory removed", "instance forgotten",
}

func ways() []way {
	restricted := append([]string{"--isolation", "restricted"}, program1...)
	crashed := &way{args: restricted, points: []string{"process runs"}}
	oci := append([]string{"--runtime", "oci"}, program1...)
	return []way{
		{name: "full", ordinary: true, local: true, args: program1, points: life},
		{name: "network", ordinary: true, local: true, args: append([]string{"--network", "full"}, program1...), points: []string{"init started", "root made", "world made", "process runs", "rest killed"}},
		{name: "restricted", ordinary: true, local: true, args: restricted, points: []string{
			"init started", "directory made", "container directory made", "directory not given away yet", "process started", "process runs",
			"rest killed", "container ended", "entry removed", "container deleted", "instance directory removed",
		}},
		{name: "on disk", local: true, args: append([]string{"--on-disk"}, program1...), points: []string{"disk made", "disk formatted", "disk attached", "root made", "process runs", "disk removed"}},
		{name: "compiled", fresh: true, args: []string{"--quiet", "--lang", "typescript", "--env", marker, "--code", "console.log(1)"}, unless: without("node"),
			points: []string{"versions begun", "copy begun", "copy made"}},
		{name: "compiled and kept", fresh: true, args: []string{"--quiet", "--lang", "c", "--env", marker, "--code", "int main(void) { return 0; }"}, unless: without("cc"),
			points: []string{"artefact begun"}},
		{name: "compiled, restricted", fresh: true, args: []string{"--quiet", "--isolation", "restricted", "--lang", "typescript", "--env", marker, "--code", "console.log(1)"}, unless: without("node"),
			points: []string{"stand-in made"}},
		{name: "cached", fresh: true, args: []string{"--quiet", "--lang", "java", "--env", marker, "--code", "class Main { public static void main(String[] a) {} }"}, unless: without("javac"),
			points: []string{"cache begun", "cache filled"}},
		{name: "packages", fresh: true, args: []string{"--quiet", "--lang", "python", "--require", "six", "--code", "import six"}, unless: without("uv"),
			settings: []string{"SANDBOX_PYTHON_INDEX=http://127.0.0.1:9/simple"}, points: []string{"environment begun"}},
		{name: "image", fresh: true, args: []string{"image", "import", "--rootfs", "--name", "crash:test", filepath.Join(work, "rootfs.tar")},
			points: []string{"image begun", "image unpacked", "image kept"}},
		{name: "image that is there", twice: true, args: []string{"image", "import", "--rootfs", "--name", "crash:test", filepath.Join(work, "rootfs.tar")}, points: []string{"work moved away"}},
		{name: "oci", args: append([]string{"--network", "full"}, oci...), settings: []string{"SANDBOX_TYPE=oci"}, unless: without("crun"), points: ofOCI},
		ofEngine("docker", "SANDBOX_TEST_ENGINE"),
		ofEngine("podman", "SANDBOX_TEST_PODMAN", "filter for podman made"),
		{name: "reclaim", before: crashed, args: []string{"gc"}, points: []string{"control groups reclaimed", "entry removed", "instance reclaimed"}},
		{name: "reclaim oci", before: &way{args: oci, points: []string{"container made"}}, unless: without("crun"), args: []string{"gc"}, points: []string{"guest reclaimed", "instance reclaimed"}},
	}
}

// ofOCI are those of a container of an OCI runtime with a network.
var ofOCI = []string{
	"instance locked", "directory made", "directories of the bundle made", "user namespace made", "network namespace made", "bundle written", "oci runtime started",
	"guest made", "container made", "guest ended", "bundle removed",
}

// of the server are those that only it passes through.
var ofTheServer = []string{"share made"}

// ahead are those of a server that has containers ready, and ofCompilers those of one that compiles
// Java, too. As an ordinary user nothing is forked from another, and no namespace kept.
var (
	ahead = []string{"process forked ahead", "program started ahead", "container ready", "ready container taken", "ready container given up"}
	kin   = []string{"process attended", "process held", "ancestor started", "child of an ancestor forked", "child of an ancestor on its way", "child of an ancestor adopted", "ancestor has rehearsed", "ancestor ended", "network namespace kept", "network namespace taken"}

	ofCompilers = []string{"container given back"}
)

func without(name string) func() string {
	return func() string {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
		return ""
	}
}

// reaches tells which of a way's places an ordinary user comes by, who is granted no
// control groups and gives no ids away.
func (w way) reaches(u user) []string {
	if u.as == nil {
		return w.points
	}
	return slices.DeleteFunc(slices.Clone(w.points), func(p string) bool {
		return slices.Contains(noGroups, p) || p == "parent of control groups made" || p == "directory not given away yet"
	})
}

// TestPoints dies at every place once, as everybody who comes there.
func TestPoints(t *testing.T) {
	root, ordinary := users(t)
	rootfs(t)
	other := live(t, root)
	for _, w := range ways() {
		for _, u := range []user{root, ordinary} {
			if u.as != nil && !w.ordinary {
				continue
			}
			t.Run(w.name+", "+u.name, func(t *testing.T) {
				if w.unless != nil && w.unless() != "" {
					t.Skip(w.unless())
				}
				for _, p := range w.reaches(u) {
					if *only == "" || *only == p {
						t.Run(p, func(t *testing.T) { w.dieAt(t, u, p) })
					}
				}
			})
		}
	}
	other.untouched(t)
}

// by is the user as this way takes it.
func (w way) by(t *testing.T, u user) user {
	t.Helper()
	if w.fresh {
		u = u.unused(t)
	}
	return u.with(w.settings...)
}

// dieAt dies at a place, has the next run tidy up, or gc where that takes more, and says
// hello.
func (w way) dieAt(t *testing.T, u user, point string) {
	dying := w.by(t, u)
	if w.engine != "" {
		w.forgetImages(t)
	}
	if w.twice {
		u.does(t, w.args...)
	}
	before := settled(t)
	if w.before != nil {
		if err := u.command(w.before.args, []string{"FAULT_POINT=" + w.before.points[0]}).Run(); !killed(err) {
			t.Fatalf("what should be tidied up was not made: %v", err)
		}
	}
	cmd := dying.command(w.args, []string{"FAULT_POINT=" + point})
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); !killed(err) {
		t.Fatalf("it never came to %q: %v\n%s", point, err, &said)
	}
	gc := func() { dying.does(t, "gc") }
	hello := func() { u.hello(t) }
	if w.local {
		hello()
		asBefore(t, before, hello)
		return
	}
	gc()
	asBefore(t, before, gc)
	if !w.fresh {
		hello()
		asBefore(t, before, func() {})
	}
}

// rootfs is a small archive to import.
func rootfs(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("tar", "-C", "/etc", "-cf", filepath.Join(work, "rootfs.tar"), "passwd", "group").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestEveryPointIsTried: a place that is in the sources and not in the table is one
// where nobody has ever died.
func TestEveryPointIsTried(t *testing.T) {
	var tried []string
	for _, w := range ways() {
		tried = append(tried, w.points...)
	}
	tried = slices.Concat(tried, ofTheServer, ahead, kin, ofCompilers)
	inSources := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			return pointsOf(path, inSources)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for p := range inSources {
		if !slices.Contains(tried, p) {
			t.Errorf("nothing here dies at %q", p)
		}
	}
	for _, p := range tried {
		if !inSources[p] {
			t.Errorf("no place in the sources is called %q", p)
		}
	}
}

// pointsOf adds the names of the calls of fault.Point in a source.
func pointsOf(path string, found map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "Point" {
			return true
		}
		if of, ok := f.X.(*ast.Ident); !ok || of.Name != "fault" {
			return true
		}
		name := "(not a word: a place needs a name of its own)"
		if word, ok := call.Args[0].(*ast.BasicLit); ok {
			name, err = strconv.Unquote(word.Value)
		}
		found[name] = true
		return true
	})
	return err
}
