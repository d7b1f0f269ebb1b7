package seccomp

import (
	"encoding/binary"
	"slices"
)

// Instruction is one instruction of classic BPF: the kernel's struct
// sock_filter (linux/filter.h).
type Instruction struct {
	Code uint16
	JT   uint8 // instructions to skip when a test holds
	JF   uint8 // instructions to skip when it does not
	K    uint32
}

// InstructionSize is the size of an encoded instruction in bytes.
const InstructionSize = 8

// MaxInstructions is the length of the longest program that the kernel takes
// (BPF_MAXINSNS in linux/bpf_common.h).
const MaxInstructions = 4096

// Marshal encodes a program as the kernel reads it, for the filter field of
// struct sock_fprog. Both architectures are little-endian.
func Marshal(program []Instruction) []byte {
	b := make([]byte, 0, len(program)*InstructionSize)
	for _, i := range program {
		b = binary.LittleEndian.AppendUint16(b, i.Code)
		b = append(b, i.JT, i.JF)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}

// Operation codes (linux/bpf_common.h).
const (
	opLoad         = 0x20 // BPF_LD | BPF_W | BPF_ABS
	opAnd          = 0x54 // BPF_ALU | BPF_AND | BPF_K
	opJump         = 0x05 // BPF_JMP | BPF_JA
	opJumpEqual    = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	opJumpGreater  = 0x25 // BPF_JMP | BPF_JGT | BPF_K
	opJumpAtLeast  = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	opReturn       = 0x06 // BPF_RET | BPF_K
	conditionReach = 250  // of the 255 that fit JT; the rest is room for two trampolines
)

// label is the place of an instruction, counted from the end of the program.
type label int

// assembler writes a program from its end to its start. BPF jumps only forward,
// so the target of every jump is in place, and its distance known, when the jump
// is written.
type assembler struct {
	reversed []Instruction
	returns  map[Action]label // the first place of each return
	copies   map[label]label  // the latest stand-in for what is out of reach
}

func newAssembler() *assembler {
	return &assembler{
		reversed: make([]Instruction, 0, 256),
		returns:  make(map[Action]label, 8),
		copies:   make(map[label]label),
	}
}

func (a *assembler) emit(i Instruction) label {
	a.reversed = append(a.reversed, i)
	return label(len(a.reversed) - 1)
}

// distance is how many instructions lie between the next one and the target.
func (a *assembler) distance(target label) int { return len(a.reversed) - 1 - int(target) }

// ret returns the place of an instruction that ends the program with an action.
func (a *assembler) ret(action Action) label {
	at, ok := a.returns[action]
	if !ok {
		at = a.emit(Instruction{Code: opReturn, K: uint32(action)})
		a.returns[action] = at
	}
	return at
}

// near returns a place that a conditional jump can reach and that is as good as
// the target: the target, or a copy of it if it ends the program, or a long jump
// to it.
func (a *assembler) near(target label) label {
	if a.distance(target) <= conditionReach {
		return target
	}
	if at, ok := a.copies[target]; ok && a.distance(at) <= conditionReach {
		return at
	}
	stand := Instruction{Code: opJump, K: uint32(a.distance(target))}
	if i := a.reversed[target]; i.Code == opReturn {
		stand = i
	}
	at := a.emit(stand)
	a.copies[target] = at
	return at
}

// jump compares the accumulator with k.
func (a *assembler) jump(code uint16, k uint32, yes, no label) label {
	yes, no = a.near(yes), a.near(no)
	return a.emit(Instruction{Code: code, JT: uint8(a.distance(yes)), JF: uint8(a.distance(no)), K: k})
}

// test loads the word of struct seccomp_data at offset and compares the bits in
// mask with k.
func (a *assembler) test(offset, mask uint32, code uint16, k uint32, yes, no label) label {
	a.jump(code, k, yes, no)
	if mask != ^uint32(0) {
		a.emit(Instruction{Code: opAnd, K: mask})
	}
	return a.emit(Instruction{Code: opLoad, K: offset})
}

// program returns the instructions in the order in which they run.
func (a *assembler) program() []Instruction {
	slices.Reverse(a.reversed)
	return a.reversed
}
