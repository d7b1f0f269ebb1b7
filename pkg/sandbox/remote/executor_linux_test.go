package remote_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/remote"
)

// hello is a program of each language, the far host's.
var hello = map[string]string{
	"python":     "print('hi')",
	"javascript": "console.log('hi')",
	"go":         "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hi\") }\n",
	"rust":       "fn main() { println!(\"hi\"); }",
	"java":       "class Main { public static void main(String[] a) { System.out.println(\"hi\"); } }",
}

func near(tb testing.TB, dir string, rt sandbox.Runtime) *executor.Executor {
	tb.Helper()
	conf := executor.DefaultConfig()
	conf.DataDir = dir
	conf.Host = language.Host{Path: filepath.SplitList(os.Getenv("PATH")), Home: os.Getenv("HOME")}
	return executor.New(rt, conf)
}

var fill = flag.Bool("fill", false, "have TestExecutor fill the cache of Go's standard library")

// The executor's flow is the same for containers on another server, whose caches
// are filled there the first time.
func TestExecutor(t *testing.T) {
	f := serve(t)
	rt := opened(t, remote.Options{}, f)
	e := near(t, t.TempDir(), rt)
	for name, code := range hello {
		t.Run(name, func(t *testing.T) {
			if name == "go" && !*fill {
				t.Skip("filling the cache of Go's standard library takes a minute: -fill does, and make test-runtimes")
			}
			for range 2 {
				result, err := e.Run(t.Context(), executor.Request{Language: name, Code: []byte(code)}, nil)
				if err != nil {
					t.Skipf("%s: %v", name, err)
				}
				if result.Status != api.StatusOK || result.Stdout != "hi\n" {
					t.Fatalf("%s %q %q %s", result.Status, result.Stdout, result.Stderr, result.Message)
				}
			}
		})
	}
}

// What a run takes over loopback, beside one of this machine.
func BenchmarkPythonHello(b *testing.B) {
	f := serve(b)
	rt := open(b, remote.Options{}, f)
	defer rt.Close()
	for name, runtime := range map[string]sandbox.Runtime{"local": f.runtime, "remote": rt} {
		e := near(b, b.TempDir(), runtime)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				result, err := e.Run(b.Context(), executor.Request{Language: "python", Code: []byte(hello["python"])}, nil)
				if err != nil || result.Status != api.StatusOK {
					b.Fatal(result, err)
				}
			}
		})
	}
}
