package docker

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// answer is what an engine tells: name, version, and so on.
func answer(parts ...string) (of client.ServerVersionResult) {
	for pair := range slices.Chunk(parts, 2) {
		of.Components = append(of.Components, system.ComponentVersion{Name: pair[0], Version: pair[1]})
	}
	return of
}

const elsewhere = "tcp://engine.test:2376"

// The engine and the OCI runtime that is in use are judged, and nothing else.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		what, asked string
		inUse       string
		of          client.ServerVersionResult
		want        []string
	}{
		{"Docker", "", "runc", answer("Engine", "20.10.8", "containerd", "1.6.20~ds1", "runc", "1.2.8", "docker-init", "0.19.0"), []string{"CVE-2021-41089"}},
		{"its runc", "", "io.containerd.runc.v2", answer("Engine", "29.9.0", "runc", "1.1.5+ds1"), []string{"CVE-2025-31133", "CVE-2024-21626"}},
		{"gVisor in it", "runsc", "runc", answer("Engine", "29.9.0", "runc", "1.1.5+ds1"), nil},
		{"Podman", "", "crun", answer("Podman Engine", "4.3.1", "Conmon", "conmon version 2.1.6", "OCI Runtime (crun)", "crun version 1.8.1\ncommit: f8a0"), []string{"CVE-2026-57231", "CVE-2026-55686", "CVE-2026-47766"}},
		{"another in Podman", "runc", "crun", answer("Podman Engine", "6.2.0", "OCI Runtime (crun)", "crun version 1.8.1"), nil},
	} {
		var got []string
		for _, f := range judge(elsewhere, c.asked, c.of, system.Info{DefaultRuntime: c.inUse}).Findings {
			got = append(got, strings.FieldsFunc(f.ID, func(r rune) bool { return r == ',' || r == ' ' })[0])
			if !f.Unsure {
				t.Errorf("%s: sure of a package on another machine: %v", c.what, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// A runtime of which the engine tells no version is no hole, and doctor says so.
func TestUntoldRuntime(t *testing.T) {
	v := judge(elsewhere, "kata", answer("Engine", "29.9.0", "runc", "1.1.5"), system.Info{})
	if m := v.Mechanism(); m.State != api.Absent || !strings.Contains(m.Detail, "OCI runtime kata") || v.Refuse(true) != nil {
		t.Errorf("%+v, %v", m, v.Refuse(true))
	}
}

// An engine behind a socket of this host has this host's packages and kernel.
func TestLocalEngine(t *testing.T) {
	for host, want := range map[string]string{"": "dockerd", "unix:///run/docker.sock": "dockerd", elsewhere: "", "ssh://root@engine.test": ""} {
		if c := component(host, "docker", "dockerd", "1"); c.Program != want {
			t.Errorf("%q: program %q, want %q", host, c.Program, want)
		}
	}
}

// engineOf answers what New asks, as an engine of these versions does.
func engineOf(dockerd, runc string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Api-Version", "1.44")
		switch path.Base(r.URL.Path) {
		case "info":
			fmt.Fprintf(w, `{"ServerVersion": %q, "DefaultRuntime": "runc", "KernelVersion": "6.1.0-37-amd64"}`, dockerd)
		case "version":
			fmt.Fprintf(w, `{"Components": [{"Name": "Engine", "Version": %q}, {"Name": "runc", "Version": %q}]}`, dockerd, runc)
		case "json":
			fmt.Fprint(w, "[]")
		}
	})
}

// fakeEngine is the address of such an engine.
func fakeEngine(t *testing.T, dockerd, runc string) string {
	t.Helper()
	s := httptest.NewServer(engineOf(dockerd, runc))
	t.Cleanup(s.Close)
	return "tcp://" + strings.TrimPrefix(s.URL, "http://")
}

// What an engine has is in every result; strict versions refuse it at once.
func TestEngineVersions(t *testing.T) {
	old := fakeEngine(t, "29.9.0", "1.1.11")
	rt, err := New(t.Context(), Options{Host: old})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if w := strings.Join(rt.isolation().Warnings, "\n"); !strings.Contains(w, "runc 1.1.11 has CVE-2024-21626") {
		t.Errorf("warnings %q", w)
	}
	_, err = New(t.Context(), Options{Host: old, StrictVersions: true})
	if !errors.As(err, new(*sandbox.UnsupportedError)) || !strings.Contains(err.Error(), "CVE-2024-21626") || !strings.Contains(err.Error(), "1.1.12") {
		t.Errorf("error %v", err)
	}
	strict, err := New(t.Context(), Options{Host: fakeEngine(t, "29.9.0", "1.5.2"), StrictVersions: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := strict.Close(); err != nil {
		t.Error(err)
	}
}

// An OCI runtime that the engine has not been told of is refused before anything runs.
func TestKnows(t *testing.T) {
	info := system.Info{Runtimes: map[string]system.RuntimeWithStatus{"runc": {}, "runsc": {}}}
	for name, want := range map[string]string{
		"": "", "runsc": "", "io.containerd.kata.v2": "",
		"kata": "cannot use the OCI runtime kata: the engine knows only runc, runsc. Add it to",
	} {
		err := knows(info, name)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if err := knows(system.Info{}, "kata"); err != nil {
		t.Errorf("an engine that does not tell: %v", err)
	}
}
