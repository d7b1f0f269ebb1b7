package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A file alone keeps an extension that means something to its language.
func TestExtensions(t *testing.T) {
	const jsx = "const React = {createElement: (n: string, p: any, ...c: any[]) => n + c.join()}\nconsole.log(<p>hi</p>)"
	for _, c := range []struct{ name, code, stdout string }{
		{"app.tsx", jsx, "phi\n"},
		{"app.mts", "console.log(import.meta.url.slice(-9) as string)", "/main.mts\n"},
		{"tool.mjs", "console.log(typeof require)", "undefined\n"},
		{"tool.cjs", "console.log(typeof require)", "function\n"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, []byte(c.code), 0o644); err != nil {
			t.Fatal(err)
		}
		if o := sandboxRun(t, "--output", "raw", file); o.code != 0 || o.stdout != c.stdout {
			t.Errorf("%s: exit %d, %q, %s", c.name, o.code, o.stdout, o.stderr)
		}
		if o := sandboxRun(t, "check", file); o.code != 0 {
			t.Errorf("check %s: exit %d, %s%s", c.name, o.code, o.stdout, o.stderr)
		}
	}
}
