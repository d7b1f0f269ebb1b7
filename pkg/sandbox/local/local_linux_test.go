package local_test

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

func TestConformance(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone} {
		t.Run(string(level), func(t *testing.T) {
			sandboxtest.Run(t, sandboxtest.Options{Level: level, Open: func(t *testing.T) sandbox.Runtime {
				rt, err := local.New(local.Options{RuntimeDir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				return rt
			}})
		})
	}
}
