package crash

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ofEngine is a run in a container of an engine, whose address is in a variable.
func ofEngine(name, variable string, more ...string) way {
	engine, image := os.Getenv(variable), os.Getenv("SANDBOX_TEST_ENGINE_IMAGE")
	return way{
		name: name, engine: engine, args: append([]string{"--runtime", "docker"}, program1...),
		settings: []string{"SANDBOX_TYPE=docker", "DOCKER_HOST=" + engine, "SANDBOX_DOCKER_IMAGE=" + image},
		unless: func() string {
			if engine == "" || image == "" {
				return variable + " and SANDBOX_TEST_ENGINE_IMAGE name no engine with an image; make test starts Docker, make test-docker Podman as well"
			}
			return ""
		},
		points: append(more, "engine's container made", "image filled", "image committed", "engine's container started", "engine's container removed"),
	}
}

// ask has an engine do something.
func ask(t *testing.T, engine string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+engine)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker %q: %v\n%s", args, err, words(err))
	}
	return strings.Fields(string(out))
}

// forgetImages has the engine prepare its image anew.
func (w way) forgetImages(t *testing.T) {
	t.Helper()
	for _, made := range []string{"sandbox-run/kept", "sandbox-run/prepared"} { // the one of the other
		for _, name := range ask(t, w.engine, "images", "--format", "{{.Repository}}:{{.Tag}}", made) {
			ask(t, w.engine, "rmi", "-f", name)
		}
	}
}

// containers adds those of the engines.
func (s seen) containers(t *testing.T) {
	t.Helper()
	for _, w := range ways() {
		if w.engine == "" || w.unless() != "" {
			continue
		}
		for _, id := range ask(t, w.engine, "ps", "-aq", "--filter", "label=sandbox-run") {
			s.ours["container "+id+" of "+w.name] = true
		}
	}
}
