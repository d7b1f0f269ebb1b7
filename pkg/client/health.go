package client

import (
	"context"
	"net/http"
	"slices"
)

// Health is how a server is and how busy.
type Health struct {
	// Status is ok, or draining while the server shuts down.
	Status  string `json:"status"`
	Version string `json:"version"`
	// Capacity is how many runs go on at a time, Load how many do now, and
	// Queued how many wait for a place.
	Capacity int `json:"capacity"`
	Load     int `json:"load"`
	Queued   int `json:"queued"`
	// MemoryCapacityMB is what the memory limits of all runs may add up to, and
	// MemoryGrantedMB what they do now.
	MemoryCapacityMB int64   `json:"memory_capacity_mb"`
	MemoryGrantedMB  int64   `json:"memory_granted_mb"`
	UptimeSeconds    float64 `json:"uptime_seconds"`
	// Runtimes maps a runtime to its strongest isolation level, Languages a
	// language to the version that runs by default, and Warm what is prepared
	// ahead to how much of it is ready.
	Runtimes  map[string]string `json:"runtimes"`
	Languages map[string]string `json:"languages"`
	Warm      map[string]int    `json:"warm"`
}

// Health asks for the server's health. A server that is draining has one too.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	h := &Health{}
	if err := c.get(ctx, "health", h, http.StatusOK, http.StatusServiceUnavailable); err != nil {
		return nil, err
	}
	return h, nil
}

// Ping asks whether a server is there, which costs it nothing.
func (c *Client) Ping(ctx context.Context) error {
	return c.get(ctx, "livez", &struct{}{}, http.StatusOK)
}

// Language is what a server knows of one language.
type Language struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Aliases    []string `json:"aliases"`
	Extensions []string `json:"extensions"`
	Available  bool     `json:"available"`
	// Versions are the installed ones, the default first.
	Versions []string `json:"versions"`
	// Reason says why there are none, and Install how the operator gets one.
	Reason  string `json:"reason"`
	Install string `json:"install"`
}

// Languages lists the languages of a server.
func (c *Client) Languages(ctx context.Context) ([]Language, error) {
	var list struct {
		Languages []Language `json:"languages"`
	}
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
