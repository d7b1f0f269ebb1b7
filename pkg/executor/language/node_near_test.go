package language

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNearForgetsTheProgram: a Node that waits has next to nothing of its own program in its tables of
// pages, goes on, and finds that descriptor of nobody's missing like any Node.
func TestNearForgetsTheProgram(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine")
	}
	library := filepath.Join(t.TempDir(), "near.so")
	if err := os.WriteFile(library, ownNear(), 0o600); err != nil {
		t.Fatal(err)
	}
	const nobodys = "fs.fdatasyncSync(0x7fffffff)"
	c := exec.Command(node, "-e", nobodys+"; const n = fs.readSync(0, Buffer.alloc(9)); try { "+nobodys+" } catch (e) { console.log(n, e.code) }")
	c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 1)
	if _, err := io.ReadFull(stdout, said); err != nil || said[0] != 6 {
		t.Fatalf("what waits said %q (%v)", said, err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?s) r-xp [^\n]*/node\nSize: +(\d+) kB\n.*?Rss: +(\d+) kB`).FindAllSubmatch(maps, -1)
	var size, rss int
	for _, m := range code {
		n, _ := strconv.Atoi(string(m[1]))
		used, _ := strconv.Atoi(string(m[2]))
		size, rss = size+n, rss+used
	}
	if size < 1024 || rss > size/10 { // the rest is other threads'
		t.Errorf("%d KiB of the %d of its code are in its tables", rss, size)
	}
	if _, err := stdin.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	if err := c.Wait(); err != nil || string(rest) != "4 EBADF\n" {
		t.Errorf("it said %q and ended with %v", rest, err)
	}
}

// TestNearIsBuiltFromItsSource: what is checked in is what the source says. One version of the
// compiler makes the same bytes.
func TestNearIsBuiltFromItsSource(t *testing.T) {
	const compilerVersion = "12.2.0"
	for arch, compiler := range map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"} {
		t.Run(arch, func(t *testing.T) {
			version, err := exec.Command(compiler, "-dumpfullversion").Output()
			if got := strings.TrimSpace(string(version)); err != nil || got != compilerVersion {
				t.Skipf("%s is version %q (%v); only %s makes the same bytes", compiler, got, err, compilerVersion)
			}
			out := t.TempDir()
			build := exec.Command("sh", "node_near/build.sh", out)
			build.Env = append(os.Environ(), "ARCHS="+arch)
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			name := "near_" + arch + ".so"
			built, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := nodeNear.ReadFile("node_near/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(built, recorded) {
				t.Errorf("%s is not what its source makes: run make init", name)
			}
		})
	}
}
