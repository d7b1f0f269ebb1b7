package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/internal/secret"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

var update = flag.Bool("update", false, "write .env.example anew")

func TestLoadDefaults(t *testing.T) {
	c, warnings, err := Load([]string{"XDG_DATA_HOME=/data", "HOME=/home/x"})
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	want := Default()
	want.DataDir, want.Docker.Images = "/data/sandbox-run", dockerImages()
	if os.Geteuid() == 0 {
		want.DataDir = "/var/lib/sandbox-run"
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultDataDir(t *testing.T) {
	for _, tt := range []struct {
		uid     int
		environ []string
		want    string
	}{
		{0, []string{"HOME=/root", "XDG_DATA_HOME=/x"}, "/var/lib/sandbox-run"},
		{1000, []string{"HOME=/home/a", "XDG_DATA_HOME=/x"}, "/x/sandbox-run"},
		{1000, []string{"HOME=/home/a", "XDG_DATA_HOME=relative"}, "/home/a/.local/share/sandbox-run"},
		{1000, []string{"HOME=/home/a"}, "/home/a/.local/share/sandbox-run"},
	} {
		if got, err := defaultDataDir(tt.environ, tt.uid); got != tt.want || err != nil {
			t.Errorf("defaultDataDir(%v, %d) = %s, %v, want %s", tt.environ, tt.uid, got, err, tt.want)
		}
	}
}

// Without a home data is in a directory that others could have made.
func TestDataDirWithoutAHome(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	want := filepath.Join(tmp, "sandbox-run-1000")
	for range 2 {
		if got, err := defaultDataDir(nil, 1000); got != want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if info, err := os.Stat(want); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := errors.Join(os.Rename(want, want+".real"), os.Symlink(want+".real", want)); err != nil {
		t.Fatal(err)
	}
	if _, err := defaultDataDir(nil, 1000); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link: %v", err)
	}
}

// Every variable reaches its own field, in its own unit.
func TestLoadVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("# ours\nmemory_mb: 1\ndocker_image_perl: p\npids: 2 # two\nisolation: \"none\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load([]string{
		"SANDBOX_CONFIG=" + file, "SANDBOX_PIDS=3", "SANDBOX_TYPE=local", "SANDBOX_TIMEOUT_SEC=0.5", "SANDBOX_MAX_TIMEOUT_SEC=300",
		"SANDBOX_CPUS=1.5", "SANDBOX_DISK_MB=4", "SANDBOX_MAX_MEMORY_MB=5", "SANDBOX_MAX_CPUS=6", "SANDBOX_MAX_PIDS=7", "SANDBOX_MAX_DISK_MB=8",
		"SANDBOX_MAX_OUTPUT_KB=9", "SANDBOX_MAX_STREAM_MB=10", "SANDBOX_COMPILE_MEMORY_MB=11", "SANDBOX_COMPILE_CPUS=12", "SANDBOX_COMPILE_CACHE_MB=0", "SANDBOX_DATA_DIR=/d/",
		"SANDBOX_PORT=81", "SANDBOX_ADDR=::1", "SANDBOX_API_KEY=k", "SANDBOX_API_KEYS_FILE=/k", "SANDBOX_INSECURE=true", "SANDBOX_TLS_CERT=/c", "SANDBOX_TLS_KEY=/t",
		"SANDBOX_MAX_CONCURRENT=13", "SANDBOX_TOTAL_MEMORY_MB=14", "SANDBOX_QUEUE=15", "SANDBOX_MAX_BODY_MB=16", "SANDBOX_DRAIN_SEC=17", "SANDBOX_AUDIT_DAYS=18", "SANDBOX_WARM=off",
		"SANDBOX_TIMEOUT_SEC=9", "SANDBOX_PIDS_=", "SANDBOX_SOMETHING_ELSE=1",
		"SANDBOX_FALLBACK=local", "SANDBOX_OCI_RUNTIME=runsc -x", "SANDBOX_IMAGES=python:*, a/b", "SANDBOX_STRICT_VERSIONS=true",
		"SANDBOX_DOCKER_IMAGE=all", "SANDBOX_DOCKER_IMAGE_GO=g", "SANDBOX_DOCKER_IMAGE_RUBY=r", "SANDBOX_DOCKER_IMAGE_KLINGON=k",
		"DOCKER_CPU_LIMIT=8.7", "DOCKER_MEMORY_LIMIT=2g", "DOCKER_RUNTIME=runsc", "DOCKER_HOST=unix:///not/ours",
		"E2B_API_KEY=e", "E2B_API_KEY_FILE=/e", "E2B_API_URL=http://e", "E2B_SANDBOX_URL=http://s", "SANDBOX_E2B_TEMPLATE=t",
		"SANDBOX_E2B_PRICE_VCPU_HOUR=0.5", "SANDBOX_E2B_PRICE_GIB_HOUR=0.25",
		"SANDBOX_REMOTE=http://r#eu", "SANDBOX_REMOTE_REGION=eu", "SANDBOX_REMOTE_KEY=k", "SANDBOX_REMOTE_KEY_FILE=/r",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.MemoryBytes, want.Processes, want.Isolation, want.Timeout, want.MaxTimeout = 1<<20, 3, sandbox.LevelNone, time.Second/2, 300*time.Second
	want.CPUs, want.DiskBytes, want.MaxMemoryBytes, want.MaxCPUs, want.MaxProcesses, want.MaxDiskBytes = 1.5, 4<<20, 5<<20, 6, 7, 8<<20
	want.MaxOutputBytes, want.MaxStreamBytes, want.CompileMemoryBytes, want.CompileCPUs, want.DataDir = 9<<10, 10<<20, 11<<20, 12, "/d"
	want.CompileCacheBytes = 0
	want.Server = Server{
		Addr: "::1", Port: 81, APIKey: "k", APIKeysFile: "/k", Insecure: true, TLSCert: "/c", TLSKey: "/t",
		MaxConcurrent: 13, TotalMemoryBytes: 14 << 20, Queue: 15, MaxBodyBytes: 16 << 20, Drain: 17 * time.Second, AuditDays: 18, Warm: WarmOff,
	}
	want.Fallback, want.OCIRuntime, want.Images, want.StrictVersions = "local", "runsc -x", []string{"python:*", "a/b"}, true
	want.Docker.Image, want.Docker.CPULimit, want.Docker.MemoryLimitBytes, want.Docker.Runtime = "all", 8.7, 2<<30, "runsc"
	want.Docker.Images["go"], want.Docker.Images["ruby"], want.Docker.Images["perl"] = "g", "r", "p"
	want.E2B = E2B{secret.New("e"), "/e", "http://e", "http://s", "t", 0.5, 0.25}
	want.Remote = Remote{"http://r#eu", "eu", secret.New("k"), "/r"}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

// One image for all takes the place of the standard ones, and one for a language that
// of both.
func TestDockerImages(t *testing.T) {
	for entry, want := range map[string][2]string{
		"":                              {"python:3.12-slim", "golang:1.26"},
		"SANDBOX_DOCKER_IMAGE=all":      {"", ""}, // [Docker.Image]
		"SANDBOX_DOCKER_IMAGE_PYTHON=p": {"p", "golang:1.26"},
		"SANDBOX_DOCKER_IMAGE=all SANDBOX_DOCKER_IMAGE_PYTHON=p": {"p", ""},
	} {
		c, _, err := Load(strings.Fields(entry))
		if err != nil || c.Docker.Images["python"] != want[0] || c.Docker.Images["go"] != want[1] {
			t.Errorf("%s: %v, %v", entry, c.Docker, err)
		}
	}
}

// A server takes no name that it does not know.
func TestLoadStrict(t *testing.T) {
	for entry, want := range map[string]string{
		"SANDBOX_PROT=1":                 "SANDBOX_PROT is not a setting: did you mean SANDBOX_PORT?",
		"SANDBOX_ELEPHANT=1":             "SANDBOX_ELEPHANT is not a setting; .env.example lists them all",
		"SANDBOX_CLUSTER=nats":           "SANDBOX_CLUSTER has no effect in this version; take it away, so that nobody relies on it",
		"SANDBOX_DOCKER_IMAGE_KLINGON=k": "SANDBOX_DOCKER_IMAGE_KLINGON is not a setting; .env.example lists them all",
		"SANDBOX_PORT=x":                 `SANDBOX_PORT: port "x" is not a whole number from 0 to 65535`,
	} {
		if _, err := LoadStrict([]string{entry}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
	if _, err := LoadStrict([]string{"SANDBOX_PORT=1", "SANDBOX_DOCKER_IMAGE_RUBY=ruby:3", "OTHER=x"}); err != nil {
		t.Error(err)
	}
}

func TestLoadErrors(t *testing.T) {
	for variable, want := range map[string]string{
		"SANDBOX_TYPE=chroot":                      `SANDBOX_TYPE: there is no runtime "chroot": it is one of local, docker, oci, e2b, remote, auto`,
		"SANDBOX_IMAGES=a,,b":                      `SANDBOX_IMAGES: "" is no pattern of images`,
		"SANDBOX_IMAGES=a@sha256:*":                `SANDBOX_IMAGES: "a@sha256:*" means no image: a digest is one image's`,
		"SANDBOX_IMAGES=[":                         `SANDBOX_IMAGES: "[" is no pattern of images`,
		"SANDBOX_STRICT_VERSIONS=maybe":            `SANDBOX_STRICT_VERSIONS: "maybe" is neither true nor false`,
		"SANDBOX_E2B_PRICE_GIB_HOUR=-1":            `SANDBOX_E2B_PRICE_GIB_HOUR: "-1" is not a price`,
		"DOCKER_CPU_LIMIT=some":                    `DOCKER_CPU_LIMIT: "some" is not a number of CPUs`,
		"DOCKER_MEMORY_LIMIT=2x":                   `DOCKER_MEMORY_LIMIT: `,
		"SANDBOX_BLOCK_DANGEROUS_IMPORTS=yes":      `SANDBOX_BLOCK_DANGEROUS_IMPORTS: "yes" is neither true, warn nor false`,
		"SANDBOX_BLOCKED_IMPORTS=os,,x":            `SANDBOX_BLOCKED_IMPORTS: "" is no name of a module`,
		"SANDBOX_ISOLATION=maximum":                `SANDBOX_ISOLATION: "maximum" is not an isolation level: expected auto`,
		"SANDBOX_TIMEOUT_SEC=0":                    `SANDBOX_TIMEOUT_SEC: the duration "0" is too short`,
		"SANDBOX_MEMORY_MB=512m":                   `SANDBOX_MEMORY_MB: "512m" is not a whole number of MiB`,
		"SANDBOX_MEMORY_MB=-1":                     `SANDBOX_MEMORY_MB: -1 MiB is out of range`,
		"SANDBOX_MEMORY_MB=9999999999999999999999": `is out of range: at least 1, at most 1099511627776`,
		"SANDBOX_CPUS=NaN":                         `SANDBOX_CPUS: "NaN" is not a number of CPUs`,
		"SANDBOX_PIDS=many":                        `SANDBOX_PIDS: "many" is not a whole number`,
		"SANDBOX_DATA_DIR=here":                    `SANDBOX_DATA_DIR: "here" is not an absolute path`,
		"SANDBOX_CONFIG=/does/not/exist":           `SANDBOX_CONFIG: cannot read the configuration file: open /does/not/exist`,
	} {
		_, _, err := Load([]string{variable})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", variable, err, want)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"timeout_sec: soon":          `line 1: timeout_sec: "soon" is not a number`,
		"\ntimout_sec: 1":            `line 2: "timout_sec" is not a setting: did you mean timeout_sec?`,
		"SANDBOX_PIDS: 1":            `"SANDBOX_PIDS" is not a setting`,
		"pids: [1]":                  `pids: expected one value`,
		"pids:":                      `pids: expected one value`,
		"pids: 1\npids: 2":           `given twice`,
		"- pids":                     `expected lines of the form key: value`,
		"just words":                 `expected lines of the form key: value`,
		"pids: &a 1\ncpus: *a":       `cpus: expected one value`,
		"\tpids: 1":                  `yaml`,
		"config: /another/file.yaml": `"config" is not a setting`,
	} {
		c := Default()
		err := parseFile(&c, variables(), []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	c := Default()
	if err := parseFile(&c, variables(), []byte("# nothing\n")); err != nil {
		t.Error(err)
	}
	if _, err := readFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("timeout_sec: 33\npids: 1"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		if parseFile(&c, variables(), data) == nil && (c.Timeout <= 0 || c.MemoryBytes <= 0 || c.Processes <= 0) {
			t.Errorf("%q makes %+v", data, c)
		}
	})
}

func FuzzEnviron(f *testing.F) {
	f.Add("SANDBOX_PIDS", "1")
	f.Add("SANDBOX_PIDZ", "")
	f.Fuzz(func(t *testing.T, name, value string) {
		if name == fileVariable {
			t.Skip("names a file to read, which the fuzzer must not choose")
		}
		c, warnings, err := Load([]string{name + "=" + value})
		if err == nil && (c.Timeout <= 0 || c.MemoryBytes <= 0 || !filepath.IsAbs(c.DataDir)) {
			t.Errorf("%q=%q makes %+v", name, value, c)
		}
		if len(warnings) > 0 && !strings.HasPrefix(name, prefix) {
			t.Errorf("%q is none of ours: %v", name, warnings)
		}
	})
}

func TestMisspelt(t *testing.T) {
	warnings := misspelt(map[string]string{
		"SANDBOX_TIMEOUT_SECS": "1", "SANDBOX_COLOUR": "x", "SANDBOX_PORT": "1", "SANDBOX_DOCKER_IMAGE_GO": "x", "SANDBOX_MEMORY": "1", "SANDBOX_PIDS": "1",
		"SANDBOX_CLUSTER": "x",
	})
	want := []string{
		"SANDBOX_CLUSTER has no effect in this version",
		"SANDBOX_MEMORY is not known and has no effect: did you mean SANDBOX_MEMORY_MB?",
		"SANDBOX_TIMEOUT_SECS is not known and has no effect: did you mean SANDBOX_TIMEOUT_SEC?",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

// The defaults that are written down are those that hold.
func TestDefaultsAsWritten(t *testing.T) {
	c := Default()
	for _, v := range variables() {
		if v.Default == "" {
			continue
		}
		if err := v.set(&c, v.Default); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
	want := Default()
	want.Docker.fill()
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

// TestEnvExample keeps .env.example what the variables are; run with -update
// after a change.
func TestEnvExample(t *testing.T) {
	const path = "../../.env.example"
	want := envExample()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale (go test ./internal/config -update): %s", path, diff)
	}
}

func envExample() string {
	var b strings.Builder
	b.WriteString("# The environment of sandbox-run, with its defaults. Copy what you change.\n" +
		"# A flag beats a variable, and a variable beats the file that SANDBOX_CONFIG names.\n")
	server := false
	for _, v := range Variables() {
		if v.Server && !server {
			server = true
			b.WriteString("\n# sandbox-server alone:\n")
		}
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", v.Help, v.Name, v.Default)
	}
	return b.String()
}
