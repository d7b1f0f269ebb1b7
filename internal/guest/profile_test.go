package guest

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestProfileLetsInitWork: what we have init do, and what it does by itself, is allowed
// under the filter that is around the container.
func TestProfileLetsInitWork(t *testing.T) {
	source, err := os.ReadFile("../kernel/spawn/init/init.c")
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, m := range regexp.MustCompile(`SYS_(\w+) = \d`).FindAllSubmatch(source, -1) {
		own = append(own, string(m[1]))
	}
	if len(own) < 20 {
		t.Fatalf("only %v", own)
	}
	for goarch, arch := range map[string]seccomp.Arch{"amd64": seccomp.AMD64, "arm64": seccomp.ARM64} {
		numbers, err := callsOf(goarch)
		if err != nil {
			t.Fatal(err)
		}
		names := slices.Clone(own)
		fields := reflect.ValueOf(numbers)
		for i := range fields.NumField() {
			if name := fields.Type().Field(i).Name; !slices.Contains([]string{"oDirectory", "oNofollow"}, name) {
				names = append(names, arch.Name(int(fields.Field(i).Int())))
			}
		}
		p, err := Profile(seccomp.Options{NoUDP: true}, sandbox.NetworkPolicy{}, goarch)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !slices.ContainsFunc(p.Syscalls, func(r seccomp.ProfileRule) bool {
				return r.Action == "SCMP_ACT_ALLOW" && slices.Contains(r.Names, name)
			}) {
				t.Errorf("%s: init cannot make %s", goarch, name)
			}
		}
	}
	if _, err := Profile(seccomp.Options{}, sandbox.NetworkPolicy{}, "riscv64"); err == nil {
		t.Error("a profile for riscv64")
	}
}
