package seccomp

// Traced is a policy that asks about every call which the given one fails, so that
// whoever serves the filter's listener can say which they were. It must answer as
// an [Interpreter] of the given policy does, and never let a call go on. Without an
// answer, because nobody serves the listener any more, calls fail with ENOSYS: a
// traced program gets nothing that it would not get otherwise.
func Traced(policy Policy) Policy {
	asked := func(a Action) Action {
		if _, fails := a.Errno(); fails {
			return UserNotify
		}
		return a
	}
	traced := Policy{Default: asked(policy.Default), Rules: make([]Rule, len(policy.Rules))}
	for i, rule := range policy.Rules {
		rule.Action = asked(rule.Action)
		traced.Rules[i] = rule
	}
	return traced
}

// Interpreter says what a policy's program answers, and which rule says so. It is for
// calls of the architecture's own interface.
type Interpreter struct {
	verdicts []verdict
	unknown  Action
}

// NewInterpreter fails as [Compile] does.
func NewInterpreter(policy Policy, arch Arch) (*Interpreter, error) {
	verdicts, err := resolve(policy, arch)
	if err != nil {
		return nil, err
	}
	return &Interpreter{verdicts, policy.Default}, nil
}

// Decide tells what becomes of a call, and [Rule.Why] of the rule that decides. It
// is empty where the default does.
func (in *Interpreter) Decide(number int, args [6]uint64) (action Action, why string) {
	if number < 0 || number >= len(in.verdicts) {
		return in.unknown, ""
	}
	v := in.verdicts[number]
	for _, rule := range v.guards {
		if rule.holds(args) {
			return rule.Action, rule.Why
		}
	}
	return v.final, v.why
}

func (r Rule) holds(args [6]uint64) bool {
	for _, c := range r.When {
		value := args[c.Arg] & c.Mask
		if (value >= c.Low && value <= c.High) == c.Not {
			return false
		}
	}
	return true
}
