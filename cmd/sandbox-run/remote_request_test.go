package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What the server makes of a request is what would be run here.
func TestRequestSurvivesTheWire(t *testing.T) {
	for name, req := range map[string]executor.Request{
		"code": {Language: "python@3.12", Code: []byte("print('é')"), Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkNone}},
		"everything": {
			Language: "go", Files: map[string]executor.InputFile{"main.go": {Content: []byte("package main")}, "data/é.bin": {Content: []byte{0, 0xff}}},
			Entry: "main.go", Args: []string{"", "--é"}, Env: map[string]string{"A": "é=b"}, Isolation: sandbox.LevelFull,
			Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost},
			Limits: sandbox.Limits{WallTime: 1234567 * time.Microsecond, CPUTime: 100 * time.Millisecond, CPUs: 0.3, MemoryBytes: 100_000_001, Processes: 7, OpenFiles: 65,
				Strict: []string{sandbox.LimitWallTime, sandbox.LimitMemory, sandbox.LimitCPUs, sandbox.LimitCPUTime, sandbox.LimitDisk, sandbox.LimitProcesses, sandbox.LimitOpenFiles}},
			DiskBytes: 1_000_003, MaxOutputBytes: 30, MaxStreamBytes: 10, Collect: []string{"**/*.txt"},
		},
		"network and packages": {
			Language: "python", Code: []byte("1"), Requirements: []string{"requests", "numpy>=2"},
			Network: sandbox.NetworkPolicy{Allow: []string{"example.org:443"}, AllowDNS: true}, // what mode follows is said in one place
		},
		"imports":           {Language: "python", Code: []byte("1"), Imports: policy.Block, BlockImports: []string{"requests"}, Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkNone}},
		"nothing collected": {Language: "python", Code: []byte("1"), Collect: []string{}, Network: sandbox.NetworkPolicy{Mode: sandbox.NetworkNone}},
	} {
		t.Run(name, func(t *testing.T) {
			asked, err := request(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			got, err := wire.NewDecoder(huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)).Read("application/json", body)
			if err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if diff := cmp.Diff(req, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(executor.Request{}, "Collect")); diff != "" {
				t.Error(diff)
			}
			if (req.Collect == nil) != (got.Collect == nil) || fmt.Sprint(req.Collect) != fmt.Sprint(got.Collect) {
				t.Errorf("collect %#v, want %#v", got.Collect, req.Collect)
			}
		})
	}
}

func TestStdin(t *testing.T) {
	for name, c := range map[string]struct {
		in    io.Reader
		want  string
		fault string
	}{
		"none":      {nil, "", ""},
		"text":      {strings.NewReader("é\n"), "é\n", ""},
		"binary":    {strings.NewReader("\xff"), "", "not UTF-8"},
		"too large": {bytes.NewReader(make([]byte, maxRemoteStdin+1)), "", "larger than 16 MiB"},
	} {
		req, err := request(t.Context(), executor.Request{Stdin: c.in}, nil)
		if c.fault != "" {
			if input, ok := errors.AsType[*executor.InputError](err); !ok || !strings.Contains(input.Detail, c.fault) || input.Field != "/stdin" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || req.Stdin != c.want {
			t.Errorf("%s: %q %v", name, req.Stdin, err)
		}
	}
}

// A terminal at which nobody types keeps no signal from ending us.
func TestStdinIsNotWaitedFor(t *testing.T) {
	silent, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer typing.Close()
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := request(ctx, executor.Request{Stdin: silent}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSourceMustBeText(t *testing.T) {
	if _, err := request(t.Context(), executor.Request{Code: []byte("\xff")}, nil); !errors.As(err, new(*executor.InputError)) {
		t.Error(err)
	}
}

func TestExecutableFilesAreTold(t *testing.T) {
	var told string
	files := map[string]executor.InputFile{"a.sh": {Executable: true}, "b.sh": {Executable: true}, "c": {}}
	if _, err := request(t.Context(), executor.Request{Files: files}, func(m string) { told = m }); err != nil || !strings.HasSuffix(told, ": a.sh, b.sh") {
		t.Errorf("%q %v", told, err)
	}
}

func TestDeliver(t *testing.T) {
	r := &api.Result{Files: map[string]api.File{
		"out/é.txt": {Content: "é", Encoding: "utf8", Mode: "0600"},
		"run.sh":    {Content: "AP8=", Encoding: "base64", Mode: "4755"},
		"odd":       {Content: "x", Encoding: "utf8", Mode: "rw"},
		"broken":    {Content: "!", Encoding: "base64"},
	}}
	var got []string
	err := deliver(r, func(info sandbox.FileInfo, content io.Reader) error {
		data, err := io.ReadAll(content)
		got = append(got, fmt.Sprintf("%s %q %v %d", info.Path, data, info.Mode, info.Size))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`odd "x" -rw-r--r-- 1`, `out/é.txt "é" -rw------- 2`, `run.sh "\x00\xff" -rwxr-xr-x 2`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(r.Files) != 0 || len(r.FilesSkipped) != 1 || r.FilesSkipped[0].Path != "broken" {
		t.Errorf("%+v", r)
	}
}

// A stream is kept as the executor keeps one: head and tail.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		in         []string
		text, base string
		cut        bool
	}{
		{nil, "", "", false},
		{[]string{"0123", "456789"}, "0123456789", "", false},
		{[]string{"01234567890123456789", "x", strings.Repeat("y", 100), "abcde"}, "01234\n[… 116 bytes left out …]\nabcde", "", true},
		{[]string{"0123é567é901a"}, "0123\n[… 7 bytes left out …]\n901a", "", true},
		{[]string{"\xff\xff"}, "\uFFFD\uFFFD", "//8=", false},
	} {
		x := &excerpt{most: 10}
		for _, data := range c.in {
			x.add([]byte(data))
		}
		if text, base, cut := x.text(); text != c.text || base != c.base || cut != c.cut {
			t.Errorf("%q: %q %s %v", c.in, text, base, cut)
		}
	}
}
