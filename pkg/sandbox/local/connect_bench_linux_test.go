package local

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// connectTimed is where the helper of BenchmarkConnect connects to.
const connectTimed = "SANDBOX_TEST_CONNECT_TIMED"

// TestHelperTimeConnect is no test: BenchmarkConnect runs it. It prints the
// medians of what it measures, in nanoseconds: to connect and to close, and that
// with a question and its answer in between.
func TestHelperTimeConnect(t *testing.T) {
	address := os.Getenv(connectTimed)
	if address == "" {
		t.Skip("run by BenchmarkConnect")
	}
	at, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	to := &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}
	var connects, exchanges []time.Duration
	line := make([]byte, 100)
	for range 300 {
		begin := time.Now()
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, to)
		}
		connected := time.Now()
		if err == nil {
			_, err = unix.Write(fd, []byte("you\n"))
		}
		for n := 1; err == nil && n > 0; {
			n, err = unix.Read(fd, line)
		}
		closing := time.Now()
		unix.Close(fd)
		if err != nil {
			t.Fatal(err)
		}
		connects, exchanges = append(connects, connected.Sub(begin)+time.Since(closing)), append(exchanges, time.Since(begin))
	}
	fmt.Printf("%d %d\n", median(connects), median(exchanges))
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkConnect is what a connection costs a program: on this host, with a
// network namespace, and where a supervisor makes it.
func BenchmarkConnect(b *testing.B) {
	s := newCounter(b)
	rt, _ := supervised(b)
	run := func(level sandbox.Level) func(io.Writer) {
		c, err := rt.Create(b.Context(), sandbox.Spec{Level: level, Network: sandbox.NetworkPolicy{Allow: []string{"localhost:" + s.port}}, Disk: sandbox.DiskLimit{Bytes: 64 << 20, Inodes: 1000}})
		if err != nil {
			b.Skip(err)
		}
		ourselves(b, c)
		return func(out io.Writer) {
			running, err := c.Start(b.Context(), sandbox.Process{
				Args: []string{sandbox.WorkspaceDir + "/ourselves", "-test.run=^TestHelperTimeConnect$"}, Stdout: out, Stderr: out,
				Env: []string{connectTimed + "=host.docker.internal:" + s.port},
			})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := running.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	}
	runs := map[string]func(io.Writer){"full": run(sandbox.LevelFull), "restricted": run(sandbox.LevelRestricted), "host": func(out io.Writer) {
		cmd := exec.CommandContext(b.Context(), "/proc/self/exe", "-test.run=^TestHelperTimeConnect$")
		cmd.Env = []string{connectTimed + "=127.0.0.1:" + s.port}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}}
	connects, exchanges := map[string][]time.Duration{}, map[string][]time.Duration{}
	for b.Loop() {
		for name, run := range runs {
			var out bytes.Buffer
			run(&out)
			var connect, exchange time.Duration
			if _, err := fmt.Fscan(bytes.NewReader(out.Bytes()), &connect, &exchange); err != nil {
				b.Fatalf("%s: %v\n%s", name, err, out.String())
			}
			connects[name], exchanges[name] = append(connects[name], connect), append(exchanges[name], exchange)
		}
	}
	for name := range runs {
		b.ReportMetric(float64(median(connects[name]).Nanoseconds())/1e3, name+"-connect-p50-µs")
		b.ReportMetric(float64(median(exchanges[name]).Nanoseconds())/1e3, name+"-exchange-p50-µs")
	}
}

// ourselves puts this test's binary into a container's workspace.
func ourselves(t testing.TB, c sandbox.Container) {
	t.Helper()
	files, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	if err := files.WriteFile("ourselves", self, 0o755); err != nil {
		t.Fatal(err)
	}
}
