package seccomp

import (
	"fmt"
	"slices"
)

// Profile is a policy as OCI runtimes take it: linux.seccomp of their configuration
// (LinuxSeccomp of opencontainers/runtime-spec 1.1). Docker reads the same from 23 on,
// and Podman; an older engine does not know defaultErrnoRet.
type Profile struct {
	DefaultAction   string        `json:"defaultAction"`
	DefaultErrnoRet *Errno        `json:"defaultErrnoRet,omitempty"`
	Architectures   []string      `json:"architectures"`
	Syscalls        []ProfileRule `json:"syscalls"`
}

// ProfileRule is one answer to some calls. All of Args must hold.
type ProfileRule struct {
	Names    []string          `json:"names"`
	Action   string            `json:"action"`
	ErrnoRet *Errno            `json:"errnoRet,omitempty"`
	Args     []ProfileArgument `json:"args,omitempty"`
}

// ProfileArgument holds when the bits of an argument in Value are ValueTwo.
type ProfileArgument struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo"`
	Op       string `json:"op"`
}

// Export writes a policy as a profile. A profile's rules have no order: of those for
// one call one without arguments beats all others, and which of two wins that both
// hold is nobody's promise (seccomp_rule_add(3)); what equals the default is an error
// or left out. So for each call the rules here never overlap, none is the default's,
// and they test for bits that are set or not and nothing else, in each argument once.
//
// Calls through other interfaces of the machine are killed, as in a compiled filter,
// if only the thread. A policy that asks somebody cannot be exported.
func Export(policy Policy, arch Arch) (*Profile, error) {
	verdicts, err := resolve(policy, arch)
	if err != nil {
		return nil, err
	}
	p := &Profile{Architectures: []string{arch.profileName()}}
	if p.DefaultAction, p.DefaultErrnoRet, err = policy.Default.profile(); err != nil {
		return nil, err
	}
	var done []verdict
	all := arch.names()
	for number, v := range verdicts {
		if all[number] == "" || slices.ContainsFunc(done, v.same) {
			continue
		}
		done = append(done, v)
		var names []string
		for twin := number; twin < len(verdicts); twin++ {
			if all[twin] != "" && v.same(verdicts[twin]) {
				names = append(names, all[twin])
			}
		}
		if err := p.add(names, v, policy.Default); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add adds the rules for some calls that share a verdict.
func (p *Profile) add(names []string, v verdict, unknown Action) error {
	cut, err := v.cut()
	if err != nil {
		return fmt.Errorf("seccomp: %v: %w", names, err)
	}
	for i, pieces := range cut {
		answer := v.final
		if i < len(v.guards) {
			answer = v.guards[i].Action
		}
		if answer == unknown {
			continue
		}
		action, errno, err := answer.profile()
		if err != nil {
			return err
		}
		for _, piece := range pieces {
			p.Syscalls = append(p.Syscalls, ProfileRule{Names: names, Action: action, ErrnoRet: errno, Args: piece.profile()})
		}
	}
	return nil
}

func (a cube) profile() (args []ProfileArgument) {
	for i, bits := range a {
		if bits.mask != 0 {
			args = append(args, ProfileArgument{Index: uint(i), Value: bits.mask, ValueTwo: bits.value, Op: "SCMP_CMP_MASKED_EQ"})
		}
	}
	return args
}

// profile is the action by libseccomp's name.
func (a Action) profile() (name string, number *Errno, err error) {
	switch errno, fails := a.Errno(); {
	case fails:
		return "SCMP_ACT_ERRNO", &errno, nil
	case a == Allow:
		return "SCMP_ACT_ALLOW", nil, nil
	case a == KillProcess:
		return "SCMP_ACT_KILL_PROCESS", nil, nil
	}
	return "", nil, fmt.Errorf("seccomp: %v cannot be exported: an OCI runtime would have to know whom to ask", a)
}

func (a Arch) profileName() string {
	if a == ARM64 {
		return "SCMP_ARCH_AARCH64"
	}
	return "SCMP_ARCH_X86_64"
}

// ExportNamed is [Export] for who knows no defaultErrnoRet, as Docker before 23: every
// call in the tables is named, and only the others fail with EPERM. It needs errnoRet,
// which Docker has from 20.10.10 on.
func ExportNamed(policy Policy, arch Arch) (*Profile, error) {
	verdicts, err := resolve(policy, arch)
	if err != nil {
		return nil, err
	}
	rest := Rule{Why: "what is not named would be refused", Action: policy.Default}
	for number, name := range arch.names() {
		if name != "" && !verdicts[number].closed {
			rest.Names = append(rest.Names, name)
		}
	}
	if len(rest.Names) > 0 {
		policy.Rules = append(slices.Clone(policy.Rules), rest)
	}
	policy.Default = Fail(EPERM)
	p, err := Export(policy, arch)
	if err != nil {
		return nil, err
	}
	p.DefaultErrnoRet = nil
	return p, nil
}
