package seccomp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNumbersMatchSource holds the tables of both architectures against those
// of the x/sys that this build uses, so that an update cannot be forgotten.
func TestNumbersMatchSource(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skipf("the go command cannot say where golang.org/x/sys is: %v", err)
	}
	for goarch, least := range map[string]int{"amd64": 380, "arm64": 320} {
		arch, err := ArchOf(goarch)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(strings.TrimSpace(string(out)), "unix", "zsysnum_linux_"+goarch+".go")
		source, err := os.ReadFile(file)
		if err != nil {
			t.Skipf("the source of golang.org/x/sys is not here: %v", err)
		}
		lines := regexp.MustCompile(`SYS_(\w+)\s+= (\d+)`).FindAllStringSubmatch(string(source), -1)
		if len(lines) < least {
			t.Fatalf("%s: only %d numbers", file, len(lines))
		}
		for _, line := range lines {
			name := strings.ToLower(line[1])
			if name == "arch_specific_syscall" { // the start of a range
				continue
			}
			want, _ := strconv.Atoi(line[2])
			if got, _ := arch.number(name); got != want {
				t.Errorf("%s on %s: got %d, want %d: run go generate", name, goarch, got, want)
			}
			if want > lastNumber {
				t.Errorf("%s on %s is beyond lastNumber: run go generate", name, goarch)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		name         string
		amd64, arm64 int
		known        bool
	}{
		{"read", 0, 63, true},
		{"open", 2, -1, true},
		{"arch_prctl", 158, -1, true},
		{"clone3", 435, 435, true},
		{"renameat2", 316, 276, true},
		{"arch_specific_syscall", -1, -1, false},
		{"", -1, -1, false},
	}
	for _, test := range tests {
		amd64, known := AMD64.number(test.name)
		arm64, knownToo := ARM64.number(test.name)
		if amd64 != test.amd64 || arm64 != test.arm64 || known != test.known || knownToo != test.known {
			t.Errorf("%q: got %d %d %v %v", test.name, amd64, arm64, known, knownToo)
		}
	}
	if _, err := ArchOf("riscv64"); err == nil {
		t.Error("there is no table for riscv64")
	}
}
