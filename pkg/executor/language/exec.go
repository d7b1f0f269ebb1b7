package language

import (
	"context"
	"errors"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// execLanguage is no language: its arguments name a program of the root.
type execLanguage struct{}

func newExec() Language { return execLanguage{} }

func (execLanguage) Info() Info {
	return Info{Name: "exec", Title: "Program"}
}

// Find finds what is always there.
func (execLanguage) Find(_ context.Context, host Host) ([]Toolchain, []Missing) {
	tc := Toolchain{Language: "exec", Origin: "the root"}
	if host.Image != nil {
		tc = host.Image.toolchain("exec")
	}
	return []Toolchain{tc}, nil
}

// Plan runs the arguments. Files may come along; they are its input.
func (execLanguage) Plan(_ Toolchain, src Source, _ Resources) (Plan, error) {
	switch {
	case src.Code != nil:
		return Plan{}, errors.New("exec takes no source: its arguments name a program, as in sandbox-run --lang exec -- ls -l")
	case len(src.Args) == 0 || src.Args[0] == "":
		return Plan{}, errors.New("exec needs a program: sandbox-run --lang exec -- ls -l")
	}
	return Plan{
		Files: src.Files,
		Run:   func(sandbox.FileTree) (Step, error) { return Step{Args: src.Args}, nil },
	}, nil
}

// Diagnose knows nothing; the last line says most.
func (execLanguage) Diagnose(_, stderr string) Diagnosis {
	return Diagnosis{Reason: shorten(lastLine(stderr))}
}
