package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// maxParts is how many files a multipart body may bring; the executor says what
// it takes of them.
const maxParts = 20_000

// CheckMedia refuses content types that [Decoder.Read] cannot read.
func CheckMedia(contentType string) error {
	_, _, err := media(contentType)
	return err
}

func media(contentType string) (kind, boundary string, err error) {
	kind, params, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && kind == "application/json":
		return kind, "", nil
	case err == nil && kind == "multipart/form-data" && params["boundary"] != "":
		return kind, params["boundary"], nil
	}
	return "", "", &api.Problem{Type: TypeMedia, Status: http.StatusUnsupportedMediaType,
		Detail: fmt.Sprintf("content type %.80q is not understood: send application/json, or multipart/form-data with a boundary", contentType)}
}

// Read reads a whole body of the given content type.
func (d *Decoder) Read(contentType string, body []byte) (executor.Request, error) {
	_, boundary, err := media(contentType)
	if err != nil {
		return executor.Request{}, err
	}
	uploads := map[string][]byte{}
	if boundary != "" {
		if body, uploads, err = parts(body, boundary); err != nil {
			return executor.Request{}, err
		}
	}
	req, err := d.Request(body)
	if err != nil {
		return executor.Request{}, err
	}
	return Convert(req, uploads)
}

// parts reads the part request, which is JSON, and the parts files, each named
// by its filename.
func parts(body []byte, boundary string) (request []byte, uploads map[string][]byte, err error) {
	uploads = map[string][]byte{}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextRawPart()
		switch {
		case errors.Is(err, io.EOF):
			if request == nil {
				return nil, nil, malformed("the part request is missing")
			}
			return request, uploads, nil
		case err != nil:
			return nil, nil, malformed("not multipart: " + err.Error())
		}
		content, err := io.ReadAll(io.LimitReader(part, int64(len(body))))
		if err != nil {
			return nil, nil, malformed("not multipart: " + err.Error())
		}
		switch name := part.FormName(); name {
		case "request":
			if request != nil {
				return nil, nil, malformed("the part request comes twice")
			}
			request = content
		case "files":
			if err := upload(uploads, part, content); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, malformed(fmt.Sprintf("unexpected part %.40q: expected request and files", name))
		}
	}
}

// upload keeps one file. Its name is taken as it was sent, directories included,
// which [multipart.Part.FileName] would cut off.
func upload(uploads map[string][]byte, part *multipart.Part, content []byte) error {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name := params["filename"]
	switch _, twice := uploads[name]; {
	case err != nil || name == "":
		return malformed("a part files has no filename")
	case twice:
		return Invalid(api.ProblemError{Pointer: api.Pointer("files", name), Detail: "the file comes twice"})
	case len(uploads) >= maxParts:
		return Invalid(api.ProblemError{Pointer: "/files", Detail: fmt.Sprintf("more than %d files", maxParts)})
	}
	uploads[name] = content
	return nil
}
