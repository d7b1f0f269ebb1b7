package tunnel

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"testing"
)

func message(k kind, channel byte, call uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{byte(k), channel}, call)
	return append(b, body...)
}

func TestFramesThatCannotBe(t *testing.T) {
	for name, m := range map[string][]byte{
		"nothing":              {},
		"half a header":        {4, 0, 0},
		"an unknown kind":      message(0, 0, 1, ""),
		"a later kind":         message(9, 0, 1, ""),
		"no request":           message(kindOpen, 0, 1, ""),
		"a large request":      message(kindOpen, 0, 1, string(make([]byte, MaxText+1))),
		"data without bytes":   message(kindData, 1, 1, ""),
		"too much data":        message(kindData, 1, 1, string(make([]byte, maxData+1))),
		"data of a channel 3":  message(kindData, 3, 1, "x"),
		"a request, channel 1": message(kindOpen, 1, 1, "{}"),
		"short credit":         message(kindCredit, 1, 1, "abc"),
		"long credit":          message(kindCredit, 1, 1, "abcde"),
		"an end with bytes":    message(kindEnd, 1, 1, "x"),
		"call 0":               message(kindData, 1, 0, "x"),
		"life of a call":       message(kindAlive, 0, 1, ""),
	} {
		if f, err := parseFrame(m); err == nil {
			t.Errorf("%s is the frame %+v", name, f)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(message(kindOpen, 0, 1, `{"op":"create"}`))
	f.Add(message(kindData, 2, 7, "output"))
	f.Add(creditFrame(7, 1, 100).bytes())
	f.Add(message(kindAlive, 0, 0, ""))
	f.Fuzz(func(t *testing.T, m []byte) {
		frame, err := parseFrame(m)
		if err == nil && !bytes.Equal(frame.bytes(), m) {
			t.Errorf("%x comes back as %x", m, frame.bytes())
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"exit":{"Code":-1}}`))
	f.Add([]byte(`{"error":{"kind":"start","message":"x","errno":"ENOENT"}}`))
	f.Add([]byte(`{"created":{"id":"x","isolation":{"Level":"full","Limits":{"memory":"enforced"}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseAnswer(text, nil)
		if err == nil && a.Exit != nil && (a.Exit.Code < 0 || a.Exit.Duration < 0 || a.Exit.Disk.BytesUsed < 0) {
			t.Errorf("%s is believed: %+v", text, a.Exit)
		}
	})
}

// Whatever a near side asks for is data, or an error.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"op":"create","spec":{"level":"full","mounts":[{"kept":"x","target":"/y"}],"disk_bytes":1}}`))
	f.Add([]byte(`{"op":"start","process":{"args":["bHM="],"tty":{"Rows":1},"limits":{"wall_time_ns":-1},"network":{"mode":"full"}}}`))
	f.Add([]byte(`{"op":"open","dir":"/workspace","name":"Li4v"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := (&Call{request: text}).Request()
		if err != nil {
			return
		}
		if r.Spec != nil {
			for _, m := range r.Spec.Spec().Mounts {
				t.Errorf("%s mounts %+v of this host", text, m)
			}
		}
		if r.Process != nil && len(r.Process.Process().Args) != len(r.Process.Args) {
			t.Errorf("%s has other arguments", text)
		}
	})
}

// Names that a far side lists stay in their tree.
func FuzzFileInfo(f *testing.F) {
	f.Add([]byte(`{"path":"YS9i","size":1,"mode":420}`))
	f.Add([]byte(`{"path":"Li4vYQ==","size":1,"mode":420}`))
	f.Add([]byte(`{"path":"YQ==","size":-1,"mode":4294967295}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var entry FileInfo
		if json.Unmarshal(text, &entry) != nil {
			return
		}
		if info, err := entry.Info(); err == nil && (!filepath.IsLocal(info.Path) || info.Size < 0) {
			t.Errorf("%s is believed: %+v", text, info)
		}
	})
}
