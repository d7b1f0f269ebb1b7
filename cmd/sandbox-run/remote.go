package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/cli"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// remote runs jobs on a sandbox-server.
type remote struct {
	client *client.Client
	notify func(message string)
}

// openServer names the server at a URL, which is not asked before there is a job.
func openServer(url, key string, notify func(string)) (cli.Runner, error) {
	if url == cli.AutoServer {
		return findServer(sockets(os.Getenv("XDG_RUNTIME_DIR")), notify)
	}
	c, err := client.New(url, client.Options{Key: key})
	if err != nil {
		return nil, &executor.InputError{Detail: "--server: " + err.Error()}
	}
	return &remote{c, notify}, nil
}

// sockets are where the server of this machine may listen, the user's own first.
func sockets(runtimeDir string) []string {
	system := "/run/sandbox-run/sock"
	if !filepath.IsAbs(runtimeDir) {
		return []string{system}
	}
	return []string{filepath.Join(runtimeDir, "sandbox-run.sock"), system}
}

// pingTimeout is how long the server of this machine may take to answer.
const pingTimeout = time.Second

// findServer is the first server that answers on a socket, and nil if none does.
// It gets no key: it sees who calls.
func findServer(sockets []string, notify func(string)) (cli.Runner, error) {
	for _, socket := range sockets {
		if _, err := os.Stat(socket); err != nil {
			continue
		}
		c, err := client.New(client.SocketURL(socket), client.Options{})
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
		err = c.Ping(ctx)
		cancel()
		if err == nil {
			notify("on the server at " + socket)
			return &remote{c, notify}, nil
		}
		c.Close()
		notify(err.Error())
	}
	return nil, nil
}

// Run implements [cli.Runner]. Once the server has begun, whatever happens has a
// result.
func (r *remote) Run(ctx context.Context, job cli.Job, sink executor.Sink) (*api.Result, error) {
	t := newTranscript(job.MaxOutputBytes)
	req, err := request(ctx, job.Request, r.notify)
	if err == nil {
		var result *api.Result
		result, err = r.client.Stream(ctx, req, func(e api.Event) error {
			if e.Result != nil && job.OnFile != nil {
				if err := deliver(e.Result, job.OnFile); err != nil {
					return err
				}
			}
			t.add(e)
			return sink(e)
		})
		if err == nil {
			return result, nil
		}
	}
	if ctx.Err() == nil && !t.begun() {
		return nil, refused(err)
	}
	result := t.result(ctx.Err() != nil, err)
	return result, sink(t.last(result))
}

// Close implements [cli.Runner].
func (r *remote) Close() error {
	r.client.Close()
	return nil
}

// refused sorts what kept a request from running by whose fault it is.
func refused(err error) error {
	if unsent, ok := errors.AsType[*client.RequestError](err); ok {
		return &executor.InputError{Field: unsent.Pointer, Detail: "the server cannot be asked: " + err.Error()}
	}
	answer, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	input := &executor.InputError{Detail: "the server says: " + answer.Error()}
	switch status := answer.Problem.Status; {
	case answer.Problem.Type == client.TypeLanguage:
		input.Kind = executor.InputUnknownLanguage
	case status == http.StatusUnauthorized:
		input.Detail += " (sandbox-run takes it from SANDBOX_API_KEY)"
	case status == http.StatusForbidden:
		return &cli.PolicyError{Err: input}
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
	case answer.RetryAfter > 0:
		return fmt.Errorf("%s; try again in %s", input.Detail, answer.RetryAfter.Round(time.Second))
	default:
		return errors.New(input.Detail)
	}
	return input
}
