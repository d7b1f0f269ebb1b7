package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
)

// TestHardeningText: what can be done has a line and its command, and the rest no more
// lines than reasons.
func TestHardeningText(t *testing.T) {
	rows := hardening([]advisory.Setting{
		{Name: "smt", State: advisory.Unknown, Detail: "not told by this kernel"},
		{Name: "ksm", State: advisory.Advice, Detail: "1: pages are shared", Mend: "echo 2 > run"},
		{Name: "swap", State: advisory.Good, Detail: "none"},
		{Name: "kernel.core_pattern", State: advisory.Advice, Detail: "\"\x1b[2J\"", Mend: "sysctl -w x"},
		{Name: "fs.protected_fifos", State: advisory.Unknown, Detail: "it says \x1b[2J"},
		{Name: "kernel.dmesg_restrict", State: advisory.Good, Detail: "1"},
		{Name: "cpu_vulnerabilities", State: advisory.Unknown, Detail: "not told by this kernel"},
	})
	want := `hardening of this host: 2 to consider, 2 good, 3 unknown
  advice    ksm                  1: pages are shared
                                 mend: echo 2 > run
  advice    kernel.core_pattern  "\x1b[2J"
                                 mend: sysctl -w x
  good      swap, kernel.dmesg_restrict
  unknown   fs.protected_fifos: it says \x1b[2J
  unknown   smt, cpu_vulnerabilities: not told by this kernel
`
	if diff := cmp.Diff(want, hardeningText(rows, paint{})); diff != "" {
		t.Error(diff)
	}
	if got, want := hardeningText(hardening(nil), paint{}), "hardening of this host: 0 to consider, 0 good, 0 unknown\n"; got != want {
		t.Errorf("%q", got)
	}
}
