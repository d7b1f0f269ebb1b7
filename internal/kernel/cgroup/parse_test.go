//go:build linux

package cgroup

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseMembership(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want map[string]string
	}{
		"systemd v2 root":   {"0::/system.slice/ssh.service\n", map[string]string{"": "/system.slice/ssh.service"}},
		"systemd v2 user":   {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u3.scope\n", map[string]string{"": "/user.slice/user-1000.slice/user@1000.service/app.slice/run-u3.scope"}},
		"session scope":     {"0::/user.slice/user-1000.slice/session-3.scope\n", map[string]string{"": "/user.slice/user-1000.slice/session-3.scope"}},
		"container":         {"0::/\n", map[string]string{"": "/"}},
		"outside namespace": {"0::/../../init.scope\n", map[string]string{"": "/../../init.scope"}},
		"hybrid": {"9:name=systemd:/\n4:memory:/a/b\n1:cpu:/\n0::/\n",
			map[string]string{"name=systemd": "/", "memory": "/a/b", "cpu": "/", "": "/"}},
		"pure v1": {"11:cpu,cpuacct:/docker/0a\n10:blkio:/docker/0a\n",
			map[string]string{"cpu": "/docker/0a", "cpuacct": "/docker/0a", "blkio": "/docker/0a"}},
		"colon in a path": {"0::/a:b/c\n", map[string]string{"": "/a:b/c"}},
		"WSL 1":           {"", map[string]string{}},
	} {
		got, err := parseMembership([]byte(c.data))
		if err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, cmp.Diff(c.want, got), err)
		}
	}
	for _, bad := range []string{"x", "1:cpu", "0::relative\n", "\n"} {
		if got, err := parseMembership([]byte(bad)); err == nil {
			t.Errorf("%q: %v and no error", bad, got)
		}
	}
}

func TestParseMounts(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want []mount
	}{
		"systemd v2": {"35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
			[]mount{{version: 2, point: "/sys/fs/cgroup", root: "/"}}},
		"container, no optional fields": {"1 2 0:26 /docker/0a /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			[]mount{{version: 2, point: "/sys/fs/cgroup", root: "/docker/0a"}}},
		"hybrid": {
			"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" +
				"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n" +
				"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
			[]mount{
				{version: 1, point: "/sys/fs/cgroup/cpu", root: "/", controllers: []string{"rw", "cpu"}},
				{version: 2, point: "/sys/fs/cgroup/unified", root: "/"}}},
		"co-mounted": {"33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
			[]mount{{version: 1, point: "/sys/fs/cgroup/cpu,cpuacct", root: "/", controllers: []string{"rw", "cpu", "cpuacct"}}}},
		"mounted over": {
			"1 0 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n2 0 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", nil},
		"escapes": {`1 0 0:26 /a\040b /c\134d\011 rw - cgroup2 cgroup rw` + "\n",
			[]mount{{version: 2, point: "/c\\d\t", root: "/a b"}}},
		"none": {"27 1 254:0 / / rw - ext4 /dev/vda rw\n", nil},
	} {
		got, err := parseMounts([]byte(c.data))
		if err != nil || !cmp.Equal(got, c.want, cmp.AllowUnexported(mount{}), cmp.Transformer("nil", func(m []mount) []mount { return append([]mount{}, m...) })) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for _, bad := range []string{"x\n", "1 2 3 4 - cgroup2 x rw\n", "1 0 0:26 / /c rw - cgroup2\n"} {
		if got, err := parseMounts([]byte(bad)); err == nil {
			t.Errorf("%q: %v and no error", bad, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, root, want string
		shown            bool
	}{
		{"/", "/", "/", true},
		{"/a/b", "/", "/a/b", true},
		{"/docker/0a", "/docker/0a", "/", true},
		{"/docker/0a/b", "/docker/0a", "/b", true},
		{"/docker/0ab", "/docker/0a", "", false},
		{"/user.slice", "/docker/0a", "", false},
		{"/../x", "/", "", false},
		{"/", "/../..", "", false},
	} {
		if got, shown := within(c.path, c.root); got != c.want || shown != c.shown {
			t.Errorf("within(%q, %q) = %q, %v", c.path, c.root, got, shown)
		}
	}
}

func TestCounters(t *testing.T) {
	events := []byte("low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n")
	for key, want := range map[string]int64{"max": 12, "oom": 1, "oom_kill": 2} {
		if n, ok := keyed(events, key); !ok || n != want {
			t.Errorf("%s: %d, %v", key, n, ok)
		}
	}
	for _, c := range []struct{ data, key string }{
		{"oom_kill_disable 0\nunder_oom 0\n", "oom_kill"}, {"", "x"}, {"x", "x"}, {"x y", "x"}, {"x -1", "x"}, {"x 1 2", "x"},
	} {
		if n, ok := keyed([]byte(c.data), c.key); ok {
			t.Errorf("%q has %s %d", c.data, c.key, n)
		}
	}
	if n, ok := parseNumber([]byte("max\n")); ok {
		t.Errorf("max is %d", n)
	}
	if n, ok := parseNumber([]byte("9223372036854771712\n")); !ok || n != 9223372036854771712 {
		t.Errorf("no limit of version 1: %d, %v", n, ok)
	}
}

func TestTransfers(t *testing.T) {
	r, w := ioBytes([]byte("8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n8:0 rbytes=800 wbytes=4\n7:0\n"))
	if r != 1460000 || w != 314773508 {
		t.Errorf("version 2: %d, %d", r, w)
	}
	r, w = blkioBytes([]byte("254:0 Read 4096\n254:0 Write 10\n254:0 Sync 9\n254:0 Total 4106\n8:0 Read 4\nTotal 4110\n"))
	if r != 4100 || w != 10 {
		t.Errorf("version 1: %d, %d", r, w)
	}
	huge := strings.Repeat("8:0 rbytes=9223372036854775807 wbytes=1\n", 3)
	if r, w := ioBytes([]byte(huge)); r != math.MaxInt64 || w != 3 {
		t.Errorf("overflow: %d, %d", r, w)
	}
}

func TestParsePIDs(t *testing.T) {
	got := parsePIDs([]byte("1\n0\n42\nx\n99999999999\n-3\n7"))
	if !cmp.Equal(got, []int{1, 42, 7}) {
		t.Error(got)
	}
}

// What the kernel escapes comes back as it was.
func TestUnescape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.String().Draw(t, "path")
		escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(path)
		if got := unescape(escaped); got != path {
			t.Fatalf("%q from %q", got, escaped)
		}
	})
}

func TestNames(t *testing.T) {
	for _, good := range []string{"a", "0", "run-1.2", strings.Repeat("x", 255)} {
		if err := checkName(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", ".", "..", "-a", "A", "a/b", "a b", "a\x00", "ü", "a_b", strings.Repeat("x", 256)} {
		if checkName(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzProc(f *testing.F) {
	for _, file := range []string{"/proc/self/cgroup", "/proc/self/mountinfo"} {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
	f.Add([]byte("0::/../..\n1 2 0:1 /\\ /\\04 rw - cgroup2 a b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		paths, _ := parseMembership(data)
		mounts, _ := parseMounts(data)
		for _, m := range mounts {
			for _, p := range paths {
				if rel, shown := within(p, m.root); shown && (!strings.HasPrefix(rel, "/") || strings.Contains(rel+"/", "/../")) {
					t.Errorf("within(%q, %q) = %q leads outside", p, m.root, rel)
				}
			}
		}
	})
}

func FuzzCounters(f *testing.F) {
	f.Add([]byte("oom_kill 1\n8:0 rbytes=1 wbytes=2\n8:0 Read 3\n7\n"), "oom_kill")
	f.Add([]byte("oom_kill -1"), "oom_kill")
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		n, _ := keyed(data, key)
		r1, w1 := ioBytes(data)
		r2, w2 := blkioBytes(data)
		for _, v := range []int64{n, r1, w1, r2, w2} {
			if v < 0 {
				t.Errorf("negative %d", v)
			}
		}
		for _, pid := range parsePIDs(data) {
			if pid <= 0 {
				t.Errorf("pid %d", pid)
			}
		}
	})
}
