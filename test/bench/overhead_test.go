package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

var (
	pairs = flag.Int("pairs", 2, "pairs of TestOverhead, and of TestPipe")
	size  = flag.Float64("size", 0.02, "how much each program of TestOverhead does: 1 is about a second; TestPipe carries as many GiB")
)

// work is a program that tells how long it took, without its start.
type work struct {
	name, language, file, source string
	most                         float64 // how much longer it may take inside, or 0
}

// Computing is to be as quick inside as outside, and the upper end of the interval may be so much.
// It is judged where there are enough pairs to tell, of programs that run for a second.
const computeMost, enoughPairs = 1.03, 20

// works do what programs do, each on one core.
func works() []work {
	return []work{
		{"n bodies, C", "c", "w.c", `#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int n, char **a) {
	double scale = atof(a[1]), x[5], v[5], began = now();
	for (int i = 0; i < 5; i++) { x[i] = i * 1.7 + 0.3; v[i] = 0.01 * i; }
	for (long step = 0; step < 20000000 * scale; step++) {
		for (int i = 0; i < 5; i++) for (int j = 0; j < i; j++) {
			double d = x[i] - x[j], f = 1e-9 * d / (fabs(d * d * d) + 1e-3);
			v[i] -= f; v[j] += f;
		}
		for (int i = 0; i < 5; i++) x[i] += v[i] * 1e-4;
	}
	double took = now() - began;
	fprintf(stderr, "%g\n", x[0]);
	printf("%.9f\n", took);
}
`, computeMost},
		{"sort, Python", "python", "w.py", `import random, sys, time
random.seed(1)
began = time.perf_counter()
for _ in range(max(1, int(8 * float(sys.argv[1])))):
    sorted([random.random() for _ in range(100_000)])
print(time.perf_counter() - began)
`, computeMost},
		{"memory, C", "c", "w.c", `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int n, char **a) {
	size_t size = 64 << 20;
	char *x = malloc(size), *y = malloc(size);
	memset(x, 1, size); memset(y, 2, size);
	double began = now();
	for (int i = 0; i < 60 * atof(a[1]) + 1; i++) { memcpy(x, y, size); y[i] = x[i + 1]; }
	double took = now() - began;
	fprintf(stderr, "%d\n", x[77]);
	printf("%.9f\n", took);
}
`, 0},
		{"files, Python", "python", "w.py", `import os, sys, time
block = bytes(1 << 16)
began = time.perf_counter()
for n in range(max(1, int(1000 * float(sys.argv[1])))):
    with open("f%d" % (n % 10), "wb") as f:
        for _ in range(16):
            f.write(block)
    with open("f%d" % (n % 10), "rb") as f:
        while f.read(1 << 16):
            pass
print(time.perf_counter() - began)
`, 0},
		{"a large file, C", "c", "w.c", `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static char block[1 << 20];
int main(int n, char **a) {
	memset(block, 1, sizeof block);
	double began = now();
	for (int i = 0; i < 16 * atof(a[1]) + 1; i++) {
		int f = open("large", O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (int b = 0; b < 64; b++) if (write(f, block, sizeof block) != sizeof block) return 1;
		if (lseek(f, 0, SEEK_SET)) return 1;
		for (int b = 0; b < 64; b++) if (read(f, block, sizeof block) != sizeof block) return 1;
		close(f);
	}
	printf("%.9f\n", now() - began);
}
`, 0},
		{"compile, GCC", "bash", "w.sh", `awk -v n="$1" 'BEGIN { for (i = 0; i < 120 * n + 1; i++)
	printf "int f%d(int *p, int n) { int s = %d; for (int i = 0; i < n; i++) { if (p[i] %% %d) s += p[i] * i; else s ^= p[n - i - 1]; } return s; }\n", i, i, i + 2 }' >w.c
began=$EPOCHREALTIME
gcc -O2 -c -o w.o w.c
awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.6f\n", b - a }'
`, 0},
		{"processes, Bash", "bash", "w.sh", `began=$EPOCHREALTIME
n=$(awk -v s="$1" 'BEGIN { print int(600 * s) + 1 }')
for ((i = 0; i < n; i++)); do /bin/true; done
awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.6f\n", b - a }'
`, 0},
	}
}

// TestOverhead is how much longer programs take inside than outside, each by its own clock, in
// turns that begin with the one and with the other. Files are in memory on both sides.
func TestOverhead(t *testing.T) {
	server := start(t)
	table := "| program | outside s | inside s | inside/outside | 95 % |\n|---|---|---|---|---|\n"
	for _, w := range works() {
		t.Run(w.name, func(t *testing.T) {
			bare := w.outside(t)
			var outside, inside bench.Series
			turns := []func(){
				func() { outside = append(outside, told(t, bare())) },
				func() {
					result, err := send(t.Context(), server, api.Request{Language: w.language, Code: w.source, Args: []string{fmt.Sprint(*size)}, TimeoutSeconds: 300})
					if err != nil {
						t.Fatal(err)
					}
					inside = append(inside, told(t, result.Stdout))
				},
			}
			for range *pairs {
				turns[0]()
				turns[1]()
				slices.Reverse(turns)
			}
			low, high := inside.RatioInterval(outside)
			if w.most > 0 && *size >= 1 && *pairs >= enoughPairs && high > w.most {
				t.Errorf("it takes up to %.3f times as long inside, and at most %.2f is allowed", high, w.most)
			}
			table += fmt.Sprintf("| %s | %.3f | %.3f | %.3f | %.3f to %.3f |\n", w.name, outside.Quantile(0.5).Seconds(), inside.Quantile(0.5).Seconds(), inside.Ratio(outside), low, high)
		})
	}
	report(t, fmt.Sprintf("Work inside and outside, %d pairs", *pairs), table)
}

// outside is the program on the host, as its language is compiled or called there.
func (w work) outside(t *testing.T) func() string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sandbox-bench-") //nolint:usetesting // in memory, as inside
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, w.file), []byte(w.source), 0o600); err != nil {
		t.Fatal(err)
	}
	command := []string{toolchain(t, bench.Program{Language: w.language, File: w.file}).Program, w.file}
	if w.language == "c" {
		if out, err := exec.Command(command[0], "-O2", "-o", filepath.Join(dir, "w"), filepath.Join(dir, w.file), "-lm").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		command = []string{filepath.Join(dir, "w")}
	}
	return func() string {
		cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], fmt.Sprint(*size))...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		return string(out)
	}
}

// told is a number of seconds.
func told(t *testing.T, text string) time.Duration {
	t.Helper()
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		t.Fatalf("%q is no number of seconds", text)
	}
	return time.Duration(seconds * float64(time.Second))
}

// TestPipe is how fast a stream comes out, beside cat.
func TestPipe(t *testing.T) {
	tool := tool(t)
	mib := max(1, int(*size*1024))
	source := fmt.Sprintf("head -c %dM /dev/zero", mib)
	through := func(name string, command ...string) bench.Contender {
		return bench.Contender{Name: name, Do: func(ctx context.Context, _ int64) error {
			var count counter
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &count, &said
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%w: %s", err, said.Bytes())
			}
			if count != counter(mib)<<20 {
				return fmt.Errorf("%d bytes came out", count)
			}
			return nil
		}}
	}
	s, err := bench.Turns{Rounds: *pairs, WarmUp: 1}.Measure(t.Context(),
		through("cat", "/bin/bash", "-c", source+" | cat"),
		through("sandbox-run", tool, "--output", "raw", "--max-stream", "0", "--timeout", "5m", "--lang", "bash", "--code", source))
	if err != nil {
		t.Fatal(err)
	}
	speed := func(s bench.Series) float64 { return float64(mib) / s.Quantile(0.5).Seconds() }
	low, high := s[0].RatioInterval(s[1])
	report(t, fmt.Sprintf("%d MiB through standard output, %d pairs", mib, *pairs),
		fmt.Sprintf("| | MiB/s |\n|---|---|\n| `head \\| cat` | %.0f |\n| `sandbox-run --output raw` | %.0f |\n| ratio | %.2f (%.2f to %.2f), at least 0.50 is wanted |\n", speed(s[0]), speed(s[1]), s[0].Ratio(s[1]), low, high))
}

// counter takes what is written and counts it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
