package hostile

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var update = flag.Bool("update", false, "write the golden postures")

// machines are lines that differ from one machine to the next and tell nothing, and
// the values in others that do.
var machines = []*regexp.Regexp{
	regexp.MustCompile(`^limit (processes|pending signals|nice priority|realtime priority) .*`),
	regexp.MustCompile(`^mount /(usr|lib|bin|sbin|etc|opt|root|home|var|run|sys|mnt|dev/pts|proc/)\S* .*`),
	regexp.MustCompile(`^mount .* nsfs `), // at restricted, of whoever else makes namespaces here
	regexp.MustCompile(`^process (cgroup|loginuid) .*`),
	regexp.MustCompile(`^process id +\d{3,}.*`), // the host's, at restricted
}

var (
	// What there is to open is the kernel's; whether it lets a program is not.
	closed = regexp.MustCompile(`^((device|reads) \S+ +)(empty|E[A-Z]+)\n`)

	uid = regexp.MustCompile(`\b\d{6,10}\b`)
	// Before, an engine's container has had other processes, now one more and now one less.
	pid = regexp.MustCompile(`^(process id +)\d+`)
	// What an OCI container has beside its limit is what its init happens to have.
	memory = regexp.MustCompile(`^(outside memory +\d+)\.\d+`)
)

// TestGoldenPosture holds what a program sees from inside against what it saw when
// somebody last read it: of each level, for root and for an ordinary user, and of the other
// runtimes that are here.
func TestGoldenPosture(t *testing.T) {
	var system unix.Utsname
	if err := unix.Uname(&system); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(system.Release[:])
	tool, err := testenv.Program(work, "sandbox-run", "SANDBOX_TEST_BINARY")
	if err != nil {
		t.Fatal(err)
	}
	some := slices.Clone(combinations())
	if _, err := exec.LookPath("crun"); err == nil && os.Geteuid() == 0 && *place == "" && !strings.Contains(*types, "oci") {
		some = append(some, &combination{runtime: "oci", level: "full", user: "root"})
	}
	for _, c := range some {
		if c.runtime == "remote" { // where local makes the containers, and looks
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			home := filepath.Join(work, "posture-"+c.user)
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(tool, "doctor", "--posture")
			cmd.Env = testenv.Environ(append(c.engine(), "SANDBOX_TYPE="+c.runtime, "SANDBOX_ISOLATION="+c.level, "HOME="+home, "XDG_RUNTIME_DIR="+home, "SANDBOX_DATA_DIR="+home)...)
			cmd.Dir = "/"
			if c.user == "ordinary" && os.Geteuid() == 0 {
				if err := os.Chown(home, ordinaryUser, ordinaryUser); err != nil {
					t.Fatal(err)
				}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, lastLines(string(out)))
			}
			var b strings.Builder
			for line := range strings.Lines(string(out)) {
				kept := true
				for _, m := range machines {
					kept = kept && !m.MatchString(line)
				}
				line = memory.ReplaceAllString(line, "$1")
				line = closed.ReplaceAllString(line, "${1}nothing\n")
				if c.runtime == "docker" {
					line = pid.ReplaceAllString(line, "${1}N")
				}
				if kept {
					b.WriteString(uid.ReplaceAllString(line, "UID"))
				}
			}
			file := filepath.Join("testdata", strings.ReplaceAll(c.String(), " ", "-")+".golden")
			if *update {
				if err := os.WriteFile(file, []byte("kernel "+release+"\n"+b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, want, _ := strings.Cut(string(golden), "\n")
			if version(first) != version("kernel "+release) {
				t.Skipf("this is %s, and the golden posture that of %s", release, first)
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(b.String(), "\n")); diff != "" {
				t.Errorf("the golden posture (-) and this one (+):\n%s", diff)
			}
		})
	}
}

// version is the kernel's, without what distributions add: 6.18.
func version(line string) string {
	words := strings.Fields(line)
	parts := strings.SplitN(words[len(words)-1], ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}
