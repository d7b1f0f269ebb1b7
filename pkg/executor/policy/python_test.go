package policy

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pythons are the interpreters of this machine, of as many versions as there are.
func pythons(t *testing.T) []string {
	t.Helper()
	var found []string
	home, _ := os.UserHomeDir()
	for _, pattern := range []string{"/usr/bin/python3", home + "/.pyenv/versions/3.*/bin/python3"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			// 3.9 is the oldest that runs programs here.
			if exec.CommandContext(t.Context(), name, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run() == nil {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		t.Skip("there is no Python 3")
	}
	return found
}

// outcome is what a program did.
type outcome struct {
	stdout, stderr string
	code           int
	findings       Findings
	faults         []string
	heard, hooked  bool
}

// python runs a program with a hook, or without one when options is nil.
func python(t *testing.T, interpreter string, files map[string]string, options *HookOptions, args ...string) (o outcome) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	write := func(name string, content []byte) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	sources := map[string][]byte{}
	for name, content := range files {
		sources[name] = []byte(content)
		write(name, []byte(content))
	}
	list := NewList("python", append(DefaultRules(), Rule{"python", "xml.dom"}))
	listener := NewListener("N0NCE", list)
	cmd := exec.CommandContext(t.Context(), interpreter, args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONPATH=/nowhere"}
	if options != nil {
		options.Sources, options.List, options.Nonce, options.Descriptor = sources, list, "N0NCE", 200
		if hook := PythonHook(*options); hook != nil {
			o.hooked = true
			cmd.Env[3] = "PYTHONPATH=" + filepath.Join(dir, hook.Dir) + ":/nowhere"
			for name, content := range hook.Files {
				write(name, content)
			}
		}
	}
	var stdout, stderr bytes.Buffer
	out := listener.Writer(&stderr)
	cmd.Stdout, cmd.Stderr = &stdout, out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	o.stdout, o.stderr = anonymous(stdout.String(), dir), anonymous(stderr.String(), dir)
	o.code, o.faults = cmd.ProcessState.ExitCode(), listener.Faults()
	o.findings, o.heard = listener.Findings()
	return o
}

// anonymous leaves out what is another in each run.
func anonymous(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "/workspace")
	return regexp.MustCompile(`0x[0-9a-f]+|pid=\d+`).ReplaceAllString(text, "…")
}

func TestPythonFinds(t *testing.T) {
	interpreter := pythons(t)[0]
	for _, c := range []struct{ name, code, want string }{
		{"import", "import os", "os"},
		{"several", "import sys, os.path as p, json", "os"},
		{"from", "from os import path", "os"},
		{"below", "from xml.dom.minidom import parse", "xml.dom"},
		{"a member", "from xml import dom", "xml.dom"},
		{"not below", "import xml.etree, osx" + "\n", ""},
		{"in a function that is not called", "def f():\n  import socket", "socket"},
		{"in every kind of block", "try:\n  pass\nexcept Exception:\n  import os\nelse:\n  import socket\nfinally:\n  import shutil\nif 0:\n  pass\nelif 0:\n  import pathlib\nasync def f():\n  async with x:\n    import subprocess", "os pathlib shutil socket subprocess"},
		{"comments and strings", "# import os\n'import socket'\n\"\"\"\nimport shutil\n\"\"\"", ""},
		{"a continued line", "import \\\n  os", "os"},
		{"letters that look alike", "import ｏｓ", "os"},
		{"another encoding", "# coding: latin-1\nimport os # \u00e9", "os"},
		{"__import__", "__import__('o' + 's')", "os"},
		{"importlib", "import importlib\nimportlib.import_module('sub' + 'process')", "subprocess"},
		{"importlib.__import__", "import importlib\nimportlib.__import__('shut' + 'il')", "shutil"},
		{"exec", "exec('import so' + 'cket as s')", "socket"},
		{"exec from", "exec('from xm' + 'l import do' + 'm')", "xml.dom"},
		{"eval in an empty world", "eval(\"__import__('o' + 's')\", {})", "os"},
		{"builtins", "import builtins\ngetattr(builtins, '__imp' + 'ort__')('o' + 's')", "os"},
		{"pickle", "import pickle\npickle.loads(b'cpat' + b'hlib\\nPath\\n.')", "pathlib"},
		{"a file of its own making", "open('made.py', 'w').write('import o' + 's')\nexec('import made')", "os"},
		{"the library's own", "import json, tempfile, argparse\nexec('1')", ""},
		{"relative", "exec('x = 1')\nimport pkg.mod", ""},
		{"many names", "exec('''\n" + manyNames(400) + "import o''' + '''s\n''')", "os"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"main.py": c.code, "pkg/__init__.py": "", "pkg/mod.py": "from . import socket\nfrom .socket import x\nexec('from .socket import x')", "pkg/socket.py": "x = 1"}
			if c.name != "relative" {
				delete(files, "pkg/mod.py")
			}
			o := python(t, interpreter, files, &HookOptions{Mode: Warn}, "main.py")
			if got := strings.Join(o.findings.Blocked, " "); got != c.want {
				t.Errorf("blocked %q, want %q; code %d, stderr %s", got, c.want, o.code, o.stderr)
			}
		})
	}
}

// manyNames are so many that one does not fit into one byte.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("n" + strings.Repeat("a", i%20) + strings.Repeat("b", i/20) + " = 1\n")
	}
	return b.String()
}

// What a program sees of its world is what it sees without a hook.
func TestPythonSeesNothing(t *testing.T) {
	for name, code := range map[string]string{
		"world": `import sys, os, __main__
print(sys.argv, sys.path, sorted(os.listdir()), os.environ, __name__, __file__, __spec__, __builtins__, sorted(vars(__main__)))
print("sitecustomize" in sys.modules, sorted(sys.modules), sys.flags, __import__, __import__.__name__, sys.path_importer_cache.keys())
print(sorted(os.listdir("/proc/self/fd")))
exec("1")`,
		"uncaught": "import os\ndef f():\n    raise ValueError('x')\nexec('1')\nf()",
		"no such module": `import traceback
try:
    import nosuch
except ImportError:
    traceback.print_exc()
try:
    from nosuch.x import y
except ImportError:
    traceback.print_exc()
import importlib
try:
    importlib.import_module("nosuch")
except ImportError:
    traceback.print_exc()
import os, helper`,
		"syntax error":            "import os\nx = = 1",
		"warning of the compiler": "import os\nprint('\\d', 1 is 1)",
		"exit":                    "import os, sys\nexec('1')\nsys.exit(7)",
		"exit by exception":       "import os\nexec('1')\nraise SystemExit('bye')",
		"threads":                 "import os, threading\nexec('1')\nt = threading.Thread(target=lambda: print(__import__('json').__name__))\nt.start(); t.join()",
		"forks":                   "import os\nexec('1')\npid = os.fork()\nif not pid: os._exit(3)\nprint(os.waitpid(pid, 0)[1])",
		"a child":                 "import os, sys, subprocess\nexec('1')\nprint(subprocess.run([sys.executable, '-c', 'import sys, os; print(sys.path, os.environ.get(\"PYTHONPATH\"))'], capture_output=True).stdout)",
		"lines":                   "import os, linecache, inspect\nexec('1')\nprint(linecache.getline(__file__, 1), inspect.stack()[0].filename, inspect.getsource(inspect.currentframe()))",
		"mocked":                  "import os, builtins\nfrom unittest import mock\nwith mock.patch('builtins.__import__', side_effect=ImportError('no')):\n    try:\n        import json.tool\n    except ImportError as e:\n        print(e)\nimport json.tool\nexec('1')",
	} {
		t.Run(name, func(t *testing.T) {
			for _, interpreter := range pythons(t) {
				files := map[string]string{"main.py": code, "helper.py": "import nosuch2\n"}
				want := python(t, interpreter, files, nil, "main.py", "a", "b")
				got := python(t, interpreter, files, &HookOptions{Mode: Warn}, "main.py", "a", "b")
				if !got.hooked || !got.heard {
					t.Fatalf("%s: there was no hook", interpreter)
				}
				if got.stdout != want.stdout || got.stderr != want.stderr || got.code != want.code {
					t.Errorf("%s: code %d, stdout\n%s\nstderr\n%s\nwithout the hook %d\n%s\n%s", interpreter, got.code, got.stdout, got.stderr, want.code, want.stdout, want.stderr)
				}
			}
		})
	}
	// At the end of the stack there is no place for a look.
	deep := map[string]string{"main.py": "exec('1')\ndef f(n):\n    import sys\n    return f(n + 1)\nf(0)"}
	for _, interpreter := range pythons(t) {
		got := python(t, interpreter, deep, &HookOptions{Mode: Warn}, "main.py")
		if !got.heard || got.code != 1 || strings.Contains(got.stderr, "sitecustomize") || !strings.Contains(got.stderr, "\nRecursionError: maximum recursion depth exceeded") {
			t.Errorf("%s: %d, %s", interpreter, got.code, got.stderr)
		}
	}
	// A module that is run by its name.
	files := map[string]string{"pkg/__main__.py": "import sys, os\nprint(sys.argv, sys.path, __spec__)\nexec('1')\nimport nosuch", "pkg/__init__.py": ""}
	interpreter := pythons(t)[0]
	want, got := python(t, interpreter, files, nil, "-m", "pkg", "x"), python(t, interpreter, files, &HookOptions{Mode: Warn}, "-m", "pkg", "x")
	if got.stdout != want.stdout || got.stderr != want.stderr || got.code != want.code || !got.heard { // its frames too
		t.Errorf("-m: %+v, want %+v", got, want)
	}
}

func TestPythonBlocks(t *testing.T) {
	for _, interpreter := range pythons(t) {
		for _, c := range []struct {
			name, code, stdout, blocked string
			exit                        int
		}{
			{"nothing", "print('ran')", "ran\n", "", 0},
			{"before it runs", "print('ran')\nimport os", "", "os", 126},
			{"in another file", "print('ran')\nimport helper", "", "shutil", 126},
			{"at the import", "print('ran')\n__import__('sock' + 'et')\nprint('after')", "ran\n", "socket", 126},
			{"not to be caught", "print('ran')\ntry:\n    __import__('sock' + 'et')\nexcept BaseException:\n    print('caught')\nprint('after')", "ran\n", "socket", 126},
			{"with its stderr elsewhere", "import posix\nposix.dup2(posix.open('/dev/null', 1), 2)\nprint('ran')\n__import__('sock' + 'et')\nprint('after')", "ran\n", "socket", 126},
			{"that does not parse", "print('ran')\nx = = 1", "", "", 1},
		} {
			files := map[string]string{"main.py": c.code}
			if c.name == "in another file" {
				files["helper.py"] = "def f():\n  import shutil"
			}
			o := python(t, interpreter, files, &HookOptions{Mode: Block}, "main.py")
			if got := strings.Join(o.findings.Blocked, " "); got != c.blocked || o.stdout != c.stdout || o.code != c.exit || !o.heard {
				t.Errorf("%s: %s: blocked %q, stdout %q, exit %d, heard %v, stderr %s", interpreter, c.name, got, o.stdout, o.code, o.heard, o.stderr)
			}
		}
	}
}

func TestPythonChecks(t *testing.T) {
	files := map[string]string{"main.py": "import os, json\nprint('ran')", "b.py": "from x import y", "c.py": "x = = 1", "notes.txt": "import socket"}
	o := python(t, pythons(t)[0], files, &HookOptions{Mode: Warn, Check: true}, "main.py")
	want := []Import{{"x", "b.py", 1}, {"json", "main.py", 1}, {"os", "main.py", 1}}
	if !slices.Equal(o.findings.Imports, want) || !slices.Equal(o.findings.Blocked, []string{"os"}) || o.stdout != "" || o.code != 126 || len(o.faults) != 1 || !strings.Contains(o.faults[0], "(c.py, line 1)") {
		t.Errorf("%+v", o)
	}
}

// A program that cannot import what is blocked pays for no hook.
func TestPythonHookIsSpared(t *testing.T) {
	list := NewList("python", DefaultRules())
	for code, want := range map[string]bool{
		"print('hello')": false,
		"import sys, json, math\nclose = pos = 1": false,
		"print('grüße 你好 🦀')":                     false,
		"import os":                               true,
		"# os":                                    true,
		"exec(x)":                                 true,
		"import ｏｓ":                               true,
		"# coding: rot13\nvzcbeg bf":              true,
		"# -*- coding: utf-8 -*-\nx = 1":          false,
		"\xff":                                    true,
	} {
		sources := map[string][]byte{"main.py": []byte(code), "data.txt": []byte("import os")}
		if got := PythonHook(HookOptions{Sources: sources, List: list, Mode: Warn}) != nil; got != want {
			t.Errorf("%q: a hook: %v, want %v", code, got, want)
		}
		if PythonHook(HookOptions{Sources: sources, List: list, Mode: Block}) == nil {
			t.Errorf("%q: nothing would block", code)
		}
	}
}

func FuzzSuspects(f *testing.F) {
	f.Add([]byte("import os # coding: x"))
	f.Fuzz(func(t *testing.T, code []byte) {
		NewList("python", DefaultRules()).suspects(code)
		if static, _ := NewList("python", DefaultRules()).suspects(append(slices.Clone(code), "\nimport os\n"...)); !static {
			t.Errorf("%q hides an import", code)
		}
	})
}
