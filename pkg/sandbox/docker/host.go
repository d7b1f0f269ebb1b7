package docker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// hostOf is the address of the engine: what was asked for, DOCKER_HOST, that of the
// docker command's current context, or a socket in one of the usual places; empty means
// that there is none, and the client's own idea of where it would be.
func hostOf(ctx context.Context, opts Options) (string, error) {
	host := cmp.Or(opts.Host, opts.Getenv("DOCKER_HOST"))
	if host == "" {
		var err error
		if host, err = currentContext(opts); err != nil {
			return "", err
		}
	}
	if at, ok := strings.CutPrefix(host, "ssh://"); ok {
		return "", &EngineError{
			What: "use the Docker engine at " + host, Err: errors.New("it is reached by SSH, which sandbox-run does not speak"),
			Mend: fmt.Sprintf("Forward its socket (ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock %s) and set DOCKER_HOST=unix:///tmp/docker.sock", at),
		}
	}
	if host == "" {
		return socketOf(ctx, "/", opts.Getenv("XDG_RUNTIME_DIR")), nil
	}
	return host, nil
}

// socketOf is the first socket of an engine that this process may use: Docker's before
// Podman's, the machine's before the user's own. Where it may use none of them, it is
// the first that there is, so that the error is about permission.
func socketOf(ctx context.Context, root, userDir string) (host string) {
	places := []string{filepath.Join(root, "var/run/docker.sock")}
	if userDir != "" {
		places = append(places, filepath.Join(userDir, "docker.sock"))
	}
	places = append(places, filepath.Join(root, "run/podman/podman.sock"))
	if userDir != "" {
		places = append(places, filepath.Join(userDir, "podman/podman.sock"))
	}
	for _, place := range places {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", place)
		if err == nil {
			_ = conn.Close() // nothing was sent
			return "unix://" + place
		}
		if host == "" && errors.Is(err, fs.ErrPermission) {
			host = "unix://" + place
		}
	}
	return host
}

// currentContext is the address that the docker command would use; empty when it has
// no context but its default.
func currentContext(opts Options) (string, error) {
	dir := opts.Getenv("DOCKER_CONFIG")
	if home := opts.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".docker")
	}
	if dir == "" {
		return "", nil // a service without a home has no contexts
	}
	name := opts.Getenv("DOCKER_CONTEXT")
	if name == "" {
		var config struct{ CurrentContext string }
		if err := readJSON(filepath.Join(dir, "config.json"), &config); err != nil {
			return "", err
		}
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return "", nil
	}
	return contextHost(dir, name)
}

// contextHost is the address that a context of the docker command has; its file lies
// in a directory named by the hash of its name.
func contextHost(dir, name string) (string, error) {
	sum := sha256.Sum256([]byte(name))
	var meta struct {
		Endpoints struct {
			Docker struct{ Host string } `json:"docker"`
		}
	}
	file := filepath.Join(dir, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json")
	if err := readJSON(file, &meta); err != nil {
		return "", err
	}
	if meta.Endpoints.Docker.Host == "" {
		return "", fmt.Errorf("the Docker context %q names no engine (%s); docker context ls lists those that do", name, file)
	}
	return meta.Endpoints.Docker.Host, nil
}

// readJSON reads a file of the docker command; one that is not there is empty.
func readJSON(name string, into any) error {
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the configuration of Docker: %w", err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read the configuration of Docker: %s: %w", name, err)
	}
	return nil
}
