package wire_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/textproto"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

type part struct{ disposition, content string }

func form(t *testing.T, parts ...part) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		f, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {"form-data; " + p.disposition}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(p.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func TestMultipart(t *testing.T) {
	contentType, body := form(t,
		part{`name="files"; filename="data/raw é.bin"`, "\x00\xff"},
		part{`name="request"`, `{"entry":"main.py","files":{"main.py":"print(1)"}}`})
	got, err := newDecoder().Read(contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]executor.InputFile{"main.py": {Content: []byte("print(1)")}, "data/raw é.bin": {Content: []byte("\x00\xff")}}
	if diff := cmp.Diff(want, got.Files); diff != "" || got.Entry != "main.py" {
		t.Error(diff)
	}
}

func TestBadMultipart(t *testing.T) {
	request := part{`name="request"`, `{"code":"x","files":{"a":"1"}}`}
	for name, test := range map[string]struct {
		parts  []part
		status int
	}{
		"no request":      {[]part{{`name="files"; filename="a"`, ""}}, 400},
		"two requests":    {[]part{request, request}, 400},
		"no filename":     {[]part{request, {`name="files"`, ""}}, 400},
		"another part":    {[]part{request, {`name="code"`, ""}}, 400},
		"twice":           {[]part{request, {`name="files"; filename="b"`, ""}, {`name="files"; filename="b"`, ""}}, 422},
		"in both":         {[]part{request, {`name="files"; filename="a"`, ""}}, 422},
		"request invalid": {[]part{{`name="request"`, `{"code":1}`}}, 422},
	} {
		t.Run(name, func(t *testing.T) {
			contentType, body := form(t, test.parts...)
			_, err := newDecoder().Read(contentType, body)
			var p *api.Problem
			if !errors.As(err, &p) || p.Status != test.status {
				t.Errorf("%v, want %d", err, test.status)
			}
		})
	}
}

func TestMediaTypes(t *testing.T) {
	for contentType, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true,
		"": false, "text/plain": false, "application/x-www-form-urlencoded": false, "application/jsonp": false, "multipart/form-data": false, ";": false,
	} {
		_, err := newDecoder().Read(contentType, []byte(`{"code":"x"}`))
		var p *api.Problem
		if ok != (err == nil) || !ok && (!errors.As(err, &p) || p.Status != 415) {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}

func FuzzMultipart(f *testing.F) {
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{\"code\":\"1\"}\r\n--x--\r\n"))
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"../a\"\r\n\r\n\r\n--x--\r\n"))
	d := newDecoder()
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		var p *api.Problem
		if _, err := d.Read(contentType, body); err != nil && (!errors.As(err, &p) || p.Status/100 != 4) {
			t.Fatal(err)
		}
	})
}
