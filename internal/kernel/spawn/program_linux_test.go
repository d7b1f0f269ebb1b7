package spawn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// decoded is a message as init sees it, read by the words of doc.go alone.
type decoded struct {
	header [6]uint32 // magic, seq, steps, relocs, files, size
	m      []byte    // relocated to base
	cells  int       // offset of the descriptors
	blob   int
}

// base is where the tests pretend that the message lies.
const base = 0x7000_0000_0000

func decode(t interface{ Fatalf(string, ...any) }, m []byte) decoded {
	d := decoded{m: bytes.Clone(m)}
	e := binary.NativeEndian
	for i := range d.header {
		d.header[i] = e.Uint32(m[4*i:])
	}
	if d.header[0] != magic || int(d.header[5]) != len(m) || len(m) >= maxMessage {
		t.Fatalf("header %#x of a message of %d bytes", d.header, len(m))
	}
	relocs := headerSize + stepSize*int(d.header[2])
	d.cells = relocs + 4*int(d.header[3])
	d.blob = (d.cells + 4*int(d.header[4]) + 7) / 8 * 8
	seen := map[uint32]bool{}
	for i := range int(d.header[3]) {
		at := e.Uint32(m[relocs+4*i:])
		inSteps := at >= headerSize && int(at)+8 <= relocs
		inBlob := int(at) >= d.blob && int(at)+8 <= len(m)
		if seen[at] || !inSteps && !inBlob {
			t.Fatalf("relocation %d of offset %d, with steps to %d and blob from %d to %d", i, at, relocs, d.blob, len(m))
		}
		seen[at] = true
		e.PutUint64(d.m[at:], e.Uint64(d.m[at:])+base)
	}
	return d
}

// arg is argument k of step i, and whether it is the int stored there.
func (d decoded) arg(i, k int) (value uint64, cell bool) {
	at := headerSize + stepSize*i
	mask := binary.NativeEndian.Uint32(d.m[at+16:])
	return binary.NativeEndian.Uint64(d.m[at+24+8*k:]), mask>>k&1 == 1
}

func (d decoded) save(i int) int32 {
	return int32(binary.NativeEndian.Uint32(d.m[headerSize+stepSize*i+8:]))
}

// at is what an address points to.
func (d decoded) at(t interface{ Fatalf(string, ...any) }, address uint64, n int) []byte {
	offset := int(address - base)
	if offset < d.blob || offset+n > len(d.m) {
		t.Fatalf("address %#x of %d bytes is outside of the blob", address, n)
	}
	return d.m[offset : offset+n]
}

func (d decoded) text(t interface{ Fatalf(string, ...any) }, address uint64) string {
	d.at(t, address, 1)
	s, _, ok := bytes.Cut(d.m[address-base:], []byte{0})
	if !ok {
		t.Fatalf("no NUL behind %q", s)
	}
	return string(s)
}

func TestEncodeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Program
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z/=]{0,9}`), 0, 5)
		type want struct {
			number int
			text   string
			list   []string
			raw    []byte
			value  int64
			fd     int
		}
		var wants []want
		var descriptors []int
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			w := want{
				number: rapid.IntRange(0, 500).Draw(t, "call"), text: rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "text"), list: words.Draw(t, "list"),
				raw: rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "raw"), value: rapid.Int64().Draw(t, "value"), fd: rapid.IntRange(0, 5).Draw(t, "fd"),
			}
			p.Call("x", w.number, p.String(w.text), p.Strings(w.list), p.Bytes(w.raw), Value(w.value), p.File(w.fd), FD(-100))
			wants = append(wants, w)
			if !slices.Contains(descriptors, w.fd) {
				descriptors = append(descriptors, w.fd)
			}
		}
		m, err := p.encode(7)
		if err != nil {
			t.Fatal(err)
		}
		d := decode(t, m)
		if d.header[1] != 7 || int(d.header[2]) != len(wants) || int(d.header[4]) != len(descriptors) || !slices.Equal(p.files, descriptors) {
			t.Fatalf("header %v, descriptors %v, want %v", d.header, p.files, descriptors)
		}
		for i, w := range wants {
			if got := binary.NativeEndian.Uint32(d.m[headerSize+stepSize*i:]); int(got) != w.number {
				t.Fatalf("call %d, want %d", got, w.number)
			}
			arg := func(k int) uint64 { v, _ := d.arg(i, k); return v }
			if got := d.text(t, arg(0)); got != w.text {
				t.Fatalf("string %q, want %q", got, w.text)
			}
			checkStrings(t, d, arg(1), w.list)
			if got := d.at(t, arg(2), len(w.raw)); !bytes.Equal(got, w.raw) || arg(2)%8 != 0 {
				t.Fatalf("bytes %x at %#x, want %x", got, arg(2), w.raw)
			}
			if int64(arg(3)) != w.value || int64(arg(5)) != -100 {
				t.Fatalf("values %d and %d", int64(arg(3)), int64(arg(5)))
			}
			at, cell := d.arg(i, 4)
			if index := slices.Index(descriptors, w.fd); !cell || int(at) != d.cells+4*index {
				t.Fatalf("descriptor at %d (cell %v), want number %d of those at %d", at, cell, index, d.cells)
			}
			if d.save(i) != -1 {
				t.Fatalf("step %d saves its result at %d", i, d.save(i))
			}
		}
	})
}

func checkStrings(t *rapid.T, d decoded, array uint64, want []string) {
	for i, s := range want {
		if got := d.text(t, binary.NativeEndian.Uint64(d.at(t, array+uint64(8*i), 8))); got != s {
			t.Fatalf("string %d is %q, want %q", i, got, s)
		}
	}
	if end := binary.NativeEndian.Uint64(d.at(t, array+uint64(8*len(want)), 8)); end != 0 || array%8 != 0 {
		t.Fatalf("the array at %#x ends with %#x, want NULL", array, end)
	}
}

func TestEncodeCellsAndForks(t *testing.T) {
	var p Program
	p.String("x") // so that nothing is aligned by accident
	fd := p.Call("open", 2).Allow(unix.EEXIST).Save()
	structure := p.Bytes(make([]byte, 24))
	p.Call("dup", 32, fd).SaveAt(structure, 20)
	p.SetPointer(structure, 8, p.String("target"))
	p.Fork("fork", 56, []Arg{Value(17)}, func() {
		p.Call("first", 1, p.Cell(structure, 20))
		p.Call("second", 2)
	})
	p.Call("after", 3)
	m, err := p.encode(1)
	if err != nil {
		t.Fatal(err)
	}
	d := decode(t, m)
	if errno := binary.NativeEndian.Uint32(d.m[headerSize+12:]); unix.Errno(errno) != unix.EEXIST {
		t.Errorf("allowed errno %d", errno)
	}
	if at, cell := d.arg(1, 0); !cell || int32(at) != d.save(0) || at%4 != 0 {
		t.Errorf("the saved result is at %d, the argument at %d (cell %v)", d.save(0), at, cell)
	}
	if at, cell := d.arg(3, 0); !cell || int32(at) != d.save(1) || int(at) != d.blob+int(structure.value)+20 {
		t.Errorf("the structure's int is at %d, the argument at %d (cell %v)", d.save(1), at, cell)
	}
	pointer := binary.NativeEndian.Uint64(d.m[d.blob+int(structure.value)+8:])
	if got := d.text(t, pointer); got != "target" {
		t.Errorf("the structure points to %q", got)
	}
	fork := d.m[headerSize+2*stepSize:]
	if flags, skip := binary.NativeEndian.Uint16(fork[4:]), binary.NativeEndian.Uint16(fork[6:]); flags != stepFork || skip != 2 {
		t.Errorf("fork with flags %d skips %d", flags, skip)
	}
	for step, want := range []bool{false, false, false, true, true, false, false} {
		if got := p.inFork(step); got != want {
			t.Errorf("inFork(%d) = %v", step, got)
		}
	}
	if p.inFork(-1) {
		t.Error("inFork(-1)")
	}
	for step, want := range map[int]string{0: "open", 5: "after", 6: "read the message", -1: "read the message", 1 << 30: "read the message"} {
		if got := p.name(step); got != want {
			t.Errorf("name(%d) = %q, want %q", step, got, want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	var files, sends Program
	for fd := range maxFiles + 1 {
		files.File(fd)
		sends.SendFiles(FD(fd))
	}
	for _, p := range []*Program{&files, &sends} {
		if _, err := p.encode(1); err == nil || !strings.Contains(err.Error(), "65 descriptors in one message, at most 64") {
			t.Errorf("error %v", err)
		}
	}
	for _, n := range []int{maxMessage, maxMessage - headerSize - 7} {
		var p Program
		p.Bytes(make([]byte, n))
		if _, err := p.encode(1); err == nil || !strings.Contains(err.Error(), "KiB") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	var p Program
	p.Bytes(make([]byte, maxMessage-headerSize-8))
	if m, err := p.encode(1); err != nil || len(m) != maxMessage-8 {
		t.Errorf("the largest message: %d bytes, %v", len(m), err)
	}
}

func TestFilesAreSentOnce(t *testing.T) {
	var p Program
	if a, b, c := p.File(9), p.File(8), p.File(9); a != c || a == b || len(p.files) != 2 {
		t.Errorf("%v %v %v, files %v", a, b, c, p.files)
	}
}

// ForkInto is clone without a group, and clone3 with one, whose descriptor is a
// copy made on the server's side.
func TestForkInto(t *testing.T) {
	var p Program
	p.ForkInto(nil, "fork", unix.CLONE_NEWPID, Arg{}, func() { p.Call("child", 1) })
	if s := p.steps[0]; s.call != unix.SYS_CLONE || s.args[0] != Value(uintptr(unix.CLONE_NEWPID)|uintptr(unix.SIGCHLD)) || s.skip != 1 {
		t.Errorf("step %+v", s)
	}
	group, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	var q Program
	pidfd := q.Bytes(make([]byte, 8))
	q.ForkInto(group, "fork", unix.CLONE_PIDFD, pidfd, func() {})
	m, err := q.encode(1)
	if err != nil {
		t.Fatal(err)
	}
	d := decode(t, m)
	i := slices.IndexFunc(q.steps, func(s step) bool { return s.call == unix.SYS_CLONE3 })
	if i < 1 || q.steps[i].flags != stepFork {
		t.Fatalf("steps %+v", q.steps)
	}
	address, _ := d.arg(i, 0)
	size, _ := d.arg(i, 1)
	clone := d.at(t, address, int(size)) // struct clone_args
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(clone[at:]) }
	if size != 88 || word(0) != unix.CLONE_PIDFD|unix.CLONE_INTO_CGROUP || word(32) != uint64(unix.SIGCHLD) || word(8) != base+uint64(d.blob)+pidfd.value {
		t.Errorf("clone_args of %d bytes: % x", size, clone)
	}
	if saved := d.save(i - 1); uint64(saved)+base != address+80 {
		t.Errorf("the group's descriptor is stored at %d, want %d", saved, address+80-base)
	}
}

func ExampleStepError() {
	fmt.Println(&StepError{Step: "mount /proc", Errno: unix.EPERM})
	// Output: mount /proc: operation not permitted
}
