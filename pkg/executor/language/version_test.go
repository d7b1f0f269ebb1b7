package language

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareVersions(t *testing.T) {
	ascending := []string{
		"", "1.9", "1.10", "3.9.18", "3.10", "3.10.0", "3.11.10", "3.14.0a1", "3.14.0b2", "3.14.0rc1", "3.14.0", "3.14.1", "java-17", "java-21",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			got := compareVersions(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestCompareVersionsIsAnOrder(t *testing.T) {
	version := rapid.StringMatching(`[v-]?\d{1,3}(\.\d{1,3}){0,2}((rc|a|b|-nightly|-ea)\d?)?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if compareVersions(a, b) != -compareVersions(b, a) {
			t.Fatalf("%q and %q are not ordered", a, b)
		}
		if compareVersions(a, b) < 0 && compareVersions(b, c) < 0 && compareVersions(a, c) >= 0 {
			t.Fatalf("%q < %q < %q, but not the first and the last", a, b, c)
		}
	})
}

func TestVersionMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.IntRange(0, 300), 1, 4).Draw(t, "parts")
		var words []string
		for _, p := range parts {
			words = append(words, fmt.Sprint(p))
		}
		version := strings.Join(words, ".")
		n := rapid.IntRange(1, len(words)).Draw(t, "n")
		if short := strings.Join(words[:n], "."); !versionMatches(version, short) {
			t.Fatalf("%s does not mean %s", short, version)
		}
		if longer := version + "1"; versionMatches(longer, version) {
			t.Fatalf("%s means %s", version, longer)
		}
	})
}

func TestVersionInPath(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/usr/bin/python3.12", "3.12"},
		{"/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "17"},
		{"/home/u2/.pyenv/versions/3.11.7/bin/python3.11", "3.11.7"},
		{"/home/u/.nvm/versions/node/v20.1.0/bin/node", "20.1.0"},
		{"/usr/bin/perl", ""},
		{"/a/.../b", ""},
	}
	for _, test := range tests {
		if got := versionInPath(test.path); got != test.want {
			t.Errorf("versionInPath(%s) = %q, want %q", test.path, got, test.want)
		}
	}
}

func TestSelect(t *testing.T) {
	var tcs []Toolchain
	for _, v := range []string{"3.11.7", "3.12.1", "3.1.9"} {
		tcs = append(tcs, Toolchain{Language: "python", Version: v})
	}
	tests := []struct{ version, want, err string }{
		{"", "3.11.7", ""},
		{"3", "3.11.7", ""},
		{"3.1", "3.1.9", ""},
		{"3.12", "3.12.1", ""},
		{"3.12.1", "3.12.1", ""},
		{"3.12.", "", "python 3.12. is not installed here; there is 3.11.7, 3.12.1, 3.1.9"},
		{"4", "", "python 4 is not installed here; there is 3.11.7, 3.12.1, 3.1.9"},
	}
	for _, test := range tests {
		tc, err := Select(tcs, test.version)
		if tc.Version != test.want || fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
			t.Errorf("Select(%q) = %q, %v; want %q, %s", test.version, tc.Version, err, test.want, test.err)
		}
	}
	if _, err := Select(nil, ""); err == nil {
		t.Error("one of no toolchains was selected")
	}
}
