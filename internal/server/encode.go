package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// encoded is JSON of which the files of a result are still to be written. They are by
// far the most of an answer, and are never in memory a second time.
type encoded struct {
	text  []byte
	files map[string]api.File
}

// encode encodes an answer or event; the line ends with it.
func encode(v any) (encoded, error) {
	var e encoded
	switch whole := v.(type) {
	case *api.Result: // whose own line an encoder would read once more
		files, rest := withoutFiles(whole)
		text, err := rest.MarshalJSON()
		return encoded{text: text, files: files}, err
	case *api.Problem:
		problem := *whole
		e.files, problem.Result = withoutFiles(whole.Result)
		v = &problem
	case api.Event:
		e.files, whole.Result = withoutFiles(whole.Result)
		v = whole
	}
	var text bytes.Buffer
	err := newEncoder(&text).Encode(v)
	e.text = text.Bytes()
	return e, err
}

func withoutFiles(r *api.Result) (map[string]api.File, *api.Result) {
	if r == nil {
		return nil, nil
	}
	rest := *r
	rest.Files = nil
	return r.Files, &rest
}

// newEncoder leaves angle brackets as they are: nothing here is part of a page.
func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// noFiles is where files belong. In a string its quotes would have a backslash each.
const noFiles = `"files":{}`

// writeTo writes all of it, and fails with w.
func (e encoded) writeTo(w io.Writer) error {
	head, tail, found := bytes.Cut(e.text, []byte(noFiles))
	if len(e.files) == 0 || !found {
		_, err := w.Write(e.text)
		return err
	}
	// Only the last error counts: a [bufio.Writer] keeps the first.
	out := bufio.NewWriterSize(w, maxWrite)
	pieces := newPieces(out)
	_, _ = out.Write(head)
	_, _ = out.WriteString(noFiles[:len(noFiles)-1])
	for i, name := range slices.Sorted(maps.Keys(e.files)) {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		file := e.files[name]
		pieces.write(name)
		_, _ = out.WriteString(`:{"content":`)
		pieces.write(file.Content)
		file.Content = ""
		rest, err := json.Marshal(file)
		if err != nil {
			return err
		}
		_, _ = out.Write(bytes.TrimPrefix(rest, []byte(`{"content":""`)))
	}
	_ = out.WriteByte('}')
	_, _ = out.Write(tail)
	return out.Flush()
}

// pieces writes strings as JSON without a second copy of the whole.
type pieces struct {
	out     *bufio.Writer
	piece   *bytes.Buffer
	encoder *json.Encoder
}

func newPieces(out *bufio.Writer) pieces {
	piece := new(bytes.Buffer)
	return pieces{out, piece, newEncoder(piece)}
}

const pieceBytes = 16 << 10

func (p pieces) write(text string) {
	_ = p.out.WriteByte('"')
	for len(text) > 0 {
		n := min(len(text), pieceBytes)
		for range utf8.UTFMax {
			if n < len(text) && !utf8.RuneStart(text[n]) {
				n--
			}
		}
		p.piece.Reset()
		_ = p.encoder.Encode(text[:n]) // a string is always JSON
		quoted := p.piece.Bytes()      // and a line
		_, _ = p.out.Write(quoted[1 : len(quoted)-2])
		text = text[n:]
	}
	_ = p.out.WriteByte('"')
}
