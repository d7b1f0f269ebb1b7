package local

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// changesModes prints the nanoseconds of a median call.
const changesModes = `
import os, sys, time
os.chdir(sys.argv[1])
open("f", "w").close()
took = []
for mode in range(2000):
    begin = time.perf_counter_ns()
    os.chmod("f", 0o600 | mode % 8)
    took.append(time.perf_counter_ns() - begin)
print(sorted(took)[len(took) // 2])`

// BenchmarkAttributes is what it costs a program to change a file's mode: on this
// host, and where a supervisor does it.
func BenchmarkAttributes(b *testing.B) {
	if os.Geteuid() == 0 {
		b.Skip("root's programs have a user id of their own; run it as an ordinary user")
	}
	c := restrictedDisk(b, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
	python := []string{"/usr/bin/python3", "-c", changesModes}
	for name, run := range map[string]func(out io.Writer) error{
		"host": func(out io.Writer) error {
			cmd := exec.CommandContext(b.Context(), python[0], append(python[1:], b.TempDir())...)
			cmd.Stdout = out
			return cmd.Run()
		},
		"restricted": func(out io.Writer) error {
			running, err := c.Start(b.Context(), sandbox.Process{Args: append(python, sandbox.WorkspaceDir), Stdout: out})
			if err == nil {
				_, err = running.Wait()
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var total, runs float64
			for b.Loop() {
				var out bytes.Buffer
				var ns float64
				err := run(&out)
				if _, scanErr := fmt.Sscan(out.String(), &ns); err != nil || scanErr != nil {
					b.Fatal(err, scanErr, out.String())
				}
				total, runs = total+ns, runs+1
			}
			b.ReportMetric(total/runs/1000, "µs/chmod")
		})
	}
}
