package posture_test

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

func TestPosture(t *testing.T) {
	rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
		t.Run(string(level), func(t *testing.T) {
			p, err := posture.Take(t.Context(), rt, level)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", p)
			for _, fault := range p.Faults() {
				t.Error(fault)
			}
		})
	}
}
