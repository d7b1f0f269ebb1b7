package server

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// What is written piece by piece is what encoding/json would write at once.
func TestEncode(t *testing.T) {
	long := strings.Repeat("é<&>\u2028\x01\"\\\n", pieceBytes/3) + strings.Repeat("𝄞", pieceBytes)
	for name, result := range map[string]*api.Result{
		"none":      {},
		"nothing":   {Files: map[string]api.File{}},
		"one":       {Files: map[string]api.File{"a": {Content: "x", Encoding: "utf8", Size: 1, Mode: "0644"}}},
		"empty":     {Files: map[string]api.File{"a": {Encoding: "utf8", Mode: "0644"}, "": {}}},
		"long":      {Files: map[string]api.File{"b\"<\n": {Content: long, Encoding: "utf8", Size: 7, Mode: "0755"}, "a": {Content: long[1:]}, "é": {Content: strings.Repeat("\x80", pieceBytes+9)}}},
		"lookalike": {Stdout: noFiles, Message: `\` + noFiles, Language: `{` + noFiles + `}`, Files: map[string]api.File{noFiles: {Content: noFiles}}},
	} {
		for kind, v := range map[string]any{
			"result": result, "problem": &api.Problem{Type: "x", Detail: noFiles, Result: result},
			"event": api.Event{Seq: 1, Type: api.EventResult, Result: result}, "other": api.Event{Data: noFiles}, "failure": &api.Problem{Detail: "<"},
		} {
			var want, got bytes.Buffer
			if err := newEncoder(&want).Encode(v); err != nil {
				t.Fatal(err)
			}
			e, err := encode(v)
			if err == nil {
				err = e.writeTo(&got)
			}
			if diff := cmp.Diff(value(t, want.Bytes()), value(t, got.Bytes())); diff != "" || err != nil {
				t.Errorf("%s %s: %v (-want +got):\n%.1000s", name, kind, err, diff)
			}
			if name != "long" && want.String() != got.String() {
				t.Errorf("%s %s:\n%s, want\n%s", name, kind, got.String(), want.String())
			}
		}
	}
}

func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil || text[len(text)-1] != '\n' {
		t.Fatalf("%v: %.300q", err, text)
	}
	return v
}

// A large file is in memory once, and not again as JSON.
func TestEncodeTakesNoMemory(t *testing.T) {
	const size = 16 << 20
	result := &api.Result{Files: map[string]api.File{"a": {Content: strings.Repeat("<", size)}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := encode(result)
	if err == nil {
		err = e.writeTo(io.Discard)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || took > 2*size { // as one buffer that grows it is five times the file
		t.Errorf("%d MiB for a file of %d, %v", took>>20, size>>20, err)
	}
}
