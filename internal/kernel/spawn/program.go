package spawn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Program is a list of system calls for an init to make. The zero value is
// empty and ready to use. It is not safe for concurrent use.
type Program struct {
	steps  []step
	blob   []byte
	relocs []reloc
	files  []int
	sends  int // descriptors that come back
	answer int // bytes that come back
}

type step struct {
	name  string
	call  uint32
	flags uint16
	skip  uint16
	save  int     // blob offset, or -1
	saves argKind // argAnswer: save is an offset of the answer
	allow syscall.Errno
	args  [6]Arg
}

// reloc is a word at blob offset at that points to blob offset to.
type reloc struct{ at, to int }

type argKind uint8

const (
	argValue   argKind = iota // the value itself
	argPointer                // the address of a blob offset
	argCell                   // the int stored at a blob offset
	argFile                   // the descriptor of a passed file
	argAnswer                 // the address of an offset of the answer
)

// Arg is an argument of a system call.
type Arg struct {
	kind  argKind
	value uint64
}

// Value is a plain number.
func Value[T ~int | ~int32 | ~int64 | ~uint | ~uint16 | ~uint32 | ~uint64 | ~uintptr](v T) Arg {
	return Arg{argValue, uint64(v)}
}

// FD is a descriptor by number, as init or the child has it.
func FD(fd int) Arg { return Arg{argValue, uint64(int64(fd))} }

// File is a descriptor of ours, passed along. It stays open on our side and
// must be kept open until the program was sent.
func (p *Program) File(fd int) Arg {
	for i, have := range p.files {
		if have == fd {
			return Arg{argFile, uint64(i)}
		}
	}
	p.files = append(p.files, fd)
	return Arg{argFile, uint64(len(p.files) - 1)}
}

// String is a pointer to a copy of s with a NUL behind it.
func (p *Program) String(s string) Arg {
	at := len(p.blob)
	p.blob = append(append(p.blob, s...), 0)
	return Arg{argPointer, uint64(at)}
}

// Bytes is a pointer to a copy of b, aligned to eight bytes.
func (p *Program) Bytes(b []byte) Arg {
	for len(p.blob)%8 != 0 {
		p.blob = append(p.blob, 0)
	}
	at := len(p.blob)
	p.blob = append(p.blob, b...)
	return Arg{argPointer, uint64(at)}
}

// Answer is a pointer to n bytes, zero at first and aligned to eight, which come
// back in the reply. Only a server over a byte stream sends them.
func (p *Program) Answer(n int) Arg {
	at := p.answer
	p.answer += (n + 7) &^ 7
	return Arg{argAnswer, uint64(at)}
}

// Of is what an [Program.Answer] of n bytes has become.
func (a Arg) Of(r Reply, n int) []byte { return r.Answer[a.value : int(a.value)+n] }

// Strings is a pointer to a NULL-terminated array of strings, as execve wants.
func (p *Program) Strings(list []string) Arg {
	pointers := make([]Arg, len(list))
	for i, s := range list {
		pointers[i] = p.String(s)
	}
	array := p.Bytes(make([]byte, 8*(len(list)+1)))
	for i, s := range pointers {
		p.SetPointer(array, 8*i, s)
	}
	return array
}

// SetPointer stores, in the structure that at points to, a pointer at a byte
// offset.
func (p *Program) SetPointer(at Arg, offset int, to Arg) {
	p.relocs = append(p.relocs, reloc{int(at.value) + offset, int(to.value)})
}

// SetInt stores, in the structure that at points to, an int at a byte offset: a
// descriptor by the number that init has for it, which is known only there.
func (p *Program) SetInt(at Arg, offset int, v Arg) {
	p.Call("store a number", callCopy, v).AllowAny().SaveAt(at, offset)
}

// Call is one system call of a [Program].
type Call struct {
	p *Program
	i int
}

// Call appends a system call. The name says what it is for, in words that make
// sense behind "cannot": "mount /proc".
func (p *Program) Call(name string, number int, args ...Arg) Call {
	s := step{name: name, call: uint32(number), save: -1}
	copy(s.args[:], args)
	p.steps = append(p.steps, s)
	return Call{p, len(p.steps) - 1}
}

// Allow lets one errno count as success.
func (c Call) Allow(errno syscall.Errno) Call {
	c.p.steps[c.i].allow = errno
	return c
}

// AllowAny takes whatever the call returns for its result: an error is a negative
// errno, as the kernel has it.
func (c Call) AllowAny() Call { return c.Allow(allowAny) }

// Save keeps the result for later calls, as an int.
func (c Call) Save() Arg {
	cell := c.p.Bytes(make([]byte, 4))
	c.SaveAt(cell, 0)
	return Arg{argCell, cell.value}
}

// SaveAt stores the result, an int, into a structure of the program or its
// answer.
func (c Call) SaveAt(at Arg, offset int) Call {
	c.p.steps[c.i].save, c.p.steps[c.i].saves = int(at.value)+offset, at.kind
	return c
}

// Cell is the int at an offset of a structure of the program.
func (p *Program) Cell(at Arg, offset int) Arg {
	return Arg{argCell, at.value + uint64(offset)}
}

// Fork appends a call that forks; the calls that child appends are made by the
// child alone. Without an execve among them the child ends with code 0.
func (p *Program) Fork(name string, number int, args []Arg, child func()) Call {
	c := p.Call(name, number, args...)
	child()
	s := &p.steps[c.i]
	s.flags |= stepFork
	s.skip = uint16(len(p.steps) - c.i - 1)
	return c
}

// Serve turns the process into a server on descriptor 3. It does not return.
func (p *Program) Serve() { p.Call("serve", callServe) }

// Await has a forked child wait for programs on descriptor 3, a socket of its own, which
// execve closes and whose end ends it ([NewWaiter]).
func (p *Program) Await() { p.Call("wait for a command", callAwait) }

// Ready has a child that waited say that execve is next.
func (p *Program) Ready() { p.Call("say that execve is next", callReady) }

// KillTree kills every descendant of a server that is their subreaper and not
// pid 1 of a namespace.
func (p *Program) KillTree() { p.Call("kill the process tree", callKillTree) }

// Carry makes a descriptor that of a stream of the next process: 0 what the
// program reads, and then it must not block, 1 and 2 what it writes. Only a server
// over a byte stream carries streams; see [Server.Reader] and [Server.Writer].
func (p *Program) Carry(stream int, fd Arg) {
	p.Call("carry a stream", callCarry, Value(stream), fd)
}

// controlFD is where a server has its socket.
const controlFD = 3

// encode writes the message. The files must be kept alive until it is sent.
func (p *Program) encode(seq uint32) ([]byte, error) {
	if n := max(len(p.files), p.sends); n > maxFiles {
		return nil, fmt.Errorf("%d descriptors in one message, at most %d", n, maxFiles)
	}
	relocs := len(p.relocs)
	for i := range p.steps {
		for _, a := range p.steps[i].args {
			if a.kind == argPointer || a.kind == argAnswer {
				relocs++
			}
		}
	}
	cells := headerSize + stepSize*len(p.steps) + 4*relocs
	blob := (cells + 4*len(p.files) + 7) &^ 7
	size := (blob + len(p.blob) + 7) &^ 7
	if size+p.answer > maxMessage-8 {
		return nil, fmt.Errorf("arguments and environment take %d KiB, at most %d fit: %w", len(p.blob)>>10, (maxMessage-16<<10)>>10, syscall.E2BIG)
	}
	m := make([]byte, size)
	if p.answer > 0 && len(p.files) > 0 {
		return nil, errors.New("an answer and descriptors in one message")
	}
	e := binary.NativeEndian
	for i, v := range []int{magic, int(seq), len(p.steps), relocs, max(len(p.files), p.answer), size} {
		e.PutUint32(m[4*i:], uint32(v))
	}
	copy(m[blob:], p.blob)
	at := headerSize + stepSize*len(p.steps)
	relocate := func(word int) {
		e.PutUint32(m[at:], uint32(word))
		at += 4
	}
	for i := range p.steps {
		p.steps[i].encode(m, headerSize+stepSize*i, blob, cells, relocate)
	}
	for _, r := range p.relocs {
		e.PutUint64(m[blob+r.at:], uint64(blob+r.to))
		relocate(blob + r.at)
	}
	return m, nil
}

func (s *step) encode(m []byte, at, blob, cells int, relocate func(int)) {
	e := binary.NativeEndian
	call, allow := s.call, s.allow
	if fault.Off("step", s.name) {
		call, allow = callCopy, allowAny // which does nothing, and is content with it
	}
	e.PutUint32(m[at:], call)
	e.PutUint16(m[at+4:], s.flags)
	e.PutUint16(m[at+6:], s.skip)
	save := int32(-1)
	if s.save >= 0 {
		save = int32(blob + s.save)
	}
	if s.saves == argAnswer {
		save = int32(len(m) + s.save)
	}
	e.PutUint32(m[at+8:], uint32(save))
	e.PutUint32(m[at+12:], uint32(allow))
	var mask uint32
	for i, a := range s.args {
		word := at + 24 + 8*i
		v := a.value
		switch a.kind {
		case argPointer:
			v += uint64(blob)
			relocate(word)
		case argAnswer:
			v += uint64(len(m))
			relocate(word)
		case argCell:
			v += uint64(blob)
			mask |= 1 << i
		case argFile:
			v = uint64(cells) + 4*v
			mask |= 1 << i
		}
		e.PutUint64(m[word:], v)
	}
	e.PutUint32(m[at+16:], mask)
}

// name of a step, for errors; a hostile init may name one that is not there.
func (p *Program) name(i int) string {
	if i < 0 || i >= len(p.steps) {
		return "read the message"
	}
	return p.steps[i].name
}
