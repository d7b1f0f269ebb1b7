package guest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// The protocol of package spawn, as an init speaks it that is not ours.
const (
	programMagic = 0x31724273
	headerSize   = 24
	stepSize     = 72
	recordSize   = 112
)

// asked is one program that a fake init was sent.
type asked struct {
	seq    uint32
	calls  []int
	answer int // bytes that are waited for
}

// record is what an init says, with the bytes behind it.
func record(kind, seq uint32, a, b int32, behind []byte) []byte {
	r := make([]byte, recordSize, recordSize+len(behind))
	for i, v := range []uint32{kind, seq, uint32(a), uint32(b)} {
		binary.NativeEndian.PutUint32(r[4*i:], v)
	}
	binary.NativeEndian.PutUint64(r[recordSize-8:], uint64(len(behind)))
	return append(r, behind...)
}

// fakeInit reads programs, and says what a test wants; nothing more ends it.
func fakeInit(conn net.Conn, says func(asked) []byte) {
	defer conn.Close()
	for {
		h := make([]byte, headerSize)
		if _, err := io.ReadFull(conn, h); err != nil {
			return
		}
		word := func(i int) uint32 { return binary.NativeEndian.Uint32(h[4*i:]) }
		rest := make([]byte, word(5)-headerSize)
		if _, err := io.ReadFull(conn, rest); err != nil {
			return
		}
		if word(0) != programMagic {
			continue
		}
		a := asked{seq: word(1), answer: int(word(4))}
		for i := range int(word(2)) {
			a.calls = append(a.calls, int(binary.NativeEndian.Uint32(rest[stepSize*i:])))
		}
		answer := says(a)
		if answer == nil {
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// hostile makes a container whose init says what says returns, and nil at its end.
func hostile(t testing.TB, says func(asked) []byte) *Container {
	t.Helper()
	ours, theirs := net.Pipe()
	first := true
	go fakeInit(theirs, func(a asked) []byte {
		if first { // the one program of New
			first = false
			return record(1, a.seq, 0, 0, make([]byte, a.answer))
		}
		return says(a)
	})
	c, err := New(ours, Options{
		ID: "hostile", Arch: "amd64", Trees: []string{sandbox.WorkspaceDir},
		Remove: func(context.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func treeOf(t testing.TB, c *Container) *fileTree {
	t.Helper()
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	return tree.(*fileTree)
}

func direntOf(offset uint64, length uint16, name string) []byte {
	b := make([]byte, 19, 19+len(name))
	binary.NativeEndian.PutUint64(b[8:], offset)
	binary.NativeEndian.PutUint16(b[16:], length)
	return append(b, name...)
}

func TestDirents(t *testing.T) {
	entry := func(offset uint64, name string) []byte { return direntOf(offset, uint16(20+len(name)), name+"\x00") }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, test := range map[string]struct {
		b    []byte
		want string
		next int64
	}{
		"nothing":                   {nil, "", 7},
		"two":                       {join(entry(1, "a"), entry(2, "b c")), "a|b c", 2},
		"those of every directory":  {join(entry(1, "."), entry(2, "..")), "", 2},
		"no names":                  {join(entry(1, ""), entry(2, "a/b"), entry(3, "/"), entry(4, "../../etc")), "", 4},
		"padding":                   {direntOf(1, 24, "ab\x00xy"), "ab", 1},
		"no end of a name":          {direntOf(1, 21, "ab"), "ab", 1},
		"no length":                 {direntOf(1, 0, "a\x00"), "", 7},
		"a length of less":          {direntOf(1, 19, "a\x00"), "", 7},
		"a length of more":          {direntOf(1, 22, "a\x00"), "", 7},
		"the largest length":        {join(entry(1, "a"), direntOf(2, math.MaxUint16, "b\x00")), "a", 1},
		"cut off":                   {entry(1, "a")[:18], "", 7},
		"cut off in the second one": {join(entry(1, "a"), entry(2, "b")[:10]), "a", 1},
		"a negative offset":         {entry(math.MaxUint64, "a"), "a", -1},
	} {
		names, next := dirents(test.b, 7)
		if got := strings.Join(names, "|"); got != test.want || next != test.next {
			t.Errorf("%s: %q, %d, want %q, %d", name, got, next, test.want, test.next)
		}
	}
}

func TestStatOf(t *testing.T) {
	l := statOf(bytes.Repeat([]byte{0xff}, statxSize))
	if size := (stat{"x", l}).Size(); size < 0 || size > maxCount {
		t.Errorf("a size of %d", size)
	}
	for mode, want := range map[uint16]fs.FileMode{
		0o100644: 0o644, 0o040755: 0o755 | fs.ModeDir, 0o120777: 0o777 | fs.ModeSymlink, 0o010600: 0o600 | fs.ModeNamedPipe, 0o140600: 0o600 | fs.ModeSocket,
		0o020600: 0o600 | fs.ModeDevice | fs.ModeCharDevice, 0o060600: 0o600 | fs.ModeDevice, 0o106755: 0o755, 0o170644: 0o644 | fs.ModeIrregular, 0o644: 0o644 | fs.ModeIrregular,
	} {
		if got := (look{mode: mode}).fileMode(); got != want {
			t.Errorf("%o: %v, want %v", mode, got, want)
		}
	}
}

// endless is a directory that has as many directories as one asks for, each of
// which is one itself. It counts what it was asked.
type endless struct {
	asked, made int
	name        func(i int) string
}

func (e *endless) says(a asked) []byte {
	e.asked++
	answer := make([]byte, a.answer)
	switch {
	case slices.Contains(a.calls, 217): // getdents64
		n := 0
		for i := 0; n+40 < len(answer)-8 && i < 300; i++ {
			e.made++
			name := e.name(e.made)
			n += copy(answer[8+n:], direntOf(uint64(e.made), uint16(20+len(name)), name+"\x00"))
		}
		binary.NativeEndian.PutUint32(answer, uint32(n))
	default: // statx
		for at := 0; at+statxSize <= len(answer); at += statxSize {
			binary.NativeEndian.PutUint16(answer[at+28:], modeDirectory|0o755)
		}
	}
	return record(1, a.seq, 0, 0, answer)
}

// TestEndlessWalk: a walk ends, although an init says that there is always more.
func TestEndlessWalk(t *testing.T) {
	for what, name := range map[string]func(int) string{
		"the same name":  func(int) string { return "d" },
		"other names":    func(i int) string { return fmt.Sprint("d", i) },
		"no names":       func(int) string { return "." },
		"no name at all": func(int) string { return "a/b" },
	} {
		e := &endless{name: name}
		c := hostile(t, e.says)
		const limit = 5000
		n, deepest := 0, 0
		err := treeOf(t, c).Walk(limit, func(i sandbox.FileInfo) error {
			n++
			deepest = max(deepest, strings.Count(i.Path, "/")+1)
			if !fs.ValidPath(i.Path) || i.Path != path.Clean(i.Path) {
				t.Errorf("%s: a name %q", what, i.Path)
			}
			return nil
		})
		if err != nil || n > limit || deepest > sandbox.MaxWalkDepth {
			t.Errorf("%s: %d names, %d deep, %v", what, n, deepest, err)
		}
		if e.asked > 3*limit {
			t.Errorf("%s: asked %d times", what, e.asked)
		}
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestEndlessLayer: so does a layer, with an error.
func TestEndlessLayer(t *testing.T) {
	e := &endless{name: func(i int) string { return fmt.Sprint("d", i) }}
	c := hostile(t, e.says)
	if err := c.makeLayer(Layer{"/source", "/target"}, 20_000); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLiesAboutRead: a file has no more bytes than were asked for.
func TestLiesAboutRead(t *testing.T) {
	for _, said := range []uint32{piece + 1, math.MaxUint32, 1 << 31} {
		c := hostile(t, func(a asked) []byte {
			answer := make([]byte, a.answer)
			binary.NativeEndian.PutUint16(answer[28:], modeRegular|0o644)
			if len(answer) > piece {
				binary.NativeEndian.PutUint32(answer[statxSize:], said)
			}
			return record(1, a.seq, 0, 0, answer)
		})
		if _, err := readAll(treeOf(t, c), "f"); err == nil || !strings.Contains(err.Error(), fmt.Sprint(said)) {
			t.Errorf("%d bytes: %v", said, err)
		}
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func readAll(t *fileTree, name string) (string, error) {
	f, err := t.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<20)) // of an init that never ends
	return string(b), err
}

// TestLiesAboutWrite: a piece of a file does not take more and more messages.
func TestLiesAboutWrite(t *testing.T) {
	for _, said := range []uint32{0, 1, piece, math.MaxUint32} {
		n := 0
		c := hostile(t, func(a asked) []byte {
			n++
			answer := make([]byte, a.answer)
			if len(answer) > 0 {
				binary.NativeEndian.PutUint32(answer, said)
			}
			return record(1, a.seq, 0, 0, answer)
		})
		err := treeOf(t, c).WriteFile("f", bytes.NewReader(make([]byte, piece)), 0o644)
		if (err == nil) != (said >= piece) || err != nil && !errors.Is(err, io.ErrShortWrite) || n > writesAtMost {
			t.Errorf("%d bytes written: %v after %d messages", said, err, n)
		}
		if err := c.Delete(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// script says what a fuzzer wants: of each program one byte decides what becomes
// of it, and the next ones are what it says. When there are none left it ends.
type script struct{ data []byte }

func (s *script) next() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *script) says(a asked) []byte {
	if len(s.data) == 0 {
		return nil
	}
	if slices.Contains(a.calls, 62) { // kill: who never says that all are dead is asked for ever
		return append(record(1, a.seq, 0, 0, make([]byte, a.answer)), record(4, 0, 0, 0, nil)...)
	}
	what := s.next()
	answer := make([]byte, a.answer)
	for i := 0; i < len(answer) && len(s.data) > 0; i += 1 + int(what>>4) {
		answer[i] = s.next()
	}
	done := record(1, a.seq, int32(s.next()%4), 0, answer)
	switch what % 8 {
	case 0, 1, 2, 3:
		return done
	case 4: // and that nothing is left
		return append(done, record(4, 0, 0, 0, nil)...)
	case 5: // and that all have ended
		for pid := range int32(4) {
			done = append(done, record(3, 0, pid, int32(s.next())<<8|int32(s.next()), nil)...)
		}
		return append(done, record(4, 0, 0, 0, nil)...)
	case 6:
		return append(record(2, a.seq, int32(s.next()), int32(s.next()), nil), done...) // of a child DONE comes behind
	default: // anything
		kind := uint32(s.next() % 9)
		return append(record(kind, a.seq, int32(int8(s.next())), int32(s.next()), answer[:min(len(answer), int(s.next()))]), done...)
	}
}

// FuzzAnswers lets an init say anything to every method there is. Nobody panics,
// nobody waits once it has ended, and nothing is remembered that was not asked for.
func FuzzAnswers(f *testing.F) {
	for _, kind := range []byte{0, 4, 5, 6, 7, 0xf0, 0xf5} {
		f.Add(bytes.Repeat([]byte{kind, 1, 0x40, 0x81, 0xff}, 200), kind)
	}
	source := rand.NewChaCha8([32]byte{})
	for which := range byte(100) {
		data := make([]byte, 4<<10)
		_, _ = source.Read(data)
		for i := range data {
			if which%2 == 0 { // fewer ends
				data[i] &= 0xf3
			}
		}
		f.Add(data, which|which<<7)
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		data = data[:min(len(data), 4<<10)]
		c := hostile(t, (&script{data}).says)
		defer c.Delete(context.Background())
		tree := treeOf(t, c)
		for i := range 5 {
			switch (int(which) + i) % 5 {
			case 0:
				const limit = 1000
				n := 0
				err := tree.Walk(limit, func(i sandbox.FileInfo) error {
					if n++; n > limit || i.Size < 0 || !path.IsAbs("/"+i.Path) || i.Path != path.Clean(i.Path) || strings.HasPrefix(i.Path, "..") {
						t.Errorf("%d: %+v", n, i)
					}
					return nil
				})
				if err != nil && !errors.Is(err, spawn.ErrGone) {
					t.Error(err)
				}
			case 1:
				if content, err := readAll(tree, "a/b"); err == nil && len(content) > len(data)*piece {
					t.Errorf("%d bytes of a file", len(content))
				}
			case 2:
				_ = tree.WriteFile("a/b", bytes.NewReader(make([]byte, piece+1)), 0o444)
				_ = tree.MkdirAll("a/b")
			case 3:
				usage, err := tree.Usage()
				if err != nil || usage.BytesUsed < 0 || usage.BytesUsed > usage.BytesTotal && usage.BytesTotal > 0 || usage.InodesUsed < 0 || usage.BlockBytes < 0 {
					t.Errorf("%+v, %v", usage, err)
				}
			case 4:
				c.groups = groupFiles{2, filesV2}
				startHostile(t, c, which&0x80 != 0)
			}
		}
	})
}

// startHostile starts a process, does with it what can be done, and ends it.
func startHostile(t *testing.T, c *Container, tty bool) {
	p := sandbox.Process{Args: []string{"x"}, Stdin: strings.NewReader("input"), Stdout: io.Discard, Stderr: io.Discard}
	if tty {
		p.TTY = &sandbox.TTY{Rows: 1, Cols: 1}
	}
	running, err := c.Start(t.Context(), p)
	if err != nil {
		return
	}
	metrics, err := running.Metrics()
	if cpu, ok := metrics.CPU(); err != nil || ok && cpu < 0 {
		t.Errorf("%v, %v", cpu, err)
	}
	_, _ = running.Signal(15), running.Resize(1, 1)
	_ = c.Delete(t.Context())
	exit, err := running.Wait()
	if err == nil && (exit.OOMKills < 0 || exit.ProcessDenials < 0 || exit.Code < 0 || exit.Code > 255 || exit.Duration < 0) {
		t.Errorf("%+v", exit)
	}
}
