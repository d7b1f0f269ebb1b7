package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostOf(t *testing.T) {
	dir := t.TempDir()
	const hashOfWork = "00e13ed7af55b27622f1d6eab5bec0147e68efe28dc2b12461117afa1a5ed40e" // printf work | sha256sum
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("config.json", `{"currentContext": "work"}`)
	write("contexts/meta/"+hashOfWork+"/meta.json", `{"Name": "work", "Endpoints": {"docker": {"Host": "ssh://there"}}}`)
	write("broken/config.json", `{`)
	for name, tc := range map[string]struct {
		host string
		env  map[string]string
		want string
		err  string
	}{
		"asked for":        {host: "tcp://a:1", env: map[string]string{"DOCKER_HOST": "tcp://b:1"}, want: "tcp://a:1"},
		"DOCKER_HOST":      {env: map[string]string{"DOCKER_HOST": "tcp://b:1", "DOCKER_CONFIG": dir}, want: "tcp://b:1"},
		"current context":  {env: map[string]string{"DOCKER_CONFIG": dir}, want: "ssh://there"},
		"DOCKER_CONTEXT":   {env: map[string]string{"DOCKER_CONFIG": t.TempDir(), "DOCKER_CONTEXT": "gone"}, err: `the Docker context "gone" names no engine`},
		"the default one":  {env: map[string]string{"DOCKER_CONFIG": dir, "DOCKER_CONTEXT": "default"}},
		"no configuration": {env: map[string]string{"HOME": t.TempDir()}},
		"no home":          {},
		"a broken file":    {env: map[string]string{"DOCKER_CONFIG": filepath.Join(dir, "broken")}, err: "read the configuration of Docker: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hostOf(Options{Host: tc.host, Getenv: func(name string) string { return tc.env[name] }})
			if tc.err == "" && (err != nil || got != tc.want) {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}
