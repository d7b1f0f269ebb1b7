package seccomp

import "testing"

// TestTracedLetsNothingThrough: a traced program asks about exactly the calls that its
// policy fails, and what else it answers is the same.
func TestTracedLetsNothingThrough(t *testing.T) {
	for _, opts := range everyOptions() {
		policy := Default(opts)
		for _, arch := range arches {
			program, err := Compile(Traced(policy), arch)
			if err != nil {
				t.Fatal(err)
			}
			in, err := NewInterpreter(policy, arch)
			if err != nil {
				t.Fatal(err)
			}
			v := coverage{program, make([]byte, len(program))}
			for _, c := range wholeCorpus(policy, arch) {
				want := KillProcess
				if c.arch == arch && (arch != AMD64 || c.number < x32Bit) {
					want, _ = in.Decide(int(c.number), c.args)
				}
				if _, fails := want.Errno(); fails {
					want = UserNotify
				}
				if got := v.run(c); got != want {
					t.Fatalf("%+v: %+v: got %v, want %v", opts, c, got, want)
				}
			}
		}
	}
}

// TestInterpreterSaysWhy: the rule that decides, and none where the default does.
func TestInterpreterSaysWhy(t *testing.T) {
	in, err := NewInterpreter(Default(Options{}), AMD64)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		number int
		args   [6]uint64
		want   Action
		why    string
	}{
		{16, [6]uint64{0, 0x5412}, eperm, "typing into the terminal that we share (CVE-2017-5226)"},
		{101, [6]uint64{}, eperm, "other processes' memory, registers and descriptors"},
		{1000, [6]uint64{}, enosys, ""},
		{-1, [6]uint64{}, enosys, ""},
	} {
		if got, why := in.Decide(test.number, test.args); got != test.want || why != test.why {
			t.Errorf("%d%#x: %v, %q", test.number, test.args, got, why)
		}
	}
	if _, err := NewInterpreter(Policy{}, AMD64); err == nil {
		t.Error("an empty policy is one")
	}
	for number, want := range map[int]string{0: "read", 435: "clone3", lastNumber + 1: "", -1: ""} {
		if got := AMD64.Name(number); got != want {
			t.Errorf("%d is %q", number, got)
		}
	}
	for errno, want := range map[Errno]string{EPERM: "EPERM", ENOSYS: "ENOSYS", EAFNOSUPPORT: "EAFNOSUPPORT", 5: "errno 5"} {
		if errno.String() != want {
			t.Errorf("%d is %q", uint16(errno), errno)
		}
	}
}
