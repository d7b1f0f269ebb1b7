package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// uncache has the kernel forget a file of its interpreter that nobody has open, in each way that
// there is for those who may only read it, and names it.
const uncache = `import ctypes, mmap, os
name = os.path.join(os.path.dirname(os.__file__), "_pydecimal.py")
with open(name, "rb") as f:
    pages = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE)
    start, size = ctypes.c_char.from_buffer(pages), len(pages)
    sum(pages[::4096])
    ctypes.CDLL(None).madvise(ctypes.byref(start), ctypes.c_size_t(size), 21) # MADV_PAGEOUT
    del start
    pages.close() # what is mapped is kept
    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
print(os.path.realpath(name))
`

// TestFilesStayCached: what the host has read from its disk it has in memory, whatever a program
// says about it: others would wait for the disk. The kernel may still forget some of it, where memory
// is short, or with the group of the run that was the first to read it (see dropCache in
// internal/kernel/cgroup), but not after each run, once the host has read it again.
func TestFilesStayCached(t *testing.T) {
	each(t, "A43", "Have the kernel forget the files of a toolchain.", func(t *testing.T, c *combination) {
		var name string
		var forgotten []int // pages, after each run but the first, which names the file
		for range 6 {
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: uncache})
			if err != nil || r.Status != api.StatusOK {
				t.Fatalf("%+v, %v", r, err)
			}
			if name != "" {
				forgotten = append(forgotten, uncached(t, name))
				if forgotten[len(forgotten)-1] == 0 {
					return
				}
			}
			name = strings.TrimSpace(r.Stdout)
			if _, err := os.ReadFile(name); err != nil || !filepath.IsAbs(name) {
				t.Fatalf("the host has no such file: %v", err)
			}
		}
		t.Errorf("after each run some pages of %s are forgotten: %d", name, forgotten)
	})
}

// uncached is how many pages of a file are not in the host's memory.
func uncached(t *testing.T, name string) (n int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(pages) }()
	there := make([]byte, (len(pages)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&pages[0])), uintptr(len(pages)), uintptr(unsafe.Pointer(&there[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, page := range there {
		n += 1 - int(page&1)
	}
	return n
}
