package seccomp

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"testing"
)

// ruled are the calls that a policy names, each with the rules for it in order.
func ruled(policy Policy) map[string][]Rule {
	rules := map[string][]Rule{}
	for _, rule := range policy.Rules {
		for _, name := range rule.Names {
			rules[name] = append(rules[name], rule)
		}
	}
	return rules
}

// corpus are calls of one name at all edges of its rules: each argument that a rule
// looks at takes the bounds, their neighbours, and all of them with bits turned that
// the kernel may not look at.
func corpus(rules []Rule, number uint32, arch Arch) []call {
	var seen [6]map[uint64]bool
	add := func(arg int, values ...uint64) {
		if seen[arg] == nil {
			seen[arg] = map[uint64]bool{0: true}
		}
		for _, v := range values {
			seen[arg][v] = true
		}
	}
	for _, rule := range rules {
		for _, c := range rule.When {
			add(c.Arg, c.Low, c.Low|1<<32, c.Low|1<<63, c.Low^c.Mask&-c.Mask, c.Low^1<<(bits.Len64(c.Mask)-1))
			if c.Low != c.High {
				add(c.Arg, c.Low-1, c.High, c.High+1)
			}
			for _, other := range rule.When {
				if other.Arg == c.Arg {
					add(c.Arg, c.Low|other.Low)
				}
			}
		}
	}
	calls := []call{{arch: arch, number: number}}
	for arg := range seen {
		values := slices.Sorted(maps.Keys(seen[arg]))
		for i, n := 0, len(calls); i < n && values != nil; i++ {
			for _, v := range values[1:] { // the first is 0
				more := calls[i]
				more.args[arg] = v
				calls = append(calls, more)
			}
		}
	}
	return calls
}

// wholeCorpus is the corpus of all numbers, named or not, and of other interfaces.
func wholeCorpus(policy Policy, arch Arch) []call {
	named := map[uint32][]call{}
	for name, rules := range ruled(policy) {
		if n, _ := arch.number(name); n >= 0 {
			named[uint32(n)] = corpus(rules, uint32(n), arch)
		}
	}
	var calls []call
	for n := range uint32(1024) {
		if named[n] == nil {
			named[n] = []call{{arch: arch, number: n}}
		}
		calls = append(calls, named[n]...)
		calls = append(calls, call{arch: arch, number: n | x32Bit})
	}
	const i386 = 0x40000003
	return append(calls, call{arch: i386, number: 20}, call{arch: arch, number: 1 << 31}, call{arch: arch, number: ^uint32(0)})
}

// coverage runs a program as the kernel does, and notes which way each instruction
// went: bit 0 that it ran, or that its test did not hold; bit 1 that it held.
type coverage struct {
	program []Instruction
	went    []byte
}

func (v *coverage) run(c call) Action {
	var accumulator uint32
	for pc := 0; ; pc++ {
		in := v.program[pc]
		holds := false
		switch in.Code {
		case opLoad:
			accumulator = c.word(in.K)
		case opAnd:
			accumulator &= in.K
		case opReturn:
			v.went[pc] |= 1
			return Action(in.K)
		case opJump:
			v.went[pc] |= 1
			pc += int(in.K)
			continue
		case opJumpEqual:
			holds = accumulator == in.K
		case opJumpGreater:
			holds = accumulator > in.K
		case opJumpAtLeast:
			holds = accumulator >= in.K
		default:
			panic(fmt.Sprintf("the compiler writes no %#x", in.Code))
		}
		switch in.Code {
		case opLoad, opAnd:
			v.went[pc] |= 1
			continue
		}
		if holds {
			v.went[pc] |= 2
			pc += int(in.JT)
		} else {
			v.went[pc] |= 1
			pc += int(in.JF)
		}
	}
}

// word is a 32-bit word of struct seccomp_data.
func (c call) word(offset uint32) uint32 {
	switch {
	case offset == offsetNumber:
		return c.number
	case offset == offsetArch:
		return uint32(c.arch)
	}
	return uint32(c.args[(offset-offsetArgs)/8] >> (8 * (offset % 8)))
}

// missed are the instructions that never ran, and the tests that went one way only.
func (v *coverage) missed() (list []string) {
	for pc, in := range v.program {
		want := byte(1)
		if in.Code == opJumpEqual || in.Code == opJumpGreater || in.Code == opJumpAtLeast {
			want = 3
		}
		if v.went[pc] != want && !v.superseded(pc) {
			list = append(list, fmt.Sprintf("%d %+v went %b of %b", pc, in, v.went[pc], want))
		}
	}
	return list
}

// superseded tells whether an instruction ends the program and nothing leads there: the
// jumps to it are all so far away that they have a copy of it, see [assembler.near].
func (v *coverage) superseded(pc int) bool {
	led := func(from int, in Instruction) bool {
		switch in.Code {
		case opReturn:
			return false
		case opJump:
			return from+1+int(in.K) == pc
		case opJumpEqual, opJumpGreater, opJumpAtLeast:
			return from+1+int(in.JT) == pc || from+1+int(in.JF) == pc
		}
		return from+1 == pc
	}
	for from, in := range v.program[:pc] {
		if led(from, in) {
			return false
		}
	}
	return v.program[pc].Code == opReturn && pc > 0
}

// TestCorpusCovers: the corpus reaches every instruction of every program of ours and
// takes each of its branches both ways, with the answer that the policy means.
func TestCorpusCovers(t *testing.T) {
	for _, opts := range everyOptions() {
		for _, policy := range []Policy{Default(opts), Traced(Default(opts))} {
			for _, arch := range arches {
				program, err := Compile(policy, arch)
				if err != nil {
					t.Fatal(err)
				}
				v := coverage{program, make([]byte, len(program))}
				in, err := NewInterpreter(policy, arch)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range wholeCorpus(policy, arch) {
					want := KillProcess
					if c.arch == arch && (arch != AMD64 || c.number < x32Bit) {
						want, _ = in.Decide(int(c.number), c.args)
					}
					if got := v.run(c); got != want {
						t.Fatalf("%+v: %+v: got %v, want %v", opts, c, got, want)
					}
				}
				if missed := v.missed(); len(missed) > 0 {
					t.Errorf("%+v on %#x: the corpus does not cover %d instructions: %q", opts, uint32(arch), len(missed), missed)
				}
			}
		}
	}
}

// someOptions are as different as can be.
func someOptions() []Options {
	return []Options{
		{}, {AllowAffinity: true, OneUser: true, MemorySampled: true}, {Inet: true}, {Inet: true, NoUDP: true, AllowAffinity: true},
		{Inet: true, Supervised: true}, {Restricted: true, TruncationUnwatched: true, Attributes: TimesSupervised},
		{Inet: true, Restricted: true, Supervised: true, Attributes: AttributesSupervised},
	}
}

// TestOptimisedAgreesWithNaive: on the whole corpus, in the virtual machine, the
// compiled program, the naive one and the policy's meaning are one.
func TestOptimisedAgreesWithNaive(t *testing.T) {
	for _, opts := range someOptions() {
		policy := Default(opts)
		for _, arch := range arches {
			fast, plain := compiled(t, policy, arch), newMachine(t, naive(policy, arch))
			for _, c := range wholeCorpus(policy, arch) {
				want := evaluate(policy, arch, c)
				if got, slow := fast.run(t, c), plain.run(t, c); got != want || slow != want {
					t.Fatalf("%+v: %+v: compiled %v, naive %v, meaning %v", opts, c, got, slow, want)
				}
			}
		}
	}
}

// TestNoRedundantRules: without any of its rules, for any of the calls that it names,
// a policy would answer otherwise. What is named to be absent says why, and no more
// than the default.
func TestNoRedundantRules(t *testing.T) {
	for _, opts := range someOptions() {
		policy := Default(opts)
		for name, rules := range ruled(policy) {
			n, _ := AMD64.number(name)
			if n < 0 {
				continue
			}
			calls := corpus(rules, uint32(n), AMD64)
			for i := range rules {
				if last := rules[i]; len(rules) == 1 && len(last.When) == 0 && last.Action == policy.Default {
					continue
				}
				if !matters(rules, i, policy.Default, calls) {
					t.Errorf("%+v: %s: rule %d (%s) changes nothing", opts, name, i, rules[i].Why)
				}
			}
		}
	}
}

// matters tells whether the answer to some call is another without a rule.
func matters(rules []Rule, without int, unknown Action, calls []call) bool {
	decide := func(skip int, c call) Action {
		for i, rule := range rules {
			if i != skip && allHold(rule.When, c) {
				return rule.Action
			}
		}
		return unknown
	}
	return slices.ContainsFunc(calls, func(c call) bool { return decide(-1, c) != decide(without, c) })
}

// TestHighHalves turns each of the bits 32 to 63 in every argument that a rule looks
// at. Where the rule's mask has the bit the rule must see it, elsewhere it must not,
// as the kernel does.
func TestHighHalves(t *testing.T) {
	for _, opts := range everyOptions() {
		policy := Default(opts)
		for _, arch := range arches {
			m := compiled(t, policy, arch)
			for name, rules := range ruled(policy) {
				n, _ := arch.number(name)
				for _, c := range corpus(rules, uint32(max(n, 0)), arch)[:1] {
					for _, rule := range rules {
						for _, cond := range rule.When {
							c.args[cond.Arg] = cond.Low
							plain := m.run(t, c)
							for bit := 32; bit < 64 && n >= 0; bit++ {
								flipped := c
								flipped.args[cond.Arg] ^= 1 << bit
								got, want := m.run(t, flipped), evaluate(policy, arch, flipped)
								if got != want || cond.Mask>>bit&1 == 0 && low32Only(rules, cond.Arg) && got != plain {
									t.Errorf("%+v: %s: bit %d of argument %d: %v, want %v, and without it %v", opts, name, bit, cond.Arg, got, want, plain)
								}
							}
						}
					}
				}
			}
		}
	}
}

// low32Only tells whether no rule sees the high half of an argument.
func low32Only(rules []Rule, arg int) bool {
	return !slices.ContainsFunc(rules, func(r Rule) bool {
		return slices.ContainsFunc(r.When, func(c Condition) bool { return c.Arg == arg && c.Mask>>32 != 0 })
	})
}
