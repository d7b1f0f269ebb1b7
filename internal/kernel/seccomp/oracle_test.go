package seccomp

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// call is struct seccomp_data without the instruction pointer.
type call struct {
	arch   Arch
	number uint32
	args   [6]uint64
}

// packet encodes a call for the virtual machine of x/net/bpf, which loads words
// as big-endian, while the kernel loads those of seccomp_data as its own.
func (c call) packet() []byte {
	b := binary.BigEndian.AppendUint32(nil, c.number)
	b = binary.BigEndian.AppendUint32(b, uint32(c.arch))
	b = append(b, make([]byte, 8)...)
	for _, arg := range c.args {
		b = binary.BigEndian.AppendUint32(b, uint32(arg))
		b = binary.BigEndian.AppendUint32(b, uint32(arg>>32))
	}
	return b
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(...any)
}

// machine runs filters in user space.
type machine struct{ vm *bpf.VM }

func newMachine(t fataler, program []bpf.Instruction) machine {
	t.Helper()
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return machine{vm}
}

func (m machine) run(t fataler, c call) Action {
	t.Helper()
	result, err := m.vm.Run(c.packet())
	if err != nil {
		t.Fatal(err)
	}
	return Action(uint32(result))
}

// compiled is the machine with the real compiler's program.
func compiled(t fataler, policy Policy, arch Arch) machine {
	t.Helper()
	program, err := Compile(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]bpf.Instruction, len(program))
	for i, instruction := range program {
		raw[i] = bpf.RawInstruction{
			Op: instruction.Code, Jt: instruction.JT, Jf: instruction.JF, K: instruction.K,
		}.Disassemble()
	}
	return newMachine(t, raw)
}

// evaluate says what a policy means, without a compiler.
func evaluate(policy Policy, arch Arch, c call) Action {
	if c.arch != arch || (arch == AMD64 && c.number >= x32Bit) {
		return KillProcess
	}
	for _, rule := range policy.Rules {
		for _, name := range rule.Names {
			number, _ := arch.number(name)
			if number >= 0 && uint32(number) == c.number && allHold(rule.When, c) {
				return rule.Action
			}
		}
	}
	return policy.Default
}

func allHold(conditions []Condition, c call) bool {
	for _, cond := range conditions {
		value := c.args[cond.Arg] & cond.Mask
		if (value >= cond.Low && value <= cond.High) == cond.Not {
			return false
		}
	}
	return true
}

// naive compiles a policy rule by rule, with nothing shared and no search: slow,
// and too plain to be wrong.
func naive(policy Policy, arch Arch) []bpf.Instruction {
	kill := bpf.RetConstant{Val: uint32(KillProcess)}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(arch), SkipTrue: 1},
		kill,
	}
	if arch == AMD64 {
		program = append(program,
			bpf.LoadAbsolute{Off: 0, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Bit, SkipTrue: 1},
			kill)
	}
	for _, rule := range policy.Rules {
		body := []bpf.Instruction{bpf.RetConstant{Val: uint32(rule.Action)}}
		for _, cond := range rule.When {
			body = append(naiveCondition(cond, len(body)), body...)
		}
		for _, name := range rule.Names {
			if number, _ := arch.number(name); number >= 0 {
				program = append(program,
					bpf.LoadAbsolute{Off: 0, Size: 4},
					bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(number), SkipFalse: uint8(len(body))})
				program = append(program, body...)
			}
		}
	}
	return append(program, bpf.RetConstant{Val: uint32(policy.Default)})
}

// naiveCondition skips so many instructions when the condition does not hold.
func naiveCondition(c Condition, skip int) []bpf.Instruction {
	block := naiveAtLeast(c, c.Low, 0)
	if c.High == all64 {
		block = append(block, bpf.LoadConstant{Dst: bpf.RegA, Val: 0}, bpf.StoreScratch{Src: bpf.RegA, N: 1})
	} else {
		block = append(block, naiveAtLeast(c, c.High+1, 1)...)
	}
	want := uint32(1)
	if c.Not {
		want = 0
	}
	return append(block, // at least Low, and not at least High+1
		bpf.LoadScratch{Dst: bpf.RegA, N: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpXor, Val: 1},
		bpf.TAX{},
		bpf.LoadScratch{Dst: bpf.RegA, N: 0},
		bpf.ALUOpX{Op: bpf.ALUOpAnd},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: want, SkipFalse: uint8(skip)})
}

// naiveAtLeast stores in a scratch cell whether the argument is at least bound.
func naiveAtLeast(c Condition, bound uint64, cell int) []bpf.Instruction {
	low, high := uint32(16+8*c.Arg), uint32(16+8*c.Arg+4)
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: high, Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: uint32(c.Mask >> 32)},
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: uint32(bound >> 32), SkipTrue: 6},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: uint32(bound >> 32), SkipTrue: 3},
		bpf.LoadAbsolute{Off: low, Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: uint32(c.Mask)},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: uint32(bound), SkipTrue: 2},
		bpf.LoadConstant{Dst: bpf.RegA, Val: 0},
		bpf.Jump{Skip: 1},
		bpf.LoadConstant{Dst: bpf.RegA, Val: 1},
		bpf.StoreScratch{Src: bpf.RegA, N: cell},
	}
}
