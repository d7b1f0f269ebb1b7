package sandbox

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Nothing is asked for above the operator's ceilings, nor above those that a server has where
// nothing is said. What is not asked for is lowered to them.
func TestCeilings(t *testing.T) {
	low := started(t, "SANDBOX_WARM=off", "SANDBOX_MAX_CPUS=0.5", "SANDBOX_MAX_PIDS=32", "SANDBOX_MAX_MEMORY_MB=100", "SANDBOX_MAX_DISK_MB=8")
	const body = `{"language":"bash","code":"echo ran","limits":{%s}}`
	for _, limits := range []string{"", `"cpu_cores":0.5,"processes":32,"memory_mb":100,"disk_mb":8`} {
		r := low.execute(t, fmt.Sprintf(body, limits)).result(t)
		if l := r.Meta.ResourceLimits; r.Stdout != "ran\n" || l.CPUCores != 0.5 || l.Processes != 32 || l.MemoryBytes != 100<<20 || l.DiskBytes != 8<<20 {
			t.Errorf("{%s}: %s %s, %+v", limits, r.Status, r.Message, l)
		}
	}
	for _, c := range []struct {
		server         *instance
		limit, pointer string
	}{
		{low, `"cpu_cores":0.6`, "/limits/cpu_cores"},
		{low, `"processes":33`, "/limits/processes"},
		{low, `"memory_mb":101`, "/limits/memory_mb"},
		{low, `"disk_mb":9`, "/limits/disk_mb"},
		{shared, fmt.Sprintf(`"cpu_cores":%d`, runtime.NumCPU()+1), "/limits/cpu_cores"},
		{shared, `"processes":1025`, "/limits/processes"},
		{shared, `"disk_mb":4097`, "/limits/disk_mb"},
	} {
		p := c.server.execute(t, fmt.Sprintf(body, c.limit)).problem(t, 422)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || !strings.Contains(p.Detail, "ceiling") {
			t.Errorf("{%s}: %+v", c.limit, p)
		}
	}
}

// Who says that everybody may come in gets no key, and everybody may, by whatever name.
func TestInsecure(t *testing.T) {
	s := started(t, "SANDBOX_DATA_DIR="+t.TempDir(), "SANDBOX_ADDR=0.0.0.0", "SANDBOX_INSECURE=true", "SANDBOX_WARM=off")
	if r := s.run(t, api.Request{Language: "bash", Code: "echo in"}, "Host", "sandbox.example"); r.Stdout != "in\n" {
		t.Errorf("%s %s", r.Status, r.Message)
	}
	if strings.Contains(s.Logged(), "sbx_") {
		t.Errorf("it shows a key:\n%s", s.Logged())
	}
}
