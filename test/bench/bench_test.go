// Package bench measures what a run costs: on the bare host, and over HTTP from a server as
// shipped, in turns, so that a machine that is busy with something else is so for both. Each
// request has a source of its own. It measures little unless it is told to; see make bench.
package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	rounds = flag.Int("rounds", 2, "measurements of each program")
	cpus   = flag.Float64("cpus", 0, "cores that each request asks for; 0: the server's default")
	idle   = flag.Duration("idle", 60*time.Millisecond, "rest before each measurement: busy loops hide what the kernel waits for")
	only   = flag.String("only", "", "`names` of programs, with commas between; all of them otherwise")
)

var binary, dataDir string

func TestMain(m *testing.M) {
	testenv.Main(func(dir string) (code int, err error) {
		dataDir = filepath.Join(dir, "data")
		if err := testenv.Prepared(dataDir, os.Geteuid()); err != nil {
			return 0, err
		}
		if binary, err = testenv.Program(dir, "sandbox-server", "SANDBOX_TEST_SERVER"); err != nil {
			return 0, err
		}
		return m.Run(), nil
	})
}

// TestLatency is how long one caller waits for one run.
func TestLatency(t *testing.T) {
	server, err := testenv.Launch(binary, nil, "SANDBOX_DATA_DIR="+dataDir, "SANDBOX_WARM=auto")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	table := fmt.Sprintf("%-18s %8s %8s %8s   %8s %8s %8s   %6s %5s\n", "ms", "bare p50", "p95", "p99", "http p50", "p95", "p99", "ratio", "warm")
	for _, p := range programs() {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			commands, err := p.bare(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			m := measure(t, server, p, commands)
			table += fmt.Sprintf("%-18s %s   %s   %6.2f %4d%%   %s\n", p.name, figures(m.bare), figures(m.through),
				float64(quantile(m.through, 0.5))/float64(quantile(m.bare, 0.5)), 100*m.warm / *rounds, strings.Join(commands[0], " "))
		})
	}
	t.Logf("%d rounds, %v idle before each, cpus %v\n%s", *rounds, *idle, *cpus, table)
}

// measured is one program, in turns on the host and through the server.
type measured struct {
	bare, through []time.Duration
	warm          int
}

func measure(t *testing.T, server *testenv.Server, p program, commands [][]string) (m measured) {
	t.Helper()
	dir := t.TempDir()
	const warmUp = 3
	for round := range warmUp + *rounds {
		if err := os.WriteFile(filepath.Join(dir, p.file), fmt.Appendf(nil, p.source, time.Now().UnixNano()), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(*idle)
		began := time.Now()
		for _, command := range commands {
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", command, err, out)
			}
		}
		bare := time.Since(began)
		source := fmt.Sprintf(p.source, time.Now().UnixNano())
		time.Sleep(*idle)
		began = time.Now()
		result := execute(t, server, p.language, source)
		through := time.Since(began)
		if result.Status != api.StatusOK {
			t.Fatalf("%s: %s %s", result.Status, result.Message, result.Stderr)
		}
		if round < warmUp {
			continue
		}
		m.bare, m.through = append(m.bare, bare), append(m.through, through)
		if result.Meta.Warm {
			m.warm++
		}
	}
	return m
}

func execute(t *testing.T, server *testenv.Server, language, source string) api.Result {
	t.Helper()
	req := api.Request{Language: language, Code: source}
	if *cpus > 0 {
		req.Limits = &api.RequestLimits{CPUCores: *cpus}
	}
	body, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(server.URL+"/execute", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", resp.Status, err, answer)
	}
	var result api.Result
	if err := json.Unmarshal(answer, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func figures(d []time.Duration) string {
	ms := func(q float64) float64 { return float64(quantile(d, q)) / float64(time.Millisecond) }
	return fmt.Sprintf("%8.2f %8.2f %8.2f", ms(0.5), ms(0.95), ms(0.99))
}
