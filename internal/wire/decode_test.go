package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

func newDecoder() *wire.Decoder {
	return wire.NewDecoder(huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer))
}

// problem is the problem that a body is answered with.
func problem(t *testing.T, body string) *api.Problem {
	t.Helper()
	req, err := newDecoder().Request([]byte(body))
	var p *api.Problem
	if !errors.As(err, &p) {
		t.Fatalf("%.200s: %+v, %v", body, req, err)
	}
	if p.Detail == "" || p.Type == "" {
		t.Errorf("%.200s: %+v says too little", body, p)
	}
	return p
}

func TestMalformedBodies(t *testing.T) {
	for name, body := range map[string]string{
		"empty":               "",
		"blank":               " \n",
		"not JSON":            "code=print(1)",
		"cut off":             `{"code":"x"`,
		"two values":          `{"code":"x"} {"code":"y"}`,
		"trailing text":       `{"code":"x"}]`,
		"duplicate name":      `{"code":"x","code":"y"}`,
		"duplicate below":     `{"code":"x","env":{"A":"1","A":"2"}}`,
		"duplicate in a file": `{"files":{"a":{"content":"1","content":"2"}}}`,
		"escaped duplicate":   `{"code":"x","\u0063ode":"y"}`,
		"invalid UTF-8":       "{\"code\":\"\xff\"}",
		"lone surrogate":      `{"code":"\ud800"}`,
		"raw control":         "{\"code\":\"a\nb\"}",
		"leading zero":        `{"code":"x","timeout_seconds":01}`,
		"NaN":                 `{"code":"x","timeout_seconds":NaN}`,
		"deep":                `{"code":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"many values":         `{"code":"x","args":[` + strings.Repeat(`"",`, 200_000) + `""]}`,
		"byte order mark":     "\ufeff{\"code\":\"x\"}",
	} {
		t.Run(name, func(t *testing.T) {
			if p := problem(t, body); p.Status != 400 {
				t.Errorf("status %d: %s", p.Status, p.Detail)
			}
		})
	}
}

func TestInvalidBodiesNameThePlace(t *testing.T) {
	for _, test := range []struct{ body, pointer string }{
		{`[]`, ""},
		{`"x"`, ""},
		{`null`, ""},
		{`{"code":1}`, "/code"},
		{`{"code":"x","timeout":1}`, "/timeout"},
		{`{"code":"x","timeout_seconds":"1"}`, "/timeout_seconds"},
		{`{"code":"x","timeout_seconds":0}`, "/timeout_seconds"},
		{`{"code":"x","timeout_seconds":-1}`, "/timeout_seconds"},
		{`{"code":"x","timeout_seconds":1e300}`, "/timeout_seconds"},
		{`{"code":"x","limits":{"memory_mb":0}}`, "/limits/memory_mb"},
		{`{"code":"x","limits":{"processes":1.5}}`, "/limits/processes"},
		{`{"code":"x","limits":{"memory":1}}`, "/limits/memory"},
		{`{"code":"x","args":["a",1]}`, "/args/1"},
		{`{"files":{"a":{"content":"x","Content":"y"}}}`, "/files/a"},
		{`{"code":"x","args":"a"}`, "/args"},
		{`{"code":"x","env":{"A.B[0]/~":1}}`, "/env/A.B[0]~1~0"},
		{`{"code":"x","files":{"a.b/c.py":1}}`, "/files/a.b~1c.py"},
		{`{"code":"x","files":{"a.b":{"content":1}}}`, "/files/a.b"},
		{`{"code":"x","files":{"a":{"content":"","encoding":"rot13"}}}`, "/files/a"},
		{`{"code":"x","files":{"a":{"content":"","mode":1}}}`, "/files/a"},
		{`{"code":"x","isolation":"weak"}`, "/isolation"},
		{`{"code":"x","network":{"mode":"all"}}`, "/network/mode"},
		{`{"CODE":"x"}`, "/CODE"},
		{`{"code":"x","collect":["a","` + strings.Repeat("a", 4097) + `"]}`, "/collect/1"},
		{`{"code":"x","collect":["a"` + strings.Repeat(`,"a"`, 256) + `]}`, "/collect"},
	} {
		p := problem(t, test.body)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Pointer != test.pointer {
			t.Errorf("%.200s: %d %+v, want 422 at %q", test.body, p.Status, p.Errors, test.pointer)
		}
	}
}

// Null never stands for a value, in any field.
func TestNullIsNoValue(t *testing.T) {
	for field := range reflect.TypeFor[api.Request]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if p := problem(t, fmt.Sprintf(`{%q:null}`, name)); p.Status != 422 || p.Errors[0].Pointer != "/"+name {
			t.Errorf("%s: %d %+v", name, p.Status, p.Errors)
		}
	}
	for field := range reflect.TypeFor[api.RequestLimits]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for _, value := range []string{"null", "0", "-1", "true", `"1"`, "1e999"} {
			body := fmt.Sprintf(`{"limits":{%q:%s}}`, name, value)
			if p := problem(t, body); p.Status/100 != 4 {
				t.Errorf("%s: %d", body, p.Status)
			}
		}
	}
}

func TestRequestIsRead(t *testing.T) {
	body := `{"code":"print(1)","language":"py","files":{"a.txt":"text","b.bin":{"content":"AAE=","encoding":"base64"}},"collect":[],` +
		`"limits":{"memory_mb":64},"network":{"mode":"allowlist","allow":["pypi.org"]},"env":{"A":"b"}}`
	req, err := newDecoder().Request([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := &api.Request{
		Code: "print(1)", Language: "py", Collect: &[]string{}, Env: map[string]string{"A": "b"},
		Files:   map[string]api.InputFile{"a.txt": {Content: "text"}, "b.bin": {Content: "AAE=", Encoding: "base64"}},
		Limits:  &api.RequestLimits{MemoryMB: 64},
		Network: &api.RequestNetwork{Mode: "allowlist", Allow: []string{"pypi.org"}},
	}
	if diff := cmp.Diff(want, req); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := newDecoder().Request(text)
	if diff := cmp.Diff(req, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// Whatever comes, the answer is a request or a problem of the caller's, and what
// was read can be written and read again.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"code":"print(1)"}`, `{"code":1,"code":2}`, `{"files":{"a/../b":{"content":"!","encoding":"base64"}}}`,
		`{"limits":{"memory_mb":1e308}}`, `{"env":{"":""},"args":["\u0000"]}`, `[[[[`,
	} {
		f.Add([]byte(seed))
	}
	d := newDecoder()
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := d.Request(body)
		var p *api.Problem
		if err != nil {
			if !errors.As(err, &p) || p.Status != 400 && p.Status != 422 {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := wire.Convert(req, nil); err != nil && !errors.As(err, &p) {
			t.Fatalf("%v", err)
		}
		text, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.Request(text)
		if diff := cmp.Diff(req, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%s: %v %s", text, err, diff)
		}
	})
}
