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
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/client"
)

// endpoint is where an engine is.
type endpoint struct {
	host    string // empty means the client's own idea of it
	context string // of the docker command that named it; empty when none did
	certs   string // the directory with the certificates for it; empty when there is none
}

// endpointOf is the engine that is meant: what was asked for, DOCKER_HOST, that of the
// docker command's current context, or a socket in one of the usual places.
func endpointOf(ctx context.Context, opts Options) (endpoint, error) {
	e := endpoint{host: cmp.Or(opts.Host, opts.Getenv("DOCKER_HOST"))}
	if e.host == "" {
		var err error
		if e, err = currentContext(opts); err != nil {
			return endpoint{}, err
		}
	}
	if u, err := url.Parse(e.host); err == nil && u.Scheme == "ssh" {
		return endpoint{}, overSSH(u)
	}
	if e.host == "" {
		e.host = socketOf(ctx, "/", opts.Getenv("XDG_RUNTIME_DIR"))
	}
	if e.context == "" && e.remote() && opts.Getenv("DOCKER_CERT_PATH") == "" && opts.Getenv("DOCKER_TLS_VERIFY") != "" {
		e.certs = configDir(opts) // as the docker command does
	}
	return e, nil
}

// remote tells whether a connection could be listened to.
func (e endpoint) remote() bool {
	scheme, _, _ := strings.Cut(e.host, "://")
	return scheme == "tcp" || scheme == "http" || scheme == "https"
}

// overSSH refuses an engine that is reached by SSH.
func overSSH(u *url.URL) error {
	at := u.Hostname()
	if u.User != nil {
		at = u.User.Username() + "@" + at
	}
	if u.Port() != "" {
		at = "-p " + u.Port() + " " + at
	}
	return &EngineError{
		What: "use the Docker engine at " + u.Redacted(), Err: errors.New("it is reached by SSH, which sandbox-run does not speak"),
		Mend: fmt.Sprintf("Forward its socket (ssh -nNT -L /tmp/docker.sock:%s %s) and set DOCKER_HOST=unix:///tmp/docker.sock", cmp.Or(u.Path, "/var/run/docker.sock"), at),
	}
}

// settings are what a client needs to connect. Certificates that a context or the
// docker command's own directory has are used as it does; those of DOCKER_CERT_PATH are
// for an engine that no context names.
func (e endpoint) settings() ([]client.Opt, error) {
	settings := []client.Opt{client.WithAPIVersionFromEnv()}
	switch {
	case e.certs != "":
		files := map[string]string{}
		for _, name := range []string{"ca.pem", "cert.pem", "key.pem"} {
			file := filepath.Join(e.certs, name)
			if _, err := os.Stat(file); err == nil {
				files[name] = file
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("read the certificates for the Docker engine at %s: %w", e.host, err)
			}
		}
		settings = append(settings, client.WithTLSClientConfig(files["ca.pem"], files["cert.pem"], files["key.pem"]))
	case e.context == "" && e.remote():
		settings = append(settings, client.WithTLSClientConfigFromEnv())
	}
	if e.host != "" {
		settings = append(settings, client.WithHost(e.host))
	}
	return settings, nil
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

// configDir is where the docker command keeps its own; empty for a service without a
// home.
func configDir(opts Options) string {
	dir := opts.Getenv("DOCKER_CONFIG")
	if home := opts.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".docker")
	}
	return dir
}

// currentContext is the engine that the docker command would use; nothing when it has
// no context but its default.
func currentContext(opts Options) (endpoint, error) {
	dir := configDir(opts)
	if dir == "" {
		return endpoint{}, nil
	}
	name := opts.Getenv("DOCKER_CONTEXT")
	if name == "" {
		var config struct{ CurrentContext string }
		if err := readJSON(filepath.Join(dir, "config.json"), &config); err != nil {
			return endpoint{}, err
		}
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return endpoint{}, nil
	}
	return contextOf(dir, name)
}

// contextOf is the engine of a context of the docker command; its files lie in
// directories named by the hash of its name.
func contextOf(dir, name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints struct {
			Docker struct {
				Host          string
				SkipTLSVerify bool
			} `json:"docker"`
		}
	}
	file := filepath.Join(dir, "contexts", "meta", id, "meta.json")
	if err := readJSON(file, &meta); err != nil {
		return endpoint{}, err
	}
	e := endpoint{host: meta.Endpoints.Docker.Host, context: name}
	if e.host == "" {
		return endpoint{}, fmt.Errorf("the Docker context %q names no engine (%s); docker context ls lists those that do", name, file)
	}
	if meta.Endpoints.Docker.SkipTLSVerify {
		return endpoint{}, &EngineError{
			What: "use the Docker engine at " + e.host, Err: fmt.Errorf("the context %q does not have its certificate checked, and anybody could answer for it", name),
			Mend: fmt.Sprintf("Give it the engine's CA: docker context update %s --docker host=%s,ca=ca.pem", name, e.host),
		}
	}
	if certs := filepath.Join(dir, "contexts", "tls", id, "docker"); e.remote() {
		if _, err := os.Stat(certs); err == nil {
			e.certs = certs
		} else if !errors.Is(err, fs.ErrNotExist) {
			return endpoint{}, fmt.Errorf("read the certificates of the Docker context %q: %w", name, err)
		}
	}
	return e, nil
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
