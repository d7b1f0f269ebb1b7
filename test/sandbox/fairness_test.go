package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// spinning keeps one core busy, always the same, and prints the CPU time that it has
// had so far.
const spinning = `
import os, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
told = 0
while True:
    if time.process_time() - told > 0.02:
        told = time.process_time()
        print(told, flush=True)
`

// spin starts a spinning program in the background. What it returns is the CPU time
// that the program has told of. It ends with ctx.
func (s *instance) spin(ctx context.Context, t *testing.T, key string) func() float64 {
	t.Helper()
	body, err := json.Marshal(api.Request{Code: spinning, TimeoutSeconds: 120, Limits: &api.RequestLimits{MemoryMB: 64, CPUCores: 1}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/execute", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/x-ndjson", "X-API-Key": key} {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	var mu sync.Mutex
	var used float64
	go func() {
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			var e api.Event
			if json.Unmarshal(lines.Bytes(), &e) != nil || e.Type != api.EventStdout {
				continue
			}
			told := strings.Fields(e.Data)
			seconds, err := strconv.ParseFloat(told[len(told)-1], 64)
			if err != nil {
				continue // half a line
			}
			mu.Lock()
			used = max(used, seconds)
			mu.Unlock()
		}
	}()
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return used
	}
}

// keys writes a file of a key for each tenant, which is "key-of-tenant-" and its name.
func keys(t *testing.T, tenants ...string) (setting string) {
	t.Helper()
	var text strings.Builder
	for _, tenant := range tenants {
		text.WriteString("- key: key-of-tenant-" + tenant + "\n  tenant: " + tenant + "\n")
	}
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "SANDBOX_API_KEYS_FILE=" + file
}

// dividesCPU skips a test where the kernel cannot divide the cores.
func (s *instance) dividesCPU(t *testing.T, key string) {
	t.Helper()
	if state := s.run(t, api.Request{Code: "1"}, "X-API-Key", key).Meta.ResourceLimits.Enforcement["cpu"]; state != api.Enforced {
		t.Skipf("the CPU limit is %s here", state)
	}
}

// Twelve busy programs of one tenant and one of another, all on one core: each tenant
// has about half of it. Between runs it would be twelve to one.
func TestTenantsShareTheCPU(t *testing.T) {
	const flood = 12
	s := started(t, keys(t, "flood", "quiet"), "SANDBOX_MAX_CONCURRENT=32", "SANDBOX_TOTAL_MEMORY_MB=4096")
	s.dividesCPU(t, "key-of-tenant-quiet")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var many []func() float64
	for range flood {
		many = append(many, s.spin(ctx, t, "key-of-tenant-flood"))
	}
	all := func() (sum float64) {
		for _, used := range many {
			sum += used()
		}
		return sum
	}
	one := s.spin(ctx, t, "key-of-tenant-quiet")
	until(t, "every program runs", func() bool {
		for _, used := range many {
			if used() == 0 {
				return false
			}
		}
		return one() > 0
	})
	manyBefore, oneBefore := all(), one()
	until(t, "they have used two seconds", func() bool { return all()-manyBefore+one()-oneBefore > 2 })
	quiet, busy := one()-oneBefore, all()-manyBefore
	t.Logf("CPU seconds: %.2f of %d programs of one tenant, %.2f of one of another", busy, flood, quiet)
	if busy > 3*quiet {
		t.Errorf("the tenant with %d programs has %.2f CPU seconds, the one with one has %.2f", flood, busy, quiet)
	}
}

// tenantGroups are the control groups of tenants, by path.
func tenantGroups(t *testing.T) map[string]bool {
	t.Helper()
	form := regexp.MustCompile(`/sandbox-run/i[0-9a-f]{4}-[0-9a-f]{16}-t[0-9a-f]{16}$`)
	found := map[string]bool{}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && form.MatchString(path) {
			found[path] = true
		}
		return nil
	})
	return found
}

// A tenant's control group goes with its last run, and with what a server that was
// killed has left.
func TestTenantGroupsGo(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *instance, leave func()){
		"with the last run": func(_ *testing.T, _ *instance, leave func()) { leave() },
		"after a crash": func(t *testing.T, s *instance, _ func()) {
			if err := s.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.Cmd.Wait()
			started(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := tenantGroups(t)
			s := started(t, keys(t, "acme", "lab"))
			s.dividesCPU(t, "key-of-tenant-acme")
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			for _, key := range []string{"key-of-tenant-acme", "key-of-tenant-acme", "key-of-tenant-lab"} {
				s.spin(ctx, t, key)
			}
			var ours []string
			for path := range tenantGroups(t) {
				if !before[path] {
					ours = append(ours, path)
				}
			}
			if len(ours) != 2 {
				t.Fatalf("two tenants have the groups %q", ours)
			}
			end(t, s, leave)
			until(t, "the groups are gone", func() bool {
				for _, path := range ours {
					if _, err := os.Stat(path); err == nil {
						return false
					}
				}
				return true
			})
		})
	}
}
