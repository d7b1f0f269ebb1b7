package advisory

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// ids are the holes found, without those that came with them.
func ids(found []Finding) (ids []string) {
	for _, f := range found {
		id, _, _ := strings.Cut(f.ID, " ")
		ids = append(ids, strings.TrimSuffix(id, ","))
	}
	return ids
}

// Each line of releases is open until the release that mends it, and mended from
// then on.
func TestLines(t *testing.T) {
	const dev, escape, fds, volume, self = "CVE-2026-41579", "CVE-2025-31133", "CVE-2024-21626", "CVE-2021-30465", "CVE-2019-5736"
	for _, c := range []struct {
		name, version string
		want          []string
	}{
		{"runc", "1.0.0-rc6", []string{dev, escape, fds, volume, self}},
		{"runc", "1.0-rc6", []string{dev, escape, fds, volume, self}},
		{"runc", "1.0.0-rc7", []string{dev, escape, fds, volume}},
		{"runc", "1.0.0-rc94", []string{dev, escape, fds, volume}},
		{"runc", "1.0.0-rc95", []string{dev, escape, fds}},
		{"runc", "1.0.0", []string{dev, escape, fds}},
		{"runc", "1.1.11", []string{dev, escape, fds}},
		{"runc", "1.1.12", []string{dev, escape}},
		{"runc", "1.1.5+ds1", []string{dev, escape, fds}},
		{"runc", "1.2.7", []string{dev, escape}},
		{"runc", "1.2.8", []string{dev}},
		{"runc", "1.2.9", []string{dev}},
		{"runc", "1.3.0-rc.1", []string{dev, escape}},
		{"runc", "1.3.2", []string{dev, escape}},
		{"runc", "1.3.3", []string{dev}},
		{"runc", "1.3.6", nil},
		{"runc", "1.4.0-rc.2", []string{dev, escape}},
		{"runc", "1.4.0-rc.3", []string{dev}},
		{"runc", "1.4.0", []string{dev}},
		{"runc", "1.4.3", nil},
		{"runc", "1.5.0-rc.2", []string{dev}},
		{"runc", "1.5.0-rc.3", nil},
		{"runc", "1.5.2", nil},
		{"runc", "1.10.0", nil},
		{"crun", "1.8.1", []string{"CVE-2026-47766"}},
		{"crun", "1.27.1", []string{"CVE-2026-47766"}},
		{"crun", "1.28", nil},
		{"runsc", "release-20180822.0", []string{"CVE-2018-16359"}},
		{"runsc", "0.0~20221219.0", nil},
		{"youki", "0.5.4", []string{"CVE-2025-62161", "CVE-2025-54867"}},
		{"youki", "0.5.6", []string{"CVE-2025-62161"}},
		{"youki", "0.5.7", nil},
		{"kata-runtime", "1.10.4", []string{"CVE-2020-2026"}},
		{"kata-runtime", "1.10.5", nil},
		{"kata-runtime", "1.11.0", []string{"CVE-2020-2026"}},
		{"kata-runtime", "3.2.0", nil},
		{"docker", "19.03.0", []string{"CVE-2021-41089", "CVE-2019-14271"}},
		{"docker", "18.09.9", []string{"CVE-2021-41089"}},
		{"docker", "20.10.8", []string{"CVE-2021-41089"}},
		{"docker", "20.10.24+dfsg1", nil},
		{"docker", "29.9.0", nil},
		{"podman", "1.8.0", []string{"CVE-2026-55686"}},
		{"podman", "4.3.1", []string{"CVE-2026-57231", "CVE-2026-55686"}},
		{"podman", "4.9.5", []string{"CVE-2026-94603", "CVE-2026-57231", "CVE-2026-55686"}},
		{"podman", "5.8.7", []string{"CVE-2026-94603"}},
		{"podman", "5.8.8", nil},
		{"podman", "6.0.0-rc1", []string{"CVE-2026-94603", "CVE-2026-57231"}},
		{"podman", "6.0.2", []string{"CVE-2026-94603"}},
		{"podman", "6.1.3", nil},
		{"linux", "5.4.290", []string{"CVE-2026-43499"}},
		{"linux", "5.10.101", []string{"CVE-2026-43499", "CVE-2022-0847"}},
		{"linux", "5.10.102", []string{"CVE-2026-43499"}},
		{"linux", "5.14.2", []string{"CVE-2026-43499", "CVE-2022-0847"}},
		{"linux", "6.12.85", []string{"CVE-2026-43499"}},
		{"linux", "6.12.86", nil},
		{"linux", "6.18.44-fc-v595", nil},
		{"linux", "7.2.0", nil},
		{"linux", "", nil},
		{"somerun", "0.1", nil},
	} {
		if got := ids(host{fstest.MapFS{}}.check(Component{Name: c.name, Version: c.version})); !slices.Equal(got, c.want) {
			t.Errorf("%s %s has %q, want %q", c.name, c.version, got, c.want)
		}
	}
}

// What is behind an engine that stands before it is no hole there.
func TestEngine(t *testing.T) {
	found := host{fstest.MapFS{}}.check(Component{Name: "runc", Version: "1.3.4", Engine: "docker"})
	if len(found) != 0 {
		t.Errorf("Docker hides an image's /dev, and yet: %v", found)
	}
	found = host{fstest.MapFS{}}.check(Component{Name: "runc", Version: "1.3.4", Engine: "podman"})
	if len(found) != 1 || !found[0].ImageOnly {
		t.Errorf("for images alone: %v", found)
	}
}

// The list itself: in an order that open relies on, with all that a reader needs.
func TestList(t *testing.T) {
	for _, a := range list {
		if a.id == "" || len(a.fixed) == 0 || !strings.HasPrefix(a.effect, "a program ") && !strings.HasPrefix(a.effect, "an image ") {
			t.Errorf("incomplete: %+v", a)
		}
		if a.image != strings.HasPrefix(a.effect, "an image ") {
			t.Errorf("%s: who uses it, %q?", a.id, a.effect)
		}
		if u, err := url.Parse(a.source); err != nil || u.Scheme != "https" {
			t.Errorf("%s: source %q", a.id, a.source)
		}
		var lines []string
		for i, v := range a.fixed {
			if upstream(v) == "" || i > 0 && compare(upstream(a.fixed[i-1]), upstream(v)) >= 0 || slices.Contains(lines, line(v)) {
				t.Errorf("%s: %q is out of order", a.id, v)
			}
			lines = append(lines, line(v))
		}
		for suite, v := range a.mended {
			if len(packagesOf[a.component]) == 0 || upstream(v) == "" || !strings.ContainsAny(v, "-") {
				t.Errorf("%s: %s has %q of no package", a.id, suite, v)
			}
		}
	}
}
