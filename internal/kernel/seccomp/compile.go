package seccomp

import (
	"fmt"
	"slices"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Compile turns a policy into a filter for an architecture. A call through
// another interface of the machine (32-bit, x32) kills the process, whatever
// the policy says. It fails on what can only be a mistake: a name that no
// architecture has, a rule that an earlier one hides, a condition that cannot
// hold, a program longer than the kernel takes.
func Compile(policy Policy, arch Arch) ([]Instruction, error) {
	policy = broken(policy)
	verdicts, err := resolve(policy, arch)
	if err != nil {
		return nil, err
	}
	a := newAssembler()
	entry := a.search(a.segments(verdicts, policy.Default, arch))
	if a.distance(entry) == 0 {
		entry = a.emit(Instruction{Code: opLoad, K: offsetNumber})
	} // else no jump was needed: everything has one verdict
	a.test(offsetArch, ^uint32(0), opJumpEqual, uint32(arch), entry, a.ret(foreign()))
	if len(a.reversed) > MaxInstructions {
		return nil, fmt.Errorf("seccomp: the filter needs %d instructions and the kernel takes %d: use fewer conditions", len(a.reversed), MaxInstructions)
	}
	return a.program(), nil
}

// foreign is for calls through another interface.
func foreign() Action {
	if fault.Off("seccomp", "other interfaces") {
		return Allow
	}
	return KillProcess
}

// broken leaves out what tests have named: rules that refuse, by why they do, and the default.
func broken(policy Policy) Policy {
	if fault.Off("seccomp", "default") {
		policy.Default = Allow
	}
	for i := len(policy.Rules) - 1; i >= 0; i-- {
		r := policy.Rules[i]
		if _, fails := r.Action.Errno(); !fails || !fault.Off("seccomp", r.Why) {
			continue
		}
		policy.Rules = slices.Delete(slices.Clone(policy.Rules), i, i+1)
		if len(r.When) == 0 {
			r.Action = Allow
			policy.Rules = slices.Insert(policy.Rules, i, r)
		}
	}
	return policy
}

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // six of 8 bytes, low half first
)

// verdict is what a policy says about one number: the guards in order, then,
// when none of them decides, an action.
type verdict struct {
	guards []*Rule // rules with conditions
	final  Action
	why    string // of the rule that set final; empty for the default
	closed bool   // a rule without conditions was seen; it set final
}

// same tells whether two verdicts lead to the same answers for the same reason.
func (v verdict) same(w verdict) bool {
	return v.final == w.final && slices.Equal(v.guards, w.guards)
}

// resolve sorts the rules by number.
func resolve(policy Policy, arch Arch) ([]verdict, error) {
	if arch != AMD64 && arch != ARM64 {
		return nil, fmt.Errorf("seccomp: no table of system calls for the architecture %#x", uint32(arch))
	}
	if !policy.Default.valid() {
		return nil, fmt.Errorf("seccomp: the default %v is not an action that a filter may return", policy.Default)
	}
	verdicts := make([]verdict, lastNumber+1)
	for i := range verdicts {
		verdicts[i].final = policy.Default
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if err := rule.check(); err != nil {
			return nil, fmt.Errorf("seccomp: rule %d (%s): %w", i, rule.Why, err)
		}
		for _, name := range rule.Names {
			if err := enter(verdicts, rule, name, arch); err != nil {
				return nil, fmt.Errorf("seccomp: rule %d (%s): %w", i, rule.Why, err)
			}
		}
	}
	return verdicts, nil
}

// enter adds a rule to the verdict of one name.
func enter(verdicts []verdict, rule *Rule, name string, arch Arch) error {
	number, known := arch.number(name)
	if !known {
		return fmt.Errorf("no architecture has a system call named %q", name)
	}
	if number < 0 {
		return nil
	}
	v := &verdicts[number]
	if v.closed {
		return fmt.Errorf("%s is decided by an earlier rule", name)
	}
	if len(rule.When) > 0 {
		v.guards = append(v.guards, rule)
		return nil
	}
	v.final, v.why, v.closed = rule.Action, rule.Why, true
	return nil
}

// segment is a range of numbers with one verdict, from first to where the next
// segment begins.
type segment struct {
	first  uint32
	target label
}

// segments writes the code of every verdict and merges neighbours that share one.
func (a *assembler) segments(verdicts []verdict, unknown Action, arch Arch) []segment {
	segments := make([]segment, 0, 128)
	add := func(first uint32, target label) {
		if n := len(segments); n == 0 || segments[n-1].target != target {
			segments = append(segments, segment{first, target})
		}
	}
	var guarded []int
	places := make([]label, len(verdicts)) // of those that are guarded
	for number, v := range verdicts {
		if len(v.guards) == 0 {
			add(uint32(number), a.ret(v.final))
			continue
		}
		twin := slices.IndexFunc(guarded, func(other int) bool { return v.same(verdicts[other]) })
		if twin >= 0 {
			places[number] = places[guarded[twin]]
		} else {
			places[number] = a.chain(v)
			guarded = append(guarded, number)
		}
		add(uint32(number), places[number])
	}
	add(uint32(len(verdicts)), a.ret(unknown))
	if arch == AMD64 {
		add(x32Bit, a.ret(foreign()))
	}
	return segments
}

// chain writes a verdict that depends on arguments.
func (a *assembler) chain(v verdict) label {
	next := a.ret(v.final)
	for _, rule := range slices.Backward(v.guards) {
		yes := a.ret(rule.Action)
		for _, c := range slices.Backward(rule.When) {
			yes = a.condition(c, yes, next)
		}
		next = yes
	}
	return next
}

// search writes a balanced tree of comparisons with the number, which is in the
// accumulator.
func (a *assembler) search(segments []segment) label {
	if len(segments) == 1 {
		return segments[0].target
	}
	middle := len(segments) / 2
	upper := a.search(segments[middle:])
	lower := a.search(segments[:middle])
	return a.jump(opJumpAtLeast, segments[middle].first, upper, lower)
}

// condition writes the test of one argument.
func (a *assembler) condition(c Condition, yes, no label) label {
	if c.Not {
		yes, no = no, yes
	}
	if c.Low == c.High {
		return a.equal(c, yes, no)
	}
	if c.High != all64 {
		yes = a.atLeast(c, c.High+1, no, yes)
	}
	return a.atLeast(c, c.Low, yes, no)
}

// equal writes the comparison of both halves with those of c.Low.
func (a *assembler) equal(c Condition, yes, no label) label {
	for _, half := range halves(c, c.Low) {
		if half.mask != 0 { // else the value is 0 too: check saw to it
			yes = a.test(half.offset, half.mask, opJumpEqual, half.bound, yes, no)
		}
	}
	return yes
}

// atLeast writes a comparison with a 64-bit bound: the high half decides,
// unless it is equal.
func (a *assembler) atLeast(c Condition, bound uint64, yes, no label) label {
	if bound == 0 {
		return yes
	}
	h := halves(c, bound)
	low, high := h[0], h[1]
	tie := a.test(low.offset, low.mask, opJumpAtLeast, low.bound, yes, no)
	if high.mask == 0 && high.bound == 0 {
		return tie
	}
	if high.bound > 0 {
		tie = a.test(high.offset, high.mask, opJumpEqual, high.bound, tie, no)
	}
	return a.test(high.offset, high.mask, opJumpGreater, high.bound, yes, tie)
}

// half is one 32-bit word of an argument; BPF compares no more at a time.
type half struct{ offset, mask, bound uint32 }

// halves splits an argument and a bound, low word first.
func halves(c Condition, bound uint64) [2]half {
	offset := uint32(offsetArgs + 8*c.Arg)
	return [2]half{
		{offset, uint32(c.Mask), uint32(bound)},
		{offset + 4, uint32(c.Mask >> 32), uint32(bound >> 32)},
	}
}
