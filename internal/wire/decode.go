// Package wire reads requests as they come over the wire, from callers that
// nobody trusts: JSON and multipart bodies become an [api.Request], and that an
// [executor.Request]. What is wrong with one is a [*api.Problem] that names the
// place.
//
// The schema that a body is checked against is the one that the OpenAPI document
// shows; both come from the Go types of pkg/api.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Bounds of a JSON body, far above what any request needs: a small body must not
// unfold into a large tree.
const (
	maxDepth  = 16
	maxValues = 100_000
)

// Decoder reads bodies. It is safe for concurrent use.
type Decoder struct {
	registry huma.Registry
	schema   *huma.Schema
}

// NewDecoder makes a decoder that adds its types to registry.
func NewDecoder(registry huma.Registry) *Decoder {
	schema := registry.Schema(reflect.TypeFor[api.Request](), true, "Request")
	all := registry.Map()
	all["InputFile"] = textOrObject(all["InputFile"])
	for _, s := range all {
		for _, field := range s.Properties {
			field.Nullable = false // see scan
			field.PrecomputeMessages()
		}
	}
	return &Decoder{registry: registry, schema: schema}
}

// textOrObject is the schema of [api.InputFile]: a string, or what the fields say.
func textOrObject(object *huma.Schema) *huma.Schema {
	s := &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, object}}
	s.OneOf[0].PrecomputeMessages()
	s.PrecomputeMessages()
	return s
}

// Schema is the schema of a request.
func (d *Decoder) Schema() *huma.Schema { return d.schema }

// Request reads a JSON body.
func (d *Decoder) Request(body []byte) (*api.Request, error) {
	if err := scan(body); err != nil && !fault.Off("door", "one reading") {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil { // what can be read by now: a number that is too large
		return nil, Invalid(semantic(err))
	}
	var found huma.ValidateResult
	huma.Validate(d.registry, d.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, withSafeNames(tree), &found)
	if len(found.Errors) > 0 && !fault.Off("door", "fields") {
		return nil, Invalid(places(found.Errors)...)
	}
	var req api.Request
	// Names in another case pass the validator; here they are unknown.
	if err := json.Unmarshal(body, &req, json.RejectUnknownMembers(!fault.Off("door", "fields"))); err != nil {
		return nil, Invalid(semantic(err))
	}
	return &req, nil
}

// scan reads a body to its end and keeps nothing of it: syntax, UTF-8, duplicate
// names, depth, number of values, trailing data. A null is an error wherever a
// value may be, since it could be meant for "no limit".
func scan(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return malformed("it is empty; expected a JSON object")
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for n := 0; ; n++ {
		token, err := d.ReadToken()
		switch {
		case err != nil:
			return malformed(syntax(err))
		case d.StackDepth() > maxDepth:
			return malformed(fmt.Sprintf("it is nested more than %d deep", maxDepth))
		case n >= maxValues:
			return malformed(fmt.Sprintf("it holds more than %d names and values", maxValues))
		case token.Kind() == 'n':
			return Invalid(api.ProblemError{Pointer: string(d.StackPointer()), Detail: "null is no value; leave out what should have its default"})
		case d.StackDepth() > 0:
			continue
		}
		if rest := body[d.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
			return malformed(fmt.Sprintf("something follows the JSON value at byte %d", d.InputOffset()))
		}
		return nil
	}
}

func malformed(why string) error {
	return &api.Problem{Type: TypeMalformed, Status: http.StatusBadRequest, Detail: "the body cannot be read: " + why}
}

// syntax says where in the text it is wrong.
func syntax(err error) string {
	if errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("%s at byte %d", strings.TrimPrefix(fmt.Sprint(syntactic.Err), "jsontext: "), syntactic.ByteOffset)
	}
	return err.Error()
}

// semantic is a value that its field cannot hold.
func semantic(err error) api.ProblemError {
	if e, ok := errors.AsType[*json.SemanticError](err); ok && errors.Is(err, json.ErrUnknownName) {
		return api.ProblemError{Pointer: string(e.JSONPointer), Detail: "unexpected property"}
	}
	if e, ok := errors.AsType[*json.SemanticError](err); ok && e.Err != nil {
		return api.ProblemError{Pointer: string(e.JSONPointer), Detail: e.Err.Error()}
	}
	return api.ProblemError{Detail: err.Error()}
}

// free are the objects of a request whose names the caller chooses.
var free = []string{"files", "env"}

// safe keeps such names apart from the dots and brackets that the validator
// writes between names, and makes them parts of a JSON pointer. [pointer] turns
// the first ones back.
var safe = strings.NewReplacer("~", "~0", "/", "~1", ".", "~2", "[", "~3", "]", "~4")

var unsafe = strings.NewReplacer("~2", ".", "~3", "[", "~4", "]")

func withSafeNames(tree any) any {
	object, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	object = maps.Clone(object)
	for _, name := range free {
		if entries, ok := object[name].(map[string]any); ok {
			renamed := make(map[string]any, len(entries))
			for name, value := range entries {
				renamed[safe.Replace(name)] = value
			}
			object[name] = renamed
		}
	}
	return object
}

// maxPlaces is how many faults one answer names.
const maxPlaces = 20

// places are the faults that the validator found, with JSON pointers.
func places(found []error) []api.ProblemError {
	var errs []api.ProblemError
	for _, err := range found[:min(len(found), maxPlaces)] {
		place := api.ProblemError{Detail: err.Error()}
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			place = api.ProblemError{Pointer: pointer(detail.Location), Detail: detail.Message}
		}
		errs = append(errs, place)
	}
	slices.SortFunc(errs, func(a, b api.ProblemError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return errs
}

// pointer turns the validator's limits.memory_mb and args[0] into a JSON pointer.
func pointer(location string) string {
	if location == "" {
		return ""
	}
	location = strings.ReplaceAll(strings.ReplaceAll(location, "[", "."), "]", "")
	parts := strings.Split(location, ".")
	for i, part := range parts {
		parts[i] = unsafe.Replace(part)
	}
	return "/" + strings.Join(parts, "/")
}
