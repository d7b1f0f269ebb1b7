package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// uploadFrom is how large a file of a request is that travels as it is, in a part
// of its own. In JSON it would grow: by a third as base64, by what is escaped as
// text.
const uploadFrom = 64 << 10

// body is what is sent.
type body struct {
	kind    string // the media type
	content []byte
}

// upload is a file that is sent beside the JSON.
type upload struct {
	name    string
	content []byte
}

// encode writes a request as JSON, or with its large files as multipart.
func encode(req api.Request) (body, error) {
	if err := check(req); err != nil {
		return body{}, err
	}
	var uploads []upload
	for _, name := range slices.Sorted(maps.Keys(req.Files)) {
		if len(req.Files[name].Content) < uploadFrom {
			continue
		}
		content, err := req.Files[name].Bytes()
		if err != nil {
			return body{}, &RequestError{Pointer: api.Pointer("files", name), Detail: err.Error()}
		}
		uploads = append(uploads, upload{name, content})
	}
	if len(uploads) == 0 {
		request, err := toJSON(req)
		return body{mediaJSON, request}, err
	}
	req.Files = maps.Clone(req.Files) // the caller's stays as it is
	for _, u := range uploads {
		delete(req.Files, u.name)
	}
	return form(req, uploads)
}

// toJSON leaves < and > as they are, which are six bytes otherwise.
func toJSON(req api.Request) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(req)
	return b.Bytes(), err
}

// form writes the part request, and a part files for each upload.
func form(req api.Request, uploads []upload) (body, error) {
	request, err := toJSON(req)
	if err != nil {
		return body{}, err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	add := func(content []byte, disposition map[string]string) {
		// Names of files may hold anything, which this writes as RFC 2231 says.
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("form-data", disposition)}})
		if err == nil {
			_, _ = part.Write(content)
		}
	}
	add(request, map[string]string{"name": "request"})
	for _, u := range uploads {
		add(u.content, map[string]string{"name": "files", "filename": u.name})
	}
	err = w.Close()
	return body{w.FormDataContentType(), b.Bytes()}, err
}

// check finds what JSON cannot carry and would change in silence.
func check(req api.Request) error {
	for _, t := range texts(req) {
		if !utf8.ValidString(t.text) {
			return &RequestError{Pointer: strings.ToValidUTF8(t.pointer, "\uFFFD"), Detail: "it is not valid UTF-8, and JSON carries nothing else"}
		}
	}
	return nil
}

type text struct{ pointer, text string }

// texts are all that the caller has written into a request, names included.
func texts(req api.Request) []text {
	all := []text{
		{"/code", req.Code}, {"/language", req.Language}, {"/version", req.Version}, {"/stdin", req.Stdin},
		{"/entry", req.Entry}, {"/image", req.Image}, {"/isolation", req.Isolation},
	}
	list := func(name string, values []string) {
		for i, value := range values {
			all = append(all, text{fmt.Sprintf("/%s/%d", name, i), value})
		}
	}
	list("args", req.Args)
	list("requirements", req.Requirements)
	if req.Collect != nil {
		list("collect", *req.Collect)
	}
	if req.Network != nil {
		all = append(all, text{"/network/mode", req.Network.Mode})
		list("network/allow", req.Network.Allow)
	}
	for _, name := range slices.Sorted(maps.Keys(req.Env)) {
		all = append(all, text{api.Pointer("env", name), name}, text{api.Pointer("env", name), req.Env[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(req.Files)) {
		all = append(all, text{api.Pointer("files", name), name}, text{api.Pointer("files", name), req.Files[name].Content})
	}
	return all
}
