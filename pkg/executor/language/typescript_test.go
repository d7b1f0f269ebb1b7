package language

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language/esbuild"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// compileAndRun runs a TypeScript plan, with the compiler in this process.
func (w bareWorld) compileAndRun(tc Toolchain, src Source) bareRun {
	w.t.Helper()
	plan, err := newTypeScript().Plan(tc, src, testResources)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(plan.Files)
	if plan.Compile.Args[0] != SelfPath || plan.Compile.Args[1] != EsbuildCommand {
		w.t.Fatalf("the compiler is %q", plan.Compile.Args)
	}
	var args []string
	for _, arg := range plan.Compile.Args[2:] {
		args = append(args, w.local(arg))
	}
	var stderr bytes.Buffer
	if code := esbuild.Main(args, nil, nil, &stderr); code != 0 {
		return bareRun{"compile", code, "", stderr.String()}
	}
	step, err := plan.Run(openTree(w.t, w.local(sandbox.BuildDir)))
	if err != nil {
		w.t.Fatal(err)
	}
	code, stdout, errOut := w.step(step, "")
	return bareRun{"run", code, stdout, stderr.String() + errOut}
}

func TestTypeScriptPrograms(t *testing.T) {
	tests := []struct {
		name string
		src  Source
		want string
	}{
		{"code", Source{Code: []byte("enum E { A = 42 }\nconst x: number = E.A; console.log(x, 'héllo 你好 🦀', process.argv[2])"), Args: []string{"ñ"}}, "42 héllo 你好 🦀 ñ\n"},
		{"await at the top", Source{Code: []byte("import fs from 'node:fs'\nconst x: string = await Promise.resolve('ok'); console.log(x, typeof fs.readFileSync)")}, "ok function\n"},
		{"imports of every kind", source("", "main.ts", "import {a} from './lib/a'; import b from './b.js'; import {c} from './c.ts'; import d from './d.json'; console.log(a + b + c + d.x)",
			"lib/a.ts", "export const a: number = 1", "b.ts", "export default 2 as number", "c.ts", "export const c = 3", "d.json", `{"x": 4}`), "10\n"},
		{"a module requires", source("", "main.mts", "import {v} from './c.cjs'; console.log(await v)", "c.cjs", "exports.v = require('node:os').EOL.length"), "1\n"},
		{"places of the entry", Source{Code: []byte("import path from 'path'\nconsole.log(path.basename(__filename), path.basename(__dirname), path.basename(process.argv[1]))")}, "main.ts workspace main.ts\n"},
		{"places of another file", source("", "main.ts", "import {here} from './lib/a'; console.log(here)", "lib/a.ts", "import path from 'path'; export const here: string = path.basename(__dirname) + import.meta.url.slice(-9)"), "lib/lib/a.ts\n"},
		{"only when started", Source{Code: []byte("import {pathToFileURL} from 'url'\nif (import.meta.url === pathToFileURL(process.argv[1]).href) console.log('started')")}, "started\n"},
		{"only when started, CommonJS", Source{Code: []byte("const fs = require('fs')\nif (require.main === module) console.log('started')")}, "started\n"},
		{"only when started, mixed", Source{Code: []byte("import fs from 'fs'\nif (require.main === module) console.log('started', typeof fs)")}, "started object\n"},
		{"own __dirname", Source{Code: []byte("import {dirname} from 'path'; import {fileURLToPath} from 'url'; const __dirname = dirname(fileURLToPath(import.meta.url)); console.log(__dirname.endsWith('workspace'))")}, "true\n"},
		{"own require", Source{Code: []byte("import {createRequire} from 'module'; const require = createRequire(import.meta.url); await 1; console.log(typeof require('os').EOL)")}, "string\n"},
		{"decorators by tsconfig", source("", "main.ts", "function d(t: any, k: string) { console.log(k) }\nclass A { @d m() {} }", "tsconfig.json", `{"compilerOptions": {"experimentalDecorators": true}}`), "m\n"},
		{"JSX", source("", "main.tsx", "const React = {createElement: (n: string, p: any, ...c: any[]) => n + c.join()}\nconsole.log(<p>hi</p>)"), "phi\n"},
		{"declarations are no entry", source("", "types.d.ts", "declare type T = 1", "tool.ts", "console.log(6)"), "6\n"},
		{"what is written runs", source("", "main.ts", "import './effect'", "effect.ts", "console.log(7)", "package.json", `{"sideEffects": false}`), "7\n"},
	}
	tc := toolchains(t, newTypeScript())[0]
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := newBareWorld(t).compileAndRun(tc, test.src)
			if got.code != 0 || got.stdout != test.want || got.stderr != "" {
				t.Errorf("%s: code %d, stdout %q, stderr %q; want %q", got.phase, got.code, got.stdout, got.stderr, test.want)
			}
		})
	}
}

func TestTypeScriptFailures(t *testing.T) {
	tests := []struct {
		name   string
		src    Source
		phase  string
		stderr string // part of it
		reason string
	}{
		{"does not parse", Source{Code: []byte("const a = 1\nconst x: number = ;")}, "compile", "main.ts:2:19: error: Unexpected \";\"\n    const x: number = ;\n", `main.ts:2:19: error: Unexpected ";"`},
		{"a file that does not parse", source("", "main.ts", "import './lib/é'", "lib/é.ts", "let x = ;"), "compile", "lib/é.ts:1:9: error: ", `lib/é.ts:1:9: error: Unexpected ";"`},
		{"a file that does not parse and asks for its place", source("", "main.ts", "import './lib/a'", "lib/a.ts", "__dirname;\nlet x = ;"), "compile", "lib/a.ts:2:9: error: ", `lib/a.ts:2:9: error: Unexpected ";"`},
		{"no such package", Source{Code: []byte("import x from 'nope'; x()")}, "compile", "main.ts:1:15: error: Could not resolve \"nope\"", `main.ts:1:15: error: Could not resolve "nope"`},
		{"uncaught", Source{Code: []byte("interface I { a: number }\n\n\nfunction f(i: I | null) {\n  return i!.a\n}\nf(null)")}, "run", "workspace/main.ts:5:", "TypeError: Cannot read properties of null (reading 'a')"},
		{"uncaught elsewhere", source("", "main.ts", "import {f} from './lib/a'\nawait f()", "lib/a.ts", "type T = 1\nexport function f() {\n  throw new Error('é' + __filename.length * 0)\n}"), "run", "workspace/lib/a.ts:3:", "Error: é0"},
	}
	tc := toolchains(t, newTypeScript())[0]
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := newBareWorld(t).compileAndRun(tc, test.src)
			if got.code != 1 || got.phase != test.phase || !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("%s: code %d, stderr:\n%s\nwant %s", got.phase, got.code, got.stderr, test.stderr)
			}
			d := newTypeScript().Diagnose(got.phase, got.stderr)
			if d.Reason != test.reason || d.SyntaxError {
				t.Errorf("diagnosis %+v, want %s", d, test.reason)
			}
		})
	}
}

func TestTypeScriptWithoutBundle(t *testing.T) {
	plan, err := newTypeScript().Plan(Toolchain{Program: "/n", Version: "20.1.0"}, Source{Code: []byte("1")}, Resources{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(openTree(t, t.TempDir())); err == nil {
		t.Error("a program that is not there can be run")
	}
	if _, err := newTypeScript().Plan(Toolchain{}, source("", "a.d.ts", ""), Resources{}); err == nil {
		t.Error("declarations alone are a program")
	}
}

// noFiles is a tree in which nothing can be opened.
type noFiles struct {
	sandbox.FileTree
	err error
}

func (n noFiles) Open(string) (sandbox.File, error) { return nil, n.err }

// Whether the compiler has made nothing, or nobody can tell, are two things.
func TestBundleThatIsNotThere(t *testing.T) {
	for _, err := range []error{fs.ErrNotExist, syscall.EAGAIN} {
		_, got := bundlePath(noFiles{err: fmt.Errorf("open: %w", err)})
		if _, nothing := errors.AsType[NothingToRun](got); nothing != errors.Is(err, fs.ErrNotExist) || !nothing && !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
