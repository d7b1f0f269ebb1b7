package cli

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// verdictCase is one way to end, in every language that can.
type verdictCase struct {
	name   string
	args   []string
	stdin  string
	status api.Status
	exit   int // of sandbox-run
	code   int // exit_code of the result; anyCode is not compared
	// message, stdout and stderr are regular expressions; an empty one is not
	// compared.
	message, stdout, stderr string
	// limit is the name of the limit that ended it, phase the one it ended in.
	limit, phase string
	sources      map[string]string // by language; test programs
}

const anyCode = -1000

// kernelMemory are cases that end otherwise where no control group holds the
// memory limit; docs/SECURITY.md has the table.
var kernelMemory = map[string]bool{"memory in many processes": true, "memory in tmpfs": true}

func TestVerdicts(t *testing.T) {
	for _, u := range append(users(t), runtimeUsers(t)...) {
		t.Run(u.name, func(t *testing.T) {
			u.installed(t)
			seen := newSeen(u, look(t, u))
			have := languagesOf(t, u)
			prepareGo(t, u, have)
			// But for the table, every second language of a case is enough as an ordinary user, and
			// every third with another runtime.
			every := 3
			switch {
			case *seenDir != "" || u.name == "root":
				every = 1
			case u.name == "ordinary":
				every = 2
			}
			t.Run("posture", func(t *testing.T) { posture(t, u) })
			t.Run("ends", func(t *testing.T) { seen.verdicts(t, have, every) })
			seen.write(t)
		})
	}
}

// prepareGo has Go's standard library made ready, which may take longer than a run of a test may.
func prepareGo(t *testing.T, u user, have map[string]bool) {
	if missing(u, "go") == "" && (have == nil || have["go"]) {
		invocation{user: u, args: []string{"--quiet", "--lang", "go", "--code", "package main; func main() {}"}, limit: 10 * time.Minute}.run(t)
	}
}

// posture has a program look from inside at what is to hold it.
func posture(t *testing.T, u user) {
	if u.name == "remote" || u.name == "e2b" {
		t.Skip("containers of another machine answer for themselves")
	}
	o := invocation{user: u, args: []string{"doctor", "--posture"}}.run(t)
	if o.code != 0 || !strings.HasSuffix(o.stdout, ": all of it is as it should be\n") {
		t.Errorf("code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// verdicts has every case end in one of every so many of its languages, and in one at least.
func (s *seen) verdicts(t *testing.T, have map[string]bool, every int) {
	for i, c := range verdictCases() {
		for k, lang := range slices.Sorted(maps.Keys(c.sources)) {
			if len(c.sources) > 1 && (i+k)%min(every, len(c.sources)) != 0 {
				continue
			}
			t.Run(c.name+"/"+lang, func(t *testing.T) {
				t.Parallel()
				defer s.add(t, c.name, lang)
				if have != nil && !have[lang] {
					t.Skipf("the image has no %s", lang)
				}
				if c.refuses(t, s.user, lang, s.Enforcement) {
					s.refused(c.name, lang)
					return
				}
				if why := s.otherwise(c, lang); why != "" {
					t.Skip(why)
				}
				c.check(t, s.user, lang)
			})
		}
	}
}

// otherwise says why a case ends in another way here, or nothing.
func (s *seen) otherwise(c verdictCase, lang string) string {
	switch {
	case s.Enforcement["memory"] != api.Enforced && kernelMemory[c.name]:
		return "without a control group this ends otherwise; see docs/SECURITY.md"
	case c.limit == api.LimitInodes && s.Enforcement["inodes"] == api.Absent:
		return "nothing holds the number of files; see docs/RUNTIMES.md"
	case s.Isolation["kernel"] == api.Enforced && strings.Contains(c.sources[lang], "kill -STOP $$"):
		return "gVisor sends a hangup to the group of a process that stops itself"
	}
	return ""
}

// look is a result of the user's, which tells what is enforced.
func look(t *testing.T, u user) api.Result {
	t.Helper()
	r, _ := invocation{user: u, args: []string{"--lang", "python", "--code", "pass"}}.result(t)
	return r
}

func (c verdictCase) check(t *testing.T, u user, lang string) {
	if why := missing(u, lang); why != "" {
		t.Skip(why)
	}
	args := append([]string{"--lang", lang, "--code", c.sources[lang]}, slow(c.args)...)
	r, o := invocation{user: u, args: args, stdin: c.stdin}.result(t)
	if r.Limit != nil && r.Limit.Source == api.SourceSampled {
		c.code = anyCode // we ended it, or it ended by itself while we did
		if c.status == api.StatusDiskLimit {
			c.exit = anyCode // which is the program's own
		}
	}
	fail := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format, a...)
	}
	if r.Status != c.status {
		fail("status %s, want %s", r.Status, c.status)
	}
	if r.Success != (c.status == api.StatusOK) {
		fail("success is %v", r.Success)
	}
	if c.exit != anyCode && o.code != c.exit {
		fail("sandbox-run exits with %d, want %d", o.code, c.exit)
	}
	if c.code != anyCode && r.ExitCode != c.code {
		fail("exit_code %d, want %d", r.ExitCode, c.code)
	}
	for _, m := range []struct{ what, pattern, got string }{
		{"message", c.message, r.Message}, {"stdout", c.stdout, r.Stdout}, {"stderr", c.stderr, r.Stderr}} {
		m.pattern = slowMessage(m.pattern)
		if m.pattern != "" && !regexp.MustCompile(m.pattern).MatchString(m.got) {
			fail("%s %q does not match %q", m.what, m.got, m.pattern)
		}
	}
	if (r.Limit != nil) != (c.limit != "") || r.Limit != nil && r.Limit.Name != c.limit {
		fail("limit %+v, want %q", r.Limit, c.limit)
	}
	if r.Limit != nil && c.phase != "" && r.Limit.Phase != c.phase {
		fail("limit in phase %s, want %s", r.Limit.Phase, c.phase)
	}
	if t.Failed() {
		t.Logf("result: message %q, signal %q, exit_code %d, limit %+v, warnings %q\nstdout: %.500s\nstderr: %.1000s",
			r.Message, r.Signal, r.ExitCode, r.Limit, r.Meta.Warnings, r.Stdout, r.Stderr+o.stderr)
	}
}

// slow gives programs ten times as long on the emulated machine, where an
// interpreter takes a second to start.
func slow(args []string) []string {
	if os.Getenv("SANDBOX_VM_USER") == "" {
		return args
	}
	longer := map[string]string{"1": "10", "500ms": "5s"}
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		if d, ok := longer[args[i]]; ok && args[i-1] == "--timeout" {
			args[i] = d
		}
	}
	return args
}

// slowMessage is what the message says then.
func slowMessage(pattern string) string {
	if os.Getenv("SANDBOX_VM_USER") == "" {
		return pattern
	}
	return strings.NewReplacer("execution timed out after 1s", "execution timed out after 10s", "execution timed out after 0.5s", "execution timed out after 5s").Replace(pattern)
}

func verdictCases() []verdictCase {
	return slices.Concat(ordinaryCases(), failingCases(), limitCases())
}

// ordinaryCases end well.
func ordinaryCases() []verdictCase {
	return []verdictCase{
		{
			name: "hello", status: api.StatusOK, stdout: `^hello 42\n$`,
			sources: map[string]string{
				"python":     "print('hello', 6*7)",
				"javascript": "console.log('hello', 6*7)",
				"typescript": "const n: number = 6 * 7; console.log('hello', n)",
				"go":         "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hello\", 6*7) }",
				"rust":       "fn main() { println!(\"hello {}\", 6 * 7); }",
				"java":       "public class Greeter { public static void main(String[] a) { System.out.println(\"hello \" + 6 * 7); } }",
				"bash":       "echo hello $((6*7))",
				"c":          "#include <stdio.h>\nint main(void) { printf(\"hello %d\\n\", 6*7); }",
				"cpp":        "#include <iostream>\nint main() { std::cout << \"hello \" << 6*7 << std::endl; }",
				"ruby":       "puts \"hello #{6*7}\"",
				"perl":       "print 'hello ', 6*7, \"\\n\";",
				"php":        "<?php echo 'hello ', 6*7, \"\\n\";",
				"lua":        "print('hello ' .. 6*7)",
			},
		},
		{
			name: "file I/O", status: api.StatusOK, stdout: `^héllo 你好 🦀\n$`,
			sources: map[string]string{
				"python":     "open('ü.txt','w').write('héllo 你好 🦀')\nprint(open('ü.txt').read())",
				"javascript": "const fs=require('fs'); fs.writeFileSync('ü.txt','héllo 你好 🦀'); console.log(fs.readFileSync('ü.txt','utf8'))",
				"go":         "package main\nimport (\"fmt\";\"os\")\nfunc main() { os.WriteFile(\"ü.txt\", []byte(\"héllo 你好 🦀\"), 0o644); b, _ := os.ReadFile(\"ü.txt\"); fmt.Println(string(b)) }",
				"rust":       "use std::fs; fn main() { fs::write(\"ü.txt\", \"héllo 你好 🦀\").unwrap(); println!(\"{}\", fs::read_to_string(\"ü.txt\").unwrap()); }",
				"java":       "import java.nio.file.*; class F { public static void main(String[] a) throws Exception { Files.writeString(Path.of(\"ü.txt\"), \"héllo 你好 🦀\"); System.out.println(Files.readString(Path.of(\"ü.txt\"))); } }",
			},
		},
		{
			name: "stdin", stdin: "eins\nzwei\n", args: []string{"--stdin", "-"}, status: api.StatusOK, stdout: `^EINS\nZWEI\n$`,
			sources: map[string]string{
				"python":     "import sys\nfor l in sys.stdin: print(l.strip().upper())",
				"javascript": "process.stdout.write(require('fs').readFileSync(0,'utf8').toUpperCase())",
				"go":         "package main\nimport (\"fmt\";\"io\";\"os\";\"strings\")\nfunc main() { b, _ := io.ReadAll(os.Stdin); fmt.Print(strings.ToUpper(string(b))) }",
				"rust":       "use std::io::Read; fn main() { let mut s = String::new(); std::io::stdin().read_to_string(&mut s).unwrap(); print!(\"{}\", s.to_uppercase()); }",
				"java":       "class I { public static void main(String[] a) throws Exception { System.out.print(new String(System.in.readAllBytes()).toUpperCase()); } }",
			},
		},
		{
			name: "args and env", args: []string{"--env", "GREETING=grüß dich", "--", "--flag", "zwei drei", "🦀"}, status: api.StatusOK, stdout: `^--flag\|zwei drei\|🦀\|grüß dich\n$`,
			sources: map[string]string{
				"python":     "import sys,os; print('|'.join(sys.argv[1:]+[os.environ['GREETING']]))",
				"javascript": "console.log([...process.argv.slice(2), process.env.GREETING].join('|'))",
				"go":         "package main\nimport (\"fmt\";\"os\";\"strings\")\nfunc main() { fmt.Println(strings.Join(append(os.Args[1:], os.Getenv(\"GREETING\")), \"|\")) }",
				"rust":       "fn main() { let mut v: Vec<String> = std::env::args().skip(1).collect(); v.push(std::env::var(\"GREETING\").unwrap()); println!(\"{}\", v.join(\"|\")); }",
				"java":       "class A { public static void main(String[] a) { System.out.println(String.join(\"|\", a) + \"|\" + System.getenv(\"GREETING\")); } }",
			},
		},
		{
			name: "kill refused by nobody: background processes end with the run", status: api.StatusOK, stdout: `^started\n$`,
			sources: map[string]string{
				"python": "import subprocess; subprocess.Popen(['/bin/sh','-c','trap \"\" TERM; sleep 1000'], start_new_session=True); print('started')",
				"bash":   "setsid sleep 1000 & (sleep 1000 & sleep 1000 &) & echo started",
			},
		},
		{
			// gVisor of 2022 collects no such sockets: nothing there would ever end the run.
			name: "sockets in flight that nobody holds: the output ends with the run", args: []string{"--timeout", "20"}, status: api.StatusOK, stdout: `^sent\n$`,
			sources: map[string]string{
				"python": "import array, os, socket\na, b = socket.socketpair()\nfor by in a, b:\n    by.sendmsg([b'.'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [a.fileno(), b.fileno(), 1, 2]))])\nos.write(1, b'sent\\n')\nos._exit(0)",
			},
		},
	}
}

// failingCases fail by themselves.
func failingCases() []verdictCase {
	return []verdictCase{
		{
			name: "non-zero exit", status: api.StatusRuntimeError, exit: 3, code: 3, stdout: `^before\n$`, message: `^Execution failed: `,
			sources: map[string]string{
				"python":     "import sys; print('before'); sys.exit(3)",
				"javascript": "console.log('before'); process.exit(3)",
				"go":         "package main\nimport (\"fmt\";\"os\")\nfunc main() { fmt.Println(\"before\"); os.Exit(3) }",
				"rust":       "fn main() { println!(\"before\"); std::process::exit(3) }",
				"java":       "class X { public static void main(String[] a) { System.out.println(\"before\"); System.exit(3); } }",
			},
		},
		{
			name: "uncaught exception", status: api.StatusRuntimeError, exit: anyCode, code: anyCode, message: `^Execution failed: .*too bad`,
			sources: map[string]string{
				"python":     "raise ValueError('too bad')",
				"javascript": "throw new TypeError('too bad')",
				"go":         "package main\nfunc main() { panic(\"too bad\") }",
				"rust":       "fn main() { panic!(\"too bad\") }",
				"java":       "class X { public static void main(String[] a) { throw new IllegalStateException(\"too bad\"); } }",
			},
		},
		{
			name: "compile error", status: api.StatusCompileError, exit: anyCode, code: anyCode, message: `^(Python syntax|\w+ compile) error: `, stderr: `.`,
			sources: map[string]string{
				"python":     "def f(:\n  pass",
				"javascript": "function (",
				"typescript": "const x: = 5",
				"go":         "package main\nfunc main() { undefined() }",
				"rust":       "fn main() { let x: i32 = \"a\"; }",
				"java":       "class X { public static void main(String[] a) { int x = \"a\"; } }",
				"c":          "int main(void) { return x; }",
			},
		},
		{
			name: "segmentation fault", status: api.StatusSignaled, exit: 139, code: 139, message: `SIGSEGV`,
			sources: map[string]string{
				"python": "import ctypes; ctypes.string_at(0)",
				"rust":   "fn main() { unsafe { *(8 as *mut i32) = 1 } }",
				"c":      "int main(void) { *(volatile int *)8 = 1; }",
			},
		},
		{
			name: "kills itself", status: api.StatusSignaled, exit: 137, code: 137, message: `SIGKILL`, stdout: `^before\n$`,
			sources: map[string]string{
				"python":     "import os; print('before', flush=True); os.kill(os.getpid(), 9)",
				"javascript": "console.log('before'); process.kill(process.pid, 'SIGKILL')",
				"go":         "package main\nimport (\"fmt\";\"syscall\")\nfunc main() { fmt.Println(\"before\"); syscall.Kill(syscall.Getpid(), 9); select {} }",
				"bash":       "echo before; kill -9 $$",
			},
		},
		{
			name: "says that it was killed", status: api.StatusRuntimeError, exit: 137, code: 137,
			sources: map[string]string{"python": "import sys; sys.exit(137)", "bash": "exit 137"},
		},
	}
}

func spinning(lang string) string {
	return map[string]string{
		"python":     "print('before', flush=True)\nwhile True: pass",
		"javascript": "console.log('before'); for(;;);",
		"go":         "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"before\"); for {} }",
		"rust":       "fn main() { println!(\"before\"); loop { std::hint::spin_loop() } }",
		"java":       "class S { public static void main(String[] a) { System.out.println(\"before\"); while (true); } }",
	}[lang]
}

func each(f func(lang string) string) map[string]string {
	m := map[string]string{}
	for _, lang := range []string{"python", "javascript", "go", "rust", "java"} {
		m[lang] = f(lang)
	}
	return m
}

// limitCases run into a limit.
func limitCases() []verdictCase {
	return []verdictCase{
		{
			name: "wall timeout, spinning", args: []string{"--timeout", "1"}, status: api.StatusTimeout, exit: 124, code: anyCode,
			message: `^Code execution timed out after 1s$`, stdout: `^before\n$`, limit: api.LimitWallTime, phase: api.PhaseRun,
			sources: each(spinning),
		},
		{
			name: "wall timeout, sleeping and deaf", args: []string{"--timeout", "500ms"}, status: api.StatusTimeout, exit: 124, code: 137,
			message: `^Code execution timed out after 0.5s$`, limit: api.LimitWallTime,
			sources: map[string]string{
				"python":     "import signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)",
				"javascript": "process.on('SIGTERM',()=>{}); setTimeout(()=>{}, 1e6)",
				"bash":       "trap '' TERM; sleep 1000 & setsid sleep 1000 & kill -STOP $$",
			},
		},
		{
			name: "CPU limit", args: []string{"--cpu-time", "500ms"}, status: api.StatusCPULimit, exit: 124, code: anyCode,
			message: `^CPU time limit of 0.5s exceeded$`, limit: api.LimitCPUTime, sources: each(spinning),
		},
		{
			name: "compile timeout", args: []string{"--compile-timeout", "5ms", "--recompile"}, status: api.StatusTimeout, exit: 124, code: anyCode,
			message: `^Compilation timed out after 0.005s$`, limit: api.LimitWallTime, phase: api.PhaseCompile,
			sources: map[string]string{"rust": "fn main() {}", "c": "#include <stdio.h>\nint main(void) {}"},
		},
		{
			name: "memory", args: []string{"--memory", "200m"}, status: api.StatusMemoryLimit, exit: 137, code: anyCode,
			message: `^Memory limit of 200 MiB exceeded$`, limit: api.LimitMemory, phase: api.PhaseRun,
			sources: map[string]string{
				"python":     "l=[]\nwhile True: l.append(bytearray(1<<20))",
				"javascript": "const l=[]; for(;;) l.push(new Array(1e5).fill(1.5))",
				"go":         "package main\nfunc main() { var l [][]byte; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; l = append(l, b) } }",
				"rust":       "fn main() { let mut l = Vec::new(); loop { l.push(vec![1u8; 1 << 20]); unsafe { std::ptr::read_volatile(&l[l.len() - 1][0]) }; } }",
				"java":       "import java.util.*; class M { public static void main(String[] a) { List<byte[]> l = new ArrayList<>(); while (true) l.add(new byte[1 << 20]); } }",
			},
		},
		{
			name: "memory in tmpfs", args: []string{"--memory", "64m", "--disk", "200m"}, status: api.StatusMemoryLimit, exit: 137, code: anyCode, limit: api.LimitMemory,
			sources: map[string]string{"bash": "head -c 150m /dev/zero > big"},
		},
		{
			name: "memory in many processes", args: []string{"--memory", "64m"}, status: api.StatusMemoryLimit, exit: 137, code: anyCode, limit: api.LimitMemory,
			sources: map[string]string{"python": "import os,time\nfor _ in range(20):\n    if os.fork() == 0:\n        b = bytearray(10<<20); time.sleep(30)\ntime.sleep(30)"},
		},
		{
			name: "disk", args: []string{"--disk", "5m"}, status: api.StatusDiskLimit, exit: anyCode, code: anyCode, message: `^Disk limit of 5 MiB reached$`, limit: api.LimitDisk,
			sources: map[string]string{
				"python":     "f=open('big','wb')\nwhile True: f.write(bytes(1<<16))",
				"javascript": "const fs=require('fs'); const fd=fs.openSync('big','w'); for(;;) fs.writeSync(fd, Buffer.alloc(1<<16))",
				"go":         "package main\nimport \"os\"\nfunc main() { f, _ := os.Create(\"big\"); for { if _, err := f.Write(make([]byte, 1<<16)); err != nil { panic(err) } } }",
				"rust":       "use std::io::Write; fn main() { let mut f = std::fs::File::create(\"big\").unwrap(); loop { f.write_all(&[0; 1 << 16]).unwrap() } }",
				"java":       "import java.io.*; class D { public static void main(String[] a) throws Exception { var f = new FileOutputStream(\"big\"); while (true) f.write(new byte[1 << 16]); } }",
			},
		},
		{
			name: "inodes", args: []string{"--disk", "1m"}, status: api.StatusDiskLimit, exit: 1, code: 1, message: `^File limit of \d+ files reached$`, limit: api.LimitInodes,
			sources: map[string]string{"python": "import os\nfor i in range(100000): os.mkdir(str(i))"},
		},
		{
			name: "disk hit and survived", args: []string{"--disk", "5m"}, status: api.StatusOK, stdout: `^went on\n$`,
			sources: map[string]string{"python": "try:\n    f=open('big','wb',0)\n    while True: f.write(bytes(1<<16))\nexcept OSError: print('went on')"},
		},
		{
			name: "fork bomb", args: []string{"--pids", "20", "--timeout", "5"}, status: api.StatusProcessLimit, exit: anyCode, code: anyCode, limit: api.LimitProcesses,
			message: `^Process limit of 20 processes and threads reached$`,
			sources: map[string]string{
				"python": "import os,time\nwhile True:\n    if os.fork() == 0: time.sleep(30)",
			},
		},
		{
			name: "thread bomb", args: []string{"--pids", "40", "--timeout", "10"}, status: api.StatusProcessLimit, exit: anyCode, code: anyCode, limit: api.LimitProcesses,
			sources: map[string]string{
				"python": "import threading,time\nfor _ in range(100): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()",
				"rust":   "fn main() { let v: Vec<_> = (0..100).map(|_| std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(5)))).collect(); for t in v { t.join().unwrap() } }",
				"java":   "class T { public static void main(String[] a) throws Exception { for (int i = 0; i < 200; i++) { var t = new Thread(() -> { try { Thread.sleep(30000); } catch (Exception e) {} }); t.setDaemon(true); t.start(); } } }",
			},
		},
		{
			name: "output flood", args: []string{"--max-stream", "2m"}, status: api.StatusOutputLimit, exit: 137, code: anyCode, limit: api.LimitOutput,
			message: `^Output exceeded the stream limit of 2 MiB$`,
			sources: map[string]string{
				"python":     "while True: print('x'*1000)",
				"javascript": "const s='x'.repeat(999)+'\\n'; const fs=require('fs'); for(;;) fs.writeSync(2, s)",
				"go":         "package main\nimport (\"fmt\";\"strings\")\nfunc main() { for { fmt.Println(strings.Repeat(\"x\", 1000)) } }",
				"rust":       "fn main() { loop { println!(\"{}\", \"x\".repeat(1000)) } }",
				"java":       "class O { public static void main(String[] a) { while (true) System.out.println(\"x\".repeat(1000)); } }",
			},
		},
	}
}

func TestOutputIsKeptHeadAndTail(t *testing.T) {
	code := "for i in range(100000): print(i)"
	r, _ := invocation{user: user{self: true}, args: []string{"--lang", "python", "--code", code, "--max-output", "1k"}}.result(t)
	if r.Status != api.StatusOK || !r.Meta.Truncated {
		t.Errorf("status %s, truncated %v", r.Status, r.Meta.Truncated)
	}
	if !strings.HasPrefix(r.Stdout, "0\n1\n2\n") || !strings.HasSuffix(r.Stdout, "99998\n99999\n") || strings.Count(r.Stdout, "left out") != 1 {
		t.Errorf("stdout %q", r.Stdout)
	}
	if len(r.Stdout) > 1<<10+100 {
		t.Errorf("%d bytes are kept", len(r.Stdout))
	}
}

func TestBinaryOutputIsExact(t *testing.T) {
	code := `import sys; sys.stdout.buffer.write(bytes(range(256)))`
	r, _ := invocation{user: user{self: true}, args: []string{"--lang", "python", "--code", code}}.result(t)
	if r.StdoutBase64 != "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==" {
		t.Errorf("stdout_base64 %q", r.StdoutBase64)
	}
	raw := sandboxRun(t, "--output", "raw", "--lang", "python", "--code", code)
	want := make([]byte, 256)
	for i := range want {
		want[i] = byte(i)
	}
	if raw.stdout != string(want) || raw.stderr != "" {
		t.Errorf("raw stdout %q, stderr %q", raw.stdout, raw.stderr)
	}
}
