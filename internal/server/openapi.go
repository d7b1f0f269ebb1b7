package server

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/swaggest/swgui/v5emb"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// openAPI makes the OpenAPI document out of the types that serve the requests.
func (s *Server) openAPI(registry huma.Registry) ([]byte, error) {
	document := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "sandbox-server", Version: s.Version,
			Description: "Runs code that nobody has read. Errors are problems as RFC 9457 has them.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{
			Schemas: registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer"},
				"key":    {Type: "apiKey", In: "header", Name: "X-API-Key"},
			},
		},
	}
	d := describer{registry}
	document.Paths = map[string]*huma.PathItem{
		"/execute":      {Post: d.execute(s.decoder.Schema())},
		"/health":       {Get: d.plain("health", "What the server can run and how busy it is.", reflect.TypeFor[api.Health](), http.StatusOK, http.StatusServiceUnavailable)},
		"/livez":        {Get: d.plain("livez", "The process answers.", nil, http.StatusOK)},
		"/readyz":       {Get: d.plain("readyz", "Programs can be run here, however busy it is.", nil, http.StatusOK, http.StatusServiceUnavailable)},
		"/metrics":      {Get: d.secured(d.plain("metrics", "Figures for Prometheus.", nil, http.StatusOK))},
		"/v1/languages": {Get: d.secured(d.plain("languages", "The languages, with their versions.", reflect.TypeFor[api.Languages](), http.StatusOK))},
	}
	if s.Containers != nil {
		d.runtime(document.Paths)
	}
	return json.MarshalIndent(document, "", "  ")
}

// describer describes operations.
type describer struct{ registry huma.Registry }

// schema describes an answer.
func (d describer) schema(t reflect.Type) *huma.Schema {
	s := d.registry.Schema(t, true, t.Name())
	d.extend(s)
	return s
}

// extend says of an answer that it may have further fields some day: huma takes
// every object for a request, in which unknown ones are mistakes.
func (d describer) extend(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		s = d.registry.SchemaFromRef(s.Ref)
	}
	if closed, ok := s.AdditionalProperties.(bool); ok && !closed {
		s.AdditionalProperties = nil
		for _, field := range s.Properties {
			d.extend(field)
		}
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		d.extend(values)
	}
	d.extend(s.Items)
}

func (d describer) plain(id, summary string, answer reflect.Type, codes ...int) *huma.Operation {
	op := &huma.Operation{OperationID: id, Summary: summary, Responses: map[string]*huma.Response{}}
	for _, code := range codes {
		response := &huma.Response{Description: http.StatusText(code)}
		if answer != nil {
			response.Content = map[string]*huma.MediaType{"application/json": {Schema: d.schema(answer)}}
		}
		op.Responses[strconv.Itoa(code)] = response
	}
	return op
}

// secured says that a key is needed, where there are any.
func (d describer) secured(op *huma.Operation) *huma.Operation {
	op.Security = []map[string][]string{{"bearer": {}}, {"key": {}}}
	op.Responses["401"] = d.problem("No key, or a wrong one.")
	return op
}

func (d describer) problem(description string) *huma.Response {
	return &huma.Response{Description: description,
		Content: map[string]*huma.MediaType{"application/problem+json": {Schema: d.schema(reflect.TypeFor[api.Problem]())}}}
}

func (d describer) execute(request *huma.Schema) *huma.Operation {
	op := d.secured(&huma.Operation{
		OperationID: "execute",
		Summary:     "Runs a program and answers with what happened.",
		Description: "The answer is 200 whatever the program did; its status tells. With Accept: text/event-stream or application/x-ndjson the events of the run are sent as they happen, the result last. A caller that goes away ends the run.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: request, Examples: examples()},
			"multipart/form-data": {Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"request"}, Properties: map[string]*huma.Schema{
				"request": request,
				"files":   {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}, Description: "Files of the workspace, named by their filename."},
			}}},
		}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The run's result, or its events.", Content: map[string]*huma.MediaType{
				"application/json": {Schema: d.schema(reflect.TypeFor[api.Result]())},
				eventStream:        {Schema: d.schema(reflect.TypeFor[api.Event]())},
				ndjson:             {Schema: d.schema(reflect.TypeFor[api.Event]())},
			}},
			"400": d.problem("Not JSON, or not multipart: malformed, duplicate names, trailing data."),
			"403": d.problem("Another origin, or a policy."),
			"413": d.problem("The body is too large."),
			"415": d.problem("The content type is not understood."),
			"422": d.problem("A field is unknown, of the wrong type or over its ceiling; a language is unknown or not installed. Each error has a JSON pointer."),
			"429": d.problem("Rate, capacity or quota, as the type tells; Retry-After says when to come back."),
			"500": d.problem("The sandbox failed, and would again."),
			"503": d.problem("The sandbox failed, or the server is draining; it may be tried again."),
		},
	})
	return op
}

// examples are what the document shows. A test sends each of them.
func examples() map[string]*huma.Example {
	empty := []string{}
	return map[string]*huma.Example{
		"hello":      {Summary: "One line of Python", Value: api.Request{Code: "print(6*7)"}},
		"javascript": {Summary: "JavaScript with standard input", Value: api.Request{Language: "javascript", Code: "process.stdin.on('data', d => console.log(`read ${d}`))", Stdin: "héllo"}},
		"go":         {Summary: "Go with limits", Value: api.Request{Language: "go", Code: "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(6 * 7) }\n", TimeoutSeconds: 10, Limits: &api.RequestLimits{MemoryMB: 256, CPUCores: 1}}},
		"project":    {Summary: "Several files", Value: api.Request{Files: map[string]api.InputFile{"main.py": {Content: "import helper\nhelper.hi()\n"}, "helper.py": {Content: "def hi(): print('hi')\n"}}, Entry: "main.py"}},
		"files":      {Summary: "A file in, a file out", Value: api.Request{Code: "open('out.txt','w').write(open('in.bin','rb').read().hex())", Files: map[string]api.InputFile{"in.bin": {Content: "AAE=", Encoding: api.EncodingBase64}}, Collect: &[]string{"out.txt"}}},
		"timeout":    {Summary: "A program that is stopped", Value: api.Request{Code: "while True: pass", TimeoutSeconds: 0.5, Collect: &empty}},
	}
}

func (s *Server) openAPIDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
	_, _ = w.Write(s.document)
}

// docs renders the document. All that the page loads is in this binary.
func docs() http.Handler { return v5emb.New("sandbox-server", "/openapi.json", "/docs/") }
