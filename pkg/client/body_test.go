package client_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// sent sends a request and reads it as the server does.
func sent(t *testing.T, req api.Request) (got executor.Request, contentType string, size int64, err error) {
	t.Helper()
	c := calling(t, func(w http.ResponseWriter, r *http.Request) {
		body, readErr := io.ReadAll(r.Body)
		if readErr != nil {
			t.Error(readErr)
		}
		contentType, size = r.Header.Get("Content-Type"), r.ContentLength
		decoder := wire.NewDecoder(huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer))
		if got, readErr = decoder.Read(contentType, body); readErr != nil {
			t.Errorf("the server cannot read it: %v", readErr)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	})
	_, err = c.Execute(t.Context(), req)
	return got, contentType, size, err
}

// Large files travel as they are, small ones in the JSON; the server sees no
// difference, whatever they are called.
func TestLargeFiles(t *testing.T) {
	binary := bytes.Repeat([]byte{0, 0xff, '\r', '\n'}, 512<<10)
	text := strings.Repeat("<é>\n", 30_000)
	files := map[string]api.InputFile{
		"small.bin":                  {Content: "AP8=", Encoding: api.EncodingBase64},
		"small <é> \"x\".py":         {Content: "print(1)"},
		"data/large.bin":             {Content: base64.StdEncoding.EncodeToString(binary), Encoding: api.EncodingBase64},
		"ü/\"large\" \\\n🦀;=%20.txt": {Content: text, Encoding: api.EncodingUTF8},
	}
	got, contentType, size, err := sent(t, api.Request{Files: files, Entry: "main.py"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]executor.InputFile{
		"small.bin":                  {Content: []byte{0, 0xff}},
		"small <é> \"x\".py":         {Content: []byte("print(1)")},
		"data/large.bin":             {Content: binary},
		"ü/\"large\" \\\n🦀;=%20.txt": {Content: []byte(text)},
	}
	if !reflect.DeepEqual(want, got.Files) {
		t.Errorf("other files: %q", slices.Collect(maps.Keys(got.Files)))
	}
	if !strings.HasPrefix(contentType, "multipart/form-data") || size > int64(len(binary)+len(text)+2000) || got.Entry != "main.py" {
		t.Errorf("%s, %d bytes, entry %s", contentType, size, got.Entry)
	}
	if len(files) != 4 {
		t.Error("the caller's request has changed")
	}
}

func TestSmallFilesAreJSON(t *testing.T) {
	got, contentType, _, err := sent(t, api.Request{Files: map[string]api.InputFile{"main.py": {Content: "1"}}})
	if err != nil || contentType != "application/json" || string(got.Files["main.py"].Content) != "1" {
		t.Errorf("%s %v %v", contentType, got.Files, err)
	}
}

// JSON would carry something else in silence.
func TestOnlyUTF8IsSent(t *testing.T) {
	large := strings.Repeat("!", 64<<10)
	for pointer, req := range map[string]api.Request{
		"/code":            {Code: "\xff"},
		"/stdin":           {Code: "1", Stdin: "\xff"},
		"/args/1":          {Code: "1", Args: []string{"a", "\xff"}},
		"/requirements/0":  {Code: "1", Requirements: []string{"\xff"}},
		"/collect/0":       {Code: "1", Collect: &[]string{"\xff"}},
		"/network/allow/0": {Code: "1", Network: &api.RequestNetwork{Allow: []string{"\xff"}}},
		"/env/A~1B":        {Code: "1", Env: map[string]string{"A/B": "\xff"}},
		"/env/\uFFFD":      {Code: "1", Env: map[string]string{"\xff": "a"}},
		"/files/a~0":       {Files: map[string]api.InputFile{"a~": {Content: "\xff"}}},
		"/files/\uFFFD":    {Files: map[string]api.InputFile{"\xff": {Content: "a"}}},
		"/files/large":     {Files: map[string]api.InputFile{"large": {Content: large, Encoding: api.EncodingBase64}}},
	} {
		c := calling(t, func(http.ResponseWriter, *http.Request) { t.Errorf("%s is sent", pointer) })
		_, err := c.Execute(t.Context(), req)
		if e := mustFail[*client.RequestError](t, err); e.Pointer != pointer {
			t.Errorf("%q, want %q", e.Pointer, pointer)
		}
	}
}

// A server without room says so before it has read a large body.
func TestLargeBodiesWait(t *testing.T) {
	c := calling(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "100-continue" {
			t.Error("the body comes unasked")
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"detail":"full"}`)
	})
	_, err := c.Execute(t.Context(), api.Request{Code: strings.Repeat("1", 8<<20)})
	if e := mustFail[*client.Error](t, err); e.Problem.Status != 429 {
		t.Error(err)
	}
}
