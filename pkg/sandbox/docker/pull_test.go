package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestProgress: what an engine says of each layer becomes one line.
func TestProgress(t *testing.T) {
	p := progress{layers: map[string]layer{}}
	for _, step := range []struct{ line, want string }{
		{`{"status": "Pulling from library/python", "id": "3.12-slim"}`, ""},
		{`{"status": "Already exists", "id": "a"}`, "1 of 1 layers, 0 of 0 MB"},
		{`{"status": "Pulling fs layer", "progressDetail": {}, "id": "b"}`, "1 of 2 layers, 0 of 0 MB"},
		{`{"status": "Pulling fs layer", "progressDetail": {}, "id": "c"}`, "1 of 3 layers, 0 of 0 MB"},
		{`{"status": "Downloading", "progressDetail": {"current": 1500000, "total": 40000000}, "id": "b"}`, "1 of 3 layers, 1 of 40 MB"},
		{`{"status": "Waiting", "progressDetail": {}, "id": "b"}`, ""},
		{`{"status": "Downloading", "progressDetail": {"current": 2000000, "total": 2000000}, "id": "c"}`, "1 of 3 layers, 3 of 42 MB"},
		{`{"status": "Download complete", "progressDetail": {}, "id": "b"}`, "1 of 3 layers, 42 of 42 MB"},
		{`{"status": "Extracting", "progressDetail": {"current": 1, "total": 40000000}, "id": "b"}`, "1 of 3 layers, 42 of 42 MB"},
		{`{"status": "Pull complete", "progressDetail": {}, "id": "b"}`, "2 of 3 layers, 42 of 42 MB"},
		{`{"status": "Pull complete", "progressDetail": {}, "id": "c"}`, "3 of 3 layers, 42 of 42 MB"},
		{`{"status": "Digest: sha256:00"}`, ""},
	} {
		var line pullLine
		if err := json.Unmarshal([]byte(step.line), &line); err != nil {
			t.Fatal(err)
		}
		if changed := p.add(line); changed != (step.want != "") {
			t.Errorf("%s: changed is %v", step.line, changed)
		}
		if got := p.String(); step.want != "" && got != step.want {
			t.Errorf("%s: %q, want %q", step.line, got, step.want)
		}
	}
}

// TestPullFails: what goes wrong while an engine pulls is told in its stream, in one field
// or in two.
func TestPullFails(t *testing.T) {
	for _, line := range []string{`{"errorDetail": {"message": "broken"}, "error": "broken"}`, `{"errorDetail": {"message": "broken"}}`, `{"error": "broken"}`} {
		engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Api-Version", "1.44")
			fmt.Fprintln(w, `{"status": "Pulling from library/python"}`+line)
		}))
		c, err := client.New(client.WithHost("tcp://" + engine.Listener.Addr().String()))
		if err != nil {
			t.Fatal(err)
		}
		r := &Runtime{client: c, options: Options{Notify: func(string) {}}}
		if err := r.pull(t.Context(), "python:3"); err == nil || err.Error() != "broken" {
			t.Errorf("%s: %v", line, err)
		}
		engine.Close()
	}
}

// TestNoImageSays: each reason that engines have has what to do about it. The words are
// those of Docker 20.10 and 28, and of Podman 4.3.
func TestNoImageSays(t *testing.T) {
	c, err := client.New(client.WithHost("unix:///no/such/socket"))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runtime{client: c}
	for says, want := range map[string]string{
		"manifest for python:9 not found: manifest unknown: manifest unknown":                                                   "Check its name and tag",
		"pull access denied for no/such, repository does not exist or may require 'docker login'":                               "docker login ghcr.io",
		"Head \"https://ghcr.io/v2/x/y/manifests/z\": unauthorized":                                                             "docker login ghcr.io",
		"initializing source docker://x: reading manifest 1 in docker.io/library/x: requested access to the resource is denied": "docker login ghcr.io",
		"Get \"https://ghcr.io/v2/\": dial tcp: lookup ghcr.io on 127.0.0.11:53: no such host":                                  "ghcr.io cannot be reached",
		"Get \"https://ghcr.io/v2/\": net/http: request canceled while waiting for connection (Client.Timeout exceeded)":        "ghcr.io cannot be reached",
		"pinging container registry ghcr.io: Get \"https://ghcr.io/v2/\": dial tcp 1.2.3.4:443: i/o timeout":                    "docker load",
		"no matching manifest for linux/arm64/v8 in the manifest list entries":                                                  "Check its name and tag",
		"something that nobody has seen before":                                                                                 "docker pull ghcr.io/x/y:z",
	} {
		err := r.noImage("ghcr.io/x/y:z", errors.New(says))
		var bad *sandbox.ImageError
		if !errors.As(err, &bad) || bad.Ref != "ghcr.io/x/y:z" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	full := r.noImage("x", errors.New("write /var/lib/docker/tmp/GetImageBlob1: no space left on device"))
	if bad := (*sandbox.ImageError)(nil); errors.As(full, &bad) || !strings.Contains(full.Error(), "docker system prune") {
		t.Errorf("a full disk is no fault of the image's: %v", full)
	}
}

// What a registry has under the name of one of ours would be taken for that.
func TestTakesOurs(t *testing.T) {
	for ref, want := range map[string]bool{
		"sandbox-run/prepared:0123":                          true,
		"docker.io/sandbox-run/kept:0123":                    true,
		"index.docker.io/sandbox-run/kept":                   true,
		"localhost/sandbox-run/prepared:0123":                true,
		"sandbox-run/kept@sha256:" + strings.Repeat("a", 64): true,
		"sandbox-run/default:latest":                         false,
		"example.com/team/sandbox-run/prepared:1":            false,
		"python:3.12":          false,
		"sandbox-run/Prepared": false, // which is no name
	} {
		if got := takesOurs(ref); got != want {
			t.Errorf("%s: %t, want %t", ref, got, want)
		}
	}
	r := &Runtime{}
	_, err := r.Image(t.Context(), sandbox.Spec{Image: "docker.io/sandbox-run/prepared:0123"})
	var fault *sandbox.ImageError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "for what it makes itself") {
		t.Errorf("%v", err)
	}
}

func TestCeilings(t *testing.T) {
	o := Options{CPULimit: 8.7, MemoryLimitBytes: 1 << 40}
	got := strings.Join(ceilings(&o, 2, 8<<30), "\n")
	if o.CPULimit != 2 || o.MemoryLimitBytes != 8<<30 || !strings.Contains(got, "at most 2 CPUs and not 8.7") || !strings.Contains(got, "at most 8192 MiB of memory and not 1048576") {
		t.Errorf("%+v, %s", o, got)
	}
	o = Options{CPULimit: 1.5, MemoryLimitBytes: 1 << 30}
	if got := ceilings(&o, 2, 8<<30); o.CPULimit != 1.5 || o.MemoryLimitBytes != 1<<30 || got != nil {
		t.Errorf("%+v, %q", o, got)
	}
}
