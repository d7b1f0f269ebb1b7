package local

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/advisory"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A kernel with a known hole is in the warnings of every container, and in what
// doctor shows; the one that runs us is judged at the start.
func TestKernelHole(t *testing.T) {
	r, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.verdict.Components) != 1 || r.verdict.Components[0] != advisory.ThisKernel() {
		t.Errorf("judged %+v", r.verdict.Components)
	}
	r.verdict = advisory.Judge(advisory.Component{Name: "linux", Version: "6.12.80"})
	c, err := r.Create(t.Context(), sandbox.Spec{Level: sandbox.LevelNone, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Delete(context.WithoutCancel(t.Context()))
	if !slices.ContainsFunc(c.Isolation().Warnings, func(w string) bool { return strings.Contains(w, "linux 6.12.80 has CVE-2026-43499") }) {
		t.Errorf("warnings %q", c.Isolation().Warnings)
	}
	caps, err := r.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last := caps.Mechanisms[len(caps.Mechanisms)-1]; last.Name != "versions" || !strings.Contains(last.Detail, "CVE-2026-43499") || !strings.Contains(last.Mend, "boot Linux 6.12.86 or later") {
		t.Errorf("doctor shows %+v", last)
	}
}

// Strict versions let a kernel pass that has no known hole, and no other.
func TestStrictKernel(t *testing.T) {
	holes := advisory.Judge(advisory.ThisKernel()).Refuse(true)
	r, err := New(Options{RuntimeDir: t.TempDir(), StrictVersions: true})
	if err == nil {
		err = r.Close()
	}
	if (err != nil) != (holes != nil) {
		t.Errorf("error %v, and the kernel has %v", err, holes)
	}
}

// A start looks at the kernel's version once: this is what it costs.
func BenchmarkJudgeKernel(b *testing.B) {
	for b.Loop() {
		advisory.Judge(advisory.ThisKernel())
	}
}
