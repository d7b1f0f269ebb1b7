package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// thrashes fills its memory until a little less is left for files than it goes on to read, again and
// again: the kernel takes back what was read before, and has no reason to kill.
const thrashes = `
import mmap, resource, sys
maps = []
for name in sys.stdin.read().split("\n"):
    with open(name, "rb") as f: maps.append(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ))
size, room = sum(map(len, maps)), 3 << 20
def read():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    for m in maps: m[::4096]
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before
read()
kept = []
while %[1]s and read() < 50: kept.append(b"x" * (1 << 20))
while %[1]s and size > room:
    kept.append(b"x" * (1 << 20))
    size -= 1 << 20
while True: read()
`

// A program that is at its memory limit, and that the kernel lets go on at a crawl, has reached it. One
// that has room for what it reads again is nobody's business.
func TestThrashing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the files of a toolchain are forgotten for root alone")
	}
	const most = 7 << 20
	var files []string
	size := 0
	dirs, _ := filepath.Glob("/usr/lib/python3*")
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(name, ".py") || size >= most {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Size() >= 16<<10 {
				files, size = append(files, name), size+int(info.Size())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if size < most {
		t.Skipf("needs %d bytes of files that nobody runs, there are %d", most, size)
	}
	for fills, status := range map[string]api.Status{"True": api.StatusMemoryLimit, "False": api.StatusTimeout} {
		t.Run(string(status), func(t *testing.T) {
			for _, name := range files {
				testenv.Forget(t, name)
			}
			r, _ := invocation{stdin: strings.Join(files, "\n"), args: []string{"--memory", "96M", "--timeout", "6",
				"--stdin", "-", "--lang", "python", "--code", fmt.Sprintf(thrashes, fills)}}.result(t)
			if held := r.Meta.ResourceLimits.Enforcement["memory"]; held != api.Enforced {
				t.Skipf("memory is %s here", held)
			}
			if r.Status != status {
				t.Fatalf("status %s, %s, limit %+v, stderr %s", r.Status, r.Message, r.Limit, r.Stderr)
			}
			if status == api.StatusMemoryLimit && r.Limit.Source != api.SourceSampled {
				t.Errorf("limit %+v", r.Limit)
			}
		})
	}
}
