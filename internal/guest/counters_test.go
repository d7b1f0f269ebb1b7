package guest

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// groupContent is what control groups of both versions say, as far as it is read,
// with some of what stands around it (Linux 6.12).
var groupContent = map[int]map[string]string{
	2: {
		"cpu.stat":       "usage_usec 3000123\nuser_usec 2000100\nsystem_usec 1000023\nnice_usec 0\ncore_sched.force_idle_usec 0\nnr_periods 31\nnr_throttled 2\nthrottled_usec 99\nnr_bursts 0\nburst_usec 0\n",
		"memory.current": "8392704\n",
		"memory.peak":    "12345344\n",
		"memory.events":  "low 0\nhigh 0\nmax 117\noom 4\noom_kill 3\noom_group_kill 1\n",
		"memory.stat":    "anon 221184\nfile 6291456\nkernel 1814528\nkernel_stack 32768\nshmem 6291456\nworkingset_refault_anon 0\npgscan 0\npgfault 15541\npgmajfault 12\npgrefill 0\nthp_fault_alloc 0\n",
		"pids.current":   "5\n",
		"pids.events":    "max 7\n",
		"io.stat":        "253:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=1024 dios=1\n259:1 rbytes=1000 wbytes=24 rios=1 wios=1 dbytes=0 dios=0\n8:0\n",
	},
	1: {
		"cpuacct/cpuacct.usage_user":             "2000100000\n",
		"cpuacct/cpuacct.usage_sys":              "1000023000\n",
		"memory/memory.usage_in_bytes":           "8000000\n",
		"memory/memory.memsw.usage_in_bytes":     "8392704\n",
		"memory/memory.max_usage_in_bytes":       "12345344\n",
		"memory/memory.limit_in_bytes":           "68157440\n",
		"memory/memory.memsw.max_usage_in_bytes": "12345344\n",
		"memory/memory.memsw.limit_in_bytes":     "68157440\n",
		"memory/memory.oom_control":              "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
		"memory/memory.stat":                     "cache 6291456\nrss 221184\npgpgin 1\npgpgout 2\npgfault 11\npgmajfault 1\nhierarchical_memory_limit 9223372036854771712\ntotal_cache 6291456\ntotal_pgfault 15541\ntotal_pgmajfault 12\n",
		"pids/pids.current":                      "5\n",
		"pids/pids.events":                       "max 7\n",
	},
}

func known(n int64) figure { return figure{n, true} }

func groupFilesOf(version int) []groupFile {
	return map[int][]groupFile{1: filesV1, 2: filesV2}[version]
}

func TestCounters(t *testing.T) {
	want := counters{
		cpuUser: known(2000100000), cpuSystem: known(1000023000), memory: known(8392704), memoryPeak: known(12345344),
		processes: known(5), oomKills: known(3), denials: known(7), ioRead: known(5096), ioWritten: known(8216), pageFaults: known(15541),
	}
	for version, content := range groupContent {
		var got counters
		for _, f := range groupFilesOf(version) {
			if _, ok := content[f.name]; !ok {
				t.Errorf("version %d: no content of %s", version, f.name)
			}
			f.read(content[f.name], &got)
		}
		want := want
		if version == 1 { // which does not count what a container reads and writes
			want.ioRead, want.ioWritten = figure{}, figure{}
			want.memoryLimit, want.swapPeak, want.swapLimit = known(65<<20), known(12345344), known(65<<20)
		} else {
			want.ownOOMs = known(4)
		}
		if got != want {
			t.Errorf("version %d:\n%+v, want\n%+v", version, got, want)
		}
	}
	var c counters
	for _, f := range filesV1 {
		if f.name != "memory/memory.memsw.usage_in_bytes" {
			f.read(groupContent[1][f.name], &c)
		}
	}
	equal(t, "memory where swap is not counted", c.memory, known(8000000))
}

// TestHostileCounters: whatever the files say, no figure is negative, none is so
// large that another unit overflows, and what is no number is not known.
func TestHostileCounters(t *testing.T) {
	for _, value := range []string{
		"", " ", "-1", "-9223372036854775808", "9223372036854775807", "18446744073709551615", "99999999999999999999999999",
		"1152921504606846977", "max", "NaN", "1e3", "0x10", "1 2", "\x00", "ü", "1_000", "+", strings.Repeat("9", groupFileSize),
	} {
		for _, form := range []string{"%", "user_usec %\nsystem_usec %\noom_kill %\noom %\npgfault %\ntotal_pgfault %\nmax %\n", "8:0 rbytes=% wbytes=%\n", "oom_kill%\n", "user_usec\n%"} {
			content := strings.ReplaceAll(form, "%", value)
			for version := range groupContent {
				var got counters
				for _, f := range groupFilesOf(version) {
					f.read(content, &got)
				}
				fields := reflect.ValueOf(got)
				for i := range fields.NumField() {
					n, known := fields.Field(i).Field(0).Int(), fields.Field(i).Field(1).Bool()
					if n < 0 || n > maxCount || n > 0 && !known {
						t.Errorf("%.40q: %s is %d, %v", content, fields.Type().Field(i).Name, n, known)
					}
					if name := fields.Type().Field(i).Name; known && !strings.HasPrefix(name, "io") {
						t.Errorf("%.40q: %s is %d", content, name, n)
					}
				}
			}
		}
	}
	equal(t, "the largest number", number("1152921504606846976"), known(maxCount))
	equal(t, "a sum of large ones", sum(strings.Repeat("rbytes=1152921504606846976 ", 100), "rbytes="), known(maxCount))
	equal(t, "a large one in another unit", scaled(known(maxCount), 1000), known(maxCount/1000*1000))
	equal(t, "the first of two lines", field("a 1\na 2\n", "a"), known(1))
	equal(t, "a name that others begin with", field("oom_kill_disable 9\noom_kill 2", "oom_kill"), known(2))
}

func TestMetrics(t *testing.T) {
	before := counters{
		cpuUser: known(100), cpuSystem: known(50), memory: known(1000), memoryPeak: known(5000), processes: known(1),
		ioRead: known(10), ioWritten: known(20), pageFaults: known(30),
	}
	now := counters{
		cpuUser: known(1100), cpuSystem: known(550), memory: known(4000), memoryPeak: known(9000), processes: known(4),
		ioRead: known(110), ioWritten: known(220), pageFaults: known(330),
	}
	usage := &spawn.Usage{
		User: 7, System: 8, MaxRSSBytes: 6000, MinorFaults: 1, MajorFaults: 2, InBlocks: 3, OutBlocks: 4, VoluntarySwitches: 5, Switches: 6,
	}
	figures := func(m sandbox.Metrics) map[string]int64 {
		all := map[string]int64{}
		for name, p := range map[string]*int64{
			"peak": m.MemoryPeakBytes, "memory": m.MemoryBytes, "read": m.IOReadBytes, "written": m.IOWriteBytes, "most": m.ProcessesPeak,
			"processes": m.Processes, "faults": m.PageFaults, "switches": m.ContextSwitches,
		} {
			if p != nil {
				all[name] = *p
			}
		}
		if cpu, ok := m.CPU(); ok {
			all["cpu"] = int64(cpu)
		}
		return all
	}
	grown := func(change func(*counters)) counters {
		c := now
		change(&c)
		return c
	}
	fromUsage := map[string]int64{"cpu": 15, "peak": 6000, "faults": 3, "switches": 11, "read": 1536, "written": 2048}
	for name, test := range map[string]struct {
		before, now counters
		known       bool
		usage       *spawn.Usage
		seen        int64
		want        map[string]int64
		peakFrom    string
	}{
		"nothing known":   {want: map[string]int64{}},
		"the kernel only": {usage: usage, want: fromUsage, peakFrom: "rusage"},
		"while it runs": {before: before, now: now, known: true, peakFrom: "cgroup2", want: map[string]int64{
			"cpu": 1500, "memory": 4000, "peak": 8000, "processes": 3, "most": 3, "read": 100, "written": 200, "faults": 300}},
		"at the end": {before: before, now: now, known: true, usage: usage, peakFrom: "cgroup2", want: map[string]int64{
			"cpu": 1500, "memory": 4000, "peak": 8000, "processes": 3, "most": 3, "read": 100, "written": 200, "faults": 300, "switches": 11}},
		"a peak of an earlier process": {before: before, now: grown(func(c *counters) { c.memoryPeak = known(5000) }), known: true, seen: 4500, peakFrom: "runtime",
			want: map[string]int64{"cpu": 1500, "memory": 4000, "peak": 3500, "processes": 3, "most": 3, "read": 100, "written": 200, "faults": 300}},
		"a peak of the kernel's": {before: before, now: grown(func(c *counters) { c.memoryPeak = known(5000) }), known: true, seen: 4500, usage: usage, peakFrom: "rusage",
			want: map[string]int64{"cpu": 1500, "memory": 4000, "peak": 6000, "processes": 3, "most": 3, "read": 100, "written": 200, "faults": 300, "switches": 11}},
		"counters that go back": {before: now, now: before, known: true, peakFrom: "runtime", want: map[string]int64{
			"cpu": 0, "memory": 1000, "peak": 0, "processes": 0, "most": 1, "read": 0, "written": 0, "faults": 0}},
		"not known at the start": {now: now, known: true, usage: usage, peakFrom: "rusage", want: map[string]int64{
			"cpu": 15, "memory": 4000, "peak": 6000, "processes": 3, "most": 3, "read": 1536, "written": 2048, "faults": 3, "switches": 11}},
		"not known at the end": {before: before, known: true, usage: usage, want: fromUsage, peakFrom: "rusage"},
	} {
		pr := &process{c: &Container{groups: groupFiles{version: 2}}, before: test.before, peak: test.seen}
		got := pr.metrics(test.now, test.known, test.usage)
		if !reflect.DeepEqual(figures(got), test.want) {
			t.Errorf("%s: %v, want %v", name, figures(got), test.want)
		}
		equal(t, name+": the peak's source", got.Sources["memory_peak_bytes"], test.peakFrom)
		if got.CPUUser != nil && *got.CPUUser > time.Duration(math.MaxInt64/2) {
			t.Errorf("%s: CPU time %v", name, *got.CPUUser)
		}
	}
}
