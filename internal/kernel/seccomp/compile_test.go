package seccomp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var arches = []Arch{AMD64, ARM64}

// words are the values at which comparisons go wrong.
var words = []uint64{
	0, 1, 2, 3, 7, 8, 0x5412, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	1 << 32, 1<<32 | 1, 0x5412 | 1<<32, 0xffffffff << 32, math.MaxUint64 - 1, math.MaxUint64,
}

func drawWord(t *rapid.T, label string) uint64 {
	return rapid.OneOf(rapid.SampledFrom(words), rapid.Uint64()).Draw(t, label)
}

func drawCondition(t *rapid.T) Condition {
	c := Condition{
		Arg:  rapid.IntRange(0, 5).Draw(t, "arg"),
		Mask: rapid.OneOf(rapid.Just(all64), rapid.Just(low32), rapid.SampledFrom(words), rapid.Uint64()).Draw(t, "mask"),
		Not:  rapid.Bool().Draw(t, "not"),
	}
	a, b := drawWord(t, "a"), drawWord(t, "b")
	c.Low, c.High = min(a, b), max(a, b)
	if rapid.Bool().Draw(t, "single") || c.Low == c.High {
		c.Low &= c.Mask
		c.High = c.Low
	}
	return c
}

// someNames are close enough together that ranges merge and split.
var someNames = []string{
	"read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap", "socket", "connect",
	"clone", "execve", "openat", "io_setup", "io_destroy", "mseal", "rseq_slice_yield", "clone3", "pidfd_open",
}

// drawPolicy draws a policy that the compiler takes: no rule follows one
// without conditions for the same name.
func drawPolicy(t *rapid.T) Policy {
	actions := rapid.SampledFrom([]Action{Allow, KillProcess, UserNotify, Ignore, Fail(EPERM), Fail(ENOSYS), Fail(maxErrno)})
	policy := Policy{Default: actions.Draw(t, "default")}
	closed := map[string]bool{}
	for range rapid.IntRange(0, 30).Draw(t, "rules") {
		rule := Rule{Action: actions.Draw(t, "action")}
		for range rapid.IntRange(0, 3).Draw(t, "conditions") {
			rule.When = append(rule.When, drawCondition(t))
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(someNames), 1, 5, rapid.ID).Draw(t, "names") {
			if !closed[name] {
				rule.Names = append(rule.Names, name)
				closed[name] = len(rule.When) == 0
			}
		}
		if len(rule.Names) > 0 {
			policy.Rules = append(policy.Rules, rule)
		}
	}
	return policy
}

// drawCall draws a call that has a chance to meet a rule.
func drawCall(t *rapid.T, policy Policy, arch Arch) call {
	c := call{arch: arch, number: rapid.OneOf(
		rapid.Uint32Range(0, 1023), rapid.Uint32Range(x32Bit, x32Bit+600), rapid.Uint32(),
	).Draw(t, "number")}
	var edges []uint64
	if len(policy.Rules) > 0 && rapid.IntRange(0, 9).Draw(t, "hit") > 0 {
		rule := rapid.SampledFrom(policy.Rules).Draw(t, "rule")
		if n, _ := arch.number(rule.Names[0]); n >= 0 {
			c.number = uint32(n)
		}
		for _, cond := range rule.When {
			edges = append(edges, cond.Low-1, cond.Low, cond.Low+1, cond.High-1, cond.High, cond.High+1)
		}
	}
	for i := range c.args {
		c.args[i] = rapid.SampledFrom(append(edges, words...)).Draw(t, "value")
		if rapid.Bool().Draw(t, "flip") {
			c.args[i] ^= 1 << rapid.IntRange(0, 63).Draw(t, "bit")
		}
	}
	return c
}

// agree holds a policy's program against its meaning and the naive program.
func agree(t *rapid.T) {
	policy := drawPolicy(t)
	arch := rapid.SampledFrom(arches).Draw(t, "arch")
	fast, plain := compiled(t, policy, arch), newMachine(t, naive(policy, arch))
	in, err := NewInterpreter(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c := drawCall(t, policy, arch)
		want := evaluate(policy, arch, c)
		if got, why := in.Decide(int(c.number), c.args); want != KillProcess && got != want {
			t.Fatalf("interpreted: %+v: got %v (%s), want %v", c, got, why, want)
		}
		if got := fast.run(t, c); got != want {
			t.Fatalf("compiled: %+v: got %v, want %v", c, got, want)
		}
		if got := plain.run(t, c); got != want {
			t.Fatalf("naive: %+v: got %v, want %v", c, got, want)
		}
	}
}

func TestCompileAgreesWithNaive(t *testing.T) { rapid.Check(t, agree) }

func FuzzCompile(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agree)) }

func TestOtherInterfacesAreKilled(t *testing.T) {
	const i386, arm, x32 = Arch(0x40000003), Arch(0x40000028), Arch(0x4000003e)
	permissive := Policy{Default: Allow}
	for _, arch := range arches {
		m := compiled(t, permissive, arch)
		if got := m.run(t, call{arch: arch, number: 1}); got != Allow {
			t.Errorf("%#x: its own calls: %v", arch, got)
		}
		for _, other := range []Arch{i386, arm, x32, AMD64, ARM64, 0} {
			if other == arch {
				continue
			}
			if got := m.run(t, call{arch: other, number: 1}); got != KillProcess {
				t.Errorf("%#x: a call of architecture %#x: %v", arch, other, got)
			}
		}
	}
	m := compiled(t, permissive, AMD64)
	for _, number := range []uint32{x32Bit, x32Bit + 39, x32Bit + 512, math.MaxUint32} {
		if got := m.run(t, call{arch: AMD64, number: number}); got != KillProcess {
			t.Errorf("number %#x: %v", number, got)
		}
	}
	if got := m.run(t, call{arch: AMD64, number: x32Bit - 1}); got != Allow {
		t.Errorf("number %#x: %v", x32Bit-1, got)
	}
}

// TestFarJumps makes programs in which most targets are out of the reach of a
// conditional jump: a long chain for each of many calls.
func TestFarJumps(t *testing.T) {
	policy := Policy{Default: Fail(ENOSYS)}
	for i, name := range someNames {
		for v := range uint64(20) {
			policy.Rules = append(policy.Rules, Rule{
				Names: []string{name}, Action: Fail(Errno(1 + (i+int(v))%7)),
				When: []Condition{Equal(int(v)%6, v<<30)},
			})
		}
		policy.Rules = append(policy.Rules, allow("", name))
	}
	for _, arch := range arches {
		program, err := Compile(policy, arch)
		if err != nil {
			t.Fatal(err)
		}
		if len(program) < 1000 {
			t.Fatalf("only %d instructions: nothing is far", len(program))
		}
		m := compiled(t, policy, arch)
		for number := range uint32(500) {
			for v := range uint64(21) {
				c := call{arch: arch, number: number}
				c.args[v%6] = v << 30
				if got, want := m.run(t, c), evaluate(policy, arch, c); got != want {
					t.Fatalf("%#x: %+v: got %v, want %v", arch, c, got, want)
				}
			}
		}
	}
}

func TestCompileRefusesMistakes(t *testing.T) {
	rule := func(r Rule) Policy { return Policy{Default: Allow, Rules: []Rule{r}} }
	names := []string{"read"}
	tests := []struct {
		policy Policy
		want   string
	}{
		{rule(Rule{Why: "w", Names: []string{"raed"}, Action: Allow}), `rule 0 (w): no architecture has a system call named "raed"`},
		{rule(Rule{Action: Allow}), "names no system call"},
		{rule(Rule{Names: names}), "action(0x0) is not an action"},
		{rule(Rule{Names: names, Action: Fail(4096)}), "errno(4096) is not an action"},
		{rule(Rule{Names: names, Action: Allow + 1}), "is not an action"},
		{rule(Rule{Names: []string{"read", "read"}, Action: Allow}), "read is decided by an earlier rule"},
		{rule(Rule{Names: names, Action: Allow, When: []Condition{Equal(6, 0)}}), "argument 6 does not exist"},
		{rule(Rule{Names: names, Action: Allow, When: []Condition{Equal(-1, 0)}}), "argument -1 does not exist"},
		{rule(Rule{Names: names, Action: Allow, When: []Condition{InRange(0, 2, 1)}}), "from 0x2 to 0x1 is empty"},
		{rule(Rule{Names: names, Action: Allow, When: []Condition{MaskedEqual(0, 1, 2)}}), "hides bits"},
		{Policy{}, "the default action(0x0) is not an action"},
		{longPolicy(), "the kernel takes 4096"},
	}
	for _, test := range tests {
		for _, arch := range arches {
			_, err := Compile(test.policy, arch)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want …%s…", err, test.want)
			}
		}
	}
	if _, err := Compile(Policy{Default: Allow}, 7); err == nil {
		t.Error("compiled for an unknown architecture")
	}
}

func longPolicy() Policy {
	policy := Policy{Default: Allow}
	for v := range uint64(1000) {
		policy.Rules = append(policy.Rules, Rule{
			Names: []string{"read"}, Action: Fail(EPERM), When: []Condition{Equal(0, v), Equal(1, v)},
		})
	}
	return policy
}

func TestMarshal(t *testing.T) {
	got := fmt.Sprintf("%x", Marshal([]Instruction{{Code: opJumpEqual, JT: 1, JF: 2, K: 0xc000003e}, {Code: opReturn, K: uint32(Allow)}}))
	if want := "150001023e0000c0" + "060000000000ff7f"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestActionString(t *testing.T) {
	for action, want := range map[Action]string{
		Allow: "allow", KillProcess: "kill-process", UserNotify: "user-notify",
		Ignore: "errno(0)", Fail(EPERM): "errno(1)", 0x7ff00000: "action(0x7ff00000)",
	} {
		if got := action.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
