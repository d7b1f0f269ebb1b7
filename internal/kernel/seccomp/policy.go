package seccomp

import "fmt"

// Policy says what happens to each system call.
//
// The rules for a name are tried in order, and the first one whose conditions
// all hold decides; the default decides when there is none. Order matters:
// whoever exports a policy to libseccomp must know that there a rule without
// conditions beats those with, whatever their order.
type Policy struct {
	// Default is for calls that no rule decides, those that will be invented
	// after us included.
	Default Action
	Rules   []Rule
}

// Rule gives one answer to some system calls.
type Rule struct {
	// Why says in a few words what the rule is for.
	Why string
	// Names are system calls by the kernel's names. One that the architecture
	// lacks is passed over; one that none has is an error.
	Names []string
	// When must hold for the rule to decide; all of it. Empty means always.
	When   []Condition
	Action Action
}

// Condition is a test of one argument: of the bits in Mask, taken as a number,
// between Low and High, both included; with Not, the opposite.
//
// A condition should see exactly the bits that the kernel looks at: the low 32
// where its own parameter is an int (the rest of the register may hold anything,
// by the calling convention too), all 64 where it is a long or a pointer. A rule
// that refuses and sees more is stepped around by a stray high bit; one that
// allows and sees fewer lets through what it never saw.
type Condition struct {
	Arg       int // 0 to 5
	Mask      uint64
	Low, High uint64
	Not       bool
}

const (
	all64 = ^uint64(0)
	low32 = uint64(^uint32(0))
)

// Equal holds when all 64 bits of the argument are value: for a long or a pointer.
func Equal(arg int, value uint64) Condition { return MaskedEqual(arg, all64, value) }

// Equal32 holds when the low 32 bits of the argument are value: for an int.
func Equal32(arg int, value uint32) Condition { return MaskedEqual(arg, low32, uint64(value)) }

// MaskedEqual holds when the bits of the argument in mask are value.
func MaskedEqual(arg int, mask, value uint64) Condition {
	return Condition{Arg: arg, Mask: mask, Low: value, High: value}
}

// InRange holds when the argument, unsigned, is between low and high, both
// included.
func InRange(arg int, low, high uint64) Condition {
	return Condition{Arg: arg, Mask: all64, Low: low, High: high}
}

// Not turns a condition into its opposite.
func Not(c Condition) Condition {
	c.Not = !c.Not
	return c
}

// check finds what can only be a mistake.
func (c Condition) check() error {
	switch {
	case c.Arg < 0 || c.Arg > 5:
		return fmt.Errorf("argument %d does not exist: a system call has 0 to 5", c.Arg)
	case c.Low > c.High:
		return fmt.Errorf("argument %d: the range from %#x to %#x is empty", c.Arg, c.Low, c.High)
	case c.Low == c.High && c.Low&^c.Mask != 0:
		return fmt.Errorf("argument %d: the mask %#x hides bits of the value %#x", c.Arg, c.Mask, c.Low)
	}
	return nil
}

func (r Rule) check() error {
	if !r.Action.valid() {
		return fmt.Errorf("%v is not an action that a filter may return", r.Action)
	}
	if len(r.Names) == 0 {
		return fmt.Errorf("it names no system call")
	}
	for _, c := range r.When {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}
