package advisory

import "testing"

// What a number tells is the distribution's affair.
func TestKernelVersion(t *testing.T) {
	for _, c := range []struct{ what, release, version, signature, want string }{
		{"kernel.org's", "6.18.44", "#1 SMP PREEMPT_DYNAMIC @0", "", "6.18.44"},
		{"Debian's, whose release is an ABI", "6.1.0-37-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.140-1 (2025-05-22)", "", "6.1.140"},
		{"Ubuntu's", "5.15.0-25-generic", "#25-Ubuntu SMP Wed Mar 30 15:54:22 UTC 2022", "Ubuntu 5.15.0-25.25-generic 5.15.30\n", "5.15.30"},
		{"Red Hat's", "5.14.0-362.8.1.el9_3.x86_64", "#1 SMP PREEMPT_DYNAMIC Tue Oct 3 11:12:36 EDT 2023", "", ""},
		{"SUSE's", "6.4.0-150600.23.7-default", "#1 SMP PREEMPT_DYNAMIC", "", ""},
		{"Fedora's", "6.18.5-200.fc43.x86_64", "#1 SMP PREEMPT_DYNAMIC", "", "6.18.5-200.fc43.x86_64"},
	} {
		if got := kernelVersion(c.release, c.version, c.signature); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
