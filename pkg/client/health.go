package client

import (
	"context"
	"net/http"
	"slices"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Health asks for the server's health. A server that is draining has one too.
func (c *Client) Health(ctx context.Context) (*api.Health, error) {
	h := &api.Health{}
	if err := c.get(ctx, "health", h, http.StatusOK, http.StatusServiceUnavailable); err != nil {
		return nil, err
	}
	return h, nil
}

// Ping asks whether a server is there, which costs it nothing.
func (c *Client) Ping(ctx context.Context) error {
	return c.get(ctx, "livez", &struct{}{}, http.StatusOK)
}

// Languages lists the languages of a server.
func (c *Client) Languages(ctx context.Context) ([]api.Language, error) {
	var list api.Languages
	err := c.get(ctx, "v1/languages", &list, http.StatusOK)
	return list.Languages, err
}

// get asks for a JSON document.
func (c *Client) get(ctx context.Context, path string, into any, statuses ...int) error {
	resp, err := c.send(ctx, http.MethodGet, path, body{}, mediaJSON)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if slices.Contains(statuses, resp.StatusCode) && media(resp) == mediaJSON {
		return c.decode(ctx, resp, into)
	}
	_, err = c.refused(ctx, resp)
	return err
}
