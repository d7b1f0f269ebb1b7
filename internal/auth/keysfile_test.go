package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

const secret = "hunter2-hunter2-hunter2"

func TestParseKeysFile(t *testing.T) {
	sum := sumOf(secret)
	got, err := parseKeysFile([]byte(`# ours
- key: ` + secret + `
  tenant: acme
  name: "build machine"
  requests_per_minute: 60
  burst: 10
  concurrency: 4
  cpu_seconds_per_day: 0.5
  runs_per_day: 1000
  scopes: runtime
- {key_hash: ` + strings.ToUpper(hex.EncodeToString(sum[:])) + `}
- key: 1234567890123456
`))
	want := []fileKey{
		{2, true, sum, "acme", "build machine", store.KeyLimits{RequestsPerMinute: 60, Burst: 10, Concurrency: 4, CPUSecondsPerDay: 0.5, RunsPerDay: 1000}, []string{ScopeRuntime}},
		{11, true, sum, DefaultTenant, "", store.KeyLimits{}, nil},
		{12, true, sumOf("1234567890123456"), DefaultTenant, "", store.KeyLimits{}, nil},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(fileKey{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err := parseKeysFile([]byte("[]")); len(got) != 0 || err != nil {
		t.Error(got, err)
	}
}

func TestParseKeysFileErrors(t *testing.T) {
	const key = "- key: " + secret + "\n"
	for text, want := range map[string]string{
		"":                                  "the file is empty: write [] for no keys",
		"# nothing\n":                       "the file is empty",
		"key: " + secret:                    "expected a list of keys",
		secret:                              "expected a list of keys",
		"- " + secret:                       "line 1: expected a list of keys",
		"- [" + secret + "]":                "line 1: expected a list of keys",
		key + "---\n" + key:                 "line 2: expected one YAML document",
		key + "  tennant: acme":             "line 2: this is no field of a key: those are key or key_hash, tenant",
		key + "- " + secret + ": acme":      "line 2: this is no field of a key",
		key + "  tenant: a\n  tenant: b":    "line 3: this field is given twice",
		key + "  key: " + secret:            "line 2: this field is given twice",
		key + "  key_hash: " + hash64:       "line 2: give key or key_hash, not both",
		"- tenant: acme":                    "line 1: this entry has neither key nor key_hash",
		"- key: short":                      "line 1: an API key needs at least 16 characters, and this one has 5",
		"- key:":                            "line 1: expected one value",
		"- key: [" + secret + "]":           "line 1: expected one value",
		"- key: |\n    " + secret + "\n":    "line 1: an API key is UTF-8 without control characters, line breaks",
		"- key_hash: " + secret:             "line 1: key_hash is the SHA-256 of a key in 64 hexadecimal digits",
		"- key_hash: " + hash64[1:]:         "line 1: key_hash is the SHA-256",
		key + "  tenant: " + secret + "!":   "line 2: a tenant is named with",
		key + "  burst: 10":                 "line 1: burst says how many of requests_per_minute",
		key + "  concurrency: 0":            "line 2: concurrency is a whole number of at least 1; leave it out for no limit",
		key + "  concurrency: -1":           "line 2: concurrency is",
		key + "  concurrency: " + secret:    "line 2: concurrency is",
		key + "  concurrency: 1.5":          "line 2: concurrency is",
		key + "  concurrency: null":         "line 2: expected one value",
		key + "  runs_per_day: 99999999999": "line 1: runs_per_day must be more than 0 and at most 1000000000",
		key + "  cpu_seconds_per_day: .nan": "line 2: cpu_seconds_per_day is a number",
		key + "  cpu_seconds_per_day: NaN":  "line 1: cpu_seconds_per_day must be",
		key + "  cpu_seconds_per_day: Inf":  "line 1: cpu_seconds_per_day must be",
		key + "  cpu_seconds_per_day: 0":    "line 2: cpu_seconds_per_day is a number of more than 0",
		"- &a {key: " + secret + "}\n- *a":  "line 2: expected a list of keys",
		key + "  <<: {tenant: a}":           "line 2: expected one value",
		"- key: *" + secret:                 "this is not YAML",
		"- key: " + secret + ": x":          "this is not YAML",
		"- key: 'x" + secret:                "this is not YAML",
		"- key: \x01" + secret:              "this is not YAML",
		key + "---\n- key: *" + secret:      "this is not YAML",
	} {
		_, err := parseKeysFile([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error tells a secret: %v", text, err)
		}
	}
}

var hash64 = strings.Repeat("0a", sha256.Size)

// Wherever a secret stands by mistake, no error repeats it.
func TestErrorsTellNoSecret(t *testing.T) {
	pieces := []string{"- ", "  ", "key", "tenant", "burst", ": ", ":", "\n", "*", "&", "!", "'", "\"", "[", "{", "}", "<<", "|\n", "%", "---\n", "0", "? ", "!!int ", "!!binary "}
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "before"), "")
		after := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "after"), "")
		if _, err := parseKeysFile([]byte(before + secret + after)); err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", before+secret+after, err)
		}
	})
}

func FuzzKeysFile(f *testing.F) {
	f.Add([]byte("- key: 0123456789abcdef\n  tenant: acme\n  requests_per_minute: 60\n  cpu_seconds_per_day: 1e3\n"))
	f.Add([]byte("- {key_hash: " + hash64 + "}"))
	f.Add([]byte("a: &a [*a]"))
	located := regexp.MustCompile(`^(line \d+: )?[a-z]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := parseKeysFile(data)
		if err != nil && !located.MatchString(err.Error()) {
			t.Errorf("%q: %v", data, err)
		}
		for _, k := range keys {
			if !k.given || k.line < 1 || checkTenant(k.tenant) != nil || checkName(k.name) != nil || checkLimits(k.limits) != nil {
				t.Errorf("%q makes %+v", data, k)
			}
		}
	})
}

func TestReadKeysFile(t *testing.T) {
	path := writeFile(t, "- key: "+secret)
	for mode, want := range map[os.FileMode]string{
		0o600: "", 0o640: "", 0o400: "",
		0o644: fmt.Sprintf("(mode 644): chmod o-rwx %q", path),
		0o602: "chmod o-rwx",
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		keys, err := readKeysFile(path)
		if (err == nil) != (want == "") || err == nil && len(keys) != 1 || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mode %o: %v, want %q", mode, err, want)
		}
	}
	if _, err := readKeysFile(writeFile(t, strings.Repeat("#", maxFileBytes+1))); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
}
