package seccomp

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// profileOf exports a policy and reads what was written, strictly.
func profileOf(t fataler, policy Policy, arch Arch) *Profile {
	t.Helper()
	exported, err := Export(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(exported)
	if err != nil {
		t.Fatal(err)
	}
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// answer is what a runtime makes of a profile, whatever the order in which it takes
// the rules: an error where two hold, or where libseccomp refuses one.
func (p *Profile) answer(arch Arch, c call) (Action, error) {
	unknown, err := actionOf(p.DefaultAction, p.DefaultErrnoRet)
	if err != nil {
		return 0, err
	}
	answer, holding := unknown, 0
	for _, rule := range p.Syscalls {
		action, err := actionOf(rule.Action, rule.ErrnoRet)
		if err != nil || action == unknown {
			return 0, fmt.Errorf("a rule with %s: %w", rule.Action, err)
		}
		for _, name := range rule.Names {
			if number, _ := arch.number(name); uint32(number) == c.number && rule.holdsFor(c) {
				answer = action
				holding++
			}
		}
	}
	if holding > 1 {
		return 0, fmt.Errorf("%d rules hold for %+v", holding, c)
	}
	return answer, nil
}

func (r ProfileRule) holdsFor(c call) bool {
	return !slices.ContainsFunc(r.Args, func(a ProfileArgument) bool {
		return a.Op != "SCMP_CMP_MASKED_EQ" || c.args[a.Index]&a.Value != a.ValueTwo
	})
}

func actionOf(name string, errno *Errno) (Action, error) {
	switch {
	case name == "SCMP_ACT_ALLOW" && errno == nil:
		return Allow, nil
	case name == "SCMP_ACT_KILL_PROCESS" && errno == nil:
		return KillProcess, nil
	case name == "SCMP_ACT_ERRNO" && errno != nil:
		return Fail(*errno), nil
	}
	return 0, fmt.Errorf("the action %s is no runtime's", name)
}

// TestExportAgrees: on the corpus, a profile means what its policy does.
func TestExportAgrees(t *testing.T) {
	for _, opts := range []Options{{}, {AllowAffinity: true}, {Inet: true}, {Inet: true, NoUDP: true, AllowAffinity: true}} {
		policy := Default(opts)
		for _, arch := range arches {
			p := profileOf(t, policy, arch)
			t.Logf("%+v on %#x: %d rules", opts, uint32(arch), len(p.Syscalls))
			byNumber := p.byNumber(arch)
			named, err := ExportNamed(policy, arch)
			if err != nil || named.DefaultErrnoRet != nil {
				t.Fatalf("%+v, %v", named, err)
			}
			refused := EPERM
			named.DefaultErrnoRet = &refused // which is what nothing means
			all := named.byNumber(arch)
			for _, c := range wholeCorpus(policy, arch) {
				if c.arch != arch || c.number >= x32Bit {
					continue // which have no names
				}
				want := evaluate(policy, arch, c)
				if got, err := byNumber(c.number).answer(arch, c); err != nil || got != want {
					t.Fatalf("%+v: %+v: %v, %v, want %v", opts, c, got, err, want)
				}
				if arch.Name(int(c.number)) == "" {
					want = Fail(EPERM)
				}
				if got, err := all(c.number).answer(arch, c); err != nil || got != want {
					t.Fatalf("%+v: named: %+v: %v, %v, want %v", opts, c, got, err, want)
				}
			}
		}
	}
}

// byNumber is the profile with the rules for one call alone, which is quicker.
func (p *Profile) byNumber(arch Arch) func(uint32) *Profile {
	rules := map[uint32][]ProfileRule{}
	for _, rule := range p.Syscalls {
		for _, name := range rule.Names {
			n, _ := arch.number(name)
			one := rule
			one.Names = []string{name}
			rules[uint32(n)] = append(rules[uint32(n)], one)
		}
	}
	return func(number uint32) *Profile {
		one := *p
		one.Syscalls = rules[number]
		return &one
	}
}

// TestExportOfAnyPolicy: so it is for every policy that fits.
func TestExportOfAnyPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t)
		arch := rapid.SampledFrom(arches).Draw(t, "arch")
		exported, err := Export(policy, arch)
		if err != nil {
			return // it does not fit, or it asks somebody
		}
		for range 20 {
			c := drawCall(t, policy, arch)
			want := evaluate(policy, arch, c)
			if c.arch != arch || c.number >= x32Bit {
				continue
			}
			if got, err := exported.answer(arch, c); err != nil || got != want {
				t.Fatalf("%+v: %v, %v, want %v", c, got, err, want)
			}
		}
	})
}

func TestExportRefuses(t *testing.T) {
	many := Policy{Default: Fail(ENOSYS), Rules: []Rule{
		{Names: []string{"read"}, Action: Fail(EPERM), When: []Condition{Not(Equal(0, 0)), Not(Equal(1, 0))}},
	}}
	for _, policy := range []Policy{Default(Options{Inet: true, Supervised: true}), Default(Options{Restricted: true}), many, {}} {
		if p, err := Export(policy, AMD64); err == nil {
			t.Errorf("exported %+v", p)
		}
	}
}

func BenchmarkExport(b *testing.B) {
	policy := Default(Options{Inet: true, NoUDP: true})
	for b.Loop() {
		p, err := Export(policy, AMD64)
		if err == nil {
			_, err = json.Marshal(p)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
