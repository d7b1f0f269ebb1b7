package hostile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// cacheLocker locks the files and directories of the cache, and those that its arguments name.
const cacheLocker = `package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	n, names := 0, os.Args[1:]
	_ = filepath.WalkDir("/cache", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && len(names) < 1600 {
			names = append(names, path)
		}
		return nil
	})
	for _, name := range names {
		if f, err := os.Open(name); err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			n++
		}
	}
	fmt.Println("ready", n)
	time.Sleep(time.Minute)
}`

// TestLockedCache is B14: a program locks what it finds of the build cache that all
// share, and others go on compiling.
func TestLockedCache(t *testing.T) {
	each(t, "B14", "A program locks what it finds of the build cache that all share.", func(t *testing.T, c *combination) {
		c.warm(t, "go")
		names := []string{"/cache"}
		caches, _ := filepath.Glob(filepath.Join(c.data(), "cache/build/go-*/"))
		if len(caches) == 0 {
			t.Fatal("there is no build cache of Go")
		}
		for _, cache := range caches { // by its place on the host, and in a sandbox
			_ = filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
				if err == nil && len(names) < 800 {
					names = append(names, path, "/cache/go-build"+strings.TrimPrefix(path, cache))
				}
				return nil
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var others sync.WaitGroup
		_, err := c.client.Stream(ctx, api.Request{Language: "go", Code: cacheLocker, Args: names, TimeoutSeconds: 60}, func(e api.Event) error {
			if e.Type == api.EventStdout {
				var locks int
				if _, err := fmt.Sscanf(e.Data, "ready %d", &locks); err != nil || locks < 100 {
					t.Errorf("it has few locks of %d: %q", len(names), e.Data)
				}
				others.Go(func() {
					defer cancel()
					c.greets(t, "go")
				})
			}
			return nil
		})
		others.Wait()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("hello was not said before the minute was over: %v", err)
		}
	})
}

// strangeNames are names of source files that a command line or a shell could take for
// something else; EXT stands for the extension.
var strangeNames = []string{
	"-o.EXT", "--help.EXT", "-.EXT", "-Wl,-rpath.EXT", "-toolexec=x.EXT", "@main.EXT", "main;id.EXT", "$(id).EXT", "`id`.EXT", "a b.EXT",
	"new\nline.EXT", "\u202etxt.EXT", "\x1b[31m.EXT", "*.EXT", "~.EXT", "%s%n.EXT", strings.Repeat("n", 250) + ".EXT", "é🦀.EXT", "'\".EXT", "\\.EXT",
	"-J-version/-cp.EXT", "..x/...EXT", "--/--.EXT", "con.EXT", "a:b.EXT", "a=b.EXT", "#.EXT",
}

// TestTooManyConstants is B3 for Java, whose sources can repeat nothing: a class of more constants than it can
// number is an error of the program's.
func TestTooManyConstants(t *testing.T) {
	each(t, "B3", "A class of Java with more constants than it can number.", func(t *testing.T, c *combination) {
		c.warm(t, "java")
		var source strings.Builder
		source.WriteString("class Main {\n")
		for n := range 1 << 16 {
			fmt.Fprintf(&source, "static void f%d() {}\n", n)
		}
		source.WriteString("public static void main(String[] a) {}\n}\n")
		r, err := c.client.Execute(t.Context(), api.Request{Language: "java", Code: source.String()})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != api.StatusCompileError || !strings.Contains(r.Stderr, "too many constants") {
			t.Errorf("status %s, %s, stderr %.500s", r.Status, r.Message, r.Stderr)
		}
	})
}

// TestStrangeNames is B11: a source of any name is a file. What a tool cannot take is
// an error of its own, or of the request; nothing in a name is an option or a command.
func TestStrangeNames(t *testing.T) {
	each(t, "B11", "Sources whose names are options, commands, or no names.", func(t *testing.T, c *combination) {
		for lang, ext := range map[string]string{"python": "py", "javascript": "js", "bash": "sh", "c": "c", "cpp": "cpp", "go": "go", "rust": "rs", "java": "java"} {
			if !*allOf && lang != "python" && lang != "c" {
				continue
			}
			t.Run(lang, func(t *testing.T) {
				c.warm(t, lang)
				for _, name := range strangeNames {
					name = strings.ReplaceAll(name, "EXT", ext)
					r, err := c.client.Execute(t.Context(), api.Request{Language: lang, Entry: name, Files: map[string]api.InputFile{name: {Content: hello[lang]}}})
					switch {
					case err != nil:
						var refused *client.Error
						if !errors.As(err, &refused) || refused.Problem.Status != http.StatusUnprocessableEntity {
							t.Errorf("%q: %v", name, err)
						}
					case lang == "go" && r.Status == api.StatusCompileError && strings.Contains(r.Stderr, "invalid input file name"): // its own word
					case r.Status == api.StatusOK && strings.TrimSpace(r.Stdout+r.Stderr) == "hello":
					default:
						t.Errorf("%q: status %s, %s\nstdout: %.500s\nstderr: %.500s", name, r.Status, r.Message, r.Stdout, r.Stderr)
					}
					if err == nil && strings.Contains(r.Stdout+r.Stderr, "uid=") {
						t.Errorf("%q was a command: %s%s", name, r.Stdout, r.Stderr)
					}
				}
				c.check(t)
			})
		}
		for _, name := range []string{"../up.py", "/abs.py", "a/../../up.py", "nul\x00.py", strings.Repeat("n", 256), "", ".", "a//b.py", "a/./b.py", "bad\xff.py"} {
			if r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: "print('ran')", Files: map[string]api.InputFile{name: {Content: "x"}}}); err == nil {
				t.Errorf("%q was accepted: %s", name, r.Status)
			}
		}
	})
}

// TestPoisonedCache is B13: one run changes, removes and makes files wherever it can in
// what compilers and interpreters share, and the next one finds nothing of it.
func TestPoisonedCache(t *testing.T) {
	const poison = `import os
for top in ("/cache", "/build", "/usr", "/etc", "/lib", "/tmp", "/var", "/dev/shm", "/opt", "/root", "/proc/self/root/workspace", os.path.dirname(os.__file__)):
    n = 0
    for directory, below, names in os.walk(top):
        n += 1
        if n > 2000: break
        try:
            open(os.path.join(directory, "poison-51e7"), "w").write("poison-51e7")
        except OSError: pass
        for name in names[:50]:
            path = os.path.join(directory, name)
            for f in (lambda: open(path, "r+b").write(b"poison-51e7"), lambda: os.utime(path), lambda: os.chmod(path, 0o777)):
                try: f()
                except OSError: pass
print("done")`
	const find = `import os
for top in ("/cache", "/build", "/usr", "/etc", "/lib", "/tmp", "/var", "/dev/shm", "/opt", "/root", "/workspace", os.path.dirname(os.__file__)):
    n = 0
    for directory, below, names in os.walk(top):
        n += 1
        if n > 2000: break
        if "poison-51e7" in names: print("in", directory)
        for name in names[:50]:
            try:
                if open(os.path.join(directory, name), "rb").read(11) == b"poison-51e7": print("in the file", directory, name)
            except OSError: pass
print("done")`
	each(t, "B13", "One run changes, removes and makes files wherever it can in what compilers and interpreters share.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		for _, code := range []string{poison, find} {
			if !*allOf {
				code = strings.Replace(code, "n > 2000", "n > 400", 1)
			}
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: code, TimeoutSeconds: 60})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != api.StatusOK || r.Stdout != "done\n" {
				t.Errorf("status %s, %s, stdout %.2000s, stderr %.500s", r.Status, r.Message, r.Stdout, r.Stderr)
			}
		}
	})
}
