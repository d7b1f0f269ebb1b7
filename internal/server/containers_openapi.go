package server

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
)

// image and keptAnswer are the answers of the routes for other servers, which are
// described roughly: one server of ours is the only client of another.
type (
	imageAnswer struct {
		Name   string   `json:"Name"`
		Digest string   `json:"Digest"`
		Env    []string `json:"Env"`
	}
	keptAnswer struct {
		Kept bool `json:"kept"`
	}
)

// runtime describes the routes of servers that use this one as their runtime.
func (d describer) runtime(paths map[string]*huma.PathItem) {
	const scope = " For another sandbox-server, with a key of the scope runtime."
	op := func(id, summary string, answer reflect.Type, query ...string) *huma.Operation {
		op := d.secured(d.plain(id, summary+scope, answer, http.StatusOK))
		op.Responses["403"] = d.problem("The key has not the scope.")
		op.Responses["508"] = d.problem("The request has come round to this server.")
		for _, name := range query {
			in := "query"
			if name == "name" {
				in = "path"
			}
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: in, Required: in == "path", Schema: &huma.Schema{Type: huma.TypeString}})
		}
		return op
	}
	paths["/v1/runtime"] = &huma.PathItem{Get: op("runtime", "What containers can have here.", nil)}
	paths["/v1/runtime/image"] = &huma.PathItem{Get: op("runtimeImage", "The root that a container would have.", reflect.TypeFor[imageAnswer](), "image", "language", "version")}
	put := op("runtimeKeep", "Keeps a directory, sent as a tar archive, for containers to read.", reflect.TypeFor[keptAnswer](), "name", "image", "language", "version", "digest")
	put.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/x-tar": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	paths["/v1/runtime/kept/{name}"] = &huma.PathItem{
		Get: op("runtimeKept", "Whether a directory is kept.", reflect.TypeFor[keptAnswer](), "name", "image", "language", "version", "digest"),
		Put: put,
	}
	container := op("runtimeContainer", "One container, which lives as long as its connection: a WebSocket with the subprotocol "+tunnel.Protocol+".", nil)
	container.Responses = map[string]*huma.Response{
		"101": {Description: "The connection of a container."},
		"401": d.problem("No valid key."), "403": d.problem("The key has not the scope."), "429": d.problem("Rate, capacity or quota."),
		"503": d.problem("The server is draining."), "508": d.problem("The request has come round to this server."),
	}
	paths["/v1/runtime/containers"] = &huma.PathItem{Get: container}
}
