package advisory

import "testing"

func TestSaid(t *testing.T) {
	for text, want := range map[string][2]string{
		"runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\ngo: go1.19.8\n": {"runc", "1.1.5+ds1"},
		"crun version 1.8.1\ncommit: f8a0\n":                                                   {"crun", "1.8.1"},
		"runsc version release-20250319.0\nspec: 1.1.0-rc.1\n":                                 {"runsc", "release-20250319.0"},
		"runsc version 0.0~20221219.0\n":                                                       {"runsc", "0.0~20221219.0"},
		"kata-runtime  : 1.11.1\n   commit   : 7\n":                                            {"kata-runtime", "1.11.1"},
		"/opt/crun version UNKNOWN\ncommit: 1.2\n":                                             {"", ""},
		"1.2.3\n": {"", ""},
		"":        {"", ""},
	} {
		if name, version := Said(text); name != want[0] || version != want[1] {
			t.Errorf("%q says %q %q, want %q", text, name, version, want)
		}
	}
}
