package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"
)

// arena is a directory with the root of an image and, beside it, a canary that
// nothing may touch.
type arena struct {
	dir, root string
	canary    map[string]string
	unpacker  *unpacker
}

func newArena(t testing.TB, limits Limits) *arena {
	t.Helper()
	base := t.TempDir()
	a := &arena{dir: base, root: filepath.Join(base, "root")}
	for _, d := range []string{"root", "canary", "canary/etc"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"canary/file", "canary/etc/passwd"} {
		if err := os.WriteFile(filepath.Join(base, f), []byte("alive"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.canary = listing(t, filepath.Join(base, "canary"))
	a.unpacker = newUnpacker(t.Context(), must[*os.Root](t)(os.OpenRoot(a.root)), limits.withDefaults())
	t.Cleanup(a.unpacker.close)
	return a
}

// layer unpacks an archive as the next layer.
func (a *arena) layer(data []byte) error {
	u := a.unpacker
	if u.layers > 0 {
		if _, err := u.read(bytes.NewReader(data), "", &u.scanned, u.hide); err != nil {
			return err
		}
	}
	_, err := u.stream(bytes.NewReader(data), "sha256")
	return err
}

// check asserts what must hold whatever was unpacked, and that it can be removed.
func (a *arena) check(t testing.TB) {
	t.Helper()
	if diff := cmp.Diff(a.canary, listing(t, filepath.Join(a.dir, "canary"))); diff != "" {
		t.Errorf("the canary was touched (-before +after):\n%s", diff)
	}
	entries := must[[]os.DirEntry](t)(os.ReadDir(a.dir))
	if len(entries) != 2 {
		t.Errorf("something was made beside the root: %v", entries)
	}
	root := must[*os.Root](t)(os.OpenRoot(a.root))
	defer root.Close()
	a.checkTree(t, root)
	a.unpacker.tree.forget()
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(a.root)) {
		if err := root.RemoveAll(e.Name()); err != nil {
			t.Errorf("what was unpacked cannot be removed: %v", err)
		}
	}
}

func (a *arena) checkTree(t testing.TB, root *os.Root) {
	t.Helper()
	f := must[*os.File](t)(root.Open("."))
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info := must[os.FileInfo](t)(e.Info())
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(stat.Uid) != os.Geteuid() {
			t.Errorf("%q belongs to somebody else", e.Name())
		}
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%q has the mode %s", e.Name(), info.Mode())
		}
		switch info.Mode().Type() {
		case 0, os.ModeSymlink:
		case os.ModeDir:
			if info.Mode().Perm()&0o700 != 0o700 {
				t.Errorf("directory %q has the mode %s", e.Name(), info.Mode())
			}
			sub := must[*os.Root](t)(root.OpenRoot(e.Name()))
			a.checkTree(t, sub)
			sub.Close()
		default:
			t.Errorf("%q is of type %s", e.Name(), info.Mode().Type())
		}
	}
}

// base is a layer as distributions have it: links for /bin, and some that lead
// out for those who would follow them.
func base(t testing.TB) []byte {
	return archive(t,
		dir("usr"), dir("usr/bin"), link("bin", "usr/bin"), dir("etc"), file("etc/passwd", "root"),
		link("abs", "/etc"), link("up", "../canary"), link("far", "../../../../../../../../tmp"),
		link("loop", "loop"), link("a", "b"), link("b", "a"), dir("d"), link("d/self", "."), link("d/abs", "/etc"),
		file("usr/bin/tool", "old"), dir("d/inner"), file("d/inner/f", "1"), link("dangling", "/no/where"))
}

// TestHostile unpacks a layer over that base; each must be refused with the right
// kind of error, or leave what the table says.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("q/", 300) + "f"
	for name, c := range map[string]struct {
		entries []entry
		limits  Limits
		want    error
		tree    map[string]string // some of what is there afterwards; "" is nothing
	}{
		"dots":                     {entries: []entry{file("../canary/file", "dead")}, want: ErrHostile},
		"dots inside":              {entries: []entry{file("etc/../../canary/file", "dead")}, want: ErrHostile},
		"dots that stay":           {entries: []entry{file("etc/../x", "dead")}, want: ErrHostile},
		"directory of dots":        {entries: []entry{dir("..")}, want: ErrHostile},
		"absolute":                 {entries: []entry{file("/canary/file", "in")}, tree: map[string]string{"canary/file": "-rw-r--r-- in"}},
		"doubly absolute":          {entries: []entry{file("//x", "in")}, tree: map[string]string{"x": "-rw-r--r-- in"}},
		"through up":               {entries: []entry{file("up/file", "in")}, tree: map[string]string{"canary/file": "-rw-r--r-- in"}},
		"through far":              {entries: []entry{file("far/file", "in")}, tree: map[string]string{"tmp/file": "-rw-r--r-- in"}},
		"through absolute":         {entries: []entry{file("abs/passwd", "new")}, tree: map[string]string{"etc/passwd": "-rw-r--r-- new", "abs": "-> /etc"}},
		"through absolute below":   {entries: []entry{file("d/abs/passwd", "new")}, tree: map[string]string{"etc/passwd": "-rw-r--r-- new", "d/etc": ""}},
		"through bin":              {entries: []entry{file("bin/tool", "new")}, tree: map[string]string{"usr/bin/tool": "-rw-r--r-- new", "bin": "-> usr/bin"}},
		"through dangling":         {entries: []entry{file("dangling/f", "in")}, tree: map[string]string{"no/where/f": "-rw-r--r-- in"}},
		"through loop":             {entries: []entry{file("loop/f", "x")}, want: ErrHostile},
		"through two links":        {entries: []entry{file("a/f", "x")}, want: ErrHostile},
		"onto a link":              {entries: []entry{file("up", "file now")}, tree: map[string]string{"up": "-rw-r--r-- file now"}},
		"link then through":        {entries: []entry{link("x", "../canary"), file("x/file", "in")}, tree: map[string]string{"canary/file": "-rw-r--r-- in"}},
		"directory to link":        {entries: []entry{link("d/inner", "../../canary"), file("d/inner/file", "in")}, tree: map[string]string{"canary/file": "-rw-r--r-- in", "d/inner/f": ""}},
		"cached directory":         {entries: []entry{file("d/inner/1", "x"), link("d", "up"), file("d/inner/2", "x")}, tree: map[string]string{"canary/inner/2": "-rw-r--r-- x", "d": "-> up"}},
		"cached link":              {entries: []entry{file("d/self/1", "x"), dir("d/self"), file("d/self/2", "y")}, tree: map[string]string{"d/1": "-rw-r--r-- x", "d/self/2": "-rw-r--r-- y"}},
		"cached link, replaced":    {entries: []entry{link("l", "."), file("l/l", "x"), file("l/2", "y")}, want: ErrHostile, tree: map[string]string{"l": "-rw-r--r-- x", "2": ""}},
		"below a file":             {entries: []entry{file("etc/passwd/x", "x")}, want: ErrHostile},
		"hard link out":            {entries: []entry{hardLink("x", "../canary/file")}, want: ErrHostile},
		"hard link absolute":       {entries: []entry{hardLink("x", "/canary/file")}, want: ErrHostile, tree: map[string]string{"canary": ""}},
		"hard link through up":     {entries: []entry{hardLink("x", "up/file")}, want: ErrHostile},
		"hard link to a link":      {entries: []entry{hardLink("x", "up"), file("x/file", "in")}, tree: map[string]string{"x": "-> ../canary", "canary/file": "-rw-r--r-- in"}},
		"hard link, then over":     {entries: []entry{hardLink("x", "etc/passwd"), file("x", "new")}, tree: map[string]string{"x": "-rw-r--r-- new", "etc/passwd": "-rw-r--r-- root"}},
		"hard link to itself":      {entries: []entry{hardLink("etc/passwd", "abs/passwd")}, tree: map[string]string{"etc/passwd": "-rw-r--r-- root"}},
		"hard link with dots":      {entries: []entry{hardLink("x", "etc/../etc/passwd")}, want: ErrHostile},
		"hard link to a dir":       {entries: []entry{hardLink("x", "etc")}, want: ErrHostile},
		"hard link over its own":   {entries: []entry{hardLink("d", "d/inner/f")}, want: ErrHostile},
		"devices":                  {entries: []entry{special("dev/null", tar.TypeChar), special("dev/sda", tar.TypeBlock), special("run/fifo", tar.TypeFifo)}, tree: map[string]string{"dev/null": "", "dev/sda": "", "run/fifo": ""}},
		"device over a file":       {entries: []entry{special("etc/passwd", tar.TypeChar)}, tree: map[string]string{"etc/passwd": ""}},
		"hard link to a device":    {entries: []entry{special("dev/null", tar.TypeChar), hardLink("dev/zero", "dev/null")}, tree: map[string]string{"dev/zero": ""}},
		"set-id":                   {entries: []entry{mode(file("su", "x"), 0o6755), mode(dir("g"), 0o2777)}, tree: map[string]string{"su": "-rwxr-xr-x x", "g": "drwxrwxrwx"}},
		"closed directory":         {entries: []entry{mode(dir("c"), 0), file("c/f", "x"), mode(dir("c"), 0)}, tree: map[string]string{"c": "drwx------", "c/f": "-rw-r--r-- x"}},
		"sticky":                   {entries: []entry{mode(dir("tmp"), 0o1777)}, tree: map[string]string{"tmp": "dtrwxrwxrwx"}},
		"root is a file":           {entries: []entry{file(".", "x")}, want: ErrHostile},
		"root is a link":           {entries: []entry{link(".", "/")}, want: ErrHostile},
		"root is closed":           {entries: []entry{mode(dir("./"), 0)}, tree: map[string]string{"etc": "drwxr-xr-x"}},
		"whiteout of dots":         {entries: []entry{file(".wh...", "")}, want: ErrHostile},
		"whiteout of the root":     {entries: []entry{file(".wh..", "")}, want: ErrHostile},
		"whiteout of nothing":      {entries: []entry{file(".wh.", "")}, want: ErrHostile},
		"whiteout below dots":      {entries: []entry{file("d/../../canary/.wh.file", "")}, want: ErrHostile},
		"whiteout through up":      {entries: []entry{file("up/.wh.file", ""), file("up/.wh..wh..opq", "")}, tree: map[string]string{"up": "-> ../canary"}},
		"whiteout of a link":       {entries: []entry{file(".wh.up", "")}, tree: map[string]string{"up": ""}},
		"depth":                    {entries: []entry{file(deep, "x")}, want: ErrTooLarge},
		"depth through links":      {limits: Limits{Depth: 4}, entries: []entry{dir("1/2/3"), link("l", "1/2/3"), dir("l/4"), link("m", "l/4"), dir("m/5/6")}, want: ErrTooLarge},
		"path":                     {entries: []entry{file(strings.Repeat(strings.Repeat("x", 200)+"/", 25)+"f", "x")}, want: ErrTooLarge},
		"path through links":       {limits: Limits{PathBytes: 60}, entries: []entry{dir(strings.Repeat("x", 30)), link("l", strings.Repeat("x", 30)), file("l/"+strings.Repeat("y", 30), "")}, want: ErrTooLarge},
		"long way to a short name": {entries: []entry{file(strings.Repeat("./", 3000)+"f", "x")}, want: ErrTooLarge},
		"name":                     {entries: []entry{file(strings.Repeat("x", 256), "x")}, want: ErrTooLarge},
		"link's target":            {entries: []entry{link("l", strings.Repeat("x", 5000))}, want: ErrHostile},
		"bytes":                    {limits: Limits{Bytes: 20 << 10}, entries: []entry{file("1", strings.Repeat("x", 9<<10)), file("2", strings.Repeat("x", 9<<10))}, want: ErrTooLarge},
		"the same bytes again":     {limits: Limits{Bytes: 20 << 10}, entries: []entry{file("1", strings.Repeat("x", 9<<10)), file("1", strings.Repeat("x", 9<<10))}, want: ErrTooLarge},
		"files":                    {limits: Limits{Files: 20}, entries: []entry{file("1", ""), file("1", ""), file("1", ""), file("1", "")}, want: ErrTooLarge},
		"implied directories":      {limits: Limits{Files: 20}, entries: []entry{file("1/2/3/4/5/6", "")}, want: ErrTooLarge},
		"unknown type":             {entries: []entry{special("x", tar.TypeCont)}, tree: map[string]string{"x": ""}},
		"another's":                {entries: []entry{owned(file("x", "x")), owned(dir("y")), owned(link("z", "x"))}, tree: map[string]string{"x": "-rw-r--r-- x"}},
		"odd names":                {entries: []entry{file("a\nb\x1b[2J \xff", "x"), link("-rf", "*"), file("$(id)", "")}, tree: map[string]string{"a\nb\x1b[2J \xff": "-rw-r--r-- x", "-rf": "-> *", "$(id)": "-rw-r--r-- "}},
		"one name, many kinds":     {entries: []entry{dir("x"), file("x/f", "1"), file("x", "2"), link("x", "up"), hardLink("x", "etc/passwd"), file("x", "3"), special("x", tar.TypeFifo), dir("x"), file("x/f", "4")}, tree: map[string]string{"x/f": "-rw-r--r-- 4", "etc/passwd": "-rw-r--r-- root", "canary": ""}},
		"through forty links":      {entries: append(chain(40), file("40/f", "in")), tree: map[string]string{"etc/f": "-rw-r--r-- in"}},
		"through more links":       {entries: append(chain(41), file("41/f", "in")), want: ErrHostile},
		"implied depth":            {limits: Limits{Depth: 4}, entries: []entry{file("1/2/3/4/5/6/f", "x")}, want: ErrTooLarge, tree: map[string]string{"1/2/3/4/5": ""}},
		"device, then a file":      {entries: []entry{special("f", tar.TypeChar), file("f", "x"), hardLink("g", "f")}, tree: map[string]string{"g": "-rw-r--r-- x"}},
		"many devices":             {entries: append(slices.Repeat([]entry{special("null", tar.TypeChar)}, 150), special("last", tar.TypeChar), hardLink("x", "last")), tree: map[string]string{"x": ""}},
		"below a whiteout":         {entries: []entry{file(".wh.x/y", "x"), file(".wh..wh.plnk/1", "x")}, tree: map[string]string{".wh.x": "", ".wh..wh.plnk": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, c.limits)
			if err := a.layer(base(t)); err != nil {
				t.Fatal(err)
			}
			err := a.layer(archive(t, c.entries...))
			if !errors.Is(err, c.want) {
				t.Errorf("got the error %v; want %v", err, c.want)
			}
			found := listing(t, a.root)
			for name, want := range c.tree {
				if found[name] != want {
					t.Errorf("%s is %q; want %q", name, found[name], want)
				}
			}
			a.check(t)
		})
	}
}

// owned is an entry of somebody else's.
func owned(e entry) entry {
	e.Uid, e.Gid = 1234, 1234
	return e
}

// chain are so many links, the last of which leads through all of them to /etc.
func chain(links int) []entry {
	all := []entry{link("1", "etc")}
	for i := 2; i <= links; i++ {
		all = append(all, link(strconv.Itoa(i), strconv.Itoa(i-1)))
	}
	return all
}

// TestErrorsNameTheEntry: a person can find what was wrong, and is not told more than
// can be read.
func TestErrorsNameTheEntry(t *testing.T) {
	long := newArena(t, Limits{}).layer(archive(t, file("x", "x"), hardLink("y", strings.Repeat("z", 100<<10))))
	wantError(t, long, ErrHostile, `entry "y"`, "the limit is 4096")
	if len(long.Error()) > 2000 {
		t.Errorf("the error has %d bytes", len(long.Error()))
	}
	a := newArena(t, Limits{})
	err := a.layer(archive(t, file("../x\x1b[2J", "")))
	wantError(t, err, ErrHostile, `"../x\x1b[2J"`, `".."`)
}

// TestSparse: an archive of a few bytes that claims a large file takes no room,
// and one that claims more than the limit is refused before anything is written.
func TestSparse(t *testing.T) {
	a := newArena(t, Limits{Bytes: 1 << 30})
	if err := a.layer(archive(t, file("before", strings.Repeat("\x00", 10<<20)+"end"))); err != nil {
		t.Fatal(err)
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(filepath.Join(a.root, "before"), &stat); err != nil {
		t.Fatal(err)
	}
	if stat.Size != 10<<20+3 || stat.Blocks*512 > 1<<20 {
		t.Errorf("a file of zeros has %d bytes and takes %d", stat.Size, stat.Blocks*512)
	}
	if err := a.layer(sparse(10 << 20)); err != nil {
		t.Fatal(err)
	}
	if info := must[os.FileInfo](t)(os.Lstat(filepath.Join(a.root, "sparse"))); info.Size() != 10<<20 {
		t.Errorf("the sparse file has %d bytes", info.Size())
	}
	wantError(t, a.layer(sparse(10<<30)), ErrTooLarge, `entry "sparse"`, "10737418240 bytes")
	if _, err := os.Lstat(filepath.Join(a.root, "sparse")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the refused file is there: ", err)
	}
	a.check(t)
	few := newArena(t, Limits{Bytes: 1 << 20})
	if err := few.layer(sparse(600 << 10)); err != nil {
		t.Fatal(err)
	}
	wantError(t, few.layer(sparse(600<<10)), ErrTooLarge, "for all files together")
}

// sparse is an archive of GNU's old format with one file of nothing but a hole.
func sparse(size int64) []byte {
	block := make([]byte, 512)
	octal := func(at, width int, v int64) { copy(block[at:], fmt.Sprintf("%0*o", width-1, v)) }
	copy(block, "sparse")
	octal(100, 8, 0o644)
	octal(108, 8, 0)
	octal(116, 8, 0)
	octal(124, 12, 0)
	octal(136, 12, 1)
	copy(block[148:], "        ")
	block[156] = tar.TypeGNUSparse
	copy(block[257:], "ustar  \x00")
	octal(386, 12, size) // one piece of data: none, at the end
	octal(398, 12, 0)
	octal(483, 12, size)
	sum := int64(0)
	for _, b := range block {
		sum += int64(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return slices.Concat(block, make([]byte, 1024))
}

// TestBombs: what is small as it is sent and large when decompressed.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for name, data := range map[string][]byte{
		"gzip":                      gzipped(t, archive(t, file("zeros", string(zeros)))),
		"behind the end":            gzipped(t, append(archive(t, file("f", "")), zeros...)),
		"gzip of nothing but zeros": gzipped(t, zeros),
		"zstd":                      zstdCompressed(t, archive(t, file("zeros", string(zeros)))),
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, Limits{Bytes: 1 << 20})
			wantError(t, a.layer(data), ErrTooLarge, "limit")
			a.check(t)
		})
	}
}

func zstdCompressed(t testing.TB, data []byte) []byte {
	t.Helper()
	w := must[*zstd.Encoder](t)(zstd.NewWriter(nil))
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// TestDamaged: what cannot be read is said to be damaged.
func TestDamaged(t *testing.T) {
	good := archive(t, file("f", strings.Repeat("x", 5000)))
	packed := gzipped(t, good)
	huge := append([]byte(nil), good...)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"noise":          {[]byte(strings.Repeat("noise", 500)), ErrCorrupt},
		"cut":            {good[:1000], ErrCorrupt},
		"cut gzip":       {packed[:len(packed)-10], ErrCorrupt},
		"noise in gzip":  {append([]byte(nil), append(packed[:20:20], packed[25:]...)...), ErrCorrupt},
		"zstd's window":  {wideZstd(t, good), ErrTooLarge},
		"xz":             {[]byte("\xfd7zXZ\x00"), ErrUnsupported},
		"huge PAX":       {paxOf(t, 2<<20), ErrCorrupt},
		"huge PAX claim": {paxClaim(huge), ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, Limits{})
			wantError(t, a.layer(c.data), c.want)
			a.check(t)
		})
	}
}

// wideZstd asks whoever decompresses it to remember 256 MiB.
func wideZstd(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := must[*zstd.Encoder](t)(zstd.NewWriter(&b, zstd.WithWindowSize(256<<20), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)))
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// paxOf is an archive whose first header is a PAX one of so many bytes.
func paxOf(t testing.TB, size int) []byte {
	t.Helper()
	data := archive(t, file("pax", strings.Repeat("x", size)))
	data[156] = tar.TypeXHeader
	return rechecked(data)
}

// paxClaim turns the first entry into a PAX header that claims to be 8 GiB.
func paxClaim(data []byte) []byte {
	data[156] = tar.TypeXHeader
	copy(data[124:], "77777777777\x00")
	return rechecked(data)
}

// rechecked corrects the checksum of an archive's first header.
func rechecked(data []byte) []byte {
	copy(data[148:], "        ")
	sum := 0
	for _, b := range data[:512] {
		sum += int(b)
	}
	copy(data[148:], fmt.Sprintf("%06o\x00 ", sum))
	return data
}

// TestDigestOfLayer: what comes out of a layer is compared to its last byte.
func TestDigestOfLayer(t *testing.T) {
	data := archive(t, file("f", "x"))
	padded := append(data[:len(data):len(data)], make([]byte, 5000)...)
	want, _, err := v1.SHA256(bytes.NewReader(padded))
	if err != nil {
		t.Fatal(err)
	}
	none := newMeter(nil, "", 0)
	for name, sent := range map[string][]byte{"plain": padded, "gzip": gzipped(t, padded), "zstd": zstdCompressed(t, padded)} {
		if err := newArena(t, Limits{}).unpacker.layer(bytes.NewReader(sent), want, none); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	err = newArena(t, Limits{}).unpacker.layer(bytes.NewReader(data), want, none)
	wantError(t, err, ErrCorrupt, want.String())
}

// TestKeepsTimes: Python compares them with what it has compiled.
func TestKeepsTimes(t *testing.T) {
	at := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	e := file("f", "x")
	e.ModTime = at
	odd := file("odd", "x")
	odd.ModTime = time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)
	a := newArena(t, Limits{})
	if err := a.layer(archive(t, e, odd)); err != nil {
		t.Fatal(err)
	}
	if got := must[os.FileInfo](t)(os.Lstat(filepath.Join(a.root, "f"))).ModTime(); !got.Equal(at) {
		t.Errorf("the time is %v", got)
	}
	if got := must[os.FileInfo](t)(os.Lstat(filepath.Join(a.root, "odd"))).ModTime(); time.Since(got).Abs() > time.Hour {
		t.Errorf("what no file system can count has become %v", got)
	}
	a.check(t)
}

// TestCalledOff: unpacking ends with its context.
func TestCalledOff(t *testing.T) {
	a := newArena(t, Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.unpacker.ctx = ctx
	wantError(t, a.layer(base(t)), context.Canceled)
	hole := must[*os.File](t)(os.CreateTemp(t.TempDir(), "")) // of which nothing is read from the archive
	defer hole.Close()
	wantError(t, a.unpacker.write(hole, zeros{}, 1<<20), context.Canceled)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestLeftOut: what was left out is listed, by the layer it is from.
func TestLeftOut(t *testing.T) {
	a := newArena(t, Limits{})
	if err := a.layer(base(t)); err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for i := range 150 {
		entries = append(entries, special(fmt.Sprintf("dev/%d", i), tar.TypeChar))
	}
	if err := a.layer(archive(t, entries...)); err != nil {
		t.Fatal(err)
	}
	got := a.unpacker.leftOut
	if got.Count != 150 || len(got.Entries) != 100 || got.Entries[0] != (LeftOutEntry{2, "dev/0", "a device"}) {
		t.Errorf("left out: %d, %d named, the first %+v", got.Count, len(got.Entries), got.Entries[0])
	}
}
