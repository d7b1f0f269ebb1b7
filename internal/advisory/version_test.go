package advisory

import (
	"slices"
	"testing"
)

// The order is that of deb-version(7) and of what dpkg --compare-versions says.
func TestCompare(t *testing.T) {
	ascending := []string{
		"~~", "~~a", "~", "0~rc1", "", "0.9", "1.0~rc6", "1.0.0~rc7", "1.0.0~rc93+ds1-5", "1.0.0~rc95", "1.0.0",
		"1.1.5+ds1-1", "1.1.5+ds1-1+deb12u1", "1.1.5+ds1-1+deb12u1+b6", "1.1.5+ds1-2", "1.1.12-0ubuntu3", "1.1.12-0ubuntu3.1", "1.1.12+ds1-1",
		"1.3.3-0ubuntu1~22.04.2", "1.3.3-0ubuntu1~24.04.2", "1.3.3-0ubuntu1", "1.10", "2", "10", "99999999999999999999", "1:0.1",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := sign(compare(a, b)), sign(i-j); got != want {
				t.Errorf("compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	for _, same := range [][2]string{{"1.0", "1.00"}, {"1.0", "0:1.0"}, {"1.0-0", "1.0"}, {"", "0"}} {
		if compare(same[0], same[1]) != 0 {
			t.Errorf("%q and %q are not the same", same[0], same[1])
		}
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

func TestUpstream(t *testing.T) {
	for version, want := range map[string]string{
		"1.1.5+ds1":                      "1.1.5",
		"1.1.5+ds1-1+deb12u1":            "1.1.5",
		"1.6.20~ds1":                     "1.6.20",
		"20.10.24+dfsg1":                 "20.10.24",
		"1.4.0-rc.3":                     "1.4.0~rc3",
		"1.0.0-rc95+dev":                 "1.0.0~rc95",
		"1.0-rc6":                        "1.0~rc6",
		"1.0.0~rc93+ds1-5":               "1.0.0~rc93",
		"19.03.0-beta1":                  "19.03.0~beta1",
		"release-20250319.0":             "20250319.0",
		"0.0~20221219.0-2+b3":            "20221219.0",
		"v5.8.8":                         "5.8.8",
		"5.9.0-dev":                      "5.9.0",
		"6.18.33.2-microsoft-standard-W": "6.18.33.2",
		"":                               "",
		"unknown":                        "",
	} {
		if got := upstream(version); got != want {
			t.Errorf("upstream(%q) = %q, want %q", version, got, want)
		}
	}
	if got := []string{line("1.4.0-rc.3"), line("7.1"), line("1.28"), line("20180823")}; !slices.Equal(got, []string{"1.4", "7.1", "1.28", "20180823"}) {
		t.Errorf("lines %q", got)
	}
}

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]bool{"0.20": true, "0.20.1": true, "1.8.1": true, "0.19.9": false, "0.20-rc1": false, "": false, "unknown": false} {
		if got := (Component{Version: version}).AtLeast("0.20"); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
	if (Component{Version: "unknown"}).AtLeast("0") {
		t.Error("a version that cannot be read is late enough")
	}
}

// Whatever a package calls its version, the order is one.
func FuzzCompare(f *testing.F) {
	f.Add("1.1.5+ds1-1+deb12u1", "1.1.5+ds1-1", "1:2~rc1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if compare(a, a) != 0 {
			t.Errorf("%q is not itself", a)
		}
		if compare(a, b) != -compare(b, a) {
			t.Errorf("%q and %q have two orders", a, b)
		}
		if compare(a, b) <= 0 && compare(b, c) <= 0 && compare(a, c) > 0 {
			t.Errorf("%q, %q, %q go round", a, b, c)
		}
		if u := upstream(a); u != "" && upstream(u) != u {
			t.Errorf("upstream of %q is %q, and of that %q", a, u, upstream(u))
		}
	})
}
