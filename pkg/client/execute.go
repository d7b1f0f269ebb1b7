package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The media types of answers.
const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	mediaNDJSON  = "application/x-ndjson"
)

// Execute runs a request and waits for its result.
func (c *Client) Execute(ctx context.Context, req api.Request) (*api.Result, error) {
	resp, err := c.post(ctx, req, mediaJSON)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || media(resp) != mediaJSON {
		return c.refused(ctx, resp)
	}
	result := &api.Result{}
	if err := c.decode(ctx, resp, result); err != nil {
		return nil, err
	}
	return c.whole(ctx, result)
}

// whole is a result that says how the run ended, as each of a sandbox-server's does.
func (c *Client) whole(ctx context.Context, result *api.Result) (*api.Result, error) {
	if result.Status == "" {
		return nil, c.broken(ctx, true, errors.New("it is no result of a run"))
	}
	return result, nil
}

// decode reads the JSON of an answer.
func (c *Client) decode(ctx context.Context, resp *http.Response, into any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.most)+1))
	switch {
	case err != nil:
		return c.broken(ctx, true, err)
	case len(text) > c.most:
		return c.broken(ctx, true, c.tooLarge())
	}
	if err := json.Unmarshal(text, into); err != nil {
		return c.broken(ctx, true, err)
	}
	return nil
}
