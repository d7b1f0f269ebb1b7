package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// hostOf is the address of the engine: what was asked for, DOCKER_HOST, or that of
// the docker command's current context; empty means the usual socket.
func hostOf(opts Options) (string, error) {
	if host := cmp.Or(opts.Host, opts.Getenv("DOCKER_HOST")); host != "" {
		return host, nil
	}
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
