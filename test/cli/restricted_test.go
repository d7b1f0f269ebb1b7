package cli

import (
	"bufio"
	"encoding/hex"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// restrictedPython runs a program at isolation restricted, in a directory of its
// own for temporary files, in which user owns all.
func restrictedPython(t *testing.T, u user, temp, code string, args ...string) (api.Result, outcome) {
	t.Helper()
	return invocation{user: u, env: []string{"TMPDIR=" + temp, "PATH=/usr/local/bin:/usr/bin:/bin"}, // no toolchain of root's home
		args: append([]string{"--isolation", "restricted", "--lang", "python", "--code", code, "--"}, args...)}.result(t)
}

// ownedTemp is a directory of the user's for temporary files.
func ownedTemp(t *testing.T, u user) string {
	t.Helper()
	dir := t.TempDir()
	for parent := dir; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !u.self {
		if err := os.Chown(dir, int(u.uid), int(u.uid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// changesAttributes tries to change a file of its user's that lies outside in every
// way that there is, prints those that work, and then does all that to its own.
const changesAttributes = `
import os, sys, subprocess
outside = bytes.fromhex(sys.argv[1]).decode() # no path, which would be translated
def works(what, f):
    try:
        f()
        print(what)
    except OSError:
        pass
os.symlink(outside, 'link')
up = os.path.relpath(outside)
for name in outside, 'link', up, '/proc/self/root' + outside, '/proc/%d/root%s' % (os.getpid(), outside), os.path.dirname(outside):
    works('chmod ' + name, lambda: os.chmod(name, 0o777))
    works('utime ' + name, lambda: os.utime(name, (1, 1)))
    works('chown ' + name, lambda: os.chown(name, -1, os.getgid()))
    works('setxattr ' + name, lambda: os.setxattr(name, 'user.x', b'1'))
    works('truncate ' + name, lambda: os.truncate(name, 0))
    works('O_TRUNC ' + name, lambda: os.open(name, os.O_RDONLY | os.O_TRUNC))
    works('O_TRUNC without access ' + name, lambda: os.open(name, 3 | os.O_TRUNC))
    works('open for ioctl ' + name, lambda: os.open(name, 3))
    d = os.open(os.path.dirname(name) or '.', os.O_PATH)
    works('fchmodat ' + name, lambda: os.chmod(os.path.basename(name), 0o777, dir_fd=d))
    works('utimensat ' + name, lambda: os.utime(os.path.basename(name), (1, 1), dir_fd=d))

open('own', 'w').close()
os.mkdir('dir')
works('a file that runs as its owner', lambda: os.chmod('own', 0o4755))
works('a file that runs as its group', lambda: os.chmod('own', 0o2755))
works('one that is born so', lambda: os.open('new', os.O_CREAT | os.O_WRONLY, 0o4755))
works('one that is born so without a name', lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o4755))
works('one that is made so', lambda: os.mknod('made', 0o104755))

fd = os.open('own', os.O_RDWR)
def own(mode, f):
    f()
    got = os.fstat(fd).st_mode & 0o7777
    if got != mode: print('own: mode %o, want %o' % (got, mode))
own(0o600, lambda: os.chmod('own', 0o600))
own(0o640, lambda: os.chmod(os.path.abspath('own'), 0o640))
own(0o641, lambda: os.chmod(fd, 0o641))
own(0o642, lambda: os.chmod('own', 0o642, dir_fd=os.open('.', os.O_RDONLY)))
own(0o643, lambda: os.chmod('dir/../own', 0o643))
os.symlink('own', 'mine')
own(0o644, lambda: os.chmod('mine', 0o644))
def at(want, f):
    f()
    got = os.fstat(fd).st_mtime_ns
    if got != want: print('own: time %d, want %d' % (got, want))
at(2_000_000_000, lambda: os.utime('own', (1, 2)))
at(1_500_000_007, lambda: os.utime(fd, ns=(5, 1_500_000_007)))
at(1_500_000_007, lambda: os.utime('mine', (9, 9), follow_symlinks=False))
os.utime('own')
if os.stat('own').st_mtime < 1e9: print('own: not the present')
os.chown('own', os.getuid(), -1)
for name, errno in ('nothing', 2), ('own/x', 20), ('', 2), ('x' * 5000, 36):
    try: os.chmod(name, 0o600); print('no error:', name)
    except OSError as e:
        if e.errno != errno: print(name, e)
own(0o645, lambda: os.chmod('/proc/self/fd/%d' % fd, 0o645))
own(0o646, lambda: os.chmod('/dev/fd/%d' % fd, 0o646))
os.link('own', 'other')
os.unlink('own')
own(0o604, lambda: os.fchmod(fd, 0o604))
os.unlink('other')
own(0o605, lambda: os.fchmod(fd, 0o605))
subprocess.run('''set -e
touch a; chmod +x a; cp -p a b; test -x b; touch -d 2001-01-01 a
mkdir -p s/t/u; chmod 555 s/t/u
tar cf t.tar a b s; mkdir out; tar xpf t.tar -C out; test out/a -ot b; install -m 700 a c
cp -a s s2; test "$(stat -c %a out/s/t/u s2/t/u)" = "$(printf '555\n555')"
chmod -R u+w out s s2; rm -r out s2''', shell=True, check=True)
`

// Landlock does not watch who changes the modes and times of files, and in its
// first versions not who shortens them: a program of the same user id could.
func TestRestrictedAttributes(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			temp := ownedTemp(t, u)
			outside := filepath.Join(temp, "outside", "file")
			owner := exec.CommandContext(t.Context(), "/bin/sh", "-c", "mkdir outside; echo precious > outside/file; chmod 600 outside/file")
			owner.Dir = temp
			u.runs(owner)
			if out, err := owner.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			before, err := os.Stat(outside)
			if err != nil {
				t.Fatal(err)
			}
			r, o := restrictedPython(t, u, temp, changesAttributes, hex.EncodeToString([]byte(outside)))
			if r.Status != api.StatusOK || r.Stdout != "" {
				t.Errorf("status %s: %s\nworks, and should not:\n%s%s", r.Status, r.Message, r.Stdout, r.Stderr)
			}
			after, err := os.Stat(outside)
			if err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
				t.Errorf("outside: %v: %v, was %v", err, after, before)
			}
			if !strings.Contains(strings.Join(r.Meta.Violations, "\n"), outside) {
				t.Errorf("violations %q", r.Meta.Violations)
			}
			if left, err := filepath.Glob(filepath.Join(temp, "sandbox-run-*")); err != nil || len(left) != 0 || o.code != 0 {
				t.Errorf("exit code %d, left behind: %v, %v: %s", o.code, left, err, o.stderr)
			}
		})
	}
}

// A terminal is its user's: he could read there what somebody types elsewhere.
func TestRestrictedTerminals(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			open := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import os, pty\nm, s = pty.openpty(); print(os.ttyname(s), flush=True); os.read(0, 1)")
			u.runs(open)
			stdin, err := open.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := open.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := open.Start(); err != nil {
				t.Skipf("a terminal is opened by Python: %v", err)
			}
			defer func() { stdin.Close(); _ = open.Wait() }()
			name, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			r, _ := restrictedPython(t, u, ownedTemp(t, u), `
import os, sys
for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3:
    try: print(os.open(sys.argv[1], flags | os.O_NOCTTY))
    except OSError: pass
`, strings.TrimSpace(name))
			if r.Status != api.StatusOK || r.Stdout != "" {
				t.Errorf("status %s: %s; opened: %q %s", r.Status, r.Message, r.Stdout, r.Stderr)
			}
		})
	}
}

// A program may leave directories that their owner cannot enter, and deeper than
// paths are long: they are removed all the same, and keep nobody from starting.
func TestRestrictedRemains(t *testing.T) {
	const code = `
import os
os.makedirs('closed/within'); open('closed/within/file', 'w').close()
os.chmod('closed/within', 0); os.chmod('closed', 0)
os.mkdir('deep'); os.chdir('deep')
for _ in range(300): # 15 times as long as a path may be
    os.mkdir('d' * 200); os.chdir('d' * 200)
os.chmod(os.environ['HOME'], 0)
`
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			temp := ownedTemp(t, u)
			for range 2 {
				r, o := restrictedPython(t, u, temp, code)
				if r.Status != api.StatusOK {
					t.Errorf("status %s: %s %s", r.Status, r.Message, r.Stderr)
				}
				if left, err := filepath.Glob(filepath.Join(temp, "sandbox-run-*")); err != nil || len(left) != 0 {
					t.Errorf("left behind: %v, %v: %s", left, err, o.stderr)
				}
			}
		})
	}
}

// builtBy is a Go program that prints what its build has left beside it.
const builtBy = `package main

import ("fmt"; "os"; "path/filepath")

func main() {
	entries, err := os.ReadDir(filepath.Dir(os.Args[0]))
	for _, e := range entries { fmt.Println(e.Name()) }
	if err != nil { fmt.Println(err) }
}
`

// A program of Go's standard library is built without the go command there, too, and by
// that, in a cache of its own, where it has a say.
func TestRestrictedGo(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			if why := missing(u, "go"); why != "" {
				t.Skip(why)
			}
			run := func(code string) (api.Result, outcome) {
				return invocation{user: u, args: []string{"--isolation", "restricted", "--lang", "go", "--code", code}}.result(t)
			}
			if r, o := run(builtBy); r.Stdout != "main\nmain.a\n" {
				t.Errorf("%s, left by the build: %q %s", r.Message, r.Stdout, o.stderr)
			}
			embedding := strings.Replace(builtBy, "func main", "//go:embed main.go\nvar text string\n\nfunc main", 1)
			embedding = strings.Replace(embedding, "import (", `import (_ "embed"; `, 1)
			if r, o := run(embedding); !slices.Contains(strings.Fields(r.Stdout), "go-build") {
				t.Errorf("%s, left by the go command: %q %s", r.Message, r.Stdout, o.stderr)
			}
			if r, o := run("package main\nfunc main() { missing() }\n"); len(r.Phases) != 1 || len(r.Meta.Violations) > 0 || r.Phases[0].Stderr != "# command-line-arguments\n./main.go:2:15: undefined: missing\n" {
				t.Errorf("%s: %+v %q %s", r.Message, r.Phases, r.Meta.Violations, o.stderr)
			}
		})
	}
}

// Where temporary files go has another name there, which languages are told.
func TestRestrictedTemporaryFiles(t *testing.T) {
	sources := map[string]string{
		"python":     "import tempfile\nwith tempfile.NamedTemporaryFile() as f: f.write(b'x'); print(42)",
		"javascript": "const fs = require('fs'); const d = fs.mkdtempSync(require('os').tmpdir() + '/x'); fs.writeFileSync(d + '/f', 'x'); console.log(42)",
		"java":       `class T { public static void main(String[] a) throws Exception { java.nio.file.Files.createTempFile("a", "b"); System.out.println(42); } }`,
		"bash":       "f=$(mktemp) && echo x >\"$f\" && echo 42",
	}
	for _, u := range users(t) {
		for _, lang := range slices.Sorted(maps.Keys(sources)) {
			t.Run(u.name+"/"+lang, func(t *testing.T) {
				if why := missing(u, lang); why != "" {
					t.Skip(why)
				}
				r, o := invocation{user: u, args: []string{"--isolation", "restricted", "--lang", lang, "--code", sources[lang]}}.result(t)
				if strings.Contains(r.Message, "private home") {
					t.Skip("the toolchain is in root's home, which the sandbox's user cannot reach")
				}
				if r.Stdout != "42\n" {
					t.Errorf("%s %s %s", r.Message, r.Stderr, o.stderr)
				}
			})
		}
	}
}
