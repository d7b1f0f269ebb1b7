package docker

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// EngineError is what an engine could not do, with what to do about it.
type EngineError struct {
	What string // e.g. reach the Docker engine at unix:///var/run/docker.sock
	Err  error
	Mend string // a sentence; may be empty
	// Again tells that trying again may help.
	Again bool
}

func (e *EngineError) Error() string {
	s := "cannot " + e.What + ": " + strings.TrimSuffix(e.Err.Error(), ".")
	if e.Mend != "" {
		s += ". " + e.Mend
	}
	return s
}

// Unwrap gives the engine's own error.
func (e *EngineError) Unwrap() error { return e.Err }

// Is matches [syscall.EAGAIN], by which callers know what to try again.
func (e *EngineError) Is(target error) bool { return e.Again && target == syscall.EAGAIN }

// failed says what could not be done, and sorts out what people meet: an engine
// that is not there, that one may not talk to, or whose disk is full.
func (r *Runtime) failed(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &EngineError{What: what, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission), client.IsErrConnectionFailed(err) && strings.Contains(err.Error(), "permission denied"): // the client drops what it wraps
		e.What, e.Err = "use the Docker engine at "+r.client.DaemonHost(), errors.New("permission denied")
		e.Mend = "Run as root, or as a member of the group docker, which is as good as root: sudo usermod -aG docker $USER"
	case strings.Contains(err.Error(), "no space left on device"), strings.Contains(err.Error(), "disk quota exceeded"):
		e.Mend = "The engine's disk is full; docker system df shows what takes room, and docker system prune frees it"
	case aboutTLS(err):
		e.What = "reach the Docker engine at " + r.client.DaemonHost()
		e.Mend = "Set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the directory with the ca.pem, cert.pem and key.pem for it; or use a context of the docker command that has them"
	case client.IsErrConnectionFailed(err) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET):
		e.What, e.Again = "reach the Docker engine at "+r.client.DaemonHost(), true
		e.Err = errors.New("nobody answers there")
		e.Mend = "Start it (sudo systemctl start docker, or podman.socket), or name another one by DOCKER_HOST"
	case errdefs.IsInternal(err) || errdefs.IsUnavailable(err):
		e.Again = true
	}
	return e
}

// aboutTLS tells whether the engine and we do not agree on a secure connection.
func aboutTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		client.IsErrConnectionFailed(err) && strings.Contains(err.Error(), "TLS") || // the client's own advice
		strings.Contains(err.Error(), "Client sent an HTTP request to an HTTPS server")
}

// ofEngine tells whether an error is about the engine itself, whatever was asked of it.
func ofEngine(err error) bool {
	var e *EngineError
	return errors.As(err, &e) && e.Mend != ""
}
