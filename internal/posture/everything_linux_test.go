package posture

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// TestMaskIsNoLever: not every kernel has a lever that a runtime masks, so the file here is the mask.
func TestMaskIsNoLever(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "prober"), filepath.Join(dir, "file")
	if err := os.WriteFile(program, spawn.InitProgram(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	input, ask := io.Pipe()
	answers, output := io.Pipe()
	cmd := exec.CommandContext(t.Context(), program, spawn.StreamArgs[1:]...)
	cmd.Stdin, cmd.Stdout = input, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &prober{spawn.Stream(&pipes{answers, ask}), new(Posture)}
	for _, name := range []string{os.DevNull, "/dev/zero", file, file + "s"} {
		p.lever(name, name)
	}
	if err := p.server.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	want := []Line{{os.DevNull, "masked"}, {"/dev/zero", "works"}, {file, "works"}, {file + "s", "ENOENT"}}
	if diff := cmp.Diff(want, p.seen.Lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
